/** All about the line that is meant: the function and the loops around it, what it calls, what is done in parallel there. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { bytes, count, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { engine, fail, run } from "../../state/run.ts";
import { chooseFunction, chosenFunction, chosenLoop, lookAtLine, loopName, showSource, source, type SourceFile } from "../../state/source.ts";
import { chosenRegion } from "../../state/view.ts";
import type { WireSourceCall, WireSourceLoop } from "../../wire/generated.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { Cost } from "./parts.tsx";
import { RemarksOf } from "./remarks.tsx";
import { Remote } from "./remote.tsx";

export interface PaneProps {
  readonly file: SourceFile;
  readonly path: string;
  readonly line: number;
}

export function Pane({ file, path, line }: PaneProps): JSX.Element {
  if (line === 0) {
    return (
      <aside class="source-pane" aria-label="About the line">
        <p class="muted">Press a line, a box of the file at the left of this, or choose a region in any view: here is then said what the line costs, which loops it lies in, and what it calls.</p>
      </aside>
    );
  }
  const of = file.functionAt(line);
  const around = file.head.loops.filter((it) => it.first <= line && line <= it.last).sort((a, b) => b.depth - a.depth);
  const loop = around.find((it) => loopName(it) === chosenLoop.value) ?? around[0] ?? null;
  const cost = file.costs.get(line);
  const constructs = file.head.constructs.filter((it) => it.first <= line && line <= it.last);
  return (
    <aside class="source-pane" aria-label="About the line" tabIndex={0}>
      <h2>{`Line ${count(line)}`}</h2>
      {of === null ? (
        <p class="muted">It lies in no function.</p>
      ) : (
        <p>
          in{" "}
          <button type="button" class="link" title="Choose this function in all views, and go to where it begins" onClick={() => chooseFunction(of.name, of.file, of.line)}>
            <code>{of.name}</code>
          </button>
          {" · "}
          <button
            type="button"
            class="link"
            title="Who calls it and whom it calls"
            onClick={() => {
              chosenFunction.value = of.name;
              showSource("calls");
            }}
          >
            call graph
          </button>
        </p>
      )}
      {cost === undefined ? <p class="muted">No sample and no call was seen in this line.</p> : <Cost cost={{ exclusive_ns: cost.exclusive, inclusive_ns: cost.inclusive, calls: cost.calls, call_ns: cost.callTime, bytes: cost.bytes, waiting_ns: cost.waiting }} />}
      <Calls file={file} line={line} />
      {constructs.length === 0 ? null : (
        <ul class="source-list" aria-label="Done in parallel here">
          {constructs.map((it) => (
            <li title={`A construct of ${it.model}, lines ${it.first} to ${it.last}`}>
              <span class="source-model">‖ {it.model}</span> <code>{it.text}</code>
            </li>
          ))}
        </ul>
      )}
      {loop === null ? (
        <>
          <p class="muted">It lies in no loop.</p>
          <Remote file={file} path={path} first={line} last={line} />
          <RemarksOf file={file.head.file} line={line} loop={null} />
        </>
      ) : (
        <section aria-label="The loop">
          <h2>
            {around.length === 1 ? "Loop" : "Loops, the innermost first"}
          </h2>
          <div class="source-loops" role="group" aria-label="Loops around the line">
            {around.map((it) => (
              <button type="button" aria-pressed={it === loop} title={`All about this loop: lines ${it.first} to ${it.last}`} onClick={() => (chosenLoop.value = loopName(it))}>
                {`${it.kind} ${it.first}–${it.last}`}
              </button>
            ))}
          </div>
          <button type="button" class="link" title="Go to where it begins" onClick={() => (lookAtLine(path, loop.first), (chosenLoop.value = loopName(loop)))}>
            {`from line ${loop.first} to ${loop.last}`}
          </button>
          <RemarksOf file={file.head.file} line={line} loop={loop} />
          <Cost cost={loop.cost} />
          <Remote file={file} path={path} first={loop.first} last={loop.last} />
          <WithinLoop loop={loop} />
        </section>
      )}
    </aside>
  );
}

/** What the line calls: calls that were measured, and functions that are called as binary and text say. */
function Calls({ file, line }: { readonly file: SourceFile; readonly line: number }): JSX.Element | null {
  const head = run.value;
  const measured = file.calls.filter((call) => call.line === line);
  const names = new Set(measured.map(({ region }) => head?.regions[region]?.name));
  const known = file.head.calls.filter((call) => call.line === line && !names.has(call.name));
  if (measured.length === 0 && known.length === 0) return null;
  return (
    <ul class="source-list" aria-label="Called in this line">
      {measured.map((call) => (
        <li>
          <button type="button" class="link" aria-pressed={chosenRegion.value === call.region} title="Choose these calls in all views" onClick={() => (chosenRegion.value = call.region)}>
            <code>{head?.regions[call.region]?.name}</code>
          </button>{" "}
          {`${counted(call.calls, "call")}, ${duration(call.callTime)}${call.waiting > 0 ? `, of that ${duration(call.waiting)} waiting` : ""}${call.bytes > 0 ? `, ${bytes(call.bytes)}` : ""}`}
        </li>
      ))}
      {known.map((call) => (
        <li>
          {call.name === "" ? (
            <span class="muted" title="A virtual function, or a call through a pointer: where it leads is known when the program runs. The call graph has what was seen">
              calls through an address
            </span>
          ) : call.to_file === null || call.to_line === 0 ? (
            <span title={HOW[call.kind] ?? call.kind}>
              calls <code>{call.name}</code>
            </span>
          ) : (
            <button type="button" class="link" title={`Go to it: ${HOW[call.kind] ?? call.kind}`} onClick={() => goToCallee(call)}>
              <code>{call.name}</code>
            </button>
          )}
          {call.kind === "inlined" ? <span class="muted"> inlined</span> : null}
        </li>
      ))}
    </ul>
  );
}

const HOW: Readonly<Record<string, string>> = {
  called: "the machine code calls it here",
  inlined: "the compiler has put its code here",
  "by name": "the text calls it by its name",
  "by member": "the text calls a member of an object, which says which function that is",
  "by macro": "the text names a macro",
  "by expression": "the text calls what an expression says",
};

/** Goes to the function that a call leads to. */
export function goToCallee(call: WireSourceCall): void {
  const path = call.to_file === null ? undefined : source.peek()?.files[call.to_file]?.path;
  if (path !== undefined && call.to_line > 0) chooseFunction(call.name, call.to_file, call.to_line);
}

interface Called {
  readonly region: number;
  readonly calls: number;
  readonly time: number;
  readonly waiting: number;
  readonly bytes: number;
}

/** What was called from within a loop, also by functions that it called. */
function WithinLoop({ loop }: { readonly loop: WireSourceLoop }): JSX.Element | null {
  const rows = useSignal<readonly Called[]>([]);
  useEffect(() => {
    let isWanted = loop.cost.calls > 0;
    rows.value = [];
    if (!isWanted) return;
    void engine.sourceLoop(loop.number).then((frame) => {
      const [calls, time, waiting, moved] = [frame.f64("calls"), frame.f64("call_time"), frame.f64("waiting"), frame.f64("bytes")];
      if (isWanted) rows.value = Array.from(frame.u32("region"), (region, at) => ({ region, calls: calls[at] ?? 0, time: time[at] ?? 0, waiting: waiting[at] ?? 0, bytes: moved[at] ?? 0 }));
    }, fail);
    return () => {
      isWanted = false;
    };
  }, [loop.number]);
  if (rows.value.length === 0) return null;
  const most = rows.value.reduce((all, row) => Math.max(all, row.time), 1);
  const columns: ReadonlyArray<Column<Called>> = [
    { name: "Called", help: "A measured call of a library from within the loop; press a row to choose it in all views", text: (row) => run.value?.regions[row.region]?.name ?? "", width: "minmax(74px, 1fr)" },
    { name: "Calls", help: "How often", text: (row) => count(row.calls), value: (row) => row.calls, width: "42px" },
    { name: "Time", help: "How long all of them took", text: (row) => duration(row.time), value: (row) => row.time, unit: "ns", bar: (row) => row.time / most, width: "60px" },
    { name: "Waited", help: "Of that for others", text: (row) => (row.waiting === 0 ? "–" : duration(row.waiting)), value: (row) => row.waiting, unit: "ns", width: "60px" },
    { name: "Data", help: "What they moved", text: (row) => (row.bytes === 0 ? "–" : bytes(row.bytes)), value: (row) => row.bytes, unit: "B", width: "58px" },
  ];
  return <Table label="calls from within the loop" rows={rows.value} columns={columns} sortedBy={2} height={8} onChoose={(row) => (chosenRegion.value = row.region)} isChosen={(row) => row.region === chosenRegion.value} />;
}
