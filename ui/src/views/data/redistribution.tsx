/** What moves data from each rank to each other, as a transposition does: by accesses, operations of all with all, or messages. */
import type { JSX } from "preact";

import { bytes, count, counted, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import type { ArraysHead, WireRedistribution } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Place } from "./arrays.tsx";

export function Redistributions({ head }: { readonly head: ArraysHead }): JSX.Element | null {
  const rows = head.redistributions;
  if (rows.length === 0) return null;
  const time = (row: WireRedistribution): number => row.time_ns ?? NaN;
  const most = Math.max(...rows.map((row) => row.time_ns ?? 0), 1);
  const share = (row: WireRedistribution): number => time(row) / Math.max(head.whole_ns, 1);
  const columns: ReadonlyArray<Column<WireRedistribution>> = [
    { name: "Data", help: "Where it lay, and where it lies then; of an access only the array of several processes is known", text: data, width: "minmax(160px, 2fr)" },
    { name: "By", help: "What is done: accesses to an array, a collective operation, or messages between all pairs of ranks", text: (row) => (row.by === "messages" ? "messages" : row.verb), width: "minmax(100px, 1fr)" },
    { name: "At", help: "Line of the source; press it to go there. Of messages: where the data is declared", text: (row) => place(row.file, row.line), draw: (row) => <Place file={row.file} line={row.line} />, width: "minmax(110px, 1fr)" },
    { name: "In", help: "The function", text: (row) => row.function, width: "minmax(80px, 1fr)" },
    { name: "Times", help: "Accesses, operations or messages", text: (row) => count(row.times), value: (row) => row.times, width: "80px" },
    { name: "Bytes", help: "What they moved, with what a process keeps for itself", text: (row) => bytes(row.bytes), value: (row) => row.bytes, unit: "B", width: "90px" },
    { name: "Time", help: "Of the calls, all threads together; of messages it is not known, for the calls that send them do other things, too", text: (row) => (row.time_ns === null ? "not known" : duration(row.time_ns)), value: time, bar: (row) => (row.time_ns ?? 0) / most, unit: "ns", width: "100px" },
    { name: "Share", help: "Of the time of all threads", text: (row) => (row.time_ns === null ? "" : percent(share(row))), value: share, unit: "%", width: "70px" },
  ];
  return (
    <section>
      <h2>Redistribution — what moves data from each rank to each other, in the whole run</h2>
      <Table label="redistributions" rows={rows} columns={columns} sortedBy={6} height={8} />
      {head.more_redistributions > 0 ? <p class="muted">{counted(head.more_redistributions, "more place", "more places")} of less time, or by messages, are not shown.</p> : null}
    </section>
  );
}

function data({ from, to }: WireRedistribution): string {
  if (from === "" && to === "") return "not known";
  return from === to ? from : `${from} → ${to}`.trim();
}
