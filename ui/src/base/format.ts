/** How numbers other than times are written. */
import { grouped, HUGE, power } from "./time.ts";

/** A whole number: `61 204`. */
export function count(value: number): string {
  return grouped(value, 0);
}

/** A share of one: `41.2 %`. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${grouped(value, value !== 0 && Math.abs(value) < 9.95 ? 2 : 1)} %`;
}

/** A size: `41 472 B`, `1.5 MiB`. */
export function bytes(value: number): string {
  if (Math.abs(value) < 100_000) return `${grouped(value, 0)} B`;
  const names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  if (Math.abs(value) >= 2 ** 70) return `${power(value)} B`;
  let scaled = value / 1024;
  let place = 0;
  while (Math.abs(scaled) >= 1024 && place < names.length - 1) {
    scaled /= 1024;
    place += 1;
  }
  return `${grouped(scaled, scaled < 10 ? 2 : 1)} ${names[place]}`;
}

const LARGE = ["", "k", "M", "G", "T", "P", "E"];

/** Less than this is written as a power of ten: six digits would not tell it from nothing. */
const TINY = 1e-4;

/** A number with three or four digits that count: `0.250`, `12.5`, `4 096`, `2.41 G`, `1.00 × 10³⁰⁰`. */
export function short(value: number): string {
  const size = Math.abs(value);
  if (!(size < HUGE) || (size > 0 && size < TINY)) return power(value);
  if (Number.isInteger(value) && size < 100_000) return grouped(value, 0);
  const step = size < 100_000 ? 0 : Math.min(Math.floor(Math.log10(size) / 3), LARGE.length - 1);
  const scaled = value / 1000 ** step;
  const digits = Math.min(Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(scaled), 1e-9)))), 6);
  return `${grouped(scaled, digits)}${step === 0 ? "" : ` ${LARGE[step]}`}`;
}

/** `1 message`, `3 112 messages`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `comm_brick.cpp:553`; empty if the file is not known. */
export function place(file: string, line: number): string {
  if (file === "") return "";
  return line > 0 ? `${fileName(file)}:${line}` : fileName(file);
}

/** By path, as much of its end as tells it from the others. Paths of one name are cut at one more part each time, so that many of them take no longer than they are long. */
export function shortPaths(paths: readonly string[]): ReadonlyMap<string, string> {
  const short = new Map<string, string>();
  let open = [...new Set(paths)].map((path) => ({ path, at: path.length }));
  while (open.length > 0) {
    const byEnd = new Map<string, number>();
    const ends = open.map(({ path, at }) => {
      const next = at === 0 ? -1 : path.lastIndexOf("/", at - 1);
      const end = path.slice(next + 1);
      byEnd.set(end, (byEnd.get(end) ?? 0) + 1);
      return { path, at: Math.max(next, 0), end, isWhole: next < 0 };
    });
    for (const { path, end, isWhole } of ends) if (isWhole || byEnd.get(end) === 1) short.set(path, isWhole ? path : end);
    open = ends.filter(({ path }) => !short.has(path));
  }
  return short;
}
