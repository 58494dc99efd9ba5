/** The counters that are drawn: what each was on each location in the span. */
import type { JSX } from "preact";

import { needPlaces, shownCounters } from "../../../state/counters.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { goToLocation } from "../../../state/visit.ts";
import type { Counters } from "../../../tracks/counters.ts";
import type { WireCounter } from "../../../wire/generated.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { quantity, unitOf } from "../../quantities.ts";
import { picture } from "../fetch.ts";
import { Coming } from "../../lost.tsx";

interface Row {
  readonly counter: WireCounter;
  readonly location: number;
  readonly least: number;
  readonly mean: number;
  readonly most: number;
  /** When it was largest, ns. */
  readonly at: number;
}

export function CountersTwin(): JSX.Element {
  const head = run.value;
  void needPlaces();
  if (head === null || head.counters.length === 0) return <p class="hush">This run has no counters.</p>;
  if (shownCounters.value.length === 0) return <p class="hush">No counter is shown; choose some under Show.</p>;
  const all = picture.value?.counters ?? null;
  if (all === null) return <Coming what="The counters are being read" />;
  if (!all.isWhole) return <p class="hush">There are too many values to be drawn; zoom in.</p>;
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Counter", help: "Name; of those that only grow it is told how fast", text: (row) => row.counter.name, parts: [["Counter", (row) => row.counter.name], ["Unit", (row) => unitOf(row.counter)]], width: "minmax(90px, 1fr)" },
    { name: "Where", help: "Rank and thread, of the rows that are shown or near", text: (row) => head.locations[row.location]?.name ?? "", width: "minmax(64px, 1fr)" },
    { name: "Least", help: "Least value of the span", text: (row) => quantity(row.counter, row.least), value: (row) => row.least, width: "96px" },
    { name: "Mean", help: "Mean by time", text: (row) => quantity(row.counter, row.mean), value: (row) => row.mean, width: "96px" },
    { name: "Most", help: "Largest value of the span", text: (row) => quantity(row.counter, row.most), value: (row) => row.most, width: "96px" },
  ];
  return <Table label="counters in the span" rows={rowsOf(all, head.counters)} columns={columns} sortedBy={3} height={40} onChoose={(row) => void goToLocation(row.location, Math.round(row.at))} />;
}

function rowsOf(all: Counters, counters: readonly WireCounter[]): readonly Row[] {
  const { from, to } = toldSpan.value;
  return [...all.places].flatMap(([key, [first, behind]]): readonly Row[] => {
    const [number = 0, location = 0] = key.split(" ").map(Number);
    const counter = counters[number];
    let [least, most, sum, covered, at] = [Infinity, -Infinity, 0, 0, 0];
    for (let piece = first; piece < behind; piece += 1) {
      const start = all.start[piece] ?? 0;
      const inside = Math.min(start + (all.duration[piece] ?? 0), to) - Math.max(start, from);
      if (inside <= 0) continue;
      least = Math.min(least, all.least[piece] ?? 0);
      if ((all.most[piece] ?? 0) > most) [most, at] = [all.most[piece] ?? 0, Math.max(start, from)];
      sum += (all.mean[piece] ?? 0) * inside;
      covered += inside;
    }
    return counter === undefined || covered === 0 ? [] : [{ counter, location, least, mean: sum / covered, most, at }];
  });
}
