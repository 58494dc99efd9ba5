/** How much time each location spent in which region, over the whole run: read once, when somebody needs it. */
import { signal } from "@preact/signals";

import type { SharesHead } from "../wire/generated.ts";
import { engine, fail } from "./run.ts";

export interface Shares {
  readonly head: SharesHead;
  /** ns by location and column; the last column is that of all regions that have none. */
  readonly exclusive: Float64Array;
  readonly inclusive: Float64Array;
  readonly visits: Float64Array;
}

/** `null` = nobody has needed it, or it is being read. */
export const shares = signal<Shares | null>(null);
let isAsked = false;

export function needShares(): void {
  if (isAsked) return;
  isAsked = true;
  void engine.shares().then((frame) => {
    shares.value = { head: frame.head, exclusive: frame.f64("exclusive"), inclusive: frame.f64("inclusive"), visits: frame.f64("visits") };
  }, fail);
}
