/** Whether sums are of the whole run or of the span that is shown, and of which ranks: said and chosen where they stand. */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";

import { counted } from "../base/format.ts";
import { duration } from "../base/time.ts";
import { run } from "../state/run.ts";
import { spanLength } from "../state/told.ts";
import { chosenLocations } from "../state/view.ts";

interface Props {
  readonly isOfSpan: Signal<boolean>;
  /** What of the span counts. */
  readonly help: string;
}

export function Of({ isOfSpan, help }: Props): JSX.Element {
  const chosen = chosenLocations.value;
  const who = chosen === null ? "all ranks and threads" : chosen.length === 1 ? (run.value?.locations[chosen[0] ?? 0]?.name ?? "") : counted(chosen.length, "location");
  return (
    <>
      <span role="group" aria-label="Of what">
        <button type="button" aria-pressed={!isOfSpan.value} title="Exact also where single visits were no longer recorded" onClick={() => (isOfSpan.value = false)}>
          Whole run
        </button>
        <button type="button" aria-pressed={isOfSpan.value} title={help} onClick={() => (isOfSpan.value = true)}>
          {`Span that is shown, ${duration(spanLength.value)}`}
        </button>
      </span>
      <span class="muted">of {who}</span>
    </>
  );
}
