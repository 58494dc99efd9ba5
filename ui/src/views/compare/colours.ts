/** Colours of the regions of the other run: those of the regions of the same names in the base, and others for its own. */
import { computed } from "@preact/signals";

import { colour, pixel, type Kind } from "../../canvas/palette.ts";
import { NONE, pair } from "../../state/pair.ts";
import { run } from "../../state/run.ts";
import { colours, pixels } from "../colours.ts";

export const pixelsBeside = computed<Uint32Array>(() => {
  const now = pair.value;
  const regions = now?.other.regions ?? [];
  // Shades that the base has used.
  const used = new Map<Kind, number>();
  for (const { kind } of run.value?.regions ?? []) used.set(kind, (used.get(kind) ?? 0) + 1);
  const found = new Uint32Array(regions.length);
  const own: number[] = [];
  regions.forEach((_, place) => {
    const base = now?.sameRegion[place] ?? NONE;
    if (base === NONE) own.push(place);
    else found[place] = pixels.value[base] ?? 0;
  });
  own.sort((a, b) => (regions[b]?.exclusive_ns ?? 0) - (regions[a]?.exclusive_ns ?? 0) || a - b);
  for (const place of own) {
    const kind = regions[place]?.kind ?? "work";
    const shade = used.get(kind) ?? 0;
    used.set(kind, shade + 1);
    found[place] = pixel(colour(colours.value, kind, shade));
  }
  return found;
});
