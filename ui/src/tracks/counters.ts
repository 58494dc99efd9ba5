/** Counters as small charts beneath the rows: the mean as a line, from the least to the most a band behind it. */
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { CountersHead } from "../wire/generated.ts";
import type { Layout, TrackBox } from "./layout.ts";

/** Pieces of all series, one series behind the other. */
export interface Counters {
  /** By counter and location, where its pieces are. */
  readonly places: ReadonlyMap<string, readonly [from: number, behind: number]>;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly least: Float64Array;
  readonly mean: Float64Array;
  readonly most: Float64Array;
  readonly isWhole: boolean;
  /** What could not be read. */
  readonly damage: readonly string[];
}

export function countersOf(frame: Frame<CountersHead>): Counters {
  const [counter, location, behind] = [frame.u32("counter"), frame.u32("location"), frame.u32("behind")];
  const places = new Map<string, readonly [number, number]>();
  counter.forEach((it, at) => places.set(keyOf(it, location[at] ?? 0), [behind[at - 1] ?? 0, behind[at] ?? 0]));
  return {
    places,
    start: frame.f64("start"),
    duration: frame.f64("duration"),
    least: frame.f64("least"),
    mean: frame.f64("mean"),
    most: frame.f64("most"),
    isWhole: frame.head.is_whole,
    damage: frame.head.damage,
  };
}

export function keyOf(counter: number, location: number): string {
  return `${counter} ${location}`;
}

/** From where to where values of a counter go, on all rows alike. */
export type Ranges = ReadonlyMap<number, readonly [least: number, most: number]>;

export interface CountersLook {
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
  readonly ranges: Ranges;
}

export function drawCounters(canvas: Ink, counters: Counters, look: CountersLook): void {
  for (const row of look.layout.rows) {
    for (const box of row.tracks) {
      if (box.kind !== "counter") continue;
      const place = counters.places.get(keyOf(box.number, row.location));
      const range = look.ranges.get(box.number);
      if (place !== undefined && range !== undefined) drawSeries(canvas, counters, place, { box, range, look });
    }
  }
}

interface SeriesLook {
  readonly box: TrackBox;
  readonly range: readonly [number, number];
  readonly look: CountersLook;
}

function drawSeries(canvas: Ink, counters: Counters, [from, behind]: readonly [number, number], { box, range, look }: SeriesLook): void {
  const { scale, colours } = look;
  const [top, bottom] = [box.top - look.scroll + 1, box.top - look.scroll + box.height - 1];
  const [least, most] = range;
  const yOf = (value: number): number => {
    // Halves, since the largest numbers there are differ by more than any number.
    const share = (value / 2 - least / 2) / (most / 2 - least / 2 || 1);
    return bottom - Math.min(Math.max(share, 0), 1) * (bottom - top);
  };
  const right = scale.left + scale.width;
  canvas.strokeStyle = colours.grid;
  canvas.lineWidth = 1;
  canvas.beginPath();
  canvas.moveTo(scale.left, Math.round(bottom) + 0.5);
  canvas.lineTo(right, Math.round(bottom) + 0.5);
  canvas.stroke();
  const seen: Array<readonly [x1: number, x2: number, at: number]> = [];
  const { from: first, to: last } = scale.span;
  for (let at = from; at < behind; at += 1) {
    const start = counters.start[at] ?? 0;
    if (start + (counters.duration[at] ?? 0) < first || start > last) continue;
    const [x1, x2] = [pxFromTime(scale, start), pxFromTime(scale, start + (counters.duration[at] ?? 0))];
    if (x2 >= scale.left && x1 <= right) seen.push([x1, x2, at]);
  }
  canvas.fillStyle = colours.counter;
  canvas.globalAlpha = 0.25;
  for (const [x1, x2, at] of seen) {
    const [high, low] = [yOf(counters.most[at] ?? 0), yOf(counters.least[at] ?? 0)];
    if (low - high >= 0.5) canvas.fillRect(x1, high, Math.max(x2 - x1, 0.5), low - high);
  }
  canvas.globalAlpha = 1;
  canvas.strokeStyle = colours.counter;
  canvas.lineWidth = 1.3;
  canvas.lineJoin = "round";
  canvas.beginPath();
  let end = NaN;
  for (const [x1, x2, at] of seen) {
    const y = yOf(counters.mean[at] ?? 0);
    // Where nothing is known there is no line.
    if (Math.abs(x1 - end) < 0.01) canvas.lineTo(x1, y);
    else canvas.moveTo(x1, y);
    canvas.lineTo(x2, y);
    end = x2;
  }
  canvas.stroke();
  canvas.lineWidth = 1;
}

/** The piece of a series at an instant; `null` = nothing is known there. */
export function pieceAt(counters: Counters, counter: number, location: number, time: number): number | null {
  const [from, behind] = counters.places.get(keyOf(counter, location)) ?? [0, 0];
  let [low, high] = [from, behind];
  // The first that begins later.
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((counters.start[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  const at = low - 1;
  return at >= from && time < (counters.start[at] ?? 0) + (counters.duration[at] ?? 0) ? at : null;
}
