/** What each location did from the start of the run up to an instant, and what is on its way to it then. */
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";

import { count, percent } from "../../base/format.ts";
import { Latest } from "../../base/latest.ts";
import { duration, instant } from "../../base/time.ts";
import { engine, fail, run, whole } from "../../state/run.ts";
import { rowLocations } from "../../state/rows.ts";
import { pointed } from "../../state/timeline.ts";
import { beside, chosenLocations, span, until } from "../../state/view.ts";
import { Table, type Column } from "../../widgets/table.tsx";
import { AddedUp } from "../added_up.tsx";
import { Coming } from "../lost.tsx";
import "./utilisation.css";

interface Row {
  readonly location: number;
  readonly busy: number;
  readonly waiting: number;
  readonly absent: number;
  readonly incoming: number;
  readonly outgoing: number;
}

interface Shown {
  readonly at: number;
  readonly isKnown: boolean;
  readonly rows: readonly Row[];
}

/** So many bars are shown; the table has all. */
const MOST = 256;

const shown = signal<Shown | null>(null);

/** The instant: where the pointer is on a timeline beside it, or what was chosen, or the end of the span. */
function now(): number {
  const at = beside.value === null ? null : pointed.value;
  return Math.round(at ?? until.value ?? span.value.to);
}

/** Begins to follow the instant; returns what ends it. */
function follow(): () => void {
  const asked = new Latest<number, Shown>(
    async (at) => {
      const frame = await engine.utilisation(at);
      const [busy, waiting, absent] = [frame.f64("busy"), frame.f64("waiting"), frame.f64("absent")];
      const [incoming, outgoing] = [frame.u32("incoming"), frame.u32("outgoing")];
      const rows = Array.from(busy, (time, location): Row => ({
        location,
        busy: time,
        waiting: waiting[location] ?? 0,
        absent: absent[location] ?? 0,
        incoming: incoming[location] ?? 0,
        outgoing: outgoing[location] ?? 0,
      }));
      return { at, isKnown: frame.head.is_known, rows };
    },
    (answer) => (shown.value = answer),
    fail,
  );
  return effect(() => {
    if (run.value !== null) asked.want(now());
  });
}

export function Utilisation(): JSX.Element {
  useEffect(() => follow(), []);
  const it = shown.value;
  return (
    <div class="sheet">
      <section>
        <h1>Utilisation</h1>
        <p class="utilisation-tools">
          <label>
            From the start of the run to{" "}
            <input
              type="range"
              title="The instant up to which it is told: arrow keys move it by a two-thousandth of the run"
              min={0}
              max={whole.value.to}
              step={Math.max(1, Math.floor(whole.value.to / 2000))}
              value={now()}
              aria-valuetext={instant(now())}
              onInput={(event) => (until.value = Number(event.currentTarget.value))}
            />{" "}
            <span class="mono">{instant(now())}</span>
          </label>
          {until.value === null ? null : (
            <button type="button" onClick={() => (until.value = null)}>
              To the end of the span
            </button>
          )}
          <span class="muted">With a timeline beside it, to where its pointer is.</span>
        </p>
        <AddedUp to={now()} lacks="there they count as busy, and as not sending anything" />
        {it === null ? <Coming what="Times are being added up" /> : <Bars it={it} />}
      </section>
    </div>
  );
}

function Bars({ it }: { readonly it: Shown }): JSX.Element {
  const head = run.value;
  const rows = rowLocations.value.flatMap((location) => it.rows[location] ?? []);
  const total = Math.max(it.at, 1);
  const nameOf = (row: Row): string => head?.locations[row.location]?.name ?? "";
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "Where", help: "Rank and thread", text: nameOf, width: "minmax(120px, 1fr)" },
    { name: "Busy", help: "There, and not waiting", text: (row) => duration(row.busy), value: (row) => row.busy, bar: (row) => row.busy / total, unit: "ns", width: "120px" },
    { name: "Waiting", help: "Waits that were explained", text: (row) => duration(row.waiting), value: (row) => row.waiting, bar: (row) => row.waiting / total, unit: "ns", width: "120px" },
    { name: "Absent", help: "Before it began or since it ended", text: (row) => duration(row.absent), value: (row) => row.absent, unit: "ns", width: "110px" },
    { name: "To it", help: "Messages that are on their way to it", text: (row) => count(row.incoming), value: (row) => row.incoming, width: "80px" },
    { name: "From it", help: "Messages of it that are on their way", text: (row) => count(row.outgoing), value: (row) => row.outgoing, width: "80px" },
  ];
  return (
    <>
      <p class="muted">
        <span class="utilisation-key utilisation-busy" /> busy <span class="utilisation-key utilisation-waiting" /> waiting{" "}
        <span class="utilisation-key utilisation-absent" /> absent · to the right: messages on their way to it, and from it
        {it.isKnown ? "" : " · the run was not explained, so nothing counts as waiting"}
      </p>
      <div class="utilisation-lines">
        {rows.slice(0, MOST).map((row) => (
          <div class="utilisation-line">
            <button type="button" class="plain" title="Choose it in all views" onClick={() => (chosenLocations.value = [row.location])}>
              {nameOf(row)}
            </button>
            <span
              class="utilisation-track"
              title={`${nameOf(row)}: busy ${percent(row.busy / total)}, waiting ${percent(row.waiting / total)}, absent ${percent(row.absent / total)}`}
            >
              <span class="utilisation-busy" style={{ width: `${(row.busy / total) * 100}%` }} />
              <span class="utilisation-waiting" style={{ width: `${(row.waiting / total) * 100}%` }} />
              <span class="utilisation-absent" style={{ width: `${(row.absent / total) * 100}%` }} />
            </span>
            <span class="mono utilisation-queues">
              <span title="Messages on their way to it">↓{row.incoming}</span> <span title="Messages of it on their way">↑{row.outgoing}</span>
            </span>
          </div>
        ))}
      </div>
      <Table
        label="utilisation"
        rows={rows}
        columns={columns}
        sortedBy={2}
        height={16}
        onChoose={(row) => (chosenLocations.value = [row.location])}
        isChosen={(row) => chosenLocations.value?.includes(row.location) === true}
      />
    </>
  );
}
