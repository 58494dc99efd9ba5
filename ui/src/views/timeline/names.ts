/** What rows and hosts are called, to their left, and the strips of hosts whose rows are closed. */
import type { Ground, Ink } from "../../canvas/ink.ts";
import { pixel } from "../../canvas/palette.ts";
import { count, counted } from "../../base/format.ts";
import { drawCourse } from "../../tracks/course.ts";
import { processName } from "../../state/run.ts";
import { endOf, type Row, type TrackBox } from "../../tracks/layout.ts";
import type { StatesLook } from "../../tracks/states.ts";
import { span } from "../quantities.ts";
import { GUTTER, RULER, type Scene } from "./draw.ts";
import type { Picture } from "./fetch.ts";

const FONT = "Inter, system-ui, sans-serif";
/** Where names begin, CSS pixels; those that stand beneath the name of a host. */
const LEFT = 14;
const INDENTED = 26;

/** What rows are called. */
export function names(canvas: Ink, scene: Scene, height: number): void {
  const { run, layout, colours } = scene;
  const isGrouped = layout.hosts.length > 0;
  const left = isGrouped ? INDENTED : LEFT;
  canvas.save();
  canvas.beginPath();
  canvas.rect(0, RULER, GUTTER - 6, height - RULER);
  canvas.clip();
  canvas.textBaseline = "middle";
  for (const row of layout.rows) {
    const y = RULER + row.top - scene.scroll + row.height / 2;
    if (endOf(row) < scene.scroll || RULER + row.top - scene.scroll > height) continue;
    const location = run.locations[row.location];
    if (location === undefined) continue;
    const isChosen = scene.visit !== null && run.lines[scene.visit.line]?.location === row.location;
    canvas.fillStyle = isChosen ? colours.text : colours.muted;
    canvas.font = `${isChosen ? "600 " : ""}${row.height < 18 ? 11 : 12}px ${FONT}`;
    const threads = scene.threadsOf(row.location);
    const room = GUTTER - 6 - left;
    const name = fitted(canvas, location.name, processName(location.process), room);
    canvas.fillText(typeof threads === "number" ? fitted(canvas, `${location.name} +${threads}`, "", room) : name, left, y);
    const after = left + canvas.measureText(name).width + 6;
    if (threads !== "none") triangle(canvas, scene, left - 7, y, threads === "shown");
    if (run.hosts.length > 1 && !isGrouped) {
      canvas.fillStyle = colours.faint;
      canvas.font = `10px ${FONT}`;
      canvas.fillText(run.processes[location.process]?.host ?? "", after, y);
    }
    tracksOf(canvas, scene, row, left + 10);
  }
  canvas.restore();
}

/** A name that has so much room: without that of its process, which stands above, then without its beginning, for numbers stand at the end. */
function fitted(canvas: Ink, name: string, process: string, room: number): string {
  const width = (text: string): number => canvas.measureText(text).width;
  if (width(name) <= room) return name;
  const own = name.startsWith(`${process} `) ? name.slice(process.length + 1) : name;
  const whole = width(own);
  if (whole <= room) return own;
  // As many letters as have room if all are equally wide; fewer where the last are wider.
  let letters = Math.floor((room / whole) * own.length) - 1;
  while (letters > 0 && width(`…${own.slice(-letters)}`) > room) letters -= 1;
  return letters > 0 ? `…${own.slice(-letters).replace(/^[\udc00-\udfff]/, "")}` : "";
}

/** What charts beneath a row are called, and what they go from and to. */
function tracksOf(canvas: Ink, scene: Scene, row: Row, left: number): void {
  for (const box of row.tracks) {
    if (box.kind === "overlaps") {
      overlapping(canvas, scene, row.location, box, left);
      continue;
    }
    const counter = scene.run.counters[box.number];
    const range = scene.ranges.get(box.number);
    if (counter === undefined) continue;
    const middle = RULER + box.top - scene.scroll + box.height / 2;
    canvas.font = `11px ${FONT}`;
    canvas.fillStyle = scene.colours.counter;
    canvas.fillText(counter.name, left, middle - (range === undefined ? 0 : 6));
    if (range === undefined) continue;
    canvas.font = `10px ${FONT}`;
    canvas.fillStyle = scene.colours.faint;
    canvas.fillText(span(counter, range), left, middle + 6);
  }
}

function overlapping(canvas: Ink, scene: Scene, location: number, box: TrackBox, left: number): void {
  const top = RULER + box.top - scene.scroll;
  const leftOut = scene.leftOut(location);
  canvas.font = `11px ${FONT}`;
  canvas.fillStyle = scene.colours.muted;
  canvas.fillText("overlapping", left, top + 8);
  canvas.font = `10px ${FONT}`;
  canvas.fillStyle = scene.colours.faint;
  canvas.fillText(leftOut > 0 ? `${count(leftOut)} more hidden` : `up to ${box.number} at a time`, left, top + 20);
}

/** What hosts are called: above their rows, or beside the strip that stands for them. */
export function drawHosts(canvas: Ink, scene: Scene, height: number): void {
  const { layout, colours, scale } = scene;
  canvas.save();
  canvas.beginPath();
  canvas.rect(0, RULER, scale.left + scale.width, height - RULER);
  canvas.clip();
  canvas.textBaseline = "middle";
  for (const box of layout.hosts) {
    const top = RULER + box.top - scene.scroll;
    if (top + box.height < RULER || top > height) continue;
    const middle = top + box.height / 2;
    const words = `${counted(box.processes, "process", "processes")}`;
    const y = box.isClosed ? middle - 7 : middle;
    if (!box.isClosed) {
      canvas.fillStyle = colours.grid;
      canvas.fillRect(0, Math.round(top), scale.left + scale.width, box.height);
    }
    triangle(canvas, scene, LEFT - 6, y, !box.isClosed);
    canvas.save();
    canvas.beginPath();
    // The name of an open one has the whole width; that of a strip ends where the strip begins.
    canvas.rect(0, RULER, box.isClosed ? GUTTER - 6 : scale.left + scale.width, height - RULER);
    canvas.clip();
    canvas.fillStyle = colours.text;
    canvas.font = `600 12px ${FONT}`;
    canvas.fillText(box.host, LEFT, y);
    const after = LEFT + canvas.measureText(box.host).width + 8;
    canvas.fillStyle = colours.muted;
    canvas.font = `11px ${FONT}`;
    canvas.fillText(words, box.isClosed ? LEFT : after, box.isClosed ? middle + 8 : y);
    canvas.restore();
  }
  canvas.restore();
}

/** In the place of the rows of a closed host: how many of its locations are in which state. */
export function drawStrips(ground: Ground, scene: Scene, picture: Picture, look: StatesLook): void {
  const { layout, colours, pixels, hidden } = scene;
  const { scale, ratio } = look;
  for (const box of layout.hosts) {
    if (!box.isClosed) continue;
    const [top, bottom] = [box.top - scene.scroll, box.top + box.height - scene.scroll];
    ground.fill(0, ground.width, Math.round(top * ratio), Math.round(bottom * ratio), pixel(colours.life));
    const course = picture.strips.get(box.host);
    if (course !== undefined) drawCourse(ground, course, { scale, top, bottom, ratio, colours, pixels, hidden });
  }
}

/** Down = what belongs to it is shown. */
function triangle(canvas: Ink, scene: Scene, x: number, y: number, isDown: boolean): void {
  canvas.fillStyle = scene.colours.muted;
  canvas.beginPath();
  if (isDown) {
    canvas.moveTo(x - 3.5, y - 2);
    canvas.lineTo(x + 3.5, y - 2);
    canvas.lineTo(x, y + 2.5);
  } else {
    canvas.moveTo(x - 2, y - 3.5);
    canvas.lineTo(x + 2.5, y);
    canvas.lineTo(x - 2, y + 3.5);
  }
  canvas.closePath();
  canvas.fill();
}
