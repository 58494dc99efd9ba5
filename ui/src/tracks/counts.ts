/** How many things one line of a picture stands for, written where there is room for it. */
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
import { pxSinceStart, type Scale } from "../canvas/scale.ts";

/** Where a number is to stand, CSS pixels. */
export type Counted = readonly [x: number, y: number, count: number];

/** One number has so much room, CSS pixels. */
const ACROSS = 44;
const DOWN = 22;
/** Numbers that stand no farther beside a picture may reach into it, or take the room of one that does. */
export const BESIDE = ACROSS + ACROSS / 2;

/** The largest numbers first; one that would stand on another is left out, the same however far the picture is moved. */
export function drawCounts(canvas: Ink, counts: readonly Counted[], scale: Scale, colours: Palette): void {
  const shift = pxSinceStart(scale);
  const taken = new Set<string>();
  canvas.font = "10px Inter, system-ui, sans-serif";
  canvas.textBaseline = "middle";
  canvas.textAlign = "center";
  for (const [x, y, count] of [...counts].sort((a, b) => b[2] - a[2])) {
    const place = `${Math.floor((x + shift) / ACROSS)} ${Math.floor(y / DOWN)}`;
    if (taken.has(place)) continue;
    taken.add(place);
    const words = `×${count}`;
    const width = canvas.measureText(words).width + 6;
    canvas.fillStyle = colours.background;
    canvas.globalAlpha = 0.85;
    canvas.fillRect(x - width / 2, y - 7, width, 14);
    canvas.globalAlpha = 1;
    canvas.fillStyle = colours.text;
    canvas.fillText(words, x, y);
  }
  canvas.textAlign = "left";
}
