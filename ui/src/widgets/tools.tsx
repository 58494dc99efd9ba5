/** What stands above a table: a field that rows are filtered by, how many there are, and all of them as CSV, to paste or as a file. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";

import { download } from "../base/files.ts";

export interface ToolsProps {
  readonly label: string;
  readonly filter: string;
  readonly setFilter: (words: string) => void;
  /** What is looked for in which rows. */
  readonly filterHelp: string;
  /** How many rows there are, in words. */
  readonly told: string;
  /** Which rows are copied and saved. */
  readonly which: string;
  readonly csv: () => string;
  readonly children?: ComponentChildren;
}

export function Tools({ label, filter, setFilter, filterHelp, told, which, csv, children }: ToolsProps): JSX.Element {
  const copied = useSignal("");
  const copy = (): void => {
    void navigator.clipboard.writeText(csv()).then(
      () => (copied.value = "copied"),
      () => (copied.value = "the browser does not allow it"),
    );
  };
  const save = (): void => download(new Blob([csv()], { type: "text/csv" }), `${label.replaceAll(" ", "-")}.csv`);
  return (
    <div class="table-tools">
      <input type="search" placeholder="Filter" aria-label={`Filter ${label}`} title={filterHelp} value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
      {children}
      <span class="muted">{told}</span>
      <span class="table-copy">
        <span class="muted" role="status">
          {copied}
        </span>
        <button type="button" onClick={copy} title={`Copy ${which} as CSV, numbers exact, with their units in the first line`}>
          Copy CSV
        </button>
        <button type="button" onClick={save} title={`Save ${which} as a CSV file, numbers exact, with their units in the first line`}>
          Save
        </button>
      </span>
    </div>
  );
}

/** What a spreadsheet would compute, even between quotes. */
const FORMULA = /^[=+\-@\t\r]/;

/** Its lines, from cells: numbers as they are, texts between quotes; what is not a number is not known, and empty. Names in a run are nobody's formulas: an apostrophe says so. */
export function csvOf(rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const quoted = (it: string): string => `"${FORMULA.test(it) ? "'" : ""}${it.replaceAll('"', '""')}"`;
  const cell = (it: string | number): string => (typeof it === "string" ? quoted(it) : Number.isNaN(it) ? "" : String(it));
  return rows.map((row) => row.map(cell).join(",")).join("\n");
}

export interface HeadProps {
  readonly name: string;
  readonly help: string;
  readonly isNumber: boolean;
  /** Which way it is sorted by it; `null` = it is not. */
  readonly isUp: boolean | null;
  readonly sort: () => void;
}

/** The head of a column, which is pressed to sort by it. */
export function Head({ name, help, isNumber, isUp, sort }: HeadProps): JSX.Element {
  return (
    <div role="columnheader" aria-sort={isUp === null ? "none" : isUp ? "ascending" : "descending"}>
      <button type="button" class={`plain ${isNumber ? "table-number" : ""}`} title={help} onClick={sort}>
        {name}
        {isUp === null ? "" : isUp ? " ▴" : " ▾"}
      </button>
    </div>
  );
}
