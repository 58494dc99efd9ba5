/** What charts of counters go from and to: the same in both runs, or nobody could compare them. */
import { computed, type ReadonlySignal } from "@preact/signals";

import { places } from "../../state/counters.ts";
import { run } from "../../state/run.ts";
import type { Ranges } from "../../tracks/counters.ts";
import { rangeOf, type Charted } from "../timeline/charts.ts";
import { placesBeside, twins } from "./counters.ts";
import { base, other, type Side } from "./side.ts";

/** By counter of the base, and of the other run. */
const both = computed<readonly [Ranges, Ranges]>(() => {
  const [inBase, inOther] = [new Map<number, readonly [number, number]>(), new Map<number, readonly [number, number]>()];
  for (const [counter, twin] of twins.value) {
    const isRate = run.value?.counters[counter]?.is_rate === true;
    const charted = (side: Side, counter: number, known: Charted["places"]): Charted => ({ counter, places: known, counters: side.picture.value?.counters ?? null, span: side.span.value });
    const range = rangeOf(isRate, [charted(base, counter, places.value), charted(other, twin, placesBeside.value)]);
    if (range === null) continue;
    inBase.set(counter, range);
    if (twin >= 0) inOther.set(twin, range);
  }
  return [inBase, inOther];
});

const ofBase = computed(() => both.value[0]);
const ofOther = computed(() => both.value[1]);

export function rangesOf(side: Side): ReadonlySignal<Ranges> {
  return side === base ? ofBase : ofOther;
}
