/** When sentences happened: their time in equal spans of the timeline's axis. A bar is pressed to look at its span there. */
import type { JSX } from "preact";

import { count, percent } from "../../base/format.ts";
import { duration, instant, ns, tick, ticks } from "../../base/time.ts";
import { isTiming, times } from "../../state/levels.ts";
import { look, lookAtAll } from "../../state/view.ts";
import { useRoving } from "../../widgets/roving.ts";
import { AddedUp } from "../added_up.tsx";
import { Coming } from "../lost.tsx";

export function Course(): JSX.Element {
  const it = times.value;
  return (
    <>
      <h2>
        When — on the axis of the timeline{" "}
        <button type="button" title="All of the run, here and in the timeline (0)" onClick={lookAtAll}>
          Whole run
        </button>
      </h2>
      {it === null ? null : <AddedUp to={it.head.to_ns} lacks="that is in no bar" />}
      {it === null ? <Coming what="Visits are being looked through" isSmall /> : it.head.is_whole ? <Bars /> : <p class="muted">This span has so many visits that they are not looked through, or the page has none one by one; zoom in.</p>}
    </>
  );
}

function Bars(): JSX.Element {
  const roving = useRoving<HTMLDivElement>();
  const it = times.value;
  const { head, time, visits } = it ?? { head: null, time: new Float64Array(), visits: new Float64Array() };
  if (head === null) return <></>;
  const each = (head.to_ns - head.from_ns) / Math.max(time.length, 1);
  const most = time.reduce((found, value) => Math.max(found, value), 1);
  const all = each * Math.max(head.threads, 1);
  const { step, at } = ticks({ from: ns(head.from_ns), to: ns(head.to_ns) }, 8);
  return (
    <div class={isTiming.value ? "levels-course levels-stale" : "levels-course"}>
      <div class="levels-bars" role="group" aria-label="Time of the sentence in spans of the run, arrows lead from one to the next" {...roving}>
        {Array.from(time, (value, place) => {
          const [from, to] = [head.from_ns + place * each, head.from_ns + (place + 1) * each];
          return (
            <button
              type="button"
              class="levels-span"
              data-part
              tabIndex={-1}
              title={`${instant(from)} to ${instant(to)}: ${duration(value)}, ${percent(value / Math.max(all, 1))} of the time of the threads; ${count(visits[place] ?? 0)} began; press to look at this span`}
              onClick={() => look({ from: ns(Math.floor(from)), to: ns(Math.ceil(to)) })}
            >
              <span style={{ height: `${value === 0 ? 0 : Math.max((value / most) * 100, 2)}%` }} />
            </button>
          );
        })}
      </div>
      <div class="levels-axis mono" aria-hidden="true">
        {at.map((value) => (
          <span style={{ left: `${((value - head.from_ns) / Math.max(head.to_ns - head.from_ns, 1)) * 100}%` }}>{tick(value, step)}</span>
        ))}
      </div>
      <p class="muted">
        Highest bar: {duration(most)}, {percent(most / Math.max(all, 1))} of the time of the threads in {duration(each)}.
      </p>
    </div>
  );
}
