/**
 * A picture of an array's index space: the darker a cell, the more often its elements were referred to by other processes, or
 * by the one that has them. Arrow keys go from cell to cell, and what is there stands beneath. Cells that the pointer is drawn
 * across, or arrow keys with shift lead across, are selected; what the selection snaps to is drawn above them.
 */
import { batch, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { count } from "../../base/format.ts";
import { axes, chosenArray, chosenAxes, chosenReferences, isFormer, keyOf, picture, type Axes, type Picture } from "../../state/data.ts";
import { processName } from "../../state/run.ts";
import { chosenSelection } from "../../state/selection.ts";
import { selected } from "../../state/sub_array.ts";
import type { WireArray, WireArrayPart } from "../../wire/generated.ts";
import { Coming } from "../lost.tsx";

/** px. */
const HEIGHT = 200;

interface Props {
  readonly array: WireArray;
  readonly processes: readonly WireArrayPart[];
}

export function HeatMap({ array, processes }: Props): JSX.Element {
  const which = chosenReferences;
  const it = picture.value;
  const [across, down] = axes.value;
  const isOf = it !== null && it.of.array === array.number && it.of.axes[0] === across && it.of.axes[1] === down;
  if (!isOf) return <Coming what="Accesses are being looked through" isSmall />;
  if (it.head.why_not !== null) return <p class="muted">No picture: {it.head.why_not}.</p>;
  const owners = processes.filter((part) => part.instances > 0).map((part) => part.process);
  return (
    <div class={isFormer(it.of) ? "data-stale" : undefined}>
      <p class="data-tools">
        <span role="group" aria-label="Whose references">
          <button type="button" aria-pressed={which.value === "remote"} title="References of processes to elements that others have" onClick={() => (which.value = "remote")}>
            Remote, {count(sum(it.remote))}
          </button>
          <button type="button" aria-pressed={which.value === "local"} title="References of processes to elements that they have themselves" onClick={() => (which.value = "local")}>
            Local, {count(sum(it.local))}
          </button>
        </span>
        <Axis name="Across" array={array} place={0} />
        <Axis name="Down" array={array} place={1} />
      </p>
      <Cells it={it} cells={it[which.value]} owners={owners} array={array} />
      {it.head.nowhere > 0 ? (
        <p class="muted" title="A vector of subscripts is recorded with its least and greatest one, a collective operation without whose elements it reads, and what is beyond the bounds has no cell">
          {count(it.head.nowhere)} more, whose subscripts or process are not known one by one, are in no cell.
        </p>
      ) : null}
      {it.head.damage.length > 0 ? <p class="warn">Not all could be read: {it.head.damage.join("; ")}</p> : null}
    </div>
  );
}

const sum = (cells: Float64Array): number => cells.reduce((all, cell) => all + cell, 0);

const nameOf = (axis: number | null): string => (axis === null ? "process" : `dimension ${axis + 1}`);

function Axis({ name, array, place }: { readonly name: string; readonly array: WireArray; readonly place: 0 | 1 }): JSX.Element {
  const all: ReadonlyArray<number | null> = [...array.bounds.map((_, at) => at), null];
  const change = (value: string): void => {
    const next = value === "" ? null : Number(value);
    const [across, down] = axes.value;
    // What stood there before changes places with it.
    const both: Axes = place === 0 ? [next, down === next ? across : down] : [across === next ? down : across, next];
    chosenAxes.value = both;
  };
  return (
    <label>
      {name}{" "}
      <select title={`What lies ${name.toLowerCase()} in the picture: a dimension of the array, or the process that has the elements`} value={axes.value[place] ?? ""} onChange={(event) => change(event.currentTarget.value)}>
        {all.map((axis) => (
          <option value={axis ?? ""}>{nameOf(axis)}</option>
        ))}
      </select>
    </label>
  );
}

interface CellsProps {
  readonly it: Picture;
  readonly cells: Float64Array;
  readonly owners: readonly number[];
  readonly array: WireArray;
}

function Cells({ it, cells, owners, array }: CellsProps): JSX.Element {
  const at = useSignal<Cell | null>(null);
  // Where selecting began; `null` = nobody is selecting.
  const corner = useSignal<Cell | null>(null);
  const isDrawn = useSignal(false);
  const [width, height] = it.head.size;
  const most = cells.reduce((found, cell) => Math.max(found, cell), 0);
  // Drawn anew with another picture only, and not for each cell that is pointed at.
  const drawn = useMemo(
    () => (
      <g>
        {runsOf(cells, width, most).map(({ x, y, length, shade: fillOpacity }) => (
          <rect x={x} y={y} width={length} height={1} style={{ fillOpacity }} />
        ))}
      </g>
    ),
    [cells, width, most],
  );
  const move = (event: KeyboardEvent): void => {
    const way = WAYS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && (chosenSelection.value !== null || corner.value !== null)) {
      batch(() => {
        chosenSelection.value = null;
        corner.value = null;
        isDrawn.value = false;
      });
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (way === undefined) return;
    const from = at.value;
    const [column, row] = at.value ?? [0, 0];
    at.value = at.value === null ? [0, 0] : [clamp(column + way[0], width), clamp(row + way[1], height)];
    corner.value = event.shiftKey ? (corner.value ?? from ?? at.value) : null;
    if (corner.value !== null) select(it, array, owners, corner.value, at.value);
    event.preventDefault();
    event.stopPropagation();
  };
  const point = (event: PointerEvent): void => {
    const { left, top, width: w, height: h } = (event.currentTarget as Element).getBoundingClientRect();
    at.value = [clamp(Math.floor(((event.clientX - left) / w) * width), width), clamp(Math.floor(((event.clientY - top) / h) * height), height)];
  };
  const begin = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    point(event);
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    corner.value = at.value;
    isDrawn.value = true;
  };
  const end = (): void => {
    if (isDrawn.value && corner.value !== null && at.value !== null) select(it, array, owners, corner.value, at.value);
    isDrawn.value = false;
    corner.value = null;
  };
  const leave = (): void => {
    if (!isDrawn.value) at.value = null;
  };
  const here = at.value;
  const value = here === null ? 0 : (cells[here[1] * width + here[0]] ?? 0);
  const place = (axis: 0 | 1, cell: number): string => rangeOf(it, axis, cell, owners);
  const words = `Picture of the index space, ${nameOf(it.of.axes[0])} across, ${nameOf(it.of.axes[1])} down; arrows lead from cell to cell, with shift they select`;
  return (
    <>
      <div class="data-heat">
        <span class="mono data-heat-down">
          <span>{place(1, 0)}</span>
          <span>{place(1, height - 1)}</span>
        </span>
        <svg
          role="img"
          tabIndex={0}
          aria-label={words}
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          shape-rendering="crispEdges"
          style={{ height: `${Math.min(HEIGHT, Math.max(height * 28, 40))}px` }}
          onKeyDown={move}
          onPointerDown={begin}
          onPointerMove={point}
          onPointerUp={end}
          onPointerCancel={end}
          onPointerLeave={leave}
          onBlur={() => {
            at.value = null;
            corner.value = null;
          }}
        >
          {drawn}
          <Boxes it={it} owners={owners} array={array} />
          {isDrawn.value && corner.value !== null && here !== null ? <Box name="data-heat-asked" box={[Math.min(corner.value[0], here[0]), Math.min(corner.value[1], here[1]), Math.max(corner.value[0], here[0]) + 1, Math.max(corner.value[1], here[1]) + 1]} /> : null}
          {here === null ? null : <rect class="data-heat-here" x={here[0]} y={here[1]} width={1} height={1} />}
        </svg>
        <span class="mono data-heat-across">
          <span>{place(0, 0)}</span>
          <span>{place(0, width - 1)}</span>
        </span>
      </div>
      <p class="muted" role="status">
        {here === null ? (
          <span title="Colours from one reference to the most that a cell has, on a logarithmic scale">
            <span class="mono">1</span> <span class="data-legend" aria-hidden="true" /> <span class="mono">{count(Math.max(most, 1))}</span> references a cell
          </span>
        ) : (
          `${nameOf(it.of.axes[0])} ${place(0, here[0])}, ${nameOf(it.of.axes[1])} ${place(1, here[1])}: ${count(value)} references`
        )}
      </p>
    </>
  );
}

/** Column and row. */
type Cell = readonly [number, number];

/** Left, top, and what lies right of it and beneath it. */
type Corners = readonly [number, number, number, number];

function Box({ name, box: [left, top, right, bottom] }: { readonly name: string; readonly box: Corners }): JSX.Element {
  return <rect class={name} x={left} y={top} width={right - left} height={bottom - top} />;
}

/** What is selected: as it was asked for, and what it snapped to. */
function Boxes({ it, owners, array }: Omit<CellsProps, "cells">): JSX.Element | null {
  const found = selected.value;
  if (chosenSelection.value === null || found === null || found.of.array !== array.number || found.head.why_not !== null) return null;
  const { head, of } = found;
  const edges = (section: readonly (readonly [number, number])[], processes: readonly number[], axis: 0 | 1): readonly [number, number] => {
    const dimension = it.of.axes[axis];
    const places = processes.map((process) => owners.indexOf(process)).filter((place) => place >= 0);
    const [first, last] = dimension === null ? [Math.min(...places), Math.max(...places)] : (section[dimension] ?? [0, 0]);
    return [cellOf(it, axis, first), cellOf(it, axis, last) + 1];
  };
  const box = (section: readonly (readonly [number, number])[], processes: readonly number[]): Corners => {
    const [[left, right], [top, bottom]] = [edges(section, processes, 0), edges(section, processes, 1)];
    return [left, top, right, bottom];
  };
  const isByProcess = it.of.axes.includes(null);
  const snapped = isByProcess ? head.parts.map((part) => box(part.selected, [part.process])) : [box(head.snapped, owners)];
  return (
    <>
      {snapped.map((corners) => (
        <Box name="data-heat-snapped" box={corners} />
      ))}
      <Box name="data-heat-asked" box={box(head.section, of.processes ?? owners)} />
    </>
  );
}

/** Selects the elements of all cells between two. */
function select(it: Picture, array: WireArray, owners: readonly number[], one: Cell, other: Cell): void {
  const range = (axis: 0 | 1): readonly [number, number] => {
    const [first, last] = one[axis] <= other[axis] ? [one[axis], other[axis]] : [other[axis], one[axis]];
    return [subscripts(it, axis, first)[0], subscripts(it, axis, last)[1]];
  };
  const section: Array<readonly [number, number] | null> = array.bounds.map(() => null);
  let processes: readonly number[] | null = null;
  for (const axis of [0, 1] as const) {
    const dimension = it.of.axes[axis];
    const [first, last] = range(axis);
    if (dimension === null) processes = owners.slice(first, last + 1);
    else section[dimension] = [first, last];
  }
  batch(() => {
    // That with most time may be another one in another span.
    chosenArray.value = keyOf(array);
    chosenSelection.value = { section, processes: processes?.length === owners.length ? null : processes };
  });
}

/** Cells beside each other that look the same. */
interface Run {
  readonly x: number;
  readonly y: number;
  readonly length: number;
  readonly shade: string;
}

function runsOf(cells: Float64Array, width: number, most: number): readonly Run[] {
  const found: Run[] = [];
  for (let start = 0; start < cells.length; ) {
    const [x, value] = [start % width, cells[start] ?? 0];
    const look = shade(value, most);
    let length = 1;
    while (x + length < width && (cells[start + length] ?? 0) > 0 === value > 0 && shade(cells[start + length] ?? 0, most) === look) length += 1;
    if (value > 0) found.push({ x, y: Math.floor(start / width), length, shade: look });
    start += length;
  }
  return found;
}

const WAYS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const clamp = (value: number, behind: number): number => Math.max(0, Math.min(value, behind - 1));

/** From a little for one reference to all for the most, on a logarithmic scale, in steps of a hundredth. */
function shade(value: number, most: number): string {
  return value === 0 ? "0" : most <= 1 ? "1" : (0.15 + (0.85 * Math.log(value)) / Math.log(most)).toFixed(2);
}

/** Which subscripts a cell stands for, or which process. */
function rangeOf(it: Picture, axis: 0 | 1, cell: number, owners: readonly number[]): string {
  const [first, last] = subscripts(it, axis, cell);
  const name = (value: number): string => (it.of.axes[axis] === null ? processName(owners[value] ?? value) : String(value));
  return first >= last ? name(first) : `${name(first)} … ${name(last)}`;
}

/** The first and the last subscript, or place of a process, of a cell. */
function subscripts({ head }: Picture, axis: 0 | 1, cell: number): readonly [number, number] {
  const [least, greatest] = head.spans[axis];
  const edge = (at: number): number => least + Math.ceil((at * (greatest - least + 1)) / head.size[axis]);
  return [edge(cell), edge(cell + 1) - 1];
}

/** The cell that one is in. */
function cellOf({ head }: Picture, axis: 0 | 1, value: number): number {
  const [least, greatest] = head.spans[axis];
  return clamp(Math.floor(((value - least) * head.size[axis]) / (greatest - least + 1)), head.size[axis]);
}
