/** Files with their types, functions and methods; and the source of what is chosen, with head, body and callees marked. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { duration } from "../../base/time.ts";
import { fail, run } from "../../state/run.ts";
import { chooseFunction, chosenFile, chosenFunction, chosenPlace, chosenType, fileWords, followSource, isList, lookAtLine, needTypes, readFile, showSource, source, sourceFile, types, type SourceFile } from "../../state/source.ts";
import { chosenRegion } from "../../state/view.ts";
import type { SourceHead, WireSourceFunction, WireSourceType } from "../../wire/generated.ts";
import { Coming } from "../lost.tsx";
import { Lines } from "./lines.tsx";
import { goToCallee } from "./pane.tsx";
import { lastName, shortPath, Tabs, WithSource } from "./parts.tsx";
import "./source.css";
import { Tree, type TreeRow } from "./tree.tsx";
import { AllFunctions } from "./twins.tsx";
import { calledNames } from "./view.tsx";

interface Row extends TreeRow {
  readonly name: string;
  readonly kind: string;
  readonly file: number;
  readonly line: number;
  readonly cost: number;
  readonly function: WireSourceFunction | null;
  readonly type: WireSourceType | null;
}

export function Files(): JSX.Element {
  useEffect(followSource, []);
  useEffect(needTypes, []);
  return <WithSource name="files">{(head) => <Shown head={head} />}</WithSource>;
}

function Shown({ head }: { readonly head: SourceHead }): JSX.Element {
  const opened = useSignal<ReadonlySet<string>>(new Set());
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const here = useSignal<string | null>(null);
  const read = useSignal<ReadonlyMap<number, SourceFile>>(new Map());
  const [number, place, file] = [chosenFile.value, chosenPlace.value, sourceFile.value];
  // The file that is looked at is open.
  const open = number === null || closed.value.has(`${number}`) ? opened.value : new Set([...opened.value, `${number}`]);
  const need = (wanted: number): void => {
    if (read.peek().has(wanted)) return;
    void readFile(wanted).then((found) => (read.value = new Map(read.peek()).set(wanted, found)), fail);
  };
  useEffect(() => open.forEach((key) => (key.includes("/") ? undefined : need(Number(key)))), [number, opened.value, closed.value]);
  const rows = useMemo(() => rowsOf(head, read.value, { open, closed: closed.value }, fileWords.value), [head, read.value, opened.value, closed.value, number, fileWords.value]);
  const line = place?.line ?? 0;
  const chosen = file?.head.functions.find((it) => it.name === chosenFunction.value && (line === 0 || (it.first <= line && line <= it.last))) ?? null;
  const of = file?.head.types.find((it) => it.name === chosenType.value) ?? null;
  // A function that was chosen elsewhere has the focus.
  const last = rows.find((row) => row.key === here.value);
  const ofChosen = rows.find((row) => chosen !== null && row.function?.number === chosen.number);
  const at = (chosen === null || last?.function?.name === chosen.name ? last : ofChosen) ?? ofChosen ?? last ?? rows[0];
  const toggle = (row: Row): void => {
    const isOpen = row.isOpen === true;
    const [more, less] = [new Set(opened.peek()), new Set(closed.peek())];
    if (isOpen) {
      more.delete(row.key);
      less.add(row.key);
    } else {
      more.add(row.key);
      less.delete(row.key);
    }
    [opened.value, closed.value] = [more, less];
  };
  const go = (row: Row): void => {
    here.value = row.key;
    if (row.function !== null) chooseFunction(row.name, row.file, row.line);
    else {
      const path = head.files[row.file]?.path;
      if (path === undefined) return;
      chosenFunction.value = null;
      if (row.type !== null) chosenType.value = row.name;
      lookAtLine(path, row.line);
    }
  };
  const isHere = file !== null && file.head.file === number;
  return (
    <div class="source">
      <p class="source-bar">
        <Tabs name="files" />
        <button type="button" aria-pressed={isList.value} title="All functions of the program in a table, to be sorted, filtered and copied" onClick={() => (isList.value = !isList.value)}>
          All functions
        </button>
        <input type="search" placeholder="Filter" aria-label="Filter files" title="Only files that have all these words in their paths, or functions and types of files that are open that have them in their names" value={fileWords.value} onInput={(event) => (fileWords.value = event.currentTarget.value)} />
        <span class="source-legend muted" title="What the chosen function consists of is marked in its text">
          <span class="line-head source-key">head</span> <span class="line-function source-key">body</span> <span class="line-name">callee</span>: press it to go there
        </span>
        <button type="button" title="The same place with what each line cost, the whole file beside it" onClick={() => showSource()}>
          Costs
        </button>
      </p>
      {isList.value ? <AllFunctions done={() => (isList.value = false)} /> : null}
      <div class="source-parts files-parts" hidden={isList.value}>
        <Tree label="files" help="Arrows go from row to row and open them, Enter shows the source with its costs" rows={rows} here={at?.key ?? null} go={go} toggle={toggle} act={(row) => (go(row), showSource())} title={titleOf(head)} mark={(row) => (row.function !== null && row.name === chosenFunction.value) || (row.type !== null && chosenFunction.value === null && row.name === chosenType.value) ? "branch-chosen" : ""} draw={(row) => <Drawn row={row} />} />
        {!isHere || file === null ? <Coming what="The source is being read" /> : <Text file={file} path={place?.path ?? ""} line={line} language={head.files[number ?? 0]?.language ?? ""} chosen={chosen} type={of} />}
      </div>
    </div>
  );
}

function Drawn({ row }: { readonly row: Row }): JSX.Element {
  return (
    <>
      <span class={`files-kind files-${row.function !== null ? "function" : row.type !== null ? "type" : "file"}`} aria-hidden="true">
        {row.function !== null ? "ƒ" : row.type !== null ? "T" : "≡"}
      </span>
      <code>{row.name}</code>
      <span class="muted">{row.kind}</span>
      <span class="files-cost muted">{row.cost === 0 ? "" : duration(row.cost)}</span>
    </>
  );
}

function titleOf(head: SourceHead): (row: Row) => string {
  return (row) => {
    if (row.function === null && row.type === null) return `${head.files[row.file]?.path}: ${row.kind}`;
    return `${row.name}, ${row.kind}${row.line === 0 ? "" : `, line ${row.line}`}${row.cost === 0 ? "" : `; processor ${duration(row.cost)}`}`;
  };
}

interface TextProps {
  readonly file: SourceFile;
  readonly path: string;
  readonly line: number;
  readonly language: string;
  readonly chosen: WireSourceFunction | null;
  readonly type: WireSourceType | null;
}

/** The text with head, body and callees; a name of a type leads to where it is defined. */
function Text({ file, path, line, language, chosen, type }: TextProps): JSX.Element {
  const known = types.value;
  const ofTypes = useMemo(() => new Map((known?.types ?? []).filter((it) => it.file !== null && it.line > 0).map((it) => [lastName(it.name), it])), [known]);
  const names = useMemo(() => {
    const all = new Map([...calledNames(file)].map(([at, some]) => [at, new Set(some)]));
    file.lines.forEach((text, at) => {
      for (const word of text.match(/[A-Za-z_]\w*/g) ?? []) if (ofTypes.has(word)) all.set(at + 1, (all.get(at + 1) ?? new Set<string>()).add(word));
    });
    return all;
  }, [file, ofTypes]);
  const mark = (at: number): string => {
    if (chosen !== null && chosen.first <= at && at <= chosen.last) return at < headEnd(file, chosen) ? "line-head" : "line-function";
    return type !== null && type.line <= at && at <= type.last ? "line-function" : "";
  };
  const follow = (at: number, name: string | null): void => {
    const call = file.head.calls.find((it) => it.line === at && it.to_file !== null && it.to_line > 0 && (name === null || lastName(it.name) === name));
    const type = name === null ? undefined : ofTypes.get(name);
    const measured = file.calls.find((it) => it.line === at && (name === null || run.peek()?.regions[it.region]?.name === name));
    const target = type?.file === null || type === undefined ? undefined : source.peek()?.files[type.file]?.path;
    if (call !== undefined) goToCallee(call);
    else if (type !== undefined && target !== undefined) {
      chosenFunction.value = null;
      chosenType.value = type.name;
      lookAtLine(target, type.line);
    } else if (measured !== undefined) {
      chosenRegion.value = measured.region;
      lookAtLine(path, at);
    } else lookAtLine(path, at);
  };
  return <Lines label="text" file={file} language={language} line={line} choose={(at) => lookAtLine(path, at)} follow={follow} mark={mark} names={names} />;
}

/** The line in which a body begins: what is before it is the head. */
function headEnd(file: SourceFile, { first, last, line }: WireSourceFunction): number {
  for (let at = line; at <= last; at += 1) {
    const text = file.lines[at - 1] ?? "";
    if (text.includes("{") || /&\s*$/.test(text) === false && !text.includes("{") && /^\s*(?:[a-z ()*0-9=]*\b)?(?:subroutine|function|program)\b/i.test(text)) return at + 1;
  }
  return first + 1;
}

/** Files are closed unless they were opened, types in them open unless they were closed. */
interface Folds {
  readonly open: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

/** All rows that are open. */
function rowsOf(head: SourceHead, read: ReadonlyMap<number, SourceFile>, folds: Folds, filter: string): readonly Row[] {
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const has = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const rows: Row[] = [];
  const order = head.files.map((it, file) => ({ it, file })).filter(({ it }) => !it.is_of_system && it.functions + it.types > 0);
  order.sort((a, b) => a.it.path.localeCompare(b.it.path));
  for (const { it, file } of order) {
    const inside = read.get(file);
    const isOpen = folds.open.has(`${file}`);
    const members = isOpen && inside !== undefined ? insideOf(inside, file, folds.closed) : [];
    const kept = words.length === 0 || has(it.path) ? members : members.filter((row) => has(row.name));
    if (words.length > 0 && kept.length === 0 && !has(it.path)) continue;
    const kind = it.state === "read" ? it.language : it.state === "newer" ? "changed since" : "not read";
    rows.push({ key: `${file}`, depth: 0, isOpen, name: shortPath(it.path), kind, file, line: 0, cost: it.cost.exclusive_ns, function: null, type: null }, ...kept);
  }
  return rows;
}

/** What a function is called; what no source tells of compilers have made. */
function kindOf(it: WireSourceFunction): string {
  if (it.kind === "") return it.of === null ? "in the binary alone" : "method, in the binary alone";
  return it.kind === "function" && it.of !== null ? "method" : it.kind;
}

function insideOf(inside: SourceFile, file: number, closed: ReadonlySet<string>): readonly Row[] {
  const ofFunction = (it: WireSourceFunction, depth: number): Row => ({ key: `${file}/f${it.number}`, depth, isOpen: null, name: it.name, kind: kindOf(it), file, line: it.line, cost: it.cost.inclusive_ns, function: it, type: null });
  const { functions, types } = inside.head;
  const ownTypes = new Set(types.map((it) => it.number));
  const parts: Array<readonly [line: number, rows: readonly Row[]]> = types.map((it) => {
    const methods = functions.filter((method) => method.of === it.number);
    const key = `${file}/t${it.number}`;
    const isOpen = methods.length === 0 ? null : !closed.has(key);
    const row: Row = { key, depth: 1, isOpen, name: it.name, kind: it.kind, file, line: it.line, cost: 0, function: null, type: it };
    return [it.line, [row, ...(isOpen === true ? methods.map((method) => ofFunction(method, 2)) : [])]];
  });
  for (const it of functions) if (it.of === null || !ownTypes.has(it.of)) parts.push([it.line, [ofFunction(it, 1)]]);
  return parts.sort((a, b) => a[0] - b[0]).flatMap(([, some]) => some);
}
