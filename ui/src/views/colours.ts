/** Colours of the regions of this run, one everywhere. */
import { computed } from "@preact/signals";

import { colour, palette, pixel } from "../canvas/palette.ts";
import { recoloured } from "../state/recoloured.ts";
import { run, shades } from "../state/run.ts";
import { theme } from "../state/settings.ts";

export const colours = computed(() => palette(theme.value));

export const colourOf = computed(() => {
  const regions = run.value?.regions ?? [];
  const known = regions.map((region, number) => recoloured.value.get(region.name) ?? colour(colours.value, region.kind, shades.value[number] ?? 0));
  return (region: number): string => known[region] ?? colours.value.muted;
});

export const pixels = computed(() => {
  const regions = run.value?.regions ?? [];
  return Uint32Array.from(regions, (_, number) => pixel(colourOf.value(number)));
});
