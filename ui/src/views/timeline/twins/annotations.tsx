/** Findings, situations and anomalous visits of the span. */
import type { JSX } from "preact";

import { duration, instant } from "../../../base/time.ts";
import { toldSpan } from "../../../state/told.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { shownNotes, type Note } from "../../notes.tsx";

const COLUMNS: ReadonlyArray<Column<Note>> = [
  { name: "What", help: "Finding, kind of situation, or anomalous visit", text: (it) => it.kind, width: "104px" },
  { name: "About", help: "Who, what, and the probable cause", text: (it) => it.text, width: "minmax(110px, 1fr)" },
  { name: "Start", help: "From when on", text: (it) => instant(it.from), value: (it) => it.from, unit: "ns", width: "136px" },
  { name: "Duration", help: "For how long", text: (it) => duration(it.to - it.from), value: (it) => it.to - it.from, unit: "ns", width: "84px" },
];

export function AnnotationsTwin(): JSX.Element {
  const { from, to } = toldSpan.value;
  const rows = shownNotes.value.filter((it) => it.to >= from && it.from <= to);
  return <Table label="annotations in the span" rows={rows} columns={COLUMNS} sortedBy={3} height={40} onChoose={(it) => it.act()} />;
}
