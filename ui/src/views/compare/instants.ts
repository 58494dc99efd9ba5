/** Instants that programs marked, in both runs: kinds of one name have one sign. */
import { computed } from "@preact/signals";

import { instant } from "../../base/time.ts";
import { pair } from "../../state/pair.ts";
import { run } from "../../state/run.ts";
import { eventAt, type Events } from "../../tracks/events.ts";
import type { Scene } from "../timeline/draw.ts";

/** Names of all kinds: those of the base, then those that only the other run has. */
const kinds = computed<readonly string[]>(() => {
  const names = (run.value?.event_kinds ?? []).map((it) => it.name);
  const others = (pair.value?.other.event_kinds ?? []).map((it) => it.name);
  return [...names, ...others.filter((name, at) => !names.includes(name) && others.indexOf(name) === at)];
});

/** Whether either program marked any. */
export const areThere = computed(() => kinds.value.length > 0);

/** Those of the other run, with kinds as both have them. */
export function asInBoth(events: Events): Events {
  const of = (pair.peek()?.other.event_kinds ?? []).map((it) => kinds.peek().indexOf(it.name));
  return { ...events, kind: events.kind.map((kind) => of[kind] ?? kind) };
}

/** What a sign at a place of a picture stands for; empty = there is none. */
export function instantAt(scene: Scene, x: number, y: number): string {
  const all = scene.picture?.events ?? null;
  const at = all === null ? null : eventAt(all, scene, x, y);
  if (all === null || at === null) return "";
  const [number, name] = [all.number[at] ?? 1, kinds.peek()[all.kind[at] ?? 0] ?? ""];
  return `${number > 1 ? `${name} and others, ${number} instants` : name} at ${instant(all.time[at] ?? 0)}`;
}
