/** All about the instants of a mark that was chosen. */
import { computed, effect, signal } from "@preact/signals";

import { Latest } from "../base/latest.ts";
import type { EventsAtHead } from "../wire/generated.ts";
import { engine, fail, run } from "./run.ts";
import { chosenEvents, type ChosenEvents } from "./view.ts";

/** `null` = none was chosen. */
export const events = signal<EventsAtHead | null>(null);

/** Whether the program marks instants at all. */
export const hasEvents = computed(() => run.value?.event_kinds.some((kind) => !kind.is_attribute) ?? false);

/** Begins to follow what is chosen. */
export function followEvents(): void {
  const details = new Latest<ChosenEvents, EventsAtHead>(
    async ({ location, from, to }) => (await engine.eventsAt({ location, from_ns: from, to_ns: to + 1 })).head,
    (found, asked) => {
      if (chosenEvents.peek() === asked) events.value = found;
    },
    fail,
  );
  effect(() => {
    const chosen = chosenEvents.value;
    if (run.value === null) return;
    if (chosen === null) events.value = null;
    else details.want(chosen);
  });
}
