/**
 * What is under the pointer or has the focus, in words: what it is, its unit, what pressing it does. The words are those
 * that it has as its title, so that they are the same for who rests on it, for who uses keys, and for who cannot see.
 *
 * Where there is more to be read stands in the nearest `data-topic` around it, the name of a part of the help.
 */
import { signal } from "@preact/signals";

import { view } from "./view.ts";

export interface Explained {
  readonly text: string;
  /** Part of the help; `null` = none is nearer than all of it. */
  readonly topic: string | null;
}

/** `null` = nothing that is explained. */
export const explained = signal<Explained | null>(null);
/** The part of the help that is to be read next. */
export const wantedTopic = signal<string | null>(null);

/** What explains an element. */
export function explanationOf(element: Element): Explained | null {
  const topic = element.closest<HTMLElement>("[data-topic]")?.dataset["topic"] ?? null;
  const titled = element.closest("[title]:not([title=''])");
  const text = titled?.getAttribute("title") ?? titled?.querySelector("title")?.textContent ?? pictured(element);
  return text === null || text === "" ? null : { text, topic };
}

/** Pictures have their words elsewhere. */
function pictured(element: Element): string | null {
  const shape = element.closest("svg *")?.querySelector(":scope > title")?.textContent;
  return shape ?? element.closest("[role=img][aria-label]")?.getAttribute("aria-label") ?? null;
}

/** Begins to follow pointer and focus. */
export function followExplained(): void {
  let last: Element | null = null;
  const tell = (): void => {
    const found = last === null ? null : explanationOf(last);
    const now = explained.peek();
    if (found?.text !== now?.text || found?.topic !== now?.topic) explained.value = found;
  };
  // Words may change while the pointer rests: a zoom brings something else beneath it.
  const words = new MutationObserver(tell);
  const look = ({ target }: Event): void => {
    if (!(target instanceof Element)) return;
    if (target !== last) {
      last = target;
      words.disconnect();
      for (const it of [target.closest("[title]"), target.closest("[role=img][aria-label]")]) {
        if (it !== null) words.observe(it, { attributes: true, attributeFilter: ["title", "aria-label"] });
      }
    }
    tell();
  };
  // What a picture says of itself changes while the pointer moves over it.
  for (const name of ["pointerover", "pointermove", "focusin"]) document.addEventListener(name, look, { passive: true });
}

/** Opens the help where it speaks of what is under the pointer or has the focus, or else of the view. */
export function explain(): void {
  const now = explained.peek() ?? (document.activeElement === null ? null : explanationOf(document.activeElement));
  wantedTopic.value = now?.topic ?? (view.peek() === "help" ? null : view.peek());
  view.value = "help";
}
