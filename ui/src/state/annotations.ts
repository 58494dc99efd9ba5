/** Situations and anomalous visits of the whole run: looked for once, when somebody needs them, which may take seconds. */
import { computed, signal } from "@preact/signals";

import type { AnomaliesHead, SituationsHead } from "../wire/generated.ts";
import { engine, fail, run } from "./run.ts";

/** `null` = nobody has looked for them, or they are being looked for. */
export const situations = signal<SituationsHead | null>(null);
export const anomalies = signal<AnomaliesHead | null>(null);
export const isLooking = signal(false);

/** In runs with more visits and messages they are looked for when the user says so. */
const MOST = 3_000_000;

export const isLong = computed(() => (run.value?.intervals ?? 0) + (run.value?.messages ?? 0) > MOST);

let isAsked = false;

/** Looks for them, one after the other, so that pictures need not wait for both. */
export async function needAnnotations(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  isLooking.value = true;
  try {
    situations.value = (await engine.situations()).head;
    anomalies.value = (await engine.anomalies()).head;
  } catch (error) {
    // Whoever asks again may have more luck.
    isAsked = false;
    fail(error);
  } finally {
    isLooking.value = false;
  }
}
