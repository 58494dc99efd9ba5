/** What the finder finds: everything that has a name, that which is called so first. */
import { knownCounters, toggleCounter } from "../../state/counters.ts";
import { hasThreads, sections, toggleHost, toggleThreads } from "../../state/rows.ts";
import { report, run } from "../../state/run.ts";
import { ALL_VIEWS, chosenLocations, chosenRegion, locationsOfRanks, view, VIEWS } from "../../state/view.ts";
import { step } from "../../state/visit.ts";
import type { RunHead } from "../../wire/generated.ts";
import { show } from "../findings.tsx";
import { situationNotes } from "../notes.tsx";
import { COMMANDS, COMPARE_COMMANDS, TIMELINE_COMMANDS, VIEW_NAMES } from "./commands.ts";

export interface Hit {
  readonly kind: string;
  readonly name: string;
  /** The key that does it; empty = none. */
  readonly key: string;
  readonly act: () => void;
}

/** So many are shown of what has some words in it. */
const MOST = 12;

/** What has all words of a query in its name; without any, all that can be done. */
export function hits(query: string): readonly Hit[] {
  const head = run.value;
  if (head === null) return [];
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const [views, commands] = [viewHits(), commandHits(head)];
  if (words.length === 0) return [...views, ...commands];
  const all = [...views, ...rankHits(head), ...hostHits(head), ...threadHits(head), ...counterHits(head), ...regionHits(head), ...commands, ...findingHits()];
  const whole = words.join(" ");
  const found = all.filter(({ kind, name }) => {
    const text = `${name} ${kind}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  // Of those that are as near, each kind keeps its order.
  return [...found].sort((a, b) => distance(a, whole) - distance(b, whole)).slice(0, MOST);
}

/** 0 = it is called so, 1 = its name begins so, 2 = a word of it does, 3 = it is in its name, 4 = in its name and its kind. */
function distance({ name }: Hit, whole: string): number {
  const text = name.toLowerCase();
  if (text === whole) return 0;
  if (text.startsWith(whole)) return 1;
  if (text.includes(` ${whole}`)) return 2;
  return text.includes(whole) ? 3 : 4;
}

function viewHits(): readonly Hit[] {
  const key = (name: string): string => {
    const place = VIEWS.findIndex((it) => it === name);
    return name === "help" ? "?" : place < 0 || place > 8 ? "" : String(place + 1);
  };
  return ALL_VIEWS.map((name) => ({ kind: "view", name: VIEW_NAMES[name], key: key(name), act: () => (view.value = name) }));
}

function commandHits(head: RunHead): readonly Hit[] {
  const own = head.other === null ? [] : COMPARE_COMMANDS;
  return [...COMMANDS, ...TIMELINE_COMMANDS, ...own].map(({ name, key, act }) => ({ kind: "command", name, key: KEY_NAMES[key] ?? key, act }));
}

const KEY_NAMES: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc" };

function rankHits(head: RunHead): readonly Hit[] {
  return head.processes.flatMap(({ rank, world }): readonly Hit[] =>
    rank === null || world !== 0 ? [] : [{ kind: "rank", name: `rank ${rank}`, key: "", act: () => (chosenLocations.value = locationsOfRanks([rank])) }],
  );
}

/** A host is shown alone; where there are several, its rows can be closed. */
function hostHits(head: RunHead): readonly Hit[] {
  const alone = head.hosts.map((host): Hit => ({ kind: "host", name: host, key: "", act: () => (chosenLocations.value = locationsOn(head, host)) }));
  const closing = sections.value.flatMap(({ host }): readonly Hit[] => (host === null ? [] : [{ kind: "host", name: `Close or open ${host}`, key: "", act: () => toggleHost(host) }]));
  return [...alone, ...closing];
}

function locationsOn(head: RunHead, host: string): number[] {
  return head.locations.flatMap(({ process }, place) => (head.processes[process]?.host === host ? [place] : []));
}

function threadHits(head: RunHead): readonly Hit[] {
  return head.processes.flatMap(({ rank, world }, place): readonly Hit[] =>
    rank === null || world !== 0 || !hasThreads(place) ? [] : [{ kind: "rank", name: `Fold or show threads of rank ${rank}`, key: "", act: () => toggleThreads(place) }],
  );
}

function counterHits(head: RunHead): readonly Hit[] {
  return knownCounters.value.map((it) => ({ kind: "counter", name: `Draw ${head.counters[it]?.name ?? ""}, or not`, key: "", act: () => toggleCounter(it) }));
}

/** Those with most time first. */
function regionHits(head: RunHead): readonly Hit[] {
  const order = head.regions.flatMap((region, place) => (region.visits > 0 ? [place] : []));
  order.sort((a, b) => (head.regions[b]?.exclusive_ns ?? 0) - (head.regions[a]?.exclusive_ns ?? 0));
  return order.map((place) => ({
    kind: head.levels[head.regions[place]?.level ?? 0] ?? "region",
    name: head.regions[place]?.name ?? "",
    key: "",
    act: () => {
      chosenRegion.value = place;
      if (view.value === "timeline") void step("next");
    },
  }));
}

/** Findings by their numbers and their words, and situations. */
function findingHits(): readonly Hit[] {
  const findings = (report.value?.findings ?? []).map((finding, place): Hit => ({ kind: `finding ${place + 1}`, name: finding.text, key: "", act: () => show(finding) }));
  return [...findings, ...situationNotes.value.map(({ kind, text, act }): Hit => ({ kind: `situation, ${kind.toLowerCase()}`, name: text, key: "", act }))];
}
