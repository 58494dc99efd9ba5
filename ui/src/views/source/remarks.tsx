/**
 * What the compiler said of loops: a sign and a few words where a loop begins, all of it beside, and a list of those that it
 * left as they are.
 *
 * The one idea: a remark stands above what the loop costs, so that nobody mends one that costs nothing.
 */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { needRemarks, remarks, remarkedIn } from "../../state/remarks.ts";
import { chosenPlace, lookAtLine, shownAs, source } from "../../state/source.ts";
import type { WireRemark, WireRemarked } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Coming } from "../lost.tsx";
import { processor, shareOf, shortPath } from "./parts.tsx";

/** What became of a loop, as a sign. */
export function signOf(it: WireRemarked): string {
  if (!it.is_left) return "✓";
  return it.outcome === "not vectorised" ? "⊘" : "◐";
}

/** The remark that says why a loop was left as it is. */
function whyOf(it: WireRemarked): WireRemark | null {
  const first = it.remarks[0];
  return first?.kind === "not vectorised" ? first : null;
}

/** Array and distance; a star says that the text names the array, not the compiler. */
function detailsOf(why: WireRemark | null): string {
  if (why === null) return "";
  const array = why.array === "" ? [] : [`array ${why.array}${why.is_array_of_text ? "*" : ""}`];
  const distance = why.distance === null ? [] : [`distance ${why.distance}`];
  return [...array, ...distance].join(", ");
}

function reasonOf(why: WireRemark): string {
  if (why.dependence === "carried") return "an iteration needs what an earlier one wrote";
  return why.reason === "" ? "it does not say why" : why.reason;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** `not vectorised: array grid, distance 1`, or why if there is no array: what has room behind a line. */
export function remarkInShort(it: WireRemarked): string {
  const why = it.is_left ? whyOf(it) : null;
  return why === null ? it.outcome : `${it.outcome}: ${detailsOf(why) || reasonOf(why)}`;
}

/** `not vectorised: an iteration needs what an earlier one wrote (array grid, distance 1)` */
export function remarkWords(it: WireRemarked): string {
  const why = it.is_left ? whyOf(it) : null;
  if (why === null) return it.outcome;
  const details = detailsOf(why);
  return `${it.outcome}: ${reasonOf(why)}${details === "" ? "" : ` (${details})`}`;
}

/** By line, the loop that begins there; of several the one with most time. */
export function remarksAt(file: number): ReadonlyMap<number, WireRemarked> {
  const at = new Map<number, WireRemarked>();
  for (const it of remarkedIn(file)) if (!at.has(it.first)) at.set(it.first, it);
  return at;
}

/** What the compiler said of the loop that is meant, or of one around the line that the text does not tell of. */
export function RemarksOf({ file, line, loop }: { readonly file: number; readonly line: number; readonly loop: { readonly first: number; readonly last: number } | null }): JSX.Element | null {
  useEffect(needRemarks, []);
  const here = remarkedIn(file).filter((it) => (it.is_read ? loop !== null && it.first === loop.first && it.last === loop.last : it.first <= line && line <= it.last));
  if (here.length === 0) return null;
  return (
    <>
      {here.map((it) => (
        <Remarked it={it} />
      ))}
    </>
  );
}

function Remarked({ it }: { readonly it: WireRemarked }): JSX.Element {
  const why = it.is_left ? whyOf(it) : null;
  const first = it.remarks[0];
  const path = remarks.value?.path_ns ?? 0;
  const facts: ReadonlyArray<readonly [string, string, string]> = [
    ["Dependence", why === null || why.dependence === "" ? "" : `${why.dependence}${why.distance === null ? "" : `, distance ${why.distance}`}`, "carried: what one iteration writes another uses; value: a value goes from one iteration to the next; unknown: the compiler cannot tell whether two places are one. The distance is in iterations"],
    ["Array", why === null ? "" : `${why.array}${why.is_array_of_text ? "*" : ""}`, why?.is_array_of_text === true ? "The compiler names no array; this is the only one that the loop writes and uses with another subscript" : "Between whose elements the dependence is, as the compiler says"],
    ["Line", first === undefined ? "" : String(first.line), "The line that the remark is about"],
    ["Copy", why?.inlined_into ?? "", "Compilers make copies of a function for its callers; of this one the remark is"],
    ["Time of its own", processor(it.own_ns), "Processor time in the loop's lines, without loops within and calls; in brackets the share of the run's"],
    ["On the critical path", it.path_ns === null ? "" : it.path_ns === 0 ? "none" : `${duration(it.path_ns)}${path === 0 ? "" : ` (${percent(it.path_ns / path)})`}`, "Of that while nothing else led: what is saved there makes the run shorter. In brackets the share of the path"],
    ["To win", it.gain_ns === 0 ? "" : `at most ${duration(it.gain_ns)}`, `A vector has ${it.lanes} elements here${it.lanes_told ? ", as the compiler says" : ", as is usual"}: of the time 1/${it.lanes} would be left, if memory keeps pace. It is a bound, no forecast`],
  ];
  return (
    <div class={`remark ${it.is_left ? "remark-left" : ""}`} role="group" aria-label="What the compiler said of the loop">
      <p class="remark-outcome" title="What the compiler made of this loop">
        <b>{signOf(it)}</b> {capital(it.outcome)}
      </p>
      {why === null ? null : <p>{`${capital(reasonOf(why))}.`}</p>}
      {first === undefined ? null : (
        <p class="muted" title="Who said it, in its own words">
          {first.compiler}
          {first.said === "" ? "" : `: “${first.said.split("\n")[0]}”`}
        </p>
      )}
      <dl class="facts source-facts">
        {facts.flatMap(([name, text, help]) =>
          text === ""
            ? []
            : [
                <div title={help}>
                  <dt>{name}</dt>
                  <dd>{text}</dd>
                </div>,
              ],
        )}
      </dl>
      {it.remarks.length > 1 ? (
        <details>
          <summary title="What else was said of this loop and its copies">{`${counted(it.remarks.length - 1 + it.more, "more remark")}`}</summary>
          <ul class="source-list">
            {it.remarks.slice(1).map((more) => (
              <li title={more.said}>
                {`Line ${more.line}: ${more.kind}${more.callee === "" ? "" : ` ${more.callee}`}${more.reason === "" ? "" : `, ${more.reason}`} (${more.compiler})`}
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

/** All loops of the program that the compiler left as they are. */
export function LeftLoops(): JSX.Element {
  useEffect(needRemarks, []);
  const [found, head] = [remarks.value, source.value];
  const rows = useMemo(() => (found?.loops ?? []).filter((it) => it.is_left), [found]);
  const columns = useMemo(() => columnsOf(found?.path_ns ?? null, shortPath), [found, head]);
  if (found === null) return <Coming what="Remarks of the compiler are being laid beside costs" />;
  if (found.why_not !== null) return <p class="hush source-why">{found.why_not}</p>;
  const place = chosenPlace.value;
  const go = (it: WireRemarked): void => {
    lookAtLine(it.path, it.first);
    shownAs.value = "text";
  };
  return (
    <div class="sheet">
      <h2>Loops the compiler left as they are</h2>
      {found.left_out === 0 ? null : <p class="muted">{`${counted(found.left_out, "more loop")} with less time are not listed.`}</p>}
      {rows.length === 0 ? (
        <p class="muted">{`None: ${counted(found.loops.length, "loop")} that it spoke of became vectors or calls of the library.`}</p>
      ) : (
        <Table label="loops the compiler left as they are" rows={rows} columns={columns} sortedBy={4} height={24} onChoose={go} isChosen={(it) => it.path === place?.path && it.first === place.line} />
      )}
    </div>
  );
}

function columnsOf(path: number | null, short: (path: string) => string): ReadonlyArray<Column<WireRemarked>> {
  const time = (it: WireRemarked): number => it.path_ns ?? it.own_ns;
  const words = (of: number): string => (of === 0 ? "–" : duration(of));
  return [
    { name: "Loop", help: "Its source and lines, and the function that it lies in; press a row to go there", text: (it) => `${short(it.path)}:${it.first}${it.last > it.first ? `–${it.last}` : ""}${it.function === "" ? "" : ` in ${it.function}`}`, width: "minmax(150px, 2fr)" },
    { name: "What became of it", help: "What the compiler made of it", text: (it) => it.outcome, width: "130px" },
    { name: "Why", help: "What the compiler says, in plain words; in the pane beside the text are its own", text: (it) => ((why) => (why === null ? "–" : capital(reasonOf(why))))(whyOf(it)), width: "minmax(180px, 3fr)" },
    { name: "Dependence", help: "The array between whose elements it is, and how many iterations lie between; * = the text names the array, not the compiler", text: (it) => detailsOf(whyOf(it)) || "–", width: "minmax(165px, 1fr)" },
    { name: path === null ? "Time" : "On the path", help: path === null ? "Processor time of its own; the run has no critical path with samples on it" : "Time of its own on the critical path", text: (it) => words(time(it)), value: time, unit: "ns", width: "100px" },
    { name: "Share", help: path === null ? "Of all processor time of the run" : "Of the critical path", text: (it) => (time(it) === 0 ? "–" : path === null ? shareOf(time(it)) : percent(time(it) / Math.max(path, 1))), value: time, width: "80px" },
    { name: "Own", help: "Processor time of its own: in its lines, without loops within and calls", text: (it) => words(it.own_ns), value: (it) => it.own_ns, unit: "ns", width: "90px" },
    { name: "To win", help: "At most, with vectors that do all of it and memory that keeps pace", text: (it) => words(it.gain_ns), value: (it) => it.gain_ns, unit: "ns", width: "90px" },
    { name: "Said by", help: "Which compiler", text: (it) => it.remarks[0]?.compiler ?? "–", width: "70px" },
  ];
}
