/** What can be asked for: levels, verbs and nouns that there are, each under what is chosen of the other two. */
import type { JSX } from "preact";

import { count, counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { ask, asked } from "../../state/levels.ts";
import { run } from "../../state/run.ts";
import { chosenRegion } from "../../state/view.ts";
import type { SentencesHead, WireChoice, WireChoices, WireSentence } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";

type Part = keyof WireSentence;

export function Lists({ head }: { readonly head: SentencesHead }): JSX.Element {
  return (
    <section aria-label="What is asked for" class="levels-lists">
      <List part="level" name="Level" help="Where it was done: a programming model, a library, the system" choices={head.levels} of={head.of_ns} />
      <List part="verb" name="Verb" help="What was done; of functions and regions of the program their names stand among the nouns" choices={head.verbs} of={head.of_ns} />
      <List part="noun" name="Noun" help="What it was done to: an array, a function, a communicator, a file" choices={head.nouns} of={head.of_ns} />
    </section>
  );
}

interface ListProps {
  readonly part: Part;
  readonly name: string;
  readonly help: string;
  readonly choices: WireChoices;
  /** Time of all threads, ns. */
  readonly of: number;
}

function List({ part, name, help, choices, of }: ListProps): JSX.Element {
  const rows = choices.rows;
  const most = Math.max(...rows.map((row) => row.time_ns), 1);
  const columns: ReadonlyArray<Column<WireChoice>> = [
    { name, help: `${help}. Press one to ask for it, again to ask for any`, text: (row) => row.name, width: "minmax(110px, 1fr)" },
    { name: "Time", help: "With all that lies beneath, all threads together; what lies in another one of the same counts once", text: (row) => duration(row.time_ns), value: (row) => row.time_ns, bar: (row) => row.time_ns / most, unit: "ns", width: "78px" },
    { name: "Share", help: "Of the time of all threads", text: (row) => percent(row.time_ns / Math.max(of, 1)), value: (row) => row.time_ns / Math.max(of, 1), unit: "%", width: "56px" },
    { name: "Visits", help: "How often", text: (row) => count(row.visits), value: (row) => row.visits, width: "78px" },
  ];
  const chosen = asked.value.of[part];
  return (
    <div class="levels-list">
      <Table label={`${name.toLowerCase()}s`} rows={rows} columns={columns} sortedBy={1} height={6} onChoose={(row) => choose(part, chosen === row.name ? null : row.name)} isChosen={(row) => chosen === row.name} />
      {choices.more > 0 ? <p class="muted">{counted(choices.more, "more", "more")} took less time; choose in the other lists to have fewer.</p> : null}
    </div>
  );
}

/** Asks for it; the region that is meant by all three is chosen in all views. */
export function choose(part: Part, name: string | null): void {
  const of = { ...asked.peek().of, [part]: name };
  ask({ of });
  if (name !== null) chooseRegion(of);
}

/** The region with most time that a sentence means. */
function chooseRegion({ level, verb, noun }: WireSentence): void {
  const [levels, regions] = [run.peek()?.levels ?? [], run.peek()?.regions ?? []];
  let found: number | null = null;
  let most = -1;
  regions.forEach((region, place) => {
    const isMeant = (level === null || levels[region.level] === level) && (verb === null || region.verb === verb) && (noun === null || region.noun === noun);
    if (!isMeant || region.visits === 0 || region.exclusive_ns <= most) return;
    [found, most] = [place, region.exclusive_ns];
  });
  if (found !== null && (verb !== null || noun !== null)) chosenRegion.value = found;
}
