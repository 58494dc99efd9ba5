/**
 * Frames as marey-serve makes them: the length of the head, the head in JSON, columns of numbers behind it. Columns are
 * used where they lie, nothing is copied.
 */
import { parsed } from "../base/text.ts";

type Column = Uint32Array | Float64Array | Float32Array;

export interface Frame<Head> {
  readonly kind: string;
  readonly head: Head;
  u32(name: string): Uint32Array;
  f64(name: string): Float64Array;
  f32(name: string): Float32Array;
}

interface Entry {
  readonly name: string;
  readonly type: "u32" | "f64" | "f32";
  readonly at: number;
  readonly length: number;
}

interface Whole<Head> {
  readonly kind: string;
  readonly head: Head;
  readonly columns: readonly Entry[];
}

/** Opens a frame. One that is not whole is an error. */
export function frame<Head>(bytes: ArrayBuffer): Frame<Head> {
  const size = new DataView(bytes).getUint32(0, true);
  const whole = parsed(new TextDecoder().decode(new Uint8Array(bytes, 4, size))) as Whole<Head>;
  const columns = new Map<string, Column>();
  for (const entry of whole.columns) columns.set(entry.name, view(bytes, entry));
  function column<T extends Column>(name: string, type: new () => T): T {
    const found = columns.get(name);
    if (!(found instanceof type)) throw new Error(`the answer has no column ${name} of this type`);
    return found;
  }
  return {
    kind: whole.kind,
    head: whole.head,
    u32: (name) => column(name, Uint32Array),
    f64: (name) => column(name, Float64Array),
    f32: (name) => column(name, Float32Array),
  };
}

function view(bytes: ArrayBuffer, entry: Entry): Column {
  switch (entry.type) {
    case "u32":
      return new Uint32Array(bytes, entry.at, entry.length);
    case "f64":
      return new Float64Array(bytes, entry.at, entry.length);
    case "f32":
      return new Float32Array(bytes, entry.at, entry.length);
  }
}
