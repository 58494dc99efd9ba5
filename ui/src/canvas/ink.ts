/** What pictures are drawn with: a canvas, or a text that says the same in SVG. */

/** Of a canvas, what drawing may use. */
export type Ink = Pick<
  CanvasRenderingContext2D,
  | "fillStyle"
  | "strokeStyle"
  | "globalAlpha"
  | "lineWidth"
  | "lineJoin"
  | "font"
  | "textBaseline"
  | "textAlign"
  | "fillRect"
  | "strokeRect"
  | "beginPath"
  | "moveTo"
  | "lineTo"
  | "rect"
  | "clip"
  | "stroke"
  | "fill"
  | "closePath"
  | "setLineDash"
  | "fillText"
  | "measureText"
  | "save"
  | "restore"
  | "translate"
>;

/** Rectangles in the colours of a palette, in pixels of the screen; what lies outside is left out. */
export interface Ground {
  readonly width: number;
  readonly height: number;
  fill(left: number, right: number, top: number, bottom: number, pixel: number): void;
}
