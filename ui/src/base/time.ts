/**
 * Times: instants and spans in ns since the start of the run, and how they are written.
 *
 * A number has 53 bits, so ns are exact for 104 days. No DOM, no framework.
 */

/** ns since the start of the run, or a length in ns. */
export type Nanos = number & { readonly __unit: "ns" };

/** From an instant to the one behind the last. */
export interface Span {
  readonly from: Nanos;
  readonly to: Nanos;
}

export function ns(value: number): Nanos {
  return value as Nanos;
}

export function length(span: Span): Nanos {
  return ns(span.to - span.from);
}

/** The span inside the bounds, as long as before if it fits. */
export function moveInto(span: Span, bounds: Span): Span {
  const size = Math.min(length(span), length(bounds));
  const from = Math.min(Math.max(span.from, bounds.from), bounds.to - size);
  return { from: ns(from), to: ns(from + size) };
}

/** Shorter than this no span gets, ns. */
export const SHORTEST = 20;

/** The span by a factor shorter (or longer), an instant staying where it is; the shortest stays where it is altogether. */
export function zoom(span: Span, factor: number, at: number): Span {
  const by = Math.min(factor, Math.max(length(span) / SHORTEST, 1));
  const from = Math.round(at - (at - span.from) / by);
  // Both ends rounded by themselves would make it shorter than the shortest, or longer.
  return { from: ns(from), to: ns(from + Math.max(Math.round(length(span) / by), 1)) };
}

const UNITS = [
  { name: "s", size: 1e9 },
  { name: "ms", size: 1e6 },
  { name: "µs", size: 1e3 },
  { name: "ns", size: 1 },
] as const;

/** A length of time with three or four digits that count: `6.418 ms`. */
export function duration(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  const unit = UNITS.find((it) => size >= it.size * 0.9995) ?? UNITS[3];
  const scaled = value / unit.size;
  const digits = unit.name === "ns" ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(scaled), 1))));
  return `${grouped(scaled, unit.name === "s" && size >= 1e11 ? 1 : digits)} ${unit.name}`;
}

/** The instant behind the last of a span, as requests have it: what begins in the very last nanosecond of the run is in the run. */
export function behind(to: number, { to: end }: Span): number {
  return to >= end ? Math.ceil(end) + 1 : Math.ceil(to);
}

/** An instant, exactly: `0.446 213 708 s`. */
export function instant(value: number): string {
  const sign = value < 0 ? "−" : "";
  // Those under the pointer lie between two of whole nanoseconds.
  const size = Math.round(Math.abs(value));
  const whole = Math.floor(size / 1e9);
  const rest = String(size % 1e9).padStart(9, "0");
  return `${sign}${grouped(whole, 0)}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)} s`;
}

/** From here on numbers are written as powers of ten: nobody counts so many digits, nor are there so many that are true. */
export const HUGE = 1e21;

/** `1.00 × 10³⁰⁰`; `∞`, and `–` of what is no number. */
export function power(value: number): string {
  if (Number.isNaN(value)) return "–";
  const sign = value < 0 ? "−" : "";
  if (!Number.isFinite(value)) return `${sign}∞`;
  const [digits = "", exponent = "0"] = Math.abs(value).toExponential(2).split("e");
  const raised = [...String(Number(exponent))].map((it) => (it === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(it)])).join("");
  return `${sign}${digits} × 10${raised}`;
}

/** Steps of an axis: at most so many in a span, each 1, 2 or 5 times a power of ten. */
export function ticks(span: Span, most: number): { readonly step: number; readonly at: readonly number[] } {
  const rough = Math.max(length(span) / Math.max(most, 1), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((it) => it >= rough) ?? 10 * power;
  const at: number[] = [];
  for (let value = Math.ceil(span.from / step) * step; value < span.to; value += step) at.push(value);
  return { step, at };
}

/** An instant as an axis writes it, with as many digits as its steps need. */
export function tick(value: number, step: number): string {
  const unit = UNITS.find((it) => Math.abs(value) >= it.size || step >= it.size) ?? UNITS[3];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit.size) - 1e-9));
  return value === 0 ? "0" : `${grouped(value / unit.size, digits)} ${unit.name}`;
}

/** A number with its thousands apart; one that would need more than 21 digits as a power of ten. */
export function grouped(value: number, digits: number): string {
  if (Math.abs(value) >= HUGE) return power(value);
  const [whole = "", rest] = Math.abs(value).toFixed(digits).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const sign = value < 0 && Number(Math.abs(value).toFixed(digits)) !== 0 ? "−" : "";
  return sign + (rest === undefined ? apart : `${apart}.${rest}`);
}
