/** The rows of the timeline: their canvas, and what the pointer does there. */
import { effect, signal, untracked } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { duration, instant, length } from "../../base/time.ts";
import { pxFromTime, timeFromPx } from "../../canvas/scale.ts";
import { Surface } from "../../canvas/surface.ts";
import { threadsOf, toggleHost, toggleThreads } from "../../state/rows.ts";
import { run } from "../../state/run.ts";
import { toldSpan } from "../../state/told.ts";
import { chooseEvents, chooseMessage, chooseOperation, chooseVisit, chosenRegion, isBlinking, look, origin, span, type ChosenMessage } from "../../state/view.ts";
import { moveClock } from "../../state/clock.ts";
import { mostScroll, pointed, pointer, scroll, scrollRows } from "../../state/timeline.ts";
import { operationAt } from "../../tracks/collectives.ts";
import { eventAt } from "../../tracks/events.ts";
import { hostAt, lineAt, rowAt } from "../../tracks/layout.ts";
import { overlapAt } from "../../tracks/overlaps.ts";
import { messageThere, sceneThere, wordsOfMessage } from "./arrows.ts";
import { GUTTER, MARGIN, RULER, spoken } from "./draw.ts";
import { picture } from "./fetch.ts";
import { listen } from "./gestures.ts";
import { timeOf } from "./moved.ts";
import { layout, plotWidth, room, scale } from "./place.ts";
import { Readings } from "./readings.tsx";
import { blink, marked, sceneNow, watchScene } from "./scene.ts";
import { Screen } from "./screen.ts";

/** How the timeline is drawn, for whoever measures that. */
export const surfaces: { timeline?: Surface } = {};

export function Rows(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (box.current === null || element.current === null) return;
    const screen = new Screen();
    const surface = new Surface(element.current, (context) => {
      const scene = sceneNow();
      if (scene === null) return "done";
      const drawn = screen.paint(context, scene);
      // How many tiles were drawn so far, for whoever counts them.
      context.canvas.canvas.dataset["tiles"] = String(screen.drawn);
      return drawn;
    });
    surfaces.timeline = surface;
    const resize = new ResizeObserver(([entry]) => {
      plotWidth.value = Math.max(0, Math.floor((entry?.contentRect.width ?? 0) - GUTTER - MARGIN));
      room.value = Math.max(0, (entry?.contentRect.height ?? 0) - RULER - 4);
    });
    resize.observe(box.current);
    const ends = [
      listen(box.current, hands),
      effect(() => {
        mostScroll.value = Math.max(0, layout.value.height - room.value);
        scrollRows(0);
      }),
      effect(() => {
        watchScene();
        surface.invalidate();
      }),
      effect(followHint),
      effect(() => {
        if (!isBlinking.value) {
          blink.value = false;
          return undefined;
        }
        const timer = setInterval(() => (blink.value = !blink.peek()), 450);
        return () => clearInterval(timer);
      }),
    ];
    return () => {
      ends.forEach((end) => end());
      resize.disconnect();
      surface.dispose();
    };
  }, []);
  const label = spoken({ scale: { span: toldSpan.value, left: 0, width: 1 }, layout: layout.value });
  return (
    <div class={hint.value === "" ? "timeline-rows" : "timeline-rows timeline-rows-pressed"} ref={box} title={hint.value}>
      <canvas ref={element} tabIndex={0} role="img" aria-label={label} />
      <Hair />
      <Readings />
    </div>
  );
}

/** A line where the pointer is, and the instant that lies there. */
function Hair(): JSX.Element | null {
  const [at, time] = [pointer.value, pointed.value];
  if (at === null || time === null) return null;
  return (
    <div class="timeline-hair" style={{ transform: `translateX(${Math.round(at.x)}px)` }}>
      <span class={at.x > GUTTER + plotWidth.value - 170 ? "timeline-time timeline-time-left" : "timeline-time"}>
        {origin.value === null ? instant(time) : `${time < origin.value ? "−" : "+"}${duration(Math.abs(time - origin.value))}`}
      </span>
    </div>
  );
}

/** When what is drawn at an instant of a row was: another time, where its clock is being moved. */
function timeIn(time: number, y: number): number {
  const [moved, row] = [sceneNow()?.moved ?? null, rowAt(layout.peek(), y + scroll.peek())];
  return row === undefined ? time : time - (timeOf(moved, row.location, time) - time);
}

/** The operation of all whose shape is there. */
function operationThere(time: number, y: number): ReturnType<typeof operationAt> {
  const scene = sceneThere();
  const all = scene?.picture?.operations ?? null;
  if (scene === null || all === null) return null;
  const { scale, layout, scroll, colours, hidden, operation } = scene;
  return operationAt(all, { scale, layout, scroll, colours, hidden, chosen: operation }, pxFromTime(scale, time), y);
}

/** The overlapping state that is there. */
function overlapThere(time: number, y: number): number | null {
  const [scene, all] = [sceneNow(), picture.peek()?.overlaps ?? null];
  return scene === null || all === null ? null : overlapAt(all, scene, pxFromTime(scene.scale, time), y + scene.scroll);
}

/** The sign of an instant that is there. */
function eventThere(time: number, y: number): number | null {
  const scene = sceneThere();
  const all = scene?.picture?.events ?? null;
  return scene === null || all === null ? null : eventAt(all, scene, pxFromTime(scene.scale, time), y);
}

/** What a sign stands for. */
function markAt(time: number, y: number): string {
  const [all, at] = [picture.peek()?.events ?? null, eventThere(time, y)];
  if (all === null || at === null) return "";
  const [number, name] = [all.number[at] ?? 1, run.peek()?.event_kinds[all.kind[at] ?? 0]?.name ?? ""];
  const what = number > 1 ? `${name} and others, ${number} instants` : name;
  return `${what} at ${instant(all.time[at] ?? 0)}; press to read what the program said`;
}

/** What an overlapping state is called there, and how long it is. */
function wordsOf(time: number, y: number): string {
  const [all, at] = [picture.peek()?.overlaps ?? null, overlapThere(time, y)];
  if (all === null || at === null) return "";
  const number = all.number[at] ?? 1;
  const name = run.peek()?.regions[all.region[at] ?? 0]?.name ?? "";
  return `${name}${number > 1 ? ` and others, ${number} together` : ""}: ${duration(all.duration[at] ?? 0)}, from ${instant(all.start[at] ?? 0)}; press to choose it in all views`;
}

/** Whether something is drawn there. */
function isPiece(line: number, time: number): boolean {
  const states = picture.peek()?.states;
  const half = length(span.peek()) / Math.max(plotWidth.peek(), 1) / 2;
  return (
    states !== undefined &&
    states.line.some((it, at) => {
      const start = states.start[at] ?? 0;
      return it === line && start - half <= time && time <= start + (states.duration[at] ?? 0) + half;
    })
  );
}

/** The line of a row at a height. */
function lineThere(y: number): number | undefined {
  const row = rowAt(layout.peek(), y + scroll.peek());
  return row === undefined ? undefined : lineAt(row, y + scroll.peek());
}

/** The message whose line is there. Where it crosses a bar it has to be met; the mark of an operation lies before it. */
function arrowThere(time: number, y: number): ChosenMessage | null {
  const line = lineThere(y);
  const isOnBar = (): boolean => overlapThere(time, y) !== null || (line !== undefined && isPiece(line, timeIn(time, y)));
  const found = messageThere(time, y, isOnBar);
  return found === null || operationThere(time, y)?.isMark === true ? null : found;
}

/** What a press on a name or a strip would do; empty = nothing but choosing. */
const hint = signal("");
/** Where the pointer was last, CSS pixels of the canvas; `null` = it has left. */
const rests = signal<{ readonly x: number; readonly y: number } | null>(null);

function wordsAt(x: number, y: number): string {
  if (y < RULER) return "";
  const ofName = hintAt(x, y - RULER + scroll.peek());
  if (ofName !== "" || x < GUTTER) return ofName;
  const time = timeFromPx(scale(), x);
  const sign = markAt(time, y - RULER);
  const arrow = sign === "" ? arrowThere(time, y - RULER) : null;
  return sign || (arrow === null ? wordsOf(time, y - RULER) : wordsOfMessage(arrow));
}

/** What lies under a pointer that rests is another thing after a zoom, and words follow as those of the span do. */
function followHint(): void {
  void [toldSpan.value, layout.value, scroll.value, picture.value];
  const at = rests.peek();
  if (at !== null) hint.value = untracked(() => wordsAt(at.x, at.y));
}

function hintAt(x: number, y: number): string {
  const host = hostAt(layout.peek(), y);
  if (host !== undefined) return host.isClosed ? `Press to show the rows of ${host.host}; the strip is how many of its locations are in which state` : `Press to close the rows of ${host.host}`;
  const row = x < GUTTER ? rowAt(layout.peek(), y) : undefined;
  if (row === undefined) return "";
  const threads = threadsOf(row.location);
  const press = threads === "none" ? "" : threads === "shown" ? "Press to fold its threads; " : "Press to show its threads; ";
  return `${press}${press === "" ? "D" : "d"}rag sideways to move its clock by hand`;
}

const hands = {
  scale,
  look,
  scrollBy: scrollRows,
  mark(next: readonly [number, number] | null): void {
    marked.value = next;
  },
  choose(time: number, y: number): void {
    if (hostAt(layout.peek(), y + scroll.peek()) !== undefined) {
      hands.press(y);
      return;
    }
    const [marks, mark] = [picture.peek()?.events ?? null, eventThere(time, y)];
    if (marks !== null && mark !== null) {
      chooseEvents({ location: marks.location[mark] ?? 0, from: marks.time[mark] ?? 0, to: marks.last[mark] ?? 0 });
      return;
    }
    const arrow = arrowThere(time, y);
    if (arrow !== null) {
      chooseMessage(arrow);
      return;
    }
    const [all, at] = [picture.peek()?.overlaps ?? null, overlapThere(time, y)];
    if (all !== null && at !== null) {
      const region = all.region[at] ?? null;
      chosenRegion.value = chosenRegion.peek() === region ? null : region;
      return;
    }
    const line = lineThere(y);
    const pressed = operationThere(time, y);
    // A visit lies before the shape of an operation, but for its mark.
    if (pressed !== null && (pressed.isMark || line === undefined || !isPiece(line, timeIn(time, y)))) chooseOperation(pressed.operation);
    else chooseVisit(line === undefined ? null : { line, at: Math.round(timeIn(time, y)) });
  },
  press(y: number): void {
    const [host, row] = [hostAt(layout.peek(), y + scroll.peek()), rowAt(layout.peek(), y + scroll.peek())];
    if (host !== undefined) toggleHost(host.host);
    else if (row !== undefined) toggleThreads(run.peek()?.locations[row.location]?.process ?? -1);
  },
  shift(y: number, by: number): void {
    const row = rowAt(layout.peek(), y + scroll.peek());
    if (row !== undefined) moveClock(run.peek()?.locations[row.location]?.process ?? -1, by);
  },
  hover(x: number, y: number): void {
    rests.value = { x, y };
    hint.value = wordsAt(x, y);
    pointer.value = x < GUTTER || x > GUTTER + plotWidth.peek() ? null : { x, along: (x - GUTTER) / Math.max(plotWidth.peek(), 1) };
  },
  leave(): void {
    rests.value = null;
    pointer.value = null;
    hint.value = "";
  },
};
