/** What both runs are in, step by step: asked for as pictures are, of all rows at once. */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../../base/latest.ts";
import { ns, type Span } from "../../base/time.ts";
import { buffered, contains, resolutionLog2 } from "../../canvas/scale.ts";
import { lane, type LaneName } from "../../state/lane.ts";
import { shift } from "../../state/pair.ts";
import { fail } from "../../state/run.ts";
import { toldSpan } from "../../state/told.ts";
import { ranges, span } from "../../state/view.ts";
import { reachOf, sharesOf, stepsOf, type Shares, type Step } from "../../tracks/lane.ts";
import { statesOf, waitsOf } from "../../tracks/states.ts";
import type { Kind, Window } from "../../wire/generated.ts";
import { spanOf, window } from "../timeline/fetch.ts";
import { base, other, plotWidth, sides, type Side } from "./side.ts";

const KINDS: Readonly<Record<"calls" | "communication" | "files", readonly Kind[]>> = {
  calls: ["transfer", "wait", "collective", "io", "manage"],
  communication: ["transfer", "wait", "collective"],
  files: ["io"],
};

/** What is asked of both; of a run of which nothing is seen `null`. */
interface Question {
  readonly of: LaneName;
  readonly windows: readonly [Window | null, Window | null];
  readonly chosen: readonly [number | null, number | null];
  readonly rows: readonly [readonly number[], readonly number[]];
}

const found = signal<readonly [Shares, Shares] | null>(null);
/** Whether something better is on its way. */
export const isLaneOld = signal(false);
/** More pieces than this are asked for in longer steps. */
const MOST = 60_000;
/** log₂ of the parts of a step that waits are told apart in. */
const FINER = 4;
/** Steps are so wide at least, CSS pixels. */
const LEAST = 3;

function stepsIn(seen: Span): readonly Step[] {
  const both = found.value;
  return both === null ? [] : stepsOf(both[0], both[1], shift.value, seen);
}

/** The steps that are seen, in times of the base. */
export const steps = computed(() => stepsIn(span.value));
/** The same as words and tables tell them. */
export const toldSteps = computed(() => stepsIn(toldSpan.value));
export const laneReach = computed(() => reachOf(steps.value));

/** Begins to follow what is seen; returns what ends it. */
export function followLane(): () => void {
  let asked: Question | null = null;
  const answers = new Latest<Question, readonly [Shares, Shares]>(
    async (question) => Promise.all([sharesIn(base, 0, question), sharesIn(other, 1, question)]),
    (answer, question) => {
      found.value = answer;
      isLaneOld.value = question !== asked;
    },
    (error) => {
      isLaneOld.value = false;
      fail(error);
    },
  );
  return effect(() => {
    if (base.run.value === null || other.run.value === null || plotWidth.value < 10) return;
    const [of, rows] = [lane.value, [base.rows.value, other.rows.value] as const];
    const chosen = [base.chosenRegion.value, other.chosenRegion.value] as const;
    const lines = Math.max(rows[0].length, rows[1].length);
    const coarse = Math.max(0, Math.ceil(Math.log2((lines * plotWidth.value) / LEAST / MOST)));
    const log2 = resolutionLog2(span.value, plotWidth.value / LEAST) + coarse;
    const now = sides.map((side) => seenOf(side));
    const before = asked;
    const isThere =
      before !== null &&
      before.of === of &&
      (of !== "region" || before.chosen.join() === chosen.join()) &&
      before.rows.every((some, at) => some.join() === rows[at]?.join()) &&
      now.every((seen, at) => {
        const known = before.windows[at] ?? null;
        return seen === null || (known !== null && known.resolution_log2 === log2 && contains(spanOf(known), seen));
      });
    if (isThere) return;
    const asking = (side: Side, at: 0 | 1): Window | null => {
      const seen = now[at];
      return seen == null ? null : window(buffered(seen, side.whole.value, log2), log2, ranges([...rows[at]].sort((a, b) => a - b)));
    };
    asked = { of, rows, chosen, windows: [asking(base, 0), asking(other, 1)] };
    isLaneOld.value = true;
    answers.want(asked);
  });
}

/** The part of what is seen that lies in the run; `null` = none does. */
function seenOf(side: Side): Span | null {
  const { from, to } = side.span.value;
  const [first, last] = [Math.max(from, side.whole.value.from), Math.min(to, side.whole.value.to)];
  return first < last ? { from: ns(first), to: ns(last) } : null;
}

async function sharesIn(side: Side, at: 0 | 1, { of, windows, chosen, rows }: Question): Promise<Shares> {
  const asked = windows[at];
  const end = side.whole.peek().to;
  if (asked === null) return { from: 0, step: 1, share: new Float64Array(0), end };
  const step = 2 ** asked.resolution_log2;
  const from = Math.floor(asked.from_ns / step) * step;
  const grid = { from, step, number: Math.ceil((asked.to_ns - from) / step), rows: rows[at].length, end };
  if (of === "waiting") {
    // Of waits that are shorter than what is asked for, the engine says where they begin.
    const finer = { ...asked, resolution_log2: Math.max(asked.resolution_log2 - FINER, 0) };
    const { start, duration, share } = waitsOf(await side.engine.waits(finer));
    return sharesOf({ start, duration, weight: (piece) => share[piece] ?? 0 }, grid);
  }
  const states = statesOf(await side.engine.states(asked));
  const regions = side.run.peek()?.regions ?? [];
  const isMeant = (region: number): boolean => {
    if (of === "region") return region === chosen[at];
    const kind = regions[region]?.kind;
    return kind !== undefined && KINDS[of].includes(kind);
  };
  const weight = (piece: number): number => {
    if (states.isVisit[piece] === 1) return isMeant(states.regions[0][piece] ?? -1) ? 1 : 0;
    return [0, 1, 2].reduce((sum, place) => sum + (isMeant(states.regions[place as 0 | 1 | 2][piece] ?? -1) ? (states.shares[place as 0 | 1 | 2][piece] ?? 0) : 0), 0);
  };
  return sharesOf({ start: states.start, duration: states.duration, weight }, grid);
}
