/**
 * Steps from one thing to the next: one after the other, so that each begins where the one before has led.
 *
 * Not here: what a step leads to.
 */
import { signal } from "@preact/signals";

import { fail } from "./run.ts";

/** How many have been asked for and not been gone yet. */
export const steps = signal(0);
let last: Promise<void> = Promise.resolve();

/** Goes a step when those that were asked for before it have been gone. */
export function inTurn(step: () => Promise<void>): Promise<void> {
  steps.value += 1;
  last = last
    .then(step)
    .catch(fail)
    .finally(() => (steps.value -= 1));
  return last;
}
