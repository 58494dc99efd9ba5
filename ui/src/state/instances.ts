/** The visits that were picked out of their like, and the sample that they are from. */
import { batch, computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { behind } from "../base/time.ts";
import type { InstancesHead, Sample } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { chosenRegion, pick, picked, ranges, seenLocations, span, type Picked } from "./view.ts";

/** One by one, in the order of time; at most 20 000, those with the largest values. */
export interface PickedInstances {
  readonly head: InstancesHead;
  readonly line: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
  readonly value: Float64Array;
  /** What an anomalous one was expected to be; not a number for others. */
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

/** Means all visits of a region, so that they are listed one by one. */
export function pickAll(region: number): void {
  batch(() => {
    isOfSpan.value = false;
    measure.value = "duration";
    chosenRegion.value = region;
    pick({ region, of: "duration", range: [0, whole.peek().to] });
  });
}

/** What histograms are of; `null` = no region is chosen. */
export const sample = computed<Sample | null>(() => {
  const region = chosenRegion.value;
  if (region === null || run.value === null) return null;
  const { from, to } = isOfSpan.value ? span.value : whole.value;
  return { from_ns: Math.floor(from), to_ns: behind(to, whole.value), locations: ranges(seenLocations.value), region, of: measure.value };
});

interface Question {
  readonly sample: Sample;
  readonly picked: Picked;
}

/** Begins to follow what is picked. */
export function followPicked(): void {
  const asked = new Latest<Question, PickedInstances>(
    async ({ sample, picked }) => {
      const which = picked.range === null ? { anomalous: 1 } : { range: [picked.range[0], picked.range[1]] as [number, number] };
      const frame = await engine.instances({ sample: { ...sample, of: picked.of }, which });
      const column = (name: string): Float64Array => frame.f64(name);
      return {
        head: frame.head,
        line: frame.u32("line"),
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
