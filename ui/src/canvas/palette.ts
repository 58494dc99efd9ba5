/**
 * Colours of regions: one family of shades for each kind, calm, and told apart by lightness as well, so that who does not
 * see the hues still sees the kinds. Both themes.
 */

export type Kind = "work" | "transfer" | "wait" | "collective" | "io" | "manage";

type Shades = readonly string[];

/** Waiting that was explained is drawn over the states in this colour. */
export interface Palette {
  readonly kinds: Readonly<Record<Kind, Shades>>;
  readonly waiting: string;
  readonly life: string;
  readonly background: string;
  readonly grid: string;
  readonly text: string;
  readonly muted: string;
  readonly faint: string;
  readonly accent: string;
  /** Letters on what is drawn, and on what is so dark or so light that these cannot be read. */
  readonly label: string;
  readonly otherLabel: string;
  readonly message: string;
  readonly path: string;
  /** Operations of all. */
  readonly operation: string;
  readonly counter: string;
  /** Kinds of instants that the program marked. */
  readonly events: readonly string[];
  /** Visits that were picked out of their like. */
  readonly picked: string;
  /** What one run has more of than another, or less: told apart by who does not see all colours, too. */
  readonly more: string;
  readonly less: string;
}

const LIGHT: Palette = {
  kinds: {
    work: ["#6fa287", "#8fb8a0", "#b5d1bf", "#7fae6b", "#a3c790", "#5c9490", "#8cb8b2", "#c3d9a8"],
    transfer: ["#5b8def", "#86aaf3", "#3f74dd", "#a9c3f7", "#6f9fd8", "#93bbe6", "#4e86c4", "#b4d0ee"],
    wait: ["#7f9fd6", "#9fb6e0", "#688bc9", "#b7c8e8", "#8ea6c8", "#a8bbd6"],
    collective: ["#8a7fd6", "#a79de2", "#7468c8", "#c0b8ec", "#9b86cf", "#b59fdd", "#6f5fb5", "#cbb9e8"],
    io: ["#b08968", "#c7a688", "#98714f", "#d8bfa6", "#a8916f", "#c2ae8e"],
    manage: ["#9aa3ad", "#b3bac2", "#828c97", "#c9ced4", "#a2a9a0", "#bcc1b8"],
  },
  waiting: "#e9a23b",
  life: "#e3ede6",
  background: "#ffffff",
  grid: "#efefec",
  text: "#1f2328",
  muted: "#5d646c",
  faint: "#767c84",
  accent: "#1f6feb",
  label: "#12231a",
  otherLabel: "#ffffff",
  message: "#2b3138",
  path: "#b3261e",
  operation: "#5a4bb8",
  counter: "#0f6f78",
  events: ["#8a5a00", "#0b6e4f", "#a3195b", "#174ea6"],
  picked: "#c8157c",
  more: "#d9730d",
  less: "#2f6fc4",
};

const DARK: Palette = {
  kinds: {
    work: ["#3f6f57", "#4f836a", "#689a80", "#577d46", "#6f9659", "#3d6f6b", "#578883", "#7f9a5c"],
    transfer: ["#4a78d0", "#6a93e2", "#3763bb", "#86a9ea", "#527fb5", "#6d9ac9", "#3d6ca3", "#86acd2"],
    wait: ["#5d7bb0", "#7791c0", "#4b699f", "#8fa5cd", "#677fa0", "#8094b1"],
    collective: ["#7267c4", "#8b81d3", "#5c51ad", "#a39ae0", "#7d69b3", "#9480c3", "#584a99", "#a795cf"],
    io: ["#967250", "#ad8a69", "#7f5d3d", "#c0a284", "#8d775a", "#a69274"],
    manage: ["#5f6973", "#747e88", "#4d5761", "#8a939c", "#666d65", "#7c837a"],
  },
  waiting: "#d8922f",
  life: "#1d2925",
  background: "#171b1f",
  grid: "#23292e",
  text: "#e4e7ea",
  muted: "#a3acb5",
  faint: "#89929b",
  accent: "#6ea8ff",
  label: "#f2f7f4",
  otherLabel: "#12231a",
  message: "#d5dae0",
  path: "#ff8a80",
  operation: "#b8aef5",
  counter: "#5fc7d0",
  events: ["#f0c060", "#6fd3a8", "#f191bd", "#9cc2ff"],
  picked: "#ff78c4",
  more: "#f59a4c",
  less: "#5f9df0",
};

export function palette(theme: "light" | "dark"): Palette {
  return theme === "dark" ? DARK : LIGHT;
}

/** The colour of a region: a shade of its kind. */
export function colour(colours: Palette, kind: Kind, shade: number): string {
  const shades = colours.kinds[kind];
  return shades[shade % shades.length] ?? colours.muted;
}

/** A colour as a pixel of an image, red in the lowest byte. */
export function pixel(hex: string): number {
  const value = Number.parseInt(hex.slice(1), 16);
  return (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/** In which of two colours letters can be read on a third: the usual one, unless that is too like it. */
export function readable(on: number, { label, otherLabel }: Palette): string {
  /** Less than this, of 1 to 21, is hard to read. */
  const LEAST = 2;
  return contrast(on, pixel(label)) < LEAST ? otherLabel : label;
}

/** In which of two colours letters can be read best on a third. */
export function clearest(on: number, { label, otherLabel }: Palette): string {
  return contrast(on, pixel(label)) < contrast(on, pixel(otherLabel)) ? otherLabel : label;
}

/** As WCAG has it. */
function contrast(one: number, other: number): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(pixel: number): number {
  const linear = (shift: number): number => {
    const value = ((pixel >>> shift) & 0xff) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(0) + 0.7152 * linear(8) + 0.0722 * linear(16);
}

/** A pixel between two others. Called for every bucket of a picture, so it is written out and allocates nothing. */
export function mixed(from: number, to: number, share: number): number {
  const rest = 1 - share;
  const red = Math.round((from & 0xff) * rest + (to & 0xff) * share);
  const green = Math.round(((from >>> 8) & 0xff) * rest + ((to >>> 8) & 0xff) * share);
  const blue = Math.round(((from >>> 16) & 0xff) * rest + ((to >>> 16) & 0xff) * share);
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
