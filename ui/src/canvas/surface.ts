/**
 * A canvas as sharp as the screen, drawn at most once a frame, and only when something changed.
 */

/** Whether all was drawn, or some of it is to be drawn with the next frame. */
export type Drawn = "done" | "again";

/** How many parts that need not be drawn at once may be drawn with a frame by all that are drawn with it. */
export interface Spare {
  parts: number;
}

const SPARE = 1;

/** What drawing is given: nothing is looked up. */
export interface DrawContext {
  readonly spare: Spare;
  readonly canvas: CanvasRenderingContext2D;
  /** Size, CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the screen to one of CSS. */
  readonly ratio: number;
}

/** Those that are drawn with the next frame, all of them together. */
const toDraw = new Set<Surface>();
let frame: number | null = null;

function drawAll(): void {
  frame = null;
  const all = [...toDraw];
  toDraw.clear();
  const spare = { parts: SPARE };
  for (const surface of all) surface.draw(spare);
}

export class Surface {
  private readonly element: HTMLCanvasElement;
  private readonly paint: (context: DrawContext) => Drawn;
  private readonly observer: ResizeObserver;
  private canvas: CanvasRenderingContext2D | null = null;
  /** CSS pixels, as the browser tells when they change: to ask with each frame would make it lay out the page. */
  private width = 0;
  private height = 0;
  /** How long the last pictures took, ms, the latest last. */
  readonly times: number[] = [];

  constructor(element: HTMLCanvasElement, paint: (context: DrawContext) => Drawn) {
    this.element = element;
    this.paint = paint;
    this.observer = new ResizeObserver(() => {
      this.measure();
      this.invalidate();
    });
    this.observer.observe(element);
    this.measure();
    this.invalidate();
  }

  /** Draws again, with the next frame. */
  invalidate(): void {
    toDraw.add(this);
    frame ??= requestAnimationFrame(drawAll);
  }

  dispose(): void {
    this.observer.disconnect();
    toDraw.delete(this);
  }

  private measure(): void {
    const { width, height } = this.element.getBoundingClientRect();
    [this.width, this.height] = [width, height];
  }

  draw(spare: Spare): void {
    const begin = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = this;
    if (width < 1 || height < 1) return;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.element.width !== across || this.element.height !== down) {
      this.element.width = across;
      this.element.height = down;
    }
    const canvas = (this.canvas ??= this.element.getContext("2d", { alpha: false }));
    if (canvas === null) return;
    canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
    const drawn = this.paint({ canvas, width, height, ratio, spare });
    this.times.push(performance.now() - begin);
    if (this.times.length > 240) this.times.shift();
    if (drawn === "again") this.invalidate();
  }
}
