/**
 * The report of a run as `marey report --json` writes it: those of its fields that are shown. docs/json.md says what all
 * of them mean. Times are ns.
 */
export interface Report {
  readonly unexplained: string | null;
  readonly findings?: readonly Finding[];
  readonly dominant?: { readonly text: string } | null;
  readonly efficiency?: Efficiency | null;
  readonly waits?: readonly WaitRow[];
  readonly delays?: readonly DelayRow[];
  readonly critical_path?: readonly PathRow[];
  readonly regions?: readonly RegionRow[];
  readonly call_paths?: readonly CallPathRow[];
  readonly call_tree?: readonly CallNode[];
  readonly ranks?: readonly RankRow[];
  readonly communication?: readonly PairRow[];
  readonly message_sizes?: readonly SizeRow[];
  readonly problems?: readonly Problem[];
  readonly overhead?: { readonly fraction: number; readonly ns_per_event: number };
  readonly hot?: { readonly functions?: readonly HotRow[] };
}

export interface Finding {
  readonly kind: string;
  readonly text: string;
  readonly gain_ns: number;
  readonly cost_ns: number;
  readonly share: number;
  readonly ranks: readonly number[];
  readonly locations: readonly string[];
  readonly region: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly from_ns: number;
  readonly to_ns: number;
  readonly confidence: string;
  readonly command: string;
}

export interface Efficiency {
  readonly parallel: number;
  readonly load_balance: number;
  readonly communication: number;
  readonly serialisation: number;
  readonly setting_up: number;
  readonly transfer: number;
  readonly busiest: string;
  readonly run_ns: number;
}

/** Where somebody waited, or was waited for, or was on the critical path. */
interface PlaceRow {
  readonly location: string;
  readonly region: string;
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

export interface WaitRow extends PlaceRow {
  readonly pattern: string;
  readonly wait_ns: number;
  readonly instances: number;
  readonly longest_ns: number;
}

export interface DelayRow extends PlaceRow {
  readonly cost_ns: number;
  readonly short_term_ns: number;
  readonly long_term_ns: number;
}

export interface PathRow extends PlaceRow {
  readonly time_ns: number;
}

export interface RegionRow {
  readonly level: string;
  readonly verb: string;
  readonly noun: string;
  readonly calls: number;
  /** Visits without a time, and visits that were only counted to keep within the budget. */
  readonly untimed_calls: number;
  readonly reduced_calls: number;
  readonly inclusive_ns: number;
  readonly exclusive_ns: number;
  readonly waiting_ns: number | null;
  /** Null where visits are known by their sums alone. */
  readonly min_ns: number | null;
  readonly max_ns: number | null;
  readonly mean_ns: number;
  readonly bytes: number;
  readonly exclusive_of_process: { readonly min_ns: number; readonly max_ns: number; readonly imbalance: number };
}

export interface CallPathRow {
  readonly path: readonly string[];
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly calls: number;
  readonly inclusive_ns: number;
  readonly exclusive_ns: number;
  readonly bytes: number;
}

export interface RankRow {
  readonly process: number;
  readonly world: number;
  readonly rank: number | null;
  readonly threads: number;
  readonly time_ns: number;
  readonly mpi_ns: number;
  readonly peak_memory_bytes: number | null;
  readonly processor_ns: number | null;
}

export interface PairRow {
  readonly from: number;
  readonly to: number;
  readonly from_world: number;
  readonly to_world: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface SizeRow {
  readonly from_bytes: number;
  readonly to_bytes: number;
  readonly messages: number;
  readonly bytes: number;
}

export interface Problem {
  readonly kind: string;
  readonly process: number | null;
  readonly count: number;
  readonly detail: string;
}

/** A node of the call tree; those above it stand before it. */
export interface CallNode {
  readonly parent: number | null;
  readonly name: string;
  readonly place: string;
  readonly kind: "function" | "region" | "others";
  readonly level: string | null;
  readonly verb: string | null;
  readonly noun: string | null;
  readonly calls: number;
  readonly time_ns: number;
  readonly recursion: number;
  /** Call paths that end in it. */
  readonly call_paths: readonly number[];
}

export interface HotRow {
  readonly name: string | null;
  readonly file: string;
  readonly level: string | null;
  readonly exclusive_ns: number;
  readonly exclusive_share: number;
  readonly exclusive_error: number;
}
