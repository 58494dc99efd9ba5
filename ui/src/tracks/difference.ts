/**
 * How long iterations took in two runs, one beside the other: a grey bar as high as what both took, and over it what one of
 * them took more, in the colour of the difference. A line goes along the first run.
 */
import { ticks } from "../base/time.ts";
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";

export interface DifferenceLook {
  /** CSS pixels of the bars. */
  readonly left: number;
  readonly width: number;
  readonly top: number;
  readonly bottom: number;
  readonly colours: Palette;
  /** The iteration that is meant; `null` = none. */
  readonly chosen: number | null;
  /** What is written at the upper end, given the longest. */
  readonly longest: (ns: number) => string;
}

/** Bars are at least so wide, CSS pixels; narrower ones stand together, as their means. */
const NARROWEST = 2;
/** Bars that are at least so wide have their sign, and so high. */
const SIGNED = 9;
const FONT = "11px ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', monospace";

/** How many iterations a bar stands for. */
export function perBar(number: number, width: number): number {
  return Math.max(1, Math.ceil((number * NARROWEST) / Math.max(width, 1)));
}

/** The iteration at a place. */
export function iterationAt(px: number, look: Pick<DifferenceLook, "left" | "width">, number: number): number | null {
  const at = Math.floor(((px - look.left) / look.width) * number);
  return at < 0 || at >= number ? null : at;
}

/** Draws lengths of iterations, ns; not a number = there is none. */
export function drawDifference(canvas: Ink, old: Float64Array, fresh: Float64Array, look: DifferenceLook): void {
  const number = Math.max(old.length, fresh.length);
  const per = perBar(number, look.width);
  const bars = Math.ceil(number / per);
  const [first, second] = [means(old, per, bars), means(fresh, per, bars)];
  const most = [...first, ...second].reduce((most, it) => (it > most ? it : most), 1);
  const { colours, left, width, top, bottom } = look;
  const x = (bar: number): number => Math.round(left + (Math.min(bar * per, number) / number) * width);
  const y = (ns: number): number => Math.round(bottom - (ns / most) * (bottom - top));
  const gap = width / bars > 5 ? 1 : 0;
  for (let bar = 0; bar < bars; bar += 1) {
    const [a, b] = [first[bar] ?? NaN, second[bar] ?? NaN];
    const [from, to] = [x(bar), x(bar + 1) - gap];
    const isPair = !Number.isNaN(a) && !Number.isNaN(b);
    const low = y(isPair ? Math.min(a, b) : Number.isNaN(a) ? b : a);
    canvas.fillStyle = colours.faint;
    canvas.globalAlpha = isPair ? 0.35 : 0.15;
    canvas.fillRect(from, low, to - from, bottom - low);
    canvas.globalAlpha = 1;
    if (!isPair) continue;
    const high = y(Math.max(a, b));
    canvas.fillStyle = b > a ? colours.more : colours.less;
    canvas.fillRect(from, high, to - from, low - high);
    if (to - from >= SIGNED && low - high >= SIGNED) sign(canvas, colours, b > a ? "+" : "−", (from + to) / 2, (high + low) / 2);
  }
  along(canvas, first, x, y, colours);
  chosenBar(canvas, look, number);
  axis(canvas, look, number, most);
}

function means(lengths: Float64Array, per: number, bars: number): Float64Array {
  const result = new Float64Array(bars).fill(NaN);
  for (let bar = 0; bar < bars; bar += 1) {
    let [sum, some] = [0, 0];
    for (let at = bar * per; at < Math.min((bar + 1) * per, lengths.length); at += 1) {
      sum += lengths[at] ?? 0;
      some += 1;
    }
    if (some > 0) result[bar] = sum / some;
  }
  return result;
}

function sign(canvas: Ink, colours: Palette, text: string, x: number, y: number): void {
  canvas.fillStyle = colours.background;
  canvas.font = `600 ${FONT}`;
  canvas.textAlign = "center";
  canvas.textBaseline = "middle";
  canvas.fillText(text, x, y);
}

/** The first run, as a line in steps. */
function along(canvas: Ink, lengths: Float64Array, x: (bar: number) => number, y: (ns: number) => number, colours: Palette): void {
  canvas.strokeStyle = colours.text;
  canvas.lineWidth = 1;
  canvas.beginPath();
  let isDown = false;
  lengths.forEach((length, bar) => {
    if (Number.isNaN(length)) {
      isDown = false;
      return;
    }
    const height = y(length) + 0.5;
    if (isDown) canvas.lineTo(x(bar), height);
    else canvas.moveTo(x(bar), height);
    canvas.lineTo(x(bar + 1), height);
    isDown = true;
  });
  canvas.stroke();
}

function chosenBar(canvas: Ink, look: DifferenceLook, number: number): void {
  if (look.chosen === null) return;
  const from = Math.round(look.left + (look.chosen / number) * look.width);
  const to = Math.round(look.left + ((look.chosen + 1) / number) * look.width);
  canvas.strokeStyle = look.colours.accent;
  canvas.lineWidth = 2;
  canvas.strokeRect(from - 1, look.top - 3, Math.max(to - from, 2) + 1, look.bottom - look.top + 4);
  canvas.lineWidth = 1;
}

/** Numbers of iterations beneath, counted from 1; the longest to the left. */
function axis(canvas: Ink, look: DifferenceLook, number: number, most: number): void {
  const { colours, left, width, top, bottom } = look;
  canvas.fillStyle = colours.faint;
  canvas.font = FONT;
  canvas.textBaseline = "middle";
  canvas.textAlign = "left";
  const { at } = ticks({ from: 1 as never, to: (number + 1) as never }, width / 90);
  for (const value of at) {
    const x = Math.round(left + ((value - 1) / number) * width) + 0.5;
    canvas.fillRect(x - 0.5, bottom, 1, 4);
    if (x + 3 + canvas.measureText(String(value)).width <= left + width + 8) canvas.fillText(String(value), x + 3, bottom + 8);
  }
  canvas.textAlign = "right";
  canvas.fillText(look.longest(most), left - 8, top + 4);
  canvas.fillText("0", left - 8, bottom - 4);
  canvas.textAlign = "left";
}
