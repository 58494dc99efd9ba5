/** States that need not nest, as bars in lanes beneath the rows. */
import type { Ink } from "../canvas/ink.ts";
import { pixel, readable, type Palette } from "../canvas/palette.ts";
import { pxFromTime, timeFromPx, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { OverlapsHead } from "../wire/generated.ts";
import type { Layout } from "./layout.ts";

/** How high a lane is, CSS pixels; with names in it. */
export const LANE = 13;
/** Bars narrower than this stay without a name, px. */
const LEAST_WIDTH = 40;

export interface Overlaps {
  /** By location, where its pieces are. */
  readonly places: ReadonlyMap<number, readonly [from: number, behind: number]>;
  readonly lane: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly region: Uint32Array;
  /** How many states a piece stands for. */
  readonly number: Uint32Array;
}

export function overlapsOf(frame: Frame<OverlapsHead>): Overlaps {
  const location = frame.u32("location");
  const places = new Map<number, readonly [number, number]>();
  location.forEach((it, at) => places.set(it, [places.get(it)?.[0] ?? at, at + 1]));
  return { places, lane: frame.u32("lane"), start: frame.f64("start"), duration: frame.f64("duration"), region: frame.u32("region"), number: frame.u32("number") };
}

export interface OverlapsLook {
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
  readonly colourOf: (region: number) => string;
  readonly nameOf: (region: number) => string;
  readonly hidden: ReadonlySet<number>;
  readonly chosen: number | null;
}

export function drawOverlaps(canvas: Ink, all: Overlaps, look: OverlapsLook): void {
  eachBar(all, look, ({ region, at, x1, x2, top }) => {
    canvas.globalAlpha = look.chosen !== null && look.chosen !== region ? 0.25 : 1;
    canvas.fillStyle = look.colourOf(region);
    // A little light between two, where there is room for that.
    const width = x2 - x1 > 4 ? x2 - x1 - 1 : Math.max(x2 - x1, 1);
    // Several that are too short to be seen are lower than one.
    const height = (all.number[at] ?? 1) > 1 ? (LANE - 2) / 2 : LANE - 2;
    canvas.fillRect(x1, top + LANE - 2 - height, width, height);
  });
  canvas.globalAlpha = 1;
}

/** Names in bars that have room for them, as far to the left as the bar is seen. */
export function drawOverlapNames(canvas: Ink, all: Overlaps, look: OverlapsLook): void {
  const right = look.scale.left + look.scale.width;
  canvas.font = "10px Inter, system-ui, sans-serif";
  canvas.textBaseline = "middle";
  canvas.textAlign = "left";
  eachBar(all, look, ({ region, x1, x2, top }) => {
    const left = Math.max(x1, look.scale.left);
    const seen = Math.min(x2, right) - left;
    if (seen < LEAST_WIDTH) return;
    const name = look.nameOf(region);
    if (canvas.measureText(name).width + 8 > seen) return;
    canvas.globalAlpha = look.chosen !== null && look.chosen !== region ? 0.25 : 1;
    canvas.fillStyle = readable(pixel(look.colourOf(region)), look.colours);
    canvas.fillText(name, left + 4, top + (LANE - 2) / 2 + 0.5);
  });
  canvas.globalAlpha = 1;
}

/** A bar as it is drawn, CSS pixels. */
interface Bar {
  readonly at: number;
  readonly region: number;
  readonly x1: number;
  readonly x2: number;
  readonly top: number;
}

/** Bars that are seen. */
function eachBar(all: Overlaps, look: OverlapsLook, each: (bar: Bar) => void): void {
  const { from: first, to: last } = look.scale.span;
  for (const row of look.layout.rows) {
    const box = row.tracks.find((it) => it.kind === "overlaps");
    if (box === undefined) continue;
    const [from, behind] = all.places.get(row.location) ?? [0, 0];
    for (let at = from; at < behind; at += 1) {
      const [start, region] = [all.start[at] ?? 0, all.region[at] ?? 0];
      const end = start + (all.duration[at] ?? 0);
      if (end < first || start > last || look.hidden.has(region)) continue;
      const top = box.top - look.scroll + 1 + (all.lane[at] ?? 0) * LANE;
      each({ at, region, x1: pxFromTime(look.scale, start), x2: pxFromTime(look.scale, end), top });
    }
  }
}

/** The piece at a place of the picture; `null` = none. */
export function overlapAt(all: Overlaps, look: Pick<OverlapsLook, "scale" | "layout" | "hidden">, px: number, y: number): number | null {
  const time = timeFromPx(look.scale, px);
  const margin = timeFromPx(look.scale, px + 2) - time;
  for (const row of look.layout.rows) {
    const box = row.tracks.find((it) => it.kind === "overlaps" && it.top <= y && y < it.top + it.height);
    if (box === undefined) continue;
    const lane = Math.floor((y - box.top - 1) / LANE);
    const [from, behind] = all.places.get(row.location) ?? [0, 0];
    for (let at = from; at < behind; at += 1) {
      const start = all.start[at] ?? 0;
      const isThere = start - margin <= time && time < start + (all.duration[at] ?? 0) + margin;
      if (all.lane[at] === lane && isThere && !look.hidden.has(all.region[at] ?? 0)) return at;
    }
  }
  return null;
}
