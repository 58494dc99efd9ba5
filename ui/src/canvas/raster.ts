/**
 * A picture made pixel by pixel: bars of thousands of visits cost as much as the pixels that they cover, and a picture of
 * a hundred thousand pieces takes a few milliseconds.
 *
 * What is drawn with lines and letters is drawn over it by the canvas.
 */
import type { Ground } from "./ink.ts";

/** So few pixels are set sooner one by one: most pieces of a picture are one wide. */
const NARROW = 24;

export class Raster implements Ground {
  readonly width: number;
  readonly height: number;
  private readonly image: ImageData;
  private readonly pixels: Uint32Array;

  constructor(width: number, height: number) {
    this.width = Math.max(1, Math.round(width));
    this.height = Math.max(1, Math.round(height));
    this.image = new ImageData(this.width, this.height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** Fills a rectangle, what lies outside left out. Whole pixels. */
  fill(left: number, right: number, top: number, bottom: number, pixel: number): void {
    const from = Math.max(0, left);
    const to = Math.min(this.width, right);
    if (to <= from) return;
    const { width, pixels } = this;
    const last = Math.min(this.height, bottom) * width;
    const isNarrow = to - from < NARROW;
    for (let row = Math.max(0, top) * width; row < last; row += width) {
      if (isNarrow) for (let at = row + from; at < row + to; at += 1) pixels[at] = pixel;
      else pixels.fill(pixel, row + from, row + to);
    }
  }

  draw(context: CanvasRenderingContext2D, x: number, y: number): void {
    context.putImageData(this.image, x, y);
  }
}
