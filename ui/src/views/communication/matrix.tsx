/** Who sent how much to whom: rows send, columns receive. Arrow keys go from cell to cell. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { bytes, count, short } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { processesName, run } from "../../state/run.ts";
import { processRange, shownProcesses, type CellMeasure, type MatrixCell, type Range, type TrafficSums } from "../../state/traffic.ts";
import { chosenMessage, chosenPair } from "../../state/view.ts";

/** How what a cell shows is written. */
export const WRITTEN: Readonly<Record<CellMeasure, (value: number) => string>> = { bytes, messages: short, time: duration };

/** Beside and above the cells, px. */
const [EDGE, TOP] = [64, 28];
/** Cells are at least and at most so large, px. */
const [LEAST, MOST] = [4, 60];
/** Smaller ones have no number in them, px. */
const READABLE = 54;

export interface MatrixProps {
  readonly sums: TrafficSums;
  readonly by: CellMeasure;
}

export function Matrix({ sums, by }: MatrixProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(560);
  const focused = useSignal<readonly [number, number] | null>(null);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => (width.value = Math.max(200, Math.floor(entry?.contentRect.width ?? 560))));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const { block } = sums.head;
  const [first, behind] = rangeOf(sums);
  const number = Math.ceil((behind - first) / block);
  const size = Math.max(LEAST, Math.min(MOST, Math.floor((width.value - EDGE - 4) / number)));
  const inner = number * size;
  const shade = shadeOf(sums.cells, by);
  const byPlace = new Map(sums.cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const at = focused.value ?? [sums.cells[0]?.row ?? 0, sums.cells[0]?.column ?? 0];
  const focus = (row: number, column: number): void => {
    focused.value = [row, column];
    requestAnimationFrame(() => box.current?.querySelector<SVGElement>(`[data-cell="${row} ${column}"]`)?.focus());
  };
  const move = (event: KeyboardEvent, cell: MatrixCell): void => {
    const way = WAYS[event.key];
    if (event.key === "Enter" || event.key === " ") press(sums, cell);
    else if (way === undefined) return;
    else {
      const next = nextCell(byPlace, [cell.row, cell.column], way, number);
      if (next !== null) focus(...next);
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const range = (place: number): Range => cellRange(sums, place);
  const label = (place: number): string => (block === 1 ? String(run.value?.processes[first + place]?.rank ?? first + place) : `${range(place)[0]}…`);
  const every = Math.max(1, Math.ceil((block === 1 ? 22 : 40) / size));
  return (
    <div ref={box}>
      <svg class="matrix" width={EDGE + inner + 2} height={TOP + inner + 2} role="group" aria-label="Matrix of who sent how much to whom, rows send; the list beneath has the messages">
        <text x={0} y={TOP - 10}>
          from ↓ to →
        </text>
        {Array.from({ length: number }, (_, place) =>
          place % every === 0 ? (
            <g aria-hidden="true">
              <text x={EDGE - 6} y={TOP + place * size + size / 2} text-anchor="end" dominant-baseline="middle">
                {label(place)}
              </text>
              <text x={EDGE + place * size + size / 2} y={TOP - 10} text-anchor="middle">
                {label(place)}
              </text>
            </g>
          ) : null,
        )}
        <rect x={EDGE} y={TOP} width={inner} height={inner} class="matrix-ground" />
        {sums.cells.map((cell) => {
          const hasMessage = isOfMessage(range(cell.row), range(cell.column));
          const words = `${wordsOf(cell, range(cell.row), range(cell.column))}${hasMessage ? "; the chosen message is one of them" : ""}`;
          const [x, y] = [EDGE + cell.column * size, TOP + cell.row * size];
          const strength = shade(cell);
          return (
            <g
              role="button"
              class={isChosen(range(cell.row), range(cell.column)) ? "matrix-cell matrix-chosen" : "matrix-cell"}
              data-cell={`${cell.row} ${cell.column}`}
              tabIndex={cell.row === at[0] && cell.column === at[1] ? 0 : -1}
              aria-label={words}
              aria-pressed={isChosen(range(cell.row), range(cell.column))}
              onClick={() => press(sums, cell)}
              onFocus={() => (focused.value = [cell.row, cell.column])}
              onKeyDown={(event) => move(event, cell)}
            >
              <title>{`${words}; press to ${block > 1 ? "see these processes one by one" : "limit the list, the classes and the timeline to them"}`}</title>
              <rect x={x + 0.5} y={y + 0.5} width={Math.max(size - 1, 1)} height={Math.max(size - 1, 1)} rx={size > 10 ? 2 : 0} style={{ fillOpacity: String(0.12 + 0.88 * strength) }} />
              {hasMessage ? <rect class="matrix-message" x={x + 1.5} y={y + 1.5} width={Math.max(size - 3, 1)} height={Math.max(size - 3, 1)} rx={size > 10 ? 1 : 0} /> : null}
              {size >= READABLE ? (
                <text x={x + size / 2} y={y + size / 2} text-anchor="middle" dominant-baseline="middle" class={strength > 0.55 ? "matrix-number matrix-on-dark" : "matrix-number"}>
                  {WRITTEN[by](valueOf(cell, by))}
                </text>
              ) : null}
            </g>
          );
        })}
        <Hosts first={first} behind={behind} block={block} size={size} inner={inner} />
      </svg>
    </div>
  );
}

/** Lines where one host ends and the next begins. */
function Hosts({ first, behind, block, size, inner }: { readonly first: number; readonly behind: number; readonly block: number; readonly size: number; readonly inner: number }): JSX.Element | null {
  const processes = run.value?.processes ?? [];
  if (block > 1) return null;
  const ends: number[] = [];
  for (let place = first + 1; place < behind; place += 1) if (processes[place]?.host !== processes[place - 1]?.host) ends.push(place - first);
  if (ends.length * 3 > behind - first) return null;
  return <path aria-hidden="true" class="matrix-hosts" d={ends.map((at) => `M${EDGE + at * size} ${TOP}v${inner}M${EDGE} ${TOP + at * size}h${inner}`).join("")} />;
}

/** The processes that the answer is about. */
function rangeOf({ asked }: TrafficSums): Range {
  const [[first, behind]] = asked.processes;
  return [first, behind];
}

/** The processes that a row or column stands for. */
export function cellRange(sums: TrafficSums, place: number): Range {
  const [[first, behind], block] = [rangeOf(sums), sums.head.block];
  return [first + place * block, Math.min(first + (place + 1) * block, behind)];
}

export function valueOf(cell: MatrixCell, by: CellMeasure): number {
  return cell[by];
}

/** From 0 for the least to 1 for the most, on a logarithmic scale. */
function shadeOf(cells: readonly MatrixCell[], by: CellMeasure): (cell: MatrixCell) => number {
  const [least, most] = extremes(cells, by);
  const range = Math.log(most) - Math.log(least);
  return (cell) => (range < 1e-9 ? 1 : (Math.log(Math.max(valueOf(cell, by), 1)) - Math.log(least)) / range);
}

/** The least and the most that a cell has, at least 1. */
export function extremes(cells: readonly MatrixCell[], by: CellMeasure): readonly [number, number] {
  const values = cells.map((cell) => Math.max(valueOf(cell, by), 1));
  const least = values.reduce((found, value) => Math.min(found, value), Infinity);
  return [Number.isFinite(least) ? least : 1, values.reduce((found, value) => Math.max(found, value), 1)];
}

function wordsOf(cell: MatrixCell, from: Range, to: Range): string {
  return `${processesName(from)} → ${processesName(to)}: ${count(cell.messages)} messages, ${bytes(cell.bytes)}, ${duration(cell.time)} on their way together, ${duration(cell.longest)} the longest`;
}

function isChosen(from: Range, to: Range): boolean {
  const pair = chosenPair.value;
  return pair !== null && pair.from.join() === from.join() && pair.to.join() === to.join();
}

/** Whether the chosen message was sent by one of some processes to one of others. */
function isOfMessage(from: Range, to: Range): boolean {
  const [it, locations] = [chosenMessage.value, run.value?.locations ?? []];
  const isIn = ([first, behind]: Range, location: number): boolean => {
    const process = locations[location]?.process ?? -1;
    return first <= process && process < behind;
  };
  return it !== null && isIn(from, it.from) && isIn(to, it.to);
}

/** A cell of one process each is chosen, or no longer; one of several is looked into. */
function press(sums: TrafficSums, cell: MatrixCell): void {
  const { block } = sums.head;
  const [first, behind] = rangeOf(sums);
  const range = (place: number): Range => [first + place * block, Math.min(first + (place + 1) * block, behind)];
  const [from, to] = [range(cell.row), range(cell.column)];
  if (block > 1) shownProcesses.value = [Math.min(from[0], to[0]), Math.max(from[1], to[1])];
  chosenPair.value = block === 1 && isChosen(from, to) ? null : { from, to };
}

const WAYS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** The next cell with something in it that way. */
function nextCell(cells: ReadonlyMap<string, MatrixCell>, from: readonly [number, number], [down, across]: readonly [number, number], number: number): readonly [number, number] | null {
  let [row, column] = from;
  for (let step = 0; step < number; step += 1) {
    [row, column] = [row + down, column + across];
    if (cells.has(`${row} ${column}`)) return [row, column];
  }
  return null;
}

/** Which processes the matrix shows: all, those of a host, or those that were pressed. */
export function Processes(): JSX.Element | null {
  const head = run.value;
  if (head === null) return null;
  const hosts = head.hosts.flatMap((host) => {
    const own = head.processes.flatMap((it, place) => (it.host === host ? [place] : []));
    const [first, last] = [own[0], own.at(-1)];
    // Processes of other hosts may lie between them.
    return first !== undefined && last !== undefined && last - first + 1 === own.length ? [{ host, range: [first, last + 1] as const }] : [];
  });
  const [first, behind] = processRange.value;
  if (hosts.length < 2 && shownProcesses.value === null) return null;
  return (
    <label>
      Processes{" "}
      <select
        title="Which processes the matrix has"
        value={shownProcesses.value === null ? "" : `${first}-${behind}`}
        onChange={(event) => {
          const [from, to] = event.currentTarget.value.split("-").map(Number);
          shownProcesses.value = from === undefined || to === undefined || Number.isNaN(to) ? null : [from, to];
        }}
      >
        <option value="">all</option>
        {hosts.map(({ host, range }) => (
          <option value={range.join("-")}>{host}</option>
        ))}
        {shownProcesses.value !== null && hosts.every(({ range }) => range.join() !== shownProcesses.value?.join()) ? <option value={`${first}-${behind}`}>{processesName([first, behind])}</option> : null}
      </select>
    </label>
  );
}
