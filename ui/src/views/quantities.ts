/** Values of counters with their units. */
import { bytes, percent, short } from "../base/format.ts";
import { duration } from "../base/time.ts";
import type { WireCounter } from "../wire/generated.ts";

/** A value; of a counter that only grows, how fast it does. */
export function quantity({ unit, is_rate: isRate }: WireCounter, value: number): string {
  if (Number.isNaN(value)) return "–";
  // Of a clock per second: for how much of the time it went.
  if (unit === "ns") return isRate ? percent(value / 1e9) : duration(value);
  if (unit === "bytes" || unit === "B") return `${bytes(value)}${isRate ? "/s" : ""}`;
  return `${short(value)}${unit === "" ? "" : ` ${unit}`}${isRate ? "/s" : ""}`;
}

/** In which unit its values are as numbers. */
export function unitOf({ unit, is_rate: isRate }: WireCounter): string {
  return `${unit}${isRate ? "/s" : ""}`;
}

/** From a value to another. */
export function span(counter: WireCounter, [least, most]: readonly [number, number]): string {
  const end = quantity(counter, most);
  return least === 0 ? `0 – ${end}` : `${quantity({ ...counter, unit: "", is_rate: false }, least)} – ${end}`;
}
