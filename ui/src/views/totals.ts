/** How much time each region takes of the span: asked for whenever somebody who shows it is there. */
import { effect } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { resolutionLog2 } from "../canvas/scale.ts";
import { engine, fail, run } from "../state/run.ts";
import { areTotalsOld, totals, type Totals } from "../state/timeline.ts";
import { ranges, seenLocations, span } from "../state/view.ts";
import type { Window } from "../wire/generated.ts";

/** Sums need not be finer than this part of the span. */
const STEPS = 500;

/** Asked at most so often, ms. */
const PAUSE = 120;

/** Begins to follow the view; returns what ends it. */
export function followTotals(): () => void {
  const sums = new Latest<Window, Totals>(
    ask,
    (answer, asked) => {
      totals.value = answer;
      areTotalsOld.value = asked !== wanted;
    },
    (error) => {
      areTotalsOld.value = false;
      fail(error);
    },
  );
  let wanted: Window | null = null;
  let askedAt = -PAUSE;
  let timer = 0;
  const want = (): void => {
    timer = 0;
    askedAt = performance.now();
    if (wanted !== null) sums.want(wanted);
  };
  const end = effect(() => {
    if (run.value === null) return;
    const { from, to } = span.value;
    const log2 = resolutionLog2(span.value, STEPS);
    wanted = { from_ns: Math.floor(from), to_ns: Math.ceil(to), resolution_log2: log2, locations: ranges(seenLocations.value), exact: false };
    areTotalsOld.value = true;
    // Who moves does not read numbers that change sixty times a second.
    const left = askedAt + PAUSE - performance.now();
    if (left <= 0) want();
    else if (timer === 0) timer = window.setTimeout(want, left);
  });
  return () => {
    end();
    window.clearTimeout(timer);
  };
}

async function ask(window: Window): Promise<Totals> {
  const frame = await engine.totals(window);
  const [regions, times] = [frame.u32("region"), frame.f64("time")];
  const rows = Array.from(regions, (region, place) => ({ region, time: times[place] ?? 0 }));
  return { rows, rest: frame.head.rest_ns, lives: frame.head.lives_ns, isExact: frame.head.trust.is_exact };
}
