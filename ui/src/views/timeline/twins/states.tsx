/** The states of the span: visits, and what stands for those that are too short to be seen. */
import type { JSX } from "preact";

import { percent } from "../../../base/format.ts";
import { duration, instant, type Span } from "../../../base/time.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { goTo } from "../../../state/visit.ts";
import type { States } from "../../../tracks/states.ts";
import type { RunHead } from "../../../wire/generated.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { picture } from "../fetch.ts";
import { Coming } from "../../lost.tsx";

interface Row {
  readonly line: number;
  readonly start: number;
  readonly duration: number;
  readonly isVisit: boolean;
  /** Regions and their shares of the time, the largest first. */
  readonly regions: ReadonlyArray<readonly [region: number, share: number]>;
}

/** Stands for a region that there is not. */
const NONE = 0xffffffff;

export function StatesTwin(): JSX.Element {
  const head = run.value;
  const shown = picture.value;
  if (head === null || shown === null) return <Coming what="The visits are being read" />;
  return <StatesTable label="states in the span" head={head} states={shown.states} span={toldSpan.value} goTo={goTo} />;
}

interface StatesTableProps {
  readonly label: string;
  readonly head: RunHead;
  readonly states: States;
  readonly span: Span;
  readonly goTo: (line: number, from: number, to: number) => void;
}

/** States of any run. */
export function StatesTable({ label, head, states, span, goTo }: StatesTableProps): JSX.Element {
  const rows = rowsOf(states, span);
  const nameOf = (region: number): string => head.regions[region]?.name ?? "";
  const what = (row: Row): string =>
    row.isVisit ? nameOf(row.regions[0]?.[0] ?? NONE) : row.regions.map(([region, share]) => `${nameOf(region)} ${percent(share)}`).join(", ");
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "State", help: "Region of a visit; of visits that are shorter than a pixel, how much of the time each region took", text: what, width: "minmax(180px, 3fr)" },
    { name: "Where", help: "Rank and thread", text: (row) => head.locations[head.lines[row.line]?.location ?? 0]?.name ?? "", width: "minmax(90px, 1fr)" },
    { name: "Level", help: "Level of abstraction", text: (row) => head.levels[head.lines[row.line]?.level ?? 0] ?? "", width: "70px" },
    { name: "Depth", help: "How many of its level are around it", text: (row) => String(head.lines[row.line]?.depth ?? 0), value: (row) => head.lines[row.line]?.depth ?? 0, width: "60px" },
    { name: "Start", help: "When it begins", text: (row) => instant(row.start), value: (row) => row.start, unit: "ns", width: "160px" },
    { name: "Duration", help: "How long it is", text: (row) => duration(row.duration), value: (row) => row.duration, unit: "ns", width: "100px" },
  ];
  return <Table label={label} rows={rows} columns={columns} sortedBy={5} height={40} onChoose={(row) => goTo(row.line, row.start, row.start + row.duration)} />;
}

function rowsOf(states: States, span: { readonly from: number; readonly to: number }): readonly Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < states.line.length; at += 1) {
    const [start, length] = [states.start[at] ?? 0, states.duration[at] ?? 0];
    if (start + length <= span.from || start >= span.to) continue;
    const regions = [0, 1, 2].flatMap((place): Array<readonly [number, number]> => {
      const region = states.regions[place as 0 | 1 | 2][at] ?? NONE;
      return region === NONE ? [] : [[region, states.shares[place as 0 | 1 | 2][at] ?? 0]];
    });
    rows.push({ line: states.line[at] ?? 0, start, duration: length, isVisit: states.isVisit[at] === 1, regions });
  }
  return rows;
}
