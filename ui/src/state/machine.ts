/**
 * Machine code that the run keeps: which stretches of it the source is in that is looked at, and the instructions of one.
 *
 * The one idea: the line that is meant says which code is shown, so text and code are always of each other; of several that
 * have the line, as where it was inlined, one may be chosen. What is shown stays until the other is there.
 */
import { batch, computed, effect, signal } from "@preact/signals";

import type { WireCode } from "../wire/generated.ts";
import { engine, fail } from "./run.ts";
import { chosenFile, chosenPlace, isMachine, lookAtLine, source, sourceFile, type SourcePlace } from "./source.ts";

/** An instruction. Times in ns, of all locations together. */
export interface Instruction {
  readonly address: number;
  readonly text: string;
  /** The function that it leads to; empty = none, or not known. */
  readonly leadsTo: string;
  /** The function that was inlined there; empty = none. */
  readonly inlined: string;
  /** Number of the source; `null` = not known. */
  readonly file: number | null;
  /** 0 = not known. */
  readonly line: number;
  readonly own: number;
  readonly samples: number;
  readonly withCalls: number;
}

/** A stretch of code that was read. */
export interface MachineCode {
  readonly code: WireCode;
  readonly module: string;
  readonly leftOut: number;
  readonly all: readonly Instruction[];
}

/** Which code has which lines of a source. */
interface OfFile {
  readonly file: number;
  readonly codes: readonly WireCode[];
  /** By line, numbers of codes, that with most samples at the line first. */
  readonly at: ReadonlyMap<number, readonly number[]>;
}

const ofFile = signal<OfFile | null>(null);
/** The code that was chosen among several. */
export const chosenCode = signal<number | null>(null);
/** The instruction that was chosen, with the line that this led to: it is meant as long as that is. */
const chosen = signal<{ readonly code: number; readonly address: number; readonly place: SourcePlace | null } | null>(null);
/** The code that is shown, or was before what is meant is there. */
export const machineCode = signal<MachineCode | null>(null);

/** Codes that have the line that is meant; else those of its function; without a line all of the source. `null` = being read. */
export const codesHere = computed<readonly WireCode[] | null>(() => {
  const [known, place] = [ofFile.value, chosenPlace.value];
  if (known === null || known.file !== chosenFile.value) return null;
  if (place === null || place.line === 0) return known.codes;
  const byNumber = new Map(known.codes.map((it) => [it.number, it]));
  const exact = known.at.get(place.line)?.flatMap((it) => byNumber.get(it) ?? []);
  if (exact !== undefined) return exact;
  const around = sourceFile.value?.head.file === known.file ? sourceFile.value.functionAt(place.line) : null;
  if (around === null) return [];
  const within = new Set([...known.at].flatMap(([line, numbers]) => (around.first <= line && line <= around.last ? numbers : [])));
  return known.codes.filter(({ number }) => within.has(number));
});

/** The code that is meant; `null` = there is none. */
export const codeHere = computed<WireCode | null>(() => codesHere.value?.find(({ number }) => number === chosenCode.value) ?? codesHere.value?.[0] ?? null);

/** The address of the instruction that is meant in the code that is shown. */
export const instructionHere = computed<number | null>(() => {
  const it = chosen.value;
  return it !== null && it.code === machineCode.value?.code.number && it.place === chosenPlace.value ? it.address : null;
});

/** Chooses an instruction and its line. The code stays, whatever else has the line. */
export function chooseInstruction({ code }: MachineCode, { address, file, line }: Instruction): void {
  batch(() => {
    chosenCode.value = code.number;
    const path = file === null ? undefined : source.peek()?.files[file]?.path;
    const now = chosenPlace.peek();
    if (path !== undefined && line > 0 && (now?.path !== path || now.line !== line)) lookAtLine(path, line);
    chosen.value = { code: code.number, address, place: chosenPlace.peek() };
  });
}

/** Follows the line while machine code is looked at; returns what ends it. */
export function followMachine(): () => void {
  const files = effect(() => {
    const file = chosenFile.value;
    if (!isMachine.value || file === null || source.value?.has_code !== true || ofFile.peek()?.file === file) return;
    void readCodes(file).then((found) => {
      if (chosenFile.peek() === file) ofFile.value = found;
    }, fail);
  });
  const code = effect(() => {
    const number = isMachine.value ? codeHere.value?.number : undefined;
    if (number === undefined || machineCode.peek()?.code.number === number) return;
    void readCode(number).then((found) => {
      if (codeHere.peek()?.number === number) machineCode.value = found;
    }, fail);
  });
  return () => {
    files();
    code();
  };
}

async function readCodes(file: number): Promise<OfFile> {
  const frame = await engine.sourceCodes(file);
  const lines = frame.u32("line");
  const at = new Map<number, number[]>();
  frame.u32("code").forEach((code, row) => {
    const line = lines[row] ?? 0;
    const known = at.get(line);
    if (known === undefined) at.set(line, [code]);
    else known.push(code);
  });
  return { file, codes: frame.head.codes, at };
}

/** As the archive has it. */
const UNKNOWN = 4294967295;

async function readCode(number: number): Promise<MachineCode> {
  const frame = await engine.sourceCode(number);
  const { code, module, left_out, instructions } = frame.head;
  const [address, own, samples, withCalls] = ["address", "own", "samples", "with_calls"].map((name) => frame.f64(name));
  const [files, lines] = [frame.u32("file"), frame.u32("line")];
  const all = instructions.map(
    (it, at): Instruction => ({
      address: address?.[at] ?? 0,
      text: it.text,
      leadsTo: it.leads_to,
      inlined: it.inlined,
      file: files[at] === UNKNOWN ? null : (files[at] ?? null),
      line: lines[at] ?? 0,
      own: own?.[at] ?? 0,
      samples: samples?.[at] ?? 0,
      withCalls: withCalls?.[at] ?? 0,
    }),
  );
  return { code, module, leftOut: left_out, all };
}
