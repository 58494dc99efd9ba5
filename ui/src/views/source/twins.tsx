/** What a source shows as tables: its lines that cost something, its functions, its loops. */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";

import { bytes, count } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { chooseFunction, chosenFunction, chosenLoop, chosenPlace, functions as functionsOfAll, lookAtLine, loopName, needFunctions, shownAs, source, type LineCost, type SourceFile } from "../../state/source.ts";
import { Coming } from "../lost.tsx";
import { Table, type Column } from "../../widgets/table.tsx";
import { costOf } from "./lines.tsx";
import { shareOf, shortPath } from "./parts.tsx";

interface Row {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly cost: LineCost;
  readonly act: () => void;
}

export function Twin({ file, path }: { readonly file: SourceFile; readonly path: string }): JSX.Element {
  const what = shownAs.value;
  const rows = what === "lines" ? lines(file, path) : what === "functions" ? functions(file) : loops(file, path);
  const line = chosenPlace.value?.line ?? 0;
  return (
    <div class="sheet">
      {rows.length === 0 ? <p class="muted">{`No ${what} of this source are known.`}</p> : <Table label={`${what} of the source`} rows={rows} columns={columnsOf(what)} sortedBy={2} height={24} onChoose={(row) => row.act()} isChosen={(row) => row.first === line} />}
    </div>
  );
}

/** All functions of the program. */
export function AllFunctions({ done }: { readonly done: () => void }): JSX.Element {
  useEffect(needFunctions, []);
  const [found, head] = [functionsOfAll.value, source.value];
  const rows = useMemo(() => (found?.functions ?? []).map((it) => ({ name: it.name, first: it.line, last: it.last, cost: costOf(it.cost), act: () => (chooseFunction(it.name, it.file, it.line), done()), file: it.file === null ? "" : shortPath(head?.files[it.file]?.path ?? "") })), [found, head]);
  if (found === null) return <Coming what="Functions are being counted" />;
  const [name, line, ...rest] = columnsOf("functions");
  const file: Column<Row & { readonly file: string }> = { name: "File", help: "Where it is defined", text: (row) => row.file || "–", width: "minmax(90px, 1fr)" };
  const columns: ReadonlyArray<Column<Row & { readonly file: string }>> = [name, file, line, ...rest].flatMap((it) => it ?? []);
  return (
    <div class="sheet">
      {found.number > found.functions.length ? <p class="muted">{`Of ${count(found.number)} functions the ${count(found.functions.length)} that cost most.`}</p> : null}
      <Table label="functions of the program" rows={rows} columns={columns} sortedBy={3} height={24} onChoose={(row) => row.act()} isChosen={(row) => row.name === chosenFunction.value} />
    </div>
  );
}

function lines(file: SourceFile, path: string): readonly Row[] {
  return [...file.costs].map(([line, cost]) => ({ name: file.lines[line - 1]?.trim() ?? "", first: line, last: line, cost, act: () => show(path, line) }));
}

function functions(file: SourceFile): readonly Row[] {
  return file.head.functions.map((it) => ({
    name: it.name,
    first: it.line,
    last: it.last,
    cost: costOf(it.cost),
    act: () => {
      chooseFunction(it.name, it.file, it.line);
      shownAs.value = "text";
    },
  }));
}

function loops(file: SourceFile, path: string): readonly Row[] {
  return file.head.loops.map((it) => ({
    name: `${"· ".repeat(Math.min(it.depth - 1, 8))}${it.kind}${it.function === null ? "" : ` in ${file.head.functions.find(({ number }) => number === it.function)?.name ?? ""}`}`,
    first: it.first,
    last: it.last,
    cost: costOf(it.cost),
    act: () => {
      show(path, it.first);
      chosenLoop.value = loopName(it);
    },
  }));
}

function show(path: string, line: number): void {
  lookAtLine(path, line);
  shownAs.value = "text";
}

function columnsOf(what: string): ReadonlyArray<Column<Row>> {
  const time = (of: (row: Row) => number) => ({ text: (row: Row) => (of(row) === 0 ? "–" : duration(of(row))), value: of, unit: "ns" as const, width: "100px" });
  return [
    { name: what === "lines" ? "Text" : "Name", help: `${what === "lines" ? "What stands there" : "What it is called"}; press a row to go there`, text: (row) => row.name || "(no text)", width: "minmax(160px, 3fr)" },
    { name: "Line", help: "Where it begins", text: (row) => (row.first === 0 ? "–" : String(row.first)), value: (row) => row.first, width: "70px" },
    { name: "Processor", help: "Processor time by samples, in it and in all that it called", ...time((row) => row.cost.inclusive) },
    { name: "Share", help: "Of all processor time of the run", text: (row) => shareOf(row.cost.inclusive) || "–", value: (row) => row.cost.inclusive, width: "80px" },
    { name: "Own", help: "Of that in its own lines", ...time((row) => row.cost.exclusive) },
    { name: "Calls", help: "Measured calls of libraries from within", text: (row) => (row.cost.calls === 0 ? "–" : count(row.cost.calls)), value: (row) => row.cost.calls, width: "80px" },
    { name: "In calls", help: "How long these took", ...time((row) => row.cost.callTime) },
    { name: "Waiting", help: "Of that, how long was waited for others", ...time((row) => row.cost.waiting) },
    { name: "Data", help: "What these calls moved", text: (row) => (row.cost.bytes === 0 ? "–" : bytes(row.cost.bytes)), value: (row) => row.cost.bytes, unit: "B", width: "90px" },
  ];
}
