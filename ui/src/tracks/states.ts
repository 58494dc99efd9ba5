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
import { eachBetween } from "./pieces.ts";

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

/** Draws the pieces that are seen. */
export function drawStates(ground: Ground, states: States, look: StatesLook): void {
  const { scale, ratio } = look;
  const background = pixel(look.colours.background);
  const life = pixel(look.colours.life);
  const rest = pixel(look.colours.faint);
  eachBox(ground, look, (box) => {
    const [top, bottom] = edges(box, look);
    eachBetween(states, box.line, scale.span, (at) => {
      const start = states.start[at] ?? 0;
      const left = Math.round(pxFromTime(scale, start) * ratio);
      const right = Math.max(left + 1, Math.round(pxFromTime(scale, start + (states.duration[at] ?? 0)) * ratio));
      if (states.isVisit[at] === 1) {
        const region = states.regions[0][at] ?? NONE;
        if (look.hidden.has(region)) return;
        // A line between two visits that follow each other, if there is room for it.
        const end = right - left > 4 * ratio ? right - 1 : right;
        ground.fill(left, end, top, bottom, shade(look, region, background));
      } else if (bottom - top < THIN) {
        ground.fill(left, right, top, bottom, mixture(states, at, look, background, life, rest));
      } else {
        stack(ground, states, at, look, left, right, top, bottom, background, rest);
      }
    });
  });
}

/** Boxes of the lines of rows that are seen. */
function eachBox(ground: Ground, look: StatesLook, each: (box: LineBox) => void): void {
  const below = look.scroll + ground.height / look.ratio;
  for (const row of look.layout.rows) {
    if (row.top < below && row.top + row.height > look.scroll) row.lines.forEach(each);
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

/**
 * Regions of a bucket in the order of their numbers, so that neighbours look alike: their places among the three, written
 * into `into`; how many there are. Called for every bucket of a picture, so it allocates nothing, as what follows.
 */
function inOrder(states: States, at: number, hidden: ReadonlySet<number>, into: Uint8Array): number {
  const a = states.regions[0][at] ?? NONE;
  const b = states.regions[1][at] ?? NONE;
  const c = states.regions[2][at] ?? NONE;
  let number = 0;
  if (a !== NONE && !hidden.has(a)) into[number++] = 0;
  if (b !== NONE && !hidden.has(b)) {
    into[number] = 1;
    if (number === 1 && b < a) {
      into[0] = 1;
      into[1] = 0;
    }
    number += 1;
  }
  if (c !== NONE && !hidden.has(c)) {
    let to = number;
    for (; to > 0 && (into[to - 1] === 0 ? a : b) > c; to -= 1) into[to] = into[to - 1] ?? 0;
    into[to] = 2;
    number += 1;
  }
  return number;
}

const order = new Uint8Array(3);

/** Bars on each other, as high as their shares. */
function stack(
  ground: Ground,
  states: States,
  at: number,
  look: StatesLook,
  left: number,
  right: number,
  top: number,
  bottom: number,
  background: number,
  rest: number,
): void {
  const height = bottom - top;
  let below = bottom;
  const number = inOrder(states, at, look.hidden, order);
  for (let nth = 0; nth <= number; nth += 1) {
    const place = order[nth] ?? 0;
    const share = nth < number ? (states.shares[place]?.[at] ?? 0) : (states.rest[at] ?? 0);
    const above = Math.max(top, Math.round(below - share * height));
    if (above < below) ground.fill(left, right, above, below, nth < number ? shade(look, states.regions[place]?.[at] ?? NONE, background) : rest);
    below = above;
  }
}

/** The colours of a bucket in one, each as much as its share, and time outside of all of them as the life beneath. */
function mixture(states: States, at: number, look: StatesLook, background: number, life: number, rest: number): number {
  let red = 0;
  let green = 0;
  let blue = 0;
  let sum = 0;
  for (let place = 0; place < 4; place += 1) {
    const region = place < 3 ? (states.regions[place]?.[at] ?? NONE) : NONE;
    if (place < 3 && (region === NONE || look.hidden.has(region))) continue;
    const share = place < 3 ? (states.shares[place]?.[at] ?? 0) : (states.rest[at] ?? 0);
    if (share <= 0) continue;
    const fill = place < 3 ? shade(look, region, background) : rest;
    sum += share;
    red += share * (fill & 0xff);
    green += share * ((fill >>> 8) & 0xff);
    blue += share * ((fill >>> 16) & 0xff);
  }
  const left = Math.max(0, 1 - sum);
  const all = Math.max(1, sum);
  red = Math.round((red + left * (life & 0xff)) / all);
  green = Math.round((green + left * ((life >>> 8) & 0xff)) / all);
  blue = Math.round((blue + left * ((life >>> 16) & 0xff)) / all);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

/** How long each location was there. */
export function drawLives(
  ground: Ground,
  lives: ReadonlyArray<{ readonly start_ns: number; readonly end_ns: number }>,
  look: StatesLook,
): void {
  const fill = pixel(look.colours.life);
  for (const row of look.layout.rows) {
    if (row.top + row.height <= look.scroll || row.top >= look.scroll + ground.height / look.ratio) continue;
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
  eachBox(ground, look, (box) => {
    const [top, bottom] = edges(box, look);
    eachBetween(waits, box.line, look.scale.span, (at) => {
      const start = waits.start[at] ?? 0;
      const left = Math.round(pxFromTime(look.scale, start) * look.ratio);
      const right = Math.max(left + 1, Math.round(pxFromTime(look.scale, start + (waits.duration[at] ?? 0)) * look.ratio));
      const above = bottom - Math.round((bottom - top) * (waits.share[at] ?? 0));
      if (above < bottom) ground.fill(left, right, above, bottom, fill);
    });
  });
}
