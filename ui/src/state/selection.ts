/** Which part of an array somebody selects, and how that stands in the address. */
import { signal } from "@preact/signals";

import type { SnapTo } from "../wire/generated.ts";

/** First and last subscript of each dimension, `null` = all of it; and processes that have it, `null` = all. */
export interface Selection {
  readonly section: ReadonlyArray<readonly [number, number] | null>;
  readonly processes: readonly number[] | null;
}

/** Of the array that is chosen; `null` = nothing is selected. */
export const chosenSelection = signal<Selection | null>(null);
export const snap = signal<SnapTo>("expand");

/** As it stands in the address: `[[[1,10],null],[2,3],"expand"]`. */
export function selectionList(): readonly unknown[] | null {
  const it = chosenSelection.value;
  return it === null ? null : [it.section, it.processes, snap.value];
}

export function applySelection(list: unknown): void {
  const [section, processes, how]: readonly unknown[] = Array.isArray(list) ? list : [];
  const isNumber = (it: unknown): it is number => typeof it === "number" && Number.isSafeInteger(it);
  const range = (it: unknown): readonly [number, number] | null => (Array.isArray(it) && isNumber(it[0]) && isNumber(it[1]) ? [it[0], it[1]] : null);
  const isProcess = (it: unknown): it is number => isNumber(it) && 0 <= it && it < 2 ** 32;
  const next: Selection | null = Array.isArray(section) ? { section: section.map(range), processes: Array.isArray(processes) ? processes.filter(isProcess) : null } : null;
  if (JSON.stringify(next) !== JSON.stringify(chosenSelection.peek())) chosenSelection.value = next;
  snap.value = how === "shrink" || how === "none" ? how : "expand";
}
