/** Visits that were picked out of their like, drawn over their states so that none is too short to be seen. */
import type { Ground } from "../canvas/ink.ts";
import { pixel } from "../canvas/palette.ts";
import { pxFromTime } from "../canvas/scale.ts";
import type { StatesLook } from "./states.ts";

export interface PickedVisits {
  readonly line: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
}

/** At least so wide, CSS pixels. */
const LEAST = 2;

export function drawPicked(ground: Ground, visits: PickedVisits, look: StatesLook): void {
  const fill = pixel(look.colours.picked);
  for (let at = 0; at < visits.line.length; at += 1) {
    const box = look.layout.boxes.get(visits.line[at] ?? -1);
    if (box === undefined) continue;
    const start = visits.start[at] ?? 0;
    const left = Math.round(pxFromTime(look.scale, start) * look.ratio);
    const end = Math.round(pxFromTime(look.scale, start + (visits.duration[at] ?? 0)) * look.ratio);
    const right = Math.max(end, left + Math.round(LEAST * look.ratio));
    if (right <= 0 || left >= ground.width) continue;
    const top = Math.round((box.top - look.scroll) * look.ratio);
    ground.fill(left, right, top, Math.max(top + 1, Math.round((box.top + box.height - look.scroll) * look.ratio)), fill);
  }
}
