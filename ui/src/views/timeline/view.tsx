/** The timeline: minimap, rows, mountains; which of them are drawn how is said elsewhere. */
import { computed, effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { counted } from "../../base/format.ts";
import { duration, instant, length, ns } from "../../base/time.ts";
import { pxFromTime, timeFromPx, type Scale } from "../../canvas/scale.ts";
import { Surface, type DrawContext } from "../../canvas/surface.ts";
import { linesOf, run, whole } from "../../state/run.ts";
import {
  chosenRegion,
  chosenVisit,
  hidden,
  isBlinking,
  layers,
  look,
  lookAtAll,
  origin,
  seenLocations,
  span,
} from "../../state/view.ts";
import { mostScroll, pointer, scroll, scrollRows, totals } from "../../state/timeline.ts";
import { visit } from "../../state/visit.ts";
import { drawCourse } from "../../tracks/course.ts";
import { arrange, lineAt, rowAt, type Layout } from "../../tracks/layout.ts";
import { colourOf, colours, pixels } from "../colours.ts";
import { drawScene, GUTTER, MARGIN, RULER, spoken } from "./draw.ts";
import { course, follow, isStale, minimap, picture, plotWidth } from "./fetch.ts";
import { listen } from "./gestures.ts";
import "./timeline.css";

/** Depths of a location that are drawn at most. */
const MOST_LINES = 6;

const room = signal(0);
const marked = signal<readonly [number, number] | null>(null);
const blink = signal(false);

/** By line, for which part of the run something was recorded on it. */
const busy = computed(() => (run.value?.lines ?? []).map((line) => line.time_ns / whole.value.to));

const layout = computed<Layout>(() => arrange(seenLocations.value, linesOf.value, busy.value, room.value, MOST_LINES));

/** How the timeline is drawn, for whoever measures that. */
export const surfaces: { timeline?: Surface } = {};

function scale(): Scale {
  return { span: span.peek(), left: GUTTER, width: Math.max(plotWidth.peek(), 1) };
}

export function Timeline(): JSX.Element {
  useEffect(() => follow(), []);
  return (
    <div class="timeline" data-settled={!isStale.value && picture.value !== null && totals.value !== null}>
      <Bar />
      <Minimap />
      <Rows />
      <Mountains />
    </div>
  );
}

function Bar(): JSX.Element {
  const shown = picture.value;
  const numberOfMessages = shown?.numberOfMessages;
  const toggle = (name: "messages" | "waits" | "path"): void => {
    layers.value = { ...layers.value, [name]: !layers.value[name] };
  };
  const leftOut = run.value?.left_out ?? [];
  const coarse = leftOut.includes("visits") ? " · coarser than pixels: this page holds no single visits" : " · coarser than pixels while exact buckets are read";
  const hint = shown === null || shown.trust.is_exact ? "" : coarse;
  return (
    <div class="timeline-bar">
      <h1>Timeline</h1>
      <span class="muted">
        {counted(seenLocations.value.length, "location")} · {duration(length(span.value))} of {duration(length(whole.value))}
        {layers.value.messages && numberOfMessages === null ? " · too many messages to draw, zoom in" : ""}
        {layers.value.messages && (numberOfMessages ?? 0) > 5000 ? ` · ${counted(numberOfMessages ?? 0, "message")}, zoom in to see them` : ""}
        {layers.value.messages && leftOut.includes("messages") ? " · this page holds no messages" : ""}
        {hint}
      </span>
      <div class="timeline-tools">
        <Toggle name="Waits" shortcut="w" help="Waiting that was explained, drawn in amber over the calls that waited" isOn={layers.value.waits} act={() => toggle("waits")} />
        <Toggle name="Messages" shortcut="m" help="Lines from where messages were sent to where they were received" isOn={layers.value.messages} act={() => toggle("messages")} />
        <Toggle name="Critical path" shortcut="c" help="What made the run as long as it was: whatever is faster on it makes the run shorter" isOn={layers.value.path} act={() => toggle("path")} />
        <button type="button" onClick={lookAtAll} title="Show the whole run (0)">
          Whole run
        </button>
      </div>
    </div>
  );
}

interface ToggleProps {
  readonly name: string;
  readonly shortcut: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly act: () => void;
}

function Toggle({ name, shortcut, help, isOn, act }: ToggleProps): JSX.Element {
  return (
    <button type="button" aria-pressed={isOn} onClick={act} title={`${help} (${shortcut})`}>
      {name}
    </button>
  );
}

function Rows(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (box.current === null || element.current === null) return;
    const surface = new Surface(element.current, paint);
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
        // Whatever the picture depends on.
        void [run.value, picture.value, span.value, layout.value, scroll.value, colours.value, hidden.value];
        void [chosenRegion.value, visit.value, origin.value, marked.value, isStale.value, blink.value, plotWidth.value];
        surface.invalidate();
      }),
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
  const at = pointer.value;
  return (
    <div class="timeline-rows" ref={box}>
      <canvas ref={element} tabIndex={0} role="img" aria-label={spoken({ scale: { span: span.value, left: 0, width: 1 }, layout: layout.value })} />
      {at === null ? null : (
        <div class="timeline-hair" style={{ transform: `translateX(${Math.round(at.x)}px)` }}>
          <span class={at.x > GUTTER + plotWidth.value - 170 ? "timeline-time timeline-time-left" : "timeline-time"}>
            {origin.value === null ? instant(at.time) : `${at.time < origin.value ? "−" : "+"}${duration(Math.abs(at.time - origin.value))}`}
          </span>
        </div>
      )}
    </div>
  );
}

function paint(context: DrawContext): void {
  const head = run.peek();
  if (head === null) return;
  const blinked = blink.peek() ? (chosenRegion.peek() ?? visit.peek()?.region ?? null) : null;
  drawScene(context, {
    run: head,
    picture: picture.peek(),
    scale: scale(),
    layout: layout.peek(),
    scroll: scroll.peek(),
    colours: colours.peek(),
    pixels: pixels.peek(),
    hidden: blinked === null ? hidden.peek() : new Set([...hidden.peek(), blinked]),
    chosenRegion: blinked === null ? chosenRegion.peek() : null,
    visit: visit.peek(),
    origin: origin.peek() ?? 0,
    marked: marked.peek(),
    isStale: isStale.peek(),
  });
}

const hands = {
  scale,
  look,
  scrollBy: scrollRows,
  mark(next: readonly [number, number] | null): void {
    marked.value = next;
  },
  choose(time: number, y: number): void {
    const row = rowAt(layout.peek(), y + scroll.peek());
    const line = row === undefined ? undefined : lineAt(row, y + scroll.peek());
    chosenVisit.value = line === undefined ? null : { line, at: Math.round(time) };
  },
  hover(x: number, _y: number): void {
    pointer.value = x < GUTTER || x > GUTTER + plotWidth.peek() ? null : { x, time: timeFromPx(scale(), x) };
  },
  leave(): void {
    pointer.value = null;
  },
};

function Minimap(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = element.current;
    if (canvas === null) return;
    const surface = new Surface(canvas, paintMinimap);
    const end = effect(() => {
      void [minimap.value, span.value, colours.value, hidden.value, plotWidth.value];
      surface.invalidate();
    });
    const act = (event: PointerEvent): void => {
      if (event.buttons !== 1) return;
      const box = canvas.getBoundingClientRect();
      const all = { span: whole.peek(), left: GUTTER, width: plotWidth.peek() };
      const middle = timeFromPx(all, event.clientX - box.left);
      const half = length(span.peek()) / 2;
      look({ from: ns(Math.round(middle - half)), to: ns(Math.round(middle + half)) });
    };
    canvas.addEventListener("pointerdown", act);
    canvas.addEventListener("pointermove", act);
    return () => {
      end();
      surface.dispose();
    };
  }, []);
  return (
    <div class="timeline-minimap">
      <span class="timeline-name">Whole run</span>
      <canvas ref={element} role="img" aria-label="The whole run, with the span that is shown; press to move it" />
    </div>
  );
}

function paintMinimap({ canvas, width, height }: DrawContext): void {
  const look = colours.peek();
  canvas.fillStyle = look.background;
  // A canvas may end within a pixel.
  canvas.fillRect(0, 0, width + 1, height + 1);
  const all = { span: whole.peek(), left: GUTTER, width: plotWidth.peek() };
  const shown = minimap.peek();
  canvas.fillStyle = look.life;
  canvas.fillRect(GUTTER, 4, all.width, height - 8);
  if (shown !== null) {
    drawCourse(canvas, shown, { scale: all, top: 4, bottom: height - 4, colours: look, colourOf: colourOf.peek(), hidden: hidden.peek() });
  }
  const [left, right] = [pxFromTime(all, span.peek().from), pxFromTime(all, span.peek().to)];
  canvas.fillStyle = look.background;
  canvas.globalAlpha = 0.55;
  canvas.fillRect(GUTTER, 0, left - GUTTER, height);
  canvas.fillRect(right, 0, GUTTER + all.width - right, height);
  canvas.globalAlpha = 1;
  canvas.strokeStyle = look.accent;
  canvas.lineWidth = 1.5;
  canvas.strokeRect(left, 2, Math.max(right - left, 2), height - 4);
}

function Mountains(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const surface = new Surface(element.current, paintMountains);
    const end = effect(() => {
      void [course.value, span.value, colours.value, hidden.value, plotWidth.value];
      surface.invalidate();
    });
    return () => {
      end();
      surface.dispose();
    };
  }, []);
  return (
    <div class="timeline-mountains">
      <span class="timeline-name">Locations in each state</span>
      <canvas ref={element} role="img" aria-label="How many locations are in which region, in the course of the span" />
    </div>
  );
}

function paintMountains({ canvas, width, height }: DrawContext): void {
  const look = colours.peek();
  canvas.fillStyle = look.background;
  // A canvas may end within a pixel.
  canvas.fillRect(0, 0, width + 1, height + 1);
  const now = scale();
  canvas.fillStyle = look.life;
  canvas.fillRect(now.left, 6, now.width, height - 12);
  const shown = course.peek();
  if (shown === null) return;
  canvas.save();
  canvas.beginPath();
  canvas.rect(now.left, 0, now.width, height);
  canvas.clip();
  drawCourse(canvas, shown, { scale: now, top: 6, bottom: height - 6, colours: look, colourOf: colourOf.peek(), hidden: hidden.peek() });
  canvas.restore();
}
