/** Which data messages come from and go to, and between whom; what is not known is a row, too, and says why. */
import type { JSX } from "preact";

import { bytes, count, counted, percent, place } from "../../base/format.ts";
import { chosenBuffer } from "../../state/data.ts";
import { processName } from "../../state/run.ts";
import { chosenPair, view } from "../../state/view.ts";
import type { ArraysHead, WireBuffer } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Place } from "./arrays.tsx";

export function Buffers({ head }: { readonly head: ArraysHead }): JSX.Element {
  const rows = head.buffers;
  const both = (row: WireBuffer): number => row.sent_bytes + row.received_bytes;
  const all = Math.max(rows.reduce((sum, row) => sum + both(row), 0), 1);
  const known = rows.reduce((sum, row) => (row.kind === "other" || row.name === "" ? sum : sum + both(row)), 0);
  const most = Math.max(...rows.map(both), 1);
  const columns: ReadonlyArray<Column<WireBuffer>> = [
    { name: "Data", help: "The variable or pointer as the source calls it, else who allocated the block; press a row for its senders and receivers", text: nameOf, width: "minmax(160px, 2.4fr)" },
    { name: "Kind", help: "Variable of a module, block of the heap, part of a stack's frame; other: not known, and the name says why", text: (row) => row.kind, width: "70px" },
    { name: "Sent", help: "Messages that were sent from it", text: (row) => count(row.sent), value: (row) => row.sent, width: "80px" },
    { name: "Data sent", help: "Bytes", text: (row) => bytes(row.sent_bytes), value: (row) => row.sent_bytes, unit: "B", width: "90px" },
    { name: "Received", help: "Messages that were received into it", text: (row) => count(row.received), value: (row) => row.received, width: "84px" },
    { name: "Data received", help: "Bytes", text: (row) => bytes(row.received_bytes), value: (row) => row.received_bytes, unit: "B", width: "110px" },
    { name: "Share", help: "Of the bytes of all messages, both ends", text: (row) => percent(both(row) / all), value: (row) => both(row) / all, bar: (row) => both(row) / most, unit: "%", width: "80px" },
    { name: "At", help: "Where it is declared, or was allocated; press it for the source", text: (row) => place(row.file, row.line), draw: (row) => <Place file={row.file} line={row.line} />, width: "minmax(110px, 1fr)" },
  ];
  const keys = keysOf(rows);
  const chosen = rows.find((row) => keys.get(row) === chosenBuffer.value);
  const choose = (row: WireBuffer): void => {
    const key = keys.get(row) ?? null;
    chosenBuffer.value = key === chosenBuffer.value ? null : key;
  };
  return (
    <>
      <p class="muted">{percent(known / all)} of the bytes are known by their data; a message counts where it was sent from and where it was received into.</p>
      <Table label="buffers" rows={rows} columns={columns} sortedBy={6} height={10} onChoose={choose} isChosen={(row) => row === chosen} />
      {head.more_buffers > 0 ? <p class="muted">{counted(head.more_buffers, "more datum", "more data")} moved less.</p> : null}
      <Temporaries rows={rows} />
      {chosen === undefined ? null : <Pairs row={chosen} />}
    </>
  );
}

/** What names of data begin with that compilers make by themselves. */
const TEMPORARY = "temporary of ";
/** So many are told of. */
const FEW = 3;

/** What compilers copy for the sake of messages, and how it can do without. */
function Temporaries({ rows }: { readonly rows: readonly WireBuffer[] }): JSX.Element | null {
  const some = rows.filter((row) => row.name.startsWith(TEMPORARY)).slice(0, FEW);
  if (some.length === 0) return null;
  const way = (messages: number, moved: number, how: string): string[] => (messages === 0 ? [] : [`${counted(messages, "message")} with ${bytes(moved)} ${how} them`]);
  return (
    <ul class="data-pieces">
      {some.map((row, at) => (
        <li>
          Temporaries that the compiler makes: {[...way(row.sent, row.sent_bytes, "sent from"), ...way(row.received, row.received_bytes, "received into")].join(", ")}
          {at === 0 ? ". What is passed does not lie in one piece, so each call copies it: pass what does, or the array itself with a type such as MPI_Type_vector." : ", as above."} <Place file={row.file} line={row.line} />
        </li>
      ))}
    </ul>
  );
}

function nameOf(row: WireBuffer): string {
  return row.name === "" ? (row.kind === "" ? "messages without data" : `(${row.kind} without a name)`) : row.name;
}

/** What each is chosen by: its name, and behind that of others of this name which one of them it is. */
function keysOf(rows: readonly WireBuffer[]): ReadonlyMap<WireBuffer, string> {
  const seen = new Map<string, number>();
  return new Map(
    rows.map((row) => {
      const nth = (seen.get(nameOf(row)) ?? 0) + 1;
      seen.set(nameOf(row), nth);
      return [row, nth === 1 ? nameOf(row) : `${nameOf(row)}#${nth}`];
    }),
  );
}

type Pair = WireBuffer["pairs"][number];

/** Between whom. */
function Pairs({ row }: { readonly row: WireBuffer }): JSX.Element {
  const most = Math.max(...row.pairs.map(([, , moved]) => moved), 1);
  const columns: ReadonlyArray<Column<Pair>> = [
    { name: "From", help: "The sender; press a row for its messages in the timeline", text: ([from]) => processName(from), width: "minmax(100px, 1fr)" },
    { name: "To", help: "The receiver", text: ([, to]) => processName(to), width: "minmax(100px, 1fr)" },
    { name: "Data", help: "Bytes out of it or into it", text: ([, , moved]) => bytes(moved), value: ([, , moved]) => moved, bar: ([, , moved]) => moved / most, unit: "B", width: "120px" },
  ];
  const choose = ([from, to]: Pair): void => {
    chosenPair.value = { from: [from, from + 1], to: [to, to + 1] };
    view.value = "timeline";
  };
  return (
    <div class="data-pairs">
      <h2>Between whom the messages of {nameOf(row)} went</h2>
      <Table label="pairs of the data" rows={row.pairs} columns={columns} sortedBy={2} height={8} onChoose={choose} />
      {row.more_pairs > 0 ? <p class="muted">{counted(row.more_pairs, "more pair")} moved less.</p> : null}
    </div>
  );
}
