/** Where was waited, what for, who caused it, and what the critical path is made of. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { count, counted, place } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { report, whole } from "../../state/run.ts";
import { spanLength } from "../../state/told.ts";
import { chosenRegion, layers, regionOfReport, span, view } from "../../state/view.ts";
import { causes, followCauses, isExplaining, isOfSpan, isPart } from "../../state/waits.ts";
import type { DelayRow, PathRow, WaitRow } from "../../wire/report.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { AddedUp } from "../added_up.tsx";
import { Reduced } from "../reduced.tsx";
import type { Explained } from "./cells.ts";
import { Panes } from "./panes.tsx";
import { Coming } from "../lost.tsx";

export function Waits(): JSX.Element {
  useEffect(followCauses, []);
  const text = report.value;
  if (text === null) return <Coming what="The report is being made" />;
  if (text.unexplained !== null) return <p class="hush">{text.unexplained}</p>;
  const ofRun = { waits: text.waits ?? [], delays: text.delays ?? [], critical_path: text.critical_path ?? [] };
  return (
    <div class="sheet">
      <Of />
      {isPart.value ? null : <AddedUp to={whole.value.to} lacks="waits and delays after that are not explained" />}
      <Reduced to={isPart.value ? span.value.to : whole.value.to} regions={null} lacks="on the critical path their time is that of the regions around them" />
      {isPart.value ? <OfSpan /> : <All explained={ofRun} />}
    </div>
  );
}

/** Of the whole run, or of the span. */
function Of(): JSX.Element {
  return (
    <p class="waits-of">
      <span role="group" aria-label="Of what">
        <button type="button" aria-pressed={!isOfSpan.value} title="What explains the whole run" onClick={() => (isOfSpan.value = false)}>
          Whole run
        </button>
        <button type="button" aria-pressed={isOfSpan.value} title="What of it lies in the span that is shown; it follows the timeline. Of waits across its ends the part inside counts" onClick={() => (isOfSpan.value = true)}>
          {`Span that is shown, ${duration(spanLength.value)}`}
        </button>
      </span>
    </p>
  );
}

function OfSpan(): JSX.Element {
  const it = causes.value;
  if (it === null) return <Coming what="The span is being explained" />;
  if (it.why_not !== null) return <p class="hush">The span is not explained: {it.why_not}.</p>;
  return (
    <div class={isExplaining.value ? "waits-span waits-stale" : "waits-span"}>
      {it.until_ns === null ? null : <p class="muted">Explained up to {instant(it.until_ns)}; behind that events were only added up.</p>}
      {it.unlisted === 0 ? null : <p class="muted">{counted(it.unlisted, "more wait")}, the shortest, {duration(it.unlisted_ns)} together, are in no row.</p>}
      <All explained={it} />
    </div>
  );
}

function All({ explained }: { readonly explained: Explained }): JSX.Element {
  return (
    <>
      <Panes explained={explained} />
      <section>
        <h2>Waiting — where it was suffered, and what for</h2>
        <Suffered rows={explained.waits} />
      </section>
      <section>
        <h2>Delays — who caused it, and with what</h2>
        <Caused rows={explained.delays} />
      </section>
      <section>
        <h2>
          Critical path — whatever is faster on it makes the run shorter{" "}
          <button type="button" title="Draw it over the rows of the timeline (c)" onClick={showPath}>
            Show in the timeline
          </button>
        </h2>
        <Critical rows={explained.critical_path} />
      </section>
    </>
  );
}

function showPath(): void {
  batch(() => {
    layers.value = { ...layers.value, path: true };
    view.value = "timeline";
  });
}

interface Place {
  readonly location: string;
  readonly region: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

function choose(row: Place): void {
  if (row.region !== "") chosenRegion.value = regionOfReport(row.region);
}

/** What was done: a region, or computation between two of them. */
function done(row: Place): string {
  return row.region === "" ? "computation between calls" : row.region;
}

const from = (row: Place): string => `${row.function} ${place(row.file, row.line)}`.trim();

function Suffered({ rows }: { readonly rows: readonly WaitRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.wait_ns), 1);
  const columns: ReadonlyArray<Column<WaitRow>> = [
    { name: "In", help: "The call that waited", text: done, width: "minmax(130px, 1.5fr)" },
    { name: "Pattern", help: "What was waited for; docs/wait-states.md defines each", text: (row) => row.pattern, width: "minmax(120px, 1fr)" },
    { name: "Who", help: "Rank and thread that waited", text: (row) => row.location, width: "110px" },
    { name: "Called from", help: "Function and place in the source", text: from, width: "minmax(140px, 2fr)" },
    { name: "Waited", help: "All instances together", text: (row) => duration(row.wait_ns), value: (row) => row.wait_ns, bar: (row) => row.wait_ns / most, unit: "ns", width: "110px" },
    { name: "Instances", help: "How often", text: (row) => count(row.instances), value: (row) => row.instances, width: "90px" },
    { name: "Longest", help: "Single wait", text: (row) => duration(row.longest_ns), value: (row) => row.longest_ns, unit: "ns", width: "100px" },
  ];
  return <Table label="waiting" rows={rows} columns={columns} sortedBy={4} height={14} onChoose={choose} />;
}

function Caused({ rows }: { readonly rows: readonly DelayRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.cost_ns), 1);
  const columns: ReadonlyArray<Column<DelayRow>> = [
    { name: "Doing", help: "What the late one did meanwhile", text: done, width: "minmax(130px, 1.5fr)" },
    { name: "Who", help: "Rank and thread that was late", text: (row) => row.location, width: "110px" },
    { name: "Called from", help: "Function and place in the source", text: from, width: "minmax(140px, 2fr)" },
    { name: "Cost", help: "How long others waited for it, directly and through chains", text: (row) => duration(row.cost_ns), value: (row) => row.cost_ns, bar: (row) => row.cost_ns / most, unit: "ns", width: "110px" },
    { name: "Directly", help: "Waiting for it", text: (row) => duration(row.short_term_ns), value: (row) => row.short_term_ns, unit: "ns", width: "100px" },
    { name: "Through chains", help: "Waiting for those who had waited for it", text: (row) => duration(row.long_term_ns), value: (row) => row.long_term_ns, unit: "ns", width: "120px" },
  ];
  return <Table label="delays" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} />;
}

function Critical({ rows }: { readonly rows: readonly PathRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.time_ns), 1);
  const columns: ReadonlyArray<Column<PathRow>> = [
    { name: "Doing", help: "What was done on the path", text: done, width: "minmax(130px, 1.5fr)" },
    { name: "Who", help: "Rank and thread", text: (row) => row.location, width: "110px" },
    { name: "Called from", help: "Function and place in the source", text: from, width: "minmax(140px, 2fr)" },
    { name: "On the path", help: "How long", text: (row) => duration(row.time_ns), value: (row) => row.time_ns, bar: (row) => row.time_ns / most, unit: "ns", width: "120px" },
  ];
  return <Table label="critical path" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} />;
}
