/** How much time each location spent in which region: over the whole run, read once, when somebody needs it; and in the span that is shown, if somebody wants that. */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { CallPathsHead, SharesHead, SharesOf, SpanOf } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { span } from "./view.ts";

export interface Shares {
  readonly head: SharesHead;
  /** ns by location and column; the last column is that of all regions that have none. */
  readonly exclusive: Float64Array;
  readonly inclusive: Float64Array;
  readonly visits: Float64Array;
}

/** `null` = nobody has needed it, or it is being read. */
export const shares = signal<Shares | null>(null);
let isAsked = false;

async function read(of: SharesOf): Promise<Shares> {
  const frame = await engine.shares(of);
  return { head: frame.head, exclusive: frame.f64("exclusive"), inclusive: frame.f64("inclusive"), visits: frame.f64("visits") };
}

export function needShares(): void {
  if (isAsked) return;
  isAsked = true;
  void read({ span: null }).then((found) => (shares.value = found), fail);
}

/** By call path, what all locations together have of the span. */
export interface PathSums {
  readonly head: CallPathsHead;
  /** ns of its own, and visits, by call path. */
  readonly sums: ReadonlyMap<number, readonly [exclusive: number, visits: number]>;
}

async function readPaths(of: SpanOf): Promise<PathSums> {
  const frame = await engine.callPaths(of);
  const [exclusive, visits] = [frame.f64("exclusive"), frame.f64("visits")];
  const sums = new Map(Array.from(frame.u32("call_path"), (path, at) => [path, [exclusive[at] ?? 0, visits[at] ?? 0]] as const));
  return { head: frame.head, sums };
}

/** How the profile is looked at. */
export const PROFILES = ["region", "tree", "callers", "racy", "path", "flames"] as const;
export type ProfileName = (typeof PROFILES)[number];
export const profile = signal<ProfileName>("region");
/** In which order bar lines of locations stand. */
export const barOrder = signal<"number" | "most">("number");
/** The box of the flame graph that is looked at alone, by kinds and names from the outermost; empty = all. */
export const flameRoot = signal<readonly string[]>([]);
/** Whether it is of the span that is shown, and not of the whole run. */
export const isOfSpan = signal(false);

/** Those ways to look at it that are made of call paths. */
export const isOfPaths = computed(() => profile.value === "tree" || profile.value === "callers" || profile.value === "flames");

const ofSpan = signal<Shares | null>(null);
/** Whether what is there is of a span that was looked at before. */
export const isCounting = signal(false);
/** Call paths of the span; `null` = they are being counted. */
export const pathSums = signal<PathSums | null>(null);

/** Whether the call tree is of a part of the run. */
export const isPart = computed(() => isOfSpan.value && !isWhole());

/** Those that the profile is of; `null` = they are being counted. */
export const profileShares = computed<Shares | null>(() => (isPart.value ? ofSpan.value : shares.value));

function isWhole(): boolean {
  return span.value.from <= whole.value.from && whole.value.to <= span.value.to;
}

/** Begins to follow the span while it is wanted; returns what ends it. */
export function followShares(): () => void {
  let wanted: SharesOf | SpanOf | null = null;
  const answered = (question: SharesOf | SpanOf): void => {
    isCounting.value = question !== wanted;
  };
  const latest = new Latest<SharesOf, Shares>(
    read,
    (found, question) => {
      ofSpan.value = found;
      answered(question);
    },
    fail,
  );
  const paths = new Latest<SpanOf, PathSums>(
    readPaths,
    (found, question) => {
      pathSums.value = found;
      answered(question);
    },
    fail,
  );
  needShares();
  return effect(() => {
    isCounting.value = isPart.value;
    if (run.value === null || !isPart.value) return;
    const of = { from_ns: Math.floor(span.value.from), to_ns: Math.ceil(span.value.to) };
    if (isOfPaths.value) {
      wanted = of;
      paths.want(of);
    } else {
      const asked: SharesOf = { span: of };
      wanted = asked;
      latest.want(asked);
    }
  });
}

/** As it stands in the address; empty = as it is at first. */
export function profileText(): string {
  return [profile.value === "region" ? [] : [profile.value], isOfSpan.value ? ["span"] : [], barOrder.value === "most" ? ["most"] : []].flat().join(",");
}

export function applyProfile(text: string): void {
  const words = text.split(",");
  profile.value = PROFILES.find((name) => words.includes(name)) ?? "region";
  isOfSpan.value = words.includes("span");
  barOrder.value = words.includes("most") ? "most" : "number";
}
