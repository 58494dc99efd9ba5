/**
 * A call tree as a table whose rows open and close: arrows move, open and close, * opens the way that took most time, Enter
 * chooses a region in all views.
 */
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";

import { count, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { chosenRegion } from "../../state/view.ts";
import { useArranged } from "../../widgets/table.tsx";
import { csvOf, Head, Tools } from "../../widgets/tools.tsx";
import type { CallNode } from "../../wire/report.ts";
import { colourOf } from "../colours.ts";
import type { Line } from "./nodes.ts";

const ROW = 23;
/** So many rows are seen at a time. */
const SEEN = 26;
/** More rows are not opened at once. */
const MOST = 5000;

interface Shown {
  readonly line: Line;
  readonly depth: number;
  /** Place of the row above it in the tree; -1 = none. */
  readonly parent: number;
}

export interface TreeProps {
  readonly name: string;
  readonly lines: readonly Line[];
  /** What all of it took, ns. */
  readonly total: number;
  /** Whether rows beneath are callers. */
  readonly isUpward: boolean;
}

/** What rows beneath the same are sorted by: a text, or a number, of which the largest comes first. */
interface TreeColumn {
  readonly name: string;
  readonly help: string;
  readonly value: ((line: Line) => number) | null;
}

function columnsOf(isUpward: boolean): readonly TreeColumn[] {
  return [
    { name: isUpward ? "Function or region, and who called it" : "Function or region", help: isUpward ? "Those with most time of their own; beneath each who called it" : "The outermost first; beneath each what it called", value: null },
    { name: isUpward ? "Time" : "Inclusive", help: isUpward ? "Time of the first row's own that was spent on this way, of all locations together" : "Time of it and of all beneath it, of all locations together", value: (line) => line.inclusive },
    { name: "Exclusive", help: "Time of its own, without what is beneath it", value: (line) => line.exclusive },
    { name: "Share", help: "Of the time of all rows", value: (line) => line.inclusive },
    { name: "Visits", help: "How often a region was entered; functions are not counted", value: (line) => (line.kind === "region" ? line.calls : -1) },
  ];
}

/** By the name of the tree, keys of the rows that are open. */
const opened = signal<Readonly<Record<string, ReadonlySet<string>>>>({});

export function Tree({ name, lines, total, isUpward }: TreeProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const at = useSignal(0);
  const scrolled = useSignal(0);
  const columns = useMemo(() => columnsOf(isUpward), [isUpward]);
  const kept = useArranged(name, { column: columns[1]?.name ?? "", isUp: false });
  const by = columns.find((column) => column.name === kept.sorting.column) ?? columns[1];
  const isUp = by?.name === kept.sorting.column && kept.sorting.isUp;
  // At first the way that took most time is open.
  const open = opened.value[name] ?? heaviestOf(lines[0], new Set());
  const words = kept.filter.toLowerCase();
  const rows = useMemo(() => shownOf(lines, open, words, orderOf(by, isUp)), [lines, open, words, by, isUp]);
  const setOpen = (next: ReadonlySet<string>): void => {
    opened.value = { ...opened.peek(), [name]: next };
  };
  const toggle = ({ line }: Shown, isOpen: boolean): void => {
    const next = new Set(open);
    if (isOpen) next.add(line.key);
    else next.delete(line.key);
    setOpen(next);
  };
  const isOpen = ({ line }: Shown): boolean => words !== "" || open.has(line.key);
  const goTo = (place: number): void => {
    at.value = Math.max(0, Math.min(place, rows.length - 1));
    const [top, element] = [at.value * ROW, box.current];
    if (element === null) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + element.clientHeight) element.scrollTop = top + ROW - element.clientHeight;
    requestAnimationFrame(() => element.querySelector<HTMLElement>("[tabindex='0']")?.focus());
  };
  const heaviest = (from: Line | undefined): void => {
    setOpen(heaviestOf(from, open));
  };
  const press = (event: KeyboardEvent): void => {
    const row = rows[at.value];
    if (row === undefined) return;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(at.value + 1),
      ArrowUp: () => goTo(at.value - 1),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      ArrowRight: () => (row.line.hasMore && !isOpen(row) ? toggle(row, true) : goTo(at.value + 1)),
      ArrowLeft: () => (isOpen(row) && row.line.hasMore ? toggle(row, false) : row.parent >= 0 ? goTo(row.parent) : undefined),
      "*": () => heaviest(row.line),
      Enter: () => choose(row.line.node),
    };
    const act = acts[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const first = Math.max(0, Math.min(Math.floor(scrolled.value / ROW) - 1, rows.length - SEEN));
  const most = lines.reduce((all, line) => Math.max(all, line.inclusive), 1);
  return (
    <div class="table tree">
      <Tools
        label={name}
        filter={kept.filter}
        setFilter={kept.setFilter}
        filterHelp="Only functions and regions that have this in their names, and what leads to them"
        told={`${rows.length} rows`}
        which="the rows that are open, with their depths,"
        csv={() => csv(rows, columns, total)}
      >
        <button type="button" onClick={() => heaviest(lines[0])} title="Open the way that took most time (*)">
          Open the heaviest
        </button>
        <button type="button" onClick={() => setOpen(new Set())} title="Close all rows">
          Close all
        </button>
      </Tools>
      <div role="treegrid" aria-label={name} aria-rowcount={rows.length + 1}>
        <div role="row" class="table-head tree-row">
          {columns.map((column) => (
            <Head
              name={column.name}
              help={column.help}
              isNumber={column.value !== null}
              isUp={column === by ? isUp : null}
              sort={() => kept.sort({ column: column.name, isUp: column === by ? !isUp : column.value === null })}
            />
          ))}
        </div>
        <div ref={box} class="table-body tree-body" role="rowgroup" style={{ maxHeight: `${SEEN * ROW}px` }} onScroll={(event) => (scrolled.value = event.currentTarget.scrollTop)} onKeyDown={press}>
          <div role="presentation" style={{ height: `${rows.length * ROW}px`, position: "relative" }}>
            {rows.slice(first, first + SEEN + 3).map((row, place) => (
              <TreeRow key={row.line.key} row={row} top={(first + place) * ROW} number={first + place} isOpen={isOpen(row)} isHere={first + place === at.value} total={total} most={most} toggle={() => toggle(row, !isOpen(row))} here={() => (at.value = first + place)} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

/** Keys of what is open, and of the way from a line down that took most time. */
function heaviestOf(from: Line | undefined, open: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set(open);
  for (let line = from; line !== undefined; line = line.beneath()[0]) if (line.hasMore) found.add(line.key);
  return found;
}

interface RowProps {
  readonly row: Shown;
  readonly top: number;
  readonly number: number;
  readonly isOpen: boolean;
  readonly isHere: boolean;
  readonly total: number;
  readonly most: number;
  readonly toggle: () => void;
  readonly here: () => void;
}

function TreeRow({ row, top, number, isOpen, isHere, total, most, toggle, here }: RowProps): JSX.Element {
  const { line, depth } = row;
  const region = regionOf(line.node);
  const isChosen = region !== null && region === chosenRegion.value;
  return (
    <div
      role="row"
      aria-level={depth + 1}
      aria-rowindex={number + 2}
      aria-expanded={line.hasMore ? isOpen : undefined}
      tabIndex={isHere ? 0 : -1}
      class={`table-row tree-row ${isChosen ? "table-chosen" : ""} ${region === null ? "" : "table-link"}`}
      style={{ top: `${top}px` }}
      onFocus={here}
      onClick={() => choose(line.node)}
      onDblClick={toggle}
    >
      <div role="gridcell" class="tree-name" style={{ paddingLeft: `${8 + depth * 14}px` }} title={`${line.name}${line.place === "" ? "" : `, called at ${line.place}`}`}>
        {line.hasMore ? (
          <span
            class="tree-sign"
            aria-hidden="true"
            onClick={(event) => {
              event.stopPropagation();
              toggle();
            }}
          >
            {isOpen ? "▾" : "▸"}
          </span>
        ) : (
          <span class="tree-sign" />
        )}
        {region === null ? null : <span class="states-colour" style={{ background: colourOf.value(region) }} />}
        <code class={line.kind === "region" ? "tree-region" : ""}>{line.name}</code>
        <span class="muted mono tree-place">{line.place}</span>
      </div>
      <div role="gridcell" class="table-number">
        <span class="table-bar" style={{ width: `${Math.round((line.inclusive / most) * 100)}%` }} />
        <span>{duration(line.inclusive)}</span>
      </div>
      <div role="gridcell" class="table-number">
        {line.exclusive > 0 ? duration(line.exclusive) : ""}
      </div>
      <div role="gridcell" class="table-number">
        {percent(line.inclusive / Math.max(total, 1))}
      </div>
      <div role="gridcell" class="table-number">
        {line.kind === "region" ? count(line.calls) : ""}
      </div>
    </div>
  );
}

/** The number that the timeline has for it; `null` = it is none. */
export function regionOf({ kind, level, verb, noun }: CallNode): number | null {
  if (kind !== "region") return null;
  const head = run.value;
  const place = head?.regions.findIndex((it) => it.verb === verb && it.noun === noun && head.levels[it.level] === level) ?? -1;
  return place < 0 ? null : place;
}

function choose(node: CallNode): void {
  const region = regionOf(node);
  if (region !== null) chosenRegion.value = chosenRegion.value === region ? null : region;
}

/** Rows beneath the same by a column; as they are, that with most time stands first. */
function orderOf(column: TreeColumn | undefined, isUp: boolean): (lines: readonly Line[]) => readonly Line[] {
  const sign = isUp ? 1 : -1;
  const value = column?.value ?? null;
  if (value === null) return (lines) => [...lines].sort((a, b) => sign * a.name.localeCompare(b.name));
  return (lines) => [...lines].sort((a, b) => sign * (value(a) - value(b)));
}

/** Rows that are seen: those of open ones, or, if something is looked for, what leads to it. */
function shownOf(lines: readonly Line[], open: ReadonlySet<string>, words: string, ordered: (lines: readonly Line[]) => readonly Line[]): readonly Shown[] {
  const rows: Shown[] = [];
  const add = (all: readonly Line[], depth: number, parent: number): boolean => {
    let isAny = false;
    for (const line of ordered(all)) {
      if (rows.length >= MOST) return isAny;
      const place = rows.length;
      rows.push({ line, depth, parent });
      if (words === "") {
        if (open.has(line.key)) add(line.beneath(), depth + 1, place);
        continue;
      }
      // Callers of what is found need not be opened.
      const isIt = line.name.toLowerCase().includes(words);
      const isBeneath = depth < 64 && add(line.beneath(), depth + 1, place);
      if (isIt || isBeneath) isAny = true;
      else rows.length = place;
    }
    return isAny;
  };
  add(lines, 0, -1);
  return rows;
}

function csv(rows: readonly Shown[], columns: readonly TreeColumn[], total: number): string {
  const [, inclusive] = columns;
  const head = ["Depth", "Name", "Called at", "Kind", `${inclusive?.name ?? ""} ns`, "Exclusive ns", "Share %", "Visits"];
  const body = rows.map(({ line, depth }) => [depth, line.name, line.place, line.kind, line.inclusive, line.exclusive, (line.inclusive / Math.max(total, 1)) * 100, line.kind === "region" ? line.calls : NaN]);
  return csvOf([head, ...body]);
}
