/**
 * The worker of a page that holds its run: unpacks the engine and the run, opens it, answers requests one by one.
 *
 * The one idea: what is unpacked goes straight to where the engine wants it, piece by piece, so that there are never two
 * copies of a run. It imports nothing at run time: the page carries it as a text.
 */
import type { Answered, Asked, Packed, Parts } from "./worker.ts";

/** What crates/marey-page exports. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  marey_room(length: number): number;
  marey_take_report(): void;
  marey_take_name(): void;
  marey_take_other(): void;
  marey_take_compare(): void;
  marey_take_iterations(): void;
  marey_open(): number;
  marey_answer(): number;
  marey_output(): number;
}

/** More of Base64 than this is not turned into bytes at a time. */
const STEP = 1 << 20;

const worker = self as unknown as {
  onmessage: ((event: MessageEvent<Parts | Asked>) => void) | null;
  postMessage(answer: Answered, transfer?: Transferable[]): void;
};

let opened: Promise<Exports> | null = null;

worker.onmessage = ({ data }) => {
  if ("engine" in data) opened = open(data);
  else void answer(data);
};

async function answer({ id, request }: Asked): Promise<void> {
  try {
    if (opened === null) throw new Error("nothing was opened");
    const engine = await opened;
    write(engine, new TextEncoder().encode(request));
    const frame = output(engine, engine.marey_answer());
    worker.postMessage({ id, frame }, [frame]);
  } catch (error) {
    // Whatever broke down inside of the engine leaves it in a state that nobody knows.
    const isBroken = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    worker.postMessage({ id, error: error instanceof Error ? error.message : String(error), isBroken });
  }
}

async function open(parts: Parts): Promise<Exports> {
  if (typeof WebAssembly === "undefined" || typeof DecompressionStream === "undefined") {
    throw new Error("the engine of this page cannot be started: this browser is too old for it, or is told to run no WebAssembly. Open the page in another one");
  }
  const code = new Uint8Array(parts.engine.bytes);
  await unpack(parts.engine, (piece, at) => code.set(piece, at));
  const { instance } = await WebAssembly.instantiate(code);
  const engine = instance.exports as unknown as Exports;
  const into = async (packed: Packed, told: (done: number) => void): Promise<void> => {
    const start = engine.marey_room(packed.bytes);
    await unpack(packed, (piece, at) => {
      new Uint8Array(engine.memory.buffer, start + at, piece.length).set(piece);
      told((at + piece.length) / packed.bytes);
    });
  };
  await into(parts.report, () => undefined);
  engine.marey_take_report();
  await into(parts.name, () => undefined);
  engine.marey_take_name();
  if (parts.beside !== null) {
    await into(parts.beside.name, () => undefined);
    engine.marey_take_other();
    await into(parts.beside.compare, () => undefined);
    engine.marey_take_compare();
    await into(parts.beside.iterations, () => undefined);
    engine.marey_take_iterations();
  }
  await into(parts.run, (progress) => worker.postMessage({ progress }));
  const length = engine.marey_open();
  if (length > 0) throw new Error(new TextDecoder().decode(output(engine, length)));
  return engine;
}

function write(engine: Exports, bytes: Uint8Array): void {
  const start = engine.marey_room(bytes.length);
  new Uint8Array(engine.memory.buffer, start, bytes.length).set(bytes);
}

/** A copy of what the engine has told. */
function output(engine: Exports, length: number): ArrayBuffer {
  const start = engine.marey_output();
  return engine.memory.buffer.slice(start, start + length) as ArrayBuffer;
}

/** Hands out what was packed, piece by piece, each with its place; more or less than was said is an error. */
async function unpack(packed: Packed, each: (piece: Uint8Array, at: number) => void): Promise<void> {
  const stream = new DecompressionStream("gzip");
  const writer = stream.writable.getWriter();
  // What goes wrong here is met by who reads, and ends the wait for more.
  const written = write().catch((why: unknown) => writer.abort(why).catch(() => undefined));
  async function write(): Promise<void> {
    for (const text of packed.texts) {
      for (let from = 0; from < text.length; from += STEP) await writer.write(bytesOf(text.slice(from, from + STEP)));
    }
    await writer.close();
  }
  const reader = stream.readable.getReader();
  let at = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (at + value.length > packed.bytes) throw new Error("this page is damaged: it holds more than it should");
    each(value, at);
    at += value.length;
  }
  await written;
  if (at < packed.bytes) throw new Error("this page is damaged: a part of it is missing");
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = lettersOf(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

function lettersOf(text: string): string {
  try {
    return atob(text);
  } catch {
    throw new Error("this page is damaged: it was cut off, or changed on its way");
  }
}
