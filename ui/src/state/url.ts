/**
 * The address of the page says all that is looked at, so that it can be kept, sent and gone back to. Version 1:
 * `#1&view=timeline&beside=profile&alone=1&span=FROM-TO&locations=0,3&region=NAME&visit=LINE@NS&operation=COMMUNICATOR@INSTANCE&events=LOCATION@FROM@TO&message=FROM@SENT@TO@RECEIVED@TAG@BYTES@NUMBER&picked=duration:LEAST-MOST&together=["NAME"]&hide=["NAME"]&without=["LEVEL"]&pair=FROM-BEHIND-FROM-BEHIND&layers=mwgoep&notes=fsa&rows=waiting,folded,together&turned=PROCESS,PROCESS&closed=["HOST"]&counters=["NAME"]&colours=[["NAME","#RRGGBB"]]&keep=[["PATTERN","DETAIL"]]&table=states&profile=WAY,span,most&flames=["KIND NAME"]&waits=["KIND","WHAT","WHERE","span"]&levels=[[LEVEL,VERB,NOUN],[[LEVEL,VERB,NOUN]],"BY","span"]&data=["span","ARRAY",[ACROSS,DOWN],"BUFFER",[[[FIRST,LAST],null],[PROCESS],"expand"]]&histogram=span,bytes,linear,BINS&messages=sizes:CLASS-CLASS,durations:CLASS-CLASS,processes:FROM-BEHIND,tag:TAG,order:WHAT,cells:WHAT,pairs:run&sorted=[["TABLE","-COLUMN"]]&filtered=[["TABLE","WORDS"]]&source=["PATH",LINE]&loop=FIRST-LAST&files=WORDS&function=NAME&type=NAME&code=lines,bars-loops,seen,alone,list,machine&calls=NODE/NODE&nocalls=NODE/NODE&notypes=TYPE/TYPE&origin=NS&zoom=NS&until=NS`;
 * of two runs `&align=ITERATION&new=NAME&visit-beside=LINE@NS&lane=WHAT&tables=1&differences=WHICH`.
 *
 * Regions go by their names, since numbers differ between runs.
 */
import { batch, computed, effect } from "@preact/signals";

import { Calm } from "../base/calm.ts";
import { shown } from "../base/text.ts";
import { ns, type Span } from "../base/time.ts";
import { chosenCounters } from "./counters.ts";
import { applyData, dataText } from "./data.ts";
import { applyHistogram, histogramText } from "./instances.ts";
import { areTables, lane, LANES } from "./lane.ts";
import { applyLevels, levelsText } from "./levels.ts";
import { applyMessage, messageText } from "./message.ts";
import { kept, keptOf, keptText } from "./next.ts";
import { aligned, differences, DIFFERENCES, type DifferencesName } from "./pair.ts";
import { recoloured, recolouredOf, recolouredText } from "./recoloured.ts";
import { closedHosts, isFolded, isGrouped, rowOrder, turned } from "./rows.ts";
import { run } from "./run.ts";
import { applySource, sourceParts } from "./sourceaddress.ts";
import { applyProfile, flameRoot, profileText } from "./shares.ts";
import { applyTables, filteredText, sortedText } from "./tables.ts";
import { applyTraffic, trafficText } from "./traffic.ts";
import {
  beside,
  chosenBeside,
  chosenEvents,
  chosenLocations,
  chosenNew,
  chosenOperation,
  chosenPair,
  chosenRegion,
  chosenSpan,
  chosenVisit,
  hidden,
  hiddenLevels,
  isAlone,
  isView,
  lastNew,
  layers,
  notes,
  origin,
  pick,
  picked,
  regionOfName,
  together,
  twin,
  TWINS,
  until,
  view,
  type Chosen,
  type ChosenPair,
  type Layers,
  type Picked,
  type ViewName,
  zoomOrigin,
} from "./view.ts";
import { applyWaits, waitsText } from "./waits.ts";

const VERSION = "1";

/** The address is written at most so often, and while something keeps changing no oftener than that, ms: a write takes as long as a picture. */
const PAUSE = 100;
const LATEST = 1000;

/** Follows the address, and writes it when something changes. The run must be there. */
export function connect(): void {
  // What was read or written last.
  let known = "";
  const read = (): void => {
    known = location.hash;
    apply(location.hash.slice(1));
  };
  read();
  window.addEventListener("hashchange", read);
  const write = (): void => {
    // Somebody has just changed it; that is read next, and what was looked at before must not be put in its place.
    if (location.hash !== known) return;
    const next = `#${address(isAlone.peek())}`;
    if (next === location.hash) return;
    try {
      history.replaceState(null, "", next);
      known = location.hash;
    } catch {
      // A page from a file may not; it has an address of one moment then.
    }
  };
  const calm = new Calm(write, PAUSE, LATEST);
  effect(() => {
    void [view.value, beside.value, chosen.value];
    calm.changed();
  });
}

/** What stands behind the # of an address that shows what this page does. */
export function address(alone: boolean, name: ViewName = view.peek()): string {
  const views = [`view=${name}`];
  if (beside.peek() !== null) views.push(`beside=${beside.peek()}`);
  if (alone) views.push("alone=1");
  return [VERSION, ...views, ...(chosen.peek() === "" ? [] : [chosen.peek()])].join("&");
}

/** What is chosen, in any view: all of the address but which view it is. */
export const chosen = computed<string>(() => {
  const regions = run.value?.regions ?? [];
  const parts: string[] = [];
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
  const levels = [...hiddenLevels.value].sort((a, b) => a - b).map((level) => run.value?.levels[level] ?? "");
  add("without", levels.length === 0 ? null : JSON.stringify(levels));
  const operation = chosenOperation.value;
  add("operation", operation === null ? null : `${operation.communicator}@${operation.instance}`);
  const pair = chosenPair.value;
  add("pair", pair === null ? null : [...pair.from, ...pair.to].join("-"));
  const marks = chosenEvents.value;
  add("events", marks === null ? null : `${marks.location}@${marks.from}@${marks.to}`);
  add("message", messageText());
  const letters = lettersOf(layers.value);
  if (letters !== USUAL_LAYERS) parts.push(`layers=${letters}`);
  const { findings, situations, anomalies } = notes.value;
  const above = `${findings ? "f" : ""}${situations ? "s" : ""}${anomalies ? "a" : ""}`;
  if (above !== USUAL_NOTES) parts.push(`notes=${above}`);
  const some = picked.value;
  add("picked", some === null ? null : pickedText(some));
  add("together", together.value.length === 0 ? null : JSON.stringify(together.value.map((region) => regions[region]?.name ?? "")));
  const rows = [rowOrder.value === "number" ? [] : [rowOrder.value], isFolded.value ? ["folded"] : [], isGrouped.value ? [] : ["together"]].flat();
  add("rows", rows.join(","));
  add("turned", [...turned.value].sort((a, b) => a - b).join(","));
  add("closed", closedHosts.value.size === 0 ? null : JSON.stringify([...closedHosts.value].sort()));
  const counters = chosenCounters.value;
  add("counters", counters === null ? null : JSON.stringify([...counters].sort((a, b) => a - b).map((it) => run.value?.counters[it]?.name ?? "")));
  add("colours", recolouredText());
  add("keep", keptText());
  add("table", twin.value);
  add("profile", profileText());
  add("flames", flameRoot.value.length === 0 ? null : JSON.stringify(flameRoot.value));
  add("waits", waitsText());
  add("levels", levelsText());
  add("data", dataText());
  add("histogram", histogramText());
  add("messages", trafficText());
  add("sorted", sortedText());
  add("filtered", filteredText());
  add("until", until.value === null ? null : String(until.value));
  add("origin", origin.value === null ? null : String(origin.value));
  add("zoom", zoomOrigin.value === null ? null : String(zoomOrigin.value));
  add("align", aligned.value === null ? null : String(aligned.value + 1));
  add("new", chosenNew.value);
  const other = chosenBeside.value;
  add("visit-beside", other === null ? null : `${other.line}@${other.at}`);
  add("lane", lane.value === "calls" ? null : lane.value);
  add("tables", areTables.value ? "1" : null);
  add("differences", differences.value === "path" ? null : differences.value);
  for (const [name, value] of sourceParts()) add(name, value);
  return parts.join("&");
});

/** Shows what an address says; one that nobody wrote changes what it can. */
function apply(text: string): void {
  const [version, ...pairs] = text.split("&");
  if (version !== VERSION) return;
  const values = valuesOf(pairs);
  batch(() => {
    const name = values.get("view");
    if (isView(name)) view.value = name;
    const second = values.get("beside");
    beside.value = isView(second) ? second : null;
    isAlone.value = values.get("alone") === "1";
    choose(pairs.join("&"));
  });
}

/** Chooses what a text says that [`chosen`] was. */
export function choose(text: string): void {
  const values = valuesOf(text.split("&"));
  batch(() => {
    chosenSpan.value = spanOf(values.get("span") ?? "");
    const locations = numbers(values.get("locations"), ",").filter((it) => it < (run.peek()?.locations.length ?? 0));
    chosenLocations.value = locations.length === 0 ? null : locations;
    chosenRegion.value = regionOfName(values.get("region") ?? "");
    pick(pickedOf(values.get("picked") ?? ""));
    const beside = names(values.get("together")).flatMap((it) => regionOfName(it) ?? []);
    // The same stay the same, so that they are not counted again.
    if (beside.join() !== together.peek().join()) together.value = [...new Set(beside)];
    chosenVisit.value = visitOf(values.get("visit"), chosenVisit.peek());
    const [communicator, instance] = numbers(values.get("operation"), "@");
    const operation = chosenVisit.peek() === null && communicator !== undefined && instance !== undefined ? { communicator, instance } : null;
    const before = chosenOperation.peek();
    if (operation === null || before === null || before.communicator !== operation.communicator || before.instance !== operation.instance) {
      chosenOperation.value = operation;
    }
    chosenPair.value = pairOf(values.get("pair"), chosenPair.peek());
    const [location, first, last] = numbers(values.get("events"), "@");
    const isFree = chosenVisit.peek() === null && chosenOperation.peek() === null;
    const marks = isFree && location !== undefined && first !== undefined && last !== undefined ? { location, from: first, to: last } : null;
    // The same stay the same object, so that they need not be asked for again.
    if (JSON.stringify(marks) !== JSON.stringify(chosenEvents.peek())) chosenEvents.value = marks;
    applyMessage(isFree && marks === null ? (values.get("message") ?? "") : "");
    hidden.value = new Set(names(values.get("hide")).flatMap((it) => regionOfName(it) ?? []));
    const levels = run.peek()?.levels ?? [];
    hiddenLevels.value = new Set(names(values.get("without")).map((it) => levels.indexOf(it)).filter((it) => it >= 0));
    layers.value = layersOf(values.get("layers") ?? USUAL_LAYERS);
    const above = values.get("notes") ?? USUAL_NOTES;
    notes.value = { findings: above.includes("f"), situations: above.includes("s"), anomalies: above.includes("a") };
    const rows = (values.get("rows") ?? "").split(",");
    rowOrder.value = rows.includes("waiting") ? "waiting" : rows.includes("region") ? "region" : "number";
    isFolded.value = rows.includes("folded");
    isGrouped.value = !rows.includes("together");
    turned.value = new Set(numbers(values.get("turned"), ",").filter((it) => it < (run.peek()?.processes.length ?? 0)));
    // Hosts of the run beside this one are known later.
    const isHost = (name: string): boolean => run.peek()?.other != null || run.peek()?.hosts.includes(name) === true;
    closedHosts.value = new Set(names(values.get("closed")).filter(isHost));
    const counters = run.peek()?.counters ?? [];
    const wanted = values.get("counters");
    chosenCounters.value = wanted === undefined ? null : new Set(names(wanted).map((it) => counters.findIndex((counter) => counter.name === it)).filter((it) => it >= 0));
    recoloured.value = recolouredOf(values.get("colours") ?? "");
    kept.value = keptOf(values.get("keep") ?? "");
    twin.value = TWINS.find((name) => name === values.get("table")) ?? null;
    applyProfile(values.get("profile") ?? "");
    applyWaits(values.get("waits") ?? "");
    applyLevels(values.get("levels") ?? "");
    applyData(values.get("data") ?? "");
    flameRoot.value = names(values.get("flames"));
    applyHistogram(values.get("histogram") ?? "");
    applyTraffic(values.get("messages") ?? "");
    applyTables(values.get("sorted") ?? "", values.get("filtered") ?? "");
    until.value = numbers(values.get("until"), ",")[0] ?? null;
    origin.value = numbers(values.get("origin"), ",")[0] ?? null;
    zoomOrigin.value = numbers(values.get("zoom"), ",")[0] ?? null;
    const [number] = numbers(values.get("align"), ",");
    aligned.value = number === undefined || number < 1 ? null : number - 1;
    lastNew.value = values.get("new") ?? null;
    chosenBeside.value = visitOf(values.get("visit-beside"), chosenBeside.peek());
    lane.value = LANES.find((name) => name === values.get("lane")) ?? "calls";
    areTables.value = values.get("tables") === "1";
    applySource(values);
    const which = values.get("differences");
    differences.value = DIFFERENCES.includes(which as DifferencesName) ? (which as DifferencesName) : "path";
  });
}

/** Of two runs that are aligned, one may begin before the other. */
function spanOf(text: string): Span | null {
  const [, from, to] = (/^(-?\d+)-(-?\d+)$/.exec(text) ?? []).map(Number);
  const isSpan = from !== undefined && to !== undefined && Number.isSafeInteger(from) && Number.isSafeInteger(to) && from < to;
  return isSpan ? { from: ns(from), to: ns(to) } : null;
}

/** The same pair stays the same object, so that it is not counted again. */
function pairOf(text: string | undefined, now: ChosenPair | null): ChosenPair | null {
  const [a, b, c, d] = numbers(text, "-");
  if (a === undefined || b === undefined || c === undefined || d === undefined || b <= a || d <= c) return null;
  const isSame = now !== null && [...now.from, ...now.to].join("-") === text;
  return isSame ? now : { from: [a, b], to: [c, d] };
}

/** The same visit stays the same object, so that its details need not be asked for again. */
function visitOf(text: string | undefined, now: Chosen | null): Chosen | null {
  const [line, at] = numbers(text, "@");
  if (line === undefined || at === undefined) return null;
  return now !== null && now.line === line && now.at === at ? now : { line, at };
}

const USUAL_LAYERS = "mwgoe";
const USUAL_NOTES = "fsa";

function lettersOf({ messages, waits, operations, overlaps, events, path }: Layers): string {
  return `${messages ? "m" : ""}${waits ? "w" : ""}${operations ? "g" : ""}${overlaps ? "o" : ""}${events ? "e" : ""}${path ? "p" : ""}`;
}

function layersOf(letters: string): Layers {
  const has = (letter: string): boolean => letters.includes(letter);
  return { messages: has("m"), waits: has("w"), operations: has("g"), overlaps: has("o"), events: has("e"), path: has("p") };
}

/** `duration:LEAST-MOST`, `bytes:normal:PERCENT`, `anomalous:PERCENT`; the usual percentage of the robust test is not written. */
function pickedText({ of, which }: Picked): string {
  if (which.by === "range") return `${of}:${which.range.join("-")}`;
  if (which.by === "normal") return `${of}:normal:${which.percent}`;
  return which.percent === 1 ? "anomalous" : `anomalous:${which.percent}`;
}

function pickedOf(text: string): Picked | null {
  const region = chosenRegion.peek();
  if (region === null) return null;
  const percentOf = (percent: string | undefined): number | null => (/^\d{1,2}(\.\d{1,6})?$/.test(percent ?? "") && Number(percent) <= 50 ? Number(percent) : null);
  const [first, second, third] = text.split(":");
  const percent = first === "anomalous" ? percentOf(second ?? "1") : percentOf(third);
  if (first === "anomalous") return percent === null ? null : { region, of: "duration", which: { by: "anomalous", percent } };
  if (first !== "duration" && first !== "bytes") return null;
  if (second === "normal") return percent === null ? null : { region, of: first, which: { by: "normal", percent } };
  const [least, most] = numbers(second, "-");
  return least === undefined || most === undefined || most < least ? null : { region, of: first, which: { by: "range", range: [least, most] } };
}

function valuesOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at > 0) values.set(pair.slice(0, at), decoded(pair.slice(at + 1)));
  }
  return values;
}

function decoded(text: string): string {
  try {
    return shown(decodeURIComponent(text));
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
