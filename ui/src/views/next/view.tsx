/** What the next run is to record: for each region how much, what that costs now, and the filter file and the command that do it. */
import { useComputed, useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { count, counted, percent } from "../../base/format.ts";
import { download } from "../../base/files.ts";
import { duration } from "../../base/time.ts";
import { DETAILS, filterText, keep, kept, patternOf, type Detail } from "../../state/next.ts";
import { report, run } from "../../state/run.ts";
import { chosenRegion } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";
import { Again } from "./again.tsx";
import "./next.css";

/** What one rule is about: regions of libraries that differ in their nouns alone, or functions of one name. */
interface Row {
  readonly pattern: string;
  readonly name: string;
  readonly level: string;
  /** The first of them, which stands for all when it is chosen. */
  readonly region: number;
  readonly visits: number;
  /** Those that the budget had only counted. */
  readonly reduced: number;
  readonly inclusive: number;
  /** What recording took of those that were recorded, about, ns. */
  readonly cost: number;
}

const HELP: Readonly<Record<Detail, string>> = {
  off: "nothing is kept",
  count: "how often, by call path",
  time: "how often and how long, added up",
  trace: "each visit by itself",
};

/** Levels that have rules, as `marey record` knows them. */
const LEVELS: readonly string[] = ["source", "mpi", "threads", "files", "system", "memory"];
const FILE = "next.rules";
/** Recording that takes this share of what is recorded changes it. */
const DEAR = 0.05;

export function Next(): JSX.Element {
  const text = report.value;
  const rows = useComputed(rowsOf);
  if (text === null) return <Coming what="The report is being made" />;
  const dear = rows.value.filter((row) => row.reduced === 0 && row.cost > DEAR * row.inclusive && !kept.value.has(row.pattern));
  return (
    <div class="sheet">
      <section>
        <h1>Next run</h1>
        <p class="muted">
          How much is to be recorded of which regions. Sums stay exact; what is not traced has no bars in the timeline, and messages of such calls are counted, not matched.
        </p>
        <p class="next-tools">
          <button
            type="button"
            disabled={dear.length === 0}
            title={`Adds up, and no longer traces, regions of which recording takes more than ${percent(DEAR)} of their time; not those that the budget counts, which is cheaper`}
            onClick={() => keep(dear.map((row) => [row.pattern, "time"]))}
          >
            Add up what is dear to trace{dear.length === 0 ? "" : ` (${counted(dear.length, "region")})`}
          </button>
          <button type="button" disabled={kept.value.size === 0} title="No rule is left" onClick={() => (kept.value = new Map())}>
            Trace all
          </button>
        </p>
        <Regions rows={rows.value} />
      </section>
      <Rules />
    </div>
  );
}

function rowsOf(): readonly Row[] {
  const head = run.value;
  const cost = report.value?.overhead?.ns_per_event ?? 0;
  const all = new Map<string, Row>();
  for (const it of report.value?.regions ?? []) {
    const level = head?.levels.indexOf(it.level) ?? -1;
    // Of other levels nobody asks before something is recorded.
    if (it.calls === 0 || !LEVELS.includes(it.level)) continue;
    // Rules name functions of the program, and calls of libraries whatever they are done to.
    const name = it.level === "source" && it.noun !== "" ? it.noun : it.verb;
    const pattern = patternOf(it.level, name);
    const before = all.get(pattern);
    all.set(pattern, {
      pattern,
      name,
      level: it.level,
      region: before?.region ?? head?.regions.findIndex((of) => of.verb === it.verb && (it.level !== "source" || of.noun === it.noun) && of.level === level) ?? -1,
      visits: (before?.visits ?? 0) + it.calls,
      reduced: (before?.reduced ?? 0) + it.reduced_calls,
      inclusive: (before?.inclusive ?? 0) + it.inclusive_ns,
      // An enter and a leave; what is only counted takes next to nothing.
      cost: (before?.cost ?? 0) + 2 * Math.max(0, it.calls - it.untimed_calls - it.reduced_calls) * cost,
    });
  }
  return [...all.values()];
}

function Regions({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const rules = kept.value;
  const most = Math.max(...rows.map((row) => row.cost), 1);
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Region", help: "What was done; one rule is about all nouns that it was done to", text: (row) => row.name, draw: (row) => <Name row={row} />, width: "minmax(160px, 2fr)" },
    { name: "Level", help: "Level of abstraction", text: (row) => row.level, width: "80px" },
    { name: "Visits", help: "How often, in this run", text: (row) => count(row.visits), value: (row) => row.visits, width: "100px" },
    { name: "Mean", help: "Time of a visit with what is beneath", text: (row) => duration(row.inclusive / row.visits), value: (row) => row.inclusive / row.visits, unit: "ns", width: "100px" },
    { name: "Cost", help: "What recording its visits took in this run, about: an enter and a leave each, at the mean cost of an event; those that were only counted took next to nothing", text: (row) => duration(row.cost), value: (row) => row.cost, bar: (row) => row.cost / most, unit: "ns", width: "100px" },
    { name: "Of its time", help: "That cost, of the time of its visits", text: (row) => percent(row.cost / Math.max(row.inclusive, 1)), value: (row) => row.cost / Math.max(row.inclusive, 1), unit: "%", width: "90px" },
    { name: "Keep", help: "How much the next run records of it", text: (row) => rules.get(row.pattern) ?? "trace", draw: (row) => <Choice row={row} />, width: "210px" },
  ];
  return (
    <Table
      label="next run"
      rows={rows}
      columns={columns}
      sortedBy={4}
      height={16}
      onChoose={(row) => (chosenRegion.value = row.region < 0 ? null : row.region)}
      isChosen={(row) => row.region === chosenRegion.value}
    />
  );
}

/** A rule for what the budget counts would make it dearer, or take its time away. */
function Name({ row }: { readonly row: Row }): JSX.Element {
  const why = `${row.name}: of ${counted(row.visits, "visit")} ${count(row.reduced)} were only counted, since recording each was beyond the budget. Without a rule the next run does the same; with time it would be dearer`;
  return (
    <button type="button" class="plain" title={row.reduced === 0 ? row.name : why}>
      {row.name}
      {row.reduced === 0 ? null : <span class="muted"> counted by the budget</span>}
    </button>
  );
}

function Choice({ row }: { readonly row: Row }): JSX.Element {
  const now = kept.value.get(row.pattern) ?? "trace";
  const isChosen = (it: Detail): boolean => it === now;
  return (
    <span class="next-choice" role="group" aria-label={`Keep of ${row.name}`}>
      {DETAILS.map((it) => (
        <button
          type="button"
          aria-pressed={isChosen(it)}
          title={`${row.name}: ${HELP[it]}`}
          onClick={(event) => {
            // The row is not meant.
            event.stopPropagation();
            keep([[row.pattern, it]]);
          }}
        >
          {it}
        </button>
      ))}
    </span>
  );
}

/** The file and the command. */
function Rules(): JSX.Element {
  const said = useSignal("");
  const text = filterText.value;
  const head = run.value;
  if (text === "") {
    return (
      <section>
        <p class="muted">All is traced, as without rules.</p>
        <Again />
      </section>
    );
  }
  const copy = (what: string): void => {
    void navigator.clipboard.writeText(what).then(
      () => (said.value = "copied"),
      () => (said.value = "the browser does not allow it"),
    );
  };
  const command = `marey record --filter ${FILE} --again ${quoted(head?.name ?? "RUN")}`;
  return (
    <section>
      <h2>The rules, as {FILE}</h2>
      <pre class="next-rules mono">{text}</pre>
      <p class="next-tools">
        <button type="button" title="Copy the rules" onClick={() => copy(text)}>
          Copy
        </button>
        <button type="button" title={`Save the rules as ${FILE}`} onClick={() => download(new Blob([text], { type: "text/plain" }), FILE)}>
          Save
        </button>
        <span class="muted" role="status">
          {said}
        </span>
      </p>
      <h2>Run it again with them</h2>
      <p>
        <code>{command}</code>{" "}
        <button type="button" class="link" title="Copy the command" onClick={() => copy(command)}>
          copy
        </button>
      </p>
      <p class="muted">
        That runs the recorded command in its directory once more, with the same options and these rules alone; <code>marey diff</code> and the view Compare tell
        what has become of it.
      </p>
      <Again />
    </section>
  );
}

/** As one word of a shell. */
function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
