/** Names in bars that have room for them. */
import type { Ink } from "../canvas/ink.ts";
import { readable } from "../canvas/palette.ts";
import { pxFromTime } from "../canvas/scale.ts";
import type { States, StatesLook } from "./states.ts";

/** Bars narrower or lower than this stay without, px. */
const LEAST_WIDTH = 44;
const LEAST_HEIGHT = 12;
const FONT = "11px Inter, system-ui, sans-serif";

const widths = new Map<string, number>();

/** Of a picture, the visits that last at least so long, ns: those of which a part may have room. */
interface Long {
  readonly least: number;
  readonly visits: readonly number[];
}

const longest = new WeakMap<Float64Array, Long>();

/** Looked for once for each picture and zoom, not while it is moved. */
function longOf(states: States, least: number): readonly number[] {
  const known = longest.get(states.duration);
  if (known !== undefined && Math.abs(known.least - least) <= least * 1e-9) return known.visits;
  const visits: number[] = [];
  states.duration.forEach((duration, at) => {
    if (duration >= least && states.isVisit[at] === 1) visits.push(at);
  });
  longest.set(states.duration, { least, visits });
  return visits;
}

export function drawLabels(
  canvas: Ink,
  states: States,
  look: StatesLook,
  nameOf: (region: number) => string,
): void {
  canvas.font = FONT;
  canvas.textBaseline = "middle";
  canvas.textAlign = "left";
  const known = new Map<number, string>();
  const labelOn = (region: number): string => {
    const found = known.get(region) ?? readable(look.pixels[region] ?? 0, look.colours);
    known.set(region, found);
    return found;
  };
  const first = look.scale.left;
  const last = look.scale.left + look.scale.width;
  const { span, width } = look.scale;
  for (const at of longOf(states, (LEAST_WIDTH / width) * (span.to - span.from))) {
    const start = states.start[at] ?? 0;
    const left = Math.max(pxFromTime(look.scale, start), first);
    const right = Math.min(pxFromTime(look.scale, start + (states.duration[at] ?? 0)), last);
    if (right - left < LEAST_WIDTH) continue;
    const box = look.layout.boxes.get(states.line[at] ?? 0);
    const region = states.regions[0][at] ?? 0;
    if (box === undefined || box.height < LEAST_HEIGHT || look.hidden.has(region)) continue;
    if (look.chosen !== null && look.chosen !== region) continue;
    canvas.fillStyle = labelOn(region);
    canvas.fillText(fitted(canvas, nameOf(region), right - left - 10), left + 5, box.top - look.scroll + box.height / 2);
  }
}

/** As much of a name as fits, with dots for the rest. */
function fitted(canvas: Ink, name: string, room: number): string {
  const width = (text: string): number => {
    const known = widths.get(text);
    if (known !== undefined) return known;
    if (widths.size > 5000) widths.clear();
    const measured = canvas.measureText(text).width;
    widths.set(text, measured);
    return measured;
  };
  if (width(name) <= room) return name;
  const letters = Math.floor((room / width(name)) * name.length) - 1;
  return letters < 2 ? "" : `${name.slice(0, letters).replace(/[\ud800-\udbff]$/, "")}…`;
}
