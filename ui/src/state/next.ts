/** How much the next run is to record of which regions, as the user chose it here: rules, as `marey record --filter` reads them. */
import { computed, signal } from "@preact/signals";

import { pairs } from "./recoloured.ts";

/** How much is recorded of a region's visits, the least first. */
export const DETAILS = ["off", "count", "time", "trace"] as const;
export type Detail = (typeof DETAILS)[number];

/** Of regions of which not each visit is to be kept, by the pattern that a rule has. */
export const kept = signal<ReadonlyMap<string, Detail>>(new Map());

/** Chooses for some; what is traced needs no rule. */
export function keep(choices: ReadonlyArray<readonly [pattern: string, detail: Detail]>): void {
  const next = new Map(kept.peek());
  for (const [pattern, detail] of choices) {
    if (detail === "trace") next.delete(pattern);
    else next.set(pattern, detail);
  }
  kept.value = next;
}

/** What fits a region and as little else as can be said: on the level `source` by the function's name, else by the verb. */
export function patternOf(level: string, called: string): string {
  // What stands between the brackets of a template is not known while the program runs, nor are parameters.
  const name = level === "source" ? withoutArguments(called) : called;
  // A blank with a # behind it would begin a comment, and blanks at the ends are none of the pattern's.
  const plain = name.replace(/[\p{Cc}#]/gu, "?").replace(/^\s|\s$/g, "?");
  return `${level}:${plain}`;
}

function withoutArguments(verb: string): string {
  let text = "";
  let depth = 0;
  for (const sign of verb) {
    if (depth === 0 && sign === "(") break;
    // An operator's own signs are no brackets.
    const isBracket = !/operator[<>=-]*$/.test(text);
    if (sign === "<" && isBracket) {
      if (depth === 0) text += "<*>";
      depth += 1;
    } else if (sign === ">" && depth > 0) depth -= 1;
    else if (depth === 0) text += sign;
  }
  return text.trim() === "" ? verb : text;
}

/** The filter file. */
export const filterText = computed<string>(() => [...kept.value].sort(([one], [other]) => (one < other ? -1 : 1)).map(([pattern, detail]) => `${detail.padEnd(5)}  ${pattern}\n`).join(""));

/** As it stands in the address; empty = all is traced. */
export function keptText(): string {
  const all = [...kept.value].sort(([one], [other]) => (one < other ? -1 : 1));
  return all.length === 0 ? "" : JSON.stringify(all);
}

/** What a text says; what is no detail is nothing. */
export function keptOf(text: string): ReadonlyMap<string, Detail> {
  const isDetail = (it: string): it is Detail => DETAILS.some((known) => known === it);
  return new Map(pairs(text).flatMap(([pattern, detail]) => (isDetail(detail) && detail !== "trace" && !/[\p{Cc}]/u.test(pattern) ? [[pattern, detail] as const] : [])));
}
