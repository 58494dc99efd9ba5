/** The timeline of one side: drawn as the timeline is, moved together with the other. */
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { duration, instant, ns, type Span } from "../../base/time.ts";
import { Surface, type DrawContext, type Drawn } from "../../canvas/surface.ts";
import { alignedSpans, scrollBoth } from "../../state/pair.ts";
import { toggleHost, toggleThreads } from "../../state/rows.ts";
import { pointed, pointer } from "../../state/timeline.ts";
import { toldSpan } from "../../state/told.ts";
import { look } from "../../state/view.ts";
import { hostAt, lineAt, rowAt } from "../../tracks/layout.ts";
import { GUTTER, MARGIN, RULER, spoken } from "../timeline/draw.ts";
import { listen, type Hands } from "../timeline/gestures.ts";
import { Screen } from "../timeline/screen.ts";
import { follow } from "./fetch.ts";
import { instantAt } from "./instants.ts";
import { marked, scaleOf, sceneOf } from "./scene.ts";
import { plotWidth, type Side } from "./side.ts";

/** What the pointer is at, by side; empty = nothing that has to be told. */
const hints = { A: signal(""), B: signal("") };

export function Panel({ side }: { readonly side: Side }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (box.current === null || element.current === null) return;
    const surface = new Surface(element.current, painter(side));
    const resize = new ResizeObserver(([entry]) => {
      plotWidth.value = Math.max(0, Math.floor((entry?.contentRect.width ?? 0) - GUTTER - MARGIN));
      side.room.value = Math.max(0, (entry?.contentRect.height ?? 0) - RULER - 4);
    });
    resize.observe(box.current);
    const ends = [
      follow(side),
      listen(box.current, handsOf(side)),
      effect(() => {
        sceneOf(side);
        surface.invalidate();
      }),
    ];
    return () => {
      ends.forEach((end) => end());
      resize.disconnect();
      surface.dispose();
    };
  }, [side]);
  const name = side.run.value?.name ?? "";
  const label = `${side.letter}, ${name}: ${spoken({ scale: { span: toldBy(side), left: 0, width: 1 }, layout: side.layout.value })}`;
  return (
    <div class="compare-rows" ref={box} title={hints[side.letter].value}>
      <canvas ref={element} tabIndex={0} role="img" aria-label={label} />
      <Hair side={side} />
    </div>
  );
}

/** A line where the pointer is, and the instant of the side that lies there. */
function Hair({ side }: { readonly side: Side }): JSX.Element | null {
  const [at, time] = [pointer.value, pointed.value];
  if (at === null || time === null) return null;
  return (
    <div class="compare-hair" style={{ transform: `translateX(${Math.round(at.x)}px)` }}>
      <span class={at.x > GUTTER + plotWidth.value - 170 ? "compare-time compare-time-left" : "compare-time"}>{timeAt(side, time)}</span>
    </div>
  );
}

/** The span in the times of a side, as words tell it. */
function toldBy(side: Side): Span {
  const [{ from, to }, by] = [toldSpan.value, side.shift.value];
  return { from: ns(from + by), to: ns(to + by) };
}

/** An instant of the base as a side calls it: its own time, or since the aligned iteration began. */
function timeAt(side: Side, time: number): string {
  const own = time + side.shift.value;
  const since = own - side.origin.value;
  return alignedSpans.value === null ? instant(own) : `${since < 0 ? "−" : "+"}${duration(Math.abs(since))}`;
}

function painter(side: Side): (context: DrawContext) => Drawn {
  const screen = new Screen();
  return (context) => {
    const scene = sceneOf(side);
    if (scene === null) return "done";
    const drawn = screen.paint(context, scene);
    // As the timeline says it.
    context.canvas.canvas.dataset["tiles"] = String(screen.drawn);
    return drawn;
  };
}

/** What a press on a host does. */
function hostWords(side: Side, y: number): string {
  const host = hostAt(side.layout.peek(), y - RULER + side.scroll.peek());
  if (host === undefined) return "";
  const both = `in both runs, where they have it`;
  return host.isClosed ? `Press to show the rows of ${host.host} ${both}; the strip is how many of its locations are in which state` : `Press to close the rows of ${host.host} ${both}`;
}

/** What the pointer does on a side it does on both; it knows times of that side. */
function handsOf(side: Side): Hands {
  const toBase = (own: Span): Span => ({ from: ns(own.from - side.shift.peek()), to: ns(own.to - side.shift.peek()) });
  return {
    scale: () => scaleOf(side),
    look: (own) => look(toBase(own)),
    scrollBy: scrollBoth,
    mark(next) {
      marked.value = next === null ? null : [next[0] - side.shift.peek(), next[1] - side.shift.peek()];
    },
    choose(time, y) {
      const host = hostAt(side.layout.peek(), y + side.scroll.peek());
      if (host !== undefined) {
        toggleHost(host.host);
        return;
      }
      const row = rowAt(side.layout.peek(), y + side.scroll.peek());
      const line = row === undefined ? undefined : lineAt(row, y + side.scroll.peek());
      side.chosenVisit.value = line === undefined || time < 0 ? null : { line, at: Math.round(time) };
    },
    press(y) {
      const host = hostAt(side.layout.peek(), y + side.scroll.peek());
      if (host !== undefined) toggleHost(host.host);
      const row = rowAt(side.layout.peek(), y + side.scroll.peek());
      const process = row === undefined ? null : side.processOf(row.location);
      if (process !== null) toggleThreads(process);
    },
    hover(x, y) {
      const scene = sceneOf(side);
      hints[side.letter].value = scene === null || y < RULER ? "" : hostWords(side, y) || (x < GUTTER ? "" : instantAt(scene, x, y - RULER));
      pointer.value = x < GUTTER || x > GUTTER + plotWidth.peek() ? null : { x, along: (x - GUTTER) / Math.max(plotWidth.peek(), 1) };
    },
    leave() {
      hints[side.letter].value = "";
      pointer.value = null;
    },
  };
}
