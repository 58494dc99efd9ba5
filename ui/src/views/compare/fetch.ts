/** What each side has to draw, asked for when it moves, as the timeline asks: latest wins, what is exact comes last. */
import { effect } from "@preact/signals";

import { Refined } from "../../base/refined.ts";
import { moveInto, ns, type Span } from "../../base/time.ts";
import { buffered, contains, resolutionLog2 } from "../../canvas/scale.ts";
import { fail } from "../../state/run.ts";
import { areLayers, layers, ranges } from "../../state/view.ts";
import { endOf } from "../../tracks/layout.ts";
import { ask, exactOf, MOST_PIECES, spanOf, window, withoutOf, type Picture, type Question } from "../timeline/fetch.ts";
import { asInBoth } from "./instants.ts";
import { other, plotWidth, type Side } from "./side.ts";

/** Locations whose rows are seen, or soon may be, given how many heights of the view lie around it. */
function near(side: Side, around: number): readonly number[] {
  const [top, room] = [side.scroll.value, side.room.value];
  const rows = side.layout.value.rows.filter((row) => row.top < top + (1 + around) * room && endOf(row) > top - around * room);
  return rows.map((row) => row.location);
}

/** Closed hosts whose strips are seen, or soon may be, in the same way. */
function strips(side: Side, around: number): ReadonlyMap<string, readonly number[]> {
  const [top, room] = [side.scroll.value, side.room.value];
  const boxes = side.layout.value.hosts.filter((box) => box.isClosed && box.top < top + (1 + around) * room && box.top + box.height > top - around * room);
  return new Map(boxes.map((box) => [box.host, box.locations]));
}

/** The part of what is seen that lies in the run, for nothing else can be asked about; an instant if none does. */
function inside(seen: Span, whole: Span): Span {
  const [from, to] = [Math.max(seen.from, whole.from), Math.min(seen.to, whole.to)];
  return from < to ? { from: ns(from), to: ns(to) } : moveInto({ from: seen.from, to: ns(seen.from + 1) }, whole);
}

/** Begins to follow a side; returns what ends it. */
export function follow(side: Side): () => void {
  const pictures = new Refined<Question, Picture>((question) => ask(side.engine, question), exactOf, (answer, isLast) => {
    side.picture.value = side === other && answer.events !== null ? { ...answer, events: asInBoth(answer.events) } : answer;
    side.isStale.value = !isLast;
  }, fail);
  return effect(() => {
    if (side.run.value === null || plotWidth.value < 10 || side.room.value < 1) return;
    const [wanted, counters] = [layers.value, side.counters.value];
    const [seen, rows, hosts] = [side.span.value, near(side, 0), strips(side, 0)];
    const without = hosts.size === 0 ? [] : withoutOf(side.unticked.value);
    const coarse = side.layout.value.boxes.size * plotWidth.value > MOST_PIECES ? 1 : 0;
    const log2 = resolutionLog2(seen, plotWidth.value) + coarse;
    const now = inside(seen, side.whole.value);
    const before = pictures.asked;
    const isThere =
      before !== null &&
      before.window.resolution_log2 === log2 &&
      rows.every((row) => before.rows.has(row)) &&
      [...hosts].every(([host, locations]) => before.strips.get(host)?.join() === locations.join()) &&
      areLayers(before.layers, wanted) &&
      before.counters.join() === counters.join() &&
      before.without.join() === without.join() &&
      contains(spanOf(before.window), now);
    if (isThere) return;
    const isSeen = seen.from < side.whole.value.to && side.whole.value.from < seen.to;
    const wide = isSeen ? buffered(seen, side.whole.value, log2) : now;
    const locations = near(side, 1);
    side.isStale.value = true;
    pictures.want({
      window: window(wide, log2, ranges([...locations].sort((a, b) => a - b))),
      rows: new Set(locations),
      layers: wanted,
      counters,
      strips: strips(side, 1),
      without,
    });
  });
}
