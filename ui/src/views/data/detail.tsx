/** One array: its statements with the calls beneath them, how it lies with the processes, and which elements are referred to. */
import { batch, useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count, counted, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { about, isFormer } from "../../state/data.ts";
import { ANYTHING, ask } from "../../state/levels.ts";
import { processName, run } from "../../state/run.ts";
import { chosenLocations, chosenRegion, view } from "../../state/view.ts";
import type { ArrayHead, WireArray, WireArrayPart, WireStatement } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";
import { elements, nameOf, Place, Split } from "./arrays.tsx";
import { HeatMap } from "./heat.tsx";
import { Selection } from "./selection.tsx";

interface Props {
  readonly array: WireArray;
  /** Time of all threads, ns. */
  readonly of: number;
}

export function Detail({ array, of }: Props): JSX.Element {
  const it = about.value;
  if (it === null || it.of.array !== array.number || it.head === null) return <Coming what={`${nameOf(array)} is being looked at`} isSmall />;
  const head = it.head;
  return (
    <div class={isFormer(it.of) ? "data-detail data-stale" : "data-detail"}>
      <section>
        <h2>
          Statements on {nameOf(array)}{" "}
          <button type="button" title="What was done to it, on its level, and what served that beneath" onClick={() => toLevels(array.name)}>
            Show in Levels
          </button>
        </h2>
        <Statements head={head} of={of} />
      </section>
      <div class="data-panes">
        <section>
          <h2>How {nameOf(array)} lies with the processes, and who refers to whose elements</h2>
          <Parts head={head} hasType={array.element !== ""} />
        </section>
        <section>
          <h2>Which elements of {nameOf(array)} are referred to</h2>
          {array.bounds.length === 0 ? <p class="muted">It has one element, or its bounds are not known.</p> : head.has_sections ? <HeatMap array={array} processes={head.processes} /> : <p class="muted">Single accesses are not in this page, or none were recorded one by one: open the run itself with marey view.</p>}
        </section>
      </div>
      <Selection array={array} />
    </div>
  );
}

function toLevels(noun: string): void {
  batch(() => {
    ask({ of: { ...ANYTHING, noun }, under: [], by: "line" });
    view.value = "levels";
  });
}

function Statements({ head, of }: { readonly head: ArrayHead; readonly of: number }): JSX.Element {
  const rows = head.statements;
  const most = Math.max(...rows.map((row) => row.sum.time_ns), 1);
  const each = ({ sum }: WireStatement): number => (sum.accesses === 0 ? NaN : sum.time_ns / sum.accesses);
  const columns: ReadonlyArray<Column<WireStatement>> = [
    { name: "What", help: "The verb; press a row to choose its region in all views", text: (row) => row.verb, width: "minmax(90px, 1fr)" },
    { name: "As", help: "Read, write, or both as one; made or given back", text: (row) => row.kind, width: "56px" },
    { name: "At", help: "Line of the source; press it to go there", text: (row) => place(row.file, row.line), draw: (row) => <Place file={row.file} line={row.line} />, width: "minmax(120px, 1.2fr)" },
    { name: "In", help: "The function", text: (row) => row.function, width: "minmax(90px, 1fr)" },
    { name: "How often", help: "Accesses; of what makes it and gives it back how often that was", text: (row) => count(row.sum.accesses), value: (row) => row.sum.accesses, width: "96px" },
    { name: "Bytes", help: "What was moved; of what makes it and gives it back its size", text: (row) => bytes(row.sum.bytes), value: (row) => row.sum.bytes, unit: "B", width: "90px" },
    { name: "Time", help: "Of the calls, with all that lies beneath, all threads together", text: (row) => duration(row.sum.time_ns), value: (row) => row.sum.time_ns, bar: (row) => row.sum.time_ns / most, unit: "ns", width: "100px" },
    { name: "Share", help: "Of the time of all threads", text: (row) => percent(row.sum.time_ns / Math.max(of, 1)), value: (row) => row.sum.time_ns / Math.max(of, 1), unit: "%", width: "70px" },
    { name: "Each", help: "On average", text: (row) => duration(each(row)), value: each, unit: "ns", width: "80px" },
    { name: "Goes", help: "Between which ranks its data goes: from one rank to another, or by so many ranks; empty = it stays where it is", text: (row) => row.pattern, width: "minmax(80px, 0.8fr)" },
    { name: "In loops", help: "Lines of the loops around it, the innermost first, then of those around the calls that lead to it; empty = in none, or its source could not be read", text: inLoops, width: "minmax(110px, 1.8fr)" },
    { name: "Beneath", help: "Calls of lower levels that served it, those with most time first", text: beneath, width: "minmax(160px, 2.4fr)" },
  ];
  return (
    <>
      <Table label="statements" rows={rows} columns={columns} sortedBy={6} height={8} onChoose={(row) => (chosenRegion.value = row.region)} isChosen={(row) => row.region !== null && row.region === chosenRegion.value} />
      {head.more_statements > 0 ? <p class="muted">{counted(head.more_statements, "more statement")} took less time.</p> : null}
    </>
  );
}

/** Loops of callers that are told. */
const MOST_CALLERS = 2;

function inLoops(row: WireStatement): string {
  const own = row.loops.map(([first, last]) => `${first}–${last}`);
  const callers = row.callers_loops.slice(0, MOST_CALLERS).map((it) => `${it.first}–${it.last} of ${it.function}`);
  return [...own, ...callers, ...(row.callers_loops.length > MOST_CALLERS ? ["…"] : [])].join(" in ");
}

function beneath(row: WireStatement): string {
  const shown = row.beneath.slice(0, 4).map((it) => `${count(it.calls)} ${it.name}`);
  return `${shown.join(", ")}${row.beneath.length > 4 ? " …" : ""}`;
}

/** Rows that are shown at first. */
const FEW = 16;

/** A row for each process: its part of the array as a box as wide as it is large, and where its accesses go. */
function Parts({ head, hasType }: { readonly head: ArrayHead; readonly hasType: boolean }): JSX.Element {
  const isAll = useSignal(false);
  const most = Math.max(...head.processes.map((it) => it.bytes), 1);
  const mostAsked = Math.max(...head.processes.map((it) => it.asked.accesses), 1);
  const rows = isAll.value ? head.processes : head.processes.slice(0, FEW);
  const left = head.processes.length - rows.length;
  return (
    <>
      <div class="data-parts" role="table" aria-label="Parts of the array by process">
        <div role="row" class="data-part data-part-head">
          <span role="columnheader" title="Press one to see it alone in all views">
            Process
          </span>
          <span role="columnheader" title="What it has of the array: bounds and size of its largest instance, in a box as wide as that is; the fuller the box, the more others refer to its elements">
            Has
          </span>
          <span role="columnheader" title="Its own accesses: of elements that it has (green), and of those that others have (blue); the number is the remote share">
            Accesses local, remote
          </span>
        </div>
        {rows.map((it) => (
          <Part part={it} hasType={hasType} most={most} mostAsked={mostAsked} />
        ))}
      </div>
      {left > 0 ? (
        <button type="button" title="Shows a row for each of them" onClick={() => (isAll.value = true)}>
          {counted(left, "more process", "more processes")}
        </button>
      ) : null}
      {head.more_processes > 0 && isAll.value ? <p class="muted">{counted(head.more_processes, "process is", "processes are")} not listed.</p> : null}
    </>
  );
}

function Part({ part, hasType, most, mostAsked }: { readonly part: WireArrayPart; readonly hasType: boolean; readonly most: number; readonly mostAsked: number }): JSX.Element {
  const bounds = elements({ element: "", bounds: part.bounds });
  // Without bounds it is a scalar, if it has a type; else nothing is known of its elements.
  const has = bounds !== "" ? bounds : hasType ? "one element" : "elements not known";
  const asked = part.asked.accesses === 0 ? "nobody else refers to it" : `others refer to it ${count(part.asked.accesses)} times, ${bytes(part.asked.bytes)}, ${duration(part.asked.time_ns)}`;
  const words = part.instances === 0 ? "has none of it" : `${has}, ${bytes(part.bytes)}, made ${count(part.instances)} ×; ${asked}`;
  const own = (run.value?.locations ?? []).flatMap((location, at) => (location.process === part.process ? [at] : []));
  const isChosen = chosenLocations.value?.join() === own.join();
  return (
    <div role="row" class="data-part">
      <span role="cell">
        <button type="button" class="plain" aria-pressed={isChosen} title="It alone, in all views; again: all" onClick={() => (chosenLocations.value = isChosen ? null : own)}>
          {processName(part.process)}
        </button>
      </span>
      <span role="cell" title={words}>
        {part.instances === 0 ? (
          <span class="muted">none</span>
        ) : (
          <span class="data-box" style={{ width: `${Math.max((part.bytes / most) * 100, 2)}%` }}>
            <span class="data-asked" style={{ width: `${(part.asked.accesses / mostAsked) * 100}%` }} />
            <span class="data-words mono">{bounds === "" && !hasType ? bytes(part.bytes) : has}</span>
          </span>
        )}
      </span>
      <span role="cell">
        <Split local={part.local} remote={part.remote} />
      </span>
    </div>
  );
}
