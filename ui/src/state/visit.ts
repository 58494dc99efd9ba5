/** All about the visit that was chosen, and going from one to the next. */
import { batch, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import { length } from "../base/time.ts";
import type { Kind, Towards, WireVisit } from "../wire/generated.ts";
import { engine, fail, linesOf, run } from "./run.ts";
import { inTurn } from "./steps.ts";
import { chooseVisit, chosenRegion, chosenVisit, see, span, type Chosen } from "./view.ts";

/** `null` = none was chosen, or there is none. */
export const visit = signal<WireVisit | null>(null);
/** Whether one was looked for where there is none. */
export const isNothing = signal(false);

/** How far from a pointer a visit may be, as a part of the span that is shown. */
const NEAR = 1 / 400;

const details = new Latest<Chosen, WireVisit | null>(
  async ({ line, at }) => {
    const near = Math.round(length(span.peek()) * NEAR);
    return (await engine.visit({ line, at_ns: Math.round(at), near_ns: near, region: null })).head.visit;
  },
  (found, asked) => {
    if (chosenVisit.peek() !== asked) return;
    visit.value = found;
    isNothing.value = found === null;
  },
  fail,
);

/** Begins to follow what is chosen. */
export function followVisit(): void {
  effect(() => {
    const chosen = chosenVisit.value;
    if (run.value === null) return;
    if (chosen === null) {
      visit.value = null;
      isNothing.value = false;
    } else {
      details.want(chosen);
    }
  });
}

/** Goes to the next visit of the region that is meant, or to the one before. */
export function step(towards: Towards): Promise<void> {
  return inTurn(() => goOn(towards));
}

async function goOn(towards: Towards): Promise<void> {
  // What is told may still be what was chosen before.
  await details.answered();
  const region = chosenRegion.peek() ?? visit.peek()?.region ?? null;
  if (region === null) return;
  const now = visit.peek();
  const at = now !== null && now.region === region ? now.start_ns : towards === "next" ? span.peek().from : span.peek().to;
  const line = chosenRegion.peek() === null ? (now?.line ?? null) : null;
  const found = (await engine.step({ line, region, at_ns: Math.round(at), towards })).head;
  if (found.line === null) return;
  goTo(found.line, found.start_ns, found.end_ns);
  await details.answered();
}

/** Chooses what is there, and looks at it if it is not seen: one change, which is taken back as one. */
export function goTo(line: number, from: number, to: number): void {
  batch(() => {
    chooseVisit({ line, at: from });
    see(from, to);
  });
}

/** Goes to the visit that encloses one: that of the region at a place of its path. What is looked at stays, if some of it is seen. */
export async function goToCaller(of: WireVisit, place: number): Promise<void> {
  const head = run.peek();
  const [region, location] = [of.path[place], head?.lines[of.line]?.location];
  const level = head?.regions[region ?? -1]?.level;
  if (head === null || region === undefined || level === undefined) return;
  // A line for each depth of each level: as many of its own as are around it.
  const depth = of.path.slice(0, place).filter((it) => head.regions[it]?.level === level).length;
  const line = head.lines.findIndex((it) => it.location === location && it.level === level && it.depth === depth);
  if (line < 0) return;
  try {
    const caller = (await engine.visit({ line, at_ns: of.start_ns, near_ns: 0, region })).head.visit;
    if (caller === null) return;
    batch(() => {
      chooseVisit({ line, at: caller.start_ns });
      if (caller.end_ns <= span.peek().from || span.peek().to <= caller.start_ns) see(caller.start_ns, caller.end_ns);
    });
  } catch (error) {
    fail(error);
  }
}

/** Goes to what a location did at an instant: a call that talks to others, if it was in one, else the innermost visit. */
export async function goToLocation(location: number, at: number): Promise<void> {
  try {
    const there = await visitsAt(location, at);
    const found = there.find(talks) ?? there[0];
    const line = found?.line ?? linesOf.peek()[location]?.at(-1);
    if (line !== undefined) goTo(line, at, at + 1);
  } catch (error) {
    fail(error);
  }
}

/** What a location did at an instant, the innermost visit first. */
export async function visitsAt(location: number, at: number): Promise<readonly WireVisit[]> {
  const lines = [...(linesOf.peek()[location] ?? [])].reverse();
  const answers = await Promise.all(lines.map((line) => engine.visit({ line, at_ns: Math.round(at), near_ns: 0, region: null })));
  return answers.flatMap(({ head: { visit: it } }) => (it !== null && it.start_ns <= at && at < it.end_ns ? [it] : []));
}

/** Whether it is a call that talks to others. */
export function talks(it: WireVisit): boolean {
  return TALKS.has(run.peek()?.regions[it.region]?.kind ?? "work");
}

const TALKS: ReadonlySet<Kind> = new Set<Kind>(["transfer", "wait", "collective"]);
