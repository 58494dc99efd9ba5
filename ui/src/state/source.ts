/**
 * What the program consists of: which source and line, which function, loop and type are looked at. They are chosen for all
 * views of sources; and a region that is chosen anywhere leads to its line, as a line leads to the regions that it calls.
 */
import { batch, computed, effect, signal } from "@preact/signals";

import { shortPaths } from "../base/format.ts";
import type { CalleesHead, SourceFileHead, SourceFunctionsHead, SourceHead, SourceTypeHead, SourceTypesHead, WireCallee, WireSourceFunction, WireSourceLoop } from "../wire/generated.ts";
import { engine, fail, run } from "./run.ts";
import { beside, chosenRegion, regionOfName, SOURCE_VIEWS, view, type ViewName } from "./view.ts";

/** A line of a source, by its path: numbers differ between runs. Line 0 is the file as a whole. */
export interface SourcePlace {
  readonly path: string;
  readonly line: number;
}

/** `null` = it is being read, or nobody has asked. */
export const source = signal<SourceHead | null>(null);
/** By region, where its calls took longest: number of the file, and line. */
const placesOfRegions = signal<ReadonlyMap<number, readonly [file: number, line: number]>>(new Map());
export const chosenPlace = signal<SourcePlace | null>(null);
/** The function that is meant, by its name; `null` = none. */
export const chosenFunction = signal<string | null>(null);
/** The loop that is meant, if it is not the innermost around the line: `FIRST-LAST`, its lines. */
export const chosenLoop = signal<string | null>(null);
/** The type that is meant, by its name. */
export const chosenType = signal<string | null>(null);
/** Nodes of the call graph that are open, by the numbers on the way to them. */
export const openCalls = signal<ReadonlySet<string>>(new Set());
/** Those that were hidden. */
export const hiddenCalls = signal<ReadonlySet<string>>(new Set());
/** Types that are folded, by their numbers on the way to them. */
export const foldedTypes = signal<ReadonlySet<string>>(new Set());
/** As what a source is shown. */
export const SHOWN_AS = ["text", "lines", "functions", "loops", "remarks"] as const;
export type ShownAs = (typeof SHOWN_AS)[number];
export const shownAs = signal<ShownAs>("text");
/** What bars beside lines are of. */
export const BARS_OF = ["lines", "loops", "functions"] as const;
export type BarsOf = (typeof BARS_OF)[number];
export const barsOf = signal<BarsOf>("lines");

/** Whether the call graph leaves out what was never seen, types are shown that stand alone, and files are shown as a list of functions. */
export const isSeenOnly = signal(false);
export const areAlone = signal(false);
export const isList = signal(false);
/** Whether machine code stands beside the text. */
export const isMachine = signal(false);
/** Words that files are looked for by. */
export const fileWords = signal("");

/** The cost of a line. Times in ns, of all locations together. */
export interface LineCost {
  readonly exclusive: number;
  readonly inclusive: number;
  readonly calls: number;
  readonly callTime: number;
  readonly waiting: number;
  readonly bytes: number;
}

/** What a line called by itself. */
export interface LineCall extends Omit<LineCost, "exclusive" | "inclusive"> {
  readonly line: number;
  readonly region: number;
}

/** A source that was read, with what its lines cost. */
export interface SourceFile {
  readonly head: SourceFileHead;
  /** Its lines; without its text empty ones, as many as are known. */
  readonly lines: readonly string[];
  readonly costs: ReadonlyMap<number, LineCost>;
  readonly calls: readonly LineCall[];
  /** By line, the innermost loop around it. */
  readonly loopAt: (line: number) => WireSourceLoop | null;
  readonly functionAt: (line: number) => WireSourceFunction | null;
}

/** Reads which sources there are, once. */
export function needSource(): void {
  once("source", async () => {
    const frame = await engine.source();
    const [regions, files, lines] = [frame.u32("region"), frame.u32("file"), frame.u32("line")];
    batch(() => {
      placesOfRegions.value = new Map(Array.from(regions, (region, at) => [region, [files[at] ?? 0, lines[at] ?? 0] as const]));
      source.value = frame.head;
      const isAnywhere = chosenPlace.peek() === null;
      if (isAnywhere) showFirst(frame.head);
      // Whatever was chosen before somebody looked at sources is looked for now.
      if (isAnywhere) followRegion(chosenRegion.peek());
      isThere();
    });
  });
}

/** At first that source is shown that cost most. */
function showFirst(head: SourceHead): void {
  const weight = (file: number): number => (head.files[file]?.cost.exclusive_ns ?? 0) + (head.files[file]?.cost.call_ns ?? 0);
  const own = head.files.flatMap(({ is_of_system }, file) => (is_of_system ? [] : [file]));
  const first = own.sort((a, b) => weight(b) - weight(a) || (head.files[b]?.functions ?? 0) - (head.files[a]?.functions ?? 0))[0];
  const path = head.files[first ?? 0]?.path;
  if (path !== undefined) chosenPlace.value = { path, line: 0 };
}

/** The number of the chosen source; `null` = the run has none of that path. */
export const chosenFile = computed<number | null>(() => fileOf(chosenPlace.value?.path ?? ""));

const numbersOfFiles = computed(() => new Map((source.value?.files ?? []).map(({ path }, file) => [path, file])));

/** The number of a path. */
export function fileOf(path: string): number | null {
  return numbersOfFiles.value.get(path) ?? null;
}

/** By path, as much of its end as tells it from the others. */
export const shortFiles = computed(() => shortPaths((source.value?.files ?? []).map(({ path }) => path)));

/** Files that were read, the last first: going to and fro asks nobody. */
const kept = new Map<number, Promise<SourceFile>>();
const MOST_KEPT = 6;
/** A page is no higher than browsers let it be, and a source that is longer nobody has written: its number of lines is wrong. */
const MOST_LINES = 1_000_000;

/** A file that is looked at. */
export async function readFile(file: number): Promise<SourceFile> {
  const known = kept.get(file) ?? read(file);
  kept.delete(file);
  kept.set(file, known);
  for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest);
  // Who comes again asks again.
  known.catch(() => (kept.get(file) === known ? kept.delete(file) : false));
  return known;
}

async function read(file: number): Promise<SourceFile> {
  const frame = await engine.sourceFile(file);
  const { head } = frame;
  const known = source.peek()?.files[file]?.lines ?? 0;
  const last = head.functions.reduce((most, it) => Math.max(most, it.last, it.line), known);
  const column = (name: string): Float64Array => frame.f64(name);
  const [exclusive, inclusive, calls, callTime, waiting, bytes] = ["exclusive", "inclusive", "calls", "call_time", "waiting", "bytes"].map(column);
  const costs = new Map(
    Array.from(frame.u32("line"), (line, at): [number, LineCost] => [
      line,
      { exclusive: exclusive?.[at] ?? 0, inclusive: inclusive?.[at] ?? 0, calls: calls?.[at] ?? 0, callTime: callTime?.[at] ?? 0, waiting: waiting?.[at] ?? 0, bytes: bytes?.[at] ?? 0 },
    ]),
  );
  const [of, ofCalls, ofTime, ofWaiting, ofBytes] = ["call_calls", "call_call_time", "call_waiting", "call_bytes"].reduce<[Uint32Array, ...Float64Array[]]>((all, name) => [...all, column(name)], [frame.u32("call_region")]);
  const lineCalls = Array.from(frame.u32("call_line"), (line, at): LineCall => ({ line, region: of[at] ?? 0, calls: ofCalls?.[at] ?? 0, callTime: ofTime?.[at] ?? 0, waiting: ofWaiting?.[at] ?? 0, bytes: ofBytes?.[at] ?? 0 }));
  const seen = frame.u32("line").reduce((most, line) => Math.max(most, line), last);
  const lines = head.text?.slice(0, MOST_LINES) ?? Array.from({ length: Math.min(seen, MOST_LINES) }, () => "");
  // What is shorter lies within; both come in the order of their first lines.
  const innermost = <It extends { readonly first: number; readonly last: number }>(all: readonly It[]) => (line: number): It | null =>
    all.reduce<It | null>((best, it) => (it.first !== 0 && it.first <= line && line <= it.last && (best === null || it.last - it.first <= best.last - best.first) ? it : best), null);
  return { head, lines, costs, calls: lineCalls, loopAt: innermost(head.loops), functionAt: innermost(head.functions) };
}

/** The file that is looked at; `null` = it is being read, or there is none. */
export const sourceFile = signal<SourceFile | null>(null);

/** Follows the file that is chosen, and the region that is chosen elsewhere, while sources are looked at; returns what ends it. */
export function followSource(): () => void {
  needSource();
  const file = effect(() => {
    const wanted = chosenFile.value;
    if (wanted === null) {
      sourceFile.value = null;
      return;
    }
    if (sourceFile.peek()?.head.file === wanted) return;
    void readFile(wanted).then((found) => {
      if (chosenFile.peek() === wanted) sourceFile.value = found;
    }, fail);
  });
  const region = effect(() => {
    const [now, place] = [chosenRegion.value, chosenPlace.value];
    if (source.value === null) return;
    // Who goes to a place, or comes back to one by an address, means that.
    if (now !== followed.region && place === followed.place) followRegion(now);
    followed = { region: now, place: chosenPlace.peek() };
  });
  return () => {
    file();
    region();
  };
}

/** Who goes to a place together with a region, as by an address or on the way back, is led nowhere else. */
export function isThere(): void {
  followed = { region: chosenRegion.peek(), place: chosenPlace.peek() };
}

/** The region that was looked for last, and the place then: one may be chosen while no source is shown. */
let followed: { readonly region: number | null; readonly place: SourcePlace | null } = { region: null, place: null };

/** Whether the line that is looked at calls a region. */
function isAtRegion(region: number): boolean {
  const line = chosenPlace.peek()?.line;
  return sourceFile.peek()?.calls.some((call) => call.line === line && call.region === region) ?? false;
}

/** Goes to where a region stands, or where it is called most; not from a line that calls it. */
function followRegion(region: number | null): void {
  const it = region === null ? undefined : run.peek()?.regions[region];
  if (region === null || it === undefined || isAtRegion(region)) return;
  const own = it.file === "" ? null : fileOf(it.file);
  const place = own === null ? placesOfRegions.peek().get(region) : ([own, it.line] as const);
  const path = place === undefined ? undefined : source.peek()?.files[place[0]]?.path;
  if (place !== undefined && path !== undefined) chosenPlace.value = { path, line: place[1] };
}

/** What a loop is called by in the address. */
export function loopName({ first, last }: { readonly first: number; readonly last: number }): string {
  return `${first}-${last}`;
}

/** Looks at a line, and at nothing else of its function that was chosen before. */
export function lookAtLine(path: string, line: number): void {
  batch(() => {
    chosenPlace.value = { path, line };
    chosenLoop.value = null;
  });
}

/** Looks at a function; where the program tells of its visits, its region is chosen in all views. */
export function chooseFunction(name: string, file: number | null, line: number): void {
  batch(() => {
    chosenFunction.value = name;
    const path = file === null ? undefined : source.peek()?.files[file]?.path;
    if (path !== undefined && line > 0) lookAtLine(path, line);
    const region = regionOfName(name);
    if (region !== null) chosenRegion.value = region;
  });
}

/** Shows one of the views of sources, in the place of the one that is asked from. */
export function showSource(name: ViewName = "source"): void {
  if (view.peek() === name || beside.peek() === name) return;
  if (SOURCE_VIEWS.some((it) => it === beside.peek()) && !SOURCE_VIEWS.some((it) => it === view.peek())) beside.value = name;
  else view.value = name;
}

/** From anywhere to a line of a source. */
export function goToSource(path: string, line: number): void {
  lookAtLine(path, line);
  showSource();
}

/** What was read once. */
export const functions = signal<SourceFunctionsHead | null>(null);
export const types = signal<SourceTypesHead | null>(null);
export const typeAbout = signal<SourceTypeHead | null>(null);
/** Callees by node; those that none calls by −1. */
export const callees = signal<ReadonlyMap<number, CalleesHead>>(new Map());
/** Callees by node that were looked for: they may be beyond those that are told of it. */
export const calleesBeyond = signal<ReadonlyMap<number, readonly WireCallee[]>>(new Map());
const asked = new Set<string>();

/** Reads something once; after an error the next who needs it asks anew. */
export function once(what: string, ask: () => Promise<void>): void {
  if (asked.has(what)) return;
  asked.add(what);
  void ask().catch((error: unknown) => {
    asked.delete(what);
    fail(error);
  });
}

export function needFunctions(): void {
  once("functions", async () => void (functions.value = (await engine.sourceFunctions()).head));
}

export function needTypes(): void {
  once("types", async () => void (types.value = (await engine.sourceTypes()).head));
}

export function needCallees(node: number | null): void {
  once(`callees ${node}`, async () => {
    const { head } = await engine.callees(node);
    callees.value = new Map(callees.peek()).set(node ?? -1, head);
  });
}

let wantedType = -1;

/** Reads the members of a type; who has gone on to another one meanwhile sees that. */
export async function readType(number: number): Promise<void> {
  wantedType = number;
  const { head } = await engine.sourceType(number);
  if (wantedType === number) typeAbout.value = head;
}

/** Opens the way to a function in the call graph. */
export async function openWay(name: string): Promise<void> {
  const { way } = (await engine.sourceWay(name)).head;
  const nodes = way.map((it) => it.node);
  const open = new Set(openCalls.peek());
  const beyond = new Map(calleesBeyond.peek());
  way.forEach((it, at) => {
    const caller = nodes[at - 1] ?? -1;
    beyond.set(caller, [...(beyond.get(caller) ?? []).filter((known) => known.node !== it.node), it]);
    if (at === 0) return;
    open.add(nodes.slice(0, at).join("/"));
    needCallees(caller);
  });
  batch(() => {
    calleesBeyond.value = beyond;
    openCalls.value = open;
  });
}
