/**
 * Where rows and lines stand: a row a location, in it a line for each depth of each level; rows of a host beneath its
 * name, or one strip for all of them. Pure.
 */

export interface Row {
  readonly location: number;
  readonly top: number;
  readonly height: number;
  readonly lines: readonly LineBox[];
  /** What stands beneath its lines. */
  readonly tracks: readonly TrackBox[];
}

/** What is to stand beneath the lines of a row. */
export interface Track {
  readonly kind: "counter" | "overlaps";
  /** Which counter; how many lanes. */
  readonly number: number;
  readonly height: number;
}

export interface TrackBox extends Track {
  readonly top: number;
}

export interface LineBox {
  readonly line: number;
  readonly top: number;
  readonly height: number;
}

/** Locations whose rows stand together. */
export interface Together {
  /** `null` = nobody needs to be told. */
  readonly host: string | null;
  /** Whether there is one strip in the place of the rows. */
  readonly isClosed: boolean;
  readonly locations: readonly number[];
  readonly processes: number;
}

/** Where a host is named, or its strip. */
export interface HostBox extends Together {
  readonly host: string;
  readonly top: number;
  readonly height: number;
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly hosts: readonly HostBox[];
  /** Of all rows together, px. */
  readonly height: number;
  /** The box of each line that is shown. */
  readonly boxes: ReadonlyMap<number, LineBox>;
}

/** Between two rows, px. */
const GAP = 4;
/** How high the name of a host is, and the strip of one that is closed. */
const NAME = 20;
const STRIP = 44;
/** A row is at least so high, and a line at most. */
const LEAST_ROW = 14;
const MOST_LINE = 60;
/** On a large screen a line may have this part of it, too. */
const TALLEST = 1 / 12;
/** How high a line is on which next to nothing was recorded, of the others. */
const IDLE = 0.35;
/** Next to nothing: less than this part of the run. */
const LITTLE = 0.02;

/** Rows as high as there is room, or higher than that together if there are too many. `busy` is by line, 0 to 1. */
export function arrange(
  sections: readonly Together[],
  linesOf: readonly (readonly number[])[],
  busy: readonly number[],
  room: number,
  mostLines: number,
  beneath: (location: number) => readonly Track[],
): Layout {
  const linesAt = (location: number): readonly number[] => (linesOf[location] ?? []).slice(0, mostLines);
  const weight = (line: number): number => ((busy[line] ?? 0) < LITTLE ? IDLE : 1);
  const weightOf = (lines: readonly number[]): number => Math.max(lines.reduce((sum, line) => sum + weight(line), 0), 1);
  const open = sections.flatMap((it) => (it.isClosed ? [] : it.locations));
  const total = open.reduce((sum, location) => sum + weightOf(linesAt(location)), 0);
  const below = open.flatMap(beneath).reduce((sum, track) => sum + track.height, 0);
  const above = sections.reduce((sum, it) => sum + (it.host === null ? 0 : GAP + (it.isClosed ? STRIP : NAME)), 0);
  const perLine = Math.min(Math.max(MOST_LINE, room * TALLEST), (room - GAP * open.length - below - above) / Math.max(total, 1));
  const rows: Row[] = [];
  const hosts: HostBox[] = [];
  const boxes = new Map<number, LineBox>();
  let top = 0;
  const add = (location: number): void => {
    const lines = linesAt(location);
    const height = Math.max(LEAST_ROW, Math.floor(perLine * weightOf(lines)));
    const each = height / weightOf(lines);
    let edge = top;
    const inRow = lines.map((line) => {
      const from = Math.round(edge);
      edge += weight(line) * each;
      return { line, top: from, height: Math.max(1, Math.round(edge) - from) };
    });
    inRow.forEach((box) => boxes.set(box.line, box));
    let under = top + height;
    const tracks = beneath(location).map((track): TrackBox => {
      under += track.height;
      return { ...track, top: under - track.height };
    });
    rows.push({ location, top, height, lines: inRow, tracks });
    top = under + GAP;
  };
  for (const section of sections) {
    const { host } = section;
    if (host !== null) {
      const height = section.isClosed ? STRIP : NAME;
      hosts.push({ ...section, host, top, height });
      top += height + GAP;
    }
    if (!section.isClosed) section.locations.forEach(add);
  }
  return { rows, hosts, height: top, boxes };
}

/** Where a row ends, with what stands beneath it. */
export function endOf(row: Row): number {
  const last = row.tracks.at(-1);
  return last === undefined ? row.top + row.height : last.top + last.height;
}

/** The row at a height; `undefined` = between two or behind the last. */
export function rowAt(layout: Layout, y: number): Row | undefined {
  return layout.rows.find((row) => row.top <= y && y < row.top + row.height);
}

/** The line of a row at a height. */
export function lineAt(row: Row, y: number): number | undefined {
  return row.lines.find((box) => box.top <= y && y < box.top + box.height)?.line;
}

/** The name or strip of a host at a height. */
export function hostAt(layout: Layout, y: number): HostBox | undefined {
  return layout.hosts.find((box) => box.top <= y && y < box.top + box.height);
}

/** By location, its row, or the strip that stands for it; gathered once for each layout. */
export function placesOf(layout: Layout): ReadonlyMap<number, Row | HostBox> {
  const known = places.get(layout);
  if (known !== undefined) return known;
  const found = new Map<number, Row | HostBox>(layout.rows.map((row) => [row.location, row]));
  for (const box of layout.hosts) {
    if (box.isClosed) box.locations.forEach((location) => found.set(location, box));
  }
  places.set(layout, found);
  return found;
}

const places = new WeakMap<Layout, ReadonlyMap<number, Row | HostBox>>();
