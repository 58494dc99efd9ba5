/**
 * The sentence that is asked for: a verb done to a noun on a level, under others; and what it cost, when, and what else could
 * be asked for.
 *
 * The one idea: at first that is the programming model which the program is written in, if there is one; whatever is chosen
 * then stands in the address.
 */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { SentenceBy, Sentences, SentencesHead, SentenceTimes, SentenceTimesHead, WireSentence } from "../wire/generated.ts";
import { partOf, REST_MS, shownSpan } from "./part.ts";
import { engine, fail, run } from "./run.ts";

export const SENTENCE_BYS: readonly SentenceBy[] = ["noun", "verb", "line", "rank"];
/** Spans of the course in time. */
export const SPANS = 60;

interface Asked {
  readonly of: WireSentence;
  readonly under: readonly WireSentence[];
  readonly by: SentenceBy;
}

export const ANYTHING: WireSentence = { level: null, verb: null, noun: null };
/** Levels that nearly every run has; another one is a programming model's. */
const COMMON: readonly string[] = ["source", "mpi", "threads", "files", "system", "memory"];

/** `null` = nobody has chosen anything. */
const chosenSentence = signal<Asked | null>(null);
export const isOfSpan = signal(false);

/** What is asked at first: the outermost programming model by its nouns, or MPI by its calls. */
const usual = computed<Asked>(() => {
  const levels = run.value?.levels.filter((_, place) => run.value?.regions.some((region) => region.level === place && region.visits > 0)) ?? [];
  const model = levels.find((level) => !COMMON.includes(level));
  const level = model ?? levels.find((it) => it === "mpi") ?? levels[0] ?? null;
  return { of: { ...ANYTHING, level }, under: [], by: model === undefined ? "verb" : "noun" };
});

export const asked = computed<Asked>(() => chosenSentence.value ?? usual.value);

export function ask(next: Partial<Asked>): void {
  chosenSentence.value = { ...asked.peek(), ...next };
}

/** What the sentence was becomes a context of what is asked next: everything that served it. */
export function lookBeneath(): void {
  const { of, under } = asked.peek();
  chosenSentence.value = { of: ANYTHING, under: [...under, of], by: "verb" };
}

/**
 * A context that is to be added: `LEVEL:VERB NOUN`, of which any part may be left out, or a function; `null` = it says nothing.
 * Verbs may have blanks: the longest one of the run that stands there is meant.
 */
export function contextOf(text: string): WireSentence | null {
  const word = (it: string): string | null => (it.trim() === "" || it.trim() === "*" ? null : it.trim());
  const [, level, rest] = /^([^:\s]*):(?!:)(.*)$/.exec(text.trim()) ?? [null, "", text.trim()];
  const said = (rest ?? "").trim();
  const verbs = (run.peek()?.regions ?? []).flatMap(({ verb }) => (verb !== "" && (said === verb || said.startsWith(`${verb} `)) ? [verb] : []));
  const known = verbs.reduce((longest, verb) => (verb.length > longest.length ? verb : longest), "");
  const at = known === "" ? said.lastIndexOf(" ") : known.length;
  const [verb, noun] = at < 0 ? [said, ""] : [said.slice(0, at), said.slice(at)];
  const found = { level: word(level ?? ""), verb: word(verb), noun: word(noun) };
  return found.level === null && found.verb === null && found.noun === null ? null : found;
}

/** As a context is written: `coarray:get u`. */
export function written({ level, verb, noun }: WireSentence): string {
  return `${level === null ? "" : `${level}:`}${verb ?? (noun === null ? "" : "*")}${noun === null ? "" : ` ${noun}`}`;
}

/** `null` = it is being added up. */
export const cost = signal<{ readonly head: SentencesHead; readonly of: Asked } | null>(null);
export interface Times {
  readonly head: SentenceTimesHead;
  readonly visits: Float64Array;
  readonly time: Float64Array;
}
/** When, in the span that is shown. */
export const times = signal<Times | null>(null);
/** Whether what is there is of what was asked before. */
export const isAsking = signal(false);
export const isTiming = signal(false);

/** Begins to follow what is asked; returns what ends it. */
export function followSentences(): () => void {
  let wanted: Sentences | null = null;
  let wantedTimes: SentenceTimes | null = null;
  const costs = new Latest<Sentences, SentencesHead>(
    async (of) => (await engine.sentences(of)).head,
    (head, question) => {
      cost.value = { head, of: { of: question.of, under: question.under, by: question.by } };
      isAsking.value = question !== wanted;
    },
    fail,
  );
  const courses = new Latest<SentenceTimes, Times>(
    async (of) => {
      const frame = await engine.sentenceTimes(of);
      return { head: frame.head, visits: frame.f64("visits"), time: frame.f64("time") };
    },
    (found, question) => {
      times.value = found;
      isTiming.value = question !== wantedTimes;
    },
    fail,
  );
  const stops = [
    effect(() => {
      if (run.value === null) return;
      const { of, under, by } = asked.value;
      const question: Sentences = { part: partOf(isOfSpan.value), of, under: [...under], by };
      wanted = question;
      isAsking.value = true;
      const rest = setTimeout(() => costs.want(question), question.part.span === null ? 0 : REST_MS);
      return () => clearTimeout(rest);
    }),
    effect(() => {
      if (run.value === null) return;
      const { of, under } = asked.value;
      const question: SentenceTimes = { part: { ...partOf(false), span: shownSpan() }, of, under: [...under], spans: SPANS };
      wantedTimes = question;
      isTiming.value = true;
      const rest = setTimeout(() => courses.want(question), REST_MS);
      return () => clearTimeout(rest);
    }),
  ];
  return () => stops.forEach((stop) => stop());
}

type Words = readonly [level: string | null, verb: string | null, noun: string | null];
const words = ({ level, verb, noun }: WireSentence): Words => [level, verb, noun];

/** As it stands in the address; empty = nothing is chosen. */
export function levelsText(): string {
  const it = chosenSentence.value;
  if (it === null) return isOfSpan.value ? JSON.stringify(["span"]) : "";
  return JSON.stringify([words(it.of), it.under.map(words), it.by, ...(isOfSpan.value ? ["span"] : [])]);
}

export function applyLevels(text: string): void {
  const list = listOf(text);
  isOfSpan.value = list.at(-1) === "span";
  const [of, under, by] = list;
  const sentence = sentenceOf(of);
  const next = sentence === null ? null : { of: sentence, under: Array.isArray(under) ? under.flatMap((it) => sentenceOf(it) ?? []) : [], by: SENTENCE_BYS.find((it) => it === by) ?? "verb" };
  // The same stays the same, so that it is not asked anew.
  if (JSON.stringify(next) !== JSON.stringify(chosenSentence.peek())) chosenSentence.value = next;
}

function listOf(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function sentenceOf(it: unknown): WireSentence | null {
  if (!Array.isArray(it) || it.length !== 3) return null;
  const [level, verb, noun] = it.map((word: unknown) => (typeof word === "string" ? word : null));
  return { level: level ?? null, verb: verb ?? null, noun: noun ?? null };
}
