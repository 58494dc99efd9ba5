/** What keys do, wherever the pointer is, unless somebody writes. */
import { back, forward } from "../../state/history.ts";
import { mostScrolled, scrollBoth } from "../../state/pair.ts";
import { beside, view, VIEWS } from "../../state/view.ts";
import { COMMANDS, COMPARE_COMMANDS, TIMELINE_COMMANDS } from "./commands.ts";

const OF_TIMELINE = Object.fromEntries(TIMELINE_COMMANDS.filter((command) => command.key !== "").map((command) => [command.key, command.act]));

/** Other keys for the same. */
const ALSO: Readonly<Record<string, string>> = { "+": "e", "=": "e", "-": "s", ArrowLeft: "a", ArrowRight: "d" };

const TIMELINE: Readonly<Record<string, () => void>> = {
  ...OF_TIMELINE,
  ...Object.fromEntries(Object.entries(ALSO).flatMap(([key, other]) => (OF_TIMELINE[other] === undefined ? [] : [[key, OF_TIMELINE[other]]]))),
};

const COMPARE: Readonly<Record<string, () => void>> = {
  ...TIMELINE,
  ArrowUp: () => scrollBoth(-40),
  ArrowDown: () => scrollBoth(40),
  ...Object.fromEntries(COMPARE_COMMANDS.filter((command) => command.key !== "").map((command) => [command.key, command.act])),
};

const EVERYWHERE: Readonly<Record<string, () => void>> = {
  ...Object.fromEntries(COMMANDS.filter((command) => command.key !== "").map((command) => [command.key, command.act])),
  "/": () => document.getElementById("finder")?.focus(),
  "?": () => {
    view.value = "help";
  },
};

/** What a key is called in the lists of commands. */
function keyOf(event: KeyboardEvent): string {
  return event.key === "Backspace" && event.shiftKey ? "Shift+Backspace" : event.key;
}

export function listenToKeys(): void {
  window.addEventListener("keydown", (event) => {
    const target = event.target;
    const writes = target instanceof HTMLElement && target.closest("input:not([type=checkbox], [type=color]), textarea, select") !== null;
    if (writes && event.key === "Escape") {
      // It ends the writing, and no more.
      target.blur();
      return;
    }
    if (writes && event.key !== "F1") return;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z") {
      if (event.shiftKey) forward();
      else back();
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (/^[1-9]$/.test(event.key)) {
      view.value = VIEWS[Number(event.key) - 1] ?? view.peek();
    } else {
      const shown = [view.peek(), beside.peek()];
      const own = shown.includes("compare") ? COMPARE : shown.includes("timeline") ? TIMELINE : {};
      // Where all rows are seen, arrows scroll the page.
      const isOfPage = own === COMPARE && mostScrolled.peek() === 0 && ["ArrowUp", "ArrowDown"].includes(event.key);
      const act = EVERYWHERE[keyOf(event)] ?? (isOfPage ? undefined : own[event.key]);
      if (act === undefined) return;
      act();
    }
    event.preventDefault();
  });
}
