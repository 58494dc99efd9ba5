/** The call graph as a tree that is opened node by node: who calls whom as binary and text say, and as it was seen, with its time. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { count, counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { callees, calleesBeyond, chooseFunction, chosenFunction, followSource, hiddenCalls, isSeenOnly, needCallees, openCalls, openWay, showSource, source } from "../../state/source.ts";
import { fail, run } from "../../state/run.ts";
import { chosenRegion } from "../../state/view.ts";
import type { CalleesHead, WireCallee } from "../../wire/generated.ts";
import { Coming } from "../lost.tsx";
import { Cost, Tabs, WithSource } from "./parts.tsx";
import "./source.css";
import { Tree, type TreeRow } from "./tree.tsx";

interface Row extends TreeRow {
  readonly it: WireCallee;
  /** The same function stands above it. */
  readonly isAgain: boolean;
  /** Callees that are not shown: all, if it is closed, or those that were hidden. */
  readonly isHiding: boolean;
}

export function CallGraph(): JSX.Element {
  useEffect(followSource, []);
  return <WithSource name="calls">{() => <Shown />}</WithSource>;
}

function Shown(): JSX.Element {
  const here = useSignal<string | null>(null);
  // Who closes the way to it does not want it opened again.
  const asked = useRef<string | null>(null);
  useEffect(() => needCallees(null), []);
  const [known, beyond] = [callees.value, calleesBeyond.value];
  const [open, hidden] = [openCalls.value, hiddenCalls.value];
  // What an address says is open is asked for.
  useEffect(() => open.forEach((way) => needCallees(Number(way.split("/").at(-1)))), [open]);
  const rows = useMemo(() => rowsOf(known, beyond, open, hidden, isSeenOnly.value), [known, beyond, open, hidden, isSeenOnly.value]);
  // A function that was chosen elsewhere is shown where it is first come to.
  const wanted = chosenFunction.value;
  useEffect(() => {
    if (wanted === null || rows.some((row) => row.it.name === wanted)) {
      const first = rows.find((row) => row.it.name === wanted);
      const now = rows.find((row) => row.key === here.peek());
      if (first !== undefined && now?.it.name !== wanted) here.value = first.key;
      return;
    }
    if (asked.current === wanted) return;
    asked.current = wanted;
    void openWay(wanted).catch(fail);
  }, [wanted, rows.length]);
  const roots = known.get(-1);
  if (roots === undefined) return <Coming what="The call graph is being made" />;
  const most = Math.max(...roots.callees.map((it) => it.cost.inclusive_ns + it.cost.call_ns), 1);
  const at = rows.find((row) => row.key === here.value) ?? rows[0];
  const toggle = (row: Row): void => {
    const next = new Set(open);
    if (!next.delete(row.key)) {
      next.add(row.key);
      needCallees(row.it.node);
    }
    openCalls.value = next;
  };
  const hide = (row: Row): void => {
    if (row.depth === 0) return;
    const next = new Set(hidden).add(row.key);
    const place = rows.indexOf(row);
    here.value = rows[place - 1]?.key ?? null;
    hiddenCalls.value = next;
  };
  const showAll = (row: Row): void => {
    hiddenCalls.value = new Set([...hidden].filter((way) => way.slice(0, way.lastIndexOf("/")) !== row.key));
  };
  const go = (row: Row): void => {
    here.value = row.key;
    const { name, file, line, region } = row.it;
    if (row.it.function !== null) chooseFunction(name, file, line);
    else if (region !== null) chosenRegion.value = region;
  };
  return (
    <div class="source">
      <p class="source-bar">
        <Tabs name="calls" />
        <label title="Leave out calls that nobody saw when the program ran">
          <input type="checkbox" checked={isSeenOnly.value} onChange={(event) => (isSeenOnly.value = event.currentTarget.checked)} /> only what was seen
        </label>
        <button type="button" title="Close all rows" onClick={() => (openCalls.value = new Set())}>
          Close all
        </button>
        <button type="button" title="Show all rows that were hidden by hand" disabled={hidden.size === 0} onClick={() => (hiddenCalls.value = new Set())}>
          {`Show hidden${hidden.size === 0 ? "" : ` (${hidden.size})`}`}
        </button>
        <span class="source-legend muted" title="‖ leads to something that is done in parallel or with others; … has callees that are not shown; what is before a name says who knows of the call">
          <b>‖</b> leads to parallel constructs · <b>…</b> more inside · <Edge it={SEEN} /> seen · <Edge it={TOLD} /> told by the program · <Edge it={BOTH} /> both
        </span>
      </p>
      <div class="source-parts calls-parts">
        <div class="calls-tree">
          <div class="calls-head">
            <span title="Functions, and beneath each those that it calls, what took longest first">Function</span>
            <span title="Processor time by samples in it and in all that it called, when this caller called it">Processor</span>
            <span title="Time in calls of libraries that were measured from within, when this caller called it">In calls</span>
          </div>
          <Tree label="call-graph" help="Arrows go from row to row and open them, Enter shows the source, h hides a row, s shows what was hidden beneath one" rows={rows} here={at?.key ?? null} go={go} toggle={toggle} act={(row) => (go(row), row.it.file === null ? undefined : showSource())} title={titleOf} mark={(row) => `${row.it.name === wanted || (row.it.region !== null && row.it.region === chosenRegion.value) ? "branch-chosen" : ""} ${row.it.is_measured || row.depth === 0 ? "" : "branch-told"}`} keys={{ h: hide, s: showAll }} draw={(row) => <Drawn row={row} most={most} />} />
          {roots.left_out > 0 ? <p class="muted">{`${counted(roots.left_out, "more function")} that none calls are not listed; the filter of Files & types finds them.`}</p> : null}
        </div>
        {at === undefined ? null : <About row={at} toggle={toggle} hide={hide} showAll={showAll} />}
      </div>
    </div>
  );
}

const NOTHING = { exclusive_ns: 0, inclusive_ns: 0, calls: 0, call_ns: 0, bytes: 0, waiting_ns: 0 };
const NOBODY: WireCallee = { node: 0, name: "", function: null, region: null, file: null, line: 0, is_parallel: false, callees: 0, cost: NOTHING, is_static: false, is_measured: false, is_inlined: false, from_line: 0, call: NOTHING };
const SEEN = { ...NOBODY, is_measured: true };
const TOLD = { ...NOBODY, is_static: true };
const BOTH = { ...SEEN, is_static: true };

/** How a call is known. */
function Edge({ it }: { readonly it: WireCallee }): JSX.Element {
  const kind = it.is_measured ? (it.is_static ? "both" : "seen") : "told";
  return <span class={`calls-edge calls-${kind}`} aria-hidden="true" />;
}

function Drawn({ row, most }: { readonly row: Row; readonly most: number }): JSX.Element {
  const { it } = row;
  const width = (time: number): string => `${time === 0 ? 0 : Math.max(1, Math.min(100, Math.round((time / most) * 100)))}%`;
  return (
    <>
      {row.depth === 0 ? null : <Edge it={it} />}
      <b class="calls-parallel">{it.is_parallel ? "‖" : ""}</b>
      <code class={it.function === null ? "calls-library" : ""}>{it.name}</code>
      {row.isAgain ? <span class="muted">↑ again</span> : null}
      {row.isHiding ? <b class="calls-more">…</b> : null}
      <span class="calls-time">
        <i class="line-light" style={{ width: width(it.call.inclusive_ns) }} />
        <b>{it.call.inclusive_ns === 0 ? "" : duration(it.call.inclusive_ns)}</b>
      </span>
      <span class="calls-time calls-time-calls">
        <i class="line-light" style={{ width: width(it.call.call_ns) }} />
        <i class="line-dark" style={{ width: width(it.call.waiting_ns) }} />
        <b>{it.call.call_ns === 0 ? "" : duration(it.call.call_ns)}</b>
      </span>
    </>
  );
}

function knownWords(it: WireCallee): string {
  const how = it.is_inlined ? "inlined, " : "";
  return it.is_measured ? (it.is_static ? `${how}told by the program and seen` : "seen when the program ran; where a call leads through an address, only that tells") : `${how}told by the program, but never seen`;
}

function titleOf(row: Row): string {
  const { it } = row;
  const where = row.depth === 0 ? "no function of the program calls it" : `called${it.from_line > 0 ? ` in line ${it.from_line}` : ""}: ${knownWords(it)}`;
  return `${it.name}; ${where}; processor ${duration(it.call.inclusive_ns)}, in calls ${duration(it.call.call_ns)}, waiting ${duration(it.call.waiting_ns)}${it.is_parallel ? "; leads to something done in parallel" : ""}`;
}

interface AboutProps {
  readonly row: Row;
  readonly toggle: (row: Row) => void;
  readonly hide: (row: Row) => void;
  readonly showAll: (row: Row) => void;
}

/** All about the row that has the focus, and what can be done with it. */
function About({ row, toggle, hide, showAll }: AboutProps): JSX.Element {
  const { it } = row;
  const head = callees.value.get(it.node);
  const path = it.file === null ? "" : (source.value?.files[it.file]?.path ?? "");
  return (
    <aside class="source-pane" aria-label="About the function" tabIndex={0}>
      <h2>
        <code>{it.name}</code>
      </h2>
      <p class="muted">{it.function === null ? "Of a library" : path === "" ? "Where it stands is not known" : `${path.split("/").at(-1)}:${it.line}`}</p>
      <p class="source-buttons">
        <button type="button" disabled={path === ""} title="Show its text with what each line cost (Enter)" onClick={() => (chooseFunction(it.name, it.file, it.line), showSource())}>
          Source
        </button>
        <button type="button" disabled={row.isOpen === null} title="Show whom it calls, or do not (→ and ←)" onClick={() => toggle(row)}>
          {row.isOpen === true ? "Close" : "Open"}
        </button>
        <button type="button" disabled={row.depth === 0} title="Do not show this row (h)" onClick={() => hide(row)}>
          Hide
        </button>
        <button type="button" disabled={row.isOpen !== true || !row.isHiding} title="Show what was hidden beneath it (s)" onClick={() => showAll(row)}>
          Show all
        </button>
      </p>
      <h3 title="Whoever called it">In all</h3>
      <Cost cost={it.cost} />
      {row.depth === 0 ? null : (
        <>
          <h3 title="When the function above it called it">From this caller</h3>
          <p>
            {knownWords(it)}
            {it.from_line > 0 ? `; first in line ${it.from_line}` : ""}
          </p>
          <dl class="facts source-facts">
            <div title="Processor time when this caller called it">
              <dt>Processor</dt>
              <dd>{`${duration(it.call.inclusive_ns)}${it.cost.inclusive_ns === 0 ? "" : ` (${percent(it.call.inclusive_ns / it.cost.inclusive_ns)} of all)`}`}</dd>
            </div>
            <div title="Measured calls of libraries from within, and how long they took">
              <dt>Calls</dt>
              <dd>{it.call.calls === 0 ? "none" : `${count(it.call.calls)}, ${duration(it.call.call_ns)}`}</dd>
            </div>
          </dl>
        </>
      )}
      {(head?.unknown ?? 0) > 0 ? <p class="muted">{`${counted(head?.unknown ?? 0, "call")} in it ${head?.unknown === 1 ? "leads" : "lead"} through an address: only what was seen of that is shown.`}</p> : null}
      {(head?.left_out ?? 0) > 0 ? <p class="muted">{`${counted(head?.left_out ?? 0, "more callee")}, those that took least, are not listed.`}</p> : null}
      {it.region === null ? null : (
        <p>
          <button type="button" class="link" title="Choose these calls in all views" onClick={() => (chosenRegion.value = it.region)}>
            {`choose ${run.value?.regions[it.region]?.name ?? ""} in all views`}
          </button>
        </p>
      )}
    </aside>
  );
}

/** All rows that are open. */
function rowsOf(known: ReadonlyMap<number, CalleesHead>, beyond: ReadonlyMap<number, readonly WireCallee[]>, open: ReadonlySet<string>, hidden: ReadonlySet<string>, isMeasuredOnly: boolean): readonly Row[] {
  const rows: Row[] = [];
  const of = (node: number): readonly WireCallee[] => {
    const [told, more] = [known.get(node)?.callees ?? [], beyond.get(node) ?? []];
    const missing = more.filter((it) => !told.some(({ node: other }) => other === it.node));
    return missing.length === 0 ? told : [...told, ...missing];
  };
  const add = (it: WireCallee, way: readonly number[]): void => {
    const key = [...way, it.node].join("/");
    const isOpen = it.callees === 0 ? null : open.has(key);
    const callees = isOpen === true ? of(it.node) : [];
    const shown = callees.filter((callee) => !hidden.has(`${key}/${callee.node}`) && (!isMeasuredOnly || callee.is_measured));
    rows.push({ key, depth: way.length, isOpen, it, isAgain: way.includes(it.node), isHiding: isOpen === false || shown.length < callees.length });
    for (const callee of shown) add(callee, [...way, it.node]);
  };
  for (const root of of(-1)) if (!isMeasuredOnly || root.cost.inclusive_ns + root.cost.call_ns > 0) add(root, []);
  return rows;
}
