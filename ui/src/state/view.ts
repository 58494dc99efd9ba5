/**
 * What is looked at: which view, which span, what is chosen. One selection for all views; everything in it stands in the
 * address of the page.
 */
import { batch, computed, signal } from "@preact/signals";

import { length, moveInto, ns, SHORTEST, type Span } from "../base/time.ts";
import type { Measure, Operation } from "../wire/generated.ts";
import { run, whole } from "./run.ts";

export const VIEWS = ["overview", "timeline", "profile", "histogram", "communication", "waits", "utilisation", "compare", "source", "levels", "data", "help"] as const;
/** Those of what the program consists of; the first stands for all of them where views are listed. */
export const SOURCE_VIEWS = ["source", "files", "calls", "types"] as const;
/** Those that another one leads to. */
const LED_TO = ["next"] as const;
/** Those that only stand in windows of their own. */
const WINDOWS = ["states"] as const;
export type ViewName = (typeof VIEWS)[number] | (typeof SOURCE_VIEWS)[number] | (typeof LED_TO)[number] | (typeof WINDOWS)[number];
/** All that have a place in a window beside others. */
export const ALL_VIEWS: readonly ViewName[] = [...VIEWS.flatMap((name): readonly ViewName[] => (name === "source" ? SOURCE_VIEWS : [name])), ...LED_TO];

/** Whether there is a view of that name. */
export function isView(name: string | undefined): name is ViewName {
  return [...ALL_VIEWS, ...WINDOWS].some((it) => it === name);
}

/** A visit that was chosen. */
export interface Chosen {
  readonly line: number;
  readonly at: number;
}

export const view = signal<ViewName>("overview");
/** A second view in the same window; `null` = none. */
export const beside = signal<ViewName | null>(null);
/** Views that have the details beside them. */
const WITH_SIDE: readonly ViewName[] = ["timeline"];
export const hasSide = computed(() => [view.value, beside.value].some((name) => name !== null && WITH_SIDE.includes(name)));
/** Whether these are seen where there is no room for them beside a view; of this window, and none of what is looked at. */
export const isSideShown = signal(false);
/** Whether this window was torn off, to show one view alone. */
export const isAlone = signal(false);
/** The span that is shown; `null` = the whole run. */
export const chosenSpan = signal<Span | null>(null);
/** Locations that are meant; `null` = all. */
export const chosenLocations = signal<readonly number[] | null>(null);
/** The region that is meant everywhere. */
export const chosenRegion = signal<number | null>(null);
/** Which visits are meant: those of a range of durations or sizes, or those that a test finds, by its percentage. */
export type Which = { readonly by: "range"; readonly range: readonly [number, number] } | { readonly by: "normal" | "anomalous"; readonly percent: number };
/** Some visits of the chosen region, and of those that stand beside it in the histogram. */
export interface Picked {
  readonly region: number;
  readonly of: Measure;
  readonly which: Which;
}
const lastPicked = signal<Picked | null>(null);
/** `null` = all of them. What was picked of another region is forgotten. */
export const picked = computed<Picked | null>(() => {
  const it = lastPicked.value;
  return it !== null && it.region === chosenRegion.value ? it : null;
});
export function pick(next: Picked | null): void {
  lastPicked.value = next;
}
/** Regions that were switched on to stand in the histogram beside the chosen one. */
export const together = signal<readonly number[]>([]);
export const chosenVisit = signal<Chosen | null>(null);
/** A visit of the run beside this one. */
export const chosenBeside = signal<Chosen | null>(null);
/** The name of a region that only the run beside this one has; `null` = none is meant. */
export const lastNew = signal<string | null>(null);
/** Who means a region of this run means no other. */
export const chosenNew = computed<string | null>(() => (chosenRegion.value === null ? lastNew.value : null));
/** An operation of all that was chosen; then no visit is. */
export const chosenOperation = signal<Operation | null>(null);
/** Instants of a location that were chosen, from the first to the last; then neither a visit nor an operation is. */
export interface ChosenEvents {
  readonly location: number;
  readonly from: number;
  readonly to: number;
}
export const chosenEvents = signal<ChosenEvents | null>(null);
/** A message that was chosen, or several that are drawn together; then nothing of the above is. Locations, and ns. */
export interface ChosenMessage {
  readonly from: number;
  readonly sent: number;
  readonly to: number;
  readonly received: number;
  /** `null` = not known, or of several. */
  readonly tag: number | null;
  readonly bytes: number;
  /** How many: of several, times are means and bytes a sum. */
  readonly number: number;
}
export const chosenMessage = signal<ChosenMessage | null>(null);
/** Messages from some processes to some are meant everywhere: from the first to before the last; `null` = all are. */
export interface ChosenPair {
  readonly from: readonly [number, number];
  readonly to: readonly [number, number];
}
export const chosenPair = signal<ChosenPair | null>(null);
export const hidden = signal<ReadonlySet<number>>(new Set());
/** Levels whose lines are not shown, by their place. */
export const hiddenLevels = signal<ReadonlySet<number>>(new Set());
/** Where elapsed time is counted from; `null` = the start of the run. */
export const origin = signal<number | null>(null);
/** Up to when the utilisation is told; `null` = up to the end of the span. */
export const until = signal<number | null>(null);
/** Where zooming by keys stays; `null` = at the pointer. */
export const zoomOrigin = signal<number | null>(null);
/** What is drawn over the states. */
export interface Layers {
  readonly messages: boolean;
  readonly waits: boolean;
  readonly path: boolean;
  /** Operations of all. */
  readonly operations: boolean;
  /** States that need not nest, beneath the rows. */
  readonly overlaps: boolean;
  /** Instants that the program marked. */
  readonly events: boolean;
}
export const layers = signal<Layers>({ messages: true, waits: true, path: false, operations: true, overlaps: true, events: true });

/** Whether both are the same. */
export function areLayers(one: Layers, other: Layers): boolean {
  return (["messages", "waits", "path", "operations", "overlaps", "events"] as const).every((name) => one[name] === other[name]);
}

export function toggleLayer(name: keyof Layers): void {
  layers.value = { ...layers.peek(), [name]: !layers.peek()[name] };
}
/** What stands above the rows. */
export interface Notes {
  readonly findings: boolean;
  readonly situations: boolean;
  readonly anomalies: boolean;
}
export const notes = signal<Notes>({ findings: true, situations: true, anomalies: true });

export function toggleNotes(name: keyof Notes): void {
  notes.value = { ...notes.peek(), [name]: !notes.peek()[name] };
}

/** What of the timeline stands in a table, too. */
export const TWINS = ["states", "operations", "messages", "path", "annotations", "counters", "overlaps", "events", "mountains", "run"] as const;
export type TwinName = (typeof TWINS)[number];
/** `null` = nothing. */
export const twin = signal<TwinName | null>(null);
/** Whether the visits of the chosen region blink. */
export const isBlinking = signal(false);

/** How far a span may reach, where more than the run is looked at; `null` = as far as the run. */
export const reach = signal<Span | null>(null);
const bounds = computed<Span>(() => reach.value ?? whole.value);

export const span = computed<Span>(() => moveInto(chosenSpan.value ?? bounds.value, bounds.value));

/** Looks at a span. */
export function look(next: Span): void {
  const size = Math.max(length(next), SHORTEST);
  const inside = moveInto({ from: next.from, to: ns(next.from + size) }, bounds.peek());
  const isWhole = inside.from <= bounds.peek().from && bounds.peek().to <= inside.to;
  chosenSpan.value = isWhole ? null : inside;
}

export function lookAtAll(): void {
  look(bounds.peek());
}

/** A span with a margin on both sides. */
export function lookAround(from: number, to: number, margin = 0.3): void {
  const size = Math.max(to - from, SHORTEST);
  look({ from: ns(Math.round(from - size * margin)), to: ns(Math.round(to + size * margin)) });
}

/** Looks at what is there unless it is seen already. */
export function see(from: number, to: number): void {
  const seen = span.peek();
  if (seen.from <= from && to <= seen.to) return;
  if (to - from > length(seen)) {
    lookAround(from, to);
    return;
  }
  const first = Math.round((from + to - length(seen)) / 2);
  look({ from: ns(first), to: ns(first + length(seen)) });
}

export function toggleHidden(region: number): void {
  const next = new Set(hidden.peek());
  if (!next.delete(region)) next.add(region);
  hidden.value = next;
}

export function toggleLevel(level: number): void {
  const next = new Set(hiddenLevels.peek());
  if (!next.delete(level)) next.add(level);
  hiddenLevels.value = next;
}

/** Chooses a visit, or none, in the place of whatever was chosen. */
export function chooseVisit(next: Chosen | null): void {
  choose(() => (chosenVisit.value = next));
}

/** Chooses an operation of all in the place of whatever was chosen. */
export function chooseOperation(next: Operation | null): void {
  choose(() => (chosenOperation.value = next));
}

/** Chooses instants in the place of whatever was chosen. */
export function chooseEvents(next: ChosenEvents | null): void {
  choose(() => (chosenEvents.value = next));
}

/** Chooses a message, or several that are drawn together, in the place of whatever was chosen. */
export function chooseMessage(next: ChosenMessage | null): void {
  choose(() => (chosenMessage.value = next));
}

/** One thing is told about at a time. */
function choose(next: () => void): void {
  batch(() => {
    chosenVisit.value = null;
    chosenOperation.value = null;
    chosenEvents.value = null;
    chosenMessage.value = null;
    next();
  });
}

export function clearSelection(): void {
  batch(() => {
    chooseVisit(null);
    chosenBeside.value = null;
    chosenRegion.value = null;
    lastNew.value = null;
    chosenPair.value = null;
    pick(null);
    together.value = [];
    chosenLocations.value = null;
  });
}

/** Locations of some ranks of the first world. */
export function locationsOfRanks(ranks: readonly number[]): number[] {
  const head = run.peek();
  const isMeant = (process: number): boolean => {
    const it = head?.processes[process];
    return it !== undefined && it.rank !== null && it.world === 0 && ranks.includes(it.rank);
  };
  return (head?.locations ?? []).flatMap((location, place) => (isMeant(location.process) ? [place] : []));
}

/** The number of the region of a name; `null` = there is none. */
export function regionOfName(name: string): number | null {
  const regions = run.peek()?.regions ?? [];
  // One that was never visited may have the name of one that was.
  const visited = regions.findIndex((region) => region.name === name && region.visits > 0);
  const place = visited >= 0 ? visited : regions.findIndex((region) => region.name === name);
  return place < 0 ? null : place;
}

/** The region that a report means by a name: there names are shorter, and may be those of several; then the one that took longest is meant. */
export function regionOfReport(name: string): number | null {
  const called = regionOfName(name);
  if (called !== null && (run.peek()?.regions[called]?.visits ?? 0) > 0) return called;
  const longest = (run.peek()?.regions ?? []).reduce<{ readonly place: number; readonly time: number } | null>((best, region, place) => {
    const isMeant = region.visits > 0 && (region.verb === name || region.noun === name);
    return isMeant && (best === null || region.exclusive_ns > best.time) ? { place, time: region.exclusive_ns } : best;
  }, null);
  return longest?.place ?? called;
}

/** What is seen of locations, by range. */
export const seenLocations = computed<readonly number[]>(() => {
  const all = run.value?.locations.map((_, place) => place) ?? [];
  const chosen = chosenLocations.value;
  return chosen === null ? all : all.filter((place) => chosen.includes(place));
});

/** Ranges of numbers that follow each other. */
export function ranges(numbers: readonly number[]): Array<[number, number]> {
  const found: Array<[number, number]> = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number) last[1] = number + 1;
    else found.push([number, number + 1]);
  }
  return found;
}
