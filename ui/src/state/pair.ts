/**
 * The run beside the one that is looked at: what differs between them, and how their times lie upon each other.
 *
 * The one idea: times are those of the run that is looked at, the base. An instant `t` of it lies where `t + shift` of the
 * other one does. Nothing is asked before somebody looks.
 */
import { batch, computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { length, ns, type Span } from "../base/time.ts";
import { Engine } from "../wire/client.ts";
import { besideServer } from "../wire/server.ts";
import { heldBeside, isHeld } from "../wire/worker.ts";
import type { CompareHead, IterationsHead, RunHead, WirePlace, WireVisit } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { chosenBeside, chosenNew, chosenRegion, chosenSpan, lastNew, look, lookAround, span, type Chosen } from "./view.ts";

export const besideEngine = new Engine(isHeld() ? heldBeside() : besideServer);

/** Stands for a region that there is not. */
export const NONE = 0xffffffff;

/** The other run, and what differs. */
export interface Pair {
  readonly other: RunHead;
  readonly head: CompareHead;
  /** Of each region of the other run that of the base. */
  readonly sameRegion: Uint32Array;
  readonly sameLocation: Uint32Array;
}

/** Iterations of both main loops: when the k-th begins and ends, of the base and of the other. */
export interface Iterations {
  readonly head: IterationsHead;
  readonly from: readonly [Float64Array, Float64Array];
  readonly to: readonly [Float64Array, Float64Array];
  /** So many are in both. */
  readonly common: number;
}

/** `null` = nobody has asked, or it is being found out. */
export const pair = signal<Pair | null>(null);
export const iterations = signal<Iterations | null>(null);
/** Why there is none; `null` = nothing went wrong. */
export const whyNot = signal<string | null>(null);
let isAsked = false;

export function needPair(): void {
  if (isAsked || run.peek()?.other == null) return;
  isAsked = true;
  const failed = (error: unknown): void => {
    whyNot.value = error instanceof Error ? error.message : String(error);
  };
  void Promise.all([besideEngine.run(), engine.compare()]).then(([other, frame]) => {
    pair.value = { other: other.head, head: frame.head, sameRegion: frame.u32("same_region"), sameLocation: frame.u32("same_location") };
    followBeside();
  }, failed);
  void engine.iterations().then((frame) => {
    const [from, to] = [[frame.f64("base_from"), frame.f64("other_from")] as const, [frame.f64("base_to"), frame.f64("other_to")] as const];
    iterations.value = { head: frame.head, from, to, common: Math.min(from[0].length, from[1].length) };
  }, fail);
}

/** Which iteration lies upon which, counted from 0; `null` = both runs begin at the same instant. */
export const aligned = signal<number | null>(null);

/** The aligned iteration in both runs, ns of each; `null` = none is. */
export const alignedSpans = computed<readonly [Span, Span] | null>(() => {
  const [at, all] = [aligned.value, iterations.value];
  if (at === null || all === null || at >= all.common) return null;
  const of = (side: 0 | 1): Span => ({ from: ns(all.from[side][at] ?? 0), to: ns(all.to[side][at] ?? 0) });
  return [of(0), of(1)];
});

export const shift = computed<number>(() => {
  const spans = alignedSpans.value;
  return spans === null ? 0 : spans[1].from - spans[0].from;
});

/** From the begin of the one that begins first to the end of the one that ends last. */
export const wholeOfBoth = computed<Span>(() => {
  const end = (pair.value?.other.duration_ns ?? 0) - shift.value;
  return { from: ns(Math.min(whole.value.from, -shift.value)), to: ns(Math.max(whole.value.to, end)) };
});

/** Aligns both runs on an iteration, and goes on looking at as much as before. */
export function align(at: number | null): void {
  const all = iterations.peek();
  const [now, shown] = [alignedSpans.peek(), chosenSpan.peek()];
  batch(() => {
    aligned.value = at;
    const next = at === null ? undefined : all?.from[0][at];
    if (now === null || shown === null || next === undefined) return;
    const moved = next - now[0].from;
    look({ from: ns(shown.from + moved), to: ns(shown.to + moved) });
  });
}

/** Aligns both on the iteration before, or the next; at first on the one that is looked at. */
export function alignNext(step: 1 | -1): void {
  const common = iterations.peek()?.common ?? 0;
  const now = aligned.peek();
  if (now === null) alignHere();
  else if (common > 0) align(Math.min(Math.max(now + step, 0), common - 1));
}

/** Aligns both on the iteration in the middle of what is seen; on the first, if all is. */
export function alignHere(): void {
  const [all, shown] = [iterations.peek(), chosenSpan.peek()];
  if (all === null || all.common === 0) return;
  const middle = shown === null ? 0 : (shown.from + shown.to) / 2;
  const begun = all.from[0].findLastIndex((from, at) => at < all.common && from <= middle);
  align(Math.max(begun, 0));
}

/** Aligns both runs on an iteration, and looks at it. */
export function goToIteration(at: number): void {
  batch(() => {
    aligned.value = at;
    const spans = alignedSpans.value;
    if (spans === null) return;
    const longest = Math.max(length(spans[0]), length(spans[1]));
    lookAround(spans[0].from, spans[0].from + longest, 0.15);
  });
}

/** Of each region of the base that of the other run; of several the one that was visited most. */
const besideOf = computed<ReadonlyMap<number, number>>(() => {
  const found = new Map<number, number>();
  const regions = pair.value?.other.regions ?? [];
  pair.value?.sameRegion.forEach((base, other) => {
    const known = found.get(base);
    if (base !== NONE && (known === undefined || (regions[known]?.visits ?? 0) < (regions[other]?.visits ?? 0))) found.set(base, other);
  });
  return found;
});

export function regionBeside(region: number): number | null {
  return besideOf.value.get(region) ?? null;
}

/** The region that is meant, in the base and in the other run: `null` = none is, NONE = it is not there. */
export const chosenInBoth = computed<readonly [number | null, number | null]>(() => {
  const [region, fresh] = [chosenRegion.value, chosenNew.value];
  if (region !== null) return [region, besideOf.value.get(region) ?? NONE];
  if (fresh === null) return [null, null];
  const place = pair.value?.other.regions.findIndex((it) => it.name === fresh) ?? -1;
  return [NONE, place < 0 ? NONE : place];
});

/** Means the region of a place, in whichever of the runs it is. */
export function chooseRegionOf(place: WirePlace): void {
  if (place.base === null && place.other === null) return;
  const fresh = place.other === null ? null : (pair.peek()?.other.regions[place.other]?.name ?? null);
  batch(() => {
    chosenRegion.value = place.base;
    lastNew.value = place.base === null ? fresh : null;
  });
}

/** How far rows of both are scrolled, and how far they can be, CSS pixels. */
export const scrolled = signal(0);
export const mostScrolled = signal(0);

export function scrollBoth(px: number): void {
  scrolled.value = Math.min(Math.max(scrolled.peek() + px, 0), mostScrolled.peek());
}

export const DIFFERENCES = ["path", "regions", "call-paths", "waits", "iterations"] as const;
export type DifferencesName = (typeof DIFFERENCES)[number];
/** Which table of differences is shown. */
export const differences = signal<DifferencesName>("path");

/** The chosen visit of the other run; `null` = none was chosen, or there is none. */
export const visitBeside = signal<WireVisit | null>(null);

/** How far from a pointer a visit may be, as a part of the span that is shown. */
const NEAR = 1 / 400;

/** Begins to follow which visit of the other run is chosen. */
function followBeside(): void {
  const details = new Latest<Chosen, WireVisit | null>(
    async ({ line, at }) => {
      const near = Math.round(length(span.peek()) * NEAR);
      return (await besideEngine.visit({ line, at_ns: Math.round(at), near_ns: near, region: null })).head.visit;
    },
    (found, asked) => {
      if (chosenBeside.peek() === asked) visitBeside.value = found;
    },
    fail,
  );
  effect(() => {
    const chosen = chosenBeside.value;
    if (chosen === null) visitBeside.value = null;
    else details.want(chosen);
  });
}
