/**
 * Several windows on one run: each shows its own view, what is chosen in one is chosen in all.
 *
 * Windows of the same address hear each other; what they tell is the text that stands in it.
 */
import { effect } from "@preact/signals";

import { Calm } from "../base/calm.ts";
import { isBlinking, isAlone, view, type ViewName } from "./view.ts";
import { theme, type Theme } from "./settings.ts";
import { address, choose, chosen } from "./url.ts";

/** Between two tellings, ms: other windows follow a movement as well as this one draws it. */
const PAUSE = 50;

interface Said {
  readonly chosen: string;
  readonly isBlinking: boolean;
  readonly theme: Theme;
}

/** Begins to listen and to tell. */
export function joinWindows(): void {
  const channel = new BroadcastChannel(`marey ${location.pathname}`);
  let last = text(now());
  const calm = new Calm(() => {
    const said = now();
    if (text(said) === last) return;
    last = text(said);
    channel.postMessage(said);
  }, PAUSE, PAUSE);
  effect(() => {
    void [chosen.value, isBlinking.value, theme.value];
    calm.changed();
  });
  channel.onmessage = (event: MessageEvent<unknown>) => {
    const said = event.data;
    if (!isSaid(said)) return;
    last = text(said);
    choose(said.chosen);
    isBlinking.value = said.isBlinking;
    theme.value = said.theme;
    // What this window cannot show it does not tell others to drop.
    last = text(now());
  };
}

function now(): Said {
  return { chosen: chosen.peek(), isBlinking: isBlinking.peek(), theme: theme.peek() };
}

function text(said: Said): string {
  return `${said.chosen} ${said.isBlinking} ${said.theme}`;
}

function isSaid(said: unknown): said is Said {
  if (typeof said !== "object" || said === null) return false;
  const it = said as Partial<Record<keyof Said, unknown>>;
  return typeof it.chosen === "string" && typeof it.isBlinking === "boolean" && (it.theme === "light" || it.theme === "dark");
}

/** Shows the view in a window of its own; this one goes on with the overview. */
export function tearOffView(): void {
  if (tearOff(view.peek()) && !isAlone.peek()) view.value = "overview";
}

/** Opens a window of its own; whether the browser does. */
export function tearOff(name: ViewName): boolean {
  const there = `${location.pathname}${location.search}#${address(true, name)}`;
  const size = name === "states" ? "width=380,height=760" : "width=1100,height=720";
  // Without the name of an earlier one, so that each is a window of its own.
  return window.open(there, "", `popup,${size}`) !== null;
}
