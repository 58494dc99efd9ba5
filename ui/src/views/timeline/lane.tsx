/** Findings, situations and anomalous visits where they are in time: a strip above the rows, a mark for each. */
import { effect } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { counted } from "../../base/format.ts";
import { duration, length } from "../../base/time.ts";
import { pxFromTime } from "../../canvas/scale.ts";
import { anomalies, isLong, isLooking, needAnnotations, situations } from "../../state/annotations.ts";
import { toldSpan } from "../../state/told.ts";
import { lookAround, notes, span } from "../../state/view.ts";
import { shownNotes, type Note } from "../notes.tsx";
import { GUTTER } from "./draw.ts";
import { plotWidth } from "./place.ts";

/** Marks lie at least so far apart, CSS pixels. */
const ROOM = 24;
/** A mark lies no farther than this from where it belongs; what would is put together with the one before. */
const AWAY = 3 * ROOM;

/** Ticks that are nearer to each other than this are one. */
const TICK = 8;

/** A mark: one note, or several that have no room side by side. */
interface Mark {
  readonly at: number;
  readonly notes: readonly Note[];
}

export function Lane(): JSX.Element | null {
  const scale = { span: toldSpan.value, left: GUTTER, width: Math.max(plotWidth.value, 1) };
  const right = GUTTER + scale.width;
  const seen = shownNotes.value.filter((it) => it.to >= scale.span.from && it.from <= scale.span.to);
  const edges = (it: Note): readonly [number, number] => [Math.max(pxFromTime(scale, it.from), GUTTER), Math.min(pxFromTime(scale, it.to), right)];
  // Single visits are many and small: they stand beneath the others, each where it is.
  const [large, small] = [seen.filter((it) => it.of !== "anomalies"), seen.filter((it) => it.of === "anomalies")];
  const hint = hintNow();
  if (shownNotes.value.length === 0 && hint === null) return null;
  return (
    <div class="timeline-lane" role="group" aria-label="Findings, situations and anomalous visits in the course of time">
      <span class="timeline-name">Annotations</span>
      <Along>
        {large.map((it) => {
          const [from, to] = edges(it);
          return <span class={`timeline-extent timeline-extent-${it.of}`} style={{ left: `${from}px`, width: `${Math.max(to - from, 1)}px` }} />;
        })}
        {marksOf(large, edges, right).map((it) => (
          <Sign mark={it} />
        ))}
        {ticksOf(small, edges).map((it) => (
          <Tick mark={it} />
        ))}
      </Along>
      {hint === null ? null : <span class="timeline-lane-hint">{hint}</span>}
    </div>
  );
}

/**
 * What moves along with the span. Its places are told anew some times a second; between that all of it is shifted, since
 * setting a hundred places takes longer than drawing the timeline.
 */
function Along({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      effect(() => {
        const [told, now] = [toldSpan.value, span.value];
        const isMoved = length(told) === length(now);
        const by = isMoved ? Math.round(((told.from - now.from) / length(now)) * Math.max(plotWidth.value, 1)) : 0;
        if (box.current !== null) box.current.style.transform = by === 0 ? "" : `translateX(${by}px)`;
      }),
    [],
  );
  return (
    <div class="timeline-along" ref={box}>
      {children}
    </div>
  );
}

/** What is still to be found, in words; `null` = nothing. */
function hintNow(): JSX.Element | string | null {
  const wanted = notes.value.situations || notes.value.anomalies;
  if (!wanted) return null;
  if (isLooking.value) return "looking for situations …";
  if (situations.value === null && isLong.value) {
    return (
      <button type="button" title="The run is long, so that this may take a while" onClick={() => void needAnnotations()}>
        Look for situations
      </button>
    );
  }
  const damage = [...(situations.value?.damage ?? []), ...(anomalies.value?.damage ?? [])];
  return damage.length > 0 ? `situations are not known: ${damage[0]}` : null;
}

function marksOf(seen: readonly Note[], edges: (it: Note) => readonly [number, number], right: number): readonly Mark[] {
  const marks: Array<{ at: number; notes: Note[] }> = [];
  for (const note of seen) {
    const [from, to] = edges(note);
    const wanted = Math.min((from + to) / 2 - 9, right - 18);
    const last = marks.at(-1);
    const at = last === undefined ? wanted : Math.max(wanted, last.at + ROOM);
    if (last !== undefined && (at - wanted > AWAY || at > right - 18)) last.notes.push(note);
    else marks.push({ at, notes: [note] });
  }
  return marks;
}

function ticksOf(seen: readonly Note[], edges: (it: Note) => readonly [number, number]): readonly Mark[] {
  const ticks: Array<{ at: number; notes: Note[] }> = [];
  for (const note of seen) {
    const [from, to] = edges(note);
    const at = (from + to) / 2;
    const last = ticks.at(-1);
    if (last !== undefined && at - last.at < TICK) last.notes.push(note);
    else ticks.push({ at, notes: [note] });
  }
  return ticks;
}

/** What a mark says and does: the one note, or a look at all of them. */
function about({ notes }: Mark): { readonly words: string; readonly title: string; readonly act: () => void } {
  const [first] = notes;
  if (first !== undefined && notes.length === 1) {
    const words = `${first.kind}: ${first.text}`;
    return { words, title: `${words} (${duration(first.to - first.from)})`, act: first.act };
  }
  const from = Math.min(...notes.map((it) => it.from));
  const to = Math.max(...notes.map((it) => it.to));
  const words = `+${counted(notes.length, "annotation")}: ${[...new Set(notes.map((it) => it.kind.toLowerCase()))].join(", ")}`;
  return { words, title: `${words}; press to zoom to them`, act: () => lookAround(from, to, 0.1) };
}

function Tick({ mark }: { readonly mark: Mark }): JSX.Element {
  const { words, title, act } = about(mark);
  return <button type="button" class={`timeline-tick ${mark.notes.length > 1 ? "timeline-tick-many" : ""}`} style={{ left: `${mark.at - 4}px` }} title={title} aria-label={words} onClick={act} />;
}

function Sign({ mark }: { readonly mark: Mark }): JSX.Element {
  const { words, title, act } = about(mark);
  const [first] = mark.notes;
  const isOne = mark.notes.length === 1 && first !== undefined;
  return (
    <button type="button" class={`timeline-mark timeline-mark-${isOne ? first.of : "many"}`} style={{ left: `${mark.at}px` }} title={title} aria-label={words} onClick={act}>
      {isOne ? first.sign : `+${mark.notes.length}`}
    </button>
  );
}
