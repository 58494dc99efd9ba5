/** What the timeline shows now, gathered from the state of the page: for the screen, and for files. */
import { signal } from "@preact/signals";

import { movedBy, moving } from "../../state/clock.ts";
import { instances } from "../../state/instances.ts";
import { overlapping } from "../../state/overlaps.ts";
import { threadsOf } from "../../state/rows.ts";
import { run } from "../../state/run.ts";
import { chosenEvents, chosenMessage, chosenOperation, chosenRegion, hidden, origin, span, zoomOrigin } from "../../state/view.ts";
import { scroll } from "../../state/timeline.ts";
import { isMeantMessage } from "../../state/traffic.ts";
import { visit } from "../../state/visit.ts";
import type { RunHead } from "../../wire/generated.ts";
import { colourOf, colours, pixels } from "../colours.ts";
import type { Scene } from "./draw.ts";
import { ranges } from "./charts.ts";
import { isStale, picture } from "./fetch.ts";
import { movedPicture } from "./moved.ts";
import { layout, plotWidth, scale } from "./place.ts";

/** A span that is being marked with the pointer. */
export const marked = signal<readonly [number, number] | null>(null);
/** Whether what blinks is gone just now. */
export const blink = signal(false);

/** `null` while the run is being opened. */
export function sceneNow(): Scene | null {
  const head = run.peek();
  if (head === null) return null;
  const some = instances.peek();
  // What was picked blinks alone.
  const blinked = blink.peek() && some === null ? (chosenRegion.peek() ?? visit.peek()?.region ?? null) : null;
  return {
    ...shownNow(head),
    scale: scale(),
    layout: layout.peek(),
    scroll: scroll.peek(),
    colours: colours.peek(),
    pixels: pixels.peek(),
    hidden: blinked === null ? hidden.peek() : new Set([...hidden.peek(), blinked]),
    chosenRegion: blinked === null ? chosenRegion.peek() : null,
    visit: visit.peek(),
    operation: chosenOperation.peek(),
    message: chosenMessage.peek(),
    isMeant: isMeantMessage.peek(),
    events: chosenEvents.peek(),
    ranges: ranges.peek(),
    picked: blink.peek() ? null : some,
    origin: origin.peek() ?? 0,
    zoomOrigin: zoomOrigin.peek(),
    marked: marked.peek(),
    isStale: isStale.peek(),
    threadsOf,
    colourOf: colourOf.peek(),
    leftOut: (location) => overlapping.peek().get(location)?.leftOut ?? 0,
  };
}

/** The run and its picture, with the clock that is being moved where it is moved to. */
function shownNow(head: RunHead): Pick<Scene, "run" | "picture"> {
  const [shown, now, by] = [picture.peek(), moving.peek(), movedBy.peek()];
  if (shown === null || now === null || by === 0) return { run: head, picture: shown };
  const locations = new Set(head.locations.flatMap((it, location) => (it.process === now.process ? [location] : [])));
  const lines = new Set(head.lines.flatMap((it, line) => (locations.has(it.location) ? [line] : [])));
  const lives = head.locations.map((it, location) => (locations.has(location) ? { ...it, start_ns: it.start_ns + by, end_ns: it.end_ns + by } : it));
  return { run: { ...head, locations: lives }, picture: movedPicture(shown, lines, locations, by) };
}

/** Reads all that a scene is made of, so that who calls it in an effect is called again when something changes. */
export function watchScene(): void {
  void [run.value, picture.value, span.value, layout.value, scroll.value, colours.value, hidden.value];
  void [chosenRegion.value, visit.value, origin.value, marked.value, isStale.value, blink.value, plotWidth.value, instances.value, zoomOrigin.value];
  void [isMeantMessage.value, chosenOperation.value, chosenEvents.value, chosenMessage.value, ranges.value, pixels.value, moving.value];
}
