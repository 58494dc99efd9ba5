/** Differences in words: signs, reasons, places. Pure. */
import { bytes, count, percent, place } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import type { Difference, Why, WirePlace } from "../../wire/generated.ts";

/** A number with its sign, however it is written. */
export function signed(value: number, written: (size: number) => string): string {
  if (value === 0) return written(0);
  return `${value > 0 ? "+" : "−"}${written(Math.abs(value))}`;
}

/** How much more that is: `+12.0 %`; from nothing it is new, to nothing it is gone. */
export function relative(old: number, fresh: number): string {
  if (old === fresh) return "0 %";
  if (old === 0) return "new";
  if (fresh === 0) return "gone";
  const part = (fresh - old) / Math.abs(old);
  return part >= 9.995 ? `×${count(part + 1)}` : signed(part, percent);
}

export function tone(difference: number): "more" | "less" | null {
  return difference > 0 ? "more" : difference < 0 ? "less" : null;
}

/** What is done in a place. */
export function doing(at: WirePlace): string {
  switch (at.activity) {
    case "call":
      return at.name === "" ? "(unknown)" : at.name;
    case "outside":
      return "computation between calls";
    case "not-started":
      return "before threads start, after they end";
    case "before":
      return "before the path begins";
  }
}

/** From where it is called. */
export function calledFrom(at: WirePlace): string {
  return `${briefly(at.function)} ${place(at.file, at.line)}`.trim();
}

/** The last of the names that functions of C++ are made of. */
function briefly(name: string): string {
  return name.replace(/\(.*$/s, "").split("::").slice(-2).join("::");
}

/** A number of visits; means of processes need not be whole. */
export function visits(number: number): string {
  return Number.isInteger(number) ? count(number) : number.toFixed(1);
}

/** What made most of a difference. */
export function reason(row: Difference): string {
  const why: Why | null = row.why;
  if (why === null) return "";
  const times = `${duration(why.new)} instead of ${duration(why.old)}`;
  switch (why.what) {
    case "new":
      return `new: ${visits(why.new)} ${why.new === 1 ? "call" : "calls"}`;
    case "gone":
      return `gone: there were ${visits(why.old)} ${why.old === 1 ? "call" : "calls"}`;
    case "calls":
      return `${visits(why.new)} calls instead of ${visits(why.old)}`;
    case "each":
      return `each call takes ${times}`;
    case "waiting":
      return `waits ${times}${why.place === null ? "" : `, for ${inPlace(why.place)}`}`;
    case "computing":
      return `in all ${times}${why.function === "" ? "" : `, most in ${briefly(why.function)}`}`;
    case "shifted":
      return row.new > row.old ? "not longer in all, but more of it is on the path" : "not shorter in all, but less of it is on the path";
  }
}

function inPlace(at: WirePlace): string {
  return at.function === "" ? doing(at) : `${doing(at)} in ${briefly(at.function)}`;
}

export function calls(row: Difference): string {
  return pairOf(row.calls, visits);
}

export function data(row: Difference): string {
  const isNone = row.bytes === null || (row.bytes[0] === 0 && row.bytes[1] === 0);
  return isNone ? "" : pairOf(row.bytes, bytes);
}

/** Both numbers, or one if they are the same. */
function pairOf(pair: readonly [number, number] | null, written: (value: number) => string): string {
  if (pair === null) return "";
  const [old, fresh] = [written(pair[0]), written(pair[1])];
  return old === fresh ? old : `${old} → ${fresh}`;
}
