/** How many messages are of which size, or how long: a bar for each power of two, on a scale of its own; bars are pressed to limit. */
import type { JSX } from "preact";

import { count } from "../../base/format.ts";

export interface ClassesProps {
  readonly name: string;
  readonly counts: Float64Array;
  readonly chosen: readonly [number, number] | null;
  /** How a size or a duration is written. */
  readonly write: (value: number) => string;
  readonly choose: (next: readonly [number, number] | null) => void;
}

/** What the values of a class begin at, and the largest of them. */
export function edgesOf(number: number): readonly [number, number] {
  return number === 0 ? [0, 0] : [2 ** (number - 1), 2 ** number - 1];
}

export function Classes({ name, counts, chosen, write, choose }: ClassesProps): JSX.Element {
  const used = [...counts.keys()].filter((at) => (counts[at] ?? 0) > 0);
  const [first, last] = [used[0] ?? 0, used.at(-1) ?? -1];
  const most = counts.reduce((found, value) => Math.max(found, value), 1);
  const press = (at: number, isMore: boolean): void => {
    if (chosen !== null && isMore) choose([Math.min(chosen[0], at), Math.max(chosen[1], at)]);
    else if (chosen !== null && chosen[0] === at && chosen[1] === at) choose(null);
    else choose([at, at]);
  };
  const rows = Array.from({ length: Math.max(last - first + 1, 0) }, (_, place) => first + place);
  return (
    <div class="classes" role="group" aria-label={name}>
      {rows.map((at) => {
        const [least, largest] = edgesOf(at);
        const number = counts[at] ?? 0;
        const isIn = chosen === null || (chosen[0] <= at && at <= chosen[1]);
        const words = `${least === largest ? write(least) : `${write(least)} to ${write(largest)}`}: ${count(number)} messages`;
        return (
          <button
            type="button"
            class={isIn ? "classes-bar" : "classes-bar classes-out"}
            aria-pressed={chosen !== null && isIn}
            title={`${words}; press to limit to them, with Shift to have these, too`}
            onClick={(event) => press(at, event.shiftKey)}
          >
            <span class="classes-name mono">{write(least)}</span>
            <span class="classes-track">
              <span class="classes-fill" style={{ width: `${(number / most) * 100}%` }} />
            </span>
            <span class="classes-number mono">{number === 0 ? "" : count(number)}</span>
          </button>
        );
      })}
    </div>
  );
}
