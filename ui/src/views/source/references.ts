/**
 * References to elements that other images have, in the text: where they stand in a line, and arrows from where elements are
 * written to where they are read.
 */
import type { SourceFile } from "../../state/source.ts";
import { count, counted } from "../../base/format.ts";
import type { WireEnd, WireReference, WireSymbol } from "../../wire/generated.ts";
import type { Piece } from "./colour.ts";

/** From a letter of the line to the one behind the last. */
type Range = readonly [number, number];

/** By line, where references to other images stand. */
export function remotesOf(file: SourceFile): ReadonlyMap<number, readonly Range[]> {
  const found = new Map<number, Range[]>();
  for (const { line, text, array } of file.head.references) {
    const letters = file.lines[line - 1] ?? "";
    const whole = letters.indexOf(text);
    // One that goes on in the next line is marked to the end of its first.
    const name = letters.toLowerCase().indexOf(array.split("%")[0] ?? array);
    const range: Range | null = whole >= 0 ? [whole, whole + text.length] : name >= 0 ? [name, letters.length] : null;
    if (range !== null) found.set(line, [...(found.get(line) ?? []), range].sort((a, b) => a[0] - b[0]));
  }
  return found;
}

export interface Cut extends Piece {
  readonly isRemote: boolean;
}

/** Pieces of a line, cut where references to other images begin and end. */
export function cutAt(pieces: readonly Piece[], ranges: readonly Range[]): readonly Cut[] {
  const cuts: Cut[] = [];
  let at = 0;
  for (const { text, tone } of pieces) {
    const edges = ranges.flatMap(([from, to]) => [from - at, to - at]).filter((edge) => edge > 0 && edge < text.length);
    const all = [0, ...edges.sort((a, b) => a - b), text.length];
    all.slice(1).forEach((to, nth) => {
      const from = all[nth] ?? 0;
      const isRemote = ranges.some(([first, behind]) => first <= at + from && at + to <= behind);
      if (to > from) cuts.push({ text: text.slice(from, to), tone, isRemote });
    });
    at += text.length;
  }
  return cuts;
}

/** From where elements are written to where they are read. */
export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly isCarried: boolean;
  readonly words: string;
}

/** Arrows of references in some lines, or that lead to these; each once. */
export function arrowsOf(file: SourceFile, first: number, last: number): readonly Arrow[] {
  const isHere = (line: number): boolean => first <= line && line <= last;
  const found = new Map<string, Arrow>();
  for (const reference of file.head.references) {
    for (const end of reference.ends) {
      if (!isHere(reference.line) && !isHere(end.line)) continue;
      const [from, to] = end.end === "written" ? [end.line, reference.line] : [reference.line, end.line];
      const arrow = { from, to, isCarried: end.carried !== null, words: `${reference.text}, line ${reference.line}, ${endWords(file, end)}` };
      if (!found.has(`${from}-${to}`)) found.set(`${from}-${to}`, arrow);
    }
  }
  return [...found.values()].slice(0, MOST_ARROWS);
}

/** More cannot be told apart. */
const MOST_ARROWS = 40;

/** `needs u(i) of line 24, written one iteration of the loop 10–30 before`. */
export function endWords(file: SourceFile, end: WireEnd): string {
  const isNeed = end.end === "written";
  const what = `${isNeed ? "needs" : "feeds"} ${end.text} of line ${end.line}`;
  return `${what}, ${whenWords(file, end)}`;
}

/** When the other end is done, against the reference. */
export function whenWords(file: SourceFile, { end, carried, distance }: WireEnd): string {
  const [done, side] = end === "written" ? ["written", "before"] : ["read", "later"];
  const loop = file.head.loops.find((it) => it.number === carried);
  if (loop === undefined) return `${done} ${side}`;
  const often = distance === 0 ? "some iterations" : distance === 1 ? "one iteration" : `${distance} iterations`;
  return `${done} ${often} of the loop ${loop.first}–${loop.last} ${side}`;
}

/** Which elements and which image, as far as loops say. */
export function moveWords(file: SourceFile, { within, moved_by, turned_by }: WireReference): string {
  if (within === null) return "";
  const by = (number: number | null): string => {
    const loop = file.head.loops.find((it) => it.number === number);
    return loop === undefined ? "" : `the loop ${loop.first}–${loop.last}`;
  };
  const [elements, image] = [by(moved_by), by(turned_by)];
  if (elements === "" && image === "") return "The same elements of the same image in each iteration, as far as the text shows.";
  if (elements === image) return `Elements and image follow ${elements}.`;
  return [elements === "" ? "The same elements in each iteration" : `Elements follow ${elements}`, image === "" ? "of one image." : `the image follows ${image}.`].join(image === "" ? " " : "; ");
}

/** What an expression says: `subscript 2`, `image`. */
function saysWords({ end, subscript }: WireSymbol): string {
  if (end === "image" || end === "subscript") return end === "image" ? "which image" : `subscript ${subscript + 1}`;
  return `${end === "step" ? "step" : `${end} end`} of subscript ${subscript + 1}`;
}

/** `1 to 3 000, changed 5 999 times on each of 2 locations`; empty = nothing that the text does not show by itself. */
export function worthWords({ text, value, worth }: WireSymbol): string {
  if (value !== "") return value === text ? "" : `${value}, as the text says`;
  if (worth === null) return "";
  const { least, greatest, changes, locations } = worth;
  const is = least === greatest ? `always ${count(least)}` : `${count(least)} to ${count(greatest)}`;
  const each = Math.round(changes / locations);
  const often = changes === 0 ? (least === greatest ? "" : ", the same all the time on each location") : `, changed ${each === 0 ? "less than once" : counted(each, "time")} on each of ${counted(locations, "location")}`;
  return `${is}${often}`;
}

/** Expressions of a reference of which there is something to say, in words; each once. */
export function symbolWords({ symbols }: WireReference): readonly { readonly text: string; readonly says: string; readonly worth: string }[] {
  return symbols.map((it) => ({ text: it.text, says: saysWords(it), worth: worthWords(it) })).filter((it) => it.worth !== "");
}
