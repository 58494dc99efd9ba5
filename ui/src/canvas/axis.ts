/** The ruler above a picture, and its grid. */
import { tick, ticks } from "../base/time.ts";
import type { Ink } from "./ink.ts";
import type { Palette } from "./palette.ts";
import { pxFromTime, type Scale } from "./scale.ts";

export interface Axis {
  readonly scale: Scale;
  /** What is written as 0. */
  readonly origin: number;
  readonly top: number;
  readonly bottom: number;
}

/** Letters may reach so far beyond the right end, CSS pixels. */
const BEYOND = 8;
/** At least as wide as a letter of it: to measure each text of each frame takes longer than to draw it. */
const LETTER = 6.8;
const FONT = "11px ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', monospace";

/** Letters of the ruler in a strip of 20 px, lines down to the bottom. */
export function drawAxis(canvas: Ink, colours: Palette, axis: Axis): void {
  const { scale, origin, top, bottom } = axis;
  const shifted = { from: (scale.span.from - origin) as never, to: (scale.span.to - origin) as never };
  const { step, at } = ticks(shifted, scale.width / 96);
  canvas.font = FONT;
  canvas.textBaseline = "middle";
  canvas.textAlign = "left";
  canvas.strokeStyle = colours.grid;
  canvas.fillStyle = colours.faint;
  canvas.beginPath();
  for (const value of at) {
    const x = Math.round(pxFromTime(scale, value + origin)) + 0.5;
    canvas.moveTo(x, top + 14);
    canvas.lineTo(x, bottom);
    const text = tick(value, step);
    // Half of a number says another number.
    if (x + 4 + text.length * LETTER > scale.left + scale.width + BEYOND) continue;
    canvas.fillText(text, x + 4, top + 10);
  }
  canvas.stroke();
}
