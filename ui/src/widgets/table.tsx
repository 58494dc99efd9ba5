/**
 * A table that can be sorted, filtered and copied, of any length: only rows that are seen are in the page.
 *
 * Knows no run; who uses it says what columns mean, and whoever has the page keeps how its tables stand. Rows are put in order anew
 * when they or their columns are others: what columns tell depends on nothing else that changes.
 */
import { useSignal } from "@preact/signals";
import { createContext, type JSX } from "preact";
import { useContext, useMemo } from "preact/hooks";

import { count, counted } from "../base/format.ts";
import type { Keeper, Sorting } from "../base/sorting.ts";
import "./table.css";
import { csvOf, Head, Tools } from "./tools.tsx";

/** Who keeps how tables stand. */
export const TableKeeper = createContext<Keeper | null>(null);

export type Parts<Row> = ReadonlyArray<readonly [name: string, of: (row: Row) => string | number]>;

export interface Column<Row> {
  readonly name: string;
  /** What it means and in which unit. */
  readonly help: string;
  readonly text: (row: Row) => string;
  /** What it is as a number, and sorted by; without, it is sorted by the text. Not a number = not known. */
  readonly value?: (row: Row) => number;
  /** In which unit that number is; without, it counts something. Of `%` the number is a share of one. */
  readonly unit?: "ns" | "B" | "%";
  /** What stands in CSV, if that is more than one thing: the names of columns and what each has. */
  readonly parts?: Parts<Row>;
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

/** How the table of a label stands, and what changes that. */
export function useArranged(label: string, usual: Sorting): { readonly sorting: Sorting; readonly filter: string; readonly sort: (next: Sorting) => void; readonly setFilter: (words: string) => void } {
  const keeper = useContext(TableKeeper);
  if (keeper === null) throw new Error("somebody keeps how tables stand");
  const isUsual = (it: Sorting): boolean => it.column === usual.column && it.isUp === usual.isUp;
  return {
    sorting: keeper.sorting(label) ?? usual,
    filter: keeper.filter(label),
    sort: (next) => keeper.sort(label, isUsual(next) ? null : next),
    setFilter: (words) => keeper.setFilter(label, words),
  };
}

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { columns, label } = props;
  const usual = columns[props.sortedBy];
  const kept = useArranged(label, { column: usual?.name ?? "", isUp: props.isUp === true });
  // What it was sorted by may be gone: some columns are only there with some rows.
  const chosen = columns.find((column) => column.name === kept.sorting.column);
  const [by, isUp] = chosen === undefined ? [usual, props.isUp === true] : [chosen, kept.sorting.isUp];
  const scrolled = useSignal(0);
  const sortBy = (column: Column<Row>): void => kept.sort({ column: column.name, isUp: column === by ? !isUp : column.value === undefined });
  // It is drawn anew whenever it is scrolled.
  const rows = useMemo(() => sorted(filtered(props.rows, columns, kept.filter), by, isUp), [props.rows, columns, kept.filter, by, isUp]);
  const seen = Math.min(rows.length, props.height);
  const first = Math.max(0, Math.min(Math.floor(scrolled.value / ROW), rows.length - seen));
  const grid = { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
  // Narrower it would not be readable; then it is scrolled sideways.
  const least = { minWidth: `${columns.reduce((sum, column) => sum + Number(/\d+/.exec(column.width)?.[0] ?? 0) + 12, 12)}px` };
  return (
    <div class={rows.length > seen ? "table table-long" : "table"}>
      <Tools
        label={label}
        filter={kept.filter}
        setFilter={kept.setFilter}
        filterHelp="Only rows that have all these words, each in some column"
        told={rows.length === props.rows.length ? counted(rows.length, "row") : `${count(rows.length)} of ${counted(props.rows.length, "row")}`}
        which="all rows that are left"
        csv={() => csv(rows, columns)}
      />
      <div role="table" aria-label={props.label} aria-rowcount={rows.length + 1}>
        <div role="row" class="table-head" style={{ ...grid, ...least }}>
          {columns.map((column) => (
            <Head name={column.name} help={column.help} isNumber={column.value !== undefined} isUp={column === by ? isUp : null} sort={() => sortBy(column)} />
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
  const words = plain(filter).split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = plain(columns.map((column) => column.text(row)).join(" "));
    return words.every((word) => text.includes(word));
  });
}

/** In small letters, and without what keeps names apart that are read from right to left: nobody writes that. */
function plain(text: string): string {
  return text.toLowerCase().replace(/[\u2066\u2069]/g, "");
}

/** Each row is asked once for what it is sorted by, which may be long to compute. */
function sorted<Row>(rows: readonly Row[], column: Column<Row> | undefined, isUp: boolean): readonly Row[] {
  if (column === undefined) return rows;
  const sign = isUp ? 1 : -1;
  const of = column.order ?? column.value;
  if (of === undefined) {
    const texts = rows.map((row) => ({ row, key: column.text(row) }));
    return texts.sort((a, b) => sign * a.key.localeCompare(b.key)).map(({ row }) => row);
  }
  const numbers = rows.map((row) => ({ row, key: of(row) }));
  // What is not known is less than all that is.
  for (const it of numbers) if (Number.isNaN(it.key)) it.key = -Infinity;
  // Two that are infinite are equal.
  return numbers.sort((a, b) => sign * (a.key - b.key || 0)).map(({ row }) => row);
}

function csv<Row>(rows: readonly Row[], columns: ReadonlyArray<Column<Row>>): string {
  const parts = columns.flatMap(partsOf);
  return csvOf([parts.map(([name]) => name), ...rows.map((row) => parts.map(([, of]) => of(row)))]);
}

/** The columns that a column has in CSV. */
function partsOf<Row>({ name, text, value, unit, parts }: Column<Row>): Parts<Row> {
  if (parts !== undefined) return parts;
  if (value === undefined) return [[name, text]];
  return [[unit === undefined ? name : `${name} ${unit}`, unit === "%" ? (row) => value(row) * 100 : value]];
}
