/** Where things stand in the timeline: how large it is, its rows, and those of them that are near what is seen. */
import { computed, signal } from "@preact/signals";

import type { Scale } from "../../canvas/scale.ts";
import { countersOf } from "../../state/counters.ts";
import { lanesOf } from "../../state/overlaps.ts";
import { sections } from "../../state/rows.ts";
import { linesOf, run, whole } from "../../state/run.ts";
import { hiddenLevels, span } from "../../state/view.ts";
import { scroll } from "../../state/timeline.ts";
import { arrange, endOf, type HostBox, type Layout, type Track } from "../../tracks/layout.ts";
import { LANE } from "../../tracks/overlaps.ts";
import { GUTTER } from "./draw.ts";

/** Depths of a location that are drawn at most. */
export const MOST_LINES = 6;

/** How wide the timeline is, CSS pixels. */
export const plotWidth = signal(0);
/** How high the rows may be together, CSS pixels. */
export const room = signal(0);

/** By line, for which part of the run something was recorded on it. */
const busy = computed(() => (run.value?.lines ?? []).map((line) => line.time_ns / whole.value.to));

/** Lines of the levels that are shown. */
const shownLines = computed<readonly (readonly number[])[]>(() => {
  const [gone, lines] = [hiddenLevels.value, run.value?.lines ?? []];
  return gone.size === 0 ? linesOf.value : linesOf.value.map((all) => all.filter((line) => !gone.has(lines[line]?.level ?? 0)));
});

/** How high a chart of a counter is, CSS pixels. */
export const CHART = 28;

export const layout = computed<Layout>(() => {
  const counters = countersOf.value;
  const lanes = lanesOf.value;
  const beneath = (location: number): readonly Track[] => {
    const charts = (counters.get(location) ?? []).map((number): Track => ({ kind: "counter", number, height: CHART }));
    const number = lanes.get(location) ?? 0;
    // Its name needs room, too.
    return number === 0 ? charts : [{ kind: "overlaps", number, height: Math.max(number * LANE, CHART) + 2 }, ...charts];
  };
  return arrange(sections.value, shownLines.value, busy.value, room.value, MOST_LINES, beneath);
});

export function scale(): Scale {
  return { span: span.peek(), left: GUTTER, width: Math.max(plotWidth.peek(), 1) };
}

/** Locations of rows from the first to the last that touch a strip, given how many heights of the view lie around it. */
function locationsNear(around: number): readonly number[] {
  const [top, bottom] = [scroll.value - around * room.value, scroll.value + (1 + around) * room.value];
  return layout.value.rows.filter((row) => row.top < bottom && endOf(row) > top).map((row) => row.location);
}

/** Strips of closed hosts that touch the same. */
function stripsNear(around: number): readonly HostBox[] {
  const [top, bottom] = [scroll.value - around * room.value, scroll.value + (1 + around) * room.value];
  return layout.value.hosts.filter((box) => box.isClosed && box.top < bottom && box.top + box.height > top);
}

/** Hosts whose strips are seen. */
export const seenStrips = computed(() => stripsNear(0));
/** Hosts whose strips are seen, or soon may be. */
export const nearStrips = computed(() => stripsNear(1));
/** Locations whose rows are seen. */
export const seenRows = computed(() => locationsNear(0));
/** Locations whose rows are seen, or soon may be. */
export const nearRows = computed(() => locationsNear(1));
