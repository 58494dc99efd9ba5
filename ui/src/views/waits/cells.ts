/**
 * Waiting, delays and the critical path as cells: a time for what it is, where in the program, and who.
 *
 * The one idea: each of the three is a side of the same cells. What is chosen on one side limits what is added up on the
 * other two, so that each shows what belongs to the choice, and its own side shows among what it was chosen.
 */
import { place } from "../../base/format.ts";
import type { DelayRow, PathRow, WaitRow } from "../../wire/report.ts";

export type Kind = "Waiting" | "Delays" | "Critical path";

/** Times of different kinds are never added up: a delay is the cause of waiting, and both may lie on the critical path. */
export const KINDS: readonly Kind[] = ["Waiting", "Delays", "Critical path"];

export interface Cell {
  readonly kind: Kind;
  /** Which of its kind; empty = it has no kinds of its own. */
  readonly what: string;
  readonly where: string;
  /** Of that place the region; empty = computation between calls. */
  readonly region: string;
  readonly who: string;
  readonly time: number;
}

/** What is chosen; `null` = all of it. */
export interface Choice {
  readonly kind: Kind;
  readonly what: string | null;
  readonly where: string | null;
  readonly who: string | null;
}

/** A row of one of the sides. */
export interface Sum {
  readonly name: string;
  readonly region: string;
  readonly time: number;
}

/** What explains a run, or a part of it. */
export interface Explained {
  readonly waits: readonly WaitRow[];
  readonly delays: readonly DelayRow[];
  readonly critical_path: readonly PathRow[];
}

export function cellsOf(explained: Explained): readonly Cell[] {
  const named = (row: { region: string; function: string; file: string; line: number }): { where: string; region: string } => {
    const within = `${row.function} ${place(row.file, row.line)}`.trim();
    const what = row.region === "" ? "computation between calls" : row.region;
    return { where: within === "" ? what : `${what} in ${within}`, region: row.region };
  };
  return [
    ...explained.waits.map((row): Cell => ({ kind: "Waiting", what: row.pattern, ...named(row), who: row.location, time: row.wait_ns })),
    ...explained.delays.flatMap((row): Cell[] => [
      { kind: "Delays", what: "waited for it", ...named(row), who: row.location, time: row.short_term_ns },
      { kind: "Delays", what: "through chains", ...named(row), who: row.location, time: row.long_term_ns },
    ]),
    ...explained.critical_path.map((row): Cell => ({ kind: "Critical path", what: row.region === "" ? "computation" : "calls", ...named(row), who: row.location, time: row.time_ns })),
  ];
}

export type Side = "what" | "where" | "who";

/** The rows of a side: what is chosen on the other two is added up. */
export function sums(cells: readonly Cell[], choice: Choice, side: Side): readonly Sum[] {
  const found = new Map<string, { region: string; time: number }>();
  for (const cell of cells) {
    const isMeant = (other: Side): boolean => other === side || choice[other] === null || choice[other] === cell[other];
    if (cell.kind !== choice.kind || !isMeant("what") || !isMeant("where") || !isMeant("who")) continue;
    const sum = found.get(cell[side]);
    if (sum === undefined) found.set(cell[side], { region: cell.region, time: cell.time });
    else sum.time += cell.time;
  }
  return [...found].map(([name, { region, time }]) => ({ name, region, time })).filter((row) => row.time > 0);
}
