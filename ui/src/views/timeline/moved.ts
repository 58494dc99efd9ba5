/**
 * The picture while a clock is being moved: what the locations of one process did lies elsewhere.
 *
 * The one idea: nearly all of it belongs to single rows, and rows are shifted as they were drawn. Only lines from row to row
 * change their shape, so those that end in a moved row are told from all others. A file has all of it drawn anew.
 */
import { parted, withExtents, type Collectives } from "../../tracks/collectives.ts";
import type { Layout } from "../../tracks/layout.ts";
import type { Messages } from "../../tracks/messages.ts";
import type { Scene } from "./draw.ts";
import type { Picture } from "./fetch.ts";

/** What is moved, and by how much, ns. */
export interface Moved {
  /** The same sets as long as it is the same process. */
  readonly locations: ReadonlySet<number>;
  readonly lines: ReadonlySet<number>;
  readonly by: number;
}

/** When something of a location is drawn. */
export function timeOf(moved: Moved | null, location: number | null, time: number): number {
  return moved !== null && location !== null && moved.locations.has(location) ? time + moved.by : time;
}

interface Parts {
  readonly of: ReadonlySet<number>;
  /** Lines that end in a row that is moved, where they were; and all others. */
  readonly messages: Messages | null;
  readonly operations: Collectives | null;
  readonly others: Picture;
}

const known = new WeakMap<Picture, Parts>();

function partsOf(picture: Picture, { locations: of }: Moved): Parts {
  const found = known.get(picture);
  if (found?.of === of) return found;
  const { messages, operations } = picture;
  const both = operations === null ? null : parted(operations, (location) => of.has(location));
  const parts = { of, messages: messages === null ? null : ownOf(messages, of), operations: both?.own ?? null, others: { ...picture, operations: both?.others ?? null } };
  known.set(picture, parts);
  return parts;
}

function ownOf(all: Messages, of: ReadonlySet<number>): Messages {
  const places = Array.from(all.from.keys()).filter((at) => of.has(all.from[at] ?? -1) || of.has(all.to[at] ?? -1));
  const numbers = (values: Uint32Array): Uint32Array => Uint32Array.from(places, (at) => values[at] ?? 0);
  const times = (values: Float64Array): Float64Array => Float64Array.from(places, (at) => values[at] ?? NaN);
  return { from: numbers(all.from), sent: times(all.sent), to: numbers(all.to), received: times(all.received), count: numbers(all.count), bytes: times(all.bytes), tag: times(all.tag) };
}

/** How many lines there are of each kind: as pale as among all of them are those that are drawn alone. */
function amongOf({ messages, operations }: Picture): NonNullable<Scene["among"]> {
  return { messages: messages?.from.length ?? 0, operations: operations?.behind.length ?? 0 };
}

/** What is drawn of lines from row to row that stay where they are. */
export function stillScene(scene: Scene, picture: Picture, moved: Moved): Scene {
  const { isMeant } = scene;
  const isStill = (from: number, to: number): boolean => !moved.locations.has(from) && !moved.locations.has(to);
  return { ...scene, picture: partsOf(picture, moved).others, among: amongOf(picture), isMeant: (from, to) => isStill(from, to) && isMeant?.(from, to) !== false };
}

/** What is drawn of lines that end in a row that is moved. The critical path follows when the clock is kept. */
export function movedScene(scene: Scene, picture: Picture, moved: Moved): Scene {
  const { messages, operations } = partsOf(picture, moved);
  return { ...scene, picture: { ...picture, path: null, messages: messages === null ? null : movedMessages(messages, moved), operations: operations === null ? null : movedOperations(operations, moved) }, among: amongOf(picture) };
}

/** A layout in two: the rows that are moved, and all others. */
export function movedRows(layout: Layout, moved: Moved): { readonly own: Layout; readonly others: Layout } {
  const of = (isOwn: boolean): Layout => ({
    ...layout,
    rows: layout.rows.filter((row) => moved.locations.has(row.location) === isOwn),
    boxes: new Map([...layout.boxes].filter(([line]) => moved.lines.has(line) === isOwn)),
  });
  return { own: of(true), others: of(false) };
}

/** All of a scene where it is moved to, as a file has it. Counters and the critical path follow when the clock is kept. */
export function bakedScene(scene: Scene): Scene {
  const { moved, picture, run } = scene;
  if (moved === null) return scene;
  const lives = run.locations.map((it, location) => (moved.locations.has(location) ? { ...it, start_ns: it.start_ns + moved.by, end_ns: it.end_ns + moved.by } : it));
  return { ...scene, run: { ...run, locations: lives }, picture: picture === null ? null : movedPicture(picture, moved) };
}

function movedPicture(picture: Picture, moved: Moved): Picture {
  const { states, waits, messages, operations, events } = picture;
  const { lines, locations } = moved;
  return {
    ...picture,
    states: { ...states, start: along(states.start, states.line, lines, moved) },
    waits: waits === null ? null : { ...waits, start: along(waits.start, waits.line, lines, moved) },
    messages: messages === null ? null : movedMessages(messages, moved),
    events: events === null ? null : { ...events, time: along(events.time, events.location, locations, moved), last: along(events.last, events.location, locations, moved) },
    operations: operations === null ? null : movedOperations(operations, moved),
  };
}

function along(times: Float64Array, keys: Uint32Array, which: ReadonlySet<number>, { by }: Moved): Float64Array {
  return times.map((time, at) => (which.has(keys[at] ?? -1) ? time + by : time));
}

function movedMessages(all: Messages, moved: Moved): Messages {
  return { ...all, sent: along(all.sent, all.from, moved.locations, moved), received: along(all.received, all.to, moved.locations, moved) };
}

function movedOperations(all: Collectives, moved: Moved): Collectives {
  return withExtents({ ...all, enter: along(all.enter, all.location, moved.locations, moved), leave: along(all.leave, all.location, moved.locations, moved) });
}
