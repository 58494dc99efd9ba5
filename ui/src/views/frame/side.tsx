/** The right side: findings, all about what was chosen, and the states that are seen. */
import { batch } from "@preact/signals";
import type { JSX } from "preact";

import { bytes, counted, place } from "../../base/format.ts";
import { duration, instant } from "../../base/time.ts";
import { situations } from "../../state/annotations.ts";
import { events } from "../../state/events.ts";
import { pickAll } from "../../state/instances.ts";
import { operation } from "../../state/operation.ts";
import { run } from "../../state/run.ts";
import { goToSource } from "../../state/source.ts";
import { steps } from "../../state/steps.ts";
import { beside, chooseMessage, chooseOperation, chosenMessage, chosenRegion, isBlinking, isSideShown, lookAround, origin, view } from "../../state/view.ts";
import { totals } from "../../state/timeline.ts";
import { goToCaller, goToLocation, isNothing, step, visit } from "../../state/visit.ts";
import { tearOff } from "../../state/windows.ts";
import type { Operation, RunHead, WireMessage, WireVisit } from "../../wire/generated.ts";
import { Findings } from "../findings.tsx";
import { situationNotes } from "../notes.tsx";
import { States } from "../states.tsx";
import { SelectedEvents } from "./events.tsx";
import { Fact } from "./facts.tsx";
import { SelectedMessage } from "./message.tsx";
import { SelectedOperation } from "./operation.tsx";

export function Side(): JSX.Element {
  return (
    <aside class={isSideShown.value ? "side side-shown" : "side"} data-topic="side" data-steps={steps.value} aria-label="Findings and details">
      {view.value === "overview" ? null : (
        <details open={visit.value === null && operation.value === null && events.value === null && chosenMessage.value === null}>
          <summary title="What others waited for and what there is to win; press to open or close">
            <h2>Findings</h2>
          </summary>
          <Findings />
        </details>
      )}
      <Situations />
      <Chosen />
      {view.value === "timeline" || beside.value === "timeline" ? <StatesHere /> : null}
    </aside>
  );
}

/** All about the one thing that is chosen. */
function Chosen(): JSX.Element | null {
  if (chosenMessage.value !== null) return <SelectedMessage it={chosenMessage.value} />;
  if (operation.value !== null) return <SelectedOperation it={operation.value} />;
  return events.value !== null ? <SelectedEvents it={events.value} /> : <Selected />;
}

/** Situations as cards, like findings. */
function Situations(): JSX.Element | null {
  const all = situationNotes.value;
  const more = situations.value?.more ?? 0;
  if (view.value === "overview" || all.length === 0) return null;
  return (
    <details>
      <summary title="A pace that changes, too little or too much to do, messages that pile up; press to open or close">
        <h2>Situations ({all.length})</h2>
      </summary>
      <div class="findings">
        {all.map((it) => (
          <button type="button" class="findings-card" onClick={it.act} title="Show it in the timeline">
            <span class="findings-text">
              <span class="findings-sign">{it.sign}</span> {it.text}
            </span>
          </button>
        ))}
      </div>
      {more > 0 ? <p class="muted">{counted(more, "more situation")} of rules that found too many</p> : null}
    </details>
  );
}

function Selected(): JSX.Element | null {
  const head = run.value;
  const it = visit.value;
  if (head === null) return null;
  if (it === null) {
    return (
      <section>
        <h2>Selected</h2>
        <p class="muted">{isNothing.value ? "Nothing was recorded there." : "Press a visit or a message in the timeline to see all about it."}</p>
      </section>
    );
  }
  const region = head.regions[it.region];
  const location = head.lines[it.line]?.location ?? 0;
  return (
    <section>
      <h2>Selected</h2>
      <dl class="facts">
        <Fact name="State">
          <button type="button" class="link" title="Choose it in all views" onClick={() => (chosenRegion.value = it.region)}>
            <code>{region?.name}</code>
          </button>
        </Fact>
        <Fact name="Where">{head.locations[location]?.name}</Fact>
        <Fact name="Start">{instant(it.start_ns)}</Fact>
        {origin.value === null ? null : <Fact name="Since the origin">{duration(it.start_ns - origin.value)}</Fact>}
        <Fact name="Duration">{duration(it.end_ns - it.start_ns)}</Fact>
        {it.waits.map((wait) => (
          <Fact name={wait.pattern} isWarning>
            {duration(wait.time_ns)},{" "}
            <button type="button" class="link" title="Go to who was waited for" onClick={() => void goToLocation(wait.cause, it.start_ns)}>
              {head.locations[wait.cause]?.name}
            </button>
          </Fact>
        ))}
        {it.bytes === null ? null : <Fact name="Data">{bytes(it.bytes)}</Fact>}
        {it.visits > 1 ? <Fact name="Visits in a row">{it.visits}</Fact> : null}
        {it.fields.map((field) => (
          <Fact name={field.name}>{field.value}</Fact>
        ))}
        <Messages head={head} it={it} location={location} />
        <TakesPart of={it.operation} />
      </dl>
      <CallPath head={head} it={it} />
      <p class="side-tools">
        <button type="button" onClick={() => lookAround(it.start_ns, it.end_ns)} title="Zoom to it (f)">
          Zoom
        </button>
        <button type="button" onClick={() => void step("previous")} title="Previous visit of this region ([)">
          ‹ Previous
        </button>
        <button type="button" onClick={() => void step("next")} title="Next visit of this region (])">
          Next ›
        </button>
        <button type="button" onClick={() => listAll(it.region)} title="All visits of this region, one by one, with the histogram of how long they took; it is chosen in all views">
          All visits
        </button>
        <button type="button" aria-pressed={isBlinking.value} onClick={() => (isBlinking.value = !isBlinking.value)} title="Let all visits of this region blink (b)">
          Blink
        </button>
      </p>
    </section>
  );
}

/** The view that lists them, unless it stands beside. */
function listAll(region: number): void {
  batch(() => {
    pickAll(region);
    if (beside.peek() !== "histogram") view.value = "histogram";
  });
}

/** The operation of all that it is a part of. */
function TakesPart({ of }: { readonly of: Operation | null }): JSX.Element | null {
  if (of === null) return null;
  return (
    <Fact name="Operation">
      <button type="button" class="link" title="All about it: who took part, who came last" onClick={() => chooseOperation(of)}>
        all members
      </button>
    </Fact>
  );
}

function Messages({ head, it, location }: { readonly head: RunHead; readonly it: WireVisit; readonly location: number }): JSX.Element {
  return (
    <>
      {it.messages.slice(0, 8).map((message) => (
        <MessageFact head={head} message={message} location={location} />
      ))}
      {it.messages.length > 8 || !it.all_messages ? (
        <Fact name="Messages">{it.all_messages ? `${counted(it.messages.length - 8, "more message")}` : "more than 100"}</Fact>
      ) : null}
    </>
  );
}

function MessageFact({ head, message, location }: { readonly head: RunHead; readonly message: WireMessage; readonly location: number }): JSX.Element {
  const isSent = message.from === location;
  const { from, sent_ns: sent, to, received_ns: received } = message;
  const tag = message.tag === null ? "" : ` · tag ${message.tag}`;
  const words = `${bytes(message.bytes)}${tag}`;
  if (from === null || sent === null || to === null || received === null) return <Fact name={isSent ? "Message to" : "Message from"}>{`unknown · ${words}`}</Fact>;
  const [other, time] = isSent ? [to, received - 1] : [from, sent];
  return (
    <Fact name={isSent ? "Message to" : "Message from"}>
      <button type="button" class="link" title="Go to its other end" onClick={() => void goToLocation(other, time)}>
        {head.locations[other]?.name}
      </button>
      {" · "}
      <button type="button" class="link" title="All about this message: when it was sent and received, and in which calls" onClick={() => chooseMessage({ from, sent, to, received, tag: message.tag, bytes: message.bytes, number: 1 })}>
        {words}
      </button>
    </Fact>
  );
}

/** From where it was called: regions around it, then the functions of the program. */
function CallPath({ head, it }: { readonly head: RunHead; readonly it: WireVisit }): JSX.Element {
  return (
    <ol class="path" aria-label="Called from, the innermost first">
      {it.path
        .slice(0, -1)
        .map((region, place) => (
          <li>
            <button type="button" class="link" title="Go to the visit that this one lies in" onClick={() => void goToCaller(it, place)}>
              <code>{head.regions[region]?.name}</code>
            </button>
          </li>
        ))
        .reverse()}
      {it.stack.slice(0, 24).map((frame) => (
        <li title={frame.file}>
          <code>{frame.function === "" ? "(unknown)" : frame.function}</code>
          {frame.line === 0 ? (
            <span class="muted mono">{place(frame.file, frame.line)}</span>
          ) : (
            <button type="button" class="link mono" title="Go to this line of the source" onClick={() => goToSource(frame.file, frame.line)}>
              {place(frame.file, frame.line)}
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The states of the span; a window of their own has more of them. */
function StatesHere(): JSX.Element | null {
  const sums = totals.value;
  if (sums === null) return null;
  return (
    <section data-topic="states">
      <div class="states-heading">
        <h2 title="Of the time of all locations that are shown; what is nested counts on each of its lines">
          States in view{sums.isExact ? "" : " (about)"}
        </h2>
        <button type="button" class="link" aria-label="Tear off the states" title="The list in a window of its own, with all of them" onClick={() => tearOff("states")}>
          tear off
        </button>
      </div>
      <States most={40} wanted="" />
    </section>
  );
}
