/** Findings as cards: each sets time, ranks and region in all views. */
import { batch, computed } from "@preact/signals";
import type { JSX } from "preact";

import { place } from "../base/format.ts";
import { report } from "../state/run.ts";
import { chosenLocations, chosenRegion, chosenSpan, locationsOfRanks, lookAround, regionOfReport, view } from "../state/view.ts";
import { goToLocation } from "../state/visit.ts";
import type { Finding } from "../wire/report.ts";
import { Coming } from "./lost.tsx";
import "./findings.css";

export function Findings(): JSX.Element {
  const text = report.value;
  if (text === null) return <Coming what="The run is being explained" isSmall />;
  const findings = text.findings ?? [];
  if (findings.length === 0) {
    const why = text.unexplained ?? text.dominant?.text ?? "Nothing was found that is worth changing.";
    return <p class="muted">{why}</p>;
  }
  return (
    <div class="findings">
      {findings.map((finding, number) => (
        <Card finding={finding} number={number + 1} />
      ))}
    </div>
  );
}

/** Findings that have a place in time, the first first. */
export const placed = computed<readonly Placed[]>(() => {
  const findings = (report.value?.findings ?? []).map((finding, at): Placed => ({ ...finding, number: at + 1 }));
  return findings.filter((it) => it.to_ns > it.from_ns).sort((a, b) => a.from_ns + a.to_ns - b.from_ns - b.to_ns);
});

/** With the number that its card has. */
export interface Placed extends Finding {
  readonly number: number;
}

function Card({ finding, number }: { readonly finding: Finding; readonly number: number }): JSX.Element {
  const source = place(finding.file, finding.line);
  return (
    <button type="button" class="findings-card" onClick={() => show(finding)} title="Show it in the timeline">
      <span class="findings-text">
        <span class="findings-number">{number}</span> {finding.text}
      </span>
      {source === "" ? null : <code class="muted">{source}</code>}
    </button>
  );
}

/** Sets time, ranks and region in all views. */
export function show(finding: Finding): void {
  batch(() => {
    view.value = "timeline";
    const isWhole = finding.to_ns <= finding.from_ns;
    if (isWhole) chosenSpan.value = null;
    else lookAround(finding.from_ns, finding.to_ns, 0.04);
    chosenRegion.value = finding.region === "" ? null : regionOfReport(finding.region);
    const ofRanks = locationsOfRanks(finding.ranks);
    chosenLocations.value = ofRanks.length === 0 ? null : ofRanks;
  });
  const [location] = locationsOfRanks(finding.ranks.slice(0, 1));
  if (location !== undefined && finding.to_ns > finding.from_ns) void goToLocation(location, finding.from_ns);
}
