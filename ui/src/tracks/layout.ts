/**
 * Where rows and lines stand: a row a location, in it a line for each depth of each level. Pure.
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
  readonly kind: "counter";
  /** Which counter. */
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

export interface Layout {
  readonly rows: readonly Row[];
  /** Of all rows together, px. */
  readonly height: number;
  /** The box of each line that is shown. */
  readonly boxes: ReadonlyMap<number, LineBox>;
}

/** Between two rows, px. */
const GAP = 4;
/** A row is at least so high, and a line at most. */
const LEAST_ROW = 14;
const MOST_LINE = 60;
/** How high a line is on which next to nothing was recorded, of the others. */
const IDLE = 0.35;
/** Next to nothing: less than this part of the run. */
const LITTLE = 0.02;

/** Rows as high as there is room, or higher than that together if there are too many. `busy` is by line, 0 to 1. */
export function arrange(
  locations: readonly number[],
  linesOf: readonly (readonly number[])[],
  busy: readonly number[],
  room: number,
  mostLines: number,
  beneath: (location: number) => readonly Track[],
): Layout {
  const shown = locations.map((location) => (linesOf[location] ?? []).slice(0, mostLines));
  const weight = (line: number): number => ((busy[line] ?? 0) < LITTLE ? IDLE : 1);
  const weightOf = (lines: readonly number[]): number => Math.max(lines.reduce((sum, line) => sum + weight(line), 0), 1);
  const total = shown.reduce((sum, lines) => sum + weightOf(lines), 0);
  const tracks = locations.map(beneath);
  const below = tracks.flat().reduce((sum, track) => sum + track.height, 0);
  const perLine = Math.min(MOST_LINE, (room - GAP * locations.length - below) / Math.max(total, 1));
  const rows: Row[] = [];
  const boxes = new Map<number, LineBox>();
  let top = 0;
  locations.forEach((location, place) => {
    const lines = shown[place] ?? [];
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
    const boxed = (tracks[place] ?? []).map((track): TrackBox => {
      under += track.height;
      return { ...track, top: under - track.height };
    });
    rows.push({ location, top, height, lines: inRow, tracks: boxed });
    top = under + GAP;
  });
  return { rows, height: top, boxes };
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
