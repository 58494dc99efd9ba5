/** Who sent how much to whom, a row for each pair: the cells of the matrix as a table, or the sums of the whole run. */
import type { JSX } from "preact";

import { bytes, count } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { processesName, run } from "../../state/run.ts";
import { arePairsOfSpan, type Range, type TrafficSums } from "../../state/traffic.ts";
import { chosenPair } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import type { PairRow } from "../../wire/report.ts";
import { cellRange } from "./matrix.tsx";

interface Pair {
  readonly from: Range;
  readonly to: Range;
  readonly messages: number;
  readonly bytes: number;
  /** On their way, ns; only of messages that were recorded one by one. */
  readonly time: number | null;
  readonly longest: number | null;
}

export interface PairsProps {
  /** Sums of the whole run. */
  readonly ofRun: readonly PairRow[];
  /** What the matrix shows, if single messages are known. */
  readonly sums: TrafficSums | null;
}

export function Pairs({ ofRun, sums }: PairsProps): JSX.Element {
  if (ofRun.length === 0) return <p class="muted">No messages were recorded in this run.</p>;
  const shown = arePairsOfSpan.value ? sums : null;
  const rows = shown === null ? ofRun.flatMap((row) => pairOfRun(row) ?? []) : pairsOf(shown);
  return (
    <>
      {sums === null ? null : (
        <p class="communication-tools" role="group" aria-label="What pairs are counted over">
          <button type="button" aria-pressed={arePairsOfSpan.value} title="What the matrix shows: messages of the span, as they are limited above" onClick={() => (arePairsOfSpan.value = true)}>
            As in the matrix
          </button>
          <button type="button" aria-pressed={!arePairsOfSpan.value} title="Sums of the whole run without limits, exact also where single messages were no longer recorded" onClick={() => (arePairsOfSpan.value = false)}>
            Whole run
          </button>
        </p>
      )}
      <PairTable rows={rows} isTimed={shown !== null} />
    </>
  );
}

function PairTable({ rows, isTimed }: { readonly rows: readonly Pair[]; readonly isTimed: boolean }): JSX.Element {
  const most = rows.reduce((all, row) => Math.max(all, row.bytes), 1);
  const times: ReadonlyArray<Column<Pair>> = [
    { name: "On their way", help: "How long messages were on their way, all together", text: (row) => duration(row.time ?? 0), value: (row) => row.time ?? 0, unit: "ns", width: "120px" },
    { name: "Longest", help: "How long the longest of them was on its way", text: (row) => duration(row.longest ?? 0), value: (row) => row.longest ?? 0, unit: "ns", width: "110px" },
  ];
  const columns: ReadonlyArray<Column<Pair>> = [
    { name: "From", help: "Sender; press a row to limit the list, the classes and the timeline to these messages", text: (row) => processesName(row.from), order: (row) => row.from[0], width: "minmax(110px, 1fr)" },
    { name: "To", help: "Receiver", text: (row) => processesName(row.to), order: (row) => row.to[0], width: "minmax(110px, 1fr)" },
    { name: "Messages", help: "Number of messages", text: (row) => count(row.messages), value: (row) => row.messages, width: "110px" },
    { name: "Data", help: "Bytes together", text: (row) => bytes(row.bytes), value: (row) => row.bytes, bar: (row) => row.bytes / most, unit: "B", width: "120px" },
    { name: "Mean size", help: "Bytes of a message on average", text: (row) => bytes(Math.round(row.bytes / Math.max(row.messages, 1))), value: (row) => row.bytes / Math.max(row.messages, 1), unit: "B", width: "110px" },
    ...(isTimed ? times : []),
  ];
  const choose = (row: Pair): void => {
    chosenPair.value = isChosen(row) ? null : { from: row.from, to: row.to };
  };
  return <Table label="pairs of processes" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} isChosen={isChosen} />;
}

function isChosen({ from, to }: Pair): boolean {
  const pair = chosenPair.value;
  return pair !== null && pair.from.join() === from.join() && pair.to.join() === to.join();
}

/** Reports count by rank; here processes are meant. `null` = a rank of which there is no process. */
function pairOfRun({ from, from_world: fromWorld, to, to_world: toWorld, messages, bytes: data }: PairRow): Pair | null {
  const [sender, receiver] = [processOf(fromWorld, from), processOf(toWorld, to)];
  if (sender === null || receiver === null) return null;
  return { from: [sender, sender + 1], to: [receiver, receiver + 1], messages, bytes: data, time: null, longest: null };
}

function processOf(world: number, rank: number): number | null {
  const place = (run.value?.processes ?? []).findIndex((it) => it.rank === rank && it.world === world);
  return place < 0 ? null : place;
}

function pairsOf(sums: TrafficSums): readonly Pair[] {
  return sums.cells.map(({ row, column, ...values }) => ({ from: cellRange(sums, row), to: cellRange(sums, column), ...values }));
}
