/** States that need not nest: which locations have some, and how many at a time. */
import { computed, signal } from "@preact/signals";

import { engine, fail } from "./run.ts";
import { layers } from "./view.ts";

/** Those of a location. */
export interface Overlapping {
  readonly lanes: number;
  /** How many states there are in the whole run. */
  readonly number: number;
  /** Of them, those for which there is no lane. */
  readonly leftOut: number;
}

/** By location; empty while they are being read. */
export const overlapping = signal<ReadonlyMap<number, Overlapping>>(new Map());
/** Why there are none, in words; `null` = there is nothing to say. */
export const overlapsUnknown = signal<string | null>(null);

let isAsked = false;

/** Asks once where there are some. */
export async function needOverlaps(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    const frame = await engine.overlapPlaces();
    const [location, lanes, number, leftOut] = [frame.u32("location"), frame.u32("lanes"), frame.u32("number"), frame.u32("left_out")];
    overlapping.value = new Map([...location].map((it, at) => [it, { lanes: lanes[at] ?? 0, number: number[at] ?? 0, leftOut: leftOut[at] ?? 0 }]));
    const { is_known: isKnown, damage } = frame.head;
    overlapsUnknown.value = !isKnown ? "there are too many overlapping states to draw them" : damage[0] === undefined ? null : `not all overlapping states could be read: ${damage[0]}`;
  } catch (error) {
    // Whoever asks again may have more luck.
    isAsked = false;
    fail(error);
  }
}

/** By location, in how many lanes they are drawn. */
export const lanesOf = computed<ReadonlyMap<number, number>>(() => {
  if (!layers.value.overlaps) return new Map();
  return new Map([...overlapping.value].map(([location, { lanes }]) => [location, lanes]));
});
