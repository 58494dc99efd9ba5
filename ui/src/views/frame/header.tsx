/** The top of the page: which run, what is chosen, which span. */
import type { ComponentChildren, JSX } from "preact";

import { counted } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { pairName, run, whole } from "../../state/run.ts";
import { isListed, LIST } from "../../state/runs.ts";
import { theme, toggleTheme } from "../../state/settings.ts";
import { spanLength, toldSpan } from "../../state/told.ts";
import { chosenLocations, chosenNew, chosenPair, chosenRegion, hasSide, isAlone, isSideShown, lastNew, view } from "../../state/view.ts";
import { VIEW_NAMES } from "./commands.ts";
import { Finder } from "./finder.tsx";
import { Menu } from "./menu.tsx";

export function Header(): JSX.Element {
  const head = run.value;
  const ranks = head?.processes.filter((process) => process.rank !== null).length ?? 0;
  const facts =
    head === null
      ? ""
      : `${ranks > 0 ? counted(ranks, "rank") : counted(head.processes.length, "process", "processes")} · ${counted(head.hosts.length, "host")} · ${duration(whole.value.to)}`;
  return (
    <header class="top" data-topic="top">
      <Name>
        <svg viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
          <path d="M2 4h16M2 10h16M2 16h16" opacity=".35" />
          <path class="top-mark" d="M3 16 8 10l3-6M9 16l4-6 4-6" stroke-width="1.8" />
        </svg>
        marey
      </Name>
      <div class="muted top-run">
        <strong>{head?.name ?? "…"}</strong>
        {head?.other == null ? "" : ` beside ${head.other}`} · {isAlone.value ? VIEW_NAMES[view.value] : facts}
      </div>
      <div class="top-right">
        <Chips />
        <Shown />
        <Finder />
        <SideButton />
        <Menu />
        <button type="button" onClick={toggleTheme} aria-label={`Theme: ${theme.value}`} title="Light or dark">
          {theme.value === "light" ? "☾" : "☀"}
        </button>
      </div>
    </header>
  );
}

/** Where there is a list of runs, the way back to it. */
function Name({ children }: { readonly children: ComponentChildren }): JSX.Element {
  if (!isListed) return <div class="top-name">{children}</div>;
  return (
    <a class="top-name" href={LIST} title="All runs, or the one that marey view was started with">
      {children}
    </a>
  );
}

/** Where it is narrow, what is said beside the timeline is opened over it. */
function SideButton(): JSX.Element | null {
  if (!hasSide.value) return null;
  return (
    <button type="button" class="side-button" aria-expanded={isSideShown.value} title="Findings, all about what was chosen, and the states that are seen" onClick={() => (isSideShown.value = !isSideShown.value)}>
      Details
    </button>
  );
}

/** The span that is shown. */
function Shown(): JSX.Element {
  // As wide as the last instant of the run and a sign; what is aligned with another run may begin before 0.
  const width = { width: `calc(${instant(whole.value.to).length + 1}ch + 18px)` };
  return (
    <>
      <span class="top-box mono" style={width} title="The span that is shown; the wheel and the keys a, d, e and s change it">
        {instant(toldSpan.value.from)}
      </span>
      <span class="top-arrow">→</span>
      <span class="top-box mono" style={width} title="Where the span ends">
        {instant(toldSpan.value.to)}
      </span>
      <span class="mono muted" title="How long the span is">
        {duration(spanLength.value)}
      </span>
    </>
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
      {chosenNew.value === null ? null : (
        <button type="button" class="chip" onClick={() => (lastNew.value = null)} title="Chosen; only the run beside this one has it; press to choose none">
          <code>{chosenNew.value}</code> ×
        </button>
      )}
      {chosenPair.value === null ? null : (
        <button type="button" class="chip" onClick={() => (chosenPair.value = null)} title="Only these messages are drawn and counted; press to have all">
          {`messages ${pairName(chosenPair.value)}`} ×
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
