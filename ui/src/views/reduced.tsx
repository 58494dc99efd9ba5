/** What a view of single visits lacks of regions that were only counted to keep within the budget: said where somebody looks at them. */
import type { JSX } from "preact";

import { count, counted } from "../base/format.ts";
import { instant } from "../base/time.ts";
import { run } from "../state/run.ts";

export interface ReducedProps {
  /** Where ends what the view is about, ns. */
  readonly to: number;
  /** Regions that it is about; `null` = all. */
  readonly regions: ReadonlySet<number> | null;
  /** What that means for the view. */
  readonly lacks: string;
}

/** Names that are told; all of them stand in the overview. */
const NAMED = 3;

/** Nothing, if each visit was recorded up to then. */
export function Reduced({ to, regions, lacks }: ReducedProps): JSX.Element | null {
  const head = run.value;
  const some = (head?.reduced ?? []).filter((it) => it.since_ns < to && (regions === null || regions.has(it.region)));
  if (head === null || some.length === 0) return null;
  const since = Math.min(...some.map((it) => it.since_ns));
  const order = [...some].sort((a, b) => b.visits - a.visits);
  const names = order.slice(0, NAMED).map((it) => head.regions[it.region]?.name ?? "");
  const more = some.length - names.length;
  const visits = order.reduce((sum, it) => sum + it.visits, 0);
  return (
    <p
      class="muted reduced"
      title="Recording each of them would have taken more of the processor time than the budget. Numbers and sums of the whole run have all of them; their time is an estimate. `marey record --budget off` records each, `--budget 5` allows 5 %"
    >
      From {instant(since)} on, only some visits of <code>{names.join(", ")}</code>
      {more > 0 ? ` and ${counted(more, "other region")}` : ""} were recorded, and {count(visits)} just counted: {lacks}.
    </p>
  );
}
