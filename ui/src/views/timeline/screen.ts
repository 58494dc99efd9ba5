/**
 * The timeline on the screen: what moves along with time in tiles, names beside it kept, and over both what changes with
 * every frame.
 *
 * The one idea: of two pictures of a timeline that is moved nearly everything is the same, so nearly nothing is drawn. The same
 * holds while a region blinks, which has tiles with it and tiles without it, and while a clock is moved by hand: its rows are put
 * elsewhere as they were drawn, and only lines that end in them are drawn anew.
 *
 * Not here: how things are drawn (draw.ts), which a file does at once.
 */
import { length, ns, type Span } from "../../base/time.ts";
import { Kept } from "../../canvas/kept.ts";
import { Raster } from "../../canvas/raster.ts";
import { snapped } from "../../canvas/scale.ts";
import type { DrawContext, Drawn } from "../../canvas/surface.ts";
import { Tiles, type Shifted } from "../../canvas/tiles.ts";
import { endOf } from "../../tracks/layout.ts";
import { drawBackdrop, drawFlows, drawMoving, drawOver, drawRows, drawSigns, GUTTER, RULER, type Scene } from "./draw.ts";
import type { Picture } from "./fetch.ts";
import { movedRows, movedScene, stillScene, type Moved } from "./moved.ts";
import { names } from "./names.ts";

/** Signs reach so far above their row, CSS pixels. */
const ABOVE = 2;

/** Which parts of a scene tiles have. */
type Part = "all" | "rows" | "flows";

export class Screen {
  /** By part, and whether what blinks is gone. */
  private readonly tiles = new Map<string, Tiles>();
  private readonly beside = new Kept();
  private raster: Raster | null = null;
  private dropped = 0;

  /** How many tiles were drawn so far, for whoever counts that. */
  get drawn(): number {
    return [...this.tiles.values()].reduce((sum, it) => sum + it.drawn, this.dropped);
  }

  paint({ canvas, width, height, ratio, spare }: DrawContext, given: Scene): Drawn {
    const scene = { ...given, scale: snapped(given.scale, ratio) };
    drawBackdrop(canvas, scene, width, height);
    const lay = (part: Part, shown: Scene, look: readonly unknown[], shifted: Shifted | null = null): boolean => {
      const moving = { scale: given.scale, top: RULER, height: height - RULER, ratio, look: [...lookOf(scene), ...look], source: scene.picture, extent: extentOf(scene) };
      return this.tilesOf(part, scene).draw(canvas, moving, spare, (ink, scale) => this.paintTile(part, ink, { ...shown, scale }, ratio), shifted);
    };
    const isOld = scene.moved === null || scene.picture === null ? lay("all", scene, []) : this.layMoved(canvas, height, { scene, moved: scene.moved, picture: scene.picture }, lay);
    this.forget(scene);
    const place = { left: 0, top: RULER, width: GUTTER, height: height - RULER, ratio };
    this.beside.draw(canvas, place, namesOf(scene), (ink) => {
      ink.fillStyle = scene.colours.background;
      ink.fillRect(0, 0, GUTTER + 1, height);
      ink.translate(0, -RULER);
      names(ink, scene, height);
    });
    drawOver(canvas, scene, height);
    return isOld ? "again" : "done";
  }

  /** While a clock is moved: its rows as they were drawn, shifted; over them lines that stay, and those that end in such a row. */
  private layMoved(canvas: CanvasRenderingContext2D, height: number, { scene, moved, picture }: { readonly scene: Scene; readonly moved: Moved; readonly picture: Picture }, lay: (part: Part, shown: Scene, look: readonly unknown[], shifted?: Shifted | null) => boolean): boolean {
    const { scale, layout, scroll } = scene;
    const bands = movedRows(layout, moved).own.rows.map((row): [number, number] => [row.top - ABOVE - scroll, endOf(row) - scroll]);
    const areRowsOld = lay("rows", scene, [], { by: (moved.by / length(scale.span)) * scale.width, bands });
    const areFlowsOld = lay("flows", stillScene(scene, picture, moved), [moved.locations]);
    canvas.save();
    canvas.beginPath();
    canvas.rect(GUTTER, RULER, scale.width, height - RULER);
    canvas.clip();
    canvas.translate(0, RULER);
    drawFlows(canvas, movedScene(scene, picture, moved));
    canvas.restore();
    return areRowsOld || areFlowsOld;
  }

  private paintTile(part: Part, ink: CanvasRenderingContext2D, scene: Scene, ratio: number): void {
    if (part === "flows") {
      drawFlows(ink, scene);
      return;
    }
    const ground = this.groundOf(ink.canvas.width, ink.canvas.height);
    // The last pixel is the one that is seen.
    const sheet = { ink, ratio, ground, layer: () => undefined, lay: () => ground.draw(ink, 0, 0) };
    if (part === "all") {
      drawMoving(sheet, scene);
      return;
    }
    drawRows(sheet, scene);
    drawSigns(ink, scene);
  }

  /** What blinks has tiles with it and tiles without it, so that it comes and goes without being drawn. */
  private tilesOf(part: Part, { blinking }: Scene): Tiles {
    const name = blinking === "gone" ? `${part}, gone` : part;
    const tiles = this.tiles.get(name) ?? new Tiles(part === "flows" ? "clear" : "covering");
    this.tiles.set(name, tiles);
    return tiles;
  }

  /** Drops tiles that nobody needs before something blinks, or is moved, again. */
  private forget({ blinking, moved }: Scene): void {
    for (const [name, tiles] of this.tiles) {
      const isNeeded = (blinking !== "no" || !name.endsWith("gone")) && (moved !== null || name.startsWith("all"));
      if (isNeeded) continue;
      this.dropped += tiles.drawn;
      this.tiles.delete(name);
    }
  }

  /** As large as a tile; kept, since making one costs as much as drawing. */
  private groundOf(width: number, height: number): Raster {
    if (this.raster === null || this.raster.width !== width || this.raster.height !== height) this.raster = new Raster(width, height);
    return this.raster;
  }
}

/** All that tiles are made of, but for the picture and where in time it is. */
function lookOf(scene: Scene): readonly unknown[] {
  const { run, layout, scroll, colours, pixels, hidden, chosenRegion, operation, isMeant, events, ranges, picked, colourOf } = scene;
  return [run, layout, scroll, colours, pixels, hidden, chosenRegion, operation, isMeant, events, ranges, picked, colourOf];
}

/** All that names are made of; what is folded or left out changes the layout as well. */
function namesOf({ run, layout, scroll, colours, ranges, visit }: Scene): readonly unknown[] {
  return [run, layout, scroll, colours, ranges, visit === null ? null : run.lines[visit.line]?.location];
}

/** For which span a picture has all there is: to the ends of the run there is nothing more. */
function extentOf({ run, picture }: Scene): Span {
  if (picture === null) return { from: ns(0), to: ns(0) };
  const { from_ns: from, to_ns: to } = picture.window;
  return { from: ns(from <= 0 ? -Infinity : from), to: ns(to >= run.duration_ns ? Infinity : to) };
}
