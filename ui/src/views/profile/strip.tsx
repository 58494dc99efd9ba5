/** How a region's time differs among locations: a cell each, or for several together, the darker the more. Arrow keys go from cell to cell. */
import type { JSX } from "preact";

import { percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import type { Shares } from "../../state/shares.ts";
import { chosenLocations } from "../../state/view.ts";
import { useRoving } from "../../widgets/roving.ts";

/** More cells have no room. */
const MOST = 48;

export interface StripProps {
  readonly shares: Shares;
  /** Column of the region. */
  readonly column: number;
}

export function Strip({ shares, column }: StripProps): JSX.Element {
  const roving = useRoving<HTMLSpanElement>();
  const locations = run.value?.locations ?? [];
  const times = timesOf(shares, column);
  const [, most] = extremesOf(shares, column);
  const each = Math.max(1, Math.ceil(times.length / MOST));
  const cells = Array.from({ length: Math.ceil(times.length / each) }, (_, cell) => {
    const own = times.slice(cell * each, (cell + 1) * each);
    const largest = own.indexOf(Math.max(...own));
    return { location: cell * each + largest, time: own[largest] ?? 0, number: own.length };
  });
  const press = (location: number, event: MouseEvent): void => {
    event.stopPropagation();
    chosenLocations.value = isChosen(location) ? null : [location];
  };
  return (
    <span class="strip" role="listbox" aria-orientation="horizontal" aria-label={`${wordsOf(shares, column)} on each of ${times.length} locations`} {...roving}>
      {cells.map(({ location, time, number }) => (
        <span
          class="strip-cell"
          role="option"
          data-part
          tabIndex={-1}
          aria-selected={isChosen(location)}
          style={{ opacity: most > 0 ? 0.08 + (0.92 * time) / most : 0.08 }}
          title={`${locations[location]?.name ?? ""}${number > 1 ? `, the one with most of ${number}` : ""}: ${duration(time)}, ${percent(time / Math.max(most, 1))} of the most; press to choose it in all views`}
          onClick={(event) => press(location, event)}
        />
      ))}
    </span>
  );
}

function isChosen(location: number): boolean {
  return chosenLocations.value?.length === 1 && chosenLocations.value[0] === location;
}

/** By location, ns. */
function timesOf(shares: Shares, column: number): readonly number[] {
  const width = shares.head.regions.length + 1;
  return (run.value?.locations ?? []).map((_, location) => shares.exclusive[location * width + column] ?? 0);
}

/** The least and the most that a location has, of columns for which somebody asked: tables ask for each more than once. */
const known = new WeakMap<Shares, Map<number, readonly [least: number, most: number]>>();

function extremesOf(shares: Shares, column: number): readonly [least: number, most: number] {
  const own = known.get(shares) ?? new Map<number, readonly [number, number]>();
  known.set(shares, own);
  const found = own.get(column);
  if (found !== undefined) return found;
  const times = timesOf(shares, column);
  const extremes = [times.reduce((all, time) => Math.min(all, time), times[0] ?? 0), times.reduce((all, time) => Math.max(all, time), 0)] as const;
  own.set(column, extremes);
  return extremes;
}

/** The least and the most that a location has, in words. */
export function wordsOf(shares: Shares, column: number): string {
  const [least, most] = extremesOf(shares, column);
  return `From ${duration(least)} to ${duration(most)}`;
}

/** How much more the one with most has than the one with least, ns. */
export function spreadOf(shares: Shares, column: number): number {
  const [least, most] = extremesOf(shares, column);
  return most - least;
}
