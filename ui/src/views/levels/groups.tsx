/** What sentences cost, told apart by noun, verb, line or rank; a row sets in all views what it stands for. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count, counted, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { ask, asked, SENTENCE_BYS } from "../../state/levels.ts";
import { processName, run } from "../../state/run.ts";
import { goToSource } from "../../state/source.ts";
import { chosenLocations, chosenRegion } from "../../state/view.ts";
import type { SentenceBy, SentencesHead, WireGroup } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";

const NAMES: Readonly<Record<SentenceBy, string>> = { noun: "Noun", verb: "Verb", line: "Line", rank: "Rank" };
const HELP: Readonly<Record<SentenceBy, string>> = {
  noun: "What it was done to; press a row to ask for that alone",
  verb: "What was done; press a row to ask for that alone",
  line: "Where in the source it was called; press a row to choose its region in all views, its place for the source",
  rank: "Who did it; press a row to see that rank alone in all views",
};

export function Groups({ head, by }: { readonly head: SentencesHead; readonly by: SentenceBy }): JSX.Element {
  const rows = head.groups;
  const most = Math.max(...rows.map((row) => row.time_ns), 1);
  const share = (row: WireGroup): number => row.time_ns / Math.max(head.time_ns, 1);
  const each = (row: WireGroup): number => (row.visits === 0 ? NaN : row.time_ns / row.visits);
  const columns: ReadonlyArray<Column<WireGroup>> = [
    { name: NAMES[by], help: HELP[by], text: name, width: "minmax(130px, 1.4fr)" },
    { name: "Visits", help: "Outermost ones", text: (row) => count(row.visits), value: (row) => row.visits, width: "100px" },
    { name: "Time", help: "With all that lies beneath, all threads together", text: (row) => duration(row.time_ns), value: (row) => row.time_ns, bar: (row) => row.time_ns / most, unit: "ns", width: "110px" },
    { name: "Share", help: "Of the time of the sentence", text: (row) => percent(share(row)), value: share, unit: "%", width: "80px" },
    { name: "A visit", help: "On average", text: (row) => (row.visits === 0 ? "–" : duration(each(row))), value: each, unit: "ns", width: "90px" },
    { name: "Bytes", help: "What they say to have moved; of a span it is not known", text: (row) => (row.bytes === 0 ? "" : bytes(row.bytes)), value: (row) => row.bytes, unit: "B", width: "90px" },
    {
      name: by === "line" ? "In the source" : "Most from",
      help: by === "line" ? "Function and place; press it for the source" : "Where the one with most time was called; press it for the source",
      text: (row) => `${row.function} ${place(row.file, row.line)}`.trim(),
      draw: (row) => <Place row={row} />,
      width: "minmax(150px, 1.4fr)",
    },
  ];
  return (
    <>
      <h2>
        What it cost, by{" "}
        <span role="group" aria-label="Told apart by">
          {SENTENCE_BYS.map((it) => (
            <button type="button" aria-pressed={it === by} title={`Told apart by ${it}; ${HELP[it]}`} onClick={() => ask({ by: it })}>
              {NAMES[it]}
            </button>
          ))}
        </span>
      </h2>
      <Table key={by} label={`sentences by ${by}`} rows={rows} columns={columns} sortedBy={2} height={14} onChoose={(row) => choose(by, row)} isChosen={(row) => isChosen(by, row)} />
      {head.more > 0 ? <p class="muted">{counted(head.more, "row")} more, {duration(head.more_ns)} together, are not listed.</p> : null}
    </>
  );
}

function name(row: WireGroup): string {
  if (row.process !== null) return processName(row.process);
  return row.name === "" ? "(none)" : row.name;
}

function Place({ row }: { readonly row: WireGroup }): JSX.Element {
  const at = place(row.file, row.line);
  if (at === "") return <span class="muted">{row.function === "" ? "not known" : row.function}</span>;
  const go = (event: Event): void => {
    event.stopPropagation();
    if (row.region !== null) chosenRegion.value = row.region;
    goToSource(row.file, row.line);
  };
  return (
    <button type="button" class="link" title={`${row.file}:${row.line}; press for the source`} onClick={go}>
      {row.function === "" ? at : `${row.function} ${at}`}
    </button>
  );
}

function isChosen(by: SentenceBy, row: WireGroup): boolean {
  if (by === "rank") return chosenLocations.value !== null && row.process !== null && locationsOf(row.process).join() === chosenLocations.value.join();
  const of = asked.value.of;
  if (by === "noun") return of.noun === row.name;
  return by === "verb" ? of.verb === row.name : false;
}

const locationsOf = (process: number): number[] => (run.value?.locations ?? []).flatMap((location, at) => (location.process === process ? [at] : []));

function choose(by: SentenceBy, row: WireGroup): void {
  batch(() => {
    if (by === "rank" && row.process !== null) {
      chosenLocations.value = isChosen(by, row) ? null : locationsOf(row.process);
      return;
    }
    if (row.region !== null) chosenRegion.value = row.region;
    const of = asked.peek().of;
    // What is chosen alone is told by line next: that leads on to the source.
    if (by === "noun" && row.name !== "") ask(isChosen(by, row) ? { of: { ...of, noun: null } } : { of: { ...of, noun: row.name }, by: "line" });
    if (by === "verb" && row.name !== "") ask(isChosen(by, row) ? { of: { ...of, verb: null } } : { of: { ...of, verb: row.name }, by: "line" });
  });
}
