/**
 * Operations of all: a shape over the rows of the members, from where each entered to where it left, with a mark where the
 * last one came. Several that stand together are one shape with their number.
 */
import type { Ink } from "../canvas/ink.ts";
import { pxFromTime } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { CollectivesHead, Operation } from "../wire/generated.ts";
import { BESIDE, drawCounts, type Counted } from "./counts.ts";
import { placesOf, type LineBox, type Row } from "./layout.ts";
import type { FlowLook } from "./messages.ts";

export interface Collectives {
  readonly communicator: Uint32Array;
  readonly instance: Uint32Array;
  readonly region: Uint32Array;
  /** Who came last. */
  readonly last: Uint32Array;
  readonly number: Uint32Array;
  /** The place behind the last member of each. */
  readonly behind: Uint32Array;
  readonly location: Uint32Array;
  readonly line: Uint32Array;
  readonly enter: Float64Array;
  readonly leave: Float64Array;
  /** By operation, when the first of its members entered and the last one left. */
  readonly begin: Float64Array;
  readonly end: Float64Array;
}

export function collectivesOf(frame: Frame<CollectivesHead>): Collectives {
  return withExtents({
    communicator: frame.u32("communicator"),
    instance: frame.u32("instance"),
    region: frame.u32("region"),
    last: frame.u32("last"),
    number: frame.u32("number"),
    behind: frame.u32("behind"),
    location: frame.u32("location"),
    line: frame.u32("line"),
    enter: frame.f64("enter"),
    leave: frame.f64("leave"),
  });
}

/** The same with their extents; to be told anew where times are moved. */
export function withExtents(all: Omit<Collectives, "begin" | "end">): Collectives {
  const begin = new Float64Array(all.behind.length).fill(Infinity);
  const end = new Float64Array(all.behind.length).fill(-Infinity);
  let from = 0;
  all.behind.forEach((behind, at) => {
    for (let member = from; member < behind; member += 1) {
      const [enter, leave] = [all.enter[member] ?? NaN, all.leave[member] ?? NaN];
      begin[at] = Math.min(begin[at] ?? 0, enter);
      end[at] = Math.max(end[at] ?? 0, Number.isNaN(leave) ? enter : Math.max(leave, enter));
    }
    from = behind;
  });
  return { ...all, begin, end };
}

export interface OperationsLook extends FlowLook {
  readonly hidden: ReadonlySet<number>;
  /** The one that is told about beside; `null` = none. */
  readonly chosen: Operation | null;
}

/** A member as it is drawn, CSS pixels. */
interface Corner {
  readonly top: number;
  readonly bottom: number;
  readonly enter: number;
  /** Not before it entered. */
  readonly leave: number;
  readonly isLast: boolean;
}

/** A shape, its members from above to below. */
interface Shape {
  readonly operation: Operation;
  readonly number: number;
  readonly corners: readonly Corner[];
}

/** Half a mark's height, CSS pixels. */
const MARK = 5;
/** Members that came within so many pixels came at once, to the eye. */
const AT_ONCE = 3;
/** More shapes than this, in three windows, and their marks would hide the picture. */
const MOST_MARKED = 450;

export function drawCollectives(canvas: Ink, all: Collectives, look: OperationsLook): void {
  const shapes = shapesOf(all, look);
  const counts: Counted[] = [];
  canvas.lineJoin = "round";
  // As many lines as there are pixels would hide all that lies beneath. Of all that there are, not of those that are seen:
  // parts of a picture must look alike.
  const number = look.among ?? all.behind.length;
  const alpha = Math.min(Math.max(450 / Math.max(number, 1), 0.2), 0.75);
  for (const shape of shapes) {
    const isChosen = isSame(shape.operation, look.chosen) && shape.number === 1;
    canvas.fillStyle = isChosen ? look.colours.accent : look.colours.operation;
    canvas.strokeStyle = canvas.fillStyle;
    between(canvas, shape.corners);
    canvas.globalAlpha = isChosen ? 0.25 : 0.14;
    canvas.fill();
    canvas.globalAlpha = isChosen ? 1 : alpha;
    canvas.lineWidth = isChosen ? 2 : 1;
    edges(canvas, shape.corners);
    canvas.stroke();
    const [first, last] = [shape.corners[0], shape.corners.at(-1)];
    if (shape.number > 1 && first !== undefined && last !== undefined) {
      counts.push([(first.enter + last.leave) / 2, (first.top + last.bottom) / 2, shape.number]);
    }
  }
  canvas.lineWidth = 1;
  canvas.globalAlpha = 1;
  if (number <= MOST_MARKED) shapes.filter(isMarked).forEach((shape) => mark(canvas, shape, look));
  drawCounts(canvas, counts, look.scale, look.colours);
}

/** Those of which at least two members have a row. */
function shapesOf(all: Collectives, look: OperationsLook): readonly Shape[] {
  const rows = placesOf(look.layout);
  const { span, width } = look.scale;
  const beside = (BESIDE / width) * (span.to - span.from);
  const shapes: Shape[] = [];
  const seen = new Set<string>();
  let from = 0;
  for (let at = 0; at < all.behind.length; at += 1) {
    const first = from;
    from = all.behind[at] ?? from;
    if ((all.end[at] ?? 0) < span.from - beside || (all.begin[at] ?? 0) > span.to + beside) continue;
    if (look.hidden.has(all.region[at] ?? -1)) continue;
    const corners: Corner[] = [];
    for (let member = first; member < from; member += 1) {
      const row = rows.get(all.location[member] ?? -1);
      // Shapes join rows; strips of hosts have none.
      if (row !== undefined && "lines" in row) corners.push(corner(all, member, boxOf(row, all.line[member] ?? -1, look), all.last[at] ?? -1, look));
    }
    if (corners.length < 2) continue;
    corners.sort((a, b) => a.top - b.top);
    // Of those that would be one picture one is drawn: what is pale must not add up to a wall.
    const picture = corners.map((it) => `${Math.round(it.enter)} ${Math.round(it.leave)}`).join();
    const operation = { communicator: all.communicator[at] ?? 0, instance: all.instance[at] ?? 0 };
    const number = all.number[at] ?? 1;
    if (number === 1 && seen.has(picture) && !isSame(operation, look.chosen)) continue;
    seen.add(picture);
    shapes.push({ operation, number, corners });
  }
  return shapes;
}

/** The line of its call; the row, if that is not shown. */
function boxOf(row: Row, line: number, look: OperationsLook): Omit<LineBox, "line"> {
  return look.layout.boxes.get(line) ?? row;
}

function corner(all: Collectives, member: number, box: Omit<LineBox, "line">, last: number, look: OperationsLook): Corner {
  const enter = all.enter[member] ?? 0;
  const leave = all.leave[member] ?? NaN;
  const left = pxFromTime(look.scale, enter);
  const top = box.top - look.scroll;
  return {
    top,
    bottom: top + Math.max(box.height - 1, 1),
    enter: left,
    leave: Number.isNaN(leave) ? left : Math.max(pxFromTime(look.scale, leave), left),
    isLast: all.location[member] === last,
  };
}

/** What lies between the members; their own lines show what they did meanwhile. */
function between(canvas: Ink, corners: readonly Corner[]): void {
  canvas.beginPath();
  corners.forEach((it, place) => {
    const before = corners[place - 1];
    if (before === undefined) return;
    canvas.moveTo(before.enter, before.bottom);
    canvas.lineTo(it.enter, it.top);
    canvas.lineTo(it.leave, it.top);
    canvas.lineTo(before.leave, before.bottom);
    canvas.closePath();
  });
}

/** Where they entered, and where they left; one line where both are one. */
function edges(canvas: Ink, corners: readonly Corner[]): void {
  canvas.beginPath();
  const along = (x: (it: Corner) => number): void =>
    corners.forEach((it, place) => {
      if (place === 0) canvas.moveTo(x(it), it.top);
      else canvas.lineTo(x(it), it.top);
      canvas.lineTo(x(it), it.bottom);
    });
  along((it) => it.enter);
  if (corners.some((it) => it.leave - it.enter >= 1)) along((it) => it.leave);
}

/** Whether it can be seen who came last. */
function isMarked(shape: Shape): boolean {
  const entered = shape.corners.map((it) => it.enter);
  return shape.number === 1 && shape.corners.some((it) => it.isLast) && Math.max(...entered) - Math.min(...entered) >= AT_ONCE;
}

/** An arrowhead at who came last, towards the others' waiting. */
function mark(canvas: Ink, shape: Shape, look: OperationsLook): void {
  const last = shape.corners.find((it) => it.isLast);
  if (last === undefined) return;
  const [x, y] = [last.enter, (last.top + last.bottom) / 2];
  canvas.beginPath();
  canvas.moveTo(x, y - MARK);
  canvas.lineTo(x - MARK * 1.4, y);
  canvas.lineTo(x, y + MARK);
  canvas.closePath();
  canvas.fillStyle = isSame(shape.operation, look.chosen) ? look.colours.accent : look.colours.operation;
  canvas.fill();
  canvas.strokeStyle = look.colours.background;
  canvas.stroke();
}

function isSame(one: Operation, other: Operation | null): boolean {
  return other !== null && one.communicator === other.communicator && one.instance === other.instance;
}

/** What was pressed: a mark, an edge or the inside of a shape; `null` = none. Of several the nearest edge. */
export function operationAt(all: Collectives, look: OperationsLook, x: number, y: number): { readonly operation: Operation; readonly isMark: boolean } | null {
  let best: { operation: Operation; distance: number } | null = null;
  for (const shape of shapesOf(all, look)) {
    if (shape.number > 1) continue;
    const last = shape.corners.find((it) => it.isLast);
    if (last !== undefined && isMarked(shape) && Math.abs(x - last.enter + MARK / 2) <= MARK && Math.abs(y - (last.top + last.bottom) / 2) <= MARK) {
      return { operation: shape.operation, isMark: true };
    }
    const [enter, leave] = [at(shape.corners, y, (it) => it.enter), at(shape.corners, y, (it) => it.leave)];
    if (enter === null || leave === null) continue;
    const distance = Math.min(Math.abs(x - enter), Math.abs(x - leave));
    const isIn = enter <= x && x <= leave;
    if ((isIn || distance <= 4) && (best === null || distance < best.distance)) best = { operation: shape.operation, distance };
  }
  return best === null ? null : { operation: best.operation, isMark: false };
}

/** Where an edge is at a height; `null` = the shape does not reach there. */
function at(corners: readonly Corner[], y: number, x: (it: Corner) => number): number | null {
  for (let place = 0; place < corners.length; place += 1) {
    const [it, before] = [corners[place], corners[place - 1]];
    if (it === undefined) break;
    if (it.top <= y && y <= it.bottom) return x(it);
    if (before !== undefined && before.bottom < y && y < it.top) {
      return x(before) + ((x(it) - x(before)) * (y - before.bottom)) / (it.top - before.bottom);
    }
  }
  return null;
}

/** Operations in two: those that have a member of which something holds, and all others. */
export function parted(all: Collectives, holds: (location: number) => boolean): { readonly own: Collectives; readonly others: Collectives } {
  const [own, others]: [number[], number[]] = [[], []];
  let from = 0;
  all.behind.forEach((behind, at) => {
    const isOwn = all.location.subarray(from, behind).some(holds);
    from = behind;
    (isOwn ? own : others).push(at);
  });
  return { own: picked(all, own), others: picked(all, others) };
}

/** Some of them, by their places. */
function picked(all: Collectives, places: readonly number[]): Collectives {
  const members = places.flatMap((at) => {
    const first = at === 0 ? 0 : (all.behind[at - 1] ?? 0);
    return Array.from({ length: (all.behind[at] ?? 0) - first }, (_, member) => first + member);
  });
  let end = 0;
  const of = (values: Uint32Array): Uint32Array => Uint32Array.from(places, (at) => values[at] ?? 0);
  const ofMembers = (values: Uint32Array): Uint32Array => Uint32Array.from(members, (at) => values[at] ?? 0);
  const timesOf = (values: Float64Array, which: readonly number[]): Float64Array => Float64Array.from(which, (at) => values[at] ?? NaN);
  return {
    communicator: of(all.communicator),
    instance: of(all.instance),
    region: of(all.region),
    last: of(all.last),
    number: of(all.number),
    behind: Uint32Array.from(places, (at) => (end += (all.behind[at] ?? 0) - (at === 0 ? 0 : (all.behind[at - 1] ?? 0)))),
    location: ofMembers(all.location),
    line: ofMembers(all.line),
    enter: timesOf(all.enter, members),
    leave: timesOf(all.leave, members),
    begin: timesOf(all.begin, places),
    end: timesOf(all.end, places),
  };
}
