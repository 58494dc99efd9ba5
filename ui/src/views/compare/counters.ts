/** Counters of both runs: those that the timeline shows, and in the other run those of the same names. */
import { computed, signal } from "@preact/signals";

import { byLocation, needPlaces, placesIn, shownCounters, type Place } from "../../state/counters.ts";
import { besideEngine, pair } from "../../state/pair.ts";
import { fail, run } from "../../state/run.ts";

/** Of the other run; empty while they are being read. */
export const placesBeside = signal<readonly Place[]>([]);
let isAsked = false;

/** Reads which counters are where in both runs. */
export function needCounters(): void {
  void needPlaces();
  if (isAsked || (pair.peek()?.other.counters.length ?? 0) === 0) return;
  isAsked = true;
  void placesIn(besideEngine).then((found) => (placesBeside.value = found), fail);
}

/** Of each counter that is shown that of the other run; -1 = it has none of that name. */
export const twins = computed<ReadonlyMap<number, number>>(() => {
  const [own, others] = [run.value?.counters ?? [], pair.value?.other.counters ?? []];
  return new Map(shownCounters.value.map((counter) => [counter, others.findIndex((it) => it.name === own[counter]?.name && it.is_rate === own[counter]?.is_rate)]));
});

export const shownBeside = computed<readonly number[]>(() => [...twins.value.values()].filter((it) => it >= 0));

export const countersOfBeside = computed(() => byLocation(placesBeside.value, shownBeside.value));
