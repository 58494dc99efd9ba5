/** Picking the visits that one of two tests finds, by a percentage: docs/anomalies.md defines both. */
import type { JSX } from "preact";

import { measure } from "../../state/instances.ts";
import { chosenRegion, pick, picked } from "../../state/view.ts";

const PERCENTAGES = [0.1, 1, 5, 10] as const;

interface Test {
  readonly by: "normal" | "anomalous";
  readonly name: string;
  readonly help: (percent: number) => string;
}

const TESTS: readonly Test[] = [
  {
    by: "normal",
    name: "Jumpshot's test",
    help: (percent) => `Visits farther from the mean of their region, up or down, than all but ${percent} % on either side would be if they were normally distributed; where nearly all are alike there is none`,
  },
  {
    by: "anomalous",
    name: "Robust test",
    help: (percent) => `Visits that took longer than their like: same call path, size and kind of iteration; in a run without anomalies the chance to find any is ${percent} % (docs/anomalies.md)`,
  },
];

export function Percentages(): JSX.Element {
  const region = chosenRegion.value ?? 0;
  const now = picked.value?.which;
  return (
    <>
      {TESTS.map(({ by, name, help }) => (
        <span class="histogram-test">
          <span title={by === "normal" ? "Takes durations, or sizes, of each region to be normally distributed" : "Of durations, whatever the bars show; compares each visit with its like"}>{name}</span>
          <span role="group" aria-label={name}>
            {PERCENTAGES.map((percent) => (
              <button
                type="button"
                title={help(percent)}
                aria-pressed={now !== undefined && now.by === by && now.percent === percent}
                onClick={() => pick({ region, of: by === "normal" ? measure.value : "duration", which: { by, percent } })}
              >
                {percent} %
              </button>
            ))}
          </span>
        </span>
      ))}
    </>
  );
}
