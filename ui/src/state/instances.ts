/** The visits that were picked out of their like, and the regions and the sample that they are from. */
import { batch, computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { behind } from "../base/time.ts";
import type { InstancesHead, Sample, Which as Wire } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { chosenRegion, hidden, hiddenLevels, pick, picked, ranges, seenLocations, span, together, type Picked, type Which } from "./view.ts";

/** One by one, in the order of time; at most 20 000, those with the largest values. */
export interface PickedInstances {
  readonly head: InstancesHead;
  readonly line: Uint32Array;
  readonly region: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly value: Float64Array;
  /** What one that a test found was expected to be; not a number for others. */
  readonly expected: Float64Array;
}

const USUAL_BINS = 60;
export const FEWEST_BINS = 5;
export const MOST_BINS = 400;

export const instances = signal<PickedInstances | null>(null);
/** Whether only visits of the span that is shown count. */
export const isOfSpan = signal(false);
export const measure = signal<Picked["of"]>("duration");
/** How many bins a histogram has, and whether they grow. */
export const bins = signal(USUAL_BINS);
export const isLogarithmic = signal(true);

/** More colours are not told apart. */
export const MOST_TOGETHER = 12;

/** Whether a region is among the states that are shown. */
export function isShown(region: number): boolean {
  return !hidden.value.has(region) && !hiddenLevels.value.has(run.value?.regions[region]?.level ?? -1);
}

/** All that stand in the histogram, the chosen one first; empty = none is chosen. */
export const sampled = computed<readonly number[]>(() => {
  const region = chosenRegion.value;
  if (region === null) return [];
  return [region, ...together.value.filter((other) => other !== region && isShown(other))].slice(0, MOST_TOGETHER);
});

/** Switches a region on or off; when the chosen one is switched off the next is chosen. */
export function toggleTogether(region: number): void {
  const on = sampled.peek();
  if (!on.includes(region)) together.value = [...on.slice(1), region];
  else if (region !== chosenRegion.peek()) together.value = on.slice(1).filter((other) => other !== region);
  else if (on[1] !== undefined) lead(on[1], on.slice(1));
}

/** Chooses one of those that are on; all of them stay on. */
export function chooseAmong(region: number): void {
  lead(region, sampled.peek());
}

/** What is picked is of all that are on, so it stays picked. */
function lead(region: number, on: readonly number[]): void {
  batch(() => {
    const now = picked.peek();
    chosenRegion.value = region;
    together.value = on.filter((other) => other !== region);
    if (now !== null) pick({ ...now, region });
  });
}

/** How histograms are made, as it stands in the address; empty = as at first. */
export function histogramText(): string {
  const words = [isOfSpan.value ? ["span"] : [], measure.value === "bytes" ? ["bytes"] : [], isLogarithmic.value ? [] : ["linear"], bins.value === USUAL_BINS ? [] : [String(bins.value)]];
  return words.flat().join(",");
}

export function applyHistogram(text: string): void {
  const words = text.split(",");
  isOfSpan.value = words.includes("span");
  measure.value = words.includes("bytes") ? "bytes" : "duration";
  isLogarithmic.value = !words.includes("linear");
  const number = Number(words.find((word) => /^\d+$/.test(word)) ?? USUAL_BINS);
  bins.value = Math.min(Math.max(number, FEWEST_BINS), MOST_BINS);
}

/** Means all visits of a region and of no other, so that they are listed one by one. */
export function pickAll(region: number): void {
  batch(() => {
    isOfSpan.value = false;
    measure.value = "duration";
    chosenRegion.value = region;
    together.value = [];
    pick({ region, of: "duration", which: { by: "range", range: [0, whole.peek().to] } });
  });
}

/** What histograms are of; `null` = no region is chosen. */
export const sample = computed<Sample | null>(() => {
  if (sampled.value.length === 0 || run.value === null) return null;
  const { from, to } = isOfSpan.value ? span.value : whole.value;
  return { from_ns: Math.floor(from), to_ns: behind(to, whole.value), locations: ranges(seenLocations.value), regions: [...sampled.value], of: measure.value };
});

/** As requests have it. */
function asWire(which: Which): Wire {
  if (which.by === "range") return { range: [which.range[0], which.range[1]] };
  return which.by === "normal" ? { normal: which.percent } : { anomalous: which.percent };
}

interface Question {
  readonly sample: Sample;
  readonly picked: Picked;
}

/** Begins to follow what is picked. */
export function followPicked(): void {
  const asked = new Latest<Question, PickedInstances>(
    async ({ sample, picked }) => {
      const frame = await engine.instances({ sample: { ...sample, of: picked.of }, which: asWire(picked.which) });
      const column = (name: string): Float64Array => frame.f64(name);
      return {
        head: frame.head,
        line: frame.u32("line"),
        region: frame.u32("region"),
        start: column("start"),
        duration: column("duration"),
        value: column("value"),
        expected: column("expected"),
      };
    },
    (found, question) => {
      if (picked.peek() === question.picked) instances.value = found;
    },
    fail,
  );
  effect(() => {
    const [some, of] = [picked.value, sample.value];
    if (some === null || of === null) instances.value = null;
    else asked.want({ sample: of, picked: some });
  });
}
