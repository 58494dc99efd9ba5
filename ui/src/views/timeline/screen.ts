/**
 * The timeline on the screen: what moves along with time in tiles, names beside it kept, and over both what changes with
 * every frame.
 *
 * The one idea: of two pictures of a timeline that is moved nearly everything is the same, so nearly nothing is drawn.
 *
 * Not here: how things are drawn (draw.ts), which a file does at once.
 */
import { ns, type Span } from "../../base/time.ts";
import { Kept } from "../../canvas/kept.ts";
import { Raster } from "../../canvas/raster.ts";
import { snapped } from "../../canvas/scale.ts";
import type { DrawContext, Drawn } from "../../canvas/surface.ts";
import { Tiles } from "../../canvas/tiles.ts";
import { drawBackdrop, drawMoving, drawOver, GUTTER, RULER, type Scene } from "./draw.ts";
import { names } from "./names.ts";

export class Screen {
  private readonly tiles = new Tiles();
  private readonly beside = new Kept();
  private raster: Raster | null = null;

  paint({ canvas, width, height, ratio, spare }: DrawContext, given: Scene): Drawn {
    const scene = { ...given, scale: snapped(given.scale, ratio) };
    drawBackdrop(canvas, scene, width, height);
    const moving = {
      scale: given.scale,
      top: RULER,
      height: height - RULER,
      ratio,
      look: lookOf(scene),
      source: scene.picture,
      extent: extentOf(scene),
    };
    const isOld = this.tiles.draw(canvas, moving, spare, (ink, scale) => {
      const ground = this.groundOf(ink.canvas.width, ink.canvas.height);
      // The last pixel is the one that is seen.
      drawMoving({ ink, ratio, ground, layer: () => undefined, lay: () => ground.draw(ink, 0, 0) }, { ...scene, scale });
    });
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
