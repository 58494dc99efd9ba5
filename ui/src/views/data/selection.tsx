/**
 * The part of an array that is selected in the picture: what it snapped to, which processes have it, and the statements and
 * processes that access its elements.
 */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count, counted, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { processName, run } from "../../state/run.ts";
import { chosenSelection, snap } from "../../state/selection.ts";
import { isSelecting, selected, SNAPS } from "../../state/sub_array.ts";
import { chosenLocations, chosenRegion } from "../../state/view.ts";
import type { SnapTo, SubArrayHead, WireArray, WireSelectedProcess, WireSelectedStatement } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";
import { nameOf, Place } from "./arrays.tsx";

export function Selection({ array }: { readonly array: WireArray }): JSX.Element | null {
  if (chosenSelection.value === null) return null;
  const it = selected.value;
  const head = it !== null && it.of.array === array.number ? it.head : null;
  return (
    <section class="data-selection" aria-label="Selection">
      <h2>
        {head === null || head.why_not !== null ? `Selected of ${nameOf(array)}` : `Selected: ${nameOf(array)}(${inWords(head.section)})`}{" "}
        <button type="button" title="Selects nothing; Escape in the picture does, too" onClick={() => (chosenSelection.value = null)}>
          Drop the selection
        </button>
      </h2>
      <p class="data-tools">
        <span role="group" aria-label="How it snaps to what processes have">
          {SNAPS.map(([how, name, help]) => (
            <button type="button" aria-pressed={snap.value === how} title={help} onClick={() => (snap.value = how)}>
              {name}
            </button>
          ))}
        </span>
        {head === null || head.parts.length === 0 ? null : <Choose head={head} />}
      </p>
      {head === null ? <Coming what="Accesses to it are being added up" isSmall /> : head.why_not !== null ? <p class="muted">Nothing is selected: {head.why_not}.</p> : <Told head={head} array={array} how={it?.of.snap ?? "expand"} />}
    </section>
  );
}

/** Chooses the processes that have it. */
function Choose({ head }: { readonly head: SubArrayHead }): JSX.Element {
  const processes = new Set(head.parts.map((part) => part.process));
  const own = (run.value?.locations ?? []).flatMap((location, at) => (processes.has(location.process) ? [at] : []));
  const isChosen = chosenLocations.value?.join() === own.join();
  return (
    <button type="button" aria-pressed={isChosen} title="They alone, in all views; again: all. What stands here is then of their own accesses" onClick={() => (chosenLocations.value = isChosen ? null : own)}>
      {processes.size === 1 ? "Choose the process that has it" : `Choose the ${count(processes.size)} processes that have it`}
    </button>
  );
}

/** `1:10, 5`. */
const inWords = (section: SubArrayHead["section"]): string => section.map(([lower, upper]) => (lower === upper ? `${lower}` : `${lower}:${upper}`)).join(", ");

const MOST_NAMES = 6;

function whoHasIt(head: SubArrayHead, name: string): string {
  const isSpread = head.distributed.includes(true);
  const all = head.parts.slice(0, MOST_NAMES).map(({ process, bounds }) => (isSpread ? `${processName(process)} has ${name}(${inWords(bounds)})` : processName(process)));
  const more = head.parts.length + head.more_parts - all.length;
  const list = `${all.join(", ")}${more > 0 ? ` and ${counted(more, "more process", "more processes")}` : ""}`;
  const [first] = head.parts;
  if (isSpread || first === undefined) return `It lies with processes that have bounds of their own: ${list}.`;
  return `It lies with ${list}, ${head.parts.length === 1 ? "which has" : "each of which has"} ${name}(${inWords(first.bounds)}).`;
}

function Told({ head, array, how }: { readonly head: SubArrayHead; readonly array: WireArray; readonly how: SnapTo }): JSX.Element {
  const name = nameOf(array);
  const { total } = head;
  const fits = how === "none" ? "It is taken as it is." : head.fits ? "It fits the distribution as it is." : `It is ${how === "expand" ? "expanded" : "shrunk"} to whole parts, ${name}(${inWords(head.snapped)}).`;
  return (
    <div class={isSelecting.value ? "data-stale" : undefined}>
      <p role="status">
        {whoHasIt(head, name)} {fits}{" "}
        <span title="An access counts as a whole if it means one selected element">
          {counted(total.met.accesses, "access", "accesses")} {total.met.accesses === 1 ? "means" : "mean"} {counted(total.inside, "element")} of it, of {count(total.elements)} in all: {bytes(total.met.bytes)}, {duration(total.met.time_ns)}.
        </span>
        {total.perhaps_inside > 0 ? ` ${counted(total.perhaps_inside, "more element")} perhaps, by vectors of subscripts or without telling which${total.perhaps.accesses > 0 ? `; of ${counted(total.perhaps.accesses, "access", "accesses")} nothing is sure` : ""}.` : ""}
      </p>
      {head.not_kept > 0 ? <p class="muted">{counted(head.not_kept, "more access", "more accesses")} to {name} {head.not_kept === 1 ? "was" : "were"} only counted, so it is not known to which elements.</p> : null}
      <Statements head={head} />
      <Processes head={head} />
      {head.damage.length > 0 ? <p class="warn">Not all could be read: {head.damage.join("; ")}</p> : null}
    </div>
  );
}

function Statements({ head }: { readonly head: SubArrayHead }): JSX.Element {
  const rows = head.statements;
  const most = Math.max(...rows.map((row) => row.selected.met.time_ns), 1);
  const columns: ReadonlyArray<Column<WireSelectedStatement>> = [
    { name: "What", help: "The verb; press a row to choose its region in all views", text: (row) => row.verb, width: "minmax(60px, 1fr)" },
    { name: "At", help: "Line of the source; press it to go there", text: (row) => place(row.file, row.line), draw: (row) => <Place file={row.file} line={row.line} />, width: "minmax(110px, 1.6fr)" },
    { name: "How often", help: "Accesses that mean a selected element", text: (row) => count(row.selected.met.accesses), value: (row) => row.selected.met.accesses, width: "84px" },
    { name: "Bytes", help: "What these moved, all of it", text: (row) => bytes(row.selected.met.bytes), value: (row) => row.selected.met.bytes, unit: "B", width: "78px" },
    { name: "Time", help: "Of these calls, all threads together", text: (row) => duration(row.selected.met.time_ns), value: (row) => row.selected.met.time_ns, bar: (row) => row.selected.met.time_ns / most, unit: "ns", width: "84px" },
    { name: "Selected", help: "Selected elements that these accesses mean, each as often as it is meant", text: (row) => count(row.selected.inside), value: (row) => row.selected.inside, width: "76px" },
    { name: "Of", help: "All elements that these accesses mean", text: (row) => count(row.selected.elements), value: (row) => row.selected.elements, width: "68px" },
    { name: "Perhaps", help: "Elements that are selected perhaps: subscripts of vectors, and of collective operations, are not told one by one", text: (row) => (row.selected.perhaps_inside === 0 ? "" : count(row.selected.perhaps_inside)), value: (row) => row.selected.perhaps_inside, width: "70px" },
  ];
  return (
    <div class="data-table">
      <h3>Statements that access it</h3>
      <Table label="statements on the selection" rows={rows} columns={columns} sortedBy={4} height={8} onChoose={(row) => (chosenRegion.value = row.region)} isChosen={(row) => row.region !== null && row.region === chosenRegion.value} />
      {head.more_statements > 0 ? <p class="muted">{counted(head.more_statements, "more statement")} took less time.</p> : null}
    </div>
  );
}

function Processes({ head }: { readonly head: SubArrayHead }): JSX.Element {
  const rows = head.processes;
  const own = (row: WireSelectedProcess): number => row.local.met.time_ns + row.remote.met.time_ns;
  const most = Math.max(...rows.map(own), 1);
  const part = (row: WireSelectedProcess): string => {
    const it = head.parts.find(({ process }) => process === row.process);
    return it === undefined ? "" : `(${inWords(it.selected)})`;
  };
  const columns: ReadonlyArray<Column<WireSelectedProcess>> = [
    { name: "Process", help: "Press a row to see it alone in all views", text: (row) => processName(row.process), order: (row) => -row.process, width: "minmax(66px, 1fr)" },
    { name: "Has", help: "What of its part is selected", text: part, width: "minmax(80px, 1.2fr)" },
    { name: "Own", help: "Its accesses to selected elements that it has", text: (row) => count(row.local.met.accesses), value: (row) => row.local.met.accesses, width: "62px" },
    { name: "Others'", help: "Its accesses to selected elements that others have", text: (row) => count(row.remote.met.accesses), value: (row) => row.remote.met.accesses, width: "66px" },
    { name: "Time", help: "Of its accesses, own and others'", text: (row) => duration(own(row)), value: own, bar: (row) => own(row) / most, unit: "ns", width: "84px" },
    { name: "Asked", help: "Accesses of others to selected elements that it has", text: (row) => count(row.asked.met.accesses), value: (row) => row.asked.met.accesses, width: "66px" },
    { name: "Asked bytes", help: "What these moved", text: (row) => bytes(row.asked.met.bytes), value: (row) => row.asked.met.bytes, unit: "B", width: "92px" },
  ];
  const choose = (row: WireSelectedProcess): void =>
    batch(() => {
      const its = (run.value?.locations ?? []).flatMap((location, at) => (location.process === row.process ? [at] : []));
      chosenLocations.value = chosenLocations.value?.join() === its.join() ? null : its;
    });
  return (
    <div class="data-table">
      <h3>Processes that access it or have it</h3>
      <Table label="processes of the selection" rows={rows} columns={columns} sortedBy={4} height={8} onChoose={choose} />
      {head.more_processes > 0 ? <p class="muted">{counted(head.more_processes, "process is", "processes are")} not listed.</p> : null}
    </div>
  );
}
