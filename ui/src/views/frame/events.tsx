/** What the program said of the instants of a mark. */
import type { JSX } from "preact";

import { counted } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import { chosenEvents, lookAround, origin } from "../../state/view.ts";
import { goToLocation } from "../../state/visit.ts";
import type { EventsAtHead } from "../../wire/generated.ts";
import { Fact } from "./facts.tsx";

export function SelectedEvents({ it }: { readonly it: EventsAtHead }): JSX.Element | null {
  const [head, chosen] = [run.value, chosenEvents.value];
  if (head === null || chosen === null) return null;
  const { location, from, to } = chosen;
  const left = it.number - it.events.length;
  return (
    <section aria-label="Marked instants">
      <h2>{it.number === 1 ? "Marked instant" : `${counted(it.number, "marked instant")}`}</h2>
      {it.number === 0 ? <p class="muted">The program marked nothing there.</p> : null}
      {it.events.map((event) => (
        <dl class="facts">
          <Fact name="Kind">
            <code>{head.event_kinds[event.kind]?.name}</code>
          </Fact>
          <Fact name="Where">{head.locations[location]?.name}</Fact>
          <Fact name="When">{instant(event.time_ns)}</Fact>
          {origin.value === null ? null : <Fact name="Since the origin">{duration(event.time_ns - origin.value)}</Fact>}
          {event.fields.map((field) => (
            <Fact name={field.name}>{field.value}</Fact>
          ))}
        </dl>
      ))}
      {left > 0 ? <p class="muted">{counted(left, "more instant")}; zoom in to tell them apart.</p> : null}
      {it.damage.length > 0 ? <p class="warn">{`Not all could be read: ${it.damage.join("; ")}`}</p> : null}
      <p class="side-tools">
        <button type="button" onClick={() => lookAround(from, Math.max(to, from + 1000))} title="Zoom to them">
          Zoom
        </button>
        <button type="button" onClick={() => void goToLocation(location, from)} title="All about the visit that they are in">
          The visit around
        </button>
      </p>
    </section>
  );
}
