/** What keys do, wherever the pointer is, unless somebody writes. */
import { length, ns, zoom } from "../../base/time.ts";
import {
  back,
  clearSelection,
  forward,
  isBlinking,
  layers,
  look,
  lookAround,
  lookAtAll,
  origin,
  span,
  view,
  VIEWS,
} from "../../state/view.ts";
import { pointedAt, scrollRows } from "../../state/timeline.ts";
import { step, visit } from "../../state/visit.ts";

/** Part of the span by which one step moves, and factor by which it zooms. */
const MOVE = 0.15;
const ZOOM = 1.5;

function move(share: number): void {
  const shift = Math.round(length(span.peek()) * share);
  look({ from: ns(span.peek().from + shift), to: ns(span.peek().to + shift) });
}

function toggle(name: "messages" | "waits" | "path"): void {
  layers.value = { ...layers.value, [name]: !layers.peek()[name] };
}

const TIMELINE: Readonly<Record<string, () => void>> = {
  w: () => toggle("waits"),
  m: () => toggle("messages"),
  c: () => toggle("path"),
  "+": () => look(zoom(span.peek(), ZOOM, pointedAt())),
  "=": () => look(zoom(span.peek(), ZOOM, pointedAt())),
  s: () => look(zoom(span.peek(), 1 / ZOOM, pointedAt())),
  "-": () => look(zoom(span.peek(), 1 / ZOOM, pointedAt())),
  e: () => look(zoom(span.peek(), ZOOM, pointedAt())),
  a: () => move(-MOVE),
  ArrowLeft: () => move(-MOVE),
  d: () => move(MOVE),
  ArrowRight: () => move(MOVE),
  ArrowUp: () => scrollRows(-40),
  ArrowDown: () => scrollRows(40),
  "0": lookAtAll,
  f: () => {
    const it = visit.peek();
    if (it !== null) lookAround(it.start_ns, it.end_ns);
  },
  t: () => {
    origin.value = origin.peek() === null ? pointedAt() : null;
  },
  b: () => {
    isBlinking.value = !isBlinking.peek();
  },
};

const EVERYWHERE: Readonly<Record<string, () => void>> = {
  "[": () => void step("previous"),
  "]": () => void step("next"),
  Escape: clearSelection,
  "/": () => document.getElementById("finder")?.focus(),
  "?": () => {
    view.value = "help";
  },
};

export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    const writes = target instanceof HTMLElement && target.closest("input:not([type=checkbox]), textarea, select") !== null;
    if (writes && event.key !== "Escape") return;
    if (event.key === "Backspace") {
      if (event.shiftKey) forward();
      else back();
    } else if (/^[1-6]$/.test(event.key)) {
      view.value = VIEWS[Number(event.key) - 1] ?? view.peek();
    } else {
      const act = EVERYWHERE[event.key] ?? (view.peek() === "timeline" ? TIMELINE[event.key] : undefined);
      if (act === undefined) return;
      act();
    }
    event.preventDefault();
  });
}
