/** Everything that can be done by name: what the finder finds, keys call and the menu offers. */
import { toggleTheme } from "../../state/settings.ts";
import { moveClock } from "../../state/clock.ts";
import { explain } from "../../state/explained.ts";
import { length, ns, zoom } from "../../base/time.ts";
import { back, forward } from "../../state/history.ts";
import { align, alignNext } from "../../state/pair.ts";
import { beside, chosenMessage, chosenOperation, clearSelection, isBlinking, look, lookAround, lookAtAll, origin, seenLocations, span, toggleLayer, type ViewName, ALL_VIEWS, zoomOrigin } from "../../state/view.ts";
import { foldAll, toggleHosts } from "../../state/rows.ts";
import { run } from "../../state/run.ts";
import { pointedAt, scrollRows, zoomedAt } from "../../state/timeline.ts";
import { stepMessage } from "../../state/message.ts";
import { operation, stepOperation } from "../../state/operation.ts";
import { step, visit } from "../../state/visit.ts";
import { tearOff, tearOffView } from "../../state/windows.ts";
import type { Towards } from "../../wire/generated.ts";
import { stepNote } from "../notes.tsx";
import { printView, saveAs } from "./save.ts";

export interface Command {
  readonly name: string;
  /** The key that calls it; empty = none. */
  readonly key: string;
  readonly act: () => void;
}

export const VIEW_NAMES: Readonly<Record<ViewName, string>> = {
  overview: "Overview",
  timeline: "Timeline",
  profile: "Profile",
  histogram: "Histogram",
  communication: "Communication",
  waits: "Waits & path",
  utilisation: "Utilisation",
  compare: "Compare",
  source: "Source",
  levels: "Levels",
  data: "Data",
  files: "Files & types",
  calls: "Call graph",
  types: "Type hierarchy",
  next: "Next run",
  help: "Help",
  states: "States",
};

export const VIEW_HELP: Readonly<Record<ViewName, string>> = {
  overview: "The run in short: facts, findings, efficiencies, time per rank, problems of the recording",
  timeline: "What every thread did when, with messages, waits, counters and what the program marked",
  profile: "How much time went where: by region, call path and location",
  histogram: "How visits of a region differ in length or size; some of them can be picked",
  communication: "Who sent how much to whom, and in which sizes",
  waits: "What was waited for, because of whom, and what made the run as long as it was",
  utilisation: "How busy each thread was up to an instant, and what was on its way to it",
  next: "How much the next run records of which regions: rules for `marey record`",
  compare: "Two runs side by side, and what differs between them",
  source: "Every line of the program's sources with what it cost; from there files, the call graph and types",
  levels: "What a verb done to a noun cost on its level, under which others, and what served it beneath",
  data: "Arrays: what it cost to act on them, from which lines, where their elements lie; and which data messages come from",
  files: "Files of the program with their classes and functions, and the source of each",
  calls: "Who calls whom, as the program is written and as it was seen, with the time that it took",
  types: "Which type is derived from which, and their members",
  help: "Keys, and what each part of the page is, means and does",
  states: "All states of the span, to be filtered, coloured and hidden",
};

/** From the message or operation, or else the visit, that is chosen to another like it. */
function stepChosen(towards: Towards): void {
  if (chosenMessage.peek() !== null) void stepMessage(towards);
  else void (chosenOperation.peek() === null ? step(towards) : stepOperation(towards));
}

/** What the menu of a view offers. */
export const VIEW_COMMANDS: readonly Command[] = [
  { name: "Tear off into its own window", key: "o", act: tearOffView },
  { name: "Save as SVG", key: "", act: () => void saveAs("svg") },
  { name: "Save as PNG", key: "", act: () => void saveAs("png") },
  { name: "Print", key: "p", act: () => void printView() },
];

const BESIDE = ALL_VIEWS.map((name): Command => ({ name: `Open beside: ${VIEW_NAMES[name]}`, key: "", act: () => (beside.value = name) }));

/** What every view knows. */
export const COMMANDS: readonly Command[] = [
  ...VIEW_COMMANDS,
  ...BESIDE,
  { name: "Close the view beside", key: "", act: () => (beside.value = null) },
  { name: "Back to what was looked at before", key: "Backspace", act: back },
  { name: "Forward again", key: "Shift+Backspace", act: forward },
  { name: "Previous visit of the chosen region, operation or message", key: "[", act: () => stepChosen("previous") },
  { name: "Next visit of the chosen region, operation or message", key: "]", act: () => stepChosen("next") },
  { name: "Next finding, situation or anomalous visit", key: "n", act: () => stepNote("next") },
  { name: "Previous finding, situation or anomalous visit", key: "N", act: () => stepNote("previous") },
  { name: "Choose nothing", key: "Escape", act: clearSelection },
  { name: "Light or dark", key: "", act: toggleTheme },
  { name: "Explain what is under the pointer or has the focus", key: "F1", act: explain },
];

/** What the view that compares knows besides. */
export const COMPARE_COMMANDS: readonly Command[] = [
  { name: "Align both runs on the previous iteration", key: ",", act: () => alignNext(-1) },
  { name: "Align both runs on the next iteration", key: ".", act: () => alignNext(1) },
  { name: "Align both runs at their beginnings", key: "", act: () => align(null) },
];

/** The process of the visit that is chosen, or of the first location that is shown. */
function moveChosenClock(): void {
  const head = run.peek();
  const line = visit.peek()?.line;
  const location = line === undefined ? seenLocations.peek()[0] : head?.lines[line]?.location;
  moveClock(head?.locations[location ?? 0]?.process ?? 0, 0);
}

/** Part of the span by which one step moves, factor by which it zooms, and how far rows are scrolled, px. */
const MOVE = 0.15;
const ZOOM = 1.5;
const SCROLL = 40;

function move(share: number): void {
  const shift = Math.round(length(span.peek()) * share);
  look({ from: ns(span.peek().from + shift), to: ns(span.peek().to + shift) });
}

/** What the timeline knows. */
export const TIMELINE_COMMANDS: readonly Command[] = [
  { name: "Zoom in", key: "e", act: () => look(zoom(span.peek(), ZOOM, zoomedAt())) },
  { name: "Zoom out", key: "s", act: () => look(zoom(span.peek(), 1 / ZOOM, zoomedAt())) },
  { name: "Move to what was before", key: "a", act: () => move(-MOVE) },
  { name: "Move to what comes next", key: "d", act: () => move(MOVE) },
  { name: "Scroll the rows up", key: "ArrowUp", act: () => scrollRows(-SCROLL) },
  { name: "Scroll the rows down", key: "ArrowDown", act: () => scrollRows(SCROLL) },
  { name: "Show waits", key: "w", act: () => toggleLayer("waits") },
  { name: "Show messages", key: "m", act: () => toggleLayer("messages") },
  { name: "Show operations of all", key: "g", act: () => toggleLayer("operations") },
  { name: "Show the critical path", key: "c", act: () => toggleLayer("path") },
  { name: "Close the rows of all hosts, or open them", key: "h", act: toggleHosts },
  { name: "Fold the threads of all processes, or show them", key: "", act: foldAll },
  { name: "Move the clock of the process that is chosen by hand", key: "", act: moveChosenClock },
  { name: "Open the states in a window of their own", key: "", act: () => tearOff("states") },
  { name: "Whole run", key: "0", act: lookAtAll },
  {
    name: "Zoom to what is chosen",
    key: "f",
    act: () => {
      const [sent, it] = [chosenMessage.peek(), operation.peek()?.about ?? visit.peek()];
      if (sent !== null) lookAround(Math.min(sent.sent, sent.received), Math.max(sent.sent, sent.received));
      else if (it !== null) lookAround(it.start_ns, it.end_ns);
    },
  },
  {
    name: "Count elapsed time from the pointer",
    key: "t",
    act: () => {
      origin.value = origin.peek() === null ? pointedAt() : null;
    },
  },
  {
    name: "Let keys zoom where the pointer is now",
    key: "z",
    act: () => {
      zoomOrigin.value = zoomOrigin.peek() === null ? pointedAt() : null;
    },
  },
  {
    name: "Let the chosen region blink",
    key: "b",
    act: () => {
      isBlinking.value = !isBlinking.peek();
    },
  },
];
