/** States of the span that need not nest. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { count } from "../../../base/format.ts";
import { duration, instant } from "../../../base/time.ts";
import { needOverlaps, overlapping } from "../../../state/overlaps.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { chosenRegion, layers, see, toggleLayer } from "../../../state/view.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { picture } from "../fetch.ts";
import { Coming } from "../../lost.tsx";

interface Row {
  readonly region: number;
  readonly location: number;
  readonly start: number;
  readonly duration: number;
  readonly number: number;
}

export function OverlapsTwin(): JSX.Element {
  const head = run.value;
  void needOverlaps();
  if (head === null || overlapping.value.size === 0) return <p class="hush">This run has no states that overlap.</p>;
  if (!layers.value.overlaps) {
    return (
      <p class="hush">
        Overlapping states are not shown.{" "}
        <button type="button" onClick={() => toggleLayer("overlaps")}>
          Show them
        </button>
      </p>
    );
  }
  const all = picture.value?.overlaps ?? null;
  if (all === null) return <Coming what="The states are being read" />;
  const { from, to } = toldSpan.value;
  const rows = [...all.places].flatMap(([location, [first, behind]]) =>
    Array.from({ length: behind - first }, (_, at): Row => {
      const place = first + at;
      return { region: all.region[place] ?? 0, location, start: all.start[place] ?? 0, duration: all.duration[place] ?? 0, number: all.number[place] ?? 1 };
    }).filter((row) => row.start < to && row.start + row.duration >= from),
  );
  const nameOf = (row: Row): string => `${head.regions[row.region]?.name ?? ""}${row.number > 1 ? ` ×${count(row.number)}` : ""}`;
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "State", help: "Region; of several that are too short to be seen, that of the longest, with their number", text: nameOf, width: "minmax(150px, 2fr)" },
    { name: "Where", help: "Rank and thread, of the rows that are shown or near", text: (row) => head.locations[row.location]?.name ?? "", width: "minmax(90px, 1fr)" },
    { name: "Start", help: "When it begins", text: (row) => instant(row.start), value: (row) => row.start, unit: "ns", width: "160px" },
    { name: "Duration", help: "How long it is", text: (row) => duration(row.duration), value: (row) => row.duration, unit: "ns", width: "100px" },
  ];
  const choose = (row: Row): void =>
    batch(() => {
      chosenRegion.value = row.region;
      see(row.start, row.start + row.duration);
    });
  return <Table label="overlapping states in the span" rows={rows} columns={columns} sortedBy={3} height={40} onChoose={choose} />;
}
