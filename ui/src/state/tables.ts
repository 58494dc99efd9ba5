/** How tables are sorted and filtered, by their labels; one that stands as at first is not among them. */
import { computed, signal, type ReadonlySignal } from "@preact/signals";

import type { Keeper, Sorting } from "../base/sorting.ts";
import { pairs } from "./recoloured.ts";

const sortings = signal<ReadonlyMap<string, Sorting>>(new Map());
const filters = signal<ReadonlyMap<string, string>>(new Map());

const sortingOf = each(sortings);
const filterOf = each(filters);

/** Who keeps that for all tables of the page. */
export const tables: Keeper = {
  sorting: (label) => sortingOf(label) ?? null,
  sort: (label, next) => (sortings.value = changed(sortings.peek(), label, next)),
  filter: (label) => filterOf(label) ?? "",
  setFilter: (label, words) => (filters.value = changed(filters.peek(), label, words === "" ? null : words)),
};

/** What there is for a label: who draws its table is told of changes of that one alone. */
function each<Value>(all: ReadonlySignal<ReadonlyMap<string, Value>>): (label: string) => Value | undefined {
  const known = new Map<string, ReadonlySignal<Value | undefined>>();
  return (label) => {
    const own = known.get(label) ?? computed(() => all.value.get(label));
    known.set(label, own);
    return own.value;
  };
}

function changed<Value>(all: ReadonlyMap<string, Value>, label: string, next: Value | null): ReadonlyMap<string, Value> {
  const copy = new Map(all);
  if (next === null) copy.delete(label);
  else copy.set(label, next);
  return copy;
}

/** As it stands in the address; empty = all are sorted as at first. */
export function sortedText(): string {
  return textOf([...sortings.value].map(([label, { column, isUp }]) => [label, `${isUp ? "+" : "-"}${column}`]));
}

/** As it stands in the address; empty = all have all of their rows. */
export function filteredText(): string {
  return textOf([...filters.value]);
}

function textOf(pairs: ReadonlyArray<readonly [string, string]>): string {
  // No object: a label may be a name that objects have already.
  return pairs.length === 0 ? "" : JSON.stringify([...pairs].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Lets tables stand as two texts of an address say. */
export function applyTables(sorted: string, filtered: string): void {
  const isSorting = ([, text]: readonly [string, string]): boolean => /^[+-]./.test(text);
  const next = new Map(pairs(sorted).filter(isSorting).map(([label, text]) => [label, { column: text.slice(1), isUp: text.startsWith("+") }] as const));
  // The same stay the same, so that tables need not be drawn anew.
  if (JSON.stringify([...next]) !== JSON.stringify([...sortings.peek()])) sortings.value = next;
  const words = new Map(pairs(filtered).filter(([, text]) => text !== ""));
  if (JSON.stringify([...words]) !== JSON.stringify([...filters.peek()])) filters.value = words;
}
