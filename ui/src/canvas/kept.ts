/**
 * A part of a picture that seldom changes: drawn once, and put there again with each frame.
 *
 * Not here: what does change, which is drawn over it.
 */

/** Where it is, CSS pixels. */
export interface Place {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
}

export class Kept {
  private readonly element = document.createElement("canvas");
  private look: readonly unknown[] | null = null;

  /** Puts it there; draws it before if one of what it is made of is another. Its begin is where the canvas has 0. */
  draw(target: CanvasRenderingContext2D, place: Place, look: readonly unknown[], paint: (canvas: CanvasRenderingContext2D) => void): void {
    const { element } = this;
    const { ratio } = place;
    const [wide, down] = [Math.max(Math.round(place.width * ratio), 1), Math.max(Math.round(place.height * ratio), 1)];
    const all = [...look, wide, down, ratio];
    if (this.look === null || all.length !== this.look.length || !all.every((it, at) => Object.is(it, this.look?.[at]))) {
      if (element.width !== wide || element.height !== down) [element.width, element.height] = [wide, down];
      const canvas = element.getContext("2d", { alpha: false });
      if (canvas === null) return;
      canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
      canvas.save();
      paint(canvas);
      canvas.restore();
      this.look = all;
    }
    target.save();
    target.setTransform(1, 0, 0, 1, 0, 0);
    target.drawImage(element, Math.round(place.left * ratio), Math.round(place.top * ratio));
    target.restore();
  }
}
