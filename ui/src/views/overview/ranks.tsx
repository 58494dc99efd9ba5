/** Time of each rank, cut into the levels on which it was spent. Arrow keys go from piece to piece. */
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { engine, fail, processName, run } from "../../state/run.ts";
import { chosenLocations, hiddenLevels, view } from "../../state/view.ts";
import { useRoving } from "../../widgets/roving.ts";
import type { RunHead } from "../../wire/generated.ts";
import { colourOf } from "../colours.ts";

/** So many ranks have a bar. */
const MOST = 256;

/** ns, by location and level; `null` = nobody has needed it, or it is being read. */
const levels = signal<Float64Array | null>(null);
let isAsked = false;

function need(): void {
  if (isAsked) return;
  isAsked = true;
  void engine.levels().then((frame) => (levels.value = frame.f64("exclusive")), fail);
}

interface Process {
  readonly name: string;
  readonly locations: readonly number[];
  /** From the first to the last measured instant of all its threads, ns. */
  readonly life: number;
  /** Exclusive time by level, ns. */
  readonly times: readonly number[];
}

export function Ranks(): JSX.Element | null {
  useEffect(need, []);
  const roving = useRoving<HTMLDivElement>();
  const [head, all] = [run.value, levels.value];
  if (head === null || all === null) return null;
  const processes = processesOf(head, all);
  const most = Math.max(...processes.map((it) => it.life), 1);
  const shown = head.levels.flatMap((name, level) => {
    const time = processes.reduce((sum, it) => sum + (it.times[level] ?? 0), 0);
    return time > 0 ? [{ name, level, time }] : [];
  });
  const lives = processes.reduce((sum, it) => sum + it.life, 0);
  const rest = lives - shown.reduce((sum, it) => sum + it.time, 0);
  const colours = new Map(shown.map(({ level }) => [level, colourOfLevel(head, level)]));
  return (
    <section>
      <h2>Time per rank and level — of all its threads, in what was recorded on the level and not on one beneath</h2>
      <p class="overview-levels">
        {shown.map(({ name, level, time }) => (
          <button type="button" class="link" title={`${duration(time)} of all ranks together; press to see this level alone in the timeline`} onClick={() => showLevel(head, level)}>
            <span class="overview-key" style={{ background: colours.get(level) }} /> {name} {percent(time / Math.max(lives, 1))}
          </button>
        ))}
        <span class="muted" title="Time in which nothing was recorded: the program's own code, unless that was recorded, too">
          <span class="overview-key overview-rest" /> outside {percent(Math.max(rest, 0) / Math.max(lives, 1))}
        </span>
      </p>
      <div class="overview-bars" role="grid" aria-label="Time per rank, a piece for each level" {...roving}>
        {processes.slice(0, MOST).map((it) => (
          <div role="row" class="overview-bar">
            <span role="rowheader">
              <button type="button" class="link" data-part tabIndex={-1} title="Show this rank only" onClick={() => (chosenLocations.value = it.locations)}>
                {it.name}
              </button>
            </span>
            <span class="overview-track" role="presentation">
              {shown.map(({ name, level }) => (
                <Piece of={it} what={name} time={it.times[level] ?? 0} most={most} colour={colours.get(level) ?? null} />
              ))}
              <Piece of={it} what="outside" time={Math.max(it.life - sum(it.times), 0)} most={most} colour={null} />
            </span>
            <span class="mono" role="gridcell" data-part tabIndex={-1} title={`From the first to the last measured instant of all threads of ${it.name}`}>
              {duration(it.life)}
            </span>
          </div>
        ))}
      </div>
      {processes.length > MOST ? <p class="muted">{processes.length - MOST} more are in the table of `marey report --by rank`.</p> : null}
    </section>
  );
}

interface PieceProps {
  readonly of: Process;
  readonly what: string;
  readonly time: number;
  readonly most: number;
  /** `null` = that of what was not recorded. */
  readonly colour: string | null;
}

/** The time of a rank on one level. */
function Piece({ of, what, time, most, colour }: PieceProps): JSX.Element | null {
  if (time <= 0) return null;
  return (
    <span
      class={colour === null ? "overview-fill overview-piece overview-rest" : "overview-fill overview-piece"}
      role="gridcell"
      data-part
      tabIndex={-1}
      style={{ width: `${(time / most) * 100}%`, background: colour ?? undefined }}
      title={`${what}: ${duration(time)}, ${percent(time / Math.max(of.life, 1))} of ${of.name}; press to show this rank only`}
      onClick={() => (chosenLocations.value = of.locations)}
    />
  );
}

function sum(times: readonly number[]): number {
  return times.reduce((total, time) => total + time, 0);
}

function processesOf(head: RunHead, all: Float64Array): readonly Process[] {
  const width = head.levels.length;
  const locations = head.processes.map((): number[] => []);
  head.locations.forEach((it, place) => locations[it.process]?.push(place));
  return head.processes.map((_, number): Process => {
    const own = locations[number] ?? [];
    const life = own.reduce((total, it) => total + (head.locations[it]?.end_ns ?? 0) - (head.locations[it]?.start_ns ?? 0), 0);
    const times = head.levels.map((_, level) => own.reduce((total, it) => total + (all[it * width + level] ?? 0), 0));
    return { name: processName(number), locations: own, life, times };
  });
}

/** That of the region on which most of its time was spent. */
function colourOfLevel(head: RunHead, level: number): string {
  let best = -1;
  head.regions.forEach((region, place) => {
    if (region.level === level && region.exclusive_ns > (head.regions[best]?.exclusive_ns ?? -1)) best = place;
  });
  return best < 0 ? "var(--faint)" : colourOf.value(best);
}

function showLevel(head: RunHead, level: number): void {
  hiddenLevels.value = new Set(head.levels.flatMap((_, other) => (other === level ? [] : [other])));
  view.value = "timeline";
}
