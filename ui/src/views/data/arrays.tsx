/** All arrays, those with most time first, and what is made piece by piece among them, with what to do. */
import type { JSX } from "preact";

import { bytes, count, counted, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { array, chooseArray } from "../../state/data.ts";
import { goToSource } from "../../state/source.ts";
import type { ArraysHead, WireAccesses, WireArray, WirePiece } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";

export function Arrays({ head }: { readonly head: ArraysHead }): JSX.Element {
  const rows = head.arrays;
  const time = (row: WireArray): number => row.moved.time_ns + row.managed.time_ns;
  const most = Math.max(...rows.map(time), 1);
  const share = (row: WireArray): number => time(row) / Math.max(head.of_ns, 1);
  const columns: ReadonlyArray<Column<WireArray>> = [
    { name: "Array", help: "As the source calls it; press a row for its statements, its processes and its elements", text: nameOf, width: "minmax(90px, 1fr)" },
    { name: "Elements", help: "Their type, and lower and upper bound of each dimension, of the largest instance", text: elements, width: "minmax(120px, 1.3fr)" },
    { name: "Kind", help: "What it is", text: (row) => row.kind, width: "64px" },
    { name: "Size", help: "Of the largest instance", text: (row) => bytes(row.bytes), value: (row) => row.bytes, unit: "B", width: "80px" },
    { name: "On", help: "Processes that have it, and how often it was made in all of them", text: (row) => `${count(row.processes)}, made ${count(row.instances)} ×`, value: (row) => row.processes, width: "96px" },
    { name: "Accesses", help: "To elements, through the language that it is an array of; plain loads and stores are not recorded", text: (row) => count(row.moved.accesses), value: (row) => row.moved.accesses, width: "80px" },
    { name: "Local, remote", help: "Accesses of elements that the process itself has (green), and of those that others have (blue)", text: remoteOf, value: remoteShare, unit: "%", draw: (row) => <Split local={row.local} remote={row.remote} unknown={row.counted.accesses} />, width: "130px" },
    { name: "Moved", help: "Bytes that accesses say to have moved", text: (row) => (row.moved.bytes === 0 ? "" : bytes(row.moved.bytes)), value: (row) => row.moved.bytes, unit: "B", width: "74px" },
    { name: "Beneath", help: "Calls of lower levels that moved data for it", text: (row) => (row.transfers_beneath === 0 ? "" : count(row.transfers_beneath)), value: (row) => row.transfers_beneath, width: "80px" },
    { name: "Time", help: "Of all calls that act on it, making it and giving it back included, all threads together", text: (row) => duration(time(row)), value: time, bar: (row) => time(row) / most, unit: "ns", width: "90px" },
    { name: "Share", help: "Of the time of all threads", text: (row) => percent(share(row)), value: share, unit: "%", width: "64px" },
    { name: "Declared", help: "Press it for the source", text: (row) => place(row.file, row.line), draw: (row) => <Place file={row.file} line={row.line} />, width: "minmax(104px, 1fr)" },
  ];
  const choose = (row: WireArray): void => chooseArray(row);
  return (
    <>
      <Counted rows={rows} />
      <Pieces head={head} />
      <MadeOften rows={head.arrays} />
      <Table label="arrays" rows={rows} columns={columns} sortedBy={9} height={10} onChoose={choose} isChosen={(row) => row.number === array.value?.number} />
      {head.more > 0 ? <p class="muted">{counted(head.more, "more array")} took less time.</p> : null}
      <Unused rows={rows} />
    </>
  );
}

export function nameOf(row: WireArray): string {
  return row.name === "" ? `(${row.kind} without a name)` : row.name;
}

/** Type and bounds: `real(8) (1:10,0:3)`. */
export function elements({ element, bounds }: { readonly element: string; readonly bounds: WireArray["bounds"] }): string {
  return `${element} ${bounds.length === 0 ? "" : `(${bounds.map(([lower, upper]) => `${lower}:${upper}`).join(",")})`}`.trim();
}

export function remoteShare({ local, remote }: { readonly local: WireAccesses; readonly remote: WireAccesses }): number {
  const all = local.accesses + remote.accesses;
  return all === 0 ? NaN : remote.accesses / all;
}

function remoteOf(row: WireArray): string {
  if (row.moved.accesses === 0) return "never";
  const share = remoteShare(row);
  return Number.isNaN(share) ? NOT_KNOWN : `${percent(share)} remote`;
}

const NOT_KNOWN = "not known";

/** How much of it is local, and how much remote; of so many more accesses nobody knows. */
export function Split({ local, remote, unknown = 0 }: { readonly local: WireAccesses; readonly remote: WireAccesses; readonly unknown?: number }): JSX.Element {
  const all = local.accesses + remote.accesses;
  if (all === 0) return <span class="muted">{unknown > 0 ? NOT_KNOWN : "none to elements"}</span>;
  const words = `local ${count(local.accesses)}, ${bytes(local.bytes)}; remote ${count(remote.accesses)}, ${bytes(remote.bytes)}`;
  return (
    <span class="data-split" role="img" aria-label={words} title={words}>
      <span class="data-track">
        <span class="data-local" style={{ width: `${(local.accesses / all) * 100}%` }} />
        <span class="data-remote" style={{ width: `${(remote.accesses / all) * 100}%` }} />
      </span>
      <span class="mono">{percent(remote.accesses / all)}</span>
    </span>
  );
}

export function Place({ file, line }: { readonly file: string; readonly line: number }): JSX.Element {
  const at = place(file, line);
  if (at === "") return <span class="muted">not known</span>;
  const go = (event: Event): void => {
    event.stopPropagation();
    goToSource(file, line);
  };
  return (
    <button type="button" class="link" title={`${file}:${line}; press for the source`} onClick={go}>
      {at}
    </button>
  );
}

/** Of how many accesses it is not known where they lead to. */
function Counted({ rows }: { readonly rows: readonly WireArray[] }): JSX.Element | null {
  const all = rows.reduce((sum, row) => sum + row.counted.accesses, 0);
  if (all === 0) return null;
  return (
    <p class="muted" title="A limit of size was reached, or a rule or a mode asked for sums only: how many there were and their bytes are exact, their time is that of the calls that were timed">
      {counted(all, "access was", "accesses were")} only counted with the calls: local and remote, and what stands by process and element, are of the others.
    </p>
  );
}

/** So many are told. */
const FEW = 3;

/** What is made piece by piece, and what to do. */
function Pieces({ head }: { readonly head: ArraysHead }): JSX.Element | null {
  if (head.pieces.length === 0) return null;
  const more = head.pieces.length - FEW;
  return (
    <ul class="data-pieces">
      {head.pieces.slice(0, FEW).map((piece, at) => (
        <li>
          {wordsOf(piece, head.arrays.find((it) => it.number === piece.array), head.pieces.slice(0, at).some((it) => it.why === piece.why))} <Place file={piece.file} line={piece.line} />
        </li>
      ))}
      {more > 0 ? <li class="muted">{counted(more, "more line")} with less time, among the statements of their arrays.</li> : null}
    </ul>
  );
}

/** In words; what to do is left out if it is told already. */
function wordsOf({ why, verb, file, line, sum, transfers }: WirePiece, of: WireArray | undefined, isTold: boolean): string {
  const array = of === undefined ? "an array" : nameOf(of);
  const at = place(file, line);
  // What was only counted has no time.
  const take = sum.time_ns > 0 ? ` take ${duration(sum.time_ns)}` : "";
  const what = `${verb} ${array}${at === "" ? "" : ` at ${at}`}`;
  if (why === "elements") {
    const each = bytes(Math.floor(sum.bytes / Math.max(sum.accesses, 1)));
    const others = (of?.bounds.length ?? 1) - 1;
    return `${what} moves single elements: ${count(sum.accesses)} times ${each}${take}${isTold ? ", as above." : `. ${of?.kind === "window" ? MORE_AT_ONCE : sectionOf(array, others)}`}`;
  }
  const pieces = `${what} became ${count(transfers)} transfers beneath: ${counted(sum.accesses, "access", "accesses")}${take}`;
  if (isTold) return `${pieces}, as above.`;
  return `${pieces}. The library moves it element by element, for the section, or the array that it is assigned to, does not lie in one piece, or is allocatable, of which the library is not told that. Have both lie side by side (the first dimension whole), and assign to an array of fixed shape.`;
}

/** What to do about single elements of a window. */
const MORE_AT_ONCE =
  "Move more with one call, by a larger count or a datatype that means all that is wanted (MPI_Type_vector), or have most with the process itself.";

/** What to do about single elements of an array that has so many dimensions besides the first. */
function sectionOf(array: string, others: number): string {
  if (others <= 0) {
    return `Move a section at once (${array}(lower:upper)[image]), or lay the arrays of the statement out alike, so that most is with the image itself.`;
  }
  return `Move a section along the first dimension at once (${array}(lower:upper${", j".repeat(others)})[image]): only there do elements lie side by side. If the loop runs along another one, let the owner copy what is asked for into an array without gaps, or lay the arrays of the statement out alike, so that most is with the image itself.`;
}

/** A coarray that each image makes so many times is worth a remark. */
const OFTEN = 10;

/** Which coarrays are made again and again, and what to do. */
function MadeOften({ rows }: { readonly rows: readonly WireArray[] }): JSX.Element | null {
  const each = (row: WireArray): number => Math.floor(row.instances / Math.max(row.processes, 1));
  const often = rows.filter((row) => row.kind === "coarray" && !row.name.includes("%") && each(row) >= OFTEN).slice(0, FEW);
  if (often.length === 0) return null;
  return (
    <ul class="data-pieces">
      {often.map((row) => (
        <li>
          {nameOf(row)} is made {count(each(row))} times on each image, and each time all images wait for each other. Make it once, before the loop; what is assigned to the whole of an allocatable coarray may make it anew too: assign to {nameOf(row)}({row.bounds.length === 0 ? ":" : row.bounds.map(() => ":").join(", ")}). <Place file={row.file} line={row.line} />
        </li>
      ))}
    </ul>
  );
}

function Unused({ rows }: { readonly rows: readonly WireArray[] }): JSX.Element | null {
  const unused = rows.filter((row) => row.is_unused);
  if (unused.length === 0) return null;
  const names = unused.slice(0, 6).map(nameOf).join(", ");
  const more = unused.length > 6 ? ` and ${unused.length - 6} more` : "";
  return <p class="muted">{`Never accessed across processes: ${names}${more}; ${bytes(unused.reduce((sum, row) => sum + row.bytes, 0))} in each process that need not be shared.`}</p>;
}
