/** Sums of the whole run, a row for each pair of processes. */
import type { JSX } from "preact";

import { bytes, count } from "../../base/format.ts";
import { processName } from "../../state/run.ts";
import { chosenPair } from "../../state/view.ts";
import type { PairRow } from "../../wire/report.ts";
import { Table, type Column } from "../../widgets/table.tsx";

export function Pairs({ rows }: { readonly rows: readonly PairRow[] }): JSX.Element {
  if (rows.length === 0) return <p class="muted">No messages were recorded in this run.</p>;
  const most = rows.reduce((all, row) => Math.max(all, row.bytes), 1);
  const columns: ReadonlyArray<Column<PairRow>> = [
    { name: "From", help: "Sender", text: (row) => processName(row.from), order: (row) => row.from, width: "minmax(110px, 1fr)" },
    { name: "To", help: "Receiver", text: (row) => processName(row.to), order: (row) => row.to, width: "minmax(110px, 1fr)" },
    { name: "Messages", help: "Number of messages", text: (row) => count(row.messages), value: (row) => row.messages, width: "110px" },
    { name: "Data", help: "Bytes together", text: (row) => bytes(row.bytes), value: (row) => row.bytes, bar: (row) => row.bytes / most, width: "120px" },
    { name: "Mean size", help: "Bytes of a message on average", text: (row) => bytes(Math.round(row.bytes / Math.max(row.messages, 1))), value: (row) => row.bytes / Math.max(row.messages, 1), width: "110px" },
  ];
  const choose = (row: PairRow): void => {
    chosenPair.value = { from: [row.from, row.from + 1], to: [row.to, row.to + 1] };
  };
  const isChosen = (row: PairRow): boolean => chosenPair.value?.from.join() === `${row.from},${row.from + 1}` && chosenPair.value.to.join() === `${row.to},${row.to + 1}`;
  return <Table label="pairs of processes" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} isChosen={isChosen} />;
}
