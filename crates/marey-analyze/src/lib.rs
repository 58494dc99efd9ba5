//! Analysis of runs: what a trace says about where the time went.
//!
//! The one idea: analysis is pure. It sees a run only through the trait [`Trace`], whoever
//! implements it — the archive, a live run, a test — and the same trace always gives the same rows
//! in the same order.
//!
//! What is deliberately absent: files, Parquet, JSON, HTTP, terminals and text for people. Levels,
//! verbs and nouns are rows of the trace; what is known of a verb here is its role, and of levels
//! only that `mpi` is one.

mod across;
mod activities;
mod anomalies;
mod array_traffic;
mod arrays;
mod bins;
mod caller;
mod causes;
mod clocks;
mod communication;
mod compare;
mod counters;
mod critical;
mod delays;
mod digest;
mod efficiency;
mod endings;
mod excerpt;
mod files;
mod findings;
mod formula;
mod granularity;
mod happenings;
mod headline;
mod histogram;
mod in_order;
mod judge;
mod lines;
mod memory;
mod models;
mod names;
mod nests;
mod paths;
mod patterns;
mod phases;
mod profile;
mod ranks;
mod redistribution;
mod reduced;
mod remarks;
mod samples;
mod scaling;
mod section_rows;
mod sections;
mod selection;
mod sentences;
mod sequences;
mod single_access;
mod situations;
mod source_graph;
mod source_loops;
mod spread;
mod statistics;
mod sub_array;
mod sub_array_costs;
mod symbols;
mod trace;
mod waiting;
mod waits;
pub mod what_if;
mod with_sums;

pub use across::{Across, AcrossFigures, call_paths_across, regions_across};
pub use activities::Activity;
pub use anomalies::{Anomalies, Anomaly, Method, NormalLimits, anomalies};
pub use array_traffic::{ArrayTraffic, array_traffic};
pub use arrays::{AccessSum, ArrayRow, Beneath, Piece, Piecemeal, Statement, Whereabouts, arrays, piecemeal};
pub use caller::{caller, caller_on, innermost, is_of_kokkos, is_of_library, routine, routine_on};
pub use causes::{
    Causes, EXPLANATION_VERSION, TimeRow, WaitState, causes, causes_of, causes_within, wait_states,
};
pub use communication::{MessageSizeRow, PairRow, communication, message_sizes};
pub use compare::{
    Basis, Cause, Change, Comparison, Direction, FunctionChange, PathPair, PlacePair, RegionPair, Renamed,
    RenamedHow, Subject, Verdict, compare,
};
pub use counters::{Counted, CountedFunction, CountedRegion, Metric, MetricKind, counted};
pub use critical::{CriticalPath, PathSpan, critical_path};
pub use delays::{DelayRow, Delays, Effect, delays};
pub use digest::{
    AllocationSums, CounterSums, Digest, Explained, FunctionName, FunctionSums, PathSums, Place, PlaceKind,
    PlaceSums, PlaceTime, ProcessSums, RegionName, RegionSums, Sums, WaitSums, Where,
};
pub use efficiency::{Efficiency, efficiency};
pub use endings::{EarlyEnding, LastPlace, LastSeen, early_endings};
pub use excerpt::{Begun, CutOut, Excerpt, Until};
pub use files::{Deeds, FileRow, files};
pub use findings::{
    Confidence, Dominant, Effects, Finding, FindingKind, Function, Pieces, dominant, findings,
};
pub use formula::{Formula, FormulaError, NoValue, Of, QUANTITIES, Quantity, Unit, UnknownName, Wrong};
pub use granularity::{Small, SmallKind, granularity, short_regions};
pub use happenings::{
    Done, Edge, Happenings, Interval, Member, Message, Receiving, Sending, Span, Tick, Unread, Visit,
};
pub use headline::{CallSite, Headline, RankShare, headline};
pub use histogram::{Bin, Histogram};
pub use judge::{Judgement, Outcome, Ratio, Rule, Unclear, is_exact, judge, least_runs, noise, rank, ratio};
pub use lines::{LineRow, lines};
pub use memory::{Allocated, AllocationPath, ProcessMemory, allocations, memory};
pub use models::{ENOUGH_SIZES, FAR, LEAST_SIZES, Model, Prediction, TERMS, Term, student};
pub use names::{is_named, without_parameters};
pub use nests::{CallerLoop, LoopLines, Nests, callers};
pub use patterns::FlowPattern;
pub use phases::{
    Border, Different, Drift, Figures, Iteration, Kind, Loop, Outlier, Phases, Shares, Site, phases,
    phases_in, shares,
};
pub use profile::{CallPathRow, RegionRow, call_paths, regions};
pub use ranks::{RankRow, ranks};
pub use redistribution::{AllToAll, RedistributedBy, Redistribution, redistributions};
pub use reduced::{Reduced, reduced};
pub use remarks::{
    LoopChange, LoopOutcome, OnPath, RemarkRow, Remarked, RemarkedCall, RemarkedLoop, USUAL_LANES,
    changed_loops, remarked, remarked_alone,
};
pub use samples::{
    Hot, HotFunction, HotLine, LibraryCall, Sampled, hot, is_of_recorder, library_call, name_of,
};
pub use scaling::{
    Domination, Measure, Ranked, Ranking, ScaledEfficiency, ScaledMeasure, ScaledRow, ScaledSubject, Scaling,
    Work, efficiencies, ranking, scaling,
};
pub use section_rows::{SectionDimension, SectionRow, SectionRows};
pub use sections::{Axis, HeatMap, Reference};
pub use selection::{Selection, in_context, on_communicator, on_level, on_noun, stacks_in_context};
pub use sentences::{
    By, Choice, Choices, Class, Group, LevelRow, NotASentence, Sentence, SentenceCost, Share, choices,
    levels, over_time, sentences, span_length,
};
pub use sequences::{Elements, OneByOne, Range as SectionRange};
pub use single_access::SingleAccess;
pub use situations::{
    ProbableCause, Situation, SituationKind, SituationRule, SituationRuleError, SituationRules, Situations,
    Threshold, situations,
};
pub use source_graph::{
    GraphCost, LineCall, MeasuredCall, MeasuredFunction, MeasuredGraph, calls_time, calls_within,
    communicates, communication_time, line_calls, measured_graph,
};
pub use source_loops::{LoopCost, SourceLoop, source_loops};
pub use spread::{Population, Spread, exclusive_by_process};
pub use statistics::Moments;
pub use sub_array::{ArrayPart, Meeting, Section, Snap, Snapped, SubArray, SubArrayError, array_parts};
pub use sub_array_costs::{Selected, SelectedAccesses, SelectedProcess, SubArrayCosts, accesses_not_kept};
pub use symbols::{MOST_VALUES, SourceReference, SymbolEnd, SymbolOf, SymbolRow, Symbols};
pub use trace::{
    AccessRow, AllocationRow, Array, ArrayMessagesRow, BinRow, CallPath, CommunicationRow, Communicator,
    CommunicatorId, CountedRow, Counter, CounterId, Datum, Frame, HeapRow, Location, LocationKind,
    OpenRegion, Problem, Process, ProcessClock, ProfileRow, ReducedRow, Region, SampledRow, Trace,
};
pub use waiting::{WaitRow, Waiting, waiting};
pub use waits::{InCommunicator, Pattern, Unlisted, Wait, Waits, waits, waits_in};
pub use what_if::{SlackRow, SlackSpan, slack, slack_spans, what_if, what_if_each};
pub use with_sums::WithSums;
