/**
 * The picture of the timeline, in three parts: the ruler, what moves along with time, and what lies over that. A file has
 * them one after the other; on the screen the second is made of tiles that are kept while it moves (screen.ts).
 *
 * Everything is given; nothing is kept here between two pictures.
 */
import { instant } from "../../base/time.ts";
import { drawAxis } from "../../canvas/axis.ts";
import type { Ground, Ink } from "../../canvas/ink.ts";
import { pixel, type Palette } from "../../canvas/palette.ts";
import { later, pxFromTime, type Scale } from "../../canvas/scale.ts";
import { drawCollectives } from "../../tracks/collectives.ts";
import { drawCounters, type Ranges } from "../../tracks/counters.ts";
import { drawEvents, type EventsLook } from "../../tracks/events.ts";
import { drawLabels } from "../../tracks/labels.ts";
import type { Layout } from "../../tracks/layout.ts";
import { drawMessage, drawMessages, drawPath, type FlowLook } from "../../tracks/messages.ts";
import { drawOverlapNames, drawOverlaps, type OverlapsLook } from "../../tracks/overlaps.ts";
import { drawPicked, type PickedVisits } from "../../tracks/picked.ts";
import { drawLives, drawStates, drawWaits, type StatesLook } from "../../tracks/states.ts";
import type { Operation, RunHead, WireVisit } from "../../wire/generated.ts";
import type { Threads } from "../../state/rows.ts";
import type { ChosenMessage } from "../../state/view.ts";
import type { Picture } from "./fetch.ts";
import { movedRows, timeOf, type Moved } from "./moved.ts";
import { drawHosts, drawStrips, names } from "./names.ts";

/** Where rows begin, CSS pixels: names to the left, the ruler above. */
export const GUTTER = 128;
export const RULER = 22;
/** At the right end, so that the last letters of the ruler are not cut. */
export const MARGIN = 10;

export interface Scene {
  readonly run: RunHead;
  readonly picture: Picture | null;
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
  readonly pixels: Uint32Array;
  readonly hidden: ReadonlySet<number>;
  /** Whether something comes and goes, and is gone now: then it is hidden. */
  readonly blinking: "no" | "there" | "gone";
  /** Rows that stand elsewhere, since their clock is being moved; `null` = none. */
  readonly moved: Moved | null;
  /** How many lines from row to row there are, where not all of them are drawn with this scene. */
  readonly among?: { readonly messages: number; readonly operations: number };
  readonly chosenRegion: number | null;
  readonly visit: WireVisit | null;
  readonly operation: Operation | null;
  /** A message that is told about, or several together; `null` = none. */
  readonly message: ChosenMessage | null;
  /** Which messages are meant; `null` = all. */
  readonly isMeant: ((from: number, to: number) => boolean) | null;
  readonly events: EventsLook["chosen"];
  /** What charts of counters go from and to. */
  readonly ranges: Ranges;
  /** Visits that were picked out of their like; `null` = none. */
  readonly picked: PickedVisits | null;
  readonly origin: number;
  readonly zoomOrigin: number | null;
  /** A span that is being marked with the pointer. */
  readonly marked: readonly [number, number] | null;
  readonly isStale: boolean;
  /** What the row of a location says of the threads of its process. */
  readonly threadsOf: (location: number) => Threads;
  readonly colourOf: (region: number) => string;
  /** For how many overlapping states of a location there is no lane. */
  readonly leftOut: (location: number) => number;
}

/** What a scene is drawn on: lines and letters with the ink, states on the ground beneath them. */
export interface Paper {
  readonly ink: Ink;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Pixels of the ground to one of CSS. */
  readonly ratio: number;
  /** As large as the rows. */
  readonly ground: Ground;
  /** What is filled from now on lies over what was filled before. */
  layer(): void;
  /** Puts the ground where the rows are. */
  lay(): void;
}

/** How large the ground of a paper has to be, pixels of the screen. */
export function groundSize(scale: Scale, height: number, ratio: number): readonly [number, number] {
  return [Math.max(1, Math.round(scale.width * ratio)), Math.max(1, Math.round((height - RULER) * ratio))];
}

/** All of it at once. */
export function drawScene(paper: Paper, scene: Scene): void {
  const { ink: canvas, width, height } = paper;
  drawBackdrop(canvas, scene, width, height);
  canvas.save();
  canvas.beginPath();
  canvas.rect(GUTTER, RULER, scene.scale.width, height - RULER);
  canvas.clip();
  canvas.translate(0, RULER);
  drawMoving(paper, scene);
  canvas.restore();
  names(canvas, scene, height);
  drawOver(canvas, scene, height);
}

/** What lies beneath all else. */
export function drawBackdrop(canvas: Ink, scene: Scene, width: number, height: number): void {
  canvas.fillStyle = scene.colours.background;
  // A canvas may end within a pixel.
  canvas.fillRect(0, 0, width + 1, height + 1);
  drawAxis(canvas, scene.colours, { scale: scene.scale, origin: scene.origin, top: 0, bottom: RULER });
}

/** What moves along with time and looks the same wherever it stands. The ink has its 0 where the first row begins. */
export function drawMoving(paper: Sheet, scene: Scene): void {
  drawRows(paper, scene);
  drawFlows(paper.ink, scene);
  drawSigns(paper.ink, scene);
}

/** What such a part is drawn on. */
type Sheet = Pick<Paper, "ink" | "ground" | "ratio" | "layer" | "lay">;

/** What belongs to single rows: it looks the same wherever in time the row is put. */
export function drawRows(paper: Sheet, scene: Scene): void {
  const { ink: canvas, ground } = paper;
  const { colours, picture } = scene;
  const look = statesLook(scene, paper.ratio);
  ground.fill(0, ground.width, 0, ground.height, pixel(colours.background));
  paper.layer();
  drawLives(ground, scene.run.locations, look);
  paper.layer();
  if (picture !== null) {
    drawStates(ground, picture.states, look);
    paper.layer();
    if (picture.waits !== null) drawWaits(ground, picture.waits, look);
    paper.layer();
    drawStrips(ground, scene, picture, look);
  }
  if (scene.picked !== null) {
    paper.layer();
    drawPicked(ground, scene.picked, look);
  }
  paper.lay();
  if (picture === null) return;
  if (picture.counters !== null) drawCounters(canvas, picture.counters, { ...scene, colours });
  if (picture.overlaps !== null) drawOverlaps(canvas, picture.overlaps, overlapsLook(scene));
}

/** Lines and shapes from row to row. */
export function drawFlows(canvas: Ink, scene: Scene): void {
  const { picture, among } = scene;
  if (picture === null) return;
  const flow = flowLook(scene);
  if (picture.operations !== null) drawCollectives(canvas, picture.operations, { ...flow, hidden: scene.hidden, chosen: scene.operation, among: among?.operations ?? picture.operations.behind.length });
  if (picture.messages !== null) drawMessages(canvas, picture.messages, { ...flow, isMeant: scene.isMeant, among: among?.messages ?? picture.messages.from.length });
  if (picture.path !== null) drawPath(canvas, picture.path, flow);
}

/** Signs of single rows, over everything else. */
export function drawSigns(canvas: Ink, scene: Scene): void {
  if (scene.picture !== null && scene.picture.events !== null) drawEvents(canvas, scene.picture.events, { ...flowLook(scene), chosen: scene.events });
}

/** The ground begins where the rows do. */
function statesLook(scene: Scene, ratio: number): StatesLook {
  const { layout, scroll, colours, pixels, hidden, chosenRegion: chosen } = scene;
  return { scale: { ...scene.scale, left: 0 }, layout, scroll, ratio, colours, pixels, hidden, chosen };
}

/** How lines from row to row are drawn. */
export function flowLook({ scale, layout, scroll, colours }: Scene): FlowLook {
  return { scale, layout, scroll, colours };
}

function overlapsLook(scene: Scene): OverlapsLook {
  const nameOf = (region: number): string => scene.run.regions[region]?.name ?? "";
  return { ...scene, nameOf, chosen: scene.chosenRegion };
}

/** What lies over that: names as far to the left as their bars are seen, what is chosen, where things are counted from. */
export function drawOver(canvas: Ink, scene: Scene, height: number): void {
  canvas.save();
  canvas.beginPath();
  canvas.rect(GUTTER, RULER, scene.scale.width, height - RULER);
  canvas.clip();
  canvas.translate(0, RULER);
  if (scene.picture !== null) drawNames(canvas, scene, scene.picture);
  drawChosen(canvas, scene);
  if (scene.marked !== null) mark(canvas, scene, height);
  originLine(canvas, scene, height);
  canvas.restore();
  drawHosts(canvas, scene, height);
  if (scene.isStale) stale(canvas, scene);
}

function drawNames(canvas: Ink, scene: Scene, picture: Picture): void {
  const { moved, layout, scale } = scene;
  const draw = (some: Scene): void => {
    drawLabels(canvas, picture.states, { ...statesLook(some, 1), scale: some.scale }, (region) => some.run.regions[region]?.name ?? "");
    if (picture.overlaps !== null) drawOverlapNames(canvas, picture.overlaps, overlapsLook(some));
  };
  if (moved === null) {
    draw(scene);
    return;
  }
  const { own, others } = movedRows(layout, moved);
  draw({ ...scene, layout: others });
  draw({ ...scene, layout: own, scale: later(scale, moved.by) });
}

/** The message that is chosen, or the visit with its messages. */
function drawChosen(canvas: Ink, scene: Scene): void {
  const { visit, message, moved, layout } = scene;
  const at = (location: number | null, time: number | null): number => timeOf(moved, location, time ?? NaN);
  if (message !== null) drawMessage(canvas, { ...message, sent: at(message.from, message.sent), received: at(message.to, message.received) }, flowLook(scene));
  const box = visit === null ? undefined : layout.boxes.get(visit.line);
  if (visit === null || box === undefined) return;
  const scale = moved?.lines.has(visit.line) === true ? later(scene.scale, moved.by) : scene.scale;
  const left = pxFromTime(scale, visit.start_ns);
  const right = Math.max(pxFromTime(scale, visit.end_ns), left + 2);
  canvas.strokeStyle = scene.colours.text;
  canvas.lineWidth = 2;
  canvas.strokeRect(left - 0.5, box.top - scene.scroll + 0.5, right - left + 1, Math.max(box.height - 2, 2));
  canvas.lineWidth = 1;
  const links = visit.messages;
  const flat = {
    from: Uint32Array.from(links, (it) => it.from ?? 0xffffffff),
    sent: Float64Array.from(links, (it) => at(it.from, it.sent_ns)),
    to: Uint32Array.from(links, (it) => it.to ?? 0xffffffff),
    received: Float64Array.from(links, (it) => at(it.to, it.received_ns)),
    count: Uint32Array.from(links, () => 1),
  };
  drawMessages(canvas, flat, { ...flowLook(scene), colours: { ...scene.colours, message: scene.colours.accent } });
}

function mark(canvas: Ink, scene: Scene, height: number): void {
  const [from, to] = scene.marked ?? [0, 0];
  const [left, right] = [pxFromTime(scene.scale, from), pxFromTime(scene.scale, to)];
  canvas.fillStyle = scene.colours.accent;
  canvas.globalAlpha = 0.16;
  canvas.fillRect(left, 0, right - left, height);
  canvas.globalAlpha = 1;
}

function originLine(canvas: Ink, scene: Scene, height: number): void {
  if (scene.origin !== 0) dashed(canvas, scene, scene.origin, height, [3, 3]);
  if (scene.zoomOrigin !== null) dashed(canvas, scene, scene.zoomOrigin, height, [1, 3]);
}

function dashed(canvas: Ink, scene: Scene, at: number, height: number, dash: readonly number[]): void {
  const x = Math.round(pxFromTime(scene.scale, at)) + 0.5;
  canvas.strokeStyle = scene.colours.accent;
  canvas.setLineDash(dash);
  canvas.beginPath();
  canvas.moveTo(x, 0);
  canvas.lineTo(x, height);
  canvas.stroke();
  canvas.setLineDash([]);
}

/** A quiet line under the ruler while something better is on its way. */
function stale(canvas: Ink, scene: Scene): void {
  canvas.fillStyle = scene.colours.accent;
  canvas.globalAlpha = 0.5;
  canvas.fillRect(GUTTER, RULER - 2, scene.scale.width, 2);
  canvas.globalAlpha = 1;
}

/** What a screen reader is told of a picture. */
export function spoken(scene: Pick<Scene, "scale" | "layout">): string {
  const { from, to } = scene.scale.span;
  const { rows, hosts } = scene.layout;
  const closed = hosts.filter((it) => it.isClosed).map((it) => it.host);
  const names = `${closed.slice(0, 5).join(", ")}${closed.length > 5 ? ", …" : ""}`;
  const of = closed.length === 0 ? "" : `, of which ${closed.length} ${closed.length === 1 ? "is" : "are"} closed: ${names}`;
  const on = hosts.length === 0 ? "" : ` on ${hosts.length} hosts${of}`;
  return `Timeline of ${rows.length} locations${on} from ${instant(from)} to ${instant(to)}`;
}
