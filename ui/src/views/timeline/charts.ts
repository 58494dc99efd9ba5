/** What charts of counters go from and to: of values those of the whole run, of rates those of the span that is seen. */
import { computed } from "@preact/signals";

import { places, shownCounters } from "../../state/counters.ts";
import { run } from "../../state/run.ts";
import { span } from "../../state/view.ts";
import type { Ranges } from "../../tracks/counters.ts";
import { picture } from "./fetch.ts";

export const ranges = computed<Ranges>(() => {
  const found = new Map<number, readonly [number, number]>();
  for (const counter of shownCounters.value) {
    const isRate = run.value?.counters[counter]?.is_rate === true;
    const most = isRate ? fastest(counter) : largest(counter, (it) => it.most);
    const least = isRate ? 0 : -largest(counter, (it) => -it.least);
    if (Number.isFinite(most) && Number.isFinite(least)) found.set(counter, [Math.min(least, 0), Math.max(most, 0)]);
  }
  return found;
});

function largest(counter: number, of: (it: { readonly least: number; readonly most: number }) => number): number {
  return places.value.reduce((most, it) => (it.counter === counter ? Math.max(most, of(it)) : most), -Infinity);
}

function fastest(counter: number): number {
  const all = picture.value?.counters;
  if (all == null) return -Infinity;
  const { from: first, to: last } = span.value;
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
