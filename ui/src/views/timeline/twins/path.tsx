/** Where the critical path goes in the span, piece by piece. */
import type { JSX } from "preact";

import { duration, instant } from "../../../base/time.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { layers, toggleLayer } from "../../../state/view.ts";
import { goToLocation } from "../../../state/visit.ts";
import { placesOf } from "../../../tracks/layout.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { Coming } from "../../lost.tsx";
import { isStale, picture } from "../fetch.ts";
import { layout } from "../place.ts";

interface Row {
  readonly location: number;
  readonly start: number;
  readonly duration: number;
}

export function PathTwin(): JSX.Element {
  const [head, shown] = [run.value, picture.value];
  if (!layers.value.path) {
    return (
      <p class="hush">
        The critical path is not shown.{" "}
        <button type="button" onClick={() => toggleLayer("path")}>
          Show it (c)
        </button>
      </p>
    );
  }
  const path = shown?.path ?? null;
  if (head === null || path === null) return isStale.value ? <Coming what="The critical path is being read" /> : <p class="hush">The critical path of this run is not known.</p>;
  const { from, to } = toldSpan.value;
  const places = placesOf(layout.value);
  const rows = Array.from(path.location, (location, at): Row => ({ location, start: path.start[at] ?? 0, duration: path.duration[at] ?? 0 })).filter(
    (row) => row.start < to && row.start + row.duration > from && places.has(row.location),
  );
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Where", help: "Rank and thread that it leads along; press a row to see what was done there", text: (row) => head.locations[row.location]?.name ?? "", width: "minmax(90px, 1fr)" },
    { name: "From", help: "When it comes there", text: (row) => instant(row.start), value: (row) => row.start, unit: "ns", width: "160px" },
    { name: "To", help: "When it leaves", text: (row) => instant(row.start + row.duration), value: (row) => row.start + row.duration, unit: "ns", width: "160px" },
    { name: "Duration", help: "How long it stays; what is too short to be seen counts with what it is next to", text: (row) => duration(row.duration), value: (row) => row.duration, unit: "ns", width: "100px" },
  ];
  return <Table label="critical path in the span" rows={rows} columns={columns} sortedBy={1} isUp height={40} onChoose={(row) => void goToLocation(row.location, Math.round(row.start))} />;
}
