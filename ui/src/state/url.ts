/**
 * The address of the page says all that is looked at, so that it can be kept, sent and gone back to. Version 1:
 * `#1&view=timeline&span=FROM-TO&ranks=0,3&region=NAME&visit=LINE@NS&hide=NAME,NAME&layers=mwp&origin=NS`.
 *
 * Regions go by their names, since numbers differ between runs.
 */
import { batch, effect } from "@preact/signals";

import { ns } from "../base/time.ts";
import { run } from "./run.ts";
import {
  chosenLocations,
  chosenRegion,
  chosenSpan,
  chosenVisit,
  hidden,
  layers,
  origin,
  regionOfName,
  view,
  VIEWS,
  type ViewName,
} from "./view.ts";

const VERSION = "1";

/** Follows the address, and writes it when something changes. The run must be there. */
export function connect(): void {
  read();
  window.addEventListener("hashchange", read);
  effect(() => {
    const next = written();
    if (next === location.hash) return;
    try {
      history.replaceState(null, "", next);
    } catch {
      // A page from a file may not be allowed to; then its address says less.
    }
  });
}

function written(): string {
  const regions = run.value?.regions ?? [];
  const parts = [VERSION, `view=${view.value}`];
  const add = (name: string, value: string | null): void => {
    if (value !== null && value !== "") parts.push(`${name}=${encodeURIComponent(value)}`);
  };
  const span = chosenSpan.value;
  add("span", span === null ? null : `${span.from}-${span.to}`);
  add("locations", chosenLocations.value?.join(",") ?? null);
  add("region", chosenRegion.value === null ? null : (regions[chosenRegion.value]?.name ?? null));
  const visit = chosenVisit.value;
  add("visit", visit === null ? null : `${visit.line}@${visit.at}`);
  const hiddenNames = [...hidden.value].sort((a, b) => a - b).map((region) => regions[region]?.name ?? "");
  add("hide", hiddenNames.length === 0 ? null : JSON.stringify(hiddenNames));
  const { messages, waits, path } = layers.value;
  const shown = `${messages ? "m" : ""}${waits ? "w" : ""}${path ? "p" : ""}`;
  if (shown !== "mw") parts.push(`layers=${shown}`);
  add("origin", origin.value === null ? null : String(origin.value));
  return `#${parts.join("&")}`;
}

function read(): void {
  const [version, ...pairs] = location.hash.slice(1).split("&");
  if (version !== VERSION) return;
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at > 0) values.set(pair.slice(0, at), decoded(pair.slice(at + 1)));
  }
  batch(() => {
    const name = values.get("view");
    if (VIEWS.includes(name as ViewName)) view.value = name as ViewName;
    const span = numbers(values.get("span"), "-");
    const [from, to] = span;
    chosenSpan.value = from !== undefined && to !== undefined && from < to ? { from: ns(from), to: ns(to) } : null;
    const locations = numbers(values.get("locations"), ",").filter((it) => it < (run.peek()?.locations.length ?? 0));
    chosenLocations.value = locations.length === 0 ? null : locations;
    chosenRegion.value = regionOfName(values.get("region") ?? "");
    const [line, at] = numbers(values.get("visit"), "@");
    chosenVisit.value = line !== undefined && at !== undefined ? { line, at } : null;
    hidden.value = new Set(names(values.get("hide")).flatMap((it) => regionOfName(it) ?? []));
    const shown = values.get("layers") ?? "mw";
    layers.value = { messages: shown.includes("m"), waits: shown.includes("w"), path: shown.includes("p") };
    origin.value = numbers(values.get("origin"), ",")[0] ?? null;
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Somebody cut the address off in the middle of a letter.
    return "";
  }
}

function names(text: string | undefined): readonly string[] {
  try {
    const list: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(list) ? list.filter((it) => typeof it === "string") : [];
  } catch {
    return [];
  }
}

function numbers(text: string | undefined, between: string): readonly number[] {
  if (text === undefined || text === "") return [];
  const all = text.split(between).map(Number);
  return all.every((it) => Number.isSafeInteger(it) && it >= 0) ? all : [];
}
