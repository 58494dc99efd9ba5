/** Clocks that are moved by hand: the one that is being moved, and those that were. */
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { counted } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { keepClock, leaveClock, movedBy, movedByHand, moving, refused, type Moving } from "../../state/clock.ts";
import { processName, run } from "../../state/run.ts";
import { spanLength } from "../../state/told.ts";
import { plotWidth } from "./place.ts";

/** More are counted. */
const MOST = 3;
/** The field is in µs. */
const UNIT = 1000;

export function Clock(): JSX.Element | null {
  const now = moving.value;
  const why = refused.value;
  const moved = movedByHand.value;
  if (now === null && why === null && moved.length === 0) return null;
  return (
    <div class="timeline-clock" role="group" aria-label="Clocks moved by hand">
      {why === null ? null : (
        <span>
          No clock can be moved: {why}.{" "}
          <button type="button" onClick={leaveClock}>
            Close
          </button>
        </span>
      )}
      {now === null ? null : <Field now={now} />}
      {now !== null || moved.length === 0 ? null : <Moved moved={moved} />}
    </div>
  );
}

function Field({ now }: { readonly now: Moving }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [now.process]);
  const pixel = Math.max(1, Math.round(spanLength.value / Math.max(plotWidth.value, 1)));
  const set = (offset: number): void => {
    moving.value = { process: now.process, offset };
  };
  return (
    <>
      <label>
        Clock of <strong>{processName(now.process)}</strong>, to be added to its times:{" "}
        <input
          ref={field}
          class="mono"
          type="number"
          step={pixel / UNIT}
          value={now.offset / UNIT}
          title="In µs; the arrow keys move it by a pixel, Enter keeps it, Escape leaves it as it was"
          onInput={(event) => {
            const value = event.currentTarget.valueAsNumber;
            if (Number.isFinite(value)) set(Math.round(value * UNIT));
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") void keepClock(now);
            if (event.key === "Escape") leaveClock();
            event.stopPropagation();
          }}
        />{" "}
        µs
      </label>
      <span class="muted">{movedBy.value === 0 ? "drag its name sideways" : `${signed(movedBy.value)} from where it is`}</span>
      <button type="button" disabled={movedBy.value === 0} onClick={() => void keepClock(now)} title="Write it beside the tables of the run, which stay as they are (Enter)">
        Keep
      </button>
      <button type="button" onClick={leaveClock} title="Leave it as it is (Escape)">
        Cancel
      </button>
    </>
  );
}

function Moved({ moved }: { readonly moved: readonly Moving[] }): JSX.Element {
  const backwards = run.value?.backwards ?? 0;
  return (
    <>
      Clocks moved by hand:
      {moved.slice(0, MOST).map((it) => (
        <span>
          <strong>{processName(it.process)}</strong> by <span class="mono">{signed(it.offset)}</span>{" "}
          <button type="button" onClick={() => void keepClock({ process: it.process, offset: 0 })} title="As it was merged">
            Undo
          </button>
        </span>
      ))}
      {moved.length > MOST ? <span>and {counted(moved.length - MOST, "more", "more")}</span> : null}
      <span class="muted">
        {backwards === 0 ? "no message seems to arrive before it is sent" : `${counted(backwards, "message")} ${backwards === 1 ? "seems" : "seem"} to arrive before being sent`}
      </span>
    </>
  );
}

function signed(ns: number): string {
  return `${ns < 0 ? "−" : "+"}${duration(Math.abs(ns))}`;
}
