/** What stands above the rows: findings, situations and anomalous visits, each with a sign, words, and what it leads to. */
import { batch, computed } from "@preact/signals";
import type { JSX } from "preact";

import type { Span } from "../base/time.ts";
import { anomalies, situations } from "../state/annotations.ts";
import { run } from "../state/run.ts";
import { chosenLocations, chosenRegion, chosenVisit, lookAround, notes, span, view, type Notes } from "../state/view.ts";
import { goTo } from "../state/visit.ts";
import type { Towards, WireAnomaly, WireSituation, WireSituationKind } from "../wire/generated.ts";
import { placed, show } from "./findings.tsx";
import { aboutAnomaly, KINDS, sentence } from "./situations.ts";

/** One of them. */
export interface Note {
  readonly of: keyof Notes;
  readonly kind: string;
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** What a mark shows. */
  readonly sign: JSX.Element | string;
  readonly act: () => void;
}

/** Those that are shown, in the order of their middles. */
export const shownNotes = computed<readonly Note[]>(() => {
  const all = [...(notes.value.findings ? findingNotes.value : []), ...(notes.value.situations ? situationNotes.value : []), ...(notes.value.anomalies ? anomalyNotes.value : [])];
  return all.sort((a, b) => a.from + a.to - b.from - b.to);
});

const findingNotes = computed<readonly Note[]>(() =>
  placed.value.map((it) => ({ of: "findings", kind: `Finding ${it.number}`, text: it.text, from: it.from_ns, to: it.to_ns, sign: String(it.number), act: () => show(it) })),
);

export const situationNotes = computed<readonly Note[]>(() => {
  const head = run.value;
  if (head === null) return [];
  return (situations.value?.situations ?? []).map((it) => ({
    of: "situations",
    kind: KINDS[it.kind],
    text: sentence(head, it),
    from: it.from_ns,
    to: it.to_ns,
    sign: <Sign of={it.kind} />,
    act: () => showSituation(it),
  }));
});

const anomalyNotes = computed<readonly Note[]>(() => {
  const head = run.value;
  if (head === null) return [];
  return (anomalies.value?.anomalies ?? []).map((it) => ({
    of: "anomalies",
    kind: "Anomalous visit",
    text: aboutAnomaly(head, it),
    from: it.start_ns,
    to: it.start_ns + it.duration_ns,
    sign: "▴",
    act: () => showAnomaly(it),
  }));
});

/** Sets the span and who it is about in all views. */
function showSituation(it: WireSituation): void {
  batch(() => {
    view.value = "timeline";
    lookAround(it.from_ns, it.to_ns, 0.1);
    const isOfAll = it.locations.length === (run.peek()?.locations.length ?? 0);
    chosenLocations.value = isOfAll ? null : [...it.locations].sort((a, b) => a - b);
    chosenRegion.value = it.call?.region ?? null;
    chosenVisit.value = null;
  });
}

function showAnomaly(it: WireAnomaly): void {
  batch(() => {
    view.value = "timeline";
    lookAround(it.start_ns, it.start_ns + it.duration_ns, 2);
    goTo(it.line, it.start_ns, it.start_ns + it.duration_ns);
  });
}

/** Where stepping has led to: of notes that lie at about the same time each has its turn. */
let last: { readonly note: Note; readonly seen: Span } | null = null;

/** Goes to the next note, or to the one before: from the one that stepping led to, or, if somebody looks elsewhere now, from the middle of the span. */
export function stepNote(towards: Towards): void {
  const all = shownNotes.peek();
  const seen = span.peek();
  const stood = last !== null && last.seen.from === seen.from && last.seen.to === seen.to ? placeOf(all, last.note) : -1;
  const middle = (seen.from + seen.to) / 2;
  const at = (note: Note): number => (note.from + note.to) / 2;
  const forward = stood >= 0 ? stood + 1 : all.findIndex((it) => at(it) > middle);
  const backward = stood >= 0 ? stood - 1 : all.findLastIndex((it) => at(it) < middle);
  const note = towards === "next" ? (all[forward] ?? all[0]) : (all[backward] ?? all.at(-1));
  if (note === undefined) return;
  note.act();
  last = { note, seen: span.peek() };
}

/** Notes are made anew when others come in; the same says the same. */
function placeOf(all: readonly Note[], note: Note): number {
  return all.findIndex((it) => it.of === note.of && it.from === note.from && it.to === note.to && it.text === note.text);
}

/** Lines of 12 by 12. */
const SIGNS: Readonly<Record<WireSituationKind, string>> = {
  "slow-down": "M2 3l4 4 4-4M2 7l4 4 4-4",
  "speed-up": "M2 9l4-4 4 4M2 5l4-4 4 4",
  "under-utilised": "M2 1v10h8V1M4 9h4",
  "over-utilised": "M2 1v10h8V1M4 9h4M4 6.5h4M4 4h4M4 1.5h4",
  "message-queue": "M1 3h10v6H1zM1 3l5 4 5-4",
  "processing-time": "M6 1a5 5 0 1 0 .01 0M6 3v3l2.5 1.5",
};

function Sign({ of }: { readonly of: WireSituationKind }): JSX.Element {
  return (
    <svg viewBox="0 0 12 12" width="12" height="12" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={SIGNS[of]} />
    </svg>
  );
}
