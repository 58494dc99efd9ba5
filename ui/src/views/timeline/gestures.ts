/**
 * What the pointer does on the timeline. Wheel: zoom, sideways: move, over the names: scroll rows. Drag: move, in the
 * ruler or with Shift: mark a span and zoom to it; a name: move the clock of its process. Click: choose a visit; on names:
 * open and close what belongs to them.
 * All of it can be done with keys, too.
 */
import { length, ns, zoom, type Span } from "../../base/time.ts";
import { timeFromPx, type Scale } from "../../canvas/scale.ts";
import { GUTTER, RULER } from "./draw.ts";

/** What a gesture can change, and what it needs to know. */
export interface Hands {
  scale(): Scale;
  look(span: Span): void;
  scrollBy(px: number): void;
  mark(span: readonly [number, number] | null): void;
  choose(time: number, y: number): void;
  /** A name was pressed. */
  press(y: number): void;
  /** A name was dragged, so far, ns; without, that moves the span as dragging elsewhere does. */
  shift?(y: number, by: number): void;
  hover(x: number, y: number): void;
  leave(): void;
}

/** A pointer that moves less than this has clicked. */
const CLICK = 4;

/** Listens on an element; returns what ends it. */
export function listen(element: HTMLElement, hands: Hands): () => void {
  let start: { x: number; y: number; span: Span; kind: "move" | "mark" | "shift" } | null = null;
  const at = (event: PointerEvent | WheelEvent): [number, number] => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const [x, y] = at(event);
    const isName = x < GUTTER && y >= RULER && hands.shift !== undefined;
    start = { x, y, span: hands.scale().span, kind: isName ? "shift" : event.shiftKey || y < RULER ? "mark" : "move" };
    element.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const [x, y] = at(event);
    hands.hover(x, y);
    if (start === null || Math.abs(x - start.x) + Math.abs(y - start.y) < CLICK) return;
    const scale = hands.scale();
    if (start.kind === "mark") {
      hands.mark(ordered(timeFromPx(scale, start.x), timeFromPx(scale, x)));
    } else if (start.kind === "shift") {
      hands.shift?.(start.y - RULER, ((x - start.x) / scale.width) * length(start.span));
    } else {
      const shift = Math.round(((start.x - x) / scale.width) * length(start.span));
      hands.look({ from: ns(start.span.from + shift), to: ns(start.span.to + shift) });
    }
  };
  const up = (event: PointerEvent): void => {
    if (start === null) return;
    const [x, y] = at(event);
    const isClick = Math.abs(x - start.x) + Math.abs(y - start.y) < CLICK;
    const scale = hands.scale();
    if (isClick && x >= GUTTER && y >= RULER) hands.choose(timeFromPx(scale, x), y - RULER);
    else if (isClick && y >= RULER) hands.press(y - RULER);
    else if (!isClick && start.kind === "mark") {
      const [from, to] = ordered(timeFromPx(scale, start.x), timeFromPx(scale, x));
      hands.look({ from: ns(Math.round(from)), to: ns(Math.round(to)) });
    }
    hands.mark(null);
    start = null;
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const [x] = at(event);
    const scale = hands.scale();
    // In lines, or in pages.
    const pages = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const [across, along] = [event.deltaX * pages, event.deltaY * pages];
    if (x < GUTTER || event.altKey) {
      hands.scrollBy(along);
    } else if (event.shiftKey || Math.abs(across) > Math.abs(along)) {
      const shift = Math.round((((event.shiftKey && across === 0 ? along : across) * 1) / scale.width) * length(scale.span));
      hands.look({ from: ns(scale.span.from + shift), to: ns(scale.span.to + shift) });
    } else {
      hands.look(zoom(scale.span, Math.exp(-along / 400), timeFromPx(scale, x)));
    }
  };
  const leave = (): void => hands.leave();
  // The system has taken the pointer away, as for a gesture of its own.
  const cancel = (): void => {
    hands.mark(null);
    start = null;
  };
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", cancel);
  element.addEventListener("pointerleave", leave);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", cancel);
    element.removeEventListener("pointerleave", leave);
    element.removeEventListener("wheel", wheel);
  };
}

function ordered(a: number, b: number): readonly [number, number] {
  return a < b ? [a, b] : [b, a];
}
