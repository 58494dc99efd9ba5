/**
 * What the timeline has to draw, asked for when the view moves: at a resolution of a power of two, three windows wide,
 * latest wins. What is there stays until something better has come.
 */
import { effect, signal } from "@preact/signals";

import { Latest } from "../../base/latest.ts";
import { Refined } from "../../base/refined.ts";
import { ns, type Span } from "../../base/time.ts";
import { buffered, contains, resolutionLog2 } from "../../canvas/scale.ts";
import { shownCounters } from "../../state/counters.ts";
import { engine, fail, run, whole } from "../../state/run.ts";
import { areLayers, hidden, layers, ranges, seenLocations, span, type Layers } from "../../state/view.ts";
import { courseOf, type Course } from "../../tracks/course.ts";
import { collectivesOf, type Collectives } from "../../tracks/collectives.ts";
import { countersOf, type Counters } from "../../tracks/counters.ts";
import { eventsOf, type Events } from "../../tracks/events.ts";
import { overlapsOf, type Overlaps } from "../../tracks/overlaps.ts";
import { messagesOf, pathOf, type Messages, type PathPieces } from "../../tracks/messages.ts";
import { statesOf, waitsOf, type States, type WaitPieces } from "../../tracks/states.ts";
import type { Engine } from "../../wire/client.ts";
import type { Course as CourseOf, Trust, Window } from "../../wire/generated.ts";
import { followTotals } from "../totals.ts";
import { layout, nearRows, nearStrips, plotWidth, room, seenRows, seenStrips } from "./place.ts";

/** What is drawn, and for which question it was the answer. */
export interface Picture {
  readonly window: Window;
  readonly states: States;
  readonly visits: number;
  readonly trust: Trust;
  readonly waits: WaitPieces | null;
  readonly messages: Messages | null;
  /** How many messages there are; `null` = too many to count. */
  readonly numberOfMessages: number | null;
  /** How many of them are in no line, since others of more pairs than fit are. */
  readonly messagesNotDrawn: number;
  readonly path: PathPieces | null;
  readonly operations: Collectives | null;
  /** How many operations there are; `null` = too many to count. */
  readonly numberOfOperations: number | null;
  readonly counters: Counters | null;
  readonly overlaps: Overlaps | null;
  readonly events: Events | null;
  /** By closed host, how many of its locations are in which region. */
  readonly strips: ReadonlyMap<string, Course>;
}

export const picture = signal<Picture | null>(null);
export const course = signal<Course | null>(null);
export const minimap = signal<Course | null>(null);
/** Whether something better is on its way. */
export const isStale = signal(false);
/** The same of what stands above and beneath the rows. */
export const areRangesStale = signal(false);

/** A screen with more lines and pixels than this is asked for in steps of up to two pixels. */
export const MOST_PIECES = 60_000;

export interface Question {
  readonly window: Window;
  /** What is in its ranges. */
  readonly rows: ReadonlySet<number>;
  readonly layers: Layers;
  readonly counters: readonly number[];
  /** Closed hosts, and which of their locations are meant. */
  readonly strips: ReadonlyMap<string, readonly number[]>;
  /** Hidden regions, of which strips are without; none where there are no strips. */
  readonly without: readonly number[];
}

/** Hidden regions, as they are asked to be left out. */
export function withoutOf(regions: ReadonlySet<number>): readonly number[] {
  return [...regions].sort((a, b) => a - b);
}

/** Begins to follow the view; returns what ends it. */
export function follow(): () => void {
  const pictures = new Refined<Question, Picture>((question) => ask(engine, question), exactOf, (answer, isLast) => {
    picture.value = answer;
    isStale.value = !isLast;
  }, fail);
  // What stands above and beneath the rows; the last question of each, so that it is known whether it was answered.
  let [mountains, overview]: [CourseOf | null, CourseOf | null] = [null, null];
  let [mountainsThere, overviewThere]: [CourseOf | null, CourseOf | null] = [null, null];
  const isAnswered = (): void => {
    areRangesStale.value = mountainsThere !== mountains || overviewThere !== overview;
  };
  const failed = (error: unknown): void => {
    // Nothing better will come.
    [mountainsThere, overviewThere] = [mountains, overview];
    isAnswered();
    fail(error);
  };
  const read = async (of: CourseOf): Promise<Course> => courseOf(await engine.course(of));
  const courses = new Latest<CourseOf, Course>(
    read,
    (answer, asked) => {
      course.value = answer;
      mountainsThere = asked;
      isAnswered();
    },
    failed,
  );
  const overviews = new Latest<CourseOf, Course>(
    read,
    (answer, asked) => {
      minimap.value = answer;
      overviewThere = asked;
      isAnswered();
    },
    failed,
  );
  const ends = [
    effect(() => {
      // Before it is known how many rows there is room for, none would be asked about.
      if (run.value === null || plotWidth.value < 10 || room.value < 1) return;
      const now = span.value;
      const [wanted, counters] = [layers.value, shownCounters.value];
      const log2 = resolutionLog2(now, plotWidth.value) + (layout.value.boxes.size * plotWidth.value > MOST_PIECES ? 1 : 0);
      // Read before anything else decides, so that this is called again when other rows are seen.
      const [seen, strips] = [seenRows.value, seenStrips.value];
      const without = strips.length === 0 ? [] : withoutOf(hidden.value);
      const before = pictures.asked;
      const isThere =
        before !== null &&
        before.window.resolution_log2 === log2 &&
        seen.every((row) => before.rows.has(row)) &&
        strips.every(({ host, locations }) => before.strips.get(host)?.join() === locations.join()) &&
        areLayers(before.layers, wanted) &&
        before.counters.join() === counters.join() &&
        before.without.join() === without.join() &&
        contains(spanOf(before.window), now);
      if (isThere) return;
      const wide = buffered(now, whole.value, log2);
      const rows = nearRows.peek();
      isStale.value = true;
      pictures.want({ window: window(wide, log2, ranges([...rows].sort((a, b) => a - b))), rows: new Set(rows), layers: wanted, counters, strips: new Map(nearStrips.peek().map((it) => [it.host, it.locations])), without });
    }),
    effect(() => {
      if (run.value === null || plotWidth.value < 10) return;
      const locations = ranges(seenLocations.value);
      const now = span.value;
      // Two pixels to a step of the mountains are enough.
      const log2 = resolutionLog2(now, plotWidth.value / 2);
      // Only the largest regions are told apart, so that what is hidden must not be among them, nor among the others.
      const without = withoutOf(hidden.value);
      const isSame = mountains !== null && mountains.resolution_log2 === log2 && mountains.locations.join(";") === locations.join(";") && mountains.without.join() === without.join();
      if (mountains !== null && isSame && contains(spanOf(mountains), now)) return;
      mountains = { ...window(buffered(now, whole.value, log2), log2, locations), without: [...without] };
      isAnswered();
      courses.want(mountains);
    }),
    effect(() => {
      if (run.value === null || plotWidth.value < 10) return;
      const every = ranges(seenLocations.value);
      const log2 = resolutionLog2(whole.value, plotWidth.value / 3);
      overview = { ...window(whole.value, log2, every), without: [...withoutOf(hidden.value)] };
      isAnswered();
      overviews.want(overview);
    }),
  ];
  ends.push(followTotals());
  return () => ends.forEach((end) => end());
}

/** Buckets that are coarser than pixels are better than nothing; what is exact follows. */
export function exactOf({ trust }: Picture, question: Question): Question | null {
  return trust.is_exact || question.window.exact ? null : { ...question, window: { ...question.window, exact: true } };
}

export function window(span: Span, log2: number, locations: Array<[number, number]>): Window {
  return { from_ns: Math.floor(span.from), to_ns: Math.ceil(span.to), resolution_log2: log2, locations, exact: false };
}

export function spanOf(window: Window): Span {
  return { from: ns(window.from_ns), to: ns(window.to_ns) };
}

/** What a run answers. */
export async function ask(engine: Engine, { window, layers, counters, strips, without }: Question): Promise<Picture> {
  const [states, waiting, flows, critical, together, counted, lanes, marks, courses] = await Promise.all([
    engine.states(window),
    layers.waits ? engine.waits(window) : null,
    layers.messages ? engine.messages(window) : null,
    layers.path ? engine.path(window) : null,
    layers.operations ? engine.collectives(window) : null,
    counters.length > 0 ? engine.counters({ window, counters: [...counters] }) : null,
    layers.overlaps ? engine.overlaps(window) : null,
    layers.events ? engine.events(window) : null,
    Promise.all([...strips].map(([, locations]) => engine.course({ ...window, locations: ranges([...locations].sort((a, b) => a - b)), without: [...without] }))),
  ]);
  return {
    window,
    states: statesOf(states),
    visits: states.head.visits,
    trust: states.head.trust,
    // A run that was not explained has none.
    waits: waiting?.head.is_known === true ? waitsOf(waiting) : null,
    messages: flows === null ? null : messagesOf(flows),
    numberOfMessages: flows === null ? 0 : flows.head.number,
    messagesNotDrawn: flows === null ? 0 : flows.head.not_drawn,
    path: critical?.head.is_known === true ? pathOf(critical) : null,
    operations: together === null ? null : collectivesOf(together),
    counters: counted === null ? null : countersOf(counted),
    overlaps: lanes === null ? null : overlapsOf(lanes),
    events: marks === null ? null : eventsOf(marks),
    strips: new Map([...strips.keys()].flatMap((host, at) => (courses[at] === undefined ? [] : [[host, courseOf(courses[at])] as const]))),
    numberOfOperations: together === null ? 0 : together.head.number,
  };
}
