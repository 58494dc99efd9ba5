/** What the timeline shows: which rows in which order, and what is drawn over them. */
import type { JSX } from "preact";

import { knownCounters, shownCounters, toggleCounter } from "../../state/counters.ts";
import { hasEvents } from "../../state/events.ts";
import { overlapping } from "../../state/overlaps.ts";
import { run } from "../../state/run.ts";
import { layers, notes, toggleLayer, toggleNotes, type Layers, type Notes } from "../../state/view.ts";
import { Popover } from "../../widgets/popover.tsx";
import { Check } from "../rows.tsx";

const LAYERS: ReadonlyArray<readonly [keyof Layers, string, string, string]> = [
  ["waits", "Waits", "w", "Waiting that was explained, drawn in amber over the calls that waited"],
  ["messages", "Messages", "m", "Lines from where messages were sent to where they were received"],
  ["operations", "Operations of all", "g", "A shape from where each member entered to where it left, an arrow where the last one came"],
  ["overlaps", "Overlapping states", "", "States that need not nest, beneath the rows: each in a lane in which none overlaps another"],
  ["events", "Marked instants", "", "Signs where the program marked an instant; press one to read what it said"],
  ["path", "Critical path", "c", "What made the run as long as it was: whatever is faster on it makes the run shorter"],
];

const NOTES: ReadonlyArray<readonly [keyof Notes, string, string]> = [
  ["findings", "Findings", "What cost the run time, and where"],
  ["situations", "Situations", "A pace that changes, too little or too much to do, messages that pile up"],
  ["anomalies", "Anomalous visits", "The visits that lasted longest beyond their like"],
];

/** What is drawn over the states and above them. */
export function ShowMenu(): JSX.Element {
  return (
    <Popover name="Show" help="What is drawn over the states">
      {LAYERS.filter(([layer]) => (layer !== "overlaps" || overlapping.value.size > 0) && (layer !== "events" || hasEvents.value)).map(([layer, name, shortcut, help]) => (
        <Check name={name} shortcut={shortcut} help={help} isOn={layers.value[layer]} act={() => toggleLayer(layer)} />
      ))}
      <CounterChecks />
      <h2>Above the rows</h2>
      {NOTES.map(([name, words, help]) => (
        <Check name={words} shortcut="" help={help} isOn={notes.value[name]} act={() => toggleNotes(name)} />
      ))}
    </Popover>
  );
}

/** Counters, to be drawn beneath the rows. */
function CounterChecks(): JSX.Element | null {
  const head = run.value;
  if (head === null || knownCounters.value.length === 0) return null;
  const shown = new Set(shownCounters.value);
  return (
    <>
      <h2>Beneath the rows</h2>
      {knownCounters.value.map((counter) => {
        const it = head.counters[counter];
        const help = `${it?.is_rate === true ? "How fast it grows" : "Its value"}${it?.unit === "" ? "" : `, in ${it?.unit}${it?.is_rate === true ? "/s" : ""}`}`;
        return it === undefined ? null : <Check name={it.name} shortcut="" help={help} isOn={shown.has(counter)} act={() => toggleCounter(counter)} />;
      })}
    </>
  );
}
