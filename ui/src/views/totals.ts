/** How much time each region takes of the span: asked for whenever somebody who shows it is there. */
import { effect } from "@preact/signals";

import { Calm } from "../base/calm.ts";
import { Latest } from "../base/latest.ts";
import { resolutionLog2 } from "../canvas/scale.ts";
import { engine, fail, run } from "../state/run.ts";
import { areTotalsOld, totals, type Totals } from "../state/timeline.ts";
import { ranges, seenLocations, span } from "../state/view.ts";
import type { Window } from "../wire/generated.ts";

/** Sums need not be finer than this part of the span. */
const STEPS = 500;

/** Asked at most so often, and while the span is moved no oftener than that, ms: nobody reads numbers that change all the time. */
const PAUSE = 120;
const LATEST = 600;

/** Begins to follow the view; returns what ends it. */
export function followTotals(): () => void {
  const sums = new Latest<Window, Totals>(
    ask,
    (answer, asked) => {
      const isMoving = asked !== wanted;
      totals.value = isMoving ? inOrderOf(totals.peek(), answer) : answer;
      areTotalsOld.value = isMoving;
    },
    (error) => {
      areTotalsOld.value = false;
      fail(error);
    },
  );
  let wanted: Window | null = null;
  const calm = new Calm(() => wanted !== null && sums.want(wanted), PAUSE, LATEST);
  const end = effect(() => {
    if (run.value === null) return;
    const { from, to } = span.value;
    const log2 = resolutionLog2(span.value, STEPS);
    wanted = { from_ns: Math.floor(from), to_ns: Math.ceil(to), resolution_log2: log2, locations: ranges(seenLocations.value), exact: false };
    areTotalsOld.value = true;
    calm.changed();
  });
  return () => {
    end();
    calm.end();
  };
}

/** Sums in the order of those before, what is new behind: rows that change places while somebody moves cannot be read. */
function inOrderOf(before: Totals | null, now: Totals): Totals {
  const places = new Map(before?.rows.map((row, place) => [row.region, place]));
  const place = (region: number): number => places.get(region) ?? places.size;
  return { ...now, rows: [...now.rows].sort((a, b) => place(a.region) - place(b.region)) };
}

async function ask(window: Window): Promise<Totals> {
  const frame = await engine.totals(window);
  const [regions, times] = [frame.u32("region"), frame.f64("time")];
  const rows = Array.from(regions, (region, place) => ({ region, time: times[place] ?? 0 }));
  return { rows, rest: frame.head.rest_ns, lives: frame.head.lives_ns, isExact: frame.head.trust.is_exact };
}
