/** The list of states in a window of its own: all of them, to be found by name. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { duration } from "../../base/time.ts";
import { totals } from "../../state/timeline.ts";
import { spanLength } from "../../state/told.ts";
import { States } from "../states.tsx";
import { followTotals } from "../totals.ts";
import { Coming } from "../lost.tsx";

/** More are found by their names. */
const MOST = 1000;

export function StatesWindow(): JSX.Element {
  useEffect(followTotals, []);
  const wanted = useSignal("");
  const sums = totals.value;
  return (
    <div class="states-window" data-settled={sums !== null}>
      <h1>States in view{sums?.isExact === false ? " (about)" : ""}</h1>
      <p class="muted">of {duration(spanLength.value)}, the most first; they act on all windows of the run</p>
      <input type="text" class="states-filter" aria-label="Filter the states" placeholder="Filter" title="Only states that have this in their names" autocomplete="off" value={wanted.value} onInput={(event) => (wanted.value = event.currentTarget.value)} />
      {sums === null ? <Coming what="Times are being added up" /> : <States most={MOST} wanted={wanted.value} />}
    </div>
  );
}
