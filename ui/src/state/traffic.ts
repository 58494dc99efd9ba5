/** Messages of the span that is shown: which of them are meant, and what they are together. */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { behind, type Span } from "../base/time.ts";
import type { CollectiveSumsHead, Traffic, TrafficHead, TrafficOrder } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { chosenPair, span } from "./view.ts";

export type Range = readonly [first: number, behind: number];

/** Classes of sizes and of durations that are meant, the first and the last; `null` = all. */
export const sizes = signal<readonly [number, number] | null>(null);
export const durations = signal<readonly [number, number] | null>(null);
export const tag = signal<number | null>(null);
export const order = signal<TrafficOrder>("duration");
/** Processes that the matrix shows; `null` = all. */
export const shownProcesses = signal<Range | null>(null);

/** What cells of the matrix are coloured by. */
export const CELLS = ["bytes", "messages", "time"] as const;
export type CellMeasure = (typeof CELLS)[number];
export const cellMeasure = signal<CellMeasure>("bytes");
/** Whether the table of pairs has what the matrix shows, and not sums of the whole run. */
export const arePairsOfSpan = signal(true);

const ORDERS: readonly TrafficOrder[] = ["duration", "bytes", "sent"];

/** Which messages are meant, and what is shown of them, as it stands in the address; empty = all, as at first. */
export function trafficText(): string {
  const parts: string[] = [];
  const add = (name: string, range: Range | null): void => {
    if (range !== null) parts.push(`${name}:${range.join("-")}`);
  };
  add("sizes", sizes.value);
  add("durations", durations.value);
  add("processes", shownProcesses.value);
  if (tag.value !== null) parts.push(`tag:${tag.value}`);
  if (order.value !== "duration") parts.push(`order:${order.value}`);
  if (cellMeasure.value !== "bytes") parts.push(`cells:${cellMeasure.value}`);
  if (!arePairsOfSpan.value) parts.push("pairs:run");
  return parts.join(",");
}

export function applyTraffic(text: string): void {
  const parts = new Map(text.split(",").map((part) => [part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1)]));
  const range = (name: string, now: Range | null): Range | null => {
    const [, first, last] = (/^(\d{1,9})-(\d{1,9})$/.exec(parts.get(name) ?? "") ?? []).map(Number);
    if (first === undefined || last === undefined || last < first) return null;
    // The same stays the same object, so that it is not counted again.
    return now !== null && now[0] === first && now[1] === last ? now : [first, last];
  };
  sizes.value = range("sizes", sizes.peek());
  durations.value = range("durations", durations.peek());
  const processes = range("processes", shownProcesses.peek());
  shownProcesses.value = processes !== null && processes[0] < processes[1] && processes[1] <= (run.peek()?.processes.length ?? 0) ? processes : null;
  const number = parts.get("tag") ?? "";
  tag.value = /^\d{1,10}$/.test(number) ? Number(number) : null;
  order.value = ORDERS.find((it) => it === parts.get("order")) ?? "duration";
  cellMeasure.value = CELLS.find((it) => it === parts.get("cells")) ?? "bytes";
  arePairsOfSpan.value = parts.get("pairs") !== "run";
}

export const processRange = computed<Range>(() => shownProcesses.value ?? [0, Math.max(run.value?.processes.length ?? 1, 1)]);

export interface MessageRow {
  readonly from: number;
  readonly sent: number;
  readonly to: number;
  readonly received: number;
  readonly bytes: number;
  /** Not a number = unknown. */
  readonly tag: number;
  readonly communicator: number;
}

export interface MatrixCell {
  readonly row: number;
  readonly column: number;
  readonly messages: number;
  readonly bytes: number;
  readonly time: number;
  readonly longest: number;
}

export interface TrafficSums {
  readonly asked: Traffic;
  readonly head: TrafficHead;
  readonly cells: readonly MatrixCell[];
  readonly ofSize: Float64Array;
  readonly ofDuration: Float64Array;
  readonly listed: readonly MessageRow[];
}

export interface CollectiveSum {
  readonly region: number;
  readonly communicator: number;
  readonly operations: number;
  readonly parts: number;
  readonly time: number;
  readonly longest: number;
  /** Not a number = not known. */
  readonly waited: number;
  readonly bytesOut: number;
  readonly bytesIn: number;
  readonly first: number;
}

export interface CollectiveSums {
  readonly head: CollectiveSumsHead;
  readonly sums: readonly CollectiveSum[];
}

/** `null` = nobody has looked at it yet. */
export const traffic = signal<TrafficSums | null>(null);
export const collectiveSums = signal<CollectiveSums | null>(null);
/** Whether something better is on its way. */
export const isCounting = signal(false);

function question(): Traffic {
  const processes = processRange.value;
  const pair = chosenPair.value;
  return {
    from_ns: Math.floor(span.value.from),
    to_ns: behind(span.value.to, whole.value),
    processes: [[...processes], [...processes]],
    pair: pair === null ? null : [[...pair.from], [...pair.to]],
    sizes: sizes.value === null ? null : [...sizes.value],
    durations: durations.value === null ? null : [...durations.value],
    tag: tag.value,
    order: order.value,
  };
}

async function read(asked: Traffic): Promise<TrafficSums> {
  const frame = await engine.traffic(asked);
  const [row, column, messages, data, time, longest] = [frame.u32("row"), frame.u32("column"), frame.f64("messages"), frame.f64("bytes"), frame.f64("time"), frame.f64("longest")];
  const cells = Array.from(row, (it, at): MatrixCell => ({ row: it, column: column[at] ?? 0, messages: messages[at] ?? 0, bytes: data[at] ?? 0, time: time[at] ?? 0, longest: longest[at] ?? 0 }));
  const [from, sent, to, received, size, tags] = [frame.u32("send_location"), frame.f64("send_time"), frame.u32("receive_location"), frame.f64("receive_time"), frame.f64("size"), frame.f64("tag")];
  const communicators = frame.u32("communicator");
  const listed = Array.from(from, (it, at): MessageRow => ({ from: it, sent: sent[at] ?? 0, to: to[at] ?? 0, received: received[at] ?? 0, bytes: size[at] ?? 0, tag: tags[at] ?? NaN, communicator: communicators[at] ?? 0xffffffff }));
  return { asked, head: frame.head, cells, ofSize: frame.f64("of_size"), ofDuration: frame.f64("of_duration"), listed };
}

async function readSums({ from, to }: Span): Promise<CollectiveSums> {
  const frame = await engine.collectiveSums({ from_ns: Math.floor(from), to_ns: behind(to, whole.peek()) });
  const [region, communicator, first] = [frame.u32("region"), frame.u32("communicator"), frame.u32("first")];
  const of = (name: string): Float64Array => frame.f64(name);
  const [operations, parts, time, longest, waited, bytesOut, bytesIn] = [of("operations"), of("parts"), of("time"), of("longest"), of("waited"), of("bytes_out"), of("bytes_in")];
  const sums = Array.from(region, (it, at): CollectiveSum => ({
    region: it,
    communicator: communicator[at] ?? 0,
    operations: operations[at] ?? 0,
    parts: parts[at] ?? 0,
    time: time[at] ?? 0,
    longest: longest[at] ?? 0,
    waited: waited[at] ?? NaN,
    bytesOut: bytesOut[at] ?? 0,
    bytesIn: bytesIn[at] ?? 0,
    first: first[at] ?? 0,
  }));
  return { head: frame.head, sums };
}

/** Begins to follow what is shown and chosen; returns what ends it. */
export function followTraffic(): () => void {
  const messages = new Latest<Traffic, TrafficSums>(read, (found, asked) => {
    traffic.value = found;
    isCounting.value = asked !== wanted;
  }, failed);
  const operations = new Latest<Span, CollectiveSums>(readSums, (found) => (collectiveSums.value = found), fail);
  let wanted: Traffic | null = null;
  function failed(error: unknown): void {
    isCounting.value = false;
    fail(error);
  }
  const ends = [
    effect(() => {
      if (run.value === null) return;
      wanted = question();
      isCounting.value = true;
      messages.want(wanted);
    }),
    effect(() => {
      if (run.value !== null) operations.want(span.value);
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** Whether a message between two locations is meant in all views. */
export const isMeantMessage = computed<((from: number, to: number) => boolean) | null>(() => {
  const [pair, locations] = [chosenPair.value, run.value?.locations ?? []];
  if (pair === null) return null;
  const isIn = ([first, behind]: Range, location: number): boolean => {
    const process = locations[location]?.process ?? -1;
    return first <= process && process < behind;
  };
  return (from, to) => isIn(pair.from, from) && isIn(pair.to, to);
});
