/**
 * Waiting, delays and the critical path: of the whole run or of the span that is shown, and what is chosen among them. Who is
 * chosen, and which region, holds for all views.
 */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { CausesHead, SpanOf } from "../wire/generated.ts";
import { engine, fail, run, whole } from "./run.ts";
import { span } from "./view.ts";

/** `null` = all of it. */
export interface WaitsChoice {
  /** Which times: `Waiting`, `Delays` or `Critical path`. */
  readonly kind: string;
  readonly what: string | null;
  readonly where: string | null;
}

/** A span that has stood so long is looked at. */
const REST_MS = 200;

const ALL: WaitsChoice = { kind: "Waiting", what: null, where: null };

export const waitsChoice = signal<WaitsChoice>(ALL);
/** Whether it is of the span that is shown, and not of the whole run. */
export const isOfSpan = signal(false);
/** Whether that is a part of the run. */
export const isPart = computed(() => isOfSpan.value && !(span.value.from <= whole.value.from && whole.value.to <= span.value.to));
/** What explains the span; `null` = it is being explained. */
export const causes = signal<CausesHead | null>(null);
/** Whether what is there is of a span that was looked at before. */
export const isExplaining = signal(false);

/** Begins to follow the span while it is wanted; returns what ends it. */
export function followCauses(): () => void {
  let wanted: SpanOf | null = null;
  const latest = new Latest<SpanOf, CausesHead>(
    async (of) => (await engine.causes(of)).head,
    (found, question) => {
      causes.value = found;
      isExplaining.value = question !== wanted;
    },
    fail,
  );
  return effect(() => {
    isExplaining.value = isPart.value;
    if (run.value === null || !isPart.value) return;
    const of = { from_ns: Math.floor(span.value.from), to_ns: Math.ceil(span.value.to) };
    wanted = of;
    // To explain a span reads all of it: not while it is moved.
    const rest = setTimeout(() => latest.want(of), REST_MS);
    return () => clearTimeout(rest);
  });
}

/** As it stands in the address; empty = nothing is chosen. */
export function waitsText(): string {
  const { kind, what, where } = waitsChoice.value;
  if (isOfSpan.value) return JSON.stringify([kind, what, where, "span"]);
  return kind === ALL.kind && what === null && where === null ? "" : JSON.stringify([kind, what, where]);
}

export function applyWaits(text: string): void {
  const { isOfSpan: ofSpan, ...choice } = waitsOf(text);
  waitsChoice.value = choice;
  isOfSpan.value = ofSpan;
}

function waitsOf(text: string): WaitsChoice & { readonly isOfSpan: boolean } {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list) || typeof list[0] !== "string") return { ...ALL, isOfSpan: false };
    const name = (value: unknown): string | null => (typeof value === "string" ? value : null);
    return { kind: list[0], what: name(list[1]), where: name(list[2]), isOfSpan: list[3] === "span" };
  } catch {
    return { ...ALL, isOfSpan: false };
  }
}
