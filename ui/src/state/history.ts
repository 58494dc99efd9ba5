/** What was looked at before, to go back to: every change of what is chosen, steps of one gesture together. */
import { effect } from "@preact/signals";

import { choose, chosen } from "./url.ts";

/** Moves in time that follow each other faster are one, ms. */
const GESTURE = 400;
const MOST = 200;

const before: string[] = [];
const behind: string[] = [];
let now = "";
/** When it was moved last. */
let movedAt = -GESTURE;

/** Begins to remember. */
export function remember(): void {
  now = chosen.peek();
  effect(() => {
    const next = chosen.value;
    if (next === now) return;
    const time = performance.now();
    const isMove = withoutMoves(next) === withoutMoves(now);
    if (!isMove || time - movedAt > GESTURE) {
      before.push(now);
      if (before.length > MOST) before.shift();
      behind.length = 0;
    }
    movedAt = isMove ? time : -GESTURE;
    now = next;
  });
}

/** Without what is dragged or written: the span, up to when the utilisation is told, how many bins there are, words that tables and files are filtered by. */
function withoutMoves(text: string): string {
  return text.replace(/(^|&)(span|until|histogram|filtered|files)=[^&]*/g, "");
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
  movedAt = -GESTURE;
}
