/**
 * Whether there is a server that answers, and what can be done if not.
 *
 * The one idea: a page without its server shows what it has and asks for nothing more, but looks now and then whether it
 * is there again. If it is, with the same run, the page is read anew: all that is seen stands in its address, while of
 * questions that were never answered nobody knows who waits for them.
 */
import { signal } from "@preact/signals";

import { LostError, type Loss } from "../wire/lost.ts";
import { fromServer } from "../wire/server.ts";

export interface Lost {
  readonly loss: Loss;
  /** In words of the server; empty if none answers. */
  readonly why: string;
}

/** `null` = nothing is lost. */
export const lost = signal<Lost | null>(null);

/** Between two looks, ms: soon at first, as when a line was cut for a moment, then seldom enough to disturb nobody. */
const FIRST_MS = 1000;
const MORE = 1.5;
const LAST_MS = 10_000;

let timer: ReturnType<typeof setTimeout> | null = null;

/** Says that something is lost, and begins to look for it. */
export function lose({ loss, message }: LostError): void {
  const now = lost.peek();
  // What the server says is more than that it was not there.
  if (now?.loss === loss || now?.loss === "replaced") return;
  lost.value = { loss, why: message };
  if (now === null && loss !== "replaced") look(FIRST_MS);
}

function look(pause: number): void {
  const now = async (): Promise<void> => {
    timer = null;
    try {
      await fromServer("api/here", null);
      location.reload();
      return;
    } catch (error) {
      if (error instanceof LostError) lose(error);
      // Somebody else's server, or one that has other runs under these numbers.
      else if (error instanceof Error) lose(new LostError("replaced", `the server that is there now has another answer: ${error.message}`));
    }
    if (lost.peek()?.loss !== "replaced") look(Math.min(pause * MORE, LAST_MS));
  };
  timer = setTimeout(() => void now(), pause);
}

/** Who comes back to the page does not want to wait. */
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible" || timer === null) return;
  clearTimeout(timer);
  look(0);
});

/** Opens whatever is there under that name now. What was looked at of the old run is nothing of the new one. */
export function openAgain(): void {
  history.replaceState(null, "", location.pathname);
  location.reload();
}
