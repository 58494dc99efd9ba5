/**
 * A canvas as sharp as the screen, drawn at most once a frame, and only when something changed.
 */

/** What drawing is given: nothing is looked up. */
export interface DrawContext {
  readonly canvas: CanvasRenderingContext2D;
  /** Size, CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen to one of CSS. */
  readonly ratio: number;
}

export class Surface {
  private readonly element: HTMLCanvasElement;
  private readonly paint: (context: DrawContext) => void;
  private readonly observer: ResizeObserver;
  private frame = 0;
  /** How long the last pictures took, ms, the latest last. */
  readonly times: number[] = [];

  constructor(element: HTMLCanvasElement, paint: (context: DrawContext) => void) {
    this.element = element;
    this.paint = paint;
    this.observer = new ResizeObserver(() => this.invalidate());
    this.observer.observe(element);
    this.invalidate();
  }

  /** Draws again, with the next frame. */
  invalidate(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  dispose(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  private draw(): void {
    this.frame = 0;
    const begin = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = this.element.getBoundingClientRect();
    if (width < 1 || height < 1) return;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.element.width !== across || this.element.height !== down) {
      this.element.width = across;
      this.element.height = down;
    }
    const canvas = this.element.getContext("2d", { alpha: false });
    if (canvas === null) return;
    canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint({ canvas, width, height, ratio });
    this.times.push(performance.now() - begin);
    if (this.times.length > 240) this.times.shift();
  }
}
