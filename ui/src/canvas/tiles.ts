/**
 * A picture that is moved sideways, kept in upright tiles: while it moves, tiles are put where they belong, and only what
 * comes into sight is drawn.
 *
 * The one idea: tiles lie on a lattice of whole pixels that are counted from the start of the run, so that one looks the same
 * wherever it stands. When something newer is to be shown while the picture moves, old tiles stay and one is drawn anew with
 * each frame; when it stands still, all are at once.
 *
 * Not here: what is drawn; what does not move along.
 */
import { length, ns, type Span } from "../base/time.ts";
import { contains, perPixel, type Scale } from "./scale.ts";
import type { Spare } from "./surface.ts";

/** How wide a tile is, CSS pixels: the widest of which one is drawn in a small part of a frame. */
const WIDTH = 48;
/** So many windows of tiles are kept. */
const WINDOWS = 3;

/** What is to be seen. */
export interface Moving {
  /** Of whole ns, so that it is the same to the last bit as long as nobody zooms. */
  readonly scale: Scale;
  /** CSS pixels. */
  readonly top: number;
  readonly height: number;
  readonly ratio: number;
  /** What tiles look like: when one of these changes no tile is of use any more. */
  readonly look: readonly unknown[];
  /** What they are drawn from, and for which span all of it is known. */
  readonly source: unknown;
  readonly extent: Span;
}

/** Parts of a picture that stand elsewhere for a while, as far as its tiles are wide: from one height to another. CSS pixels. */
export interface Shifted {
  readonly by: number;
  readonly bands: ReadonlyArray<readonly [top: number, bottom: number]>;
}

/** Draws what belongs into a tile, given where in time it is. */
export type PaintTile = (canvas: CanvasRenderingContext2D, scale: Scale) => void;

interface Tile {
  readonly element: HTMLCanvasElement;
  readonly canvas: CanvasRenderingContext2D;
  source: unknown;
  /** Whether its source knew all of it. */
  isWhole: boolean;
}

/** Which tiles were laid, and whether some are those of an older source. */
interface Laid {
  readonly first: number;
  readonly behind: number;
  readonly isOld: boolean;
}

export class Tiles {
  private readonly tiles = new Map<number, Tile>();
  private readonly free: Tile[] = [];
  private look: readonly unknown[] = [];
  private last = NaN;
  private readonly isClear: boolean;
  /** How many tiles were drawn so far, for whoever counts that. */
  drawn = 0;

  /** Tiles cover what lies beneath them, or are clear where nothing is drawn. */
  constructor(kind: "covering" | "clear" = "covering") {
    this.isClear = kind === "clear";
  }

  /** Draws all that is seen; whether some tiles are still those of an older source. What is shifted lies over the rest. */
  draw(target: CanvasRenderingContext2D, moving: Moving, spare: Spare, paint: PaintTile, shifted: Shifted | null = null): boolean {
    const { scale, ratio } = moving;
    const wide = Math.round(WIDTH * ratio);
    const across = Math.max(Math.round(scale.width * ratio), 1);
    const down = Math.max(Math.round(moving.height * ratio), 1);
    this.keep([...moving.look, length(scale.span) / scale.width, ratio, down]);
    const begin = Math.round(scale.span.from / perPixel(scale, ratio));
    const isStill = begin === this.last;
    this.last = begin;
    const [left, top] = [Math.round(scale.left * ratio), Math.round(moving.top * ratio)];
    const lay = (from: number, bands: ReadonlyArray<readonly [number, number]>): Laid => {
      target.save();
      target.setTransform(1, 0, 0, 1, 0, 0);
      target.beginPath();
      bands.forEach(([above, below]) => target.rect(left, top + above, across, below - above));
      target.clip();
      const [first, behind] = [Math.floor(from / wide), Math.ceil((from + across) / wide)];
      let isOld = false;
      for (let place = first; place < behind; place += 1) {
        const known = this.tiles.get(place);
        const isCurrent = known !== undefined && known.source === moving.source;
        const mayWait = known !== undefined && known.isWhole && !isStill && spare.parts <= 0;
        // What has to be drawn counts as well, so that no frame has much more to do than others.
        if (!isCurrent && !mayWait) spare.parts -= 1;
        isOld ||= !isCurrent && mayWait;
        const tile = isCurrent || mayWait ? known : this.painted(place, [wide, down], moving, paint);
        if (tile !== null && tile !== undefined) target.drawImage(tile.element, left + place * wide - from, top);
      }
      target.restore();
      return { first, behind, isOld };
    };
    const all = lay(begin, [[0, down]]);
    const bands = (shifted?.bands ?? []).map(([above, below]): [number, number] => [Math.max(Math.round(above * ratio), 0), Math.min(Math.round(below * ratio), down)]);
    const seen = bands.filter(([above, below]) => above < below);
    const moved = shifted === null || seen.length === 0 ? all : lay(begin - Math.round(shifted.by * ratio), seen);
    this.forget(moved === all ? [all] : [all, moved]);
    return all.isOld || moved.isOld;
  }

  /** Drops all tiles if they would look otherwise. */
  private keep(look: readonly unknown[]): void {
    if (look.length === this.look.length && look.every((it, at) => Object.is(it, this.look[at]))) return;
    this.look = look;
    this.free.push(...this.tiles.values());
    this.tiles.clear();
  }

  private painted(place: number, [wide, down]: readonly [number, number], moving: Moving, paint: PaintTile): Tile | null {
    const tile = this.tiles.get(place) ?? this.free.pop() ?? fresh(this.isClear);
    if (tile === null) return null;
    const { element, canvas } = tile;
    if (element.width !== wide || element.height !== down) [element.width, element.height] = [wide, down];
    const { scale, ratio, extent } = moving;
    const each = perPixel(scale, ratio);
    const span = { from: ns(place * wide * each), to: ns((place + 1) * wide * each) };
    canvas.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.isClear) canvas.clearRect(0, 0, wide, down);
    canvas.save();
    paint(canvas, { span, left: 0, width: wide / ratio });
    canvas.restore();
    this.drawn += 1;
    tile.source = moving.source;
    tile.isWhole = contains(extent, span);
    this.tiles.set(place, tile);
    return tile;
  }

  /** Tiles that are far from all that was laid are used again: what is shifted may lie far from the rest. */
  private forget(laid: readonly Laid[]): void {
    const most = laid.reduce((sum, { first, behind }) => sum + (behind - first) * WINDOWS, 0);
    if (this.tiles.size <= most) return;
    const isNear = (place: number): boolean => laid.some(({ first, behind }) => place >= first - (behind - first) && place < behind + (behind - first));
    for (const [place, tile] of this.tiles) {
      if (isNear(place)) continue;
      this.tiles.delete(place);
      this.free.push(tile);
    }
    this.free.length = Math.min(this.free.length, most);
  }
}

function fresh(isClear: boolean): Tile | null {
  const element = document.createElement("canvas");
  const canvas = element.getContext("2d", { alpha: isClear });
  return canvas === null ? null : { element, canvas, source: null, isWhole: false };
}
