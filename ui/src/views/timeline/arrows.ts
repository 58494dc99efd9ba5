/** Messages as they are drawn, and what one that is pressed is: itself, or several that are drawn together. */
import { bytes, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { pxFromTime } from "../../canvas/scale.ts";
import { run } from "../../state/run.ts";
import type { ChosenMessage } from "../../state/view.ts";
import { messageAt, type Messages } from "../../tracks/messages.ts";
import { flowLook, type Scene } from "./draw.ts";
import { picture } from "./fetch.ts";
import { bakedScene } from "./moved.ts";
import { sceneNow } from "./scene.ts";

/** One of those that are drawn. */
export function messageOf(all: Messages, at: number): ChosenMessage {
  const tag = all.tag[at] ?? NaN;
  return {
    from: all.from[at] ?? 0,
    sent: all.sent[at] ?? 0,
    to: all.to[at] ?? 0,
    received: all.received[at] ?? 0,
    tag: Number.isNaN(tag) ? null : tag,
    bytes: all.bytes[at] ?? 0,
    number: all.count[at] ?? 1,
  };
}

/** What is drawn now, to find what is pressed: with all of it where it is seen. */
export function sceneThere(): Scene | null {
  const scene = sceneNow();
  return scene === null ? null : bakedScene(scene);
}

/** The message whose line is there; `isOnBar` is asked only where one is near. */
export function messageThere(time: number, y: number, isOnBar: () => boolean): ChosenMessage | null {
  const scene = sceneThere();
  // Lines lie elsewhere while a clock is moved; messages are what they are.
  const [drawn, all] = [scene?.picture?.messages ?? null, picture.peek()?.messages ?? null];
  if (scene === null || drawn === null || all === null) return null;
  const look = { ...flowLook(scene), isMeant: scene.isMeant };
  const px = pxFromTime(scene.scale, time);
  const beside = messageAt(drawn, look, { px, y, isOnBar: false });
  if (beside === null) return null;
  const at = isOnBar() ? messageAt(drawn, look, { px, y, isOnBar: true }) : beside;
  return at === null ? null : messageOf(all, at);
}

/** What it is, and what a press does. */
export function wordsOfMessage(it: ChosenMessage): string {
  const name = (location: number): string => run.peek()?.locations[location]?.name ?? "";
  const ends = `from ${name(it.from)} to ${name(it.to)}`;
  if (it.number > 1) return `${counted(it.number, "message")} ${ends}, drawn together: ${bytes(it.bytes)}; press to learn how to see them one by one`;
  const way = it.received < it.sent ? `received ${duration(it.sent - it.received)} before it was sent` : `${duration(it.received - it.sent)} on its way`;
  return `Message ${ends}: ${bytes(it.bytes)}, ${way}; press to see all about it`;
}
