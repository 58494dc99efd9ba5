/** What the runs differ in, in the course of time: a lane beneath both timelines that moves with them, its words, its table. */
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { percent } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import type { Ink } from "../../canvas/ink.ts";
import { pxFromTime } from "../../canvas/scale.ts";
import { Surface } from "../../canvas/surface.ts";
import { lane, LANES, type LaneName } from "../../state/lane.ts";
import { scrollBoth } from "../../state/pair.ts";
import { run } from "../../state/run.ts";
import { pointed, pointer } from "../../state/timeline.ts";
import { chosenNew, chosenRegion, look, lookAround, span } from "../../state/view.ts";
import { drawLane, type Step } from "../../tracks/lane.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { colours } from "../colours.ts";
import { GUTTER, MARGIN } from "../timeline/draw.ts";
import { listen } from "../timeline/gestures.ts";
import { followLane, laneReach, steps, toldSteps } from "./course.ts";
import { scaleOf } from "./scene.ts";
import { base, plotWidth } from "./side.ts";
import { signed, tone } from "./words.ts";

export const LANE_HEIGHT = 76;

/** What rows are in. */
const WORDS: Readonly<Record<LaneName, string>> = {
  calls: "in calls of MPI, files and the like",
  communication: "in communication",
  files: "in calls on files",
  waiting: "waiting",
  region: "in the chosen region",
};

function words(): string {
  const name = chosenNew.value ?? run.value?.regions[chosenRegion.value ?? -1]?.name;
  return lane.value === "region" && name !== undefined ? `in ${name}` : WORDS[lane.value];
}

/** By how much two shares differ: a part of either would be another number. */
const points = (share: number): string => `${(share * 100).toFixed(1)} points`;

/** A span that is being marked with the pointer. */
const marked = signal<readonly [number, number] | null>(null);

export function Lane(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (box.current === null || element.current === null) return;
    const surface = new Surface(element.current, ({ canvas, width, height }) => {
      drawLaneNow(canvas, width, height);
      return "done";
    });
    const ends = [
      followLane(),
      // Both timelines and what lies between them are moved together.
      listen(box.current, {
        scale: () => ({ ...scaleOf(base), span: span.peek() }),
        look,
        scrollBy: scrollBoth,
        mark: (next) => (marked.value = next),
        choose: () => undefined,
        press: () => undefined,
        hover(x) {
          pointer.value = x < GUTTER || x > GUTTER + plotWidth.peek() ? null : { x, along: (x - GUTTER) / Math.max(plotWidth.peek(), 1) };
        },
        leave: () => (pointer.value = null),
      }),
      effect(() => {
        void [steps.value, span.value, colours.value, plotWidth.value, marked.value];
        surface.invalidate();
      }),
    ];
    return () => {
      ends.forEach((end) => end());
      surface.dispose();
    };
  }, []);
  return (
    <div class="compare-lane" data-topic="compare">
      <p class="compare-lane-said">
        <label title="What is counted: the share of the rows that are in it, step by step, in B and in A">
          B − A,{" "}
          <select aria-label="What is compared in the course of time" value={lane.value} onChange={(event) => (lane.value = LANES.find((it) => it === event.currentTarget.value) ?? "calls")}>
            {LANES.map((name) => (
              <option value={name} disabled={name === "region" && chosenRegion.value === null && chosenNew.value === null}>
                {WORDS[name]}
              </option>
            ))}
          </select>
        </label>{" "}
        <Said />
      </p>
      <div class="compare-lane-plot" ref={box} title="What B has more than A stands above the line, what it has less beneath; what is grey is in one run only. The wheel zooms, dragging moves">
        <span class="compare-strip-name">Difference</span>
        <canvas ref={element} role="img" aria-label={`How much more of its rows B has ${words()} than A, in the course of time; the table of the difference has the numbers`} />
        <Hair />
      </div>
    </div>
  );
}

export function drawLaneNow(canvas: Ink, width: number, height: number): void {
  const palette = colours.peek();
  const [top, bottom] = [8, height - 8];
  const scale = { span: span.peek(), left: GUTTER, width: Math.max(width - GUTTER - MARGIN, 1) };
  canvas.fillStyle = palette.background;
  canvas.fillRect(0, 0, width + 1, height + 1);
  drawLane(canvas, steps.peek(), { scale, top, bottom, reach: laneReach.peek(), colours: palette });
  canvas.fillStyle = palette.faint;
  canvas.font = "11px ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', monospace";
  canvas.textBaseline = "middle";
  canvas.textAlign = "right";
  const reach = `${Math.round(laneReach.peek() * 100)} %`;
  canvas.fillText(`+${reach}`, GUTTER - 8, top + 5);
  canvas.fillText(`−${reach}`, GUTTER - 8, bottom - 5);
  canvas.textAlign = "left";
  const [from, to] = marked.peek() ?? [0, 0];
  if (to <= from) return;
  const [left, right] = [pxFromTime(scale, from), pxFromTime(scale, to)];
  canvas.fillStyle = palette.accent;
  canvas.globalAlpha = 0.16;
  canvas.fillRect(left, 0, right - left, height);
  canvas.globalAlpha = 1;
}

function Hair(): JSX.Element | null {
  const at = pointer.value;
  return at === null ? null : <div class="compare-hair" style={{ transform: `translateX(${Math.round(at.x)}px)` }} />;
}

/** At the pointer, or else in all that is seen. */
function Said(): JSX.Element | null {
  const time = pointed.value;
  const all = toldSteps.value;
  const here = time === null ? undefined : all.find((it) => it.from <= time && time < it.to);
  const known = all.filter((it) => !Number.isNaN(it.base) && !Number.isNaN(it.other));
  if (here === undefined && known.length === 0) return null;
  const mean = (of: (it: Step) => number): number => known.reduce((sum, it) => sum + of(it), 0) / known.length;
  const [old, fresh] = here === undefined ? [mean((it) => it.base), mean((it) => it.other)] : [here.base, here.other];
  return (
    <span>
      {here === undefined ? <span class="muted">of what is seen: </span> : <strong>{instant(here.from)}: </strong>}
      {Number.isNaN(old) || Number.isNaN(fresh) ? (
        <span class="muted">one run only</span>
      ) : (
        <>
          A {percent(old)}, B {percent(fresh)}{" "}
          <span class={fresh > old ? "table-more" : fresh < old ? "table-less" : "muted"}>{signed(fresh - old, points)}</span>
        </>
      )}
    </span>
  );
}

/** The same in numbers. */
export function LaneTwin(): JSX.Element {
  const rows = toldSteps.value;
  const columns: ReadonlyArray<Column<Step>> = [
    { name: "From", help: "When the step begins, in times of A", text: (row) => instant(row.from), value: (row) => row.from, unit: "ns", width: "minmax(150px, 2fr)" },
    { name: "Length", help: "How long the step is", text: (row) => duration(row.to - row.from), value: (row) => row.to - row.from, unit: "ns", width: "minmax(100px, 1fr)" },
    { name: "A", help: `Share of the rows of A that are ${words()}`, text: (row) => percent(row.base), value: (row) => row.base, unit: "%", width: "minmax(90px, 1fr)" },
    { name: "B", help: `Share of the rows of B that are ${words()}`, text: (row) => percent(row.other), value: (row) => row.other, unit: "%", width: "minmax(90px, 1fr)" },
    {
      name: "B − A",
      help: "How much more of its rows B has in it, of a hundred",
      text: (row) => (Number.isNaN(row.other - row.base) ? "–" : signed(row.other - row.base, points)),
      value: (row) => row.other - row.base,
      order: (row) => Math.abs(row.other - row.base) || 0,
      tone: (row) => tone(row.other - row.base),
      bar: (row) => Math.min(Math.abs(row.other - row.base) / laneReach.value, 1) || 0,
      unit: "%",
      width: "minmax(120px, 1fr)",
    },
  ];
  return (
    <div class="compare-twin">
      <h2>Difference, {words()}</h2>
      <Table label="the difference in the course of time" rows={rows} columns={columns} sortedBy={4} height={16} onChoose={(row) => lookAround(row.from, row.to)} />
    </div>
  );
}
