/** The most remarkable of the messages that are meant, one by one, and the sums of operations of all. */
import type { JSX } from "preact";

import { bytes, count } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { goToMessage, isChosenMessage } from "../../state/message.ts";
import { run } from "../../state/run.ts";
import { collectiveSums, type CollectiveSum, type MessageRow } from "../../state/traffic.ts";
import { beside, chooseOperation, chosenRegion, view, type ChosenMessage } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";

function locationName(location: number): string {
  return run.value?.locations[location]?.name ?? "";
}

function communicatorName(names: ReadonlyMap<number, string>, number: number): string {
  return number === 0xffffffff ? "–" : names.get(number) || `number ${number}`;
}

function chosenOf({ communicator: _, tag, ...row }: MessageRow): ChosenMessage {
  return { ...row, tag: Number.isNaN(tag) ? null : tag, number: 1 };
}

export interface MessagesProps {
  readonly rows: readonly MessageRow[];
  /** Names of their communicators, by number. */
  readonly communicators: ReadonlyArray<readonly [number, string]>;
}

export function Messages({ rows, communicators }: MessagesProps): JSX.Element {
  const names = new Map(communicators);
  const longest = rows.reduce((most, row) => Math.max(most, row.received - row.sent), 1);
  const columns: ReadonlyArray<Column<MessageRow>> = [
    { name: "From", help: "Who sent it; press a row to see it in the timeline, with all about it", text: (row) => locationName(row.from), order: (row) => row.from, width: "minmax(90px, 1fr)" },
    { name: "To", help: "Who received it", text: (row) => locationName(row.to), order: (row) => row.to, width: "minmax(90px, 1fr)" },
    { name: "Sent", help: "When the call that sent it was entered", text: (row) => instant(row.sent), value: (row) => row.sent, unit: "ns", width: "150px" },
    {
      name: "On its way",
      help: "From there until the call that completed the receive was left",
      text: (row) => duration(row.received - row.sent),
      value: (row) => row.received - row.sent,
      bar: (row) => (row.received - row.sent) / longest,
      unit: "ns",
      width: "110px",
    },
    { name: "Data", help: "What it held, bytes", text: (row) => bytes(row.bytes), value: (row) => row.bytes, unit: "B", width: "100px" },
    { name: "Tag", help: "Of the message; – = not known", text: (row) => (Number.isNaN(row.tag) ? "–" : String(row.tag)), value: (row) => row.tag, width: "80px" },
    { name: "Communicator", help: "On which it was sent; – = not known", text: (row) => communicatorName(names, row.communicator), width: "minmax(110px, 1fr)" },
  ];
  const choose = (row: MessageRow): void => {
    if (beside.peek() !== "timeline") view.value = "timeline";
    goToMessage(chosenOf(row));
  };
  return <Table label="messages" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} isChosen={(row) => isChosenMessage(chosenOf(row))} />;
}

export function Operations(): JSX.Element {
  const [found, head] = [collectiveSums.value, run.value];
  if (found === null || head === null) return <Coming what="Operations are being counted" />;
  if (found.sums.length === 0) return <p class="muted">No operation of all was recorded in this span.</p>;
  const names = new Map(found.head.communicators);
  const most = found.sums.reduce((all, row) => Math.max(all, row.time), 1);
  const columns: ReadonlyArray<Column<CollectiveSum>> = [
    { name: "Operation", help: "The call; press a row to see the first of them, and from there the next", text: (row) => head.regions[row.region]?.name ?? "unknown", width: "minmax(130px, 2fr)" },
    { name: "Communicator", help: "Whose members take part", text: (row) => communicatorName(names, row.communicator), width: "minmax(110px, 1fr)" },
    { name: "Number", help: "How many operations", text: (row) => count(row.operations), value: (row) => row.operations, width: "90px" },
    { name: "Time", help: "Of all members together, from entering the call that begins it to leaving the one that completes it", text: (row) => duration(row.time), value: (row) => row.time, bar: (row) => row.time / most, unit: "ns", width: "110px" },
    { name: "Waited", help: "Of that, for others, in the calls that completed them; – = not known", text: (row) => (Number.isNaN(row.waited) ? "–" : duration(row.waited)), value: (row) => row.waited, unit: "ns", width: "100px" },
    { name: "Longest", help: "The longest time of one member", text: (row) => duration(row.longest), value: (row) => row.longest, unit: "ns", width: "100px" },
    { name: "Given", help: "Data that members contributed, bytes of all together", text: (row) => bytes(row.bytesOut), value: (row) => row.bytesOut, unit: "B", width: "100px" },
    { name: "Got", help: "Data that members received, bytes of all together", text: (row) => bytes(row.bytesIn), value: (row) => row.bytesIn, unit: "B", width: "100px" },
  ];
  const choose = (row: CollectiveSum): void => {
    if (row.region < head.regions.length) chosenRegion.value = row.region;
    chooseOperation({ communicator: row.communicator, instance: row.first });
  };
  return <Table label="operations of all" rows={found.sums} columns={columns} sortedBy={3} height={12} onChoose={choose} isChosen={(row) => row.region === chosenRegion.value} />;
}
