/** In which order locations stand below each other, which of them, and in which groups. */
import { computed, signal } from "@preact/signals";

import type { RunHead } from "../wire/generated.ts";
import { report, run } from "./run.ts";
import { shares } from "./shares.ts";
import { chosenRegion, seenLocations } from "./view.ts";

/** By number, by how long they waited, by how long they were in the chosen region. */
export type Order = "number" | "waiting" | "region";

export const rowOrder = signal<Order>("number");
/** Whether of each process only its first thread is shown. */
export const isFolded = signal(false);
/** Processes with which it is the other way round. */
export const turned = signal<ReadonlySet<number>>(new Set());
/** Whether rows stand in groups by host, where there are several. */
export const isGrouped = signal(true);
/** Hosts whose rows are closed, by name. */
export const closedHosts = signal<ReadonlySet<string>>(new Set());

/** Rows that belong together. */
export interface Section {
  /** Name of the host; `null` = all rows, in a run that has but one. */
  readonly host: string | null;
  readonly isClosed: boolean;
  readonly locations: readonly number[];
  /** How many ranks, or processes that are none, these are of. */
  readonly processes: number;
}

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

/** How many threads each process has. */
const threads = computed<ReadonlyMap<number, number>>(() => {
  const found = new Map<number, number>();
  for (const { process } of run.value?.locations ?? []) found.set(process, (found.get(process) ?? 0) + 1);
  return found;
});

export const rowLocations = computed<readonly number[]>(() => {
  const locations = run.value?.locations ?? [];
  const isShown = (place: number): boolean => {
    const process = locations[place]?.process ?? -1;
    const isFirst = place === 0 || locations[place - 1]?.process !== process;
    return isFirst || isFolded.value === turned.value.has(process);
  };
  const shown = seenLocations.value.filter(isShown);
  const by = weights.value;
  return by === null ? shown : [...shown].sort((a, b) => (by[b] ?? 0) - (by[a] ?? 0) || a - b);
});

/** Rows of the run beside this one, while both are looked at: its hosts may be others. */
export const rowsBeside = signal<{ readonly head: RunHead; readonly rows: readonly number[] } | null>(null);

/** Whether there are hosts to be told apart. */
export const hasHosts = computed(() => [run.value, rowsBeside.value?.head].some((it) => (it?.hosts.length ?? 0) > 1));

/** The rows by host, the host of the first row first. */
export const sections = computed<readonly Section[]>(() => sectionsOf(run.value, rowLocations.value));

/** Hosts that have a name in the picture, of both runs if both are looked at, and how many processes each has at most. */
export const groups = computed<ReadonlyMap<string, number>>(() => {
  const found = new Map<string, number>();
  const beside = rowsBeside.value;
  for (const { host, processes } of [...sections.value, ...(beside === null ? [] : sectionsOf(beside.head, beside.rows))]) {
    if (host !== null) found.set(host, Math.max(processes, found.get(host) ?? 0));
  }
  return found;
});

/** The same of any run. */
export function sectionsOf(head: RunHead | null, rows: readonly number[]): readonly Section[] {
  const processOf = (location: number): number => head?.locations[location]?.process ?? -1;
  const numberOf = (locations: readonly number[]): number => new Set(locations.map(processOf)).size;
  if (!isGrouped.value || (head?.hosts.length ?? 0) < 2) return [{ host: null, isClosed: false, locations: rows, processes: numberOf(rows) }];
  const found = new Map<string, number[]>();
  for (const location of rows) {
    const host = head?.processes[processOf(location)]?.host ?? "";
    const of = found.get(host);
    if (of === undefined) found.set(host, [location]);
    else of.push(location);
  }
  return [...found].map(([host, locations]) => ({ host, isClosed: closedHosts.value.has(host), locations, processes: numberOf(locations) }));
}

export function toggleHost(name: string): void {
  const next = new Set(closedHosts.peek());
  if (!next.delete(name)) next.add(name);
  closedHosts.value = next;
}

/** Closes all hosts, or opens them if all are closed. */
export function toggleHosts(): void {
  const hosts = [...groups.peek().keys()];
  if (hosts.length === 0) return;
  closedHosts.value = hosts.every((host) => closedHosts.peek().has(host)) ? new Set() : new Set(hosts);
}

/** Whether a process has several. */
export function hasThreads(process: number): boolean {
  return (threads.value.get(process) ?? 0) > 1;
}

/** Folds the threads of a process that has some, or shows them. */
export function toggleThreads(process: number): void {
  if (!hasThreads(process)) return;
  const next = new Set(turned.peek());
  if (!next.delete(process)) next.add(process);
  turned.value = next;
}

/** Folds the threads of all processes, or shows them. */
export function foldAll(): void {
  isFolded.value = !isFolded.peek();
  turned.value = new Set();
}

/** What the row of a location says of the threads of its process: how many are folded into it, or that they stand beneath it. */
export type Threads = "none" | "shown" | number;

export function threadsOf(location: number): Threads {
  const locations = run.peek()?.locations ?? [];
  const process = locations[location]?.process ?? -1;
  const all = threads.peek().get(process) ?? 0;
  if (all < 2 || (location > 0 && locations[location - 1]?.process === process)) return "none";
  return isFolded.peek() === turned.peek().has(process) ? "shown" : all - 1;
}
