/** The bars of a histogram, one of several kinds above the other, the mean, and a range that is marked with the pointer. Knows no run. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { count } from "../../base/format.ts";

/** What is counted in a colour of its own. */
export interface Series {
  readonly name: string;
  readonly colour: string;
  /** By bin. */
  readonly counts: Float64Array;
}

export interface ChartProps {
  readonly edges: Float64Array;
  /** The first stands lowest. */
  readonly series: readonly Series[];
  readonly isLogarithmic: boolean;
  readonly mean: number;
  readonly marked: readonly [number, number] | null;
  readonly write: (value: number) => string;
  readonly onMark: (range: readonly [number, number]) => void;
}

const HEIGHT = 240;
const BOTTOM = 22;
const TOP = 16;
/** A bin with something in it is seen, however much is in others. */
const LEAST_BAR = 2;

export function Chart(props: ChartProps): JSX.Element {
  const { edges, series, isLogarithmic, write } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(800);
  const drag = useSignal<readonly [number, number] | null>(null);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(([entry]) => (width.value = Math.max(200, Math.floor(entry?.contentRect.width ?? 800))));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const [first, last] = [edges[0] ?? 0, edges.at(-1) ?? 1];
  const scaled = (value: number): number => (isLogarithmic ? Math.log(Math.max(value, 1)) : value);
  const [from, range] = [scaled(first), Math.max(scaled(last) - scaled(first), 1e-9)];
  const xOf = (value: number): number => ((scaled(value) - from) / range) * width.value;
  const valueAt = (x: number): number => {
    const place = from + (Math.min(Math.max(x / width.value, 0), 1)) * range;
    return Math.min(Math.max(isLogarithmic ? Math.exp(place) : place, first), last);
  };
  const counts = Array.from({ length: Math.max(edges.length - 1, 0) }, (_, bin) => series.reduce((sum, it) => sum + (it.counts[bin] ?? 0), 0));
  const most = counts.reduce((all, number) => Math.max(all, number), 1);
  const room = HEIGHT - BOTTOM - TOP;
  const at = (event: PointerEvent): number => event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
  const marked = drag.value === null ? props.marked : [valueAt(Math.min(...drag.value)), valueAt(Math.max(...drag.value))];
  const ticks = Array.from({ length: 6 }, (_, place) => (place / 5) * width.value);
  return (
    <div class="histogram-chart" ref={box}>
      <svg
        width={width.value}
        height={HEIGHT}
        role="img"
        aria-label="Histogram; the same numbers stand in the table of bins"
        onPointerDown={(event) => {
          drag.value = [at(event), at(event)];
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => {
          if (drag.value !== null) drag.value = [drag.value[0], at(event)];
        }}
        onPointerUp={() => {
          const now = drag.value;
          drag.value = null;
          if (now !== null && Math.abs(now[1] - now[0]) > 3) {
            props.onMark([Math.floor(valueAt(Math.min(...now))), Math.ceil(valueAt(Math.max(...now)))]);
          }
        }}
      >
        {marked === null ? null : (
          <rect class="histogram-marked" x={xOf(marked[0] ?? 0)} y={TOP} width={Math.max(xOf(marked[1] ?? 0) - xOf(marked[0] ?? 0), 2)} height={room} />
        )}
        {counts.map((total, bin) => {
          if (total === 0) return null;
          const [left, right] = [xOf(edges[bin] ?? 0), xOf(edges[bin + 1] ?? 0)];
          const scale = Math.max((total / most) * room, LEAST_BAR) / total;
          let ground = HEIGHT - BOTTOM;
          return series.map(({ name, colour, counts: own }) => {
            const number = own[bin] ?? 0;
            if (number === 0) return null;
            ground -= number * scale;
            // Shades of one kind are alike: a line keeps them apart where there is room for one.
            const apart = series.length > 1 && number * scale > 3 ? 1 : 0;
            const where = `${write(edges[bin] ?? 0)} to ${write(edges[bin + 1] ?? 0)}: ${count(number)}`;
            return (
              <rect class="histogram-bar" x={left} y={ground + apart} width={Math.max(right - left - (right - left > 3 ? 1 : 0), 1)} height={number * scale - apart} fill={colour}>
                <title>{series.length === 1 ? where : `${name}, ${where} of ${count(total)}`}</title>
              </rect>
            );
          });
        })}
        <line class="histogram-mean" x1={xOf(props.mean)} x2={xOf(props.mean)} y1={TOP} y2={HEIGHT - BOTTOM} />
        <text x={Math.min(xOf(props.mean) + 4, width.value - 90)} y={TOP - 4}>{`mean ${write(props.mean)}`}</text>
        <line class="histogram-ground" x1={0} x2={width.value} y1={HEIGHT - BOTTOM + 0.5} y2={HEIGHT - BOTTOM + 0.5} />
        {ticks.map((x, place) => (
          <text x={x} y={HEIGHT - 6} text-anchor={place === 0 ? "start" : place === ticks.length - 1 ? "end" : "middle"}>
            {write(valueAt(x))}
          </text>
        ))}
      </svg>
    </div>
  );
}
