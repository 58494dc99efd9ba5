/** What compilers said of loops: read once, when a source is looked at. */
import { computed, signal } from "@preact/signals";

import type { RemarksHead, WireRemarked } from "../wire/generated.ts";
import { engine } from "./run.ts";
import { once } from "./source.ts";

/** `null` = it is being read, or nobody has asked. */
export const remarks = signal<RemarksHead | null>(null);

export function needRemarks(): void {
  once("remarks", async () => void (remarks.value = (await engine.remarks()).head));
}

/** By file, loops that something was said of. */
const byFile = computed(() => {
  const found = new Map<number, WireRemarked[]>();
  for (const it of remarks.value?.loops ?? []) if (it.file !== null) found.set(it.file, [...(found.get(it.file) ?? []), it]);
  return found;
});

const NONE: readonly WireRemarked[] = [];

/** Loops of a source that something was said of, those with most time first. */
export function remarkedIn(file: number): readonly WireRemarked[] {
  return byFile.value.get(file) ?? NONE;
}
