/**
 * From time to pixels and back, and at which resolution to ask.
 */
import { length, ns, type Span } from "../base/time.ts";

export interface Scale {
  readonly span: Span;
  /** CSS pixels of the span's begin and of its length. */
  readonly left: number;
  readonly width: number;
}

export function pxFromTime(scale: Scale, time: number): number {
  return scale.left + ((time - scale.span.from) / length(scale.span)) * scale.width;
}

export function timeFromPx(scale: Scale, px: number): number {
  return scale.span.from + ((px - scale.left) / scale.width) * length(scale.span);
}

/** The scale on which something stands so much later, ns. */
export function later(scale: Scale, by: number): Scale {
  return { ...scale, span: { from: ns(scale.span.from - by), to: ns(scale.span.to - by) } };
}

/** How many pixels lie between the start of the run and what stands at 0: the same pixel has the same number however far a picture is moved. */
export function pxSinceStart(scale: Scale): number {
  return (scale.span.from / length(scale.span)) * scale.width - scale.left;
}

/** How long a pixel of the screen is, ns. */
export function perPixel(scale: Scale, ratio: number): number {
  return length(scale.span) / (scale.width * ratio);
}

/**
 * The scale whose span begins on a whole pixel of the screen, counted from the start of the run: what is drawn with it looks
 * the same wherever the span is moved to, and lies off by half a pixel at most.
 */
export function snapped(scale: Scale, ratio: number): Scale {
  const each = perPixel(scale, ratio);
  const from = Math.round(scale.span.from / each) * each;
  return { ...scale, span: { from: ns(from), to: ns(from + length(scale.span)) } };
}

/** log₂ of a length in ns that is at most a pixel: a power of two, so that small steps keep asking the same. */
export function resolutionLog2(span: Span, px: number): number {
  return Math.max(0, Math.floor(Math.log2(length(span) / Math.max(px, 1))));
}

/** Three windows wide, its ends multiples of the window's size, so that panning rarely asks. */
export function buffered(span: Span, bounds: Span, log2: number): Span {
  const grid = 2 ** Math.ceil(Math.log2(length(span)));
  const step = Math.max(grid / 2, 2 ** log2);
  const from = Math.max(Math.floor((span.from - length(span)) / step) * step, bounds.from);
  const to = Math.min(Math.ceil((span.to + length(span)) / step) * step, bounds.to);
  return { from: ns(from), to: ns(Math.max(to, from + 1)) };
}

export function contains(outer: Span, inner: Span): boolean {
  return outer.from <= inner.from && inner.to <= outer.to;
}
