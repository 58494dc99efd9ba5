/** The source: its text with what lines, loops and functions cost, the whole file beside it, and all about the line that is meant. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { run } from "../../state/run.ts";
import { BARS_OF, barsOf, chosenFunction, chosenFile, chosenLoop, chosenPlace, followSource, isMachine, lookAtLine, loopName, SHOWN_AS, shownAs, sourceFile, type SourceFile } from "../../state/source.ts";
import { chosenRegion } from "../../state/view.ts";
import type { SourceHead } from "../../wire/generated.ts";
import { Coming } from "../lost.tsx";
import { Lines } from "./lines.tsx";
import { Machine } from "./machine.tsx";
import { FileMap } from "./map.tsx";
import { goToCallee, Pane } from "./pane.tsx";
import { lastName, shortPath, Tabs, WithSource } from "./parts.tsx";
import { LeftLoops } from "./remarks.tsx";
import { arrowsOf } from "./references.ts";
import "./source.css";
import { Twin } from "./twins.tsx";

export function Source(): JSX.Element {
  useEffect(followSource, []);
  return <WithSource name="source">{(head) => <Shown head={head} />}</WithSource>;
}

function Shown({ head }: { readonly head: SourceHead }): JSX.Element {
  const [place, number, file] = [chosenPlace.value, chosenFile.value, sourceFile.value];
  const isHere = file !== null && file.head.file === number;
  return (
    <div class="source">
      <p class="source-bar">
        <Tabs name="source" />
        <FileChoice head={head} />
        <span role="group" aria-label="Shown as">
          {SHOWN_AS.map((it) => (
            <button type="button" aria-pressed={shownAs.value === it} title={it === "text" ? "The text with its costs" : it === "remarks" ? "Loops of the whole program that the compiler left as they are, why, and what they cost" : `The ${it} of this file as a table, to be sorted, filtered and copied`} onClick={() => (shownAs.value = it)}>
              {it === "remarks" ? "Left by the compiler" : it === "text" ? "Text" : `${it[0]?.toUpperCase()}${it.slice(1)}`}
            </button>
          ))}
        </span>
        {shownAs.value !== "text" ? null : (
          <label title="What bars beside lines are of; those of loops and functions stand where these begin">
            bars of{" "}
            <select value={barsOf.value} onChange={(event) => (barsOf.value = BARS_OF.find((it) => it === event.currentTarget.value) ?? "lines")}>
              {BARS_OF.map((it) => (
                <option value={it}>{it}</option>
              ))}
            </select>
          </label>
        )}
        {shownAs.value !== "text" ? null : (
          <button type="button" aria-pressed={isMachine.value} title="The machine code that was made of the line and its function, instruction by instruction, beside the text" onClick={() => (isMachine.value = !isMachine.value)}>
            Machine code
          </button>
        )}
      </p>
      <Notes head={head} number={number} file={isHere ? file : null} />
      {shownAs.value === "remarks" ? (
        <LeftLoops />
      ) : number === null && place !== null ? (
        <p class="hush">{`This run has no source ${place.path}. Choose another above.`}</p>
      ) : file === null || (!isHere && !isMachine.value) ? (
        <Coming what="The source is being read" />
      ) : shownAs.value === "text" ? (
        // Beside machine code the source before stays until the next is read, so that arrow keys go on from one to the other.
        <Text file={file} path={head.files[file.head.file]?.path ?? ""} line={isHere ? (place?.line ?? 0) : 0} language={head.files[file.head.file]?.language ?? ""} />
      ) : (
        <Twin file={file} path={place?.path ?? ""} />
      )}
    </div>
  );
}

/** The files that there are; those that cost most first. */
function FileChoice({ head }: { readonly head: SourceHead }): JSX.Element {
  const order = useMemo(() => {
    const own = head.files.filter((it) => !it.is_of_system && (it.functions > 0 || it.types > 0 || it.has_text));
    return own.sort((a, b) => b.cost.exclusive_ns + b.cost.call_ns - a.cost.exclusive_ns - a.cost.call_ns || a.path.localeCompare(b.path));
  }, [head]);
  const path = chosenPlace.value?.path ?? "";
  const all = order.some((it) => it.path === path) ? order : [...order, ...head.files.filter((it) => it.path === path)];
  return (
    <label title="Which source is shown; those that cost most stand first">
      <span class="source-hidden">Source</span>
      <select class="source-file" value={path} onChange={(event) => lookAtLine(event.currentTarget.value, 0)}>
        {all.map((it) => (
          <option value={it.path} title={it.path}>
            {shortPath(it.path)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What is missing, and what to do. */
function Notes({ head, number, file }: { readonly head: SourceHead; readonly number: number | null; readonly file: SourceFile | null }): JSX.Element | null {
  const of = number === null ? undefined : head.files[number];
  const notes: string[] = [];
  if (of?.state === "newer") notes.push("The source was changed after the program was made, so its text and loops are not shown: compile and record again.");
  if (of?.state === "missing") notes.push("The source could not be read when the run was recorded, so only what the program itself tells is shown.");
  if (of?.state === "left out") notes.push("This source is the system's or the compiler's: it was not read.");
  if (of?.state === "read" && file?.head.text === null) notes.push("The run has no text of this source. Record with --embed-sources (or --embed-sources=DIR where the sources lie), and it is kept in the run.");
  if ((of?.unclear ?? 0) > 0) notes.push(`${of?.unclear} parts of it could not be parsed; loops and calls may be missing there.`);
  if (head.samples === 0) notes.push("The run has no samples, so processor time is not known: `marey record` takes them unless told not to.");
  if (!head.has_waits) notes.push("Waits of this run are not known.");
  notes.push(...head.damage);
  return notes.length === 0 ? null : <p class="source-notes">{notes.join(" ")}</p>;
}

interface TextProps {
  readonly file: SourceFile;
  readonly path: string;
  readonly line: number;
  readonly language: string;
}

function Text({ file, path, line, language }: TextProps): JSX.Element {
  const seen = useSignal<readonly [number, number]>([1, 1]);
  const region = chosenRegion.value;
  const calling = useMemo(() => new Set(file.calls.filter((call) => call.region === region).map((call) => call.line)), [file, region]);
  const names = useMemo(() => calledNames(file), [file]);
  const chosen = file.head.functions.find((it) => it.name === chosenFunction.value);
  const mark = (at: number): string => {
    const isOfFunction = chosen !== undefined && chosen.first <= at && at <= chosen.last;
    return `${calling.has(at) ? "line-calls" : ""} ${isOfFunction ? "line-function" : ""}`;
  };
  const loop = line === 0 ? null : (file.head.loops.find((it) => loopName(it) === chosenLoop.value && it.first <= line && line <= it.last) ?? file.loopAt(line));
  const [first, last] = loop === null ? [line, line] : [loop.first, loop.last];
  const arrows = useMemo(() => (first === 0 ? [] : arrowsOf(file, first, last)), [file, first, last]);
  const follow = (at: number, name: string | null): void => {
    const calls = file.head.calls.filter((call) => call.line === at && (name === null || lastName(call.name) === name));
    const known = calls.find((call) => call.to_file !== null && call.to_line > 0);
    const measured = file.calls.find((call) => call.line === at && (name === null || run.peek()?.regions[call.region]?.name === name));
    if (known !== undefined) goToCallee(known);
    else if (measured !== undefined) chosenRegion.value = measured.region;
    if (known === undefined) lookAtLine(path, at);
  };
  return (
    <div class={`source-parts ${isMachine.value ? "with-machine" : ""}`}>
      <Lines label="source" file={file} language={language} line={line} choose={(at) => lookAtLine(path, at)} follow={follow} mark={mark} names={names} arrows={arrows} seen={(first, last) => (seen.value = [first, last])} />
      {isMachine.value ? <Machine /> : <FileMap file={file} seen={seen.value} line={line} go={(at) => lookAtLine(path, at)} />}
      <Pane file={file} path={path} line={line} />
    </div>
  );
}

/** By line, names that lead somewhere: functions whose place is known, and calls that were measured. */
export function calledNames(file: SourceFile): ReadonlyMap<number, ReadonlySet<string>> {
  const names = new Map<number, Set<string>>();
  const add = (line: number, name: string): void => void names.set(line, (names.get(line) ?? new Set<string>()).add(name));
  for (const call of file.head.calls) if (call.to_file !== null && call.to_line > 0) add(call.line, lastName(call.name));
  for (const call of file.calls) add(call.line, run.peek()?.regions[call.region]?.name ?? "");
  return names;
}

