/** Counters: which the run has where, and which of them are drawn. */
import { computed, signal } from "@preact/signals";

import type { Engine } from "../wire/client.ts";
import { engine, fail, run } from "./run.ts";

/** A counter on a location. */
export interface Place {
  readonly counter: number;
  readonly location: number;
  /** How many values it has. */
  readonly number: number;
  /** Of its values; not a number of those of which rates are told. */
  readonly least: number;
  readonly most: number;
}

/** Empty while they are being read. */
export const places = signal<readonly Place[]>([]);
/** Those that the user has chosen; `null` = nobody has, and a few are shown. */
export const chosenCounters = signal<ReadonlySet<number> | null>(null);

/** So many of the program's are shown before somebody chooses. */
const FEW = 2;

let isAsked = false;

/** Reads which counters are where, if the run has some. */
export async function needPlaces(): Promise<void> {
  if (isAsked || (run.peek()?.counters.length ?? 0) === 0) return;
  isAsked = true;
  try {
    places.value = await placesIn(engine);
  } catch (error) {
    // Whoever asks again may have more luck.
    isAsked = false;
    fail(error);
  }
}

export async function placesIn(run: Engine): Promise<readonly Place[]> {
  const frame = await run.counterPlaces();
  const [counter, location, number] = [frame.u32("counter"), frame.u32("location"), frame.u32("number")];
  const [least, most] = [frame.f64("least"), frame.f64("most")];
  return Array.from(counter, (it, at) => ({ counter: it, location: location[at] ?? 0, number: number[at] ?? 0, least: least[at] ?? NaN, most: most[at] ?? NaN }));
}

/** Counters that have values, by number. */
export const knownCounters = computed<readonly number[]>(() => [...new Set(places.value.map((it) => it.counter))].sort((a, b) => a - b));

/** Those that are drawn, by number. */
export const shownCounters = computed<readonly number[]>(() => {
  const chosen = chosenCounters.value;
  if (chosen !== null) return knownCounters.value.filter((it) => chosen.has(it));
  const own = knownCounters.value.filter((it) => run.value?.counters[it]?.is_rate === false);
  return own.length <= FEW ? own : [];
});

export function toggleCounter(counter: number): void {
  const next = new Set(shownCounters.peek());
  if (!next.delete(counter)) next.add(counter);
  chosenCounters.value = next;
}

/** By location, the counters that are drawn beneath it. */
export const countersOf = computed<ReadonlyMap<number, readonly number[]>>(() => {
  return byLocation(places.value, shownCounters.value);
});

export function byLocation(places: readonly Place[], counters: readonly number[]): ReadonlyMap<number, readonly number[]> {
  const shown = new Set(counters);
  const found = new Map<number, number[]>();
  for (const { counter, location } of places) {
    if (!shown.has(counter)) continue;
    const of = found.get(location);
    if (of === undefined) found.set(location, [counter]);
    else of.push(counter);
  }
  return found;
}
