/** Who sent how much to whom, of which sizes and how long it took: parts that limit each other; operations of all. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { bytes, count, counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { pairName, report, run, whole } from "../../state/run.ts";
import { spanLength } from "../../state/told.ts";
import { cellMeasure, collectiveSums, durations, followTraffic, isCounting, order, sizes, tag, traffic, type CellMeasure, type TrafficSums } from "../../state/traffic.ts";
import { chosenPair, span, view } from "../../state/view.ts";
import type { TrafficOrder } from "../../wire/generated.ts";
import { Classes, edgesOf } from "./classes.tsx";
import "./communication.css";
import { Messages, Operations } from "./list.tsx";
import { extremes, Matrix, Processes, WRITTEN } from "./matrix.tsx";
import { Pairs } from "./pairs.tsx";
import { AddedUp } from "../added_up.tsx";
import { Coming } from "../lost.tsx";

const MEASURES: ReadonlyArray<readonly [CellMeasure, string, string]> = [
  ["bytes", "Data", "Cells are coloured by the data that was sent, bytes"],
  ["messages", "Messages", "Cells are coloured by the number of messages"],
  ["time", "Time", "Cells are coloured by how long messages were on their way, all together, ms"],
];

const ORDERS: ReadonlyArray<readonly [TrafficOrder, string]> = [
  ["duration", "longest first"],
  ["bytes", "largest first"],
  ["sent", "earliest first"],
];

export function Communication(): JSX.Element {
  useEffect(followTraffic, []);
  const [sums, head] = [traffic.value, run.value];
  const isLeftOut = head?.left_out.includes("messages") === true;
  const isSettled = isLeftOut || (sums !== null && !isCounting.value && collectiveSums.value !== null);
  return (
    <div class="sheet" data-settled={isSettled}>
      {isLeftOut ? <p class="muted">Messages were left out of this page, since the run was too large: only their sums over the whole run are known.</p> : null}
      {isLeftOut ? null : sums === null ? <Coming what="Messages are being counted" /> : <Linked sums={sums} />}
      <section>
        <h2>Operations of all in this span</h2>
        <Operations />
      </section>
      <section>
        <h2>Pairs</h2>
        <Pairs ofRun={report.value?.communication ?? []} sums={isLeftOut ? null : sums} />
      </section>
    </div>
  );
}

/** Matrix, classes and list. */
function Linked({ sums }: { readonly sums: TrafficSums }): JSX.Element {
  const { number, bytes: data, time_ns: time, damage } = sums.head;
  const isAll = spanLength.value >= whole.value.to;
  return (
    <div class={isCounting.value ? "communication-linked communication-stale" : "communication-linked"}>
      <section aria-label="Messages">
        <h2>
          Messages {isAll ? "of the whole run" : `of the span that is shown, ${duration(spanLength.value)}`} — {count(number)}, {bytes(data)}, {duration(number === 0 ? 0 : time / number)} on their way on average
        </h2>
        <Limits />
        <AddedUp to={span.value.to} lacks="their messages are not here" />
        <Unmatched sums={sums} />
        {damage.length > 0 ? <p class="warn">Not all could be read: {damage.join("; ")}</p> : null}
        {number === 0 && sums.cells.length === 0 ? (
          <p class="hush">No messages in this span.</p>
        ) : (
          <div class="communication-panes">
            <MatrixPane sums={sums} />
            <div>
              <h2 title="Messages from so many bytes on, by powers of two">Sizes — how much they held</h2>
              <Classes name="Sizes of messages" counts={sums.ofSize} chosen={sizes.value} write={bytes} choose={(next) => (sizes.value = next)} />
            </div>
            <div>
              <h2 title="Messages that were on their way for so long and longer, by powers of two">Durations — how long on their way</h2>
              <Classes name="Durations of messages" counts={sums.ofDuration} chosen={durations.value} write={duration} choose={(next) => (durations.value = next)} />
            </div>
          </div>
        )}
      </section>
      <section>
        <h2>
          Messages one by one{number > sums.listed.length ? ` — ${count(sums.listed.length)} of ${count(number)}, ` : ", "}
          <select aria-label="Which messages are listed" title="Which of them are listed, if they are too many" value={order.value} onChange={(event) => (order.value = ORDERS.find(([it]) => it === event.currentTarget.value)?.[0] ?? "duration")}>
            {ORDERS.map(([it, name]) => (
              <option value={it}>{name}</option>
            ))}
          </select>
        </h2>
        <Messages rows={sums.listed} communicators={sums.head.communicators} />
      </section>
    </div>
  );
}

/** What the sums are without. */
function Unmatched({ sums }: { readonly sums: TrafficSums }): JSX.Element | null {
  const { unmatched_sends: sends, unmatched_receives: receives } = sums.head;
  if (sends + receives === 0) return null;
  return (
    <p class="warn" title="Their other end was not recorded or could not be told, so how long they were on their way is not known">
      Not in these sums: {counted(sends, "send")} without its receive, {counted(receives, "receive")} without its send.
    </p>
  );
}

function MatrixPane({ sums }: { readonly sums: TrafficSums }): JSX.Element {
  const [least, most] = extremes(sums.cells, cellMeasure.value);
  const write = WRITTEN[cellMeasure.value];
  return (
    <div class="communication-matrix">
      <h2>Matrix — rows send, columns receive</h2>
      <p class="communication-tools">
        <span role="group" aria-label="What cells show">
          {MEASURES.map(([it, name, help]) => (
            <button type="button" aria-pressed={cellMeasure.value === it} title={help} onClick={() => (cellMeasure.value = it)}>
              {name}
            </button>
          ))}
        </span>
        <Processes />
      </p>
      <Matrix sums={sums} by={cellMeasure.value} />
      <p class="muted mono" title="Colours from the least to the most of a cell, on a logarithmic scale">
        {write(least)} <span class="matrix-legend" aria-hidden="true" /> {write(most)}
        {sums.head.block > 1 ? ` · ${counted(sums.head.block, "process", "processes")} a row` : ""}
      </p>
    </div>
  );
}

/** What limits the messages now, and what no longer does when it is pressed. */
function Limits(): JSX.Element {
  const [pair, size, long] = [chosenPair.value, sizes.value, durations.value];
  const classes = ([first, last]: readonly [number, number], write: (value: number) => string): string => `${write(edgesOf(first)[0])} to ${write(edgesOf(last)[1])}`;
  const isLimited = pair !== null || size !== null || long !== null || tag.value !== null;
  return (
    <p class="communication-tools">
      {pair === null ? null : <Chip name={pairName(pair)} act={() => (chosenPair.value = null)} />}
      {size === null ? null : <Chip name={classes(size, bytes)} act={() => (sizes.value = null)} />}
      {long === null ? null : <Chip name={classes(long, duration)} act={() => (durations.value = null)} />}
      <label>
        Tag{" "}
        <input
          type="number"
          class="communication-tag"
          placeholder="any"
          title="Only messages with this tag; empty = any"
          value={tag.value ?? ""}
          onChange={(event) => {
            const value = event.currentTarget.valueAsNumber;
            tag.value = Number.isSafeInteger(value) ? value : null;
          }}
        />
      </label>
      {pair === null ? null : (
        <button type="button" title="These messages alone are drawn there" onClick={() => (view.value = "timeline")}>
          Show in the timeline
        </button>
      )}
      <span class="muted">{isLimited ? "press a chip to be limited by it no longer" : "a cell or a bar that is pressed limits everything else"}</span>
    </p>
  );
}

function Chip({ name, act }: { readonly name: string; readonly act: () => void }): JSX.Element {
  return (
    <button type="button" class="chip" title="Only these; press to have all again" onClick={act}>
      {name} ×
    </button>
  );
}
