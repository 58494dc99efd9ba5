/**
 * The whole file beside its lines: functions and loop nests where they lie, the darker the more they cost,
 * calls from within them at the right, and what of it is seen.
 */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { source, type SourceFile } from "../../state/source.ts";
import { costWords } from "./parts.tsx";
import { costOf } from "./lines.tsx";

const WIDTH = 96;
const HEIGHT = 1000;
/** What the column of calls takes of that, at the right. */
const CALLS = 12;
/** More are too small to be told apart. */
const MOST = 1500;

export interface MapProps {
  readonly file: SourceFile;
  /** The first and the last line that are seen. */
  readonly seen: readonly [number, number];
  readonly line: number;
  readonly go: (line: number) => void;
}

export function FileMap({ file, seen, line, go }: MapProps): JSX.Element {
  const all = Math.max(file.lines.length, 1);
  const y = (at: number): number => ((at - 1) / all) * HEIGHT;
  const shapes = useMemo(() => shapesOf(file), [file, source.value]);
  const height = Math.max(((seen[1] - seen[0] + 1) / all) * HEIGHT, 6);
  const { functions, loops } = file.head;
  return (
    <svg
      class="source-map"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The whole file: ${functions.length} functions and ${loops.length} loops, the darker the more processor time they have; at the right, in amber, calls of libraries from within; press to go there`}
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        go(Math.max(1, Math.min(all, Math.ceil(((event.clientY - box.top) / box.height) * all))));
      }}
    >
      {shapes}
      <rect class="source-map-seen" x={0.5} y={y(seen[0])} width={WIDTH - 1} height={height} />
      {line > 0 ? <rect class="source-map-here" x={0} y={y(line)} width={WIDTH} height={2} /> : null}
    </svg>
  );
}

/** Functions, and loops in them, each a box. */
function shapesOf(file: SourceFile): readonly JSX.Element[] {
  const all = Math.max(file.lines.length, 1);
  const y = (at: number): number => ((at - 1) / all) * HEIGHT;
  const whole = Math.max(source.peek()?.processor_ns ?? 0, 1);
  const { functions, loops } = file.head;
  const seen = new Set<string>();
  const boxes = [
    ...functions.filter((it) => it.first > 0).map((it) => ({ ...it, depth: 0, words: it.name })),
    ...loops.map((it) => ({ ...it, words: `${it.kind} loop, lines ${it.first}–${it.last}` })),
  ].filter(({ first, last, depth }) => {
    // Instances of a template lie on the same lines.
    const key = `${first}-${last}-${depth}`;
    return !seen.has(key) && seen.add(key);
  });
  // Of too many those that cost most, then the longest.
  boxes.sort((a, b) => b.cost.inclusive_ns - a.cost.inclusive_ns || b.last - b.first - (a.last - a.first));
  const kept = boxes.slice(0, MOST).sort((a, b) => a.depth - b.depth);
  const allCalls = Math.max(source.peek()?.calls_ns ?? 0, 1);
  const calls = kept.filter(({ cost }) => cost.call_ns > 0);
  const beside = calls.map(({ first, last, cost, words }) => (
    <rect class="source-map-calls" x={WIDTH - CALLS} y={y(first)} width={CALLS - 2} height={Math.max(((last - first + 1) / all) * HEIGHT - 1, 1)} style={{ fillOpacity: 0.08 + 0.6 * Math.min(cost.call_ns / allCalls, 1) }}>
      <title>{`${words}: ${costWords(costOf(cost))}`}</title>
    </rect>
  ));
  const shapes = kept.map(({ first, last, depth, cost, words }) => (
    <rect
      class={depth === 0 ? "source-map-function" : "source-map-loop"}
      x={3 + Math.min(depth, 7) * 10}
      y={y(first)}
      width={WIDTH - 8 - CALLS - Math.min(depth, 7) * 10}
      height={Math.max(((last - first + 1) / all) * HEIGHT - 1, 1)}
      style={{ fillOpacity: 0.12 + 0.8 * Math.min(cost.inclusive_ns / whole, 1) }}
    >
      <title>{`${words}: ${costWords(costOf(cost))}`}</title>
    </rect>
  ));
  return [...shapes, ...beside];
}
