/** Call paths as boxes: as wide as their inclusive time, what is inside them below. Press one to look at it alone; arrow keys go from box to box. */
import { batch, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { clearest, pixel } from "../../canvas/palette.ts";
import { flameRoot } from "../../state/shares.ts";
import { chosenRegion } from "../../state/view.ts";
import { useRoving } from "../../widgets/roving.ts";
import type { CallNode } from "../../wire/report.ts";
import { colourOf, colours } from "../colours.ts";
import { regionOf } from "./tree.tsx";

interface Node {
  readonly name: string;
  /** `null` = a function. */
  readonly region: number | null;
  readonly children: Map<string, Node>;
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

export function Flames({ nodes }: { readonly nodes: readonly CallNode[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const roving = useRoving<HTMLDivElement>();
  const width = useSignal(900);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => (width.value = Math.max(200, Math.floor(entry?.contentRect.width ?? 900))));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const tree = treeOf(nodes);
  let shown = tree;
  let path: readonly string[] = [];
  for (const name of flameRoot.value) {
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
          "The call tree, functions pale and regions in their colours; a box is as wide as its inclusive time over all locations. Press one to look at it alone."
        ) : (
          <>
            <button type="button" onClick={() => (flameRoot.value = [])}>
              All
            </button>{" "}
            <button type="button" onClick={() => (flameRoot.value = path.slice(0, -1))}>
              Up
            </button>{" "}
            {path.map((key) => key.slice(key.indexOf(" ") + 1)).join(" › ")}: {duration(shown.inclusive)}, {counted(shown.visits, "visit")}
          </>
        )}
      </p>
      <div class="flames-boxes" role="tree" aria-orientation="horizontal" aria-label="Flame graph; the same numbers stand in the call tree" style={{ height: `${height}px` }} {...roving}>
        {boxes.map((it) => {
          const { region } = it.node;
          const isPale = chosenRegion.value !== null && chosenRegion.value !== region;
          const fill = it.node === tree ? "var(--line)" : region === null ? "var(--life)" : colourOf.value(region);
          return (
            <button
              type="button"
              key={it.path.join("\n")}
              role="treeitem"
              data-part
              tabIndex={-1}
              aria-level={it.path.length + 1}
              aria-selected={it.node === shown && path.length > 0}
              class={`flames-box ${isPale ? "flames-pale" : ""} ${it.width > 30 ? "" : "flames-thin"}`}
              style={{ left: `${it.left}px`, width: `${Math.max(it.width - 1, 1)}px`, top: `${it.depth * HEIGHT}px`, background: fill, color: region === null || it.node === tree ? undefined : clearest(pixel(fill), colours.value) }}
              title={`${it.node.name}: ${duration(it.node.inclusive)} (${percent(it.node.inclusive / Math.max(tree.inclusive, 1))}), ${counted(it.node.visits, "visit")}; press to look at it alone`}
              onClick={() => look(it)}
            >
              {it.width > 30 ? it.node.name : ""}
            </button>
          );
        })}
      </div>
    </div>
  );
}

/** Looks at a box alone; both are one step to be taken back. */
function look({ path, node }: Box): void {
  batch(() => {
    flameRoot.value = path;
    chosenRegion.value = node.region;
  });
}

/** Nodes of one name beneath the same are added up, from wherever they were called. */
function treeOf(nodes: readonly CallNode[]): Node {
  const tree = node("all", null);
  const made: Node[] = [];
  for (const it of nodes) {
    const above = it.parent === null ? tree : (made[it.parent] ?? tree);
    const key = `${it.kind} ${it.name}`;
    const known = above.children.get(key);
    const next = known ?? node(it.name, regionOf(it));
    if (known === undefined) above.children.set(key, next);
    made.push(next);
    next.inclusive += it.time_ns;
    next.visits += it.calls;
    if (it.parent === null) tree.inclusive += it.time_ns;
  }
  return tree;
}

function node(name: string, region: number | null): Node {
  return { name, region, children: new Map(), inclusive: 0, visits: 0 };
}

function place(it: Node, path: readonly string[], depth: number, left: number, scale: number, boxes: Box[]): void {
  const width = it.inclusive * scale;
  if (width < LEAST) return;
  boxes.push({ node: it, path, depth, left, width });
  let edge = left;
  for (const child of [...it.children.values()].sort((a, b) => b.inclusive - a.inclusive)) {
    place(child, [...path, keyOf(it, child)], depth + 1, edge, scale, boxes);
    edge += child.inclusive * scale;
  }
}

/** What a node calls one of its children. */
function keyOf(above: Node, child: Node): string {
  return [...above.children].find(([, it]) => it === child)?.[0] ?? "";
}
