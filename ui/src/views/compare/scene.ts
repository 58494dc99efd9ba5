/** What a side shows now, gathered from the state of the page: for the screen, and for files. */
import { signal } from "@preact/signals";

import type { Scale } from "../../canvas/scale.ts";
import { isBlinking } from "../../state/view.ts";
import { colourOf, colours } from "../colours.ts";
import { GUTTER, type Scene } from "../timeline/draw.ts";
import { rangesOf } from "./ranges.ts";
import { blink, plotWidth, type Side } from "./side.ts";

/** A span that is being marked with the pointer, in times of the base. */
export const marked = signal<readonly [number, number] | null>(null);

export function scaleOf(side: Side): Scale {
  return { span: side.span.peek(), left: GUTTER, width: Math.max(plotWidth.peek(), 1) };
}

/** What a side shows now. All of it is read, so that who calls it in an effect is called again when something changes. */
export function sceneOf(side: Side): Scene | null {
  const head = side.run.value;
  if (head === null) return null;
  const [mark, aligned, by] = [marked.value, side.aligned.value, side.shift.value];
  return {
    run: head,
    picture: side.picture.value,
    scale: { span: side.span.value, left: GUTTER, width: Math.max(plotWidth.value, 1) },
    layout: side.layout.value,
    scroll: side.scroll.value,
    colours: colours.value,
    pixels: side.pixels.value,
    hidden: side.hidden.value,
    blinking: !isBlinking.value || side.chosenRegion.value === null ? "no" : blink.value ? "gone" : "there",
    moved: null,
    chosenRegion: side.chosen.value,
    visit: side.visit.value,
    operation: null,
    message: null,
    isMeant: null,
    events: null,
    ranges: rangesOf(side).value,
    picked: null,
    origin: side.origin.value,
    zoomOrigin: null,
    // What is marked with the pointer, or else the iteration that both are aligned on.
    marked: mark !== null ? [mark[0] + by, mark[1] + by] : aligned === null ? null : [aligned.from, aligned.to],
    isStale: side.isStale.value,
    threadsOf: side.threadsOf,
    colourOf: colourOf.value,
    leftOut: () => 0,
  };
}
