/** What is chosen among waiting, delays and the critical path; who is chosen, and which region, holds for all views. */
import { signal } from "@preact/signals";

/** `null` = all of it. */
export interface WaitsChoice {
  /** Which times: `Waiting`, `Delays` or `Critical path`. */
  readonly kind: string;
  readonly what: string | null;
  readonly where: string | null;
}

const ALL: WaitsChoice = { kind: "Waiting", what: null, where: null };

export const waitsChoice = signal<WaitsChoice>(ALL);

/** As it stands in the address; empty = nothing is chosen. */
export function waitsText(): string {
  const { kind, what, where } = waitsChoice.value;
  return kind === ALL.kind && what === null && where === null ? "" : JSON.stringify([kind, what, where]);
}

export function waitsOf(text: string): WaitsChoice {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list) || typeof list[0] !== "string") return ALL;
    const name = (value: unknown): string | null => (typeof value === "string" ? value : null);
    return { kind: list[0], what: name(list[1]), where: name(list[2]) };
  } catch {
    return ALL;
  }
}
