/** Who sent how much to whom, and in which sizes. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count } from "../../base/format.ts";
import { processName, report, run } from "../../state/run.ts";
import { chosenLocations, view } from "../../state/view.ts";
import type { PairRow, SizeRow } from "../../wire/report.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import "./communication.css";

const by = signal<"bytes" | "messages">("bytes");

export function Communication(): JSX.Element {
  const text = report.value;
  if (text === null) return <p class="hush">The report is being made …</p>;
  const pairs = text.communication ?? [];
  if (pairs.length === 0) return <p class="hush">No messages were recorded in this run.</p>;
  return (
    <div class="sheet">
      <section>
        <h2>Matrix — rows send, columns receive; a cell chooses its two ranks</h2>
        <p>
          <button type="button" aria-pressed={by.value === "bytes"} title="Cells are coloured by the data that was sent, bytes" onClick={() => (by.value = "bytes")}>
            Bytes
          </button>{" "}
          <button type="button" aria-pressed={by.value === "messages"} title="Cells are coloured by the number of messages" onClick={() => (by.value = "messages")}>
            Messages
          </button>
        </p>
        <Matrix rows={pairs} />
        <p class="muted">
          <span class="matrix-legend" aria-hidden="true" /> from the least to the most, on a logarithmic scale
        </p>
      </section>
      <section>
        <h2>Pairs</h2>
        <Pairs rows={pairs} />
      </section>
      <section>
        <h2>Sizes of messages</h2>
        <Sizes rows={text.message_sizes ?? []} />
      </section>
    </div>
  );
}

/** More processes than this have a table only. */
const MOST = 128;

function Matrix({ rows }: { readonly rows: readonly PairRow[] }): JSX.Element {
  const processes = [...new Set(rows.flatMap((row) => [row.from, row.to]))].sort((a, b) => a - b);
  if (processes.length > MOST) return <p class="muted">{`${processes.length} processes are more than a matrix shows; the pairs are below.`}</p>;
  const value = (row: PairRow): number => (by.value === "bytes" ? row.bytes : row.messages);
  const least = Math.log(Math.max(1, Math.min(...rows.map(value))));
  const range = Math.max(Math.log(Math.max(...rows.map(value), 1)) - least, 1e-9);
  const size = Math.max(7, Math.min(52, Math.floor(620 / processes.length)));
  const place = new Map(processes.map((process, number) => [process, number]));
  const [edge, top] = [92, 26];
  const inner = processes.length * size;
  return (
    <svg class="matrix" width={edge + inner + 2} height={top + inner + 2} role="img" aria-label="Matrix of who sent how much to whom; the same numbers stand in the table of pairs">
      {processes.map((process, number) =>
        size < 12 && number % 8 !== 0 ? null : (
          <g>
            <text x={edge - 6} y={top + number * size + size / 2} text-anchor="end" dominant-baseline="middle">
              {processName(process).replace("rank ", "")}
            </text>
            <text x={edge + number * size + size / 2} y={top - 8} text-anchor="middle">
              {processName(process).replace("rank ", "")}
            </text>
          </g>
        ),
      )}
      <text x={0} y={top - 8}>
        from ↓ to →
      </text>
      <rect x={edge} y={top} width={inner} height={inner} class="matrix-ground" />
      {rows.map((row) => (
        <rect
          x={edge + (place.get(row.to) ?? 0) * size + 0.5}
          y={top + (place.get(row.from) ?? 0) * size + 0.5}
          width={size - 1}
          height={size - 1}
          rx={2}
          class="matrix-cell"
          style={{ fillOpacity: String(0.15 + 0.85 * ((Math.log(Math.max(value(row), 1)) - least) / range)) }}
          onClick={() => choose(row)}
        >
          <title>{`${processName(row.from)} → ${processName(row.to)}: ${count(row.messages)} messages, ${bytes(row.bytes)}`}</title>
        </rect>
      ))}
    </svg>
  );
}

function choose(row: PairRow): void {
  const locations = run.value?.locations ?? [];
  chosenLocations.value = locations.flatMap((it, place) => (it.process === row.from || it.process === row.to ? [place] : []));
  view.value = "timeline";
}

function Pairs({ rows }: { readonly rows: readonly PairRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.bytes), 1);
  const columns: ReadonlyArray<Column<PairRow>> = [
    { name: "From", help: "Sender", text: (row) => processName(row.from), width: "minmax(110px, 1fr)" },
    { name: "To", help: "Receiver", text: (row) => processName(row.to), width: "minmax(110px, 1fr)" },
    { name: "Messages", help: "Number of messages", text: (row) => count(row.messages), value: (row) => row.messages, width: "110px" },
    { name: "Data", help: "Bytes together", text: (row) => bytes(row.bytes), value: (row) => row.bytes, bar: (row) => row.bytes / most, width: "120px" },
    { name: "Mean size", help: "Bytes of a message on average", text: (row) => bytes(Math.round(row.bytes / Math.max(row.messages, 1))), value: (row) => row.bytes / Math.max(row.messages, 1), width: "110px" },
  ];
  return <Table label="pairs of processes" rows={rows} columns={columns} sortedBy={3} height={14} onChoose={choose} />;
}

function Sizes({ rows }: { readonly rows: readonly SizeRow[] }): JSX.Element {
  const most = Math.max(...rows.map((row) => row.messages), 1);
  const columns: ReadonlyArray<Column<SizeRow>> = [
    { name: "Size from", help: "Smallest size of the class", text: (row) => bytes(row.from_bytes), value: (row) => row.from_bytes, width: "110px" },
    { name: "below", help: "Sizes of the class are smaller than this", text: (row) => bytes(row.to_bytes), value: (row) => row.to_bytes, width: "110px" },
    { name: "Messages", help: "Number of messages", text: (row) => count(row.messages), value: (row) => row.messages, bar: (row) => row.messages / most, width: "minmax(120px, 2fr)" },
    { name: "Data", help: "Bytes together", text: (row) => bytes(row.bytes), value: (row) => row.bytes, width: "120px" },
  ];
  return <Table label="sizes of messages" rows={rows} columns={columns} sortedBy={2} height={16} />;
}
