/** All about a message: who sent it to whom, when, how much, and in which calls; or what to do with several that are drawn together. */
import type { JSX } from "preact";

import { bytes, counted } from "../../base/format.ts";
import { duration, instant, length, ns } from "../../base/time.ts";
import { message, stepMessage } from "../../state/message.ts";
import { run } from "../../state/run.ts";
import { look, lookAround, origin, span, type ChosenMessage } from "../../state/view.ts";
import { goTo, goToLocation } from "../../state/visit.ts";
import type { RunHead, WireVisit } from "../../wire/generated.ts";
import { Fact } from "./facts.tsx";

export function SelectedMessage({ it }: { readonly it: ChosenMessage }): JSX.Element | null {
  const head = run.value;
  if (head === null) return null;
  return it.number > 1 ? <Together head={head} it={it} /> : <One head={head} it={it} />;
}

function One({ head, it }: { readonly head: RunHead; readonly it: ChosenMessage }): JSX.Element {
  // What is still told may be of the one before.
  const about = message.value?.of === it ? message.value : null;
  if (about?.isThere === false) {
    return (
      <section aria-label="Selected message">
        <h2>Selected message</h2>
        <p class="muted">No such message was recorded.</p>
      </section>
    );
  }
  return (
    <section aria-label="Selected message" data-told={about !== null}>
      <h2>Selected message</h2>
      <dl class="facts">
        <Fact name="From">{nameOf(head, it.from)}</Fact>
        <Fact name="To">{nameOf(head, it.to)}</Fact>
        <Fact name="Sent">{instant(it.sent)}</Fact>
        {origin.value === null ? null : <Fact name="Since the origin">{duration(it.sent - origin.value)}</Fact>}
        <Fact name="Received">{instant(it.received)}</Fact>
        <Fact name="On its way" isWarning={it.received < it.sent}>
          {it.received < it.sent ? `received ${duration(it.sent - it.received)} before it was sent` : duration(it.received - it.sent)}
        </Fact>
        <Fact name="Data">{bytes(it.bytes)}</Fact>
        <Fact name="Tag">{it.tag ?? "not known"}</Fact>
        <Fact name="Communicator">{about === null ? "…" : (about.communicator ?? "not known")}</Fact>
        <Fact name="Sent by">
          <Call head={head} call={about?.send ?? null} help="Go to the call that sent it" otherwise={() => void goToLocation(it.from, it.sent)} />
        </Fact>
        <Fact name="Received by">
          <Call head={head} call={about?.receive ?? null} help="Go to the call that completed its receive" otherwise={() => void goToLocation(it.to, it.received - 1)} />
        </Fact>
      </dl>
      <p class="side-tools">
        <button type="button" onClick={() => lookAround(Math.min(it.sent, it.received), Math.max(it.sent, it.received))} title="Zoom to it (f)">
          Zoom
        </button>
        <button type="button" onClick={() => void stepMessage("previous")} title={`Previous message from ${nameOf(head, it.from)} to ${nameOf(head, it.to)} ([)`}>
          ‹ Previous
        </button>
        <button type="button" onClick={() => void stepMessage("next")} title={`Next message from ${nameOf(head, it.from)} to ${nameOf(head, it.to)} (])`}>
          Next ›
        </button>
      </p>
    </section>
  );
}

function nameOf(head: RunHead, location: number): string {
  return head.locations[location]?.name ?? "";
}

interface CallProps {
  readonly head: RunHead;
  readonly call: WireVisit | null;
  readonly help: string;
  /** What leads there where the call is not known. */
  readonly otherwise: () => void;
}

function Call({ head, call, help, otherwise }: CallProps): JSX.Element {
  return (
    <button type="button" class="link" title={help} onClick={() => (call === null ? otherwise() : goTo(call.line, call.start_ns, call.end_ns))}>
      {call === null ? "its place" : <code>{head.regions[call.region]?.name}</code>}
    </button>
  );
}

/** Several as one line: who reads it learns how many, and how to tell them apart. */
function Together({ head, it }: { readonly head: RunHead; readonly it: ChosenMessage }): JSX.Element {
  return (
    <section aria-label="Messages drawn together">
      <h2>{counted(it.number, "message")} drawn together</h2>
      <dl class="facts">
        <Fact name="From">{nameOf(head, it.from)}</Fact>
        <Fact name="To">{nameOf(head, it.to)}</Fact>
        <Fact name="Sent, mean">{instant(it.sent)}</Fact>
        <Fact name="Received, mean">{instant(it.received)}</Fact>
        <Fact name="Data, all">{bytes(it.bytes)}</Fact>
      </dl>
      <p class="muted">There are too many messages here to draw each of them. Zoom in until they stand apart, then press one.</p>
      <p class="side-tools">
        <button type="button" onClick={() => closer(it)} title="Zoom in to where these were sent">
          Zoom in to them
        </button>
      </p>
    </section>
  );
}

/** A quarter of what is seen, with their line in it. */
function closer(it: ChosenMessage): void {
  const [middle, size] = [(it.sent + it.received) / 2, length(span.peek()) / 4];
  look({ from: ns(Math.round(middle - size / 2)), to: ns(Math.round(middle + size / 2)) });
}
