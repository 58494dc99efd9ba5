/** Every region, or every call path, with its sums. */
import type { JSX } from "preact";

import { bytes, count, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { shares } from "../../state/shares.ts";
import { chosenRegion, regionOfReport } from "../../state/view.ts";
import type { WireRegion } from "../../wire/generated.ts";
import type { CallPathRow, RegionRow } from "../../wire/report.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { spreadOf, Strip, wordsOf } from "./strip.tsx";

/** The number that the timeline has for it; `null` = none. */
function numberOf(row: RegionRow): number | null {
  const head = run.value;
  const level = head?.levels.indexOf(row.level);
  const isIt = (it: WireRegion): boolean => it.verb === row.verb && it.noun === row.noun && it.level === level;
  const number = head?.regions.findIndex(isIt) ?? -1;
  return number < 0 ? null : number;
}

function nameOf(row: RegionRow): string {
  return run.value?.regions[numberOf(row) ?? -1]?.name ?? `${row.verb} ${row.noun}`;
}

/** How often; profiles by samples have time of which nobody counted the calls. */
function calls(row: { readonly calls: number; readonly inclusive_ns: number }): string {
  return row.calls === 0 && row.inclusive_ns > 0 ? "–" : count(row.calls);
}

export function Regions({ rows }: { readonly rows: readonly RegionRow[] }): JSX.Element {
  const it = shares.value;
  const columnOf = (row: RegionRow): number => it?.head.regions.indexOf(numberOf(row) ?? -1) ?? -1;
  const spread = (row: RegionRow): number => (it === null || columnOf(row) < 0 ? NaN : spreadOf(it, columnOf(row)));
  const most = Math.max(...rows.map((row) => row.exclusive_ns), 1);
  const total = rows.reduce((sum, row) => sum + row.exclusive_ns, 0);
  const columns: ReadonlyArray<Column<RegionRow>> = [
    { name: "Region", help: "What was done", text: nameOf, width: "minmax(140px, 2fr)" },
    { name: "Level", help: "Level of abstraction", text: (row) => row.level, width: "56px" },
    {
      name: "Exclusive",
      help: "Time in it and not in what is beneath, of all locations together",
      text: (row) => duration(row.exclusive_ns),
      value: (row) => row.exclusive_ns,
      bar: (row) => row.exclusive_ns / most,
      unit: "ns",
      width: "100px",
    },
    { name: "Share", help: "Of the exclusive time of all regions", text: (row) => percent(row.exclusive_ns / Math.max(total, 1)), value: (row) => row.exclusive_ns / Math.max(total, 1), unit: "%", width: "62px" },
    { name: "Inclusive", help: "Time in it and in what is beneath", text: (row) => duration(row.inclusive_ns), value: (row) => row.inclusive_ns, unit: "ns", width: "92px" },
    { name: "Waiting", help: "How much of it was spent waiting for others; – = not known", text: (row) => (row.waiting_ns === null ? "–" : duration(row.waiting_ns)), value: (row) => row.waiting_ns ?? NaN, unit: "ns", width: "92px" },
    { name: "Calls", help: "Number of visits; – = nobody counted them", text: calls, value: (row) => row.calls, width: "80px" },
    { name: "Mean", help: "Of single visits", text: (row) => (row.calls === 0 ? "–" : duration(row.mean_ns)), value: (row) => row.mean_ns, unit: "ns", width: "80px" },
    { name: "Longest", help: "Single visit; – = not known", text: (row) => (row.max_ns === null ? "–" : duration(row.max_ns)), value: (row) => row.max_ns ?? NaN, unit: "ns", width: "80px" },
    { name: "Data", help: "Bytes moved", text: (row) => (row.bytes === 0 ? "" : bytes(row.bytes)), value: (row) => row.bytes, unit: "B", width: "80px" },
    { name: "Over locations", help: "A cell each, the darker the more exclusive time; press one to choose the location; sorted by how far most and least are apart", text: (row) => (it === null || columnOf(row) < 0 ? "" : wordsOf(it, columnOf(row))), order: spread, parts: [["Most less least ns", spread]], draw: (row) => (it === null || columnOf(row) < 0 ? <span /> : <Strip shares={it} column={columnOf(row)} />), width: "minmax(112px, 1fr)" },
    { name: "Imbalance", help: "Longest exclusive time of a process, of the mean, less one", text: (row) => percent(row.exclusive_of_process.imbalance), value: (row) => row.exclusive_of_process.imbalance, unit: "%", width: "80px" },
  ];
  return (
    <Table
      label="profile by region"
      rows={rows}
      columns={columns}
      sortedBy={2}
      height={28}
      onChoose={(row) => choose(numberOf(row))}
      isChosen={(row) => chosenRegion.value !== null && numberOf(row) === chosenRegion.value}
    />
  );
}

function choose(region: number | null): void {
  chosenRegion.value = chosenRegion.value === region ? null : region;
}

export function Paths({ rows }: { readonly rows: readonly CallPathRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.exclusive_ns), 1);
  const columns: ReadonlyArray<Column<CallPathRow>> = [
    { name: "Call path", help: "Regions around it, the outermost first", text: (row) => row.path.join(" › "), width: "minmax(220px, 3fr)" },
    { name: "Called from", help: "Function and place in the source", text: (row) => `${row.function} ${place(row.file, row.line)}`, width: "minmax(160px, 2fr)" },
    {
      name: "Exclusive",
      help: "Time in it and not in what is beneath, of all locations together",
      text: (row) => duration(row.exclusive_ns),
      value: (row) => row.exclusive_ns,
      bar: (row) => row.exclusive_ns / most,
      unit: "ns",
      width: "110px",
    },
    { name: "Inclusive", help: "Time in it and in what is beneath", text: (row) => duration(row.inclusive_ns), value: (row) => row.inclusive_ns, unit: "ns", width: "100px" },
    { name: "Calls", help: "Number of visits; – = nobody counted them", text: calls, value: (row) => row.calls, width: "90px" },
    { name: "Data", help: "Bytes moved", text: (row) => (row.bytes === 0 ? "" : bytes(row.bytes)), value: (row) => row.bytes, unit: "B", width: "90px" },
  ];
  return <Table label="profile by call path" rows={rows} columns={columns} sortedBy={2} height={28} onChoose={(row) => choose(regionOfReport(row.path.at(-1) ?? ""))} />;
}
