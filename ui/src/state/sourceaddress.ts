/** How what is looked at of sources stands in the address: `source=["PATH",LINE]`, `function=NAME`, `type=NAME`, `code=text,lines`, `calls=4/9,4`. */
import { BARS_OF, barsOf, chosenFunction, chosenPlace, chosenType, foldedTypes, hiddenCalls, openCalls, SHOWN_AS, shownAs } from "./source.ts";

/** More nodes do not stand in an address. */
const MOST_NODES = 60;

const WAY = /^\d{1,9}(\/\d{1,9}){0,60}$/;

function waysText(ways: ReadonlySet<string>): string {
  return [...ways].sort().slice(0, MOST_NODES).join(",");
}

function waysOf(text: string | undefined, now: ReadonlySet<string>): ReadonlySet<string> {
  const ways = (text ?? "").split(",").filter((way) => WAY.test(way));
  // The same stay the same, so that nothing is drawn anew; more may be open than an address holds.
  return waysText(now) === ways.join(",") ? now : new Set(ways);
}

/** Parts of the address, by their names. */
export function sourceParts(): ReadonlyArray<readonly [string, string]> {
  const place = chosenPlace.value;
  const code = [shownAs.value === "text" ? [] : [shownAs.value], barsOf.value === "lines" ? [] : [`bars-${barsOf.value}`]].flat();
  return [
    ["source", place === null ? "" : JSON.stringify([place.path, place.line])],
    ["function", chosenFunction.value ?? ""],
    ["type", chosenType.value ?? ""],
    ["code", code.join(",")],
    ["calls", waysText(openCalls.value)],
    ["nocalls", waysText(hiddenCalls.value)],
    ["notypes", waysText(foldedTypes.value)],
  ];
}

/** Shows what an address says. */
export function applySource(values: ReadonlyMap<string, string>): void {
  const place = placeOf(values.get("source"));
  const now = chosenPlace.peek();
  // Who says nothing of sources looks on at what there is.
  if (place !== null && (now === null || now.path !== place.path || now.line !== place.line)) chosenPlace.value = place;
  chosenFunction.value = values.get("function") ?? null;
  chosenType.value = values.get("type") ?? null;
  const code = (values.get("code") ?? "").split(",");
  shownAs.value = SHOWN_AS.find((name) => code.includes(name)) ?? "text";
  barsOf.value = BARS_OF.find((name) => code.includes(`bars-${name}`)) ?? "lines";
  openCalls.value = waysOf(values.get("calls"), openCalls.peek());
  hiddenCalls.value = waysOf(values.get("nocalls"), hiddenCalls.peek());
  foldedTypes.value = waysOf(values.get("notypes"), foldedTypes.peek());
}

function placeOf(text: string | undefined): { readonly path: string; readonly line: number } | null {
  try {
    const found: unknown = JSON.parse(text ?? "null");
    if (!Array.isArray(found)) return null;
    const [path, line]: unknown[] = found;
    return typeof path === "string" && typeof line === "number" && Number.isSafeInteger(line) && line >= 0 ? { path, line } : null;
  } catch {
    return null;
  }
}
