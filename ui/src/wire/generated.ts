/**
 * What goes over the wire, written from the types of marey-serve by its tests; not to be edited.
 */

export type Request = { "ask": "run" } | { "ask": "report" } | { "ask": "states" } & Window | { "ask": "totals" } & Window | { "ask": "course" } & Course | { "ask": "messages" } & Window | { "ask": "traffic" } & Traffic | { "ask": "collective-sums" } & SpanOf | { "ask": "collectives" } & Window | { "ask": "collective" } & Operation | { "ask": "counter-places" } | { "ask": "counters" } & Counters | { "ask": "overlap-places" } | { "ask": "overlaps" } & Window | { "ask": "events" } & Window | { "ask": "events-at" } & EventSpan | { "ask": "waits" } & Window | { "ask": "path" } & Window | { "ask": "causes" } & SpanOf | { "ask": "visit" } & At | { "ask": "step" } & Step | { "ask": "shares" } & SharesOf | { "ask": "call-paths" } & SpanOf | { "ask": "levels" } | { "ask": "utilisation" } & Until | { "ask": "situations" } | { "ask": "anomalies" } | { "ask": "histogram" } & Histogram | { "ask": "instances" } & Instances | { "ask": "source" } | { "ask": "source-file" } & NumberOf | { "ask": "source-codes" } & NumberOf | { "ask": "source-code" } & NumberOf | { "ask": "source-loop" } & NumberOf | { "ask": "source-functions" } | { "ask": "source-types" } | { "ask": "source-type" } & NumberOf | { "ask": "callees" } & CalleesOf | { "ask": "source-way" } & WayTo | { "ask": "remarks" } | { "ask": "sentences" } & Sentences | { "ask": "sentence-times" } & SentenceTimes | { "ask": "arrays" } & PartOf | { "ask": "array" } & ArrayOf | { "ask": "sections" } & SectionsOf | { "ask": "sub-array" } & SubArrayOf | { "ask": "compare" } | { "ask": "iterations" };

export type Window = { from_ns: number, to_ns: number, resolution_log2: number, locations: Array<[number, number]>, exact: boolean, };

export type At = { line: number, at_ns: number, near_ns: number, region: number | null, };

export type Step = { line: number | null, region: number, at_ns: number, towards: Towards, };

export type Towards = "next" | "previous";

export type Until = { at_ns: number, };

export type Sample = { from_ns: number, to_ns: number, locations: Array<[number, number]>, regions: Array<number>, of: Measure, };

export type Measure = "duration" | "bytes";

export type Histogram = { sample: Sample, bins: number, logarithmic: boolean, range: [number, number] | null, };

export type Instances = { sample: Sample, which: Which, };

export type Which = { "range": [number, number] } | { "normal": number } | { "anomalous": number };

export type RunHead = { name: string, other: string | null, why_no_shift: string | null, backwards: number | null, title: string, command: Array<string>, start_realtime_ns: number, duration_ns: number, hosts: Array<string>, mpi_library: string, intervals: number, messages: number, clock_ns: number | null, problems: number, added_up_since_ns: number | null, imported_from: string, without_times: boolean, reduced: Array<WireReduced>, left_out: Array<string>, levels: Array<string>, regions: Array<WireRegion>, processes: Array<WireProcess>, locations: Array<WireLocation>, lines: Array<WireLine>, counters: Array<WireCounter>, event_kinds: Array<WireEventKind>, };

export type WireRegion = { name: string, verb: string, noun: string, level: number, kind: Kind, file: string, line: number, visits: number, exclusive_ns: number, };

export type WireReduced = { region: number, since_ns: number, visits: number, };

export type Kind = "work" | "transfer" | "wait" | "collective" | "io" | "manage";

export type WireProcess = { host: string, rank: number | null, world: number, pid: number, outcome: string, offset_ns: number, };

export type WireLocation = { name: string, process: number, start_ns: number, end_ns: number, };

export type WireLine = { location: number, level: number, depth: number, time_ns: number, };

export type Trust = { is_exact: boolean, coarsest_log2: number, damage: Array<string>, };

export type StatesHead = { trust: Trust, visits: number, };

export type TotalsHead = { trust: Trust, rest_ns: number, lives_ns: number, };

export type Course = { without: Array<number>, from_ns: number, to_ns: number, resolution_log2: number, locations: Array<[number, number]>, exact: boolean, };

export type CourseHead = { trust: Trust, from_ns: number, bucket_ns: number, buckets: number, locations: number, has_untold: boolean, };

export type MessagesHead = { number: number | null, not_drawn: number, damage: Array<string>, };

export type CollectivesHead = { number: number | null, damage: Array<string>, };

export type Operation = { communicator: number, instance: number, };

export type CollectiveHead = { operation: WireOperation | null, damage: Array<string>, };

export type WireOperation = { region: number | null, communicator: string, size: number, root: number | null, last: number, start_ns: number, end_ns: number, };

export type SpanOf = { from_ns: number, to_ns: number, };

export type TrafficOrder = "duration" | "bytes" | "sent";

export type Traffic = { from_ns: number, to_ns: number, processes: [[number, number], [number, number]], pair: [[number, number], [number, number]] | null, sizes: [number, number] | null, durations: [number, number] | null, tag: number | null, order: TrafficOrder, };

export type TrafficHead = { block: number, number: number, bytes: number, time_ns: number, unmatched_sends: number, unmatched_receives: number, communicators: Array<[number, string]>, damage: Array<string>, };

export type CollectiveSumsHead = { communicators: Array<[number, string]>, damage: Array<string>, };

export type Counters = { window: Window, counters: Array<number>, };

export type WireCounter = { name: string, unit: string, is_rate: boolean, };

export type CounterPlacesHead = { damage: Array<string>, };

export type CountersHead = { is_whole: boolean, damage: Array<string>, };

export type OverlapPlacesHead = { is_known: boolean, damage: Array<string>, };

export type OverlapsHead = { damage: Array<string>, };

export type WireEventKind = { name: string, is_attribute: boolean, };

export type EventsHead = { number: number | null, damage: Array<string>, };

export type EventSpan = { location: number, from_ns: number, to_ns: number, };

export type EventsAtHead = { events: Array<WireEvent>, number: number, damage: Array<string>, };

export type WireEvent = { kind: number, time_ns: number, fields: Array<WireField>, };

export type WireField = { name: string, value: string, };

export type WaitsHead = { patterns: Array<string>, number: number, is_known: boolean, };

export type PathHead = { is_known: boolean, };

export type CausesHead = { why_not: string | null, until_ns: number | null, unlisted: number, unlisted_ns: number, waits: Array<WireSuffered>, delays: Array<WireDelay>, critical_path: Array<WireOnPath>, };

export type WireCalled = { location: string, region: string, function: string, file: string, line: number, };

export type WireSuffered = { pattern: string, wait_ns: number, instances: number, longest_ns: number, location: string, region: string, function: string, file: string, line: number, };

export type WireDelay = { cost_ns: number, short_term_ns: number, long_term_ns: number, location: string, region: string, function: string, file: string, line: number, };

export type WireOnPath = { time_ns: number, location: string, region: string, function: string, file: string, line: number, };

export type VisitHead = { visit: WireVisit | null, };

export type WireVisit = { line: number, region: number, start_ns: number, end_ns: number, bytes: number | null, visits: number, path: Array<number>, stack: Array<WireFrame>, waits: Array<WireWait>, messages: Array<WireMessage>, all_messages: boolean, operation: Operation | null, fields: Array<WireField>, };

export type WireFrame = { function: string, file: string, line: number, };

export type WireWait = { pattern: string, time_ns: number, cause: number, };

export type WireMessage = { from: number | null, sent_ns: number | null, to: number | null, received_ns: number | null, bytes: number, tag: number | null, };

export type UtilisationHead = { is_known: boolean, damage: Array<string>, };

export type SituationsHead = { is_known: boolean, situations: Array<WireSituation>, more: number, damage: Array<string>, };

export type WireSituation = { kind: WireSituationKind, from_ns: number, to_ns: number, locations: Array<number>, call: WireCall | null, others: number, measured: number, normal: number, unit: WireUnit, number: number, cost_ns: number, cause: WireCause | null, meanwhile: WireCause | null, is_noise: boolean, };

export type WireSituationKind = "speed-up" | "slow-down" | "under-utilised" | "over-utilised" | "message-queue" | "processing-time";

export type WireUnit = "ns" | "share" | "messages" | "bytes";

export type WireCall = { region: number, caller: WireFrame, };

export type WireCause = { location: number, call: WireCall | null, is_waiting: boolean, amount: number, };

export type AnomaliesHead = { number: number, excess_ns: number, anomalies: Array<WireAnomaly>, damage: Array<string>, };

export type WireAnomaly = { line: number, call: WireCall, start_ns: number, duration_ns: number, expected_ns: number, waits_for: number | null, is_noise: boolean, };

export type SharesOf = { span: SpanOf | null, };

export type SharesHead = { regions: Array<number>, others: number, is_whole: boolean, damage: Array<string>, };

export type CallPathsHead = { is_whole: boolean, damage: Array<string>, };

export type LevelsHead = { levels: number, };

export type FoundHead = { line: number | null, start_ns: number, end_ns: number, };

export type HistogramHead = { number: number, untold: number, least: number, most: number, mean: number, deviation: number, is_whole: boolean, damage: Array<string>, };

export type InstancesHead = { number: number, sum: number, is_whole: boolean, damage: Array<string>, };

export type ErrorHead = { message: string, };

export type CompareHead = { sentences: Array<string>, remarks: Array<string>, divisors: [number, number], renamed: Array<WireRenamed>, numbers: Array<WireNumber>, path: Differences | null, regions: Differences, call_paths: Differences, waits: Differences | null, };

export type WireRenamed = { old: string, old_file: string, new: string, new_file: string, };

export type WireNumber = { name: string, old: number | null, new: number | null, };

export type Differences = { number: number, rows: Array<Difference>, };

export type Difference = { place: WirePlace, around: Array<string>, pattern: string, old: number, new: number, share: number | null, calls: [number, number] | null, bytes: [number, number] | null, why: Why | null, };

export type WirePlace = { activity: WireActivity, name: string, level: string, function: string, file: string, line: number, base: number | null, other: number | null, };

export type WireActivity = "call" | "outside" | "not-started" | "before";

export type Why = { what: Reason, old: number, new: number, place: WirePlace | null, function: string, };

export type Reason = "new" | "gone" | "calls" | "each" | "waiting" | "computing" | "shifted";

export type IterationsHead = { base: WireLoop | null, other: WireLoop | null, is_same: boolean, per: number, };

export type WireLoop = { name: string, number: number, median_ns: number, };

export type WireRuns = { directory: string, is_cut: boolean, runs: Array<WireRun>, };

export type WireRun = { number: number, name: string, place: string, title: string, command: string, started_ms: number | null, duration_ns: number, processes: number, hosts: number, visits: number, bytes: number, why_not: string | null, };

export type WireOpening = { what: string, done: number, of: number, };

export type WireShift = { process: number, offset_ns: number, };

export type WireAgain = { why_not: string | null, command: string, directory: string, output: string, options: string | null, rules: Array<string>, };

export type WireAgainState = { output: string, is_running: boolean, is_cancelled: boolean, elapsed_ms: number, code: number | null, lines: Array<string>, page: string | null, };

export type RemarksHead = { why_not: string | null, path_ns: number | null, processor_ns: number, loops: Array<WireRemarked>, left_out: number, };

export type WireRemark = { kind: string, line: number, compiler: string, reason: string, said: string, dependence: string, distance: number | null, array: string, is_array_of_text: boolean, callee: string, inlined_into: string, };

export type WireRemarked = { file: number | null, path: string, first: number, last: number, is_read: boolean, function: string, outcome: string, is_left: boolean, own_ns: number, path_ns: number | null, lanes: number, lanes_told: boolean, gain_ns: number, remarks: Array<WireRemark>, more: number, };

export type WireSentence = { level: string | null, verb: string | null, noun: string | null, };

export type PartOf = { span: SpanOf | null, locations: Array<[number, number]> | null, };

export type SentenceBy = "noun" | "verb" | "line" | "rank";

export type Sentences = { part: PartOf, of: WireSentence, under: Array<WireSentence>, by: SentenceBy, };

export type SentenceTimes = { part: PartOf, of: WireSentence, under: Array<WireSentence>, spans: number, };

export type SentencesHead = { visits: number, untimed: number, time_ns: number, bytes: number, of_ns: number, shares: Array<WireShare>, groups: Array<WireGroup>, more: number, more_ns: number, levels: WireChoices, verbs: WireChoices, nouns: WireChoices, is_whole: boolean, damage: Array<string>, };

export type WireShare = { level: string, class: string, is_explicit: boolean, visits: number, time_ns: number, };

export type WireGroup = { name: string, process: number | null, region: number | null, function: string, file: string, line: number, visits: number, time_ns: number, bytes: number, };

export type WireChoices = { rows: Array<WireChoice>, more: number, };

export type WireChoice = { name: string, visits: number, time_ns: number, };

export type SentenceTimesHead = { from_ns: number, to_ns: number, threads: number, is_whole: boolean, damage: Array<string>, };

export type ArrayOf = { part: PartOf, array: number, };

export type SectionsOf = { part: PartOf, array: number, axes: [number | null, number | null], cells: [number, number], };

export type ArraysHead = { of_ns: number, arrays: Array<WireArray>, more: number, pieces: Array<WirePiece>, buffers: Array<WireBuffer>, more_buffers: number, redistributions: Array<WireRedistribution>, more_redistributions: number, whole_ns: number, is_whole: boolean, damage: Array<string>, };

export type WireAccesses = { accesses: number, bytes: number, time_ns: number, };

export type WireArray = { number: number, name: string, kind: string, file: string, line: number, element: string, bounds: Array<[number, number]>, bytes: number, instances: number, processes: number, moved: WireAccesses, counted: WireAccesses, managed: WireAccesses, local: WireAccesses, remote: WireAccesses, transfers_beneath: number, is_unused: boolean, };

export type WirePiece = { array: number, why: string, verb: string, file: string, line: number, sum: WireAccesses, transfers: number, };

export type WireBuffer = { name: string, kind: string, file: string, line: number, sent: number, sent_bytes: number, received: number, received_bytes: number, pairs: Array<[number, number, number]>, more_pairs: number, };

export type WireRedistribution = { by: string, verb: string, from: string, to: string, function: string, file: string, line: number, times: number, bytes: number, time_ns: number | null, };

export type WireCallerLoop = { function: string, file: string, first: number, last: number, };

export type ArrayHead = { processes: Array<WireArrayPart>, more_processes: number, statements: Array<WireStatement>, more_statements: number, has_sections: boolean, };

export type WireArrayPart = { process: number, bounds: Array<[number, number]>, bytes: number, instances: number, local: WireAccesses, remote: WireAccesses, asked: WireAccesses, };

export type WireStatement = { verb: string, kind: string, function: string, file: string, line: number, region: number | null, sum: WireAccesses, pattern: string, loops: Array<[number, number]>, callers_loops: Array<WireCallerLoop>, beneath: Array<WireBeneath>, };

export type WireBeneath = { level: string, name: string, calls: number, is_transfer: boolean, time_ns: number, };

export type SectionsHead = { size: [number, number], spans: [[number, number], [number, number]], nowhere: number, why_not: string | null, damage: Array<string>, };

export type SubArrayOf = { part: PartOf, array: number, section: Array<[number, number] | null>, processes: Array<number> | null, snap: SnapTo, };

export type SnapTo = "expand" | "shrink" | "none";

export type SubArrayHead = { section: Array<[number, number]>, snapped: Array<[number, number]>, distributed: Array<boolean>, fits: boolean, parts: Array<WireSelectedPart>, more_parts: number, total: WireSelected, statements: Array<WireSelectedStatement>, more_statements: number, processes: Array<WireSelectedProcess>, more_processes: number, not_kept: number, why_not: string | null, damage: Array<string>, };

export type WireSelectedPart = { process: number, bounds: Array<[number, number]>, selected: Array<[number, number]>, };

export type WireSelected = { met: WireAccesses, inside: number, elements: number, perhaps: WireAccesses, perhaps_inside: number, };

export type WireSelectedStatement = { verb: string, kind: string, function: string, file: string, line: number, region: number | null, selected: WireSelected, };

export type WireSelectedProcess = { process: number, local: WireSelected, remote: WireSelected, asked: WireSelected, };

export type CalleesHead = { node: number | null, callees: Array<WireCallee>, left_out: number, unknown: number, };

export type CalleesOf = { node: number | null, };

export type NumberOf = { number: number, };

export type SourceFileHead = { file: number, text: Array<string> | null, functions: Array<WireSourceFunction>, types: Array<WireSourceType>, loops: Array<WireSourceLoop>, constructs: Array<WireConstruct>, references: Array<WireReference>, statements: Array<WireSourceStatement>, calls: Array<WireSourceCall>, };

export type SourceFunctionsHead = { functions: Array<WireSourceFunction>, number: number, };

export type SourceHead = { why_not: string | null, has_texts: boolean, has_code: boolean, has_waits: boolean, processor_ns: number, calls_ns: number, communication_ns: number, whole_ns: number, samples: number, modules: Array<WireModule>, files: Array<WireSource>, damage: Array<string>, };

export type SourceLoopHead = { number: number, };

export type SourceTypeHead = { it: WireSourceType, members: Array<WireMember>, };

export type SourceTypesHead = { types: Array<WireSourceType>, bases: Array<WireBase>, number: number, };

export type SourceWayHead = { way: Array<WireCallee>, };

export type WayTo = { name: string, };

export type WireBase = { derived: number, base: number | null, name: string, kind: string, access: string, is_virtual: boolean, };

export type WireCallee = { node: number, name: string, function: number | null, region: number | null, file: number | null, line: number, is_parallel: boolean, callees: number, cost: WireCost, is_static: boolean, is_measured: boolean, is_inlined: boolean, from_line: number, call: WireCost, };

export type WireConstruct = { model: string, text: string, first: number, last: number, };

export type WireCost = { exclusive_ns: number, inclusive_ns: number, calls: number, call_ns: number, bytes: number, waiting_ns: number, };

export type WireMember = { name: string, kind: string, access: string, is_virtual: boolean, is_inline: boolean, of_type: string, file: number | null, line: number, function: number | null, };

export type WireModule = { path: string, has_debug_information: boolean, has_calls: boolean, problem: string, };

export type WireSource = { path: string, state: string, language: string, lines: number, unclear: number, is_of_system: boolean, has_text: boolean, functions: number, types: number, loops: number, cost: WireCost, };

export type WireSourceCall = { line: number, caller: number | null, callee: number | null, name: string, kind: string, to_file: number | null, to_line: number, };

export type WireSourceFunction = { number: number, name: string, kind: string, attributes: string, known_to: string, of: number | null, file: number | null, line: number, first: number, last: number, cost: WireCost, };

export type WireSourceLoop = { number: number, kind: string, first: number, last: number, depth: number, function: number | null, cost: WireCost, };

export type WireReference = { array: string, text: string, image: string, does: string, line: number, within: number | null, moved_by: number | null, turned_by: number | null, ends: Array<WireEnd>, symbols: Array<WireSymbol>, };

export type WireSymbol = { text: string, end: string, subscript: number, value: string, worth: WireWorth | null, };

export type WireWorth = { least: number, greatest: number, changes: number, locations: number, accesses: number, };

export type WireEnd = { end: string, text: string, line: number, carried: number | null, distance: number, };

export type WireSourceStatement = { line: number, array: number, name: string, verb: string, moves: boolean, communicates: boolean, accesses: number, bytes: number, time_ns: number, pattern: string, transfers: number, region: number | null, };

export type WireSourceType = { number: number, name: string, kind: string, known_to: string, file: number | null, line: number, last: number, bytes: number | null, members: number, };

export type SourceCodeHead = { code: WireCode, module: string, instructions: Array<WireInstruction>, left_out: number, };

export type SourceCodesHead = { codes: Array<WireCode>, };

export type WireCode = { number: number, name: string, bytes: number, left_out_bytes: number, samples: number, own_ns: number, };

export type WireInstruction = { text: string, leads_to: string, inlined: string, };
