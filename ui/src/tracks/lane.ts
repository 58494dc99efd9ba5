/**
 * What two runs differ in, in the course of time: of each step of time the share of rows that are in something, in one run and
 * in the other. What the second has more stands above a line, what it has less beneath, in the colours of differences.
 *
 * The one idea: each run is added up in steps of its own clock, and steps of the other are laid upon those of the first by how
 * much of them lies there. So runs can be aligned on anything, and nothing has to be asked again.
 */
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";

/** Of steps that follow each other, what share of the rows is in something. */
export interface Shares {
  /** ns of the run. */
  readonly from: number;
  readonly step: number;
  readonly share: Float64Array;
  /** How long the run lasts; behind that nothing is. */
  readonly end: number;
}

/** Pieces of time, of which a part counts. */
export interface Counted {
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly weight: (at: number) => number;
}

/** Adds up pieces in steps. */
export function sharesOf({ start, duration, weight }: Counted, { from, step, number, rows, end }: { readonly from: number; readonly step: number; readonly number: number; readonly rows: number; readonly end: number }): Shares {
  const share = new Float64Array(number);
  for (let at = 0; at < start.length; at += 1) {
    const part = weight(at);
    if (part <= 0) continue;
    const [first, last] = [start[at] ?? 0, (start[at] ?? 0) + (duration[at] ?? 0)];
    const behind = Math.min(Math.ceil((last - from) / step), number);
    for (let place = Math.max(Math.floor((first - from) / step), 0); place < behind; place += 1) {
      const inside = Math.min(last, from + (place + 1) * step) - Math.max(first, from + place * step);
      share[place] = (share[place] ?? 0) + (part * inside) / step / Math.max(rows, 1);
    }
  }
  return { from, step, share: share.map((it) => Math.min(it, 1)), end };
}

/** A step of the first run beside what the other has there; not a number = one of them is not there, or nobody knows. */
export interface Step {
  readonly from: number;
  readonly to: number;
  readonly base: number;
  readonly other: number;
}

/** The share of the other run between two of its instants. */
function within({ from, step, share, end }: Shares, first: number, last: number): number {
  if (first < 0 || last > end + step) return NaN;
  let sum = 0;
  let known = 0;
  const behind = Math.min(Math.ceil((last - from) / step), share.length);
  for (let place = Math.max(Math.floor((first - from) / step), 0); place < behind; place += 1) {
    const inside = Math.min(last, from + (place + 1) * step) - Math.max(first, from + place * step);
    sum += (share[place] ?? 0) * inside;
    known += inside;
  }
  return known < (last - first) / 2 ? NaN : sum / known;
}

/** Steps of the first run that touch a span. */
export function stepsOf(base: Shares, other: Shares, shift: number, span: { readonly from: number; readonly to: number }): readonly Step[] {
  const steps: Step[] = [];
  const behind = Math.min(Math.ceil((span.to - base.from) / base.step), base.share.length);
  for (let place = Math.max(Math.floor((span.from - base.from) / base.step), 0); place < behind; place += 1) {
    const [from, to] = [base.from + place * base.step, base.from + (place + 1) * base.step];
    if (from >= base.end) break;
    steps.push({ from, to, base: base.share[place] ?? NaN, other: within(other, from + shift, to + shift) });
  }
  return steps;
}

/** What bars go up to: the largest difference, as a share that is easily read. */
export function reachOf(steps: readonly Step[]): number {
  const most = steps.reduce((most, it) => Math.max(most, Math.abs(it.other - it.base) || 0), 0);
  return [0.02, 0.05, 0.1, 0.2, 0.5].find((it) => most <= it) ?? 1;
}

export interface LaneLook {
  readonly scale: Scale;
  /** CSS pixels. */
  readonly top: number;
  readonly bottom: number;
  readonly reach: number;
  readonly colours: Palette;
}

export function drawLane(canvas: Ink, steps: readonly Step[], { scale, top, bottom, reach, colours }: LaneLook): void {
  const middle = Math.round((top + bottom) / 2);
  const half = (bottom - top) / 2;
  const right = scale.left + scale.width;
  for (const step of steps) {
    const from = Math.max(Math.round(pxFromTime(scale, step.from)), scale.left);
    const to = Math.min(Math.max(Math.round(pxFromTime(scale, step.to)), from + 1), right);
    if (to <= from) continue;
    const difference = step.other - step.base;
    if (Number.isNaN(difference)) {
      // Where one run is alone there is nothing to be told apart.
      canvas.fillStyle = colours.grid;
      canvas.fillRect(from, top, to - from, bottom - top);
      continue;
    }
    const height = Math.round((Math.min(Math.abs(difference) / reach, 1)) * half);
    if (height === 0) continue;
    canvas.fillStyle = difference > 0 ? colours.more : colours.less;
    canvas.fillRect(from, difference > 0 ? middle - height : middle, to - from, height);
  }
  canvas.fillStyle = colours.faint;
  canvas.fillRect(scale.left, middle, scale.width, 1);
}
