/**
 * A picture of an array's index space: the darker a cell, the more often its elements were referred to by other processes, or
 * by the one that has them. Arrow keys go from cell to cell, and what is there stands beneath.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { count } from "../../base/format.ts";
import { Surface } from "../../canvas/surface.ts";
import { axes, chosenAxes, picture, type Axes, type Picture } from "../../state/data.ts";
import { processName } from "../../state/run.ts";
import type { WireArray, WireArrayPart } from "../../wire/generated.ts";
import { colours } from "../colours.ts";
import { Coming } from "../lost.tsx";

/** px. */
const HEIGHT = 200;

interface Props {
  readonly array: WireArray;
  readonly processes: readonly WireArrayPart[];
}

export function HeatMap({ array, processes }: Props): JSX.Element {
  const which = useSignal<"remote" | "local">("remote");
  const it = picture.value;
  const [across, down] = axes.value;
  const isOf = it !== null && it.of.array === array.number && it.of.axes[0] === across && it.of.axes[1] === down;
  if (!isOf) return <Coming what="Accesses are being looked through" isSmall />;
  if (it.head.why_not !== null) return <p class="muted">No picture: {it.head.why_not}.</p>;
  const owners = processes.filter((part) => part.instances > 0).map((part) => part.process);
  return (
    <>
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
      <Cells it={it} cells={it[which.value]} owners={owners} />
      {it.head.nowhere > 0 ? (
        <p class="muted" title="A vector of subscripts is recorded with its least and greatest one, a collective operation without whose elements it reads, and what is beyond the bounds has no cell">
          {count(it.head.nowhere)} more, whose subscripts or process are not known one by one, are in no cell.
        </p>
      ) : null}
      {it.head.damage.length > 0 ? <p class="warn">Not all could be read: {it.head.damage.join("; ")}</p> : null}
    </>
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
}

function Cells({ it, cells, owners }: CellsProps): JSX.Element {
  const box = useRef<HTMLCanvasElement>(null);
  const surface = useRef<Surface | null>(null);
  const at = useSignal<readonly [number, number] | null>(null);
  const [width, height] = it.head.size;
  const most = cells.reduce((found, cell) => Math.max(found, cell), 0);
  const latest = useRef({ cells, width, height, most });
  latest.current = { cells, width, height, most };
  useEffect(() => {
    if (box.current === null) return;
    const made = new Surface(box.current, ({ canvas, width: w, height: h }) => {
      const now = latest.current;
      const { background, accent } = inks(box.current);
      canvas.globalAlpha = 1;
      canvas.fillStyle = background;
      canvas.fillRect(0, 0, w, h);
      canvas.fillStyle = accent;
      for (let row = 0; row < now.height; row += 1) {
        for (let column = 0; column < now.width; column += 1) {
          const value = now.cells[row * now.width + column] ?? 0;
          if (value === 0) continue;
          canvas.globalAlpha = shade(value, now.most);
          // On whole pixels, so that no seam is seen between two that are alike.
          const [left, top] = [Math.floor((column * w) / now.width), Math.floor((row * h) / now.height)];
          canvas.fillRect(left, top, Math.max(Math.floor(((column + 1) * w) / now.width) - left, 1), Math.max(Math.floor(((row + 1) * h) / now.height) - top, 1));
        }
      }
      canvas.globalAlpha = 1;
      const here = at.peek();
      if (here === null) return "done";
      canvas.strokeStyle = colours.peek().text;
      canvas.lineWidth = 2;
      canvas.strokeRect((here[0] * w) / now.width, (here[1] * h) / now.height, Math.max(w / now.width, 3), Math.max(h / now.height, 3));
      return "done";
    });
    surface.current = made;
    return () => made.dispose();
  }, []);
  // Another picture, another theme, or another cell.
  useEffect(() => surface.current?.invalidate(), [cells, colours.value, at.value]);
  const move = (event: KeyboardEvent): void => {
    const way = WAYS[event.key];
    if (way === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const [column, row] = at.value ?? [0, 0];
    at.value = at.value === null ? [0, 0] : [clamp(column + way[0], width), clamp(row + way[1], height)];
    event.preventDefault();
    event.stopPropagation();
  };
  const point = (event: MouseEvent): void => {
    const { left, top, width: w, height: h } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    at.value = [clamp(Math.floor(((event.clientX - left) / w) * width), width), clamp(Math.floor(((event.clientY - top) / h) * height), height)];
  };
  const here = at.value;
  const value = here === null ? 0 : (cells[here[1] * width + here[0]] ?? 0);
  const place = (axis: 0 | 1, cell: number): string => rangeOf(it, axis, cell, owners);
  const words = `Picture of the index space, ${nameOf(it.of.axes[0])} across, ${nameOf(it.of.axes[1])} down; arrows lead from cell to cell`;
  return (
    <>
      <div class="data-heat">
        <span class="mono data-heat-down">
          <span>{place(1, 0)}</span>
          <span>{place(1, height - 1)}</span>
        </span>
        <canvas
          ref={box}
          role="img"
          tabIndex={0}
          aria-label={words}
          title={words}
          style={{ height: `${Math.min(HEIGHT, Math.max(height * 28, 40))}px` }}
          onKeyDown={move}
          onMouseMove={point}
          onMouseLeave={() => (at.value = null)}
          onBlur={() => (at.value = null)}
        />
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

const WAYS: Readonly<Record<string, readonly [number, number]>> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const clamp = (value: number, behind: number): number => Math.max(0, Math.min(value, behind - 1));

/** From a little for one reference to all for the most, on a logarithmic scale. */
function shade(value: number, most: number): number {
  return most <= 1 ? 1 : 0.15 + (0.85 * Math.log(value)) / Math.log(most);
}

/** Colours of the page, as its style has them now. */
function inks(element: HTMLElement | null): { readonly background: string; readonly accent: string } {
  const style = element === null ? null : getComputedStyle(element);
  return { background: style?.getPropertyValue("--panel") || "#fff", accent: style?.getPropertyValue("--accent") || "#00f" };
}

/** Which subscripts a cell stands for, or which process. */
function rangeOf({ head, of }: Picture, axis: 0 | 1, cell: number, owners: readonly number[]): string {
  const [least, greatest] = head.spans[axis];
  const cells = head.size[axis];
  const extent = greatest - least + 1;
  const edge = (at: number): number => least + Math.ceil((at * extent) / cells);
  const [first, last] = [edge(cell), edge(cell + 1) - 1];
  const name = (value: number): string => (of.axes[axis] === null ? processName(owners[value] ?? value) : String(value));
  return first >= last ? name(first) : `${name(first)} … ${name(last)}`;
}
