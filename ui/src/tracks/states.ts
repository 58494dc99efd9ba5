/**
 * States of locations, drawn pixel by pixel: visits as bars, buckets of short ones as bars whose height is the share of
 * time that each region took.
 *
 * A line that is too thin for that mixes the colours in these shares, so that a picture of very much is still true.
 */
import type { Ground } from "../canvas/ink.ts";
import { mixed, pixel, type Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { StatesHead, WaitsHead } from "../wire/generated.ts";
import type { Layout, LineBox } from "./layout.ts";

/** Stands for a region that there is not. */
const NONE = 0xffffffff;
/** Thinner lines mix colours, device pixels. */
const THIN = 7;

/** Pieces as the engine gives them. */
export interface States {
  readonly line: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly regions: readonly [Uint32Array, Uint32Array, Uint32Array];
  readonly shares: readonly [Float32Array, Float32Array, Float32Array];
  readonly rest: Float32Array;
  readonly isVisit: Uint32Array;
}

export function statesOf(frame: Frame<StatesHead>): States {
  return {
    line: frame.u32("line"),
    start: frame.f64("start"),
    duration: frame.f64("duration"),
    regions: [frame.u32("region1"), frame.u32("region2"), frame.u32("region3")],
    shares: [frame.f32("share1"), frame.f32("share2"), frame.f32("share3")],
    rest: frame.f32("rest"),
    isVisit: frame.u32("visit"),
  };
}

/**
 * Whether what is hidden may be drawn all the same: where more than three regions share a bucket, nobody knows whether those
 * that are not told apart are hidden ones.
 */
export function isApproximate(states: States, hidden: ReadonlySet<number>): boolean {
  return hidden.size > 0 && states.rest.some((share) => share > 0);
}

/** What a picture of states needs to be drawn. */
export interface StatesLook {
  readonly scale: Scale;
  readonly layout: Layout;
  /** How far it is scrolled, CSS pixels. */
  readonly scroll: number;
  readonly ratio: number;
  readonly colours: Palette;
  /** Pixel of each region. */
  readonly pixels: Uint32Array;
  readonly hidden: ReadonlySet<number>;
  /** Others are drawn pale; `null` = none is chosen. */
  readonly chosen: number | null;
}

/** Draws all pieces. */
export function drawStates(ground: Ground, states: States, look: StatesLook): void {
  const { scale, ratio } = look;
  const background = pixel(look.colours.background);
  const life = pixel(look.colours.life);
  const rest = pixel(look.colours.faint);
  for (let at = 0; at < states.line.length; at += 1) {
    const box = look.layout.boxes.get(states.line[at] ?? NONE);
    if (box === undefined) continue;
    const start = states.start[at] ?? 0;
    const left = Math.round(pxFromTime(scale, start) * ratio);
    const right = Math.max(left + 1, Math.round(pxFromTime(scale, start + (states.duration[at] ?? 0)) * ratio));
    if (right <= 0 || left >= ground.width) continue;
    const [top, bottom] = edges(box, look);
    if (states.isVisit[at] === 1) {
      const region = states.regions[0][at] ?? NONE;
      if (look.hidden.has(region)) continue;
      // A line between two visits that follow each other, if there is room for it.
      const end = right - left > 4 * ratio ? right - 1 : right;
      ground.fill(left, end, top, bottom, shade(look, region, background));
    } else if (bottom - top < THIN) {
      ground.fill(left, right, top, bottom, mixture(states, at, look, background, life, rest));
    } else {
      stack(ground, states, at, look, [left, right, top, bottom], background, rest);
    }
  }
}

function edges(box: LineBox, look: StatesLook): [number, number] {
  const top = Math.round((box.top - look.scroll) * look.ratio);
  return [top, Math.max(top + 1, Math.round((box.top + box.height - look.scroll) * look.ratio) - (box.height > 5 ? 1 : 0))];
}

function shade(look: StatesLook, region: number, background: number): number {
  const own = look.pixels[region] ?? background;
  return look.chosen === null || look.chosen === region ? own : mixed(own, background, 0.72);
}

/** Regions of a bucket in the order of their numbers, so that neighbours look alike. */
function inOrder(states: States, at: number, look: StatesLook): Array<[number, number]> {
  const found: Array<[number, number]> = [];
  for (let place = 0; place < 3; place += 1) {
    const region = states.regions[place]?.[at] ?? NONE;
    if (region !== NONE && !look.hidden.has(region)) found.push([region, states.shares[place]?.[at] ?? 0]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}

function stack(
  ground: Ground,
  states: States,
  at: number,
  look: StatesLook,
  [left, right, top, bottom]: readonly [number, number, number, number],
  background: number,
  rest: number,
): void {
  const height = bottom - top;
  let below = bottom;
  const add = (share: number, fill: number): void => {
    const above = Math.max(top, Math.round(below - share * height));
    ground.fill(left, right, above, below, fill);
    below = above;
  };
  for (const [region, share] of inOrder(states, at, look)) add(share, shade(look, region, background));
  add(states.rest[at] ?? 0, rest);
}

function mixture(states: States, at: number, look: StatesLook, background: number, life: number, rest: number): number {
  let result = life;
  let sum = 0;
  const add = (share: number, fill: number): void => {
    if (share <= 0) return;
    sum += share;
    result = mixed(result, fill, Math.min(1, share / Math.max(sum, 1e-9)));
  };
  for (const [region, share] of inOrder(states, at, look)) add(share, shade(look, region, background));
  add(states.rest[at] ?? 0, rest);
  return mixed(life, result, Math.min(1, sum));
}

/** How long each location was there. */
export function drawLives(
  ground: Ground,
  lives: ReadonlyArray<{ readonly start_ns: number; readonly end_ns: number }>,
  look: StatesLook,
): void {
  const fill = pixel(look.colours.life);
  for (const row of look.layout.rows) {
    const life = lives[row.location];
    if (life === undefined) continue;
    const left = Math.round(pxFromTime(look.scale, life.start_ns) * look.ratio);
    const right = Math.round(pxFromTime(look.scale, life.end_ns) * look.ratio);
    const top = Math.round((row.top - look.scroll) * look.ratio);
    ground.fill(left, right, top, Math.round((row.top + row.height - look.scroll) * look.ratio) - 1, fill);
  }
}

export interface WaitPieces {
  readonly line: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly share: Float32Array;
}

export function waitsOf(frame: Frame<WaitsHead>): WaitPieces {
  return { line: frame.u32("line"), start: frame.f64("start"), duration: frame.f64("duration"), share: frame.f32("share") };
}

/** Waiting, drawn over the calls that waited, as high as its share. */
export function drawWaits(ground: Ground, waits: WaitPieces, look: StatesLook): void {
  const fill = pixel(look.colours.waiting);
  for (let at = 0; at < waits.line.length; at += 1) {
    const box = look.layout.boxes.get(waits.line[at] ?? NONE);
    if (box === undefined) continue;
    const start = waits.start[at] ?? 0;
    const left = Math.round(pxFromTime(look.scale, start) * look.ratio);
    const right = Math.max(left + 1, Math.round(pxFromTime(look.scale, start + (waits.duration[at] ?? 0)) * look.ratio));
    if (right <= 0 || left >= ground.width) continue;
    const [top, bottom] = edges(box, look);
    const share = waits.share[at] ?? 0;
    const above = bottom - Math.round((bottom - top) * share);
    if (above < bottom) ground.fill(left, right, above, bottom, fill);
  }
}
