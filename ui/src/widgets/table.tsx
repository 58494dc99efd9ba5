/**
 * A table that can be sorted, filtered and copied, of any length: only rows that are seen are in the page.
 *
 * Knows no run; who uses it says what columns mean.
 */
import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { count, counted } from "../base/format.ts";
import "./table.css";

export interface Column<Row> {
  readonly name: string;
  /** What it means and in which unit. */
  readonly help: string;
  readonly text: (row: Row) => string;
  /** What it is as a number, and sorted by; without, it is sorted by the text. */
  readonly value?: (row: Row) => number;
  /** What it is sorted by, if not by that number. */
  readonly order?: (row: Row) => number;
  /** A bar behind the text, 0 to 1. */
  readonly bar?: (row: Row) => number;
  /** What is drawn in the place of the text. */
  readonly draw?: (row: Row) => JSX.Element;
  /** Of a difference, which way it goes: a colour beside its sign. */
  readonly tone?: (row: Row) => "more" | "less" | null;
  /** How wide, as CSS grid says it. */
  readonly width: string;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: ReadonlyArray<Column<Row>>;
  /** Number of the column that it is sorted by at first, the largest first. */
  readonly sortedBy: number;
  /** Whether the smallest come first then. */
  readonly isUp?: boolean;
  readonly onChoose?: (row: Row) => void;
  readonly isChosen?: (row: Row) => boolean;
  /** How many rows are seen at a time, at most. */
  readonly height: number;
}

const ROW = 25;

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const sort = useSignal({ column: props.sortedBy, isUp: props.isUp === true });
  const filter = useSignal("");
  const scrolled = useSignal(0);
  const sortBy = (column: number): void => {
    const now = sort.value;
    sort.value = { column, isUp: now.column === column ? !now.isUp : props.columns[column]?.value === undefined };
  };
  const rows = sorted(filtered(props.rows, props.columns, filter.value), props.columns, sort.value);
  const seen = Math.min(rows.length, props.height);
  const first = Math.max(0, Math.min(Math.floor(scrolled.value / ROW), rows.length - seen));
  const grid = { gridTemplateColumns: props.columns.map((column) => column.width).join(" ") };
  // Narrower it would not be readable; then it is scrolled sideways.
  const least = { minWidth: `${props.columns.reduce((sum, column) => sum + Number(/\d+/.exec(column.width)?.[0] ?? 0) + 12, 12)}px` };
  const copied = useSignal("");
  const copy = (): void => {
    void navigator.clipboard.writeText(csv(rows, props.columns)).then(
      () => (copied.value = "copied"),
      () => (copied.value = "the browser does not allow it"),
    );
  };
  const tools = useComputed(() => copied.value);
  return (
    <div class={rows.length > seen ? "table table-long" : "table"}>
      <div class="table-tools">
        <input
          type="search"
          placeholder="Filter"
          aria-label={`Filter ${props.label}`}
          title="Only rows that have this text in some column"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
        <span class="muted">{rows.length === props.rows.length ? counted(rows.length, "row") : `${count(rows.length)} of ${counted(props.rows.length, "row")}`}</span>
        <button type="button" onClick={copy} title="Copy all rows as CSV">
          Copy CSV
        </button>
        <span class="muted" role="status">{tools}</span>
      </div>
      <div role="table" aria-label={props.label} aria-rowcount={rows.length + 1}>
        <div role="row" class="table-head" style={{ ...grid, ...least }}>
          {props.columns.map((column, number) => (
            <div role="columnheader" aria-sort={sort.value.column === number ? (sort.value.isUp ? "ascending" : "descending") : "none"}>
              <button type="button" class={`plain ${column.value === undefined ? "" : "table-number"}`} title={column.help} onClick={() => sortBy(number)}>
                {column.name}
                {sort.value.column === number ? (sort.value.isUp ? " ▴" : " ▾") : ""}
              </button>
            </div>
          ))}
        </div>
        <div
          class="table-body"
          role="rowgroup"
          tabIndex={0}
          aria-label={`Rows of ${props.label}`}
          style={{ maxHeight: `${Math.max(seen, 1) * ROW + 2}px`, ...least }}
          onScroll={(event) => (scrolled.value = event.currentTarget.scrollTop)}
        >
          <div role="presentation" style={{ height: `${rows.length * ROW}px`, position: "relative" }}>
            {rows.slice(first, first + seen + 2).map((row, place) => (
              <TableRow key={first + place} row={row} number={first + place} grid={grid} props={props} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** How wide a bar is, parts of a hundred. One of a pixel would be read as a comma. */
function widthOf(share: number): number {
  const LEAST = 2;
  const width = Math.round(Math.min(Math.max(share, 0), 1) * 100);
  return width < LEAST ? 0 : width;
}

interface TableRowProps<Row> {
  readonly row: Row;
  readonly number: number;
  readonly grid: { readonly gridTemplateColumns: string };
  readonly props: TableProps<Row>;
}

function TableRow<Row>({ row, number, grid, props }: TableRowProps<Row>): JSX.Element {
  const choose = props.onChoose;
  const isChosen = props.isChosen?.(row) ?? false;
  return (
    <div
      role="row"
      aria-rowindex={number + 2}
      class={`table-row ${isChosen ? "table-chosen" : ""} ${choose === undefined ? "" : "table-link"}`}
      style={{ ...grid, top: `${number * ROW}px` }}
      onClick={() => choose?.(row)}
    >
      {props.columns.map((column, place) => (
        <div role="cell" class={`${column.value === undefined ? "table-text" : "table-number"} ${toneOf(column, row)}`} title={column.draw === undefined ? column.text(row) : undefined}>
          {column.bar === undefined ? null : (
            <span class="table-bar" style={{ width: `${widthOf(column.bar(row))}%` }} />
          )}
          {column.draw !== undefined ? (
            column.draw(row)
          ) : place === 0 && choose !== undefined ? (
            <button type="button" class="plain">
              {column.text(row)}
            </button>
          ) : (
            <span>{column.text(row)}</span>
          )}
        </div>
      ))}
    </div>
  );
}

function toneOf<Row>(column: Column<Row>, row: Row): string {
  const tone = column.tone?.(row) ?? null;
  return tone === null ? "" : `table-${tone}`;
}

function filtered<Row>(rows: readonly Row[], columns: ReadonlyArray<Column<Row>>, filter: string): readonly Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = columns.map((column) => column.text(row)).join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function sorted<Row>(
  rows: readonly Row[],
  columns: ReadonlyArray<Column<Row>>,
  sort: { readonly column: number; readonly isUp: boolean },
): readonly Row[] {
  const column = columns[sort.column];
  if (column === undefined) return rows;
  const sign = sort.isUp ? 1 : -1;
  const { text } = column;
  const value = column.order ?? column.value;
  // Two that are infinite are equal.
  if (value !== undefined) return [...rows].sort((a, b) => sign * (value(a) - value(b) || 0));
  return [...rows].sort((a, b) => sign * text(a).localeCompare(text(b)));
}

/** Numbers as they are, texts between quotes. */
function csv<Row>(rows: readonly Row[], columns: ReadonlyArray<Column<Row>>): string {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const cell = (row: Row, column: Column<Row>): string =>
    column.value === undefined ? quoted(column.text(row)) : String(column.value(row));
  const head = columns.map((column) => quoted(column.name)).join(",");
  return [head, ...rows.map((row) => columns.map((column) => cell(row, column)).join(","))].join("\n");
}
