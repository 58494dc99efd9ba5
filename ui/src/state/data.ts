/**
 * Arrays and what messages come from: of the whole run or of the span that is shown, of the locations that are chosen; and
 * which array is looked at.
 */
import { batch, computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { ArrayHead, ArrayOf, ArraysHead, PartOf, SectionsHead, SectionsOf, WireArray } from "../wire/generated.ts";
import { partOf, REST_MS } from "./part.ts";
import { engine, fail, run } from "./run.ts";
import { applySelection, chosenSelection, selectionList } from "./selection.ts";

/** Cells of a picture of the index space. */
const CELLS: readonly [number, number] = [160, 64];

/** What lies across and down the picture: a dimension from 0; `null` = the process. */
export type Axes = readonly [number | null, number | null];

export const isOfSpan = signal(false);
/** By its name; where an earlier one has that, too, with its number behind it; `null` = the one with most time. */
export const chosenArray = signal<string | null>(null);
/** `null` = the usual ones. */
export const chosenAxes = signal<Axes | null>(null);
/** The buffer that is looked at, as `buffers.tsx` calls it; `null` = none. */
export const chosenBuffer = signal<string | null>(null);
/** Whose references the picture of the index space shows. */
export const chosenReferences = signal<"remote" | "local">("remote");

/** `null` = they are being added up. */
export const arrays = signal<ArraysHead | null>(null);
export const isAsking = signal(false);

/** The array that is looked at; `null` = there is none. */
export const array = computed<WireArray | null>(() => {
  const rows = arrays.value?.arrays ?? [];
  const name = chosenArray.value;
  return rows.find((it) => numbered(it) === name) ?? firstOf(rows, name) ?? rows[0] ?? null;
});

/** Distinguishes arrays of one name, as those of two functions; numbers are the run's own. */
const numbered = ({ name, number }: Pick<WireArray, "name" | "number">): string => `${name}#${number}`;

/** Of arrays of one name the one that was defined first, whatever part of the run is looked at. */
function firstOf(rows: readonly WireArray[], name: string | null): WireArray | undefined {
  const named = rows.filter((it) => it.name === name);
  return named.reduce<WireArray | undefined>((first, it) => (first === undefined || it.number < first.number ? it : first), undefined);
}

/** What an array is chosen by. */
export function keyOf(it: Pick<WireArray, "name" | "number">): string {
  // As long as the arrays are not known, others may have the name.
  return firstOf(arrays.value?.arrays ?? [], it.name)?.number === it.number ? it.name : numbered(it);
}

/** Looks at another array; what is selected of the one before has no place in it. */
export function chooseArray(it: Pick<WireArray, "name" | "number">): void {
  batch(() => {
    if (it.number !== array.value?.number) chosenSelection.value = null;
    chosenArray.value = keyOf(it);
    chosenAxes.value = null;
  });
}

/** Those that were chosen, if the array has them: by its dimensions, or by process if it has one only. */
export const axes = computed<Axes>(() => {
  const dimensions = array.value?.bounds.length ?? 0;
  const isThere = (axis: number | null): boolean => axis === null || axis < dimensions;
  const [across, down] = chosenAxes.value ?? [null, null];
  const isSense = chosenAxes.value !== null && isThere(across) && isThere(down) && across !== down;
  return isSense ? [across, down] : [0, dimensions > 1 ? 1 : null];
});

/** More of one array. */
export const about = signal<{ readonly of: ArrayOf; readonly head: ArrayHead | null } | null>(null);
export interface Picture {
  readonly head: SectionsHead;
  readonly of: SectionsOf;
  readonly local: Float64Array;
  readonly remote: Float64Array;
}
export const picture = signal<Picture | null>(null);

/** Whether an answer is about a part of the run that is looked at no longer, so that another is on its way. */
export function isFormer({ part }: { readonly part: PartOf }): boolean {
  return JSON.stringify(part) !== JSON.stringify(partOf(isOfSpan.value));
}

/** Begins to follow what is wanted; returns what ends it. */
export function followData(): () => void {
  let wanted: PartOf | null = null;
  const lists = new Latest<PartOf, ArraysHead>(
    async (part) => (await engine.arrays(part)).head,
    (head, question) => {
      arrays.value = head;
      isAsking.value = question !== wanted;
    },
    fail,
  );
  const details = new Latest<ArrayOf, ArrayHead | null>(
    async (of) => (await engine.array(of)).head,
    (head, question) => (about.value = { of: question, head }),
    fail,
  );
  const pictures = new Latest<SectionsOf, Picture>(
    async (of) => {
      const frame = await engine.sections(of);
      return { head: frame.head, of, local: frame.f64("local"), remote: frame.f64("remote") };
    },
    (found) => (picture.value = found),
    fail,
  );
  const number = computed(() => array.value?.number ?? null);
  const delayed = (part: PartOf, act: () => void): (() => void) => {
    const rest = setTimeout(act, part.span === null ? 0 : REST_MS);
    return () => clearTimeout(rest);
  };
  const stops = [
    effect(() => {
      if (run.value === null) return;
      const part = partOf(isOfSpan.value);
      wanted = part;
      isAsking.value = true;
      return delayed(part, () => lists.want(part));
    }),
    effect(() => {
      const of = number.value;
      if (of === null) return;
      const part = partOf(isOfSpan.value);
      return delayed(part, () => details.want({ part, array: of }));
    }),
    effect(() => {
      const of = number.value;
      // What has neither bounds nor accesses has no picture.
      if (of === null || (array.value?.bounds.length ?? 0) === 0) return;
      const [part, [across, down]] = [partOf(isOfSpan.value), axes.value];
      return delayed(part, () => pictures.want({ part, array: of, axes: [across, down], cells: [...CELLS] }));
    }),
  ];
  return () => stops.forEach((stop) => stop());
}

/** As it stands in the address; empty = as it is at first. */
export function dataText(): string {
  const list = [isOfSpan.value ? "span" : "", chosenArray.value, chosenAxes.value, chosenBuffer.value];
  const selection = selectionList();
  if (chosenReferences.value === "local") return JSON.stringify([...list, selection, "local"]);
  if (selection !== null) return JSON.stringify([...list, selection]);
  return list.every((it) => it === null || it === "") ? "" : JSON.stringify(list);
}

export function applyData(text: string): void {
  let list: readonly unknown[] = [];
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read)) list = read;
  } catch {
    // Nothing was chosen, or the address was cut off.
  }
  const name = (it: unknown): string | null => (typeof it === "string" ? it : null);
  const axis = (it: unknown): number | null => (typeof it === "number" && Number.isSafeInteger(it) && it >= 0 ? it : null);
  isOfSpan.value = list[0] === "span";
  chosenArray.value = name(list[1]);
  const both = Array.isArray(list[2]) && list[2].length === 2 ? ([axis(list[2][0]), axis(list[2][1])] as const) : null;
  if (JSON.stringify(both) !== JSON.stringify(chosenAxes.peek())) chosenAxes.value = both;
  chosenBuffer.value = name(list[3]);
  applySelection(list[4]);
  chosenReferences.value = list[5] === "local" ? "local" : "remote";
}
