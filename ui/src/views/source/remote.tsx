/** What lines ask of other images: the reference as written, what it cost when the program ran, and what it depends on. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, count, counted, percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { chooseArray } from "../../state/data.ts";
import { lookAtLine, source, type SourceFile } from "../../state/source.ts";
import { view } from "../../state/view.ts";
import type { WireReference, WireSourceStatement } from "../../wire/generated.ts";
import { moveWords, symbolWords, whenWords } from "./references.ts";

interface Props {
  readonly file: SourceFile;
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** References and statements that belong to each other. */
interface Asked {
  readonly line: number;
  readonly references: readonly WireReference[];
  readonly statements: readonly WireSourceStatement[];
}

/** More are not listed: a loop of so many is looked at line by line. */
const MOST = 30;

export function Remote({ file, path, first, last }: Props): JSX.Element | null {
  const all = askedOf(file, first, last);
  if (all.length === 0) return null;
  return (
    <section aria-label="Arrays of several processes">
      <h2 title="References to elements that other images have, as the text has them, and what was done to arrays from these lines when the program ran">Across processes</h2>
      <ul class="source-remotes">
        {all.slice(0, MOST).map((it) => (
          <One file={file} path={path} it={it} />
        ))}
      </ul>
      {all.length > MOST ? <p class="muted">{`${counted(all.length - MOST, "more line")} ${all.length - MOST === 1 ? "does" : "do"} so.`}</p> : null}
    </section>
  );
}

/** By line, those first that took longest. */
function askedOf(file: SourceFile, first: number, last: number): readonly Asked[] {
  const isHere = ({ line }: { readonly line: number }): boolean => first <= line && line <= last;
  const [references, statements] = [file.head.references.filter(isHere), file.head.statements.filter(isHere)];
  const lines = new Set([...references, ...statements].map((it) => it.line));
  const all = [...lines].map((line) => ({ line, references: references.filter((it) => it.line === line), statements: statements.filter((it) => it.line === line) }));
  return all.sort((a, b) => timeOf(b) - timeOf(a) || a.line - b.line);
}

const timeOf = ({ statements }: Asked): number => statements.reduce((sum, it) => sum + it.time_ns, 0);

function One({ file, path, it }: { readonly file: SourceFile; readonly path: string; readonly it: Asked }): JSX.Element {
  return (
    <li>
      <p>
        <button type="button" class="link" title="Go to this line" onClick={() => lookAtLine(path, it.line)}>
          {`Line ${count(it.line)}`}
        </button>
        {it.references.map((reference) => (
          <>
            {" "}
            {DOES[reference.does] ?? reference.does} <code class="line-remote">{reference.text}</code>
          </>
        ))}
      </p>
      {it.statements.map((statement) => (
        <p>
          <Cost it={statement} />
        </p>
      ))}
      {it.references.map((reference) => (
        <>
          {moveWords(file, reference) === "" ? null : <p class="muted">{moveWords(file, reference)}</p>}
          {symbolWords(reference).map(({ text, says, worth }) => (
            <p class="source-end" title="What this expression was worth when the program ran, as single accesses tell: the least and the greatest, and how often it was another than before. Subscripts count as the array was made.">
              <code>{text}</code> <span class="muted">{`(${says}):`}</span> {worth}
            </p>
          ))}
          {reference.ends.map((end) => (
            <p class="source-end">
              {end.end === "written" ? "← needs" : "→ feeds"}{" "}
              <button type="button" class="link" title="Go to this line; an arrow leads there in the text" onClick={() => lookAtLine(path, end.line)}>
                <code>{end.text}</code>
              </button>{" "}
              <span class="muted">{`line ${end.line}, ${whenWords(file, end)}`}</span>
            </p>
          ))}
        </>
      ))}
    </li>
  );
}

const DOES: Readonly<Record<string, string>> = { read: "reads", write: "writes", either: "hands on" };

/** What a statement came to, in words. */
function Cost({ it }: { readonly it: WireSourceStatement }): JSX.Element {
  const { whole_ns: whole, communication_ns: communication } = source.value ?? { whole_ns: 0, communication_ns: 0 };
  const ofCommunication = communication === 0 || !it.communicates ? "" : ` and ${percent(it.time_ns / communication)} of all communication`;
  const share = whole === 0 ? "" : `, ${percent(it.time_ns / whole)} of the time of all threads${ofCommunication}`;
  const moved = it.moves ? `, ${bytes(it.bytes)}` : "";
  const goes = it.pattern === "" ? "" : `; data goes: ${it.pattern}`;
  const beneath = it.transfers === 0 ? "" : `; ${counted(it.transfers, "transfer")} beneath`;
  const name = it.name === "" ? "(without a name)" : it.name;
  return (
    <>
      <b>{it.verb}</b>{" "}
      <button
        type="button"
        class="link"
        title="How this array lies with the processes, and which of its elements are referred to: the view Data"
        onClick={() =>
          batch(() => {
            chooseArray({ name: it.name, number: it.array });
            view.value = "data";
          })
        }
      >
        <code>{name}</code>
      </button>
      {`: ${count(it.accesses)} ×${moved}, ${duration(it.time_ns)}${share}${goes}${beneath}`}
    </>
  );
}
