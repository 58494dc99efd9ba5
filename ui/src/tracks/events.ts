/** Instants that the program marked, as signs at the upper edge of the rows: one shape and colour a kind. */
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { EventsHead } from "../wire/generated.ts";
import { placesOf, type HostBox, type Layout, type Row } from "./layout.ts";

/** Half as wide as a sign, CSS pixels; no sign is wider than this to either side. */
const HALF = 4;
const WIDEST = 2 * HALF + 2;
/** A pointer is at a sign that is no farther away, px. */
const NEAR = 6;

export interface Events {
  readonly location: Uint32Array;
  /** Of the first and the last of a mark, ns. */
  readonly time: Float64Array;
  readonly last: Float64Array;
  readonly kind: Uint32Array;
  readonly number: Uint32Array;
}

export function eventsOf(frame: Frame<EventsHead>): Events {
  return { location: frame.u32("location"), time: frame.f64("time"), last: frame.f64("last"), kind: frame.u32("kind"), number: frame.u32("number") };
}

export interface EventsLook {
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
  readonly chosen: { readonly location: number; readonly from: number; readonly to: number } | null;
}

/** Where a sign stands, px; `undefined` = its row is not shown. */
function place(all: Events, at: number, rows: ReadonlyMap<number, Row | HostBox>, { scale, scroll }: Pick<EventsLook, "scale" | "scroll">): readonly [x: number, y: number] | undefined {
  const row = rows.get(all.location[at] ?? -1);
  // A strip of a host has no signs.
  return row === undefined || !("lines" in row) ? undefined : [pxFromTime(scale, all.time[at] ?? 0), row.top - scroll + HALF];
}

export function drawEvents(canvas: Ink, all: Events, look: EventsLook): void {
  const { scale, colours, chosen } = look;
  const rows = placesOf(look.layout);
  canvas.lineWidth = 1;
  for (let at = 0; at < all.time.length; at += 1) {
    const [x, y] = place(all, at, rows, look) ?? [-Infinity, 0];
    if (x < scale.left - WIDEST || x > scale.left + scale.width + WIDEST) continue;
    const isChosen = chosen !== null && chosen.location === all.location[at] && chosen.from <= (all.last[at] ?? 0) && (all.time[at] ?? 0) <= chosen.to;
    sign(canvas, x, y, { kind: all.kind[at] ?? 0, isMany: (all.number[at] ?? 1) > 1, isChosen }, colours);
  }
}

interface Sign {
  readonly kind: number;
  readonly isMany: boolean;
  readonly isChosen: boolean;
}

function sign(canvas: Ink, x: number, y: number, { kind, isMany, isChosen }: Sign, colours: Palette): void {
  const half = isChosen ? HALF + 1.5 : HALF;
  canvas.strokeStyle = isChosen ? colours.accent : colours.background;
  canvas.fillStyle = colours.events[kind % colours.events.length] ?? colours.text;
  if (isMany) outline(canvas, x + 3, y, half, kind);
  outline(canvas, x, y, half, kind);
}

/** Kinds differ in shape as well as in colour. */
function outline(canvas: Ink, x: number, y: number, half: number, kind: number): void {
  const corners: ReadonlyArray<ReadonlyArray<readonly [number, number]>> = [
    [[0, -1], [1, 0], [0, 1], [-1, 0]],
    [[-0.9, -0.8], [0.9, -0.8], [0, 1]],
    [[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]],
    [[0, -1], [0.9, 0.8], [-0.9, 0.8]],
  ];
  canvas.beginPath();
  (corners[kind % corners.length] ?? []).forEach(([across, down], number) => {
    if (number === 0) canvas.moveTo(x + across * half, y + down * half);
    else canvas.lineTo(x + across * half, y + down * half);
  });
  canvas.closePath();
  canvas.fill();
  canvas.stroke();
}

/** The sign at a place of the picture; `null` = none. */
export function eventAt(all: Events, look: Pick<EventsLook, "scale" | "layout" | "scroll">, px: number, y: number): number | null {
  const rows = placesOf(look.layout);
  let best: readonly [number, number] | null = null;
  for (let at = 0; at < all.time.length; at += 1) {
    const [left, top] = place(all, at, rows, look) ?? [-1e9, 0];
    const distance = Math.max(Math.abs(left - px), Math.abs(top - y));
    if (distance <= NEAR && (best === null || distance < best[0])) best = [distance, at];
  }
  return best === null ? null : best[1];
}
