/**
 * Clocks that are moved by hand: what is to be added to all times of a process.
 *
 * The one idea: a clock is moved in the picture first, and written down when the user says so. Then the run is another one,
 * so the page reads it anew, here and in all windows on it; the address keeps what was looked at.
 */
import { computed, signal } from "@preact/signals";

import { fromServer } from "../wire/server.ts";
import { fail, run } from "./run.ts";

/** A clock that is being moved. */
export interface Moving {
  /** The process, by its place in the head. */
  readonly process: number;
  /** What would be added to its times as they were merged, ns. */
  readonly offset: number;
}

export const moving = signal<Moving | null>(null);
/** Why none can be moved, once somebody has tried. */
export const refused = signal<string | null>(null);

/** Processes that were moved, and by how much, ns. */
export const movedByHand = computed<readonly Moving[]>(() => {
  const processes = run.value?.processes ?? [];
  return processes.flatMap((it, process) => (it.offset_ns === 0 ? [] : [{ process, offset: it.offset_ns }]));
});

/** By how much the picture of the process that is being moved is off, ns. */
export const movedBy = computed(() => (moving.value === null ? 0 : moving.value.offset - (run.value?.processes[moving.value.process]?.offset_ns ?? 0)));

/** Begins to move a clock, by so much more than it is, unless it cannot be. */
export function moveClock(process: number, by: number): void {
  const head = run.peek();
  const now = head?.processes[process]?.offset_ns;
  if (head === null || now === undefined) return;
  refused.value = head.why_no_shift;
  if (head.why_no_shift === null) moving.value = { process, offset: now + Math.round(by) };
}

export function leaveClock(): void {
  moving.value = null;
  refused.value = null;
}

const MOVED = "moved";

function windows(): BroadcastChannel {
  return new BroadcastChannel(`marey clock ${location.pathname}`);
}

/** Reads the run anew when a clock was moved in another window. */
export function followClocks(): void {
  windows().onmessage = (event: MessageEvent<unknown>) => {
    if (event.data === MOVED) location.reload();
  };
}

/** Writes an offset beside the tables of the run, in the place of what was there; 0 = as it was merged. */
export async function keepClock({ process, offset }: Moving): Promise<void> {
  try {
    await fromServer("api/clock", JSON.stringify({ process, offset_ns: Math.round(offset) }));
    windows().postMessage(MOVED);
    location.reload();
  } catch (error) {
    fail(error);
  }
}
