/**
 * The machine code beside the text: instruction by instruction, with its line and the samples that were taken there.
 *
 * The one idea: it is a list like the text's, of which only what is seen is in the page; the line that is meant marks its
 * instructions, and an instruction that is chosen leads to its line.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { bytes, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { chosenCode, chooseInstruction, codeHere, codesHere, followMachine, instructionHere, machineCode, type Instruction, type MachineCode } from "../../state/machine.ts";
import { chosenFile, chosenPlace, source } from "../../state/source.ts";
import { Coming } from "../lost.tsx";
import { LINE } from "./lines.tsx";
import { processor, shortPath } from "./parts.tsx";

/** Instructions above and below those that are seen. */
const MORE = 8;

interface PlaceProps {
  /** The source and the line that are meant; 0 = none. */
  readonly file: number;
  readonly line: number;
}

export function Machine(): JSX.Element {
  useEffect(followMachine, []);
  const [file, line] = [chosenFile.value ?? -1, chosenPlace.value?.line ?? 0];
  const [all, here, code] = [codesHere.value, codeHere.value, machineCode.value];
  return (
    <section class="machine" aria-label="Machine code">
      {source.value?.has_code !== true ? (
        <WithoutCode />
      ) : all !== null && here === null ? (
        <p class="hush">{line === 0 ? "The run keeps no machine code of this source: no call stack leads through it, or there was no room for it." : "The run keeps no machine code of this line or its function: choose one that has processor time."}</p>
      ) : code === null ? (
        <Coming what="The machine code is being read" />
      ) : (
        <Instructions key={code.code.number} code={code} file={file} line={line} />
      )}
    </section>
  );
}

function WithoutCode(): JSX.Element {
  return (
    <p class="hush">
      This run keeps no machine code. Record with <code>marey record --embed-code</code>, and the code of the functions that were seen is kept in the run. Where the program is
      still the one that ran, <code>marey merge --embed-code</code> adds it to a run whose spools are kept, and <code>marey source RUN --code FUNCTION</code> shows
      it on the command line. Exported pages and redacted copies never have it.
    </p>
  );
}

interface InstructionsProps extends PlaceProps {
  readonly code: MachineCode;
}

function Instructions({ code, file, line }: InstructionsProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [first, fits] = [useSignal(0), useSignal(60)];
  const { all } = code;
  const most = useMemo(() => all.reduce((most, it) => Math.max(most, it.withCalls), 0), [all]);
  const ofLine = useMemo(() => all.flatMap((it, at) => (line > 0 && it.line === line && it.file === file ? [at] : [])), [all, file, line]);
  const isOfLine = useMemo(() => new Set(ofLine), [ofLine]);
  const address = instructionHere.value;
  const meant = useMemo(() => (address === null ? -1 : all.findIndex((it) => it.address === address)), [all, address]);
  // What is meant is seen: the instruction, else that of the line with most samples, else of all.
  const shown = useMemo(() => {
    if (meant >= 0) return meant;
    const among = ofLine.length > 0 ? ofLine : all.keys();
    return [...among].reduce((best, at) => ((all[at]?.own ?? 0) > (all[best]?.own ?? 0) ? at : best), ofLine[0] ?? 0);
  }, [all, ofLine, meant]);
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    first.value = Math.max(0, Math.floor(element.scrollTop / LINE) - MORE);
    fits.value = Math.ceil(element.clientHeight / LINE) + 2 * MORE;
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const size = new ResizeObserver(look);
    size.observe(element);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const top = shown * LINE;
    if (top < element.scrollTop + LINE || top + 2 * LINE > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight / 2;
    look();
  }, [shown]);
  const go = (next: number): void => {
    const it = all[Math.max(0, Math.min(next, all.length - 1))];
    if (it !== undefined) chooseInstruction(code, it);
  };
  const press = (event: KeyboardEvent): void => {
    const page = Math.max(1, fits.peek() - 2 * MORE - 2);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(meant < 0 ? shown : meant + 1),
      ArrowUp: () => go(meant < 0 ? shown : meant - 1),
      PageDown: () => go(shown + page),
      PageUp: () => go(shown - page),
      Home: () => go(0),
      End: () => go(all.length - 1),
      n: () => go(ofLine.find((next) => next > meant) ?? ofLine[0] ?? shown),
      N: () => go(ofLine.findLast((next) => next < meant) ?? ofLine.at(-1) ?? shown),
    };
    const act = acts[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const click = (event: MouseEvent): void => {
    const at = (event.target as HTMLElement).closest<HTMLElement>("[data-at]")?.dataset["at"];
    if (at !== undefined) go(Number(at));
  };
  const rows = Array.from({ length: Math.max(0, Math.min(fits.value, all.length - first.value)) }, (_, at) => first.value + at);
  return (
    <>
      <Head code={code} ofLine={ofLine.length} line={line} />
      <div class="machine-head">
        <span title="Processor time by samples: dark at the instruction itself, which is the one that came next when a sample was taken, so what takes long is often the one before it; light with what was called from there. A full bar is the most of this code">Processor</span>
        <span title="Where it lies in the file of the program" class="lines-number">
          Address
        </span>
        <span title="The line of the source that it was made of, with the name of another source than this one" class="lines-number">
          Line
        </span>
        <span title="As gdb, objdump and perf write it; → the function that it leads to. Italic: code of a function that was inlined there, whose name stands behind it">Instruction</span>
      </div>
      <div
        ref={box}
        class="lines-body"
        role="listbox"
        tabIndex={0}
        aria-label="instructions"
        aria-activedescendant={meant < 0 || !rows.includes(meant) ? undefined : `instruction-${meant}`}
        title="Press an instruction to go to its line; arrows go from one to the next, n and N to the next and the previous of the line"
        onScroll={look}
        onKeyDown={press}
        onClick={click}
      >
        <div role="presentation" class="lines-all" style={{ height: `${all.length * LINE}px` }}>
          {rows.map((at) => {
            const it = all[at];
            const before = all[at - 1];
            return it === undefined ? null : <Row key={at} at={at} it={it} of={all.length} most={most} file={file} isNew={it.inlined !== before?.inlined || it.line !== before.line} mark={at === meant ? "machine-here" : isOfLine.has(at) ? "machine-line" : ""} />;
          })}
        </div>
      </div>
      {code.code.left_out_bytes > 0 || code.leftOut > 0 ? <p class="machine-bar muted">{`The run keeps no more of it than this: the last ${bytes(code.code.left_out_bytes)} of its code are left out.`}</p> : null}
    </>
  );
}

interface HeadProps {
  readonly code: MachineCode;
  /** How many instructions the line has. */
  readonly ofLine: number;
  readonly line: number;
}

/** Which code it is, and what it cost. */
function Head({ code: { code, module }, ofLine, line }: HeadProps): JSX.Element {
  const others = codesHere.value ?? [];
  const all = others.some(({ number }) => number === code.number) ? others : [code, ...others];
  return (
    <p class="machine-bar">
      <label title={`Code that has the line, in ${module}; where a line was put into several functions, there are several. That with most samples stands first`}>
        <span class="source-hidden">Machine code of</span>
        <select value={code.number} onChange={(event) => (chosenCode.value = Number(event.currentTarget.value))}>
          {all.map((it) => (
            <option value={it.number} title={it.name}>
              {it.name}
            </option>
          ))}
        </select>
      </label>
      <span class="muted" title="How long its code is, and the samples that were taken in it, not in what it called">{`${bytes(code.bytes)}, ${code.samples === 0 ? "no samples" : `${counted(code.samples, "sample")}: ${processor(code.own_ns)}`}`}</span>
      {line === 0 ? null : <span class="machine-of-line" title="How many instructions were made of the line that is meant; they are marked">{`line ${line}: ${counted(ofLine, "instruction")}`}</span>}
    </p>
  );
}

interface RowProps {
  readonly at: number;
  readonly it: Instruction;
  readonly of: number;
  readonly most: number;
  readonly file: number;
  /** Whether the row above is of another line or function: what stands there is not said again. */
  readonly isNew: boolean;
  readonly mark: string;
}

function Row({ at, it, of, most, file, isNew, mark }: RowProps): JSX.Element {
  const width = (time: number): string => `${time === 0 ? 0 : Math.max(2, Math.round((time / Math.max(most, 1)) * 100))}%`;
  const cost = it.withCalls === 0 ? "No sample was taken here" : `${it.samples === 0 ? "No sample was taken here itself" : `${counted(it.samples, "sample")} here: ${processor(it.own)}`}${it.withCalls > it.own ? `; ${processor(it.withCalls)} with what was called` : ""}`;
  const path = it.file === null ? "" : (source.peek()?.files[it.file]?.path ?? "");
  return (
    <div id={`instruction-${at}`} role="option" aria-selected={mark === "machine-here"} aria-setsize={of} aria-posinset={at + 1} data-at={at} class={`machine-row ${mark}`} style={{ top: `${at * LINE}px` }}>
      <span class="line-bar line-bar-work" title={cost}>
        {it.withCalls === 0 ? null : <i class="line-light" style={{ width: width(it.withCalls) }} />}
        {it.own === 0 ? null : <i class="line-dark" style={{ width: width(it.own) }} />}
        {it.withCalls === 0 ? null : <b>{duration(it.own > 0 ? it.own : it.withCalls)}</b>}
      </span>
      <span class="lines-number">{it.address.toString(16)}</span>
      <span class="lines-number machine-place" title={it.line === 0 ? "Of no line" : `${path}:${it.line}`}>
        {it.line === 0 || it.file === file ? null : <i>{shortPath(path)}</i>}
        {it.line === 0 ? null : <span>{it.file === file ? it.line : `:${it.line}`}</span>}
      </span>
      <code class={it.inlined === "" ? "" : "machine-inlined"} title={it.inlined === "" ? undefined : `${it.inlined} was inlined here`}>
        {it.text}
        {it.leadsTo === "" ? null : <span class="machine-word">{`  → ${it.leadsTo}`}</span>}
        {it.inlined === "" || !isNew ? null : <span class="machine-word">{`  ${it.inlined}`}</span>}
      </code>
    </div>
  );
}
