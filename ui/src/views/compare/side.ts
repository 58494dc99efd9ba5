/**
 * The two sides: what each run has of what is looked at. One is the base, the run that all views show; of the other one
 * everything is the same, found by the names of things, and its times are shifted.
 */
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import { ns, type Span } from "../../base/time.ts";
import { countersOf, shownCounters } from "../../state/counters.ts";
import { alignedSpans, besideEngine, chosenInBoth, NONE, pair, regionBeside, scrolled, shift, visitBeside } from "../../state/pair.ts";
import { isFolded, rowLocations, sectionsOf, threadsOf, type Threads } from "../../state/rows.ts";
import { engine, linesIn, run } from "../../state/run.ts";
import { chosenBeside, chosenLocations, chosenVisit, hidden, hiddenLevels, origin, span, type Chosen } from "../../state/view.ts";
import { visit } from "../../state/visit.ts";
import { arrange, type Layout, type Track } from "../../tracks/layout.ts";
import type { Engine } from "../../wire/client.ts";
import type { RunHead, WireVisit } from "../../wire/generated.ts";
import { pixels } from "../colours.ts";
import type { Picture } from "../timeline/fetch.ts";
import { CHART, MOST_LINES } from "../timeline/place.ts";
import { pixelsBeside } from "./colours.ts";
import { countersOfBeside, shownBeside } from "./counters.ts";

/** How wide both are, CSS pixels. */
export const plotWidth = signal(0);
/** Whether what blinks is gone just now. */
export const blink = signal(false);

export interface Side {
  readonly letter: "A" | "B";
  readonly engine: Engine;
  readonly run: ReadonlySignal<RunHead | null>;
  /** Its own times: they are those of the base and this. */
  readonly shift: ReadonlySignal<number>;
  readonly whole: ReadonlySignal<Span>;
  readonly span: ReadonlySignal<Span>;
  readonly rows: ReadonlySignal<readonly number[]>;
  /** Counters that are drawn, and by location which of them it has. */
  readonly counters: ReadonlySignal<readonly number[]>;
  readonly countersOf: ReadonlySignal<ReadonlyMap<number, readonly number[]>>;
  readonly room: Signal<number>;
  readonly layout: ReadonlySignal<Layout>;
  readonly scroll: ReadonlySignal<number>;
  readonly pixels: ReadonlySignal<Uint32Array>;
  readonly hidden: ReadonlySignal<ReadonlySet<number>>;
  /** Those of them that the user has hidden, whatever blinks. */
  readonly unticked: ReadonlySignal<ReadonlySet<number>>;
  readonly chosen: ReadonlySignal<number | null>;
  /** The same, whether it blinks or not. */
  readonly chosenRegion: ReadonlySignal<number | null>;
  readonly visit: ReadonlySignal<WireVisit | null>;
  readonly chosenVisit: Signal<Chosen | null>;
  readonly aligned: ReadonlySignal<Span | null>;
  /** What is written as 0. */
  readonly origin: ReadonlySignal<number>;
  readonly picture: Signal<Picture | null>;
  readonly isStale: Signal<boolean>;
  readonly threadsOf: (location: number) => Threads;
  /** Which process of the base is meant by a row; `null` = that has none like it. */
  readonly processOf: (location: number) => number | null;
}

/** What has to be said of a side; the rest follows. */
type Own = Pick<Side, "letter" | "engine" | "run" | "shift" | "rows" | "counters" | "countersOf" | "pixels" | "visit" | "chosenVisit" | "threadsOf" | "processOf"> & {
  readonly place: 0 | 1;
  readonly hidden: () => ReadonlySet<number>;
  readonly hiddenLevels: () => ReadonlySet<number>;
};

function side({ place, hidden: hiddenRegions, hiddenLevels: goneLevels, ...own }: Own): Side {
  const room = signal(0);
  const lines = computed(() => {
    const [head, gone] = [own.run.value, goneLevels()];
    return linesIn(head).map((some) => some.filter((line) => !gone.has(head?.lines[line]?.level ?? 0)));
  });
  const total = computed<Span>(() => ({ from: ns(0), to: ns(Math.max(own.run.value?.duration_ns ?? 1, 1)) }));
  const busy = computed(() => (own.run.value?.lines ?? []).map((line) => line.time_ns / total.value.to));
  const layout = computed(() => {
    const counters = own.countersOf.value;
    const beneath = (location: number): readonly Track[] => (counters.get(location) ?? []).map((number) => ({ kind: "counter", number, height: CHART }));
    return arrange(sectionsOf(own.run.value, own.rows.value), lines.value, busy.value, room.value, MOST_LINES, beneath);
  });
  const chosen = computed(() => chosenInBoth.value[place]);
  const unticked = computed(hiddenRegions);
  // The same as long as nothing changes, so that what was drawn is kept.
  const hiddenThen = computed(() => (chosen.value === null ? unticked.value : new Set([...unticked.value, chosen.value])));
  const aligned = computed(() => alignedSpans.value?.[place] ?? null);
  return {
    ...own,
    whole: total,
    span: computed(() => ({ from: ns(span.value.from + own.shift.value), to: ns(span.value.to + own.shift.value) })),
    room,
    layout,
    scroll: computed(() => Math.min(scrolled.value, Math.max(0, layout.value.height - room.value))),
    unticked,
    // What blinks is what is meant.
    hidden: computed(() => (blink.value ? hiddenThen.value : unticked.value)),
    chosen: computed(() => (blink.value ? null : chosen.value)),
    chosenRegion: chosen,
    aligned,
    origin: computed(() => aligned.value?.from ?? (origin.value === null ? 0 : origin.value + own.shift.value)),
    picture: signal(null),
    isStale: signal(false),
  };
}

const unshifted = computed(() => 0);

export const base = side({
  letter: "A",
  place: 0,
  engine,
  run,
  shift: unshifted,
  rows: rowLocations,
  counters: shownCounters,
  countersOf,
  pixels,
  visit,
  chosenVisit,
  threadsOf,
  processOf: (location) => run.peek()?.locations[location]?.process ?? null,
  hidden: () => hidden.value,
  hiddenLevels: () => hiddenLevels.value,
});

/** Rows of the other run in the order of those of the base; what only it has comes behind. */
const rowsBeside = computed<readonly number[]>(() => {
  const now = pair.value;
  if (now === null) return [];
  const of = new Map<number, number>();
  now.sameLocation.forEach((same, location) => of.set(same, location));
  const known = rowLocations.value.flatMap((location) => of.get(location) ?? []);
  if (chosenLocations.value !== null) return known;
  const { locations } = now.other;
  const isShown = (place: number): boolean => !isFolded.value || place === 0 || locations[place - 1]?.process !== locations[place]?.process;
  return [...known, ...locations.flatMap((_, place) => (now.sameLocation[place] === NONE && isShown(place) ? [place] : []))];
});

/** The location of the base that one of the other run is like. */
function baseLocation(location: number): number | null {
  const same = pair.peek()?.sameLocation[location] ?? NONE;
  return same === NONE ? null : same;
}

/** Levels by their names. */
const hiddenLevelsBeside = computed<ReadonlySet<number>>(() => {
  const [names, levels] = [run.value?.levels ?? [], pair.value?.other.levels ?? []];
  return new Set([...hiddenLevels.value].map((level) => levels.indexOf(names[level] ?? "")));
});

export const other = side({
  letter: "B",
  place: 1,
  engine: besideEngine,
  run: computed(() => pair.value?.other ?? null),
  shift,
  rows: rowsBeside,
  counters: shownBeside,
  countersOf: countersOfBeside,
  pixels: pixelsBeside,
  visit: visitBeside,
  chosenVisit: chosenBeside,
  threadsOf: (location) => {
    const same = baseLocation(location);
    const says = same === null ? "none" : threadsOf(same);
    if (typeof says !== "number") return says;
    const locations = pair.peek()?.other.locations ?? [];
    const folded = locations.filter((it) => it.process === locations[location]?.process).length - 1;
    return folded > 0 ? folded : "none";
  },
  processOf: (location) => {
    const same = baseLocation(location);
    return same === null ? null : (run.peek()?.locations[same]?.process ?? null);
  },
  hidden: () => new Set([...hidden.value].flatMap((region) => regionBeside(region) ?? [])),
  hiddenLevels: () => hiddenLevelsBeside.value,
});

export const sides = [base, other] as const;

/** How far rows of either can be scrolled. */
export const most = computed(() => Math.max(...sides.map((it) => it.layout.value.height - it.room.value), 0));
