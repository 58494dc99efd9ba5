/** Finding things by their names: functions, ranks, hosts, counters, views, and what can be done. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { knownCounters, toggleCounter } from "../../state/counters.ts";
import { hasThreads, sections, toggleHost, toggleThreads } from "../../state/rows.ts";
import { run } from "../../state/run.ts";
import { chosenLocations, chosenRegion, locationsOfRanks, view, VIEWS } from "../../state/view.ts";
import { step } from "../../state/visit.ts";
import { COMMANDS, COMPARE_COMMANDS, TIMELINE_COMMANDS, VIEW_NAMES } from "./commands.ts";

interface Hit {
  readonly kind: string;
  readonly name: string;
  readonly act: () => void;
}

const query = signal("");
const isOpen = signal(false);
const at = signal(0);

function hits(): readonly Hit[] {
  const head = run.value;
  const words = query.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (head === null || words.length === 0) return [];
  const views = VIEWS.map((name): Hit => ({ kind: "view", name: VIEW_NAMES[name], act: () => (view.value = name) }));
  const ranks = head.processes.flatMap((process): readonly Hit[] => {
    const { rank, world } = process;
    if (rank === null || world !== 0) return [];
    return [{ kind: "rank", name: `rank ${rank}`, act: () => (chosenLocations.value = locationsOfRanks([rank])) }];
  });
  const order = head.regions.flatMap((region, place) => (region.visits > 0 ? [place] : []));
  order.sort((a, b) => (head.regions[b]?.exclusive_ns ?? 0) - (head.regions[a]?.exclusive_ns ?? 0));
  const regions = order.map((place): Hit => ({
    kind: head.levels[head.regions[place]?.level ?? 0] ?? "region",
    name: head.regions[place]?.name ?? "",
    act: () => {
      chosenRegion.value = place;
      if (view.value === "timeline") void step("next");
    },
  }));
  const own = head.other === null ? [] : COMPARE_COMMANDS;
  const commands = [...COMMANDS, ...TIMELINE_COMMANDS, ...own].map(({ name, key, act }): Hit => ({ kind: key === "" ? "command" : `command, ${key}`, name, act }));
  const counters = knownCounters.value.map((it): Hit => ({ kind: "counter", name: `Draw ${head.counters[it]?.name ?? ""}, or not`, act: () => toggleCounter(it) }));
  const hosts = sections.value.flatMap(({ host }): readonly Hit[] => (host === null ? [] : [{ kind: "host", name: `Close or open ${host}`, act: () => toggleHost(host) }]));
  const threads = head.processes.flatMap((process, place): readonly Hit[] =>
    process.rank === null || process.world !== 0 || !hasThreads(place) ? [] : [{ kind: "rank", name: `Fold or show threads of rank ${process.rank}`, act: () => toggleThreads(place) }],
  );
  const all = [...views, ...ranks, ...hosts, ...threads, ...counters, ...regions, ...commands];
  return all.filter((hit) => words.every((word) => hit.name.toLowerCase().includes(word))).slice(0, 12);
}

export function Finder(): JSX.Element {
  const found = isOpen.value ? hits() : [];
  const close = (): void => {
    isOpen.value = false;
    query.value = "";
    at.value = 0;
  };
  const take = (hit: Hit | undefined): void => {
    hit?.act();
    close();
    (document.activeElement as HTMLElement | null)?.blur();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") at.value = Math.min(at.value + 1, found.length - 1);
    else if (event.key === "ArrowUp") at.value = Math.max(at.value - 1, 0);
    else if (event.key === "Enter") take(found[at.value]);
    else if (event.key === "Escape") {
      close();
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="finder">
      <input
        id="finder"
        type="text"
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls="finder-list"
        aria-label="Find a function, a rank, a view or a command"
        placeholder="Find or do anything …  /"
        title="Write a part of the name of a region, a rank, a view or a command, and press Enter; the key / leads here"
        autocomplete="off"
        value={query.value}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          isOpen.value = true;
          at.value = 0;
        }}
        onKeyDown={key}
        onBlur={() => setTimeout(close, 150)}
      />
      {found.length === 0 ? null : (
        <ul id="finder-list" role="listbox" aria-label="Found">
          {found.map((hit, place) => (
            <li role="option" aria-selected={place === at.value} onPointerDown={() => take(hit)}>
              <span>{hit.name}</span>
              <span class="muted">{hit.kind}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
