/** What was looked at before, to go back to: every change of what is chosen, steps of one gesture together. */
import { effect } from "@preact/signals";

import { choose, chosen } from "./url.ts";

/** Changes that follow each other faster are one, ms. */
const GESTURE = 400;
const MOST = 200;

const before: string[] = [];
const behind: string[] = [];
let now = "";
let changedAt = -GESTURE;

/** Begins to remember. */
export function remember(): void {
  now = chosen.peek();
  effect(() => {
    const next = chosen.value;
    if (next === now) return;
    const time = performance.now();
    if (time - changedAt > GESTURE) {
      before.push(now);
      if (before.length > MOST) before.shift();
      behind.length = 0;
    }
    changedAt = time;
    now = next;
  });
}

export function back(): void {
  move(before, behind);
}

export function forward(): void {
  move(behind, before);
}

function move(from: string[], to: string[]): void {
  const next = from.pop();
  if (next === undefined) return;
  to.push(now);
  // It is no change that has to be remembered.
  now = next;
  choose(next);
  now = chosen.peek();
  changedAt = -GESTURE;
}
