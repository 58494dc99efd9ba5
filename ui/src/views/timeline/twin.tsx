/** The same as the rows in words and numbers: what is drawn in the span, one line each. */
import type { JSX } from "preact";

import { twin, TWINS, type TwinName } from "../../state/view.ts";
import { AnnotationsTwin } from "./twins/annotations.tsx";
import { CountersTwin } from "./twins/counters.tsx";
import { EventsTwin } from "./twins/events.tsx";
import { OperationsTwin } from "./twins/operations.tsx";
import { OverlapsTwin } from "./twins/overlaps.tsx";
import { StatesTwin } from "./twins/states.tsx";

const NAMES: Readonly<Record<TwinName, string>> = { states: "States", operations: "Operations of all", annotations: "Annotations", counters: "Counters", overlaps: "Overlapping", events: "Marked instants" };
const TABLES: Readonly<Record<TwinName, () => JSX.Element>> = { states: StatesTwin, operations: OperationsTwin, annotations: AnnotationsTwin, counters: CountersTwin, overlaps: OverlapsTwin, events: EventsTwin };

export function Twin(): JSX.Element | null {
  const name = twin.value;
  if (name === null) return null;
  const Shown = TABLES[name];
  return (
    <div class="timeline-twin">
      <p class="timeline-twins" role="group" aria-label="What the table has">
        {TWINS.map((it) => (
          <button type="button" aria-pressed={it === name} onClick={() => (twin.value = it)}>
            {NAMES[it]}
          </button>
        ))}
      </p>
      <Shown />
    </div>
  );
}
