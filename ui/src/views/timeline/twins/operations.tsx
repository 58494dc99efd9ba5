/** The operations of all of the span. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { count } from "../../../base/format.ts";
import { duration, instant } from "../../../base/time.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { chooseOperation, layers, lookAround, see, toggleLayer } from "../../../state/view.ts";
import type { Collectives } from "../../../tracks/collectives.ts";
import type { Operation } from "../../../wire/generated.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { picture } from "../fetch.ts";
import { Coming } from "../../lost.tsx";

interface Row {
  readonly operation: Operation;
  readonly region: number;
  readonly number: number;
  readonly last: number;
  readonly members: number;
  /** First and last enter, last leave, of the members whose rows are asked for. */
  readonly first: number;
  readonly late: number;
  readonly end: number;
}

export function OperationsTwin(): JSX.Element {
  const head = run.value;
  const shown = picture.value;
  if (!layers.value.operations) {
    return (
      <p class="hush">
        Operations of all are not shown.{" "}
        <button type="button" onClick={() => toggleLayer("operations")}>
          Show them (g)
        </button>
      </p>
    );
  }
  if (head === null || shown === null || shown.operations === null) return <Coming what="The operations are being read" />;
  if (shown.numberOfOperations === null) return <p class="hush">There are too many operations of all to list them; zoom in.</p>;
  const nameOf = (row: Row): string => `${head.regions[row.region]?.name ?? "unknown"}${row.number > 1 ? ` ×${count(row.number)}` : ""}`;
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Operation", help: "Region of the call; several of about the same time stand together where there are too many", text: nameOf, width: "minmax(150px, 2fr)" },
    { name: "Members", help: "Whose rows are shown or near", text: (row) => count(row.members), value: (row) => row.members, width: "80px" },
    { name: "Came last", help: "Who entered last; of several that stand together, who did so most often", text: (row) => head.locations[row.last]?.name ?? "", width: "minmax(90px, 1fr)" },
    { name: "Late", help: "How long after the first the last one came", text: (row) => duration(row.late - row.first), value: (row) => row.late - row.first, unit: "ns", width: "100px" },
    { name: "Start", help: "When the first came", text: (row) => instant(row.first), value: (row) => row.first, unit: "ns", width: "160px" },
    { name: "Duration", help: "Until the last one left", text: (row) => duration(row.end - row.first), value: (row) => row.end - row.first, unit: "ns", width: "100px" },
  ];
  return <Table label="operations in the span" rows={rowsOf(shown.operations, toldSpan.value)} columns={columns} sortedBy={3} height={40} onChoose={choose} />;
}

function choose(row: Row): void {
  if (row.number > 1) {
    lookAround(row.first, row.end);
    return;
  }
  batch(() => {
    chooseOperation(row.operation);
    see(row.first, row.end);
  });
}

function rowsOf(all: Collectives, span: { readonly from: number; readonly to: number }): readonly Row[] {
  const rows: Row[] = [];
  let from = 0;
  for (let at = 0; at < all.behind.length; at += 1) {
    const behind = all.behind[at] ?? from;
    const enters = all.enter.subarray(from, behind);
    const leaves = all.leave.subarray(from, behind).filter((it) => !Number.isNaN(it));
    const members = behind - from;
    from = behind;
    const [first, late] = [least(enters), most(enters)];
    const end = Math.max(late, most(leaves));
    if (end < span.from || first >= span.to) continue;
    rows.push({
      operation: { communicator: all.communicator[at] ?? 0, instance: all.instance[at] ?? 0 },
      region: all.region[at] ?? 0xffffffff,
      number: all.number[at] ?? 1,
      last: all.last[at] ?? 0xffffffff,
      members,
      first,
      late,
      end,
    });
  }
  return rows;
}

function least(values: Float64Array): number {
  return values.reduce((least, value) => Math.min(least, value), Infinity);
}

function most(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}
