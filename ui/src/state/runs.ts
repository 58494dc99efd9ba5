/**
 * Which runs there are, where the server was started without one: the page at its root lists them, and `run/3/` and
 * `run/3-5/` beneath it are pages of one run, or of two.
 */
import { signal } from "@preact/signals";

import { parsed } from "../base/text.ts";
import type { WireOpening, WireRuns } from "../wire/generated.ts";
import { fromServer } from "../wire/server.ts";
import { isHeld } from "../wire/worker.ts";
import { lost } from "./reach.ts";
import { fail, run } from "./run.ts";

/** `null` = not known yet, or there is no list. */
export const runs = signal<WireRuns | null>(null);
/** How far the opening of the run is; `null` = nobody says. */
export const opening = signal<WireOpening | null>(null);

/** Often enough for who waits. */
const EVERY_MS = 300;

/** Whether this is the page of a run that was chosen from a list. */
export const isListed = !isHeld() && /\/run\/\d+(-\d+)?\/$/.test(location.pathname);
/** Where the list is, from there. */
export const LIST = "../../";

/** Reads the list, if this is its page; else says that it is not. */
export async function readRuns(): Promise<boolean> {
  if (isHeld() || isListed) return false;
  try {
    runs.value = parsed(await (await fromServer("api/runs", null)).text()) as WireRuns | null;
  } catch (error) {
    fail(error);
  }
  return runs.value !== null;
}

/** Follows the opening of the run until it is open. */
export function followOpening(): void {
  if (!isListed) return;
  const look = async (): Promise<void> => {
    if (run.value !== null || lost.value !== null) return;
    try {
      const response = await fetch("api/opening");
      opening.value = response.ok ? (parsed(await response.text()) as WireOpening | null) : null;
    } catch {
      // Whoever asks for the run says what is wrong.
      opening.value = null;
    }
    setTimeout(() => void look(), EVERY_MS);
  };
  setTimeout(() => void look(), EVERY_MS);
}

/** The address of a run, or of two side by side. */
export function addressOf(base: number, other: number | null): string {
  return `run/${base}${other === null ? "" : `-${other}`}/`;
}
