/** Two runs side by side: what differs in numbers, both timelines one above the other, and where the difference is. */
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { count, counted } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { align, aligned, alignHere, alignNext, chooseRegionOf, iterations, mostScrolled, needPair, NONE, pair, scrollBoth, whyNot, wholeOfBoth, type Pair } from "../../state/pair.ts";
import { pictures } from "../../state/pictures.ts";
import { run } from "../../state/run.ts";
import { isBlinking, layers, lookAtAll, reach } from "../../state/view.ts";
import { isHeld } from "../../wire/worker.ts";
import { rowsBeside } from "../../state/rows.ts";
import { areTables } from "../../state/lane.ts";
import { RowsMenu } from "../rows.tsx";
import { StatesTable } from "../timeline/twins/states.tsx";
import "./compare.css";
import { needCounters } from "./counters.ts";
import { Facts } from "./facts.tsx";
import { areThere } from "./instants.ts";
import { isLaneOld } from "./course.ts";
import { Lane, LaneTwin } from "./lane.tsx";
import { Panel } from "./panel.tsx";
import { compareSvg } from "./save.ts";
import { base, blink, most, other, sides, type Side } from "./side.ts";
import { Strip } from "./strip.tsx";
import { Tables } from "./tables.tsx";
import { Coming } from "../lost.tsx";

export function Compare(): JSX.Element {
  useEffect(needPair, []);
  const head = run.value;
  if (head?.other == null) return <Alone name={head?.name ?? "run.marey"} />;
  const now = pair.value;
  if (whyNot.value !== null) return <p class="hush">These runs cannot be compared: {whyNot.value}</p>;
  if (now === null) return <Coming what="Both runs are being compared" />;
  return <Both pair={now} />;
}

/** There is one run only: how to get another. */
function Alone({ name }: { readonly name: string }): JSX.Element {
  return (
    <div class="sheet compare-alone">
      <h1>Compare</h1>
      {isHeld() ? <p>This page holds one run, and a second one cannot be added to it.</p> : <p>One run is open. To lay another beside it, open both:</p>}
      {isHeld() ? <p>Where both runs are, this opens them side by side:</p> : null}
      <pre class="compare-command">marey view {name} other.marey</pre>
      <p class="muted">The first is the base, which all views show; here both are shown, aligned on time or on the iterations of their main loops, with what differs between them.</p>
    </div>
  );
}

function Both({ pair: now }: { readonly pair: Pair }): JSX.Element {
  useEffect(() => {
    pictures.set("compare", compareSvg);
    needCounters();
    const ends = [
      effect(() => {
        // Spans reach over both, as long as both are seen.
        reach.value = wholeOfBoth.value;
      }),
      effect(() => {
        const head = other.run.value;
        rowsBeside.value = head === null ? null : { head, rows: other.rows.value };
      }),
      effect(() => {
        mostScrolled.value = most.value;
        scrollBoth(0);
      }),
      effect(() => {
        if (!isBlinking.value) {
          blink.value = false;
          return undefined;
        }
        const timer = setInterval(() => (blink.value = !blink.peek()), 450);
        return () => clearInterval(timer);
      }),
    ];
    return () => {
      ends.forEach((end) => end());
      pictures.delete("compare");
      reach.value = null;
      rowsBeside.value = null;
    };
  }, []);
  const isSettled = sides.every((side) => side.picture.value !== null && !side.isStale.value) && !isLaneOld.value && iterations.value !== null;
  return (
    <div class="sheet compare" data-settled={isSettled}>
      <h1>
        <Letter of={base} /> {run.value?.name} <span class="muted">and</span> <Letter of={other} /> {now.other.name}
      </h1>
      <p class="compare-headline">{now.head.sentences[0]}</p>
      <section>
        <Bar />
        <div class="compare-runs">
          {sides.map((side) => (
            <div class="compare-run" key={side.letter} style={{ flexGrow: Math.max(side.rows.value.length, 1), minHeight: `${leastOf(side)}px` }}>
              <Heading side={side} />
              <Panel side={side} />
            </div>
          ))}
        </div>
        <Lane />
        <Strip />
        {areTables.value ? <LaneTwin /> : null}
        {areTables.value ? sides.map((side) => <Twin key={side.letter} side={side} />) : null}
      </section>
      <Facts pair={now} />
      <Tables pair={now} />
    </div>
  );
}

/** So high a panel is at least, CSS pixels: its heading and ruler, and rows with all that stands beneath them, up to a bound. */
function leastOf(side: Side): number {
  const { rows, hosts } = side.layout.value;
  const tracks = rows.reduce((sum, row) => sum + row.tracks.reduce((all, track) => all + track.height, 0), 0);
  const names = hosts.reduce((sum, host) => sum + host.height + GAP, 0);
  return Math.min(Math.max(HEAD + rows.length * LEAST_ROW + tracks + names, LEAST_PANEL), MOST_PANEL);
}

const [HEAD, GAP, LEAST_ROW] = [56, 4, 22];
const [LEAST_PANEL, MOST_PANEL] = [120, 460];

function Letter({ of }: { readonly of: Side }): JSX.Element {
  return <span class="compare-letter">{of.letter}</span>;
}

/** Which run it is, and the visit that was pressed in it. */
function Heading({ side }: { readonly side: Side }): JSX.Element {
  const [head, visit] = [side.run.value, side.visit.value];
  const region = visit === null ? undefined : head?.regions[visit.region];
  const choose = (): void => {
    if (visit === null || region === undefined) return;
    const now = pair.peek();
    const same = now?.sameRegion[visit.region];
    const [inBase, inOther] = side === base ? [visit.region, null] : [same === undefined || same === NONE ? null : same, visit.region];
    const { name, file, line } = region;
    chooseRegionOf({ activity: "call", name, level: "", function: "", file, line, base: inBase, other: inOther });
  };
  return (
    <p class="compare-heading">
      <Letter of={side} />
      <strong>{head?.name}</strong>
      <span class="muted">
        {duration(head?.duration_ns ?? 0)} · {counted(side.rows.value.length, "location")}
      </span>
      {visit === null || head === null ? null : (
        <span class="compare-visit">
          <button type="button" class="link" title="Choose it in all views" onClick={choose}>
            <code>{region?.name}</code>
          </button>{" "}
          on {head.locations[head.lines[visit.line]?.location ?? 0]?.name}, {duration(visit.end_ns - visit.start_ns)} from {instant(visit.start_ns)}
          {visit.waits.length === 0 ? null : <span class="warn"> · waits {duration(visit.waits.reduce((sum, wait) => sum + wait.time_ns, 0))}</span>}
        </span>
      )}
    </p>
  );
}

function Bar(): JSX.Element {
  const all = iterations.value;
  const common = all?.common ?? 0;
  const at = aligned.value;
  const toggle = (name: "messages" | "waits" | "path" | "events"): void => {
    layers.value = { ...layers.value, [name]: !layers.value[name] };
  };
  return (
    <div class="compare-tools">
      <span role="group" aria-label="What lies upon what">
        <button type="button" aria-pressed={at === null} title="Both runs begin at the same place" onClick={() => align(null)}>
          Aligned on time
        </button>
        <button type="button" aria-pressed={at !== null} disabled={common === 0} title="An iteration of the main loop begins at the same place in both" onClick={alignHere}>
          Aligned on an iteration
        </button>
        <button type="button" disabled={common === 0} title="The iteration before (,)" aria-label="Previous iteration" onClick={() => alignNext(-1)}>
          ‹
        </button>
        <input
          type="number"
          aria-label="Iteration that both are aligned on"
          title="Number of the iteration that begins at the same place in both, from 1"
          min={1}
          max={Math.max(common, 1)}
          disabled={common === 0}
          value={at === null ? "" : at + 1}
          placeholder="–"
          onChange={(event) => {
            const next = Math.round(event.currentTarget.valueAsNumber);
            if (next >= 1 && next <= common) align(next - 1);
          }}
        />
        <span class="muted">of {count(common)}</span>
        <button type="button" disabled={common === 0} title="The next iteration (.)" aria-label="Next iteration" onClick={() => alignNext(1)}>
          ›
        </button>
      </span>
      <span class="compare-legend muted">
        B has <span class="compare-key compare-key-more" /> + more <span class="compare-key compare-key-less" /> − less
      </span>
      <span class="compare-layers">
        <RowsMenu />
        <Toggle name="Waits" help="Waiting that was explained, drawn in amber over the calls that waited (w)" isOn={layers.value.waits} act={() => toggle("waits")} />
        <Toggle name="Messages" help="Lines from where messages were sent to where they were received (m)" isOn={layers.value.messages} act={() => toggle("messages")} />
        <Toggle name="Critical path" help="What made each run as long as it was (c)" isOn={layers.value.path} act={() => toggle("path")} />
        {areThere.value ? <Toggle name="Instants" help="What the programs marked, a sign for each kind" isOn={layers.value.events} act={() => toggle("events")} /> : null}
        <Toggle name="Table" help="Both timelines and their difference in words and numbers, beneath them" isOn={areTables.value} act={() => (areTables.value = !areTables.value)} />
        <button type="button" onClick={lookAtAll} title="Show both runs from begin to end (0)">
          Whole runs
        </button>
      </span>
    </div>
  );
}

interface ToggleProps {
  readonly name: string;
  readonly help: string;
  readonly isOn: boolean;
  readonly act: () => void;
}

function Toggle({ name, help, isOn, act }: ToggleProps): JSX.Element {
  return (
    <button type="button" aria-pressed={isOn} onClick={act} title={help}>
      {name}
    </button>
  );
}

/** What a side shows, in words and numbers. */
function Twin({ side }: { readonly side: Side }): JSX.Element | null {
  const [head, picture] = [side.run.value, side.picture.value];
  if (head === null || picture === null) return null;
  const choose = (line: number, from: number): void => {
    side.chosenVisit.value = { line, at: from };
  };
  return (
    <div class="compare-twin">
      <h2>
        <Letter of={side} /> {head.name}
      </h2>
      <StatesTable label={`states of ${side.letter} in the span`} head={head} states={picture.states} span={side.span.value} goTo={choose} />
    </div>
  );
}
