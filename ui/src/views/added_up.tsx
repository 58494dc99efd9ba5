/** What a view lacks of a span in which some locations only added up what they did: said where somebody looks at such a span. */
import type { JSX } from "preact";

import { instant } from "../base/time.ts";
import { run } from "../state/run.ts";

interface Props {
  /** Where ends what the view is about, ns. */
  readonly to: number;
  /** What that means for the view. */
  readonly lacks: string;
}

/** Nothing, if all is there that was done up to then. */
export function AddedUp({ to, lacks }: Props): JSX.Element | null {
  const since = run.value?.added_up_since_ns ?? null;
  if (run.value?.without_times === true) {
    return (
      <p class="muted added-up" title="Its sums are those of the whole run. A trace of the same tool, or a recording by marey, says when each thing was done">
        This run was imported from {run.value.imported_from}, which says how long and not when: there is nothing to show over time. Profile, call tree and counters have its sums.
      </p>
    );
  }
  if (since === null || to <= since) return null;
  return (
    <p
      class="muted added-up"
      title="A limit of size was reached, or only sums were asked for: sums of the whole run are exact, but what was done later is not there one by one. `marey record --max-mb` sets the limit; `marey info --estimate` says which is enough"
    >
      From {instant(since)} on, some locations only added up what they did: {lacks}.
    </p>
  );
}
