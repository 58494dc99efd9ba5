/** What charts of counters go from and to: of values those of the whole run, of rates those of the span that is seen. */
import { computed } from "@preact/signals";

import type { Span } from "../../base/time.ts";
import { places, shownCounters, type Place } from "../../state/counters.ts";
import { run } from "../../state/run.ts";
import { span } from "../../state/view.ts";
import type { Counters, Ranges } from "../../tracks/counters.ts";
import { picture } from "./fetch.ts";

/** A counter of a run, with all that is known of it. */
export interface Charted {
  readonly counter: number;
  readonly places: readonly Place[];
  readonly counters: Counters | null;
  readonly span: Span;
}

export const ranges = computed<Ranges>(() => {
  const found = new Map<number, readonly [number, number]>();
  for (const counter of shownCounters.value) {
    const isRate = run.value?.counters[counter]?.is_rate === true;
    const range = rangeOf(isRate, [{ counter, places: places.value, counters: picture.value?.counters ?? null, span: span.value }]);
    if (range !== null) found.set(counter, range);
  }
  return found;
});

/** The same for all that are to be compared; `null` = there are no values. */
export function rangeOf(isRate: boolean, all: readonly Charted[]): readonly [number, number] | null {
  const most = Math.max(...all.map((it) => (isRate ? fastest(it) : largest(it, (place) => place.most))));
  const least = isRate ? 0 : -Math.max(...all.map((it) => largest(it, (place) => -place.least)));
  return Number.isFinite(most) && Number.isFinite(least) ? [Math.min(least, 0), Math.max(most, 0)] : null;
}

function largest({ counter, places }: Charted, of: (it: Place) => number): number {
  return places.reduce((most, it) => (it.counter === counter ? Math.max(most, of(it)) : most), -Infinity);
}

function fastest({ counter, counters: all, span }: Charted): number {
  if (all === null) return -Infinity;
  const { from: first, to: last } = span;
  let most = -Infinity;
  for (const [key, [from, behind]] of all.places) {
    if (!key.startsWith(`${counter} `)) continue;
    for (let at = from; at < behind; at += 1) {
      const start = all.start[at] ?? 0;
      if (start < last && start + (all.duration[at] ?? 0) > first) most = Math.max(most, all.mean[at] ?? 0);
    }
  }
  return most;
}
