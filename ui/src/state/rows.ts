/** In which order locations stand below each other, and which of them. */
import { computed, signal } from "@preact/signals";

import { report, run } from "./run.ts";
import { shares } from "./shares.ts";
import { chosenRegion, seenLocations } from "./view.ts";

/** By number, by how long they waited, by how long they were in the chosen region. */
export type Order = "number" | "waiting" | "region";

export const rowOrder = signal<Order>("number");
/** Whether of each process only its first thread is shown. */
export const isFolded = signal(false);

/** What the rows are ordered by, ns; the largest comes first. `null` = by number. */
const weights = computed<readonly number[] | null>(() => {
  const locations = run.value?.locations ?? [];
  if (rowOrder.value === "waiting") {
    const waited = new Map<string, number>();
    for (const row of report.value?.waits ?? []) waited.set(row.location, (waited.get(row.location) ?? 0) + row.wait_ns);
    return locations.map((location) => waited.get(location.name) ?? 0);
  }
  const [all, region] = [shares.value, chosenRegion.value];
  if (rowOrder.value !== "region" || all === null || region === null) return null;
  const column = all.head.regions.indexOf(region);
  const width = all.head.regions.length + 1;
  return column < 0 ? null : locations.map((_, place) => all.exclusive[place * width + column] ?? 0);
});

export const rowLocations = computed<readonly number[]>(() => {
  const locations = run.value?.locations ?? [];
  const isFirst = (place: number): boolean => place === 0 || locations[place - 1]?.process !== locations[place]?.process;
  const shown = isFolded.value ? seenLocations.value.filter(isFirst) : seenLocations.value;
  const by = weights.value;
  return by === null ? shown : [...shown].sort((a, b) => (by[b] ?? 0) - (by[a] ?? 0) || a - b);
});

/** How many threads of the process of a row are not shown. */
export function foldedBeside(location: number): number {
  if (!isFolded.peek()) return 0;
  const locations = run.peek()?.locations ?? [];
  return locations.filter((it) => it.process === locations[location]?.process).length - 1;
}
