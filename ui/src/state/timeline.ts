/** What the timeline tells its neighbours: where the pointer is, how far it is scrolled, which states are seen. */
import { computed, signal } from "@preact/signals";

import { length } from "../base/time.ts";
import { span, zoomOrigin } from "./view.ts";

/** Time by region in the span that is shown. */
export interface Totals {
  readonly rows: ReadonlyArray<{ readonly region: number; readonly time: number }>;
  readonly rest: number;
  readonly lives: number;
  readonly isExact: boolean;
}

export const totals = signal<Totals | null>(null);
/** Whether they are of another span than is shown now. */
export const areTotalsOld = signal(true);
/**
 * Where the pointer is, CSS pixels, and how far along the span that is shown, 0 to 1; `null` = elsewhere. No time: which one
 * lies under a pointer that rests changes with the span.
 */
export const pointer = signal<{ readonly x: number; readonly along: number } | null>(null);
/** The instant under the pointer, ns; `null` = it is elsewhere. */
export const pointed = computed<number | null>(() => {
  const at = pointer.value;
  return at === null ? null : span.value.from + at.along * length(span.value);
});
/** How far rows are scrolled, and how far they can be, CSS pixels. */
export const scroll = signal(0);
export const mostScroll = signal(0);

export function scrollRows(px: number): void {
  scroll.value = Math.min(Math.max(scroll.peek() + px, 0), mostScroll.peek());
}

/** The instant that stays where it is when keys zoom: the zoom origin, if it is seen, or where the pointer is. */
export function zoomedAt(): number {
  const at = zoomOrigin.peek();
  return at !== null && span.peek().from <= at && at <= span.peek().to ? at : pointedAt();
}

/** The instant under the pointer; the middle of the span if it is elsewhere. */
export function pointedAt(): number {
  return Math.round(pointed.peek() ?? (span.peek().from + span.peek().to) / 2);
}
