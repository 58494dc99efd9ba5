/** The messages that are drawn in the span, one by one or as many as a line stands for. */
import type { JSX } from "preact";

import { bytes, count, counted } from "../../../base/format.ts";
import { duration, instant } from "../../../base/time.ts";
import { goToMessage, isChosenMessage } from "../../../state/message.ts";
import { run } from "../../../state/run.ts";
import { toldSpan } from "../../../state/told.ts";
import { isMeantMessage } from "../../../state/traffic.ts";
import { layers, toggleLayer, type ChosenMessage } from "../../../state/view.ts";
import { eachMessage } from "../../../tracks/messages.ts";
import { Table, type Column } from "../../../widgets/table.tsx";
import { Coming } from "../../lost.tsx";
import { messageOf } from "../arrows.ts";
import { picture } from "../fetch.ts";
import { layout } from "../place.ts";

export function MessagesTwin(): JSX.Element {
  const [head, shown] = [run.value, picture.value];
  if (!layers.value.messages) {
    return (
      <p class="hush">
        Messages are not shown.{" "}
        <button type="button" onClick={() => toggleLayer("messages")}>
          Show them (m)
        </button>
      </p>
    );
  }
  if (head?.left_out.includes("messages") === true) return <p class="hush">This page holds no messages.</p>;
  if (head === null || shown === null || shown.messages === null) return <Coming what="The messages are being read" />;
  if (shown.numberOfMessages === null) return <p class="hush">There are too many messages to list them; zoom in.</p>;
  const all = shown.messages;
  const rows: ChosenMessage[] = [];
  eachMessage(all, { layout: layout.value, isMeant: isMeantMessage.value }, toldSpan.value, (at) => rows.push(messageOf(all, at)));
  const nameOf = (location: number): string => head.locations[location]?.name ?? "";
  const isMany = rows.some((row) => row.number > 1);
  const number: Column<ChosenMessage> = { name: "Number", help: "How many messages one line stands for; their times are means, their data a sum", text: (row) => count(row.number), value: (row) => row.number, width: "80px" };
  const columns: ReadonlyArray<Column<ChosenMessage>> = [
    { name: "From", help: "Who sent it; press a row to see all about it", text: (row) => nameOf(row.from), order: (row) => row.from, width: "minmax(80px, 1fr)" },
    { name: "To", help: "Who received it", text: (row) => nameOf(row.to), order: (row) => row.to, width: "minmax(80px, 1fr)" },
    ...(isMany ? [number] : []),
    { name: "Sent", help: "When the call that sent it was entered", text: (row) => instant(row.sent), value: (row) => row.sent, unit: "ns", width: "150px" },
    { name: "Received", help: "When the call that completed its receive was left", text: (row) => instant(row.received), value: (row) => row.received, unit: "ns", width: "150px" },
    { name: "On its way", help: "From there to here", text: (row) => duration(row.received - row.sent), value: (row) => row.received - row.sent, unit: "ns", width: "100px" },
    { name: "Data", help: "What it held, bytes", text: (row) => bytes(row.bytes), value: (row) => row.bytes, unit: "B", width: "90px" },
    ...(isMany ? [] : [{ name: "Tag", help: "Of the message; – = not known", text: (row: ChosenMessage) => String(row.tag ?? "–"), value: (row: ChosenMessage) => row.tag ?? NaN, width: "60px" }]),
  ];
  return (
    <>
      {shown.messagesNotDrawn > 0 ? <p class="muted">{counted(shown.messagesNotDrawn, "message")} of pairs that talk less are neither drawn nor listed; zoom in to have them.</p> : null}
      <Table label="messages in the span" rows={rows} columns={columns} sortedBy={isMany ? 5 : 4} height={40} onChoose={goToMessage} isChosen={isChosenMessage} />
    </>
  );
}
