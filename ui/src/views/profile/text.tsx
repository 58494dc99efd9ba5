/** The profile of one location as a text, to be put into a letter or a report. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

export interface TextRow {
  readonly name: string;
  /** ns; of visits. */
  readonly exclusive: number;
  readonly inclusive: number;
  readonly visits: number;
}

/** Columns as wide as their widest number; ms and, a visit, µs. */
export function textOf(title: string, rows: readonly TextRow[]): string {
  const total = rows.reduce((sum, row) => sum + row.exclusive, 0);
  const sorted = [...rows].sort((a, b) => b.exclusive - a.exclusive);
  const head = ["%time", "exclusive ms", "inclusive ms", "visits", "us/visit", "name"];
  const cells = sorted.map((row) => [
    ((row.exclusive / Math.max(total, 1)) * 100).toFixed(1),
    (row.exclusive / 1e6).toFixed(3),
    (row.inclusive / 1e6).toFixed(3),
    String(row.visits),
    (row.inclusive / 1e3 / Math.max(row.visits, 1)).toFixed(3),
    row.name,
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => (column === head.length - 1 ? cell : cell.padStart(widths[column] ?? 0))).join("  ");
  return [title, "", line(head), ...cells.map(line)].join("\n");
}

export function AsText({ text }: { readonly text: string }): JSX.Element {
  const said = useSignal("");
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(
      () => (said.value = "copied"),
      () => (said.value = "the browser does not allow it"),
    );
  };
  return (
    <details class="profile-text">
      <summary title="The same as a text; press to open or close">As text</summary>
      <p class="profile-ways">
        <button type="button" title="Copy the text" onClick={copy}>
          Copy
        </button>
        <span class="muted" role="status">
          {said}
        </span>
      </p>
      <pre class="mono" tabIndex={0}>
        {text}
      </pre>
    </details>
  );
}
