/** Messages as lines from where they were sent to where they were received, and the critical path. */
import type { Span } from "../base/time.ts";
import type { Ink } from "../canvas/ink.ts";
import type { Palette } from "../canvas/palette.ts";
import { pxFromTime, type Scale } from "../canvas/scale.ts";
import type { Frame } from "../wire/columns.ts";
import type { MessagesHead, PathHead } from "../wire/generated.ts";
import { BESIDE, drawCounts, type Counted } from "./counts.ts";
import { placesOf, type HostBox, type Layout, type Row } from "./layout.ts";

export interface Messages {
  readonly from: Uint32Array;
  readonly sent: Float64Array;
  readonly to: Uint32Array;
  readonly received: Float64Array;
  /** How many each line stands for. */
  readonly count: Uint32Array;
  /** Of all of them; of a single one its own. */
  readonly bytes: Float64Array;
  /** Not a number = unknown, or of several. */
  readonly tag: Float64Array;
}

export function messagesOf(frame: Frame<MessagesHead>): Messages {
  return {
    from: frame.u32("send_location"),
    sent: frame.f64("send_time"),
    to: frame.u32("receive_location"),
    received: frame.f64("receive_time"),
    count: frame.u32("count"),
    bytes: frame.f64("bytes"),
    tag: frame.f64("tag"),
  };
}

/** Whether some of them are drawn as one. */
export function areTogether(messages: Messages): boolean {
  return messages.count.some((count) => count > 1);
}

/** How many messages are on their way in a span; about, where lines stand for several that were sent at several instants. */
export function numberIn(messages: Messages, { from, to }: Span): number {
  let sum = 0;
  messages.count.forEach((count, at) => {
    const [sent, received] = [messages.sent[at] ?? 0, messages.received[at] ?? 0];
    if (Math.max(sent, received) >= from && Math.min(sent, received) <= to) sum += count;
  });
  return sum;
}

export interface FlowLook {
  /** Which messages are meant, if not all are: others are not drawn. */
  readonly isMeant?: ((from: number, to: number) => boolean) | null;
  /** How many there are, if these are some of them: as pale as among all are those that are drawn alone. */
  readonly among?: number;
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
}

/** What lines are drawn from. */
type Lines = Pick<Messages, "from" | "sent" | "to" | "received" | "count">;

/** Calls `each` for the messages that are drawn in a span, with the rows that they lead from and to. */
export function eachMessage(messages: Lines, look: Pick<FlowLook, "layout" | "isMeant">, { from: first, to: last }: { readonly from: number; readonly to: number }, each: (at: number, from: Row | HostBox, to: Row | HostBox) => void): void {
  const rows = placesOf(look.layout);
  for (let at = 0; at < messages.from.length; at += 1) {
    // Most of them are elsewhere; that is seen soonest. Where clocks are wrong some seem to arrive before they are sent.
    const [sent, received] = [messages.sent[at] ?? 0, messages.received[at] ?? 0];
    if ((received < first && sent < first) || (sent > last && received > last)) continue;
    if (look.isMeant?.(messages.from[at] ?? -1, messages.to[at] ?? -1) === false) continue;
    const from = rows.get(messages.from[at] ?? -1);
    const to = rows.get(messages.to[at] ?? -1);
    if (from === undefined || to === undefined) continue;
    // Within a host that is closed they have no height to go over.
    if (from === to && messages.from[at] !== messages.to[at]) continue;
    each(at, from, to);
  }
}

export function drawMessages(canvas: Ink, messages: Lines, look: FlowLook): void {
  const { scale, scroll } = look;
  const right = scale.left + scale.width;
  canvas.strokeStyle = look.colours.message;
  // As many lines as there are pixels would hide all that lies beneath.
  canvas.globalAlpha = Math.min(Math.max(300 / Math.max(look.among ?? messages.from.length, 1), 0.2), 0.55);
  // Lines of a pixel are drawn one by one, so that many would add up to black; wider ones are one shape.
  canvas.lineWidth = 1.2;
  canvas.beginPath();
  const counts: Counted[] = [];
  const { from: first, to: last } = scale.span;
  const beside = (BESIDE / scale.width) * (last - first);
  eachMessage(messages, look, { from: first - beside, to: last + beside }, (at, from, to) => {
    const x1 = pxFromTime(scale, messages.sent[at] ?? 0);
    const x2 = pxFromTime(scale, messages.received[at] ?? 0);
    if (Math.max(x1, x2) >= scale.left && Math.min(x1, x2) <= right) {
      canvas.moveTo(x1, middle(from) - scroll);
      canvas.lineTo(x2, middle(to) - scroll);
    }
    const count = messages.count[at] ?? 1;
    if (count > 1) counts.push([(x1 + x2) / 2, (middle(from) + middle(to)) / 2 - scroll, count]);
  });
  canvas.stroke();
  canvas.lineWidth = 1;
  canvas.globalAlpha = 1;
  drawCounts(canvas, counts, scale, look.colours);
}

/** A message that is told about beside: over all others, with an end that says where it goes. */
export function drawMessage(canvas: Ink, it: { readonly from: number; readonly sent: number; readonly to: number; readonly received: number }, look: FlowLook): void {
  const rows = placesOf(look.layout);
  const [from, to] = [rows.get(it.from), rows.get(it.to)];
  if (from === undefined || to === undefined) return;
  const [x1, y1] = [pxFromTime(look.scale, it.sent), middle(from) - look.scroll];
  const [x2, y2] = [pxFromTime(look.scale, it.received), middle(to) - look.scroll];
  const [HEAD, DOT] = [9, 3];
  const along = Math.atan2(y2 - y1, x2 - x1);
  const corner = (turn: number): readonly [number, number] => [x2 - HEAD * Math.cos(along + turn), y2 - HEAD * Math.sin(along + turn)];
  // Its rim makes it seen on bars of any colour.
  for (const [colour, width] of [[look.colours.background, 5], [look.colours.accent, 2.5]] as const) {
    canvas.strokeStyle = colour;
    canvas.lineWidth = width;
    canvas.lineJoin = "round";
    canvas.beginPath();
    canvas.moveTo(x1, y1);
    canvas.lineTo(x2, y2);
    canvas.moveTo(...corner(0.45));
    canvas.lineTo(x2, y2);
    canvas.lineTo(...corner(-0.45));
    canvas.stroke();
    canvas.strokeRect(x1 - DOT / 2, y1 - DOT / 2, DOT, DOT);
  }
  canvas.lineWidth = 1;
}

/** A pointer is at a line that is no farther away, px: less where it could mean what lies beneath. */
const NEAR = 4;
const NEAR_ON_BAR = 2;
/** Where more lines than this are about as near, nobody can tell which is meant. */
const CROWD = 5;

/** The message whose line is at a place of the picture, the nearest; `null` = none, or on a bar among so many that the bar is meant. */
export function messageAt(messages: Messages, look: FlowLook, { px, y, isOnBar }: { readonly px: number; readonly y: number; readonly isOnBar: boolean }): number | null {
  const { scale, scroll } = look;
  const each = (scale.span.to - scale.span.from) / scale.width;
  const time = scale.span.from + (px - scale.left) * each;
  let best: readonly [number, number] | null = null;
  let number = 0;
  eachMessage(messages, look, { from: time - NEAR * each, to: time + NEAR * each }, (at, from, to) => {
    const [x1, y1] = [pxFromTime(scale, messages.sent[at] ?? 0), middle(from) - scroll];
    const [x2, y2] = [pxFromTime(scale, messages.received[at] ?? 0), middle(to) - scroll];
    const distance = distanceTo([x1, y1], [x2, y2], [px, y]);
    if (distance <= NEAR) number += 1;
    if (distance <= (isOnBar ? NEAR_ON_BAR : NEAR) && (best === null || distance < best[0])) best = [distance, at];
  });
  return best === null || (isOnBar && number > CROWD) ? null : best[1];
}

/** How far a place lies from a line between two others. */
function distanceTo([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], [x, y]: readonly [number, number]): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.min(Math.max(((x - x1) * dx + (y - y1) * dy) / length, 0), 1);
  return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
}

export interface PathPieces {
  readonly location: Uint32Array;
  readonly start: Float64Array;
  readonly duration: Float64Array;
}

export function pathOf(frame: Frame<PathHead>): PathPieces {
  return { location: frame.u32("location"), start: frame.f64("start"), duration: frame.f64("duration") };
}

/** The critical path as a line along the rows that it is on, from one to the next where it changes. */
export function drawPath(canvas: Ink, path: PathPieces, look: FlowLook): void {
  const rows = placesOf(look.layout);
  canvas.strokeStyle = look.colours.path;
  canvas.lineWidth = 2.5;
  canvas.lineJoin = "round";
  canvas.beginPath();
  let isDown = false;
  const { from: first, to: last } = look.scale.span;
  const endOf = (at: number): number => (path.start[at] ?? 0) + (path.duration[at] ?? 0);
  for (let at = 0; at < path.location.length; at += 1) {
    // One piece before and one behind what is seen, since lines lead there.
    if (at + 1 < path.location.length && endOf(at + 1) < first) continue;
    if (at > 0 && (path.start[at - 1] ?? 0) > last) break;
    const row = rows.get(path.location[at] ?? -1);
    if (row === undefined) {
      isDown = false;
      continue;
    }
    const y = middle(row) - look.scroll;
    const start = path.start[at] ?? 0;
    const x = pxFromTime(look.scale, start);
    if (isDown) canvas.lineTo(x, y);
    else canvas.moveTo(x, y);
    canvas.lineTo(pxFromTime(look.scale, start + (path.duration[at] ?? 0)), y);
    isDown = true;
  }
  canvas.stroke();
  canvas.lineWidth = 1;
}

function middle(row: Row | HostBox): number {
  return row.top + row.height / 2;
}
