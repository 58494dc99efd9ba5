/** Regions of the span that is seen, the most first: what is unticked is hidden, what is coloured is so everywhere. */
import type { JSX } from "preact";

import { counted, percent } from "../base/format.ts";
import { duration } from "../base/time.ts";
import { recolour, recoloured } from "../state/recoloured.ts";
import { run } from "../state/run.ts";
import { totals } from "../state/timeline.ts";
import { chosenRegion, hidden, hiddenLevels, toggleHidden, toggleLevel } from "../state/view.ts";
import { colourOf } from "./colours.ts";
import "./states.css";

export interface StatesProps {
  /** So many are listed. */
  readonly most: number;
  /** Of those whose name has this in it. */
  readonly wanted: string;
}

export function States({ most, wanted }: StatesProps): JSX.Element | null {
  const head = run.value;
  const sums = totals.value;
  if (head === null || sums === null) return null;
  const lives = Math.max(sums.lives, 1);
  const nameOf = (region: number): string => head.regions[region]?.name ?? "";
  const rows = sums.rows.filter(({ region }) => nameOf(region).toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      {head.levels.length < 2 ? null : (
        <p class="states-levels" role="group" aria-label="Levels whose lines are shown">
          {head.levels.map((name, level) =>
            head.lines.some((line) => line.level === level) ? (
              <button type="button" aria-pressed={!hiddenLevels.value.has(level)} title={`Lines of the level ${name}`} onClick={() => toggleLevel(level)}>
                {name}
              </button>
            ) : null,
          )}
        </p>
      )}
      <ul class="states">
        {rows.slice(0, most).map(({ region, time }) => (
          <State key={region} region={region} name={nameOf(region)} time={time} share={time / lives} />
        ))}
        {sums.rest > 0 && wanted === "" ? (
          <li>
            <span />
            <span class="states-colour states-rest" />
            <span class="muted">others, not told apart</span>
            <span class="mono muted">{percent(sums.rest / lives)}</span>
          </li>
        ) : null}
      </ul>
      {rows.length > most ? <p class="muted">{counted(rows.length - most, "more region")}</p> : null}
      {rows.length === 0 && wanted !== "" ? <p class="muted">None of the span has such a name.</p> : null}
      {recoloured.value.size === 0 ? null : (
        <p>
          <button type="button" onClick={() => (recoloured.value = new Map())} title="Give all regions the colours that they had first">
            Own colours again
          </button>
        </p>
      )}
    </>
  );
}

interface StateProps {
  readonly region: number;
  readonly name: string;
  readonly time: number;
  readonly share: number;
}

function State({ region, name, time, share }: StateProps): JSX.Element {
  const isHidden = hidden.value.has(region);
  return (
    <li class={isHidden ? "states-hidden" : ""}>
      <input type="checkbox" checked={!isHidden} aria-label={`Show ${name}`} title="Whether it is drawn" onChange={() => toggleHidden(region)} />
      <input
        type="color"
        class="states-swatch"
        value={colourOf.value(region)}
        aria-label={`Colour of ${name}`}
        title="Choose its colour, in all views"
        onChange={(event) => recolour(name, event.currentTarget.value)}
      />
      <button
        type="button"
        class="plain"
        aria-pressed={chosenRegion.value === region}
        title={name}
        onClick={() => (chosenRegion.value = chosenRegion.value === region ? null : region)}
      >
        {name}
      </button>
      <span class="mono muted" title={duration(time)}>
        {recoloured.value.has(name) ? (
          <button type="button" class="plain states-own" aria-label={`Own colour of ${name} again`} title="Its own colour again" onClick={() => recolour(name, null)}>
            ↺
          </button>
        ) : null}
        {percent(share)}
      </span>
    </li>
  );
}
