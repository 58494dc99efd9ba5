/** The top of the page: which run, what is chosen, which span; and finding things. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";

import { counted } from "../../base/format.ts";
import { duration, instant, length } from "../../base/time.ts";
import { run, whole } from "../../state/run.ts";
import { theme, toggleTheme } from "../../state/settings.ts";
import { chosenLocations, chosenRegion, locationsOfRanks, span, view, VIEWS, type ViewName } from "../../state/view.ts";
import { step } from "../../state/visit.ts";

export function Header(): JSX.Element {
  const head = run.value;
  const ranks = head?.processes.filter((process) => process.rank !== null).length ?? 0;
  const facts =
    head === null
      ? ""
      : `${ranks > 0 ? counted(ranks, "rank") : counted(head.processes.length, "process", "processes")} · ${counted(head.hosts.length, "host")} · ${duration(whole.value.to)}`;
  return (
    <header class="top">
      <div class="top-name">
        <svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
          <path d="M2 4h16M2 10h16M2 16h16" opacity=".35" />
          <path class="top-mark" d="M3 16 8 10l3-6M9 16l4-6 4-6" stroke-width="1.8" />
        </svg>
        marey
      </div>
      <div class="muted top-run">
        <strong>{head?.name ?? "…"}</strong> · {facts}
      </div>
      <div class="top-right">
        <Chips />
        <span class="top-box mono" title="The span that is shown; the wheel and the keys a, d, e and s change it">
          {instant(span.value.from)}
        </span>
        →<span class="top-box mono">{instant(span.value.to)}</span>
        <span class="mono muted">{duration(length(span.value))}</span>
        <Finder />
        <button type="button" onClick={toggleTheme} aria-label={`Theme: ${theme.value}`} title="Light or dark">
          {theme.value === "light" ? "☾" : "☀"}
        </button>
      </div>
    </header>
  );
}

function Chips(): JSX.Element {
  const head = run.value;
  const region = chosenRegion.value;
  const locations = chosenLocations.value;
  return (
    <>
      {region === null ? null : (
        <button type="button" class="chip" onClick={() => (chosenRegion.value = null)} title="Chosen in all views; press to choose none">
          <code>{head?.regions[region]?.name ?? ""}</code> ×
        </button>
      )}
      {locations === null ? null : (
        <button type="button" class="chip" onClick={() => (chosenLocations.value = null)} title="Only these are shown; press to show all">
          {locations.length === 1 ? (head?.locations[locations[0] ?? 0]?.name ?? "") : counted(locations.length, "location")} ×
        </button>
      )}
    </>
  );
}

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
  const order = head.regions.map((_, place) => place);
  order.sort((a, b) => (head.regions[b]?.exclusive_ns ?? 0) - (head.regions[a]?.exclusive_ns ?? 0));
  const regions = order.map((place): Hit => ({
    kind: head.levels[head.regions[place]?.level ?? 0] ?? "region",
    name: head.regions[place]?.name ?? "",
    act: () => {
      chosenRegion.value = place;
      if (view.value === "timeline") void step("next");
    },
  }));
  const all = [...views, ...ranks, ...regions];
  return all.filter((hit) => words.every((word) => hit.name.toLowerCase().includes(word))).slice(0, 12);
}

export const VIEW_NAMES: Readonly<Record<ViewName, string>> = {
  overview: "Overview",
  timeline: "Timeline",
  profile: "Profile",
  communication: "Communication",
  waits: "Waits & path",
  help: "Help",
};

function Finder(): JSX.Element {
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
        aria-label="Find a function, a rank or a view"
        placeholder="Find function, rank, view …  /"
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
