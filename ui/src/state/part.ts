/** The part of the run that sums are of: the locations that are chosen, and the span that is shown if somebody wants that. */
import type { PartOf } from "../wire/generated.ts";
import { whole } from "./run.ts";
import { chosenLocations, ranges, span } from "./view.ts";

/** A span that has stood so long is looked at: to add it up reads all of it. */
export const REST_MS = 200;

/** Whether the span that is shown is less than the run. */
export function isSpanAPart(): boolean {
  return whole.value.from < span.value.from || span.value.to < whole.value.to;
}

/** The span that is shown, as the engine is asked for it. */
export function shownSpan(): { readonly from_ns: number; readonly to_ns: number } {
  return { from_ns: Math.floor(span.value.from), to_ns: Math.ceil(span.value.to) };
}

/** As the engine is asked for it. */
export function partOf(isOfSpan: boolean): PartOf {
  const chosen = chosenLocations.value;
  const locations = chosen === null ? null : ranges([...chosen].sort((a, b) => a - b));
  return { span: isOfSpan && isSpanAPart() ? shownSpan() : null, locations };
}
