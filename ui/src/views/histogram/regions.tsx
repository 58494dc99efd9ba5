/** Which regions stand in the histogram: each is switched on and off, and has its colour in the bars. */
import type { JSX } from "preact";

import { counted } from "../../base/format.ts";
import { isShown, MOST_TOGETHER, sampled, toggleTogether } from "../../state/instances.ts";
import { run } from "../../state/run.ts";
import { colourOf } from "../colours.ts";

/** So many of those with most time are offered at once; the others are in a list. */
const OFFERED = 8;

export function Regions(): JSX.Element {
  const regions = run.value?.regions ?? [];
  const on = sampled.value;
  const order = regions.flatMap((region, place) => (region.visits > 0 && isShown(place) ? [place] : [])).sort((a, b) => (regions[b]?.exclusive_ns ?? 0) - (regions[a]?.exclusive_ns ?? 0));
  // What is switched on or off stays where it stands.
  const offered = [...on.filter((place) => !order.includes(place)), ...order.filter((place, rank) => rank < OFFERED || on.includes(place))];
  const others = order.filter((place) => !offered.includes(place));
  const isFull = on.length >= MOST_TOGETHER;
  return (
    <div class="histogram-regions" role="group" aria-label="Regions in the histogram">
      {offered.map((place) => {
        const isOn = on.includes(place);
        const help = isOn ? (on.length === 1 ? "The histogram is of it alone; switch others on beside it" : "Its visits stand in the bars in this colour; switch it off and they do not") : `Switch it on, and its visits stand in the bars, too; it has ${counted(regions[place]?.visits ?? 0, "visit")}`;
        return (
          <label key={place} title={help} class={isOn ? "" : "muted"}>
            <input type="checkbox" checked={isOn} disabled={isOn ? on.length === 1 : isFull} onChange={() => toggleTogether(place)} />
            <span class="states-colour" style={{ background: colourOf.value(place) }} /> <code>{regions[place]?.name}</code>
          </label>
        );
      })}
      {others.length === 0 || isFull ? null : (
        <select aria-label="Another region" title="Switch on a region with less time; those that are hidden among the states are not offered" value="" onChange={(event) => toggleTogether(Number(event.currentTarget.value))}>
          <option value="">another …</option>
          {others.map((place) => (
            <option value={place}>{regions[place]?.name}</option>
          ))}
        </select>
      )}
    </div>
  );
}
