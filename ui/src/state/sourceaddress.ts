/** How what is looked at of sources stands in the address: `source=["PATH",LINE]`, `loop=FIRST-LAST`, `function=NAME`, `type=NAME`, `code=lines,bars-loops,seen,alone,list,machine`, `files=WORDS`, `calls=4/9,4`. */
import { areAlone, BARS_OF, barsOf, chosenFunction, chosenLoop, chosenPlace, chosenType, fileWords, foldedTypes, hiddenCalls, isList, isMachine, isSeenOnly, isThere, openCalls, SHOWN_AS, shownAs } from "./source.ts";

/** More nodes do not stand in an address. */
const MOST_NODES = 60;

/** What is ticked, by its name in `code`. */
const BOXES = [
  ["seen", isSeenOnly],
  ["alone", areAlone],
  ["list", isList],
  ["machine", isMachine],
] as const;

const LOOP = /^\d{1,10}-\d{1,10}$/;
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
  const ticked = BOXES.filter(([, box]) => box.value).map(([name]) => name);
  const code = [shownAs.value === "text" ? [] : [shownAs.value], barsOf.value === "lines" ? [] : [`bars-${barsOf.value}`], ticked].flat();
  return [
    ["source", place === null ? "" : JSON.stringify([place.path, place.line])],
    ["loop", chosenLoop.value ?? ""],
    ["files", fileWords.value],
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
  if (place !== null) isThere();
  const loop = values.get("loop") ?? "";
  chosenLoop.value = LOOP.test(loop) ? loop : null;
  fileWords.value = values.get("files") ?? "";
  chosenFunction.value = values.get("function") ?? null;
  chosenType.value = values.get("type") ?? null;
  const code = (values.get("code") ?? "").split(",");
  shownAs.value = SHOWN_AS.find((name) => code.includes(name)) ?? "text";
  barsOf.value = BARS_OF.find((name) => code.includes(`bars-${name}`)) ?? "lines";
  for (const [name, box] of BOXES) box.value = code.includes(name);
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
