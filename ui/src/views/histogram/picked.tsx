/** The visits that were picked, one by one. */
import type { JSX } from "preact";

import { bytes, count, counted } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { instances, sampled } from "../../state/instances.ts";
import { run } from "../../state/run.ts";
import { beside, type Picked as Which } from "../../state/view.ts";
import { goTo, visit } from "../../state/visit.ts";
import { Table, type Column } from "../../widgets/table.tsx";

interface Row {
  readonly line: number;
  readonly region: number;
  readonly start: number;
  readonly duration: number;
  readonly value: number;
  readonly expected: number;
}

export function Picked({ of }: { readonly of: Which["of"] }): JSX.Element | null {
  const some = instances.value;
  const head = run.value;
  if (some === null || head === null) return null;
  const rows = Array.from(some.line, (line, at): Row => ({
    line,
    region: some.region[at] ?? 0,
    start: some.start[at] ?? 0,
    duration: some.duration[at] ?? 0,
    value: some.value[at] ?? 0,
    expected: some.expected[at] ?? NaN,
  }));
  const isOfSeveral = sampled.value.length > 1;
  const isJudged = rows.some((row) => !Number.isNaN(row.expected));
  const written = of === "bytes" ? bytes : duration;
  const unit = of === "bytes" ? "B" : "ns";
  const columns: ReadonlyArray<Column<Row>> = [
    ...(isOfSeveral ? [{ name: "Region", help: "Of which region it is", text: (row: Row) => head.regions[row.region]?.name ?? "", width: "minmax(140px, 1fr)" }] : []),
    { name: "Where", help: "Rank and thread", text: (row) => head.locations[head.lines[row.line]?.location ?? 0]?.name ?? "", width: "minmax(110px, 1fr)" },
    { name: "Start", help: "When it was entered", text: (row) => instant(row.start), value: (row) => row.start, unit: "ns", width: "170px" },
    { name: "Duration", help: "From enter to leave", text: (row) => duration(row.duration), value: (row) => row.duration, unit: "ns", width: "120px" },
    ...(of === "bytes" ? [{ name: "Data", help: "How much it moved", text: (row: Row) => bytes(row.value), value: (row: Row) => row.value, unit: "B" as const, width: "120px" }] : []),
    ...(isJudged ? [{ name: "Expected", help: "Of the robust test the median of its like, of Jumpshot's the mean of its region", text: (row: Row) => written(Math.round(row.expected)), value: (row: Row) => row.expected, unit: unit as "B" | "ns", width: "120px" }] : []),
  ];
  const longest = columns.findIndex((column) => column.name === (of === "bytes" ? "Data" : "Duration"));
  const total = of === "bytes" ? bytes(some.head.sum) : duration(some.head.sum);
  return (
    <section>
      <h2>
        Picked — {counted(some.head.number, "visit")}, {total} together{rows.length < some.head.number ? `; the largest ${count(rows.length)} are listed` : ""}
      </h2>
      {rows.length === 0 ? (
        <p class="muted">{some.head.damage[0] ?? "None of them."}</p>
      ) : (
        <Table label="picked visits" rows={rows} columns={columns} sortedBy={longest} height={10} onChoose={show} isChosen={isChosen} />
      )}
    </section>
  );
}

/** Whether it is the one that is told about beside the timeline. */
function isChosen(row: Row): boolean {
  return visit.value?.line === row.line && visit.value.start_ns === row.start;
}

function show(row: Row): void {
  beside.value = "timeline";
  goTo(row.line, row.start, row.start + row.duration);
}
