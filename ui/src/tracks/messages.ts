/** Messages as lines from where they were sent to where they were received, and the critical path. */
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
}

export function messagesOf(frame: Frame<MessagesHead>): Messages {
  return {
    from: frame.u32("send_location"),
    sent: frame.f64("send_time"),
    to: frame.u32("receive_location"),
    received: frame.f64("receive_time"),
    count: frame.u32("count"),
  };
}

export interface FlowLook {
  /** Which messages are meant, if not all are: others are not drawn. */
  readonly isMeant?: ((from: number, to: number) => boolean) | null;
  readonly scale: Scale;
  readonly layout: Layout;
  readonly scroll: number;
  readonly colours: Palette;
}

export function drawMessages(canvas: Ink, messages: Messages, look: FlowLook): void {
  const rows = placesOf(look.layout);
  const right = look.scale.left + look.scale.width;
  canvas.strokeStyle = look.colours.message;
  // As many lines as there are pixels would hide all that lies beneath.
  canvas.globalAlpha = Math.min(Math.max(300 / Math.max(messages.from.length, 1), 0.2), 0.55);
  // Lines of a pixel are drawn one by one, so that many would add up to black; wider ones are one shape.
  canvas.lineWidth = 1.2;
  canvas.beginPath();
  const counts: Counted[] = [];
  const { from: first, to: last } = look.scale.span;
  const beside = (BESIDE / look.scale.width) * (last - first);
  for (let at = 0; at < messages.from.length; at += 1) {
    // Most of them are elsewhere; that is seen soonest.
    if ((messages.received[at] ?? 0) < first - beside || (messages.sent[at] ?? 0) > last + beside) continue;
    if (look.isMeant?.(messages.from[at] ?? -1, messages.to[at] ?? -1) === false) continue;
    const from = rows.get(messages.from[at] ?? -1);
    const to = rows.get(messages.to[at] ?? -1);
    if (from === undefined || to === undefined) continue;
    // Within a host that is closed they have no height to go over.
    if (from === to && messages.from[at] !== messages.to[at]) continue;
    const x1 = pxFromTime(look.scale, messages.sent[at] ?? 0);
    const x2 = pxFromTime(look.scale, messages.received[at] ?? 0);
    if (x2 < look.scale.left - BESIDE || x1 > right + BESIDE) continue;
    if (x2 >= look.scale.left && x1 <= right) {
      canvas.moveTo(x1, middle(from) - look.scroll);
      canvas.lineTo(x2, middle(to) - look.scroll);
    }
    const count = messages.count[at] ?? 1;
    if (count > 1) counts.push([(x1 + x2) / 2, (middle(from) + middle(to)) / 2 - look.scroll, count]);
  }
  canvas.stroke();
  canvas.lineWidth = 1;
  canvas.globalAlpha = 1;
  drawCounts(canvas, counts, look.scale, look.colours);
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
