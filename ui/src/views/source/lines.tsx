/**
 * The lines of a source with what they cost, of any length: only lines that are seen are in the page.
 *
 * The one idea: all lines are equally high, so which are seen is a division. The list has the focus and says which line is
 * meant; what can be pressed in a line is reached by keys in the pane beside it.
 */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { count } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { needRemarks, remarkedIn } from "../../state/remarks.ts";
import { barsOf, type BarsOf, type LineCost, type SourceFile } from "../../state/source.ts";
import type { WireCost, WireRemarked } from "../../wire/generated.ts";
import { commentsOf, piecesOf } from "./colour.ts";
import { costWords } from "./parts.tsx";
import { cutAt, remotesOf, type Arrow } from "./references.ts";
import { remarkInShort, remarksAt, remarkWords, signOf } from "./remarks.tsx";

export const LINE = 18;
/** Lines above and below those that are seen. */
const MORE = 8;

export interface LinesProps {
  readonly label: string;
  readonly file: SourceFile;
  readonly language: string;
  /** The line that is meant; 0 = none. */
  readonly line: number;
  readonly choose: (line: number) => void;
  /** What Enter does with the line, and a press on a name that leads somewhere. */
  readonly follow: (line: number, name: string | null) => void;
  /** How a line is marked. */
  readonly mark?: (line: number) => string;
  /** Names that lead somewhere, by line. */
  readonly names?: ReadonlyMap<number, ReadonlySet<string>>;
  /** Arrows from line to line, for references to other images. */
  readonly arrows?: readonly Arrow[];
  /** Tells which lines are seen. */
  readonly seen?: (first: number, last: number) => void;
}

export function Lines(props: LinesProps): JSX.Element {
  const { file, language, line } = props;
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const fits = useSignal(60);
  const all = file.lines.length;
  const within = useMemo(() => commentsOf(file.lines, language), [file]);
  const of = barsOf.value;
  const bars = useMemo(() => barsFor(file, of), [file, of]);
  const said = remarkedIn(file.head.file);
  const remarked = useMemo(() => remarksAt(file.head.file), [said]);
  const known = useMemo(() => (file.head.text === null ? knownOf(file) : null), [file]);
  const nests = useMemo(() => nestsOf(file), [file]);
  const remotes = useMemo(() => remotesOf(file), [file]);
  useEffect(needRemarks, []);
  const look = (): void => {
    const element = box.current;
    if (element === null) return;
    first.value = Math.max(0, Math.floor(element.scrollTop / LINE) - MORE);
    fits.value = Math.ceil(element.clientHeight / LINE) + 2 * MORE;
    const top = Math.floor(element.scrollTop / LINE);
    props.seen?.(top + 1, Math.min(all, top + Math.ceil(element.clientHeight / LINE)));
  };
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const size = new ResizeObserver(look);
    size.observe(element);
    return () => size.disconnect();
  }, [file]);
  // What is meant is seen, in the middle unless it is seen already.
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const top = (line - 1) * LINE;
    if (line === 0) element.scrollTop = 0;
    else if (top < element.scrollTop + LINE || top + 2 * LINE > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight / 2;
    look();
  }, [file, line]);
  const go = (next: number): void => props.choose(Math.max(1, Math.min(next, all)));
  // Loops that the compiler left, one after the other; behind the last comes the first.
  const left = useMemo(() => [...remarked].flatMap(([at, it]) => (it.is_left ? [at] : [])).sort((a, b) => a - b), [remarked]);
  const leftAfter = (at: number): number => left.find((it) => it > at) ?? left[0] ?? at;
  const leftBefore = (at: number): number => left.findLast((it) => it < at) ?? left.at(-1) ?? at;
  const press = (event: KeyboardEvent): void => {
    const page = Math.max(1, fits.peek() - 2 * MORE - 2);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(line + 1),
      ArrowUp: () => go(line - 1),
      PageDown: () => go(line + page),
      PageUp: () => go(line - page),
      Home: () => go(1),
      End: () => go(all),
      Enter: () => props.follow(line, null),
      r: () => go(leftAfter(line)),
      R: () => go(leftBefore(line)),
    };
    const act = acts[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const click = (event: MouseEvent): void => {
    const target = event.target as HTMLElement;
    const number = Number(target.closest<HTMLElement>("[data-line]")?.dataset["line"] ?? 0);
    if (number === 0) return;
    const name = target.closest<HTMLElement>("[data-name]")?.dataset["name"];
    if (name === undefined) props.choose(number);
    else props.follow(number, name);
  };
  const rows = Array.from({ length: Math.max(0, Math.min(fits.value, all - first.value)) }, (_, at) => first.value + at + 1);
  return (
    <div class="lines">
      <div class="lines-head">
        <span title="Processor time by samples: light with all that the line calls, dark its own. A full bar is the most of this file">Processor</span>
        <span title="Light: time in calls of libraries that were measured; dark: of that waiting for others. A full bar is the most of this file">Calls, waiting</span>
        <span title="Number of the line" class="lines-number">
          Line
        </span>
        <span title="What the compiler made of the loop that begins here: ⊘ left as it is, ◐ left in part, ✓ vectorised or a call of the library" />
        <span title="Bars beside lines: a loop each, the outermost at the left">Loops</span>
        <span title="The text as the program was made of">{file.head.text === null ? "What is known without the text" : "Text"}</span>
      </div>
      <div
        ref={box}
        class="lines-body"
        role="listbox"
        tabIndex={0}
        aria-label={props.label}
        aria-activedescendant={line === 0 || !rows.includes(line) ? undefined : `${props.label}-${line}`}
        title="Press a line for all about it; arrows go from line to line, Enter to what it calls, r and R to the next and the previous loop that the compiler left as it is"
        onScroll={look}
        onKeyDown={press}
        onClick={click}
      >
        <div role="presentation" class="lines-all" style={{ height: `${all * LINE}px` }}>
          {rows.map((number) => (
            <Row
              key={number}
              id={`${props.label}-${number}`}
              number={number}
              all={all}
              text={file.lines[number - 1] ?? ""}
              known={known?.get(number) ?? ""}
              language={language}
              isWithin={within[number - 1] === 1}
              bar={bars.at.get(number)}
              most={bars.most}
              remark={remarked.get(number)}
              nest={nests[number] ?? 0}
              mark={`${number === line ? "line-here" : ""} ${props.mark?.(number) ?? ""}`}
              names={props.names?.get(number)}
              remotes={remotes.get(number) ?? NONE}
            />
          ))}
          {props.arrows === undefined || props.arrows.length === 0 ? null : <Arrows all={props.arrows} />}
        </div>
      </div>
    </div>
  );
}

const NONE: ReadonlyArray<readonly [number, number]> = [];

/** Where arrows are drawn, px from the left, and how wide: between the strips of loops and the text. */
const ARROWS = { left: 308, width: 22 } as const;

/** From where elements are written to where another image reads them; solid within an iteration, dashed to a later one. The pane says it in words. */
function Arrows({ all }: { readonly all: readonly Arrow[] }): JSX.Element {
  const middle = (line: number): number => (line - 0.5) * LINE;
  const first = Math.min(...all.flatMap(({ from, to }) => [from, to]));
  const last = Math.max(...all.flatMap(({ from, to }) => [from, to]));
  const top = middle(first) - LINE / 2;
  const longest = Math.max(last - first, 1);
  return (
    <svg class="line-arrows" aria-hidden="true" style={{ left: `${ARROWS.left}px`, top: `${top}px`, width: `${ARROWS.width}px`, height: `${middle(last) - top + LINE / 2}px` }}>
      {all.map(({ from, to, isCarried, words }) => {
        const [a, b] = [middle(from) - top, middle(to) - top];
        // Short ones lie within long ones.
        const bend = ARROWS.width - 4 - (ARROWS.width - 6) * (0.35 + (0.65 * Math.abs(to - from)) / longest);
        const right = ARROWS.width - 2;
        return (
          <g class={isCarried ? "line-arrow line-arrow-carried" : "line-arrow"}>
            <title>{words}</title>
            <path d={`M ${right} ${a} C ${bend} ${a}, ${bend} ${b}, ${right - 3} ${b}`} />
            <path class="line-arrow-head" d={`M ${right - 6} ${b - 3.5} L ${right} ${b} L ${right - 6} ${b + 3.5} Z`} />
          </g>
        );
      })}
    </svg>
  );
}

interface RowProps {
  readonly id: string;
  readonly number: number;
  readonly all: number;
  readonly text: string;
  readonly known: string;
  readonly language: string;
  readonly isWithin: boolean;
  readonly bar: LineCost | undefined;
  readonly most: Most;
  readonly remark: WireRemarked | undefined;
  readonly nest: number;
  readonly mark: string;
  readonly names: ReadonlySet<string> | undefined;
  readonly remotes: ReadonlyArray<readonly [number, number]>;
}

function Row({ id, number, all, text, known, language, isWithin, bar, most, remark, nest, mark, names, remotes }: RowProps): JSX.Element {
  return (
    <div id={id} role="option" aria-selected={mark.includes("line-here")} aria-setsize={all} aria-posinset={number} data-line={number} class={`line ${mark}`} style={{ top: `${(number - 1) * LINE}px` }}>
      <Bar light={bar?.inclusive ?? 0} dark={bar?.exclusive ?? 0} most={most.processor} kind="work" title={bar === undefined ? "" : `${words()}: ${costWords(bar)}`} />
      <Bar light={bar?.callTime ?? 0} dark={bar?.waiting ?? 0} most={most.calls} kind="calls" title={bar === undefined || bar.calls === 0 ? "" : `${words()}: ${duration(bar.callTime)} in ${count(bar.calls)} calls of libraries, of that ${duration(bar.waiting)} waiting`} />
      <span class="lines-number">{number}</span>
      {remark === undefined ? (
        <span />
      ) : (
        <span class={`line-sign ${remark.is_left ? "line-sign-left" : ""}`} title={`The compiler, of the loop that begins here: ${remarkWords(remark)}`}>
          {signOf(remark)}
        </span>
      )}
      <span class="line-nest">
        {Array.from({ length: Math.min(nest, DEEPEST) }, () => (
          <i />
        ))}
      </span>
      <code>
        {known === "" ? null : <span class="line-known">{known}</span>}
        {cutAt(piecesOf(text.slice(0, MOST_LETTERS), language, isWithin), remotes).map(({ text: piece, tone, isRemote }) => {
          const words = tone === "" || tone === "directive" ? <Words text={piece} names={names} tone={tone} /> : <span class={`tone-${tone}`}>{piece}</span>;
          return isRemote ? (
            <span class="line-remote" title="Elements that another image has: each time they are asked for, data goes from process to process. Press the line for what that cost and what it depends on">
              {words}
            </span>
          ) : (
            words
          );
        })}
        {text.length > MOST_LETTERS ? <span class="muted">{` … ${count(text.length - MOST_LETTERS)} more letters`}</span> : null}
      </code>
      {remark?.is_left === true ? (
        <span class="line-remark" title={`The compiler, of the loop that begins here: ${remarkWords(remark)}. Press the line for all of it`}>
          {remarkInShort(remark)}
        </span>
      ) : null}
    </div>
  );
}

/** Of what the bars are, in a word. */
function words(): string {
  return barsOf.peek() === "lines" ? "This line" : barsOf.peek() === "loops" ? "The loop" : "The function";
}

/** Text in which some names lead somewhere. */
function Words({ text, names, tone }: { readonly text: string; readonly names: ReadonlySet<string> | undefined; readonly tone: string }): JSX.Element {
  if (names === undefined) return tone === "" ? <>{text}</> : <span class={`tone-${tone}`}>{text}</span>;
  return (
    <>
      {text.split(/([A-Za-z_]\w*)/).map((part) =>
        names.has(part) ? (
          <span class="line-name" data-name={part} title={`Go to ${part}`}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
    </>
  );
}

interface BarProps {
  readonly light: number;
  readonly dark: number;
  readonly most: number;
  readonly kind: "work" | "calls";
  readonly title: string;
}

function Bar({ light, dark, most, kind, title }: BarProps): JSX.Element {
  const width = (time: number): string => `${time === 0 ? 0 : Math.max(2, Math.round((time / Math.max(most, 1)) * 100))}%`;
  return (
    <span class={`line-bar line-bar-${kind}`} title={title === "" ? undefined : title}>
      {light === 0 ? null : <i class="line-light" style={{ width: width(light) }} />}
      {dark === 0 ? null : <i class="line-dark" style={{ width: width(dark) }} />}
      {light === 0 ? null : <b>{duration(light)}</b>}
    </span>
  );
}

/** No author writes more into a line; what a program has written is shown as far as that. */
const MOST_LETTERS = 2000;

/** More loops in loops are not drawn. */
const DEEPEST = 5;

interface Most {
  readonly processor: number;
  readonly calls: number;
}

interface Bars {
  readonly at: ReadonlyMap<number, LineCost>;
  readonly most: Most;
}

/** What stands beside which line: its own cost, or that of the loop or function that begins there. */
function barsFor(file: SourceFile, of: BarsOf): Bars {
  const at = new Map<number, LineCost>();
  if (of === "lines") file.costs.forEach((cost, line) => at.set(line, cost));
  else if (of === "loops") for (const it of file.head.loops) at.set(it.first, larger(at.get(it.first), costOf(it.cost)));
  else for (const it of file.head.functions) if (it.line > 0) at.set(it.line, larger(at.get(it.line), costOf(it.cost)));
  let [processor, calls] = [0, 0];
  at.forEach((cost) => ([processor, calls] = [Math.max(processor, cost.inclusive), Math.max(calls, cost.callTime)]));
  return { at, most: { processor, calls } };
}

function larger(one: LineCost | undefined, other: LineCost): LineCost {
  return one !== undefined && one.inclusive + one.callTime >= other.inclusive + other.callTime ? one : other;
}

export function costOf(cost: WireCost): LineCost {
  return { exclusive: cost.exclusive_ns, inclusive: cost.inclusive_ns, calls: cost.calls, callTime: cost.call_ns, waiting: cost.waiting_ns, bytes: cost.bytes };
}

/** By line, in how many loops it lies: each loop counts from its first line on and no more behind its last. */
function nestsOf(file: SourceFile): Int32Array {
  const nests = new Int32Array(file.lines.length + 2);
  const add = (line: number, more: number): void => {
    if (line < nests.length) nests[line] = (nests[line] ?? 0) + more;
  };
  for (const { first, last } of file.head.loops) {
    if (first === 0 || last < first) continue;
    add(first, 1);
    add(last + 1, -1);
  }
  for (let line = 1; line < nests.length; line += 1) nests[line] = (nests[line] ?? 0) + (nests[line - 1] ?? 0);
  return nests;
}

/** By line, what is known of it without its text. */
function knownOf(file: SourceFile): ReadonlyMap<number, string> {
  const known = new Map<number, Set<string>>();
  const add = (line: number, what: string): void => void known.set(line, (known.get(line) ?? new Set()).add(what));
  for (const { line, name } of file.head.functions) add(line, name);
  for (const { first, last, kind } of file.head.loops) add(first, `loop (${kind}) to line ${last}`);
  for (const { line, name } of file.head.calls) add(line, `calls ${name === "" ? "through an address" : name}`);
  return new Map(Array.from(known, ([line, what]) => [line, [...what].join("; ")]));
}
