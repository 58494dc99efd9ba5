/**
 * A picture made pixel by pixel: bars of thousands of visits cost as much as the pixels that they cover, and a picture of
 * a hundred thousand pieces takes a few milliseconds.
 *
 * What is drawn with lines and letters is drawn over it by the canvas.
 */
import type { Ground } from "./ink.ts";

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
    const last = Math.min(this.height, bottom);
    for (let y = Math.max(0, top); y < last; y += 1) {
      this.pixels.fill(pixel, y * this.width + from, y * this.width + to);
    }
  }

  draw(context: CanvasRenderingContext2D, x: number, y: number): void {
    context.putImageData(this.image, x, y);
  }
}
