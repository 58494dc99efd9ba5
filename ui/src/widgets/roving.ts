/**
 * Many parts that are one stop of the Tab key: arrows lead from one to the next, Home and End to the ends of a row, Enter and
 * the space bar press the one that has the focus.
 *
 * The one idea: the parts say by where they are which is next, so that cells, pieces of bars and boxes need no numbers, and
 * which of them is the stop stands in the page alone: a move draws nothing anew.
 */
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Roving<Box extends HTMLElement> {
  readonly ref: { current: Box | null };
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocusIn: (event: FocusEvent) => void;
}

/** What the parts are marked with; they have a tabIndex of -1. */
const PART = "[data-part]";

/** For the element around the parts; in rows, if it has parts above each other. */
export function useRoving<Box extends HTMLElement>(): Roving<Box> {
  const ref = useRef<Box>(null);
  useLayoutEffect(() => {
    const box = ref.current;
    if (box === null || box.querySelector(`${PART}[tabindex='0']`) !== null) return;
    const first = box.querySelector<HTMLElement>(PART);
    if (first !== null) first.tabIndex = 0;
  });
  const onFocusIn = ({ target }: FocusEvent): void => {
    if (!(target instanceof HTMLElement) || !target.matches(PART)) return;
    for (const other of ref.current?.querySelectorAll<HTMLElement>(`${PART}[tabindex='0']`) ?? []) other.tabIndex = -1;
    target.tabIndex = 0;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || !target.matches(PART) || event.altKey || event.metaKey) return;
    if (key === "Enter" || key === " ") target.click();
    else {
      const all = [...(ref.current?.querySelectorAll<HTMLElement>(PART) ?? [])];
      const next = partBeyond(all, target, event.ctrlKey && (key === "Home" || key === "End") ? `${key} of all` : event.ctrlKey ? "" : key);
      if (next === undefined) return;
      next?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { ref, onKeyDown, onFocusIn };
}

interface Place {
  readonly part: HTMLElement;
  readonly left: number;
  readonly right: number;
  readonly middle: number;
  readonly top: number;
}

/** The part that a key leads to; `null` = there is none that way, `undefined` = it is none of these keys. */
function partBeyond(all: readonly HTMLElement[], from: HTMLElement, key: string): HTMLElement | null | undefined {
  if (key === "Home of all") return all[0] ?? null;
  if (key === "End of all") return all.at(-1) ?? null;
  if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(key)) return undefined;
  const places = all.map((part): Place => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return { part, left, right, middle: (left + right) / 2, top: (top + bottom) / 2 };
  });
  const here = places.find(({ part }) => part === from);
  if (here === undefined) return null;
  // Parts of a row have their middles on one line, or within a pixel or two.
  const isBeside = (it: Place): boolean => Math.abs(it.top - here.top) < ROW;
  if (key === "ArrowUp" || key === "ArrowDown") return across(places, here, key === "ArrowUp" ? -1 : 1);
  const row = places.filter(isBeside).sort((a, b) => a.left - b.left);
  if (key === "Home") return row[0]?.part ?? null;
  if (key === "End") return row.at(-1)?.part ?? null;
  return row[row.indexOf(here) + (key === "ArrowLeft" ? -1 : 1)]?.part ?? null;
}

/** Rows are farther apart, px. */
const ROW = 8;

/** In the next row up or down: the first part that lies over or under this one, or else the nearest. */
function across(places: readonly Place[], here: Place, sign: number): HTMLElement | null {
  const beyond = places.filter((it) => sign * (it.top - here.top) >= ROW);
  const nearest = beyond.reduce((least, it) => Math.min(least, sign * (it.top - here.top)), Infinity);
  const row = beyond.filter((it) => sign * (it.top - here.top) < nearest + ROW).sort((a, b) => a.left - b.left);
  const over = row.find((it) => it.left <= here.middle && here.middle < it.right) ?? row.find((it) => it.left < here.right && here.left < it.right);
  const away = (it: Place): number => Math.abs(it.middle - here.middle);
  return (over ?? row.reduce<Place | undefined>((best, it) => (best === undefined || away(it) < away(best) ? it : best), undefined))?.part ?? null;
}
