/** Instants of the span that the program marked. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { count } from "../../../base/format.ts";
import { duration, instant } from "../../../base/time.ts";
import { hasEvents } from "../../../state/events.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { chooseEvents, layers, see, toggleLayer } from "../../../state/view.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { picture } from "../fetch.ts";
import { Coming } from "../../lost.tsx";

interface Row {
  readonly kind: number;
  readonly location: number;
  readonly from: number;
  readonly to: number;
  readonly number: number;
}

export function EventsTwin(): JSX.Element {
  const head = run.value;
  if (head === null || !hasEvents.value) return <p class="hush">The program marked no instants.</p>;
  if (!layers.value.events) {
    return (
      <p class="hush">
        Marked instants are not shown.{" "}
        <button type="button" onClick={() => toggleLayer("events")}>
          Show them
        </button>
      </p>
    );
  }
  const all = picture.value?.events ?? null;
  if (all === null) return <Coming what="The instants are being read" />;
  const { from, to } = toldSpan.value;
  const rows = Array.from(all.time, (time, at): Row => ({ kind: all.kind[at] ?? 0, location: all.location[at] ?? 0, from: time, to: all.last[at] ?? time, number: all.number[at] ?? 1 })).filter(
    (row) => row.from < to && row.to >= from,
  );
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Kind", help: "What was marked; of several that are too near to each other to be told apart, the first", text: (row) => head.event_kinds[row.kind]?.name ?? "", width: "minmax(150px, 2fr)" },
    { name: "Where", help: "Rank and thread, of the rows that are shown or near", text: (row) => head.locations[row.location]?.name ?? "", width: "minmax(90px, 1fr)" },
    { name: "When", help: "The instant, of several the first", text: (row) => instant(row.from), value: (row) => row.from, unit: "ns", width: "160px" },
    { name: "Number", help: "How many stand together", text: (row) => count(row.number), value: (row) => row.number, width: "90px" },
    { name: "Within", help: "From the first to the last of them", text: (row) => (row.number > 1 ? duration(row.to - row.from) : ""), value: (row) => row.to - row.from, unit: "ns", width: "100px" },
  ];
  const choose = (row: Row): void =>
    batch(() => {
      chooseEvents({ location: row.location, from: row.from, to: row.to });
      see(row.from, row.to + 1);
    });
  return <Table label="marked instants in the span" rows={rows} columns={columns} sortedBy={2} height={40} onChoose={choose} />;
}
