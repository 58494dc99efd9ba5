/** Call paths as boxes: as wide as their inclusive time, what is inside them below. Press one to look at it alone. */
import { signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { chosenRegion, regionOfName } from "../../state/view.ts";
import type { CallPathRow } from "../../wire/report.ts";
import { colourOf } from "../colours.ts";

interface Node {
  readonly name: string;
  readonly children: Map<string, Node>;
  exclusive: number;
  inclusive: number;
  visits: number;
}

interface Box {
  readonly node: Node;
  readonly path: readonly string[];
  readonly depth: number;
  readonly left: number;
  readonly width: number;
}

const HEIGHT = 20;
/** Narrower boxes are not drawn, px. */
const LEAST = 0.5;

/** The box that is looked at alone, by names from the outermost. */
const root = signal<readonly string[]>([]);

export function Flames({ rows }: { readonly rows: readonly CallPathRow[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(900);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => (width.value = Math.max(200, Math.floor(entry?.contentRect.width ?? 900))));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const tree = treeOf(rows);
  let shown = tree;
  let path: readonly string[] = [];
  for (const name of root.value) {
    const next = shown.children.get(name);
    if (next === undefined) break;
    [shown, path] = [next, [...path, name]];
  }
  const boxes: Box[] = [];
  place(shown, path, 0, 0, width.value / Math.max(shown.inclusive, 1), boxes);
  const height = (Math.max(...boxes.map((it) => it.depth), 0) + 1) * HEIGHT;
  return (
    <div class="flames" ref={box}>
      <p class="muted">
        {path.length === 0 ? (
          "All recorded regions; a box is as wide as its inclusive time over all locations. Press one to look at it alone."
        ) : (
          <>
            <button type="button" onClick={() => (root.value = [])}>
              All
            </button>{" "}
            <button type="button" onClick={() => (root.value = path.slice(0, -1))}>
              Up
            </button>{" "}
            {path.join(" › ")}: {duration(shown.inclusive)}, {counted(shown.visits, "visit")}
          </>
        )}
      </p>
      <div class="flames-boxes" role="group" aria-label="Flame graph; the same numbers stand in the table by call path" style={{ height: `${height}px` }}>
        {boxes.map((it) => {
          const region = regionOfName(it.node.name);
          const isPale = chosenRegion.value !== null && chosenRegion.value !== region;
          const fill = it.node === tree ? "var(--line)" : region === null ? "var(--faint)" : colourOf.value(region);
          return (
            <button
              type="button"
              class={isPale ? "flames-box flames-pale" : "flames-box"}
              style={{ left: `${it.left}px`, width: `${Math.max(it.width - 1, 1)}px`, top: `${it.depth * HEIGHT}px`, background: fill }}
              title={`${it.node.name}: ${duration(it.node.inclusive)} (${percent(it.node.inclusive / Math.max(tree.inclusive, 1))}), of its own ${duration(it.node.exclusive)}, ${counted(it.node.visits, "visit")}`}
              onClick={() => {
                root.value = it.path;
                chosenRegion.value = region;
              }}
            >
              {it.width > 30 ? it.node.name : ""}
            </button>
          );
        })}
      </div>
    </div>
  );
}

/** Rows of one path are added up, from wherever they were called. */
function treeOf(rows: readonly CallPathRow[]): Node {
  const tree = node("all");
  for (const row of rows) {
    let at = tree;
    for (const name of row.path) {
      let next = at.children.get(name);
      if (next === undefined) {
        next = node(name);
        at.children.set(name, next);
      }
      at = next;
    }
    at.exclusive += row.exclusive_ns;
    at.visits += row.calls;
  }
  total(tree);
  return tree;
}

function node(name: string): Node {
  return { name, children: new Map(), exclusive: 0, inclusive: 0, visits: 0 };
}

function total(it: Node): number {
  it.inclusive = it.exclusive;
  for (const child of it.children.values()) it.inclusive += total(child);
  return it.inclusive;
}

function place(it: Node, path: readonly string[], depth: number, left: number, scale: number, boxes: Box[]): void {
  const width = it.inclusive * scale;
  if (width < LEAST) return;
  boxes.push({ node: it, path, depth, left, width });
  let edge = left;
  for (const child of [...it.children.values()].sort((a, b) => b.inclusive - a.inclusive)) {
    place(child, [...path, child.name], depth + 1, edge, scale, boxes);
    edge += child.inclusive * scale;
  }
}
