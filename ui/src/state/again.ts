/**
 * The recorded command once more, with the rules that were chosen, by a server that its user has allowed to do that.
 *
 * The one idea: the page gives rules, and nothing else; what runs, and where, the server knows and says, and the user confirms
 * it. Then the page asks how far it is until it has ended.
 */
import { signal } from "@preact/signals";

import { parsed } from "../base/text.ts";
import type { WireAgain, WireAgainState } from "../wire/generated.ts";
import { fromServer } from "../wire/server.ts";
import { filterText } from "./next.ts";
import { isListed, LIST } from "./runs.ts";

/** What would be done; `null` = not known yet. */
export const plan = signal<WireAgain | null>(null);
/** What was started here, as the server told it last; `null` = nothing was. */
export const again = signal<WireAgainState | null>(null);
/** Why it could not be started, or asked for; empty = it could. */
export const againFailed = signal("");

const EVERY_MS = 400;

/** Whether somebody looks at how far it is: who has gone on to look at something else is not led away from it. */
let isWatched = false;

export function watch(is: boolean): void {
  isWatched = is;
}

async function said(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    againFailed.value = "";
    return true;
  } catch (error) {
    againFailed.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

/** Asks what would be done, and whether it is being done. */
export async function readPlan(): Promise<void> {
  await said(async () => {
    plan.value = parsed(await (await fromServer("api/again", null)).text()) as WireAgain;
    const state = await readState();
    if (state?.is_running === true) {
      again.value = state;
      void follow();
    }
  });
}

async function readState(): Promise<WireAgainState | null> {
  return parsed(await (await fromServer("api/again/state", null)).text()) as WireAgainState | null;
}

let isFollowed = false;

/** Until it has ended; then both runs are opened, if there is a new one that nobody has cut short. */
async function follow(): Promise<void> {
  if (isFollowed) return;
  isFollowed = true;
  const isTold = await said(async () => {
    do {
      await new Promise((done) => setTimeout(done, EVERY_MS));
      again.value = await readState();
    } while (again.value?.is_running === true);
  });
  isFollowed = false;
  const state = again.value;
  // Who reads why the program has failed is left there.
  if (isTold && isWatched && state?.code === 0 && !state.is_cancelled) openBoth();
}

/** Starts it with the rules that are chosen now. */
export async function runAgain(): Promise<void> {
  const isStarted = await said(async () => {
    await fromServer("api/again", filterText.peek());
    again.value = await readState();
  });
  if (isStarted) void follow();
}

export async function cancelAgain(): Promise<void> {
  await said(async () => {
    await fromServer("api/again/cancel", "");
  });
}

/** Both runs, side by side; the rules are still chosen there. */
export function openBoth(): void {
  const page = again.peek()?.page;
  if (page === null || page === undefined) return;
  const hash = location.hash.replace(/([#&]view=)[^&]*/, "$1compare");
  location.assign(`${isListed ? LIST : ""}${page}${hash}`);
}
