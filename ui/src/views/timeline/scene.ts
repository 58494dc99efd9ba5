/** What the timeline shows now, gathered from the state of the page: for the screen, and for files. */
import { computed, signal } from "@preact/signals";

import { movedBy, moving } from "../../state/clock.ts";
import { instances } from "../../state/instances.ts";
import { overlapping } from "../../state/overlaps.ts";
import { threadsOf } from "../../state/rows.ts";
import { run } from "../../state/run.ts";
import { isBlinking as isBlinkingNow, chosenEvents, chosenMessage, chosenOperation, chosenRegion, hidden, origin, span, zoomOrigin } from "../../state/view.ts";
import { scroll } from "../../state/timeline.ts";
import { isMeantMessage } from "../../state/traffic.ts";
import { visit } from "../../state/visit.ts";
import { colourOf, colours, pixels } from "../colours.ts";
import type { Scene } from "./draw.ts";
import { ranges } from "./charts.ts";
import { isStale, picture } from "./fetch.ts";
import type { Moved } from "./moved.ts";
import { layout, plotWidth, scale } from "./place.ts";

/** A span that is being marked with the pointer. */
export const marked = signal<readonly [number, number] | null>(null);
/** Whether what blinks is gone just now. */
export const blink = signal(false);

/** What blinks, unless visits were picked, which blink alone then. */
const blinks = computed(() => (instances.value === null ? (chosenRegion.value ?? visit.value?.region ?? null) : null));
/** Hidden regions while it is gone: the same as long as nothing changes, so that what was drawn is kept. */
const hiddenThen = computed<ReadonlySet<number>>(() => (blinks.value === null ? hidden.value : new Set([...hidden.value, blinks.value])));

/** Whose clock is being moved. */
const movedOf = computed<Pick<Moved, "locations" | "lines"> | null>(() => {
  const [head, process] = [run.value, movingProcess.value];
  if (head === null || process === null) return null;
  const locations = new Set(head.locations.flatMap((it, location) => (it.process === process ? [location] : [])));
  return { locations, lines: new Set(head.lines.flatMap((it, line) => (locations.has(it.location) ? [line] : []))) };
});
/** Another offset of the same process is no other process. */
const movingProcess = computed(() => moving.value?.process ?? null);

/** `null` while the run is being opened. */
export function sceneNow(): Scene | null {
  const head = run.peek();
  if (head === null) return null;
  const [some, of] = [instances.peek(), movedOf.peek()];
  const isBlinking = isBlinkingNow.peek() && (some !== null || blinks.peek() !== null);
  const isGone = isBlinking && blink.peek();
  return {
    run: head,
    picture: picture.peek(),
    scale: scale(),
    layout: layout.peek(),
    scroll: scroll.peek(),
    colours: colours.peek(),
    pixels: pixels.peek(),
    hidden: isGone ? hiddenThen.peek() : hidden.peek(),
    blinking: !isBlinking ? "no" : isGone ? "gone" : "there",
    moved: of === null ? null : { ...of, by: movedBy.peek() },
    chosenRegion: isGone && blinks.peek() !== null ? null : chosenRegion.peek(),
    visit: visit.peek(),
    operation: chosenOperation.peek(),
    message: chosenMessage.peek(),
    isMeant: isMeantMessage.peek(),
    events: chosenEvents.peek(),
    ranges: ranges.peek(),
    picked: isGone ? null : some,
    origin: origin.peek() ?? 0,
    zoomOrigin: zoomOrigin.peek(),
    marked: marked.peek(),
    isStale: isStale.peek(),
    threadsOf,
    colourOf: colourOf.peek(),
    leftOut: (location) => overlapping.peek().get(location)?.leftOut ?? 0,
  };
}

/** Reads all that a scene is made of, so that who calls it in an effect is called again when something changes. */
export function watchScene(): void {
  void [run.value, picture.value, span.value, layout.value, scroll.value, colours.value, hidden.value];
  void [chosenRegion.value, visit.value, origin.value, marked.value, isStale.value, blink.value, plotWidth.value, instances.value, zoomOrigin.value];
  void [isMeantMessage.value, chosenOperation.value, chosenEvents.value, chosenMessage.value, ranges.value, pixels.value, moving.value, isBlinkingNow.value];
}
