/**
 * A picture as SVG, made by the same drawing as on a canvas: whatever is drawn with an Ink can be saved so.
 *
 * Not here: curves, images, gradients; no picture has them.
 */
import type { Ground, Ink } from "./ink.ts";

interface State {
  fillStyle: string | CanvasGradient | CanvasPattern;
  strokeStyle: string | CanvasGradient | CanvasPattern;
  globalAlpha: number;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  font: string;
  textBaseline: CanvasTextBaseline;
  textAlign: CanvasTextAlign;
  dash: readonly number[];
  x: number;
  y: number;
  /** Groups that were opened for clipping and end with this state. */
  groups: number;
}

export class Vector implements Ink, State {
  fillStyle: State["fillStyle"] = "#000";
  strokeStyle: State["strokeStyle"] = "#000";
  globalAlpha = 1;
  lineWidth = 1;
  lineJoin: CanvasLineJoin = "miter";
  font = "10px sans-serif";
  textBaseline: CanvasTextBaseline = "alphabetic";
  textAlign: CanvasTextAlign = "start";
  dash: readonly number[] = [];
  x = 0;
  y = 0;
  groups = 0;
  private readonly parts: string[] = [];
  private readonly states: State[] = [];
  private readonly measure: CanvasRenderingContext2D | null;
  private path = "";
  private clips = 0;

  constructor() {
    this.measure = document.createElement("canvas").getContext("2d");
  }

  save(): void {
    const { fillStyle, strokeStyle, globalAlpha, lineWidth, lineJoin, font, textBaseline, textAlign, dash, x, y, groups } = this;
    this.states.push({ fillStyle, strokeStyle, globalAlpha, lineWidth, lineJoin, font, textBaseline, textAlign, dash, x, y, groups });
    this.groups = 0;
  }

  restore(): void {
    const before = this.states.pop();
    if (before === undefined) return;
    this.parts.push("</g>".repeat(this.groups));
    Object.assign(this, before);
  }

  translate(x: number, y: number): void {
    this.x += x;
    this.y += y;
  }

  beginPath(): void {
    this.path = "";
  }

  moveTo(x: number, y: number): void {
    this.path += `M${this.at(x, y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `${this.path === "" ? "M" : "L"}${this.at(x, y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${this.at(x, y)}h${short(width)}v${short(height)}h${short(-width)}z`;
  }

  clip(): void {
    this.clips += 1;
    const name = `clip${this.clips}`;
    this.parts.push(`<clipPath id="${name}"><path d="${this.path}"/></clipPath><g clip-path="url(#${name})">`);
    this.groups += 1;
  }

  stroke(): void {
    if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="none" ${this.lines()}/>`);
  }

  fill(): void {
    if (this.path !== "") this.parts.push(`<path d="${this.path}" fill="${text(this.fillStyle)}"${this.faintness()}/>`);
  }

  closePath(): void {
    this.path += "z";
  }

  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    if (width === 0 || height === 0) return;
    this.box(x, y, width, height, `fill="${text(this.fillStyle)}"${this.faintness()}`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.box(x, y, width, height, `fill="none" ${this.lines()}`);
  }

  fillText(content: string, x: number, y: number): void {
    if (content === "") return;
    const anchor = { center: "middle", end: "end", right: "end", left: "start", start: "start" }[this.textAlign];
    const base = this.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
    const [left, top] = [short(x + this.x), short(y + this.y)];
    const look = `${fontOf(this.font)} text-anchor="${anchor}"${base} fill="${text(this.fillStyle)}"${this.faintness()}`;
    this.parts.push(`<text x="${left}" y="${top}" ${look}>${text(content)}</text>`);
  }

  measureText(content: string): TextMetrics {
    if (this.measure === null) throw new Error("this browser measures no texts");
    this.measure.font = this.font;
    return this.measure.measureText(content);
  }

  /** A ground of rectangles whose pixels are those of CSS, with its corner at a place. */
  ground(left: number, top: number, width: number, height: number): VectorGround {
    return new VectorGround(this.parts, left + this.x, top + this.y, width, height);
  }

  /** The file. */
  svg(width: number, height: number, title: string): string {
    const size = `width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}"`;
    const open = this.states.map((state) => "</g>".repeat(state.groups)).join("") + "</g>".repeat(this.groups);
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><title>${text(title)}</title>${this.parts.join("\n")}${open}</svg>\n`;
  }

  private at(x: number, y: number): string {
    return `${short(x + this.x)} ${short(y + this.y)}`;
  }

  private box(x: number, y: number, width: number, height: number, look: string): void {
    const [left, top] = [Math.min(x, x + width) + this.x, Math.min(y, y + height) + this.y];
    const size = `width="${short(Math.abs(width))}" height="${short(Math.abs(height))}"`;
    this.parts.push(`<rect x="${short(left)}" y="${short(top)}" ${size} ${look}/>`);
  }

  private lines(): string {
    const dash = this.dash.length === 0 ? "" : ` stroke-dasharray="${this.dash.join(" ")}"`;
    const { strokeStyle, lineWidth, lineJoin } = this;
    return `stroke="${text(strokeStyle)}" stroke-width="${short(lineWidth)}" stroke-linejoin="${lineJoin}"${dash}${this.faintness()}`;
  }

  private faintness(): string {
    return this.globalAlpha === 1 ? "" : ` opacity="${short(this.globalAlpha)}"`;
  }
}

/** Rectangles; one that continues its neighbour in time is joined with it. */
class VectorGround implements Ground {
  readonly width: number;
  readonly height: number;
  private readonly parts: string[];
  private readonly left: number;
  private readonly top: number;
  private readonly open = new Map<string, { left: number; right: number; top: number; bottom: number; pixel: number }>();

  constructor(parts: string[], left: number, top: number, width: number, height: number) {
    [this.parts, this.left, this.top, this.width, this.height] = [parts, left, top, width, height];
  }

  fill(left: number, right: number, top: number, bottom: number, pixel: number): void {
    const [from, to] = [Math.max(0, left), Math.min(this.width, right)];
    const [above, below] = [Math.max(0, top), Math.min(this.height, bottom)];
    if (to <= from || below <= above) return;
    const key = `${above} ${below} ${pixel}`;
    const last = this.open.get(key);
    if (last !== undefined && last.right === from) {
      last.right = to;
      return;
    }
    if (last !== undefined) this.write(last);
    this.open.set(key, { left: from, right: to, top: above, bottom: below, pixel });
  }

  /** Writes what is still open; to be called when all is filled that lies under the next. */
  finish(): void {
    for (const box of this.open.values()) this.write(box);
    this.open.clear();
  }

  private write(box: { left: number; right: number; top: number; bottom: number; pixel: number }): void {
    const colour = [0, 8, 16].map((shift) => ((box.pixel >>> shift) & 0xff).toString(16).padStart(2, "0")).join("");
    const place = `x="${short(box.left + this.left)}" y="${short(box.top + this.top)}"`;
    this.parts.push(`<rect ${place} width="${short(box.right - box.left)}" height="${short(box.bottom - box.top)}" fill="#${colour}"/>`);
  }
}

/** `600 12px Inter, sans-serif` as attributes. */
function fontOf(font: string): string {
  const [, weight = "", size = "10", family = "sans-serif"] = /^(?:(\d+|bold) )?([\d.]+)px (.*)$/.exec(font) ?? [];
  return `font-family="${text(family)}" font-size="${size}"${weight === "" ? "" : ` font-weight="${weight}"`}`;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** What would be read as an element is text. */
function text(value: unknown): string {
  const harmless: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  // XML has no place for control characters at all.
  return String(value)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"']/g, (letter) => harmless[letter] ?? letter);
}
