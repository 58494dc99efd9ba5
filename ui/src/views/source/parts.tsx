/** What all views of sources have: the way from one to another, why there is nothing, and costs in words. */
import type { JSX } from "preact";

import { bytes, count, counted, fileName, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { shortFiles, source } from "../../state/source.ts";
import { beside, SOURCE_VIEWS, view, type ViewName } from "../../state/view.ts";
import type { SourceHead, WireCost } from "../../wire/generated.ts";
import { Coming } from "../lost.tsx";

const NAMES: Readonly<Record<(typeof SOURCE_VIEWS)[number], readonly [name: string, help: string]>> = {
  source: ["Source", "The text with what each line cost"],
  files: ["Files & types", "Files with their classes and functions, and the source of each"],
  calls: ["Call graph", "Who calls whom, with the time that it took"],
  types: ["Type hierarchy", "Which type is derived from which, and their members"],
};

/** The four views; another takes the place of the one that it is asked from. */
export function Tabs({ name }: { readonly name: ViewName }): JSX.Element {
  const show = (next: ViewName): void => {
    if (view.peek() === name) view.value = next;
    else beside.value = next;
  };
  return (
    <span class="source-tabs" role="group" aria-label="Views of sources">
      {SOURCE_VIEWS.map((it) => (
        <button type="button" aria-pressed={it === name} title={NAMES[it][1]} onClick={() => show(it)}>
          {NAMES[it][0]}
        </button>
      ))}
    </span>
  );
}

export interface WithSourceProps {
  readonly name: ViewName;
  readonly children: (head: SourceHead) => JSX.Element;
}

/** A view, if there is anything to be seen in it, or why there is nothing. */
export function WithSource({ name, children }: WithSourceProps): JSX.Element {
  const head = source.value;
  if (head === null) return <Coming what="The program is being read" />;
  if (head.why_not === null) return children(head);
  return (
    <div class="source">
      <p class="source-bar">
        <Tabs name={name} />
      </p>
      <p class="hush source-why">{head.why_not}</p>
    </div>
  );
}

/** A share of all processor time. */
export function shareOf(time: number): string {
  const whole = source.value?.processor_ns ?? 0;
  return whole === 0 || time === 0 ? "" : percent(time / whole);
}

/** `12 ms (30 %)`; nothing of nothing. */
export function processor(time: number): string {
  return time === 0 ? "none" : `${duration(time)} (${shareOf(time)})`;
}

/** What something cost, in one line. */
export function costWords(cost: { readonly exclusive: number; readonly inclusive: number; readonly calls: number; readonly callTime: number; readonly waiting: number; readonly bytes: number }): string {
  const calls = cost.calls === 0 ? "" : `; ${counted(cost.calls, "call")} of libraries, ${duration(cost.callTime)}, of that ${duration(cost.waiting)} waiting, ${bytes(cost.bytes)}`;
  return `processor ${processor(cost.inclusive)}, of that ${cost.exclusive === 0 ? "none" : duration(cost.exclusive)} of its own${calls}`;
}

export interface CostProps {
  readonly cost: WireCost;
}

/** What something cost, as a list. */
export function Cost({ cost }: CostProps): JSX.Element {
  const calls = source.value?.calls_ns ?? 0;
  const facts: ReadonlyArray<readonly [string, string, string]> = [
    ["Processor", processor(cost.inclusive_ns), "Processor time by samples, in it and in all that it called, of all locations together; in brackets the share of the run's"],
    ["Of its own", cost.exclusive_ns === 0 ? "none" : processor(cost.exclusive_ns), "Of that what was in its own lines: not in loops within, functions that it called, or calls of libraries"],
    ["Calls", cost.calls === 0 ? "none" : `${count(cost.calls)}, ${duration(cost.call_ns)}${calls === 0 ? "" : ` (${percent(cost.call_ns / calls)})`}`, "Measured calls of libraries (MPI, threads, files) from within, also by functions that it called, and how long they took; in brackets the share of the time of all such calls of the run"],
    ["Waiting", cost.waiting_ns === 0 ? "none" : duration(cost.waiting_ns), "Of that, how long was waited for others"],
    ["Data", cost.bytes === 0 ? "none" : bytes(cost.bytes), "What these calls moved"],
  ];
  return (
    <dl class="facts source-facts">
      {facts.map(([name, text, help]) => (
        <div title={help}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The end of a path that tells it from other files of the run. */
export function shortPath(path: string): string {
  return shortFiles.value.get(path) ?? fileName(path);
}

/** `relax` of `ns::relax<int>(double)`: what stands in the text. */
export function lastName(name: string): string {
  let depth = 0;
  let plain = "";
  for (const letter of name) {
    if (letter === "<" && !plain.endsWith("operator")) depth += 1;
    else if (letter === ">" && depth > 0) depth -= 1;
    else if (letter === "(" && depth === 0 && !plain.endsWith("operator")) break;
    else if (depth === 0) plain += letter;
  }
  return plain.split("::").at(-1) ?? plain;
}
