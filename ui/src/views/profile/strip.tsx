/** How a region's time differs among locations: a cell each, or for several together, the darker the more. */
import type { JSX } from "preact";

import { percent } from "../../base/format.ts";
import { duration } from "../../base/time.ts";
import { run } from "../../state/run.ts";
import type { Shares } from "../../state/shares.ts";
import { chosenLocations } from "../../state/view.ts";

/** More cells have no room. */
const MOST = 48;

export interface StripProps {
  readonly shares: Shares;
  /** Column of the region. */
  readonly column: number;
}

export function Strip({ shares, column }: StripProps): JSX.Element {
  const locations = run.value?.locations ?? [];
  const width = shares.head.regions.length + 1;
  const times = locations.map((_, location) => shares.exclusive[location * width + column] ?? 0);
  const most = times.reduce((all, time) => Math.max(all, time), 0);
  const least = times.reduce((all, time) => Math.min(all, time), Infinity);
  const each = Math.max(1, Math.ceil(times.length / MOST));
  const cells = Array.from({ length: Math.ceil(times.length / each) }, (_, cell) => {
    const own = times.slice(cell * each, (cell + 1) * each);
    const largest = own.indexOf(Math.max(...own));
    return { location: cell * each + largest, time: own[largest] ?? 0, number: own.length };
  });
  const press = (location: number, event: MouseEvent): void => {
    event.stopPropagation();
    const isIt = chosenLocations.value?.length === 1 && chosenLocations.value[0] === location;
    chosenLocations.value = isIt ? null : [location];
  };
  return (
    <span class="strip" role="img" aria-label={`From ${duration(Number.isFinite(least) ? least : 0)} to ${duration(most)} on each of ${times.length} locations`}>
      {cells.map(({ location, time, number }) => (
        <span
          class="strip-cell"
          style={{ opacity: most > 0 ? 0.08 + (0.92 * time) / most : 0.08 }}
          title={`${locations[location]?.name ?? ""}${number > 1 ? `, the one with most of ${number}` : ""}: ${duration(time)}, ${percent(time / Math.max(most, 1))} of the most; press to choose it in all views`}
          onClick={(event) => press(location, event)}
        />
      ))}
    </span>
  );
}
