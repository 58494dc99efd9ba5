/** The whole run above the rows, and the mountain range beneath them. */
import { computed, effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { length, ns, type Span } from "../../base/time.ts";
import type { Ground, Ink } from "../../canvas/ink.ts";
import { Kept } from "../../canvas/kept.ts";
import { pixel } from "../../canvas/palette.ts";
import { Raster } from "../../canvas/raster.ts";
import { pxFromTime, timeFromPx, type Scale } from "../../canvas/scale.ts";
import { Surface, type DrawContext, type Drawn } from "../../canvas/surface.ts";
import { Tiles } from "../../canvas/tiles.ts";
import { whole } from "../../state/run.ts";
import { hidden, look, span } from "../../state/view.ts";
import { drawCourse, type Course } from "../../tracks/course.ts";
import { colours, pixels } from "../colours.ts";
import { GUTTER, MARGIN } from "./draw.ts";
import { course, minimap } from "./fetch.ts";
import { plotWidth, scale } from "./place.ts";

export function Minimap(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = element.current;
    if (canvas === null) return;
    const surface = new Surface(canvas, minimapPainter());
    const end = effect(() => {
      void [minimap.value, span.value, colours.value, pixels.value, hidden.value, plotWidth.value];
      surface.invalidate();
    });
    const act = (event: PointerEvent): void => {
      if (event.buttons !== 1) return;
      const box = canvas.getBoundingClientRect();
      const all = { span: whole.peek(), left: GUTTER, width: plotWidth.peek() };
      const middle = timeFromPx(all, event.clientX - box.left);
      const half = length(span.peek()) / 2;
      look({ from: ns(Math.round(middle - half)), to: ns(Math.round(middle + half)) });
    };
    canvas.addEventListener("pointerdown", act);
    canvas.addEventListener("pointermove", act);
    return () => {
      end();
      surface.dispose();
    };
  }, []);
  return (
    <div class="timeline-minimap">
      <span class="timeline-name">Whole run</span>
      <canvas ref={element} role="img" aria-label="The whole run, with the span that is shown; press to move it; the table of the whole run has the numbers" />
    </div>
  );
}

/** Margins of a mountain range, CSS pixels. */
const SMALL = 4;
const LARGE = 6;

function minimapPainter(): (context: DrawContext) => Drawn {
  const kept = new Kept();
  return ({ canvas, width, height, ratio }) => {
    const look = colours.peek();
    const all = { span: whole.peek(), left: GUTTER, width: Math.max(plotWidth.peek(), 1) };
    const from = [minimap.peek(), whole.peek(), look, pixels.peek(), hidden.peek(), all.width];
    kept.draw(canvas, { left: 0, top: 0, width, height, ratio }, from, (ink) => {
      ink.fillStyle = look.background;
      // A canvas may end within a pixel.
      ink.fillRect(0, 0, width + 1, height + 1);
      const ground = new Raster(Math.round(all.width * ratio), Math.round(height * ratio));
      drawRange(ground, minimap.peek(), { ...all, left: 0 }, height, SMALL, ratio);
      ground.draw(ink, Math.round(GUTTER * ratio), 0);
    });
    const [left, right] = [pxFromTime(all, span.peek().from), pxFromTime(all, span.peek().to)];
    canvas.fillStyle = look.background;
    canvas.globalAlpha = 0.55;
    canvas.fillRect(GUTTER, 0, left - GUTTER, height);
    canvas.fillRect(right, 0, GUTTER + all.width - right, height);
    canvas.globalAlpha = 1;
    canvas.strokeStyle = look.accent;
    canvas.lineWidth = 1.5;
    canvas.strokeRect(left, 2, Math.max(right - left, 2), height - 4);
    return "done";
  };
}

/** A ground of a file has to be told when what follows lies over what was filled before. */
type Layered = Ground & { finish?(): void };

/** A mountain range on its ground; the scale begins where that does. */
function drawRange(ground: Layered, shown: Course | null, scale: Scale, height: number, margin: number, ratio: number): void {
  const look = colours.peek();
  ground.fill(0, ground.width, 0, ground.height, pixel(look.background));
  ground.finish?.();
  ground.fill(0, ground.width, Math.round(margin * ratio), Math.round((height - margin) * ratio), pixel(look.life));
  ground.finish?.();
  if (shown === null) return;
  drawCourse(ground, shown, { scale, top: margin, bottom: height - margin, ratio, colours: look, pixels: pixels.peek(), hidden: hidden.peek() });
}

/** Whether some of what is hidden may be drawn all the same: where more than three regions are too short to be seen, all others are grey. */
const hidesUntold = computed(() => hidden.value.size > 0 && course.value?.head.has_untold === true);

export function Mountains(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const surface = new Surface(element.current, mountainsPainter());
    const end = effect(() => {
      void [course.value, span.value, colours.value, pixels.value, hidden.value, plotWidth.value];
      surface.invalidate();
    });
    return () => {
      end();
      surface.dispose();
    };
  }, []);
  return (
    <div class="timeline-mountains">
      <span class="timeline-name" title={hidesUntold.value ? "Where more than three states are too short to be seen, only the largest three are told apart: hidden ones may still be in what is grey" : undefined}>
        Locations in each state{hidesUntold.value ? ", about" : ""}
      </span>
      <canvas ref={element} role="img" aria-label="How many locations are in which region, in the course of the span; the table of the mountains has the numbers" />
    </div>
  );
}

function mountainsPainter(): (context: DrawContext) => Drawn {
  const tiles = new Tiles();
  let raster: Raster | null = null;
  return ({ canvas, width, height, ratio, spare }) => {
    const look = colours.peek();
    canvas.fillStyle = look.background;
    canvas.fillRect(0, 0, GUTTER, height + 1);
    canvas.fillRect(width - MARGIN, 0, MARGIN + 1, height + 1);
    const shown = course.peek();
    const moving = { scale: scale(), top: 0, height, ratio, look: [look, pixels.peek(), hidden.peek()], source: shown, extent: extentOf(shown) };
    const isOld = tiles.draw(canvas, moving, spare, (ink, part) => {
      const { width: across, height: down } = ink.canvas;
      if (raster === null || raster.width !== across || raster.height !== down) raster = new Raster(across, down);
      drawRange(raster, shown, part, height, LARGE, ratio);
      raster.draw(ink, 0, 0);
    });
    return isOld ? "again" : "done";
  };
}

/** For which span a mountain range is known. */
function extentOf(shown: Course | null): Span {
  if (shown === null) return { from: ns(0), to: ns(0) };
  const { from_ns: from, bucket_ns: bucket, buckets } = shown.head;
  const to = from + bucket * buckets;
  return { from: ns(from <= 0 ? -Infinity : from), to: ns(to >= whole.peek().to ? Infinity : to) };
}

/** All of it at once, in a file; on its ground, which has its corner where the rows begin. */
export function drawMountains(canvas: Ink, ground: Layered, width: number, height: number): void {
  canvas.fillStyle = colours.peek().background;
  canvas.fillRect(0, 0, width + 1, height + 1);
  drawRange(ground, course.peek(), { ...scale(), left: 0 }, height, LARGE, 1);
}
