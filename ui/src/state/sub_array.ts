/** The part of an array that is selected: which elements, of which processes, how it snaps, and what accesses to it cost. */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { SnapTo, SubArrayHead, SubArrayOf } from "../wire/generated.ts";
import { array, isOfSpan } from "./data.ts";
import { partOf, REST_MS } from "./part.ts";
import { engine, fail } from "./run.ts";
import { chosenSelection, snap } from "./selection.ts";

/** Of the selection; `null` = there is none, or it is being added up. */
export const selected = signal<{ readonly of: SubArrayOf; readonly head: SubArrayHead } | null>(null);
export const isSelecting = signal(false);

/** As the engine is asked for it; `null` = nothing is selected. */
const wanted = computed<SubArrayOf | null>(() => {
  const [it, of] = [chosenSelection.value, array.value];
  if (it === null || of === null) return null;
  const section = it.section.map((range): [number, number] | null => (range === null ? null : [range[0], range[1]]));
  return { part: partOf(isOfSpan.value), array: of.number, section, processes: it.processes === null ? null : [...it.processes], snap: snap.value };
});

/** Begins to follow what is selected; returns what ends it. */
export function followSelection(): () => void {
  const answers = new Latest<SubArrayOf, SubArrayHead>(
    async (of) => (await engine.subArray(of)).head,
    (head, of) => {
      const isIt = JSON.stringify(of) === JSON.stringify(wanted.peek());
      if (isIt) selected.value = { of, head };
      isSelecting.value = !isIt && wanted.peek() !== null;
    },
    fail,
  );
  return effect(() => {
    const of = wanted.value;
    isSelecting.value = of !== null;
    if (of === null) {
      selected.value = null;
      return;
    }
    // While somebody goes on selecting, older questions are not worth an answer.
    const rest = setTimeout(() => answers.want(of), REST_MS);
    return () => clearTimeout(rest);
  });
}

export const SNAPS: ReadonlyArray<readonly [SnapTo, string, string]> = [
  ["expand", "Expand", "Where processes have bounds of their own, the selection takes all of each part that it meets"],
  ["shrink", "Shrink", "Where processes have bounds of their own, the selection leaves out parts that it does not hold all of"],
  ["none", "As it is", "The selection does not snap to parts of processes"],
];
