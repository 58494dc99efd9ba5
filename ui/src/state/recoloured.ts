/** Colours that the user gave to regions, by their names: so what goes by one name has one colour, in other runs, too. */
import { signal } from "@preact/signals";

import { run } from "./run.ts";

/** `#rrggbb`, by name. */
export const recoloured = signal<ReadonlyMap<string, string>>(new Map());

/** Gives a region a colour; `null` = its own again. */
export function recolour(name: string, colour: string | null): void {
  const next = new Map(recoloured.peek());
  if (colour === null) next.delete(name);
  else next.set(name, colour);
  recoloured.value = next;
}

/** As it stands in the address; empty = all have their own. */
export function recolouredText(): string {
  const all = [...recoloured.value].sort(([one], [other]) => (one < other ? -1 : 1));
  // No object: a name may be one that objects have already.
  return all.length === 0 ? "" : JSON.stringify(all);
}

/** What a text says of the regions of this run. */
export function recolouredOf(text: string): ReadonlyMap<string, string> {
  const known = new Set(run.peek()?.regions.map((region) => region.name));
  return new Map(pairs(text).filter(([name, colour]) => known.has(name) && /^#[0-9a-f]{6}$/.test(colour)));
}

/** Pairs of texts that stand in an address; nonsense has none. */
export function pairs(text: string): ReadonlyArray<readonly [string, string]> {
  try {
    const list: unknown = JSON.parse(text === "" ? "[]" : text);
    if (!Array.isArray(list)) return [];
    return list.flatMap((it: unknown) => (Array.isArray(it) && typeof it[0] === "string" && typeof it[1] === "string" ? [[it[0], it[1]] as const] : []));
  } catch {
    return [];
  }
}
