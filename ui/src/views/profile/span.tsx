/** Every region with its sums of the span that is shown. */
import type { JSX } from "preact";

import { count, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { profileShares, type Shares } from "../../state/shares.ts";
import { chosenRegion } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { spreadOf, Strip, wordsOf } from "./strip.tsx";
import { Coming } from "../lost.tsx";

interface Row {
  /** `undefined` = all others. */
  readonly region: number | undefined;
  readonly column: number;
  readonly exclusive: number;
  readonly inclusive: number;
  readonly visits: number;
}

export function RegionsOfSpan(): JSX.Element {
  const [it, head] = [profileShares.value, run.value];
  if (it === null || head === null) return <Coming what="Times are being added up" />;
  if (!it.head.is_whole) return <p class="hush">This span has so many visits that they are not added up; zoom in, or look at the whole run.</p>;
  const rows = rowsOf(it);
  const most = rows.reduce((all, row) => Math.max(all, row.exclusive), 1);
  const total = rows.reduce((sum, row) => sum + row.exclusive, 0);
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Region", help: "What was done", text: (row) => (row.region === undefined ? "others" : (head.regions[row.region]?.name ?? "")), width: "minmax(160px, 2fr)" },
    { name: "Exclusive", help: "Time in it and not in what is beneath, in the span, of all locations together", text: (row) => duration(row.exclusive), value: (row) => row.exclusive, bar: (row) => row.exclusive / most, unit: "ns", width: "110px" },
    { name: "Share", help: "Of the exclusive time of all regions in the span", text: (row) => percent(row.exclusive / Math.max(total, 1)), value: (row) => row.exclusive / Math.max(total, 1), unit: "%", width: "80px" },
    { name: "Inclusive", help: "Time in it and in what is beneath, in the span", text: (row) => (row.region === undefined ? "–" : duration(row.inclusive)), value: (row) => (row.region === undefined ? NaN : row.inclusive), unit: "ns", width: "110px" },
    { name: "Visits", help: "Those of which something lies in the span", text: (row) => count(row.visits), value: (row) => row.visits, width: "90px" },
    { name: "Over locations", help: "A cell each, the darker the more exclusive time; press one to choose the location; sorted by how far most and least are apart", text: (row) => wordsOf(it, row.column), order: (row) => spreadOf(it, row.column), parts: [["Most less least ns", (row) => spreadOf(it, row.column)]], draw: (row) => <Strip shares={it} column={row.column} />, width: "minmax(130px, 1fr)" },
  ];
  return (
    <Table
      label="profile by region of the span"
      rows={rows}
      columns={columns}
      sortedBy={1}
      height={28}
      onChoose={(row) => (chosenRegion.value = row.region === chosenRegion.value ? null : (row.region ?? null))}
      isChosen={(row) => row.region !== undefined && row.region === chosenRegion.value}
    />
  );
}

function rowsOf(it: Shares): readonly Row[] {
  const width = it.head.regions.length + 1;
  const rows = Array.from({ length: width }, (_, column): Row => {
    let [exclusive, inclusive, visits] = [0, 0, 0];
    for (let at = column; at < it.exclusive.length; at += width) {
      exclusive += it.exclusive[at] ?? 0;
      inclusive += it.inclusive[at] ?? 0;
      visits += it.visits[at] ?? 0;
    }
    return { region: it.head.regions[column], column, exclusive, inclusive, visits };
  });
  return rows.filter((row) => row.visits > 0);
}
