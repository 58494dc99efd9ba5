/** What was waited for, where in the program, and who waited: three panes of which each limits the others. */
import type { JSX } from "preact";

import { percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { chosenLocations, chosenRegion, regionOfReport } from "../../state/view.ts";
import { waitsChoice } from "../../state/waits.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { cellsOf, KINDS, sums, type Cell, type Choice, type Explained, type Kind, type Side, type Sum } from "./cells.ts";
import "./panes.css";

const HELP: Readonly<Record<Kind, string>> = {
  Waiting: "Time in which a location could not go on because another had not come; docs/wait-states.md defines each pattern",
  Delays: "What the late ones did meanwhile, and how long others waited for it, directly and through those who waited in turn",
  "Critical path": "What the run is as long as: whatever is faster on it makes the run shorter",
};

const TITLES: Readonly<Record<Kind, Readonly<Record<Side, string>>>> = {
  Waiting: { what: "What was waited for", where: "In which call", who: "Who waited" },
  Delays: { what: "How it was waited for", where: "What the late ones did", who: "Who was late" },
  "Critical path": { what: "What lies on it", where: "Where in the program", who: "On whom" },
};

export function Panes({ explained }: { readonly explained: Explained }): JSX.Element {
  const cells = cellsOf(explained);
  const { kind, what, where } = waitsChoice.value;
  const who = whoIsChosen();
  const choice: Choice = { kind: isKind(kind) ? kind : "Waiting", what, where, who };
  const all = total(cells, { ...choice, what: null, where: null, who: null });
  const isLimited = what !== null || where !== null || who !== null;
  return (
    <section aria-label="What, where and who">
      <div class="waits-kinds" role="group" aria-label="Which times">
        {KINDS.map((it) => (
          <button type="button" aria-pressed={it === choice.kind} title={HELP[it]} onClick={() => (waitsChoice.value = { kind: it, what: null, where: null })}>
            {it} <span class="mono">{duration(total(cells, { kind: it, what: null, where: null, who: null }))}</span>
          </button>
        ))}
        <span class="muted">{isLimited ? `${duration(total(cells, choice))} of it are chosen, ${percent(total(cells, choice) / Math.max(all, 1))}` : "press a row to see what belongs to it in the other two"}</span>
        {isLimited ? (
          <button type="button" onClick={chooseAll}>
            All
          </button>
        ) : null}
      </div>
      <div class="waits-panes">
        <Pane side="what" cells={cells} choice={choice} choose={(row) => (waitsChoice.value = { ...waitsChoice.value, what: row })} />
        <Pane side="where" cells={cells} choice={choice} choose={choosePlace} />
        <Pane side="who" cells={cells} choice={choice} choose={chooseWho} />
      </div>
    </section>
  );
}

interface PaneProps {
  readonly side: Side;
  readonly cells: readonly Cell[];
  readonly choice: Choice;
  readonly choose: (name: string | null, region: string) => void;
}

function Pane({ side, cells, choice, choose }: PaneProps): JSX.Element {
  const rows = sums(cells, choice, side);
  const most = Math.max(...rows.map((row) => row.time), 1);
  const columns: ReadonlyArray<Column<Sum>> = [
    { name: TITLES[choice.kind][side], help: "Press a row to limit the other two panes to it, again to have all", text: (row) => row.name, width: "minmax(120px, 1fr)" },
    { name: "Time", help: "Of what is chosen in the other two panes, all ranks and threads together", text: (row) => duration(row.time), value: (row) => row.time, bar: (row) => row.time / most, unit: "ns", width: "104px" },
  ];
  return (
    <div class="waits-pane">
      <Table
        key={choice.kind}
        label={TITLES[choice.kind][side]}
        rows={rows}
        columns={columns}
        sortedBy={1}
        height={12}
        onChoose={(row) => choose(choice[side] === row.name ? null : row.name, row.region)}
        isChosen={(row) => choice[side] === row.name}
      />
    </div>
  );
}

function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

function total(cells: readonly Cell[], choice: Choice): number {
  // Whoever asks for one side asks for all of it, but for what is chosen there.
  return sums(cells, choice, "who").reduce((sum, row) => (choice.who === null || choice.who === row.name ? sum + row.time : sum), 0);
}

/** The location that is chosen in all views, if it is one. */
function whoIsChosen(): string | null {
  const chosen = chosenLocations.value;
  return chosen?.length === 1 ? (run.value?.locations[chosen[0] ?? 0]?.name ?? null) : null;
}

function chooseWho(name: string | null): void {
  const location = run.peek()?.locations.findIndex((it) => it.name === name) ?? -1;
  chosenLocations.value = location < 0 ? null : [location];
}

function choosePlace(where: string | null, region: string): void {
  waitsChoice.value = { ...waitsChoice.value, where };
  chosenRegion.value = where === null || region === "" ? null : regionOfReport(region);
}

function chooseAll(): void {
  waitsChoice.value = { ...waitsChoice.value, what: null, where: null };
  chosenLocations.value = null;
  chosenRegion.value = null;
}
