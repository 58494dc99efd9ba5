/**
 * The run that is looked at: what all views need of it, read once when the page opens.
 */
import { computed, signal } from "@preact/signals";

import { ns, type Span } from "../base/time.ts";
import { Engine } from "../wire/client.ts";
import type { Kind, RunHead } from "../wire/generated.ts";
import type { Report } from "../wire/report.ts";
import { LostError } from "../wire/lost.ts";
import { server } from "../wire/server.ts";
import { held, isHeld } from "../wire/worker.ts";
import { lose } from "./reach.ts";

/** How much of a run that the page holds is unpacked, from 0 to 1. */
export const unpacked = signal(0);

export const engine = new Engine(isHeld() ? held((share) => (unpacked.value = share)) : server);

/** `null` while it is being read. */
export const run = signal<RunHead | null>(null);
/** `null` while it is being made, which may take longer. */
export const report = signal<Report | null>(null);
/** What went wrong last, in words; `null` = nothing. */
export const failure = signal<string | null>(null);

export async function open(): Promise<void> {
  try {
    const head = (await engine.run()).head;
    run.value = head;
    document.title = `${head.name} · marey`;
    report.value = (await engine.report()).head;
  } catch (error) {
    fail(error);
  }
}

/** What a process is called. */
export function processName(process: number): string {
  const it = run.value?.processes[process];
  if (it === undefined || it.rank === null) return `process ${process}`;
  return it.world === 0 ? `rank ${it.rank}` : `world ${it.world} rank ${it.rank}`;
}

/** What processes are called, from one to before another. */
export function processesName([first, behind]: readonly [number, number]): string {
  return behind - first === 1 ? processName(first) : `${processName(first)} … ${processName(behind - 1)}`;
}

/** What messages from some processes to some are called: `rank 0 → rank 3`. */
export function pairName({ from, to }: { readonly from: readonly [number, number]; readonly to: readonly [number, number] }): string {
  return `${processesName(from)} → ${processesName(to)}`;
}

export function fail(error: unknown): void {
  if (error instanceof LostError) {
    lose(error);
    return;
  }
  failure.value = error instanceof Error ? error.message : String(error);
}

/** From the first to the last measured instant. */
export const whole = computed<Span>(() => ({ from: ns(0), to: ns(Math.max(run.value?.duration_ns ?? 1, 1)) }));

/** Lines of a run by location, in the order in which they are drawn. */
export function linesIn(head: RunHead | null): readonly (readonly number[])[] {
  if (head === null) return [];
  const lines: number[][] = head.locations.map(() => []);
  head.lines.forEach((line, number) => lines[line.location]?.push(number));
  return lines;
}

export const linesOf = computed(() => linesIn(run.value));

/** By region, which shade of its kind it has: the one with most time the first. */
export const shades = computed<readonly number[]>(() => {
  const regions = run.value?.regions ?? [];
  const next = new Map<Kind, number>();
  const shades = regions.map(() => 0);
  const order = regions.map((_, region) => region);
  order.sort((a, b) => (regions[b]?.exclusive_ns ?? 0) - (regions[a]?.exclusive_ns ?? 0) || a - b);
  for (const region of order) {
    const kind = regions[region]?.kind ?? "work";
    const shade = next.get(kind) ?? 0;
    shades[region] = shade;
    next.set(kind, shade + 1);
  }
  return shades;
});
