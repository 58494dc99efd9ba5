/** The whole run above the rows, and the mountain range beneath them. */
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { length, ns } from "../../base/time.ts";
import type { Ink } from "../../canvas/ink.ts";
import { pxFromTime, timeFromPx } from "../../canvas/scale.ts";
import { Surface, type DrawContext } from "../../canvas/surface.ts";
import { whole } from "../../state/run.ts";
import { hidden, look, span } from "../../state/view.ts";
import { drawCourse } from "../../tracks/course.ts";
import { colourOf, colours } from "../colours.ts";
import { GUTTER } from "./draw.ts";
import { course, minimap } from "./fetch.ts";
import { plotWidth, scale } from "./place.ts";

export function Minimap(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = element.current;
    if (canvas === null) return;
    const surface = new Surface(canvas, paintMinimap);
    const end = effect(() => {
      void [minimap.value, span.value, colours.value, colourOf.value, hidden.value, plotWidth.value];
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
      <canvas ref={element} role="img" aria-label="The whole run, with the span that is shown; press to move it" />
    </div>
  );
}

function paintMinimap({ canvas, width, height }: DrawContext): void {
  const look = colours.peek();
  canvas.fillStyle = look.background;
  // A canvas may end within a pixel.
  canvas.fillRect(0, 0, width + 1, height + 1);
  const all = { span: whole.peek(), left: GUTTER, width: plotWidth.peek() };
  const shown = minimap.peek();
  canvas.fillStyle = look.life;
  canvas.fillRect(GUTTER, 4, all.width, height - 8);
  if (shown !== null) {
    drawCourse(canvas, shown, { scale: all, top: 4, bottom: height - 4, colours: look, colourOf: colourOf.peek(), hidden: hidden.peek() });
  }
  const [left, right] = [pxFromTime(all, span.peek().from), pxFromTime(all, span.peek().to)];
  canvas.fillStyle = look.background;
  canvas.globalAlpha = 0.55;
  canvas.fillRect(GUTTER, 0, left - GUTTER, height);
  canvas.fillRect(right, 0, GUTTER + all.width - right, height);
  canvas.globalAlpha = 1;
  canvas.strokeStyle = look.accent;
  canvas.lineWidth = 1.5;
  canvas.strokeRect(left, 2, Math.max(right - left, 2), height - 4);
}

export function Mountains(): JSX.Element {
  const element = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const surface = new Surface(element.current, ({ canvas, width, height }) => drawMountains(canvas, width, height));
    const end = effect(() => {
      void [course.value, span.value, colours.value, colourOf.value, hidden.value, plotWidth.value];
      surface.invalidate();
    });
    return () => {
      end();
      surface.dispose();
    };
  }, []);
  return (
    <div class="timeline-mountains">
      <span class="timeline-name">Locations in each state</span>
      <canvas ref={element} role="img" aria-label="How many locations are in which region, in the course of the span" />
    </div>
  );
}

export function drawMountains(canvas: Ink, width: number, height: number): void {
  const look = colours.peek();
  canvas.fillStyle = look.background;
  canvas.fillRect(0, 0, width + 1, height + 1);
  const now = scale();
  canvas.fillStyle = look.life;
  canvas.fillRect(now.left, 6, now.width, height - 12);
  const shown = course.peek();
  if (shown === null) return;
  canvas.save();
  canvas.beginPath();
  canvas.rect(now.left, 0, now.width, height);
  canvas.clip();
  drawCourse(canvas, shown, { scale: now, top: 6, bottom: height - 6, colours: look, colourOf: colourOf.peek(), hidden: hidden.peek() });
  canvas.restore();
}
