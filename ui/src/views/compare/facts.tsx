/** What is said of both runs: in sentences, and in numbers beside each other. */
import type { JSX } from "preact";

import { bytes, count, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import type { Pair } from "../../state/pair.ts";
import type { WireNumber } from "../../wire/generated.ts";
import { relative, signed, tone } from "./words.ts";

interface Fact {
  readonly name: string;
  readonly help: string;
  readonly text: (value: number) => string;
}

const time = (name: string, help: string): Fact => ({ name, help, text: (seconds) => duration(seconds * 1e9) });
const number = (name: string, help: string): Fact => ({ name, help, text: count });
const size = (name: string, help: string): Fact => ({ name, help, text: bytes });
const share = (name: string, help: string): Fact => ({ name, help, text: percent });

/** By the names of docs/compare.md, in this order. */
const FACTS: Readonly<Record<string, Fact>> = {
  duration: time("Wall time", "From the first to the last measured instant"),
  processes: number("Processes", "Those that were measured"),
  threads: number("Threads", "Those that were measured"),
  time: time("Time of all processes", "Wall times of all processes together"),
  processor_time: time("Processor time", "Of all processes"),
  mpi_time: time("Time in MPI", "Summed over threads"),
  waiting: time("Waiting", "Time in which ranks and threads waited for others"),
  visits: number("Visits", "Of all regions"),
  bytes: size("Data of regions", "What all regions moved"),
  messages: number("Messages", "Those of which both ends are known"),
  message_bytes: size("Data of messages", "Sizes of these messages"),
  peak_memory: size("Peak memory", "Resident memory of the process that had most"),
  heap_peak: size("Peaks of heaps", "Of all processes, added"),
  allocated_bytes: size("Allocated", "All that was allocated"),
};

const EFFICIENCIES: Readonly<Record<string, Fact & { readonly depth: number }>> = {
  parallel_efficiency: { ...share("Parallel efficiency", "Useful computation of all, of the time of all: load balance × communication"), depth: 0 },
  load_balance: { ...share("Load balance", "Mean of the useful time, of that of the busiest"), depth: 1 },
  communication_efficiency: { ...share("Communication", "Useful time of the busiest, of the run: serialisation × setting up × transfer"), depth: 1 },
  serialisation: { ...share("Serialisation", "Lost by waiting for each other, even with a network that costs nothing"), depth: 2 },
  setting_up: { ...share("Setting up", "Lost by what libraries do to begin, to end and to administer"), depth: 2 },
  transfer: { ...share("Transfer", "Lost by moving data"), depth: 2 },
};

/** Efficiencies below this stand out, as in the overview. */
const POOR = 0.8;

export function Facts({ pair }: { readonly pair: Pair }): JSX.Element {
  const { head } = pair;
  const of = (name: string): WireNumber | undefined => head.numbers.find((it) => it.name === name);
  const facts = Object.entries(FACTS).flatMap(([name, fact]) => line(of(name), fact));
  const efficiencies = Object.entries(EFFICIENCIES).flatMap(([name, fact]) => efficiency(of(name), fact));
  return (
    <div class="compare-facts">
      <section class="compare-said">
        <h2>What differs, and why</h2>
        <ul>
          {head.sentences.slice(1).map((text) => (
            <li>{text}</li>
          ))}
        </ul>
        {head.remarks.map((text) => (
          <p class="warn">{text}</p>
        ))}
        <p class="muted">One run of each: a difference may be chance; `marey check` tells from repeats whether it is not.</p>
      </section>
      <section>
        <h2>Facts</h2>
        <table class="compare-numbers">
          <Heads />
          <tbody>{facts}</tbody>
        </table>
      </section>
      {efficiencies.length === 0 ? null : (
        <section>
          <h2 title="Each is the product of those beneath it">Efficiencies</h2>
          <table class="compare-numbers">
            <Heads />
            <tbody>{efficiencies}</tbody>
          </table>
        </section>
      )}
    </div>
  );
}

function Heads(): JSX.Element {
  return (
    <thead>
      <tr>
        <td />
        <th scope="col">A</th>
        <th scope="col">B</th>
        <th scope="col" title="B less A">
          B − A
        </th>
      </tr>
    </thead>
  );
}

/** A number of both; nothing of what neither has. */
function line(it: WireNumber | undefined, fact: Fact): JSX.Element[] {
  if (it === undefined || (!it.old && !it.new)) return [];
  const text = (value: number | null): string => (value === null ? "not known" : fact.text(value));
  const difference = it.old === null || it.new === null ? null : it.new - it.old;
  const told = difference === null || it.old === null || it.new === null ? "" : `${signed(difference, fact.text)} (${relative(it.old, it.new)})`;
  return [
    <tr title={fact.help}>
      <th scope="row">{fact.name}</th>
      <td class="mono">{text(it.old)}</td>
      <td class="mono">{text(it.new)}</td>
      <td class={`mono ${toneClass(difference)}`}>{difference === 0 ? "same" : told}</td>
    </tr>,
  ];
}

function efficiency(it: WireNumber | undefined, fact: Fact & { readonly depth: number }): JSX.Element[] {
  if (it === undefined || it.old === null || it.new === null) return [];
  const points = Math.round((it.new - it.old) * 1000) / 10;
  const bar = (value: number): JSX.Element => (
    <td class="mono">
      {percent(value)}
      <span class="compare-track">
        <span class={value < POOR ? "compare-bar compare-poor" : "compare-bar"} style={{ width: `${Math.min(Math.max(value, 0), 1) * 100}%` }} />
      </span>
    </td>
  );
  return [
    <tr title={fact.help}>
      <th scope="row" style={{ paddingLeft: `${fact.depth * 12}px` }}>
        {fact.name}
      </th>
      {bar(it.old)}
      {bar(it.new)}
      <td class={`mono ${toneClass(points)}`}>{`${signed(points, (size) => size.toFixed(1))} points`}</td>
    </tr>,
  ];
}

function toneClass(difference: number | null): string {
  const found = difference === null ? null : tone(difference);
  return found === null ? "muted" : `table-${found}`;
}
