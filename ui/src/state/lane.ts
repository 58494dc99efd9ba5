/** What of two runs is laid upon each other in the course of time, and whether all that is drawn of them stands in tables, too. */
import { signal } from "@preact/signals";

export const LANES = ["calls", "communication", "files", "waiting", "region"] as const;
export type LaneName = (typeof LANES)[number];

export const lane = signal<LaneName>("calls");
export const areTables = signal(false);
