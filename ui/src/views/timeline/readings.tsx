/** Values of the counters at the pointer, beside its line. */
import type { JSX } from "preact";

import { run } from "../../state/run.ts";
import { pointed, pointer, scroll } from "../../state/timeline.ts";
import { pieceAt } from "../../tracks/counters.ts";
import { quantity } from "../quantities.ts";
import { GUTTER, RULER } from "./draw.ts";
import { picture } from "./fetch.ts";
import { layout, plotWidth, room } from "./place.ts";

export function Readings(): JSX.Element | null {
  const [at, time, all, head] = [pointer.value, pointed.value, picture.value?.counters ?? null, run.value];
  if (at === null || time === null || all === null || head === null) return null;
  const isAtEnd = at.x > GUTTER + plotWidth.value - 150;
  return (
    <>
      {layout.value.rows.flatMap((row) =>
        row.tracks.map((box) => {
          const counter = head.counters[box.number];
          const top = box.top - scroll.value;
          const piece = box.kind === "counter" ? pieceAt(all, box.number, row.location, time) : null;
          if (counter === undefined || piece === null || top < 0 || top + box.height > room.value + RULER) return null;
          const [least, mean, most] = [all.least[piece] ?? NaN, all.mean[piece] ?? NaN, all.most[piece] ?? NaN];
          const place = isAtEnd ? { right: `calc(100% - ${Math.round(at.x) - 4}px)` } : { left: `${Math.round(at.x) + 4}px` };
          return (
            <span class="timeline-reading" style={{ top: `${RULER + top + 2}px`, ...place }}>
              {quantity(counter, mean)}
              {least === most ? "" : ` (${quantity(counter, least)} to ${quantity(counter, most)})`}
            </span>
          );
        }),
      )}
    </>
  );
}
