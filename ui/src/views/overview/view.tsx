/** The overview: facts of the run, what is worth changing, how good it was, who took how long. */
import type { JSX } from "preact";

import { counted, percent } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { report, run } from "../../state/run.ts";
import type { Efficiency } from "../../wire/report.ts";
import { Findings } from "../findings.tsx";
import "./overview.css";
import { Ranks } from "./ranks.tsx";

/** Regions that are named where all are meant. */
const MOST_NAMES = 20;

export function Overview(): JSX.Element | null {
  const head = run.value;
  const text = report.value;
  if (head === null) return null;
  return (
    <div class="sheet overview">
      <section>
        <h1>{head.title === "" ? head.name : head.title}</h1>
        <p class="mono overview-command">{head.command.join(" ")}</p>
        <dl class="overview-facts">
          <Fact name="Duration" value={duration(head.duration_ns)} help="From the first to the last measured instant" />
          <Fact name="Started" value={head.start_realtime_ns > 0 ? new Date(head.start_realtime_ns / 1e6).toLocaleString() : "not known"} help="Local time of this browser" />
          <Fact name="Processes" value={counted(head.processes.length, "process", "processes")} help="Those that were measured" />
          <Fact name="Threads" value={counted(head.locations.length, "location")} help="Threads, and places that are not threads" />
          <Fact name="Hosts" value={head.hosts.join(", ")} help="Nodes it ran on" />
          <Fact name="MPI" value={head.mpi_library.split("\n")[0] || (head.processes.some((it) => it.rank !== null) ? "not known" : "none")} help="The library that was used" />
          {head.left_out.length === 0 ? null : (
            <Fact name="Left out" value={head.left_out.join(", ")} help="The run was too large for this page: sums and pictures are complete, these are not in it one by one" />
          )}
          {head.added_up_since_ns === null ? null : (
            <Fact
              name="Only sums"
              value={!head.without_times ? `from ${instant(head.added_up_since_ns)} on` : "nothing says when"}
              help={!head.without_times ? "A limit of size was reached, or only sums were asked for: from then on some locations only added up what they did. Sums of the whole run are exact; pictures, messages and waits are of what was before" : `It was imported from ${head.imported_from}, which says how long and not when`}
            />
          )}
          {head.reduced.length === 0 ? null : (
            <Fact
              name="Only counted"
              value={`${counted(head.reduced.reduce((sum, it) => sum + it.visits, 0), "visit")} of ${counted(head.reduced.length, "region")} from ${instant(Math.min(...head.reduced.map((it) => it.since_ns)))} on`}
              help={`Recording each would have taken more than the budget: ${head.reduced.map((it) => head.regions[it.region]?.name ?? "").slice(0, MOST_NAMES).join(", ")}${head.reduced.length > MOST_NAMES ? " …" : ""}. Their numbers are exact and their time is estimated from visits that were timed; pictures and histograms have those alone. marey record --budget off records each`}
            />
          )}
          <Fact name="Recorded" value={`${counted(head.intervals, "visit")}, ${counted(head.messages, "message")}`} help="Visits of regions and messages, one by one" />
        </dl>
      </section>
      <section>
        <h2>Findings — what others waited for, and what there is to win</h2>
        <Findings />
      </section>
      {text?.efficiency == null ? null : <Efficiencies it={text.efficiency} />}
      <Ranks />
      <section>
        <h2>Problems of the recording</h2>
        {text?.problems === undefined ? (
          <p class="muted">not known yet</p>
        ) : text.problems.length === 0 ? (
          <p class="muted">None: nothing was lost, unmatched or out of order.</p>
        ) : (
          <ul>
            {text.problems.map((problem) => (
              <li>
                {counted(problem.count, "time")} <strong>{problem.kind}</strong>
                {problem.process === null ? "" : ` in process ${problem.process}`}: {problem.detail}
              </li>
            ))}
          </ul>
        )}
      </section>
    </div>
  );
}

function Fact({ name, value, help }: { readonly name: string; readonly value: string; readonly help: string }): JSX.Element {
  return (
    <div title={help}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface Factor {
  readonly name: string;
  readonly depth: number;
  readonly value: number;
  readonly help: string;
}

function Efficiencies({ it }: { readonly it: Efficiency }): JSX.Element {
  const factors: readonly Factor[] = [
    { name: "Parallel efficiency", depth: 0, value: it.parallel, help: "Useful computation of all, of the time of all: load balance × communication" },
    { name: "Load balance", depth: 1, value: it.load_balance, help: `Mean of the useful time, of that of the busiest, ${it.busiest}` },
    { name: "Communication", depth: 1, value: it.communication, help: "Useful time of the busiest, of the run: serialisation × setting up × transfer" },
    { name: "Serialisation", depth: 2, value: it.serialisation, help: "Lost by waiting for each other, even with a network that costs nothing" },
    { name: "Setting up", depth: 2, value: it.setting_up, help: "Lost by what libraries do to begin, to end and to administer" },
    { name: "Transfer", depth: 2, value: it.transfer, help: "Lost by moving data" },
  ];
  return (
    <section>
      <h2>Efficiencies — each is the product of those beneath it; 100 % is best</h2>
      <div class="overview-bars" role="list">
        {factors.map((factor) => (
          <div role="listitem" class="overview-bar" title={factor.help}>
            <span style={{ paddingLeft: `${factor.depth * 18}px` }}>{factor.name}</span>
            <span class="overview-track">
              <span class={factor.value < 0.8 ? "overview-fill overview-poor" : "overview-fill"} style={{ width: `${factor.value * 100}%` }} />
            </span>
            <span class="mono">{percent(factor.value)}</span>
          </div>
        ))}
      </div>
    </section>
  );
}
