/** The same as the pictures in words and numbers: what is drawn in the span, one line each. */
import type { JSX } from "preact";

import { twin, TWINS, type TwinName } from "../../state/view.ts";
import { AnnotationsTwin } from "./twins/annotations.tsx";
import { CountersTwin } from "./twins/counters.tsx";
import { MountainsTwin, RunTwin } from "./twins/course.tsx";
import { EventsTwin } from "./twins/events.tsx";
import { MessagesTwin } from "./twins/messages.tsx";
import { OperationsTwin } from "./twins/operations.tsx";
import { OverlapsTwin } from "./twins/overlaps.tsx";
import { PathTwin } from "./twins/path.tsx";
import { StatesTwin } from "./twins/states.tsx";

const NAMES: Readonly<Record<TwinName, readonly [name: string, help: string]>> = {
  states: ["States", "What the bars of the rows are"],
  operations: ["Operations of all", "What the shapes over the rows are"],
  messages: ["Messages", "What the lines from row to row are"],
  path: ["Critical path", "Which rows the line of the critical path leads along"],
  annotations: ["Annotations", "What the marks above the rows are"],
  counters: ["Counters", "What the charts beneath the rows are"],
  overlaps: ["Overlapping", "What the lanes beneath the rows are"],
  events: ["Marked instants", "What the signs in the rows are"],
  mountains: ["Mountains", "How many locations are in each state in the course of the span, as beneath the rows"],
  run: ["Mountains, whole run", "How many locations are in each state in the course of the run, as above the rows"],
};
const TABLES: Readonly<Record<TwinName, () => JSX.Element>> = {
  states: StatesTwin,
  operations: OperationsTwin,
  messages: MessagesTwin,
  path: PathTwin,
  annotations: AnnotationsTwin,
  counters: CountersTwin,
  overlaps: OverlapsTwin,
  events: EventsTwin,
  mountains: MountainsTwin,
  run: RunTwin,
};

export function Twin(): JSX.Element | null {
  const name = twin.value;
  if (name === null) return null;
  const Shown = TABLES[name];
  return (
    <div class="timeline-twin">
      <p class="timeline-twins" role="group" aria-label="What the table has">
        {TWINS.map((it) => (
          <button type="button" aria-pressed={it === name} title={NAMES[it][1]} onClick={() => (twin.value = it)}>
            {NAMES[it][0]}
          </button>
        ))}
      </p>
      <Shown />
    </div>
  );
}
