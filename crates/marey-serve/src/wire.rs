//! What goes over the wire: requests, and the heads of answers.
//!
//! The one idea: these types are an interface of their own. Those of analysis and of the archive are turned into them by
//! hand, so that neither side has to follow the other; `ui/src/wire/generated.ts` is written from them by a test.
//!
//! Times are ns since the start of the run. Ids are places in the lists of [`RunHead`].

mod again;
mod annotations;
mod arrays;
mod causes;
mod code;
mod collectives;
mod compare;
mod counters;
mod events;
mod overlaps;
mod reduced;
mod remarks;
mod runs;
mod samples;
mod sentences;
mod shares;
mod source;
mod sub_array;
mod traffic;

use serde::{Deserialize, Serialize};

pub use again::{WireAgain, WireAgainState};
pub use annotations::{
    AnomaliesHead, SituationsHead, WireAnomaly, WireCall, WireCause, WireSituation, WireSituationKind,
    WireUnit,
};
pub use arrays::{
    ArrayHead, ArrayOf, ArraysHead, SectionsHead, SectionsOf, WireAccesses, WireArray, WireArrayPart,
    WireBeneath, WireBuffer, WireCallerLoop, WirePiece, WireRedistribution, WireStatement,
};
pub use causes::{CausesHead, PathHead, WaitsHead, WireCalled, WireDelay, WireOnPath, WireSuffered};
pub use code::{SourceCodeHead, SourceCodesHead, WireCode, WireInstruction};
pub use collectives::{CollectiveHead, CollectivesHead, Operation, WireOperation};
pub use compare::{
    CompareHead, Difference, Differences, IterationsHead, Reason, Why, WireActivity, WireLoop, WireNumber,
    WirePlace, WireRenamed,
};
pub use counters::{CounterPlacesHead, Counters, CountersHead, WireCounter};
pub use events::{EventSpan, EventsAtHead, EventsHead, WireEvent, WireEventKind, WireField};
pub use overlaps::{OverlapPlacesHead, OverlapsHead};
pub use reduced::WireReduced;
pub use remarks::{RemarksHead, WireRemark, WireRemarked};
pub use runs::{WireOpening, WireRun, WireRuns, WireShift};
pub use samples::{Histogram, HistogramHead, Instances, InstancesHead, Measure, Sample, Which};
pub use sentences::{
    PartOf, SentenceBy, SentenceTimes, SentenceTimesHead, Sentences, SentencesHead, WireChoice, WireChoices,
    WireGroup, WireSentence, WireShare,
};
pub use shares::{CallPathsHead, LevelsHead, SharesHead, SharesOf};
pub use source::{
    CalleesHead, CalleesOf, NumberOf, SourceFileHead, SourceFunctionsHead, SourceHead, SourceLoopHead,
    SourceTypeHead, SourceTypesHead, SourceWayHead, WayTo, WireBase, WireCallee, WireConstruct, WireCost,
    WireEnd, WireMember, WireModule, WireReference, WireSource, WireSourceCall, WireSourceFunction,
    WireSourceLoop, WireSourceStatement, WireSourceType, WireSymbol, WireWorth,
};
pub use sub_array::{
    SnapTo, SubArrayHead, SubArrayOf, WireSelected, WireSelectedPart, WireSelectedProcess,
    WireSelectedStatement,
};
pub use traffic::{CollectiveSumsHead, SpanOf, Traffic, TrafficHead, TrafficOrder};

/// What can be asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// What the run is: [`RunHead`].
    Run,
    /// The report of the run, a text in JSON as `marey report --json` writes it. Its frame has no other head.
    Report,
    /// What is to be drawn of a window: [`StatesHead`].
    States(Window),
    /// How much time went to which region in a window: [`TotalsHead`].
    Totals(Window),
    /// How many locations were in which region in the course of a window: [`CourseHead`].
    Course(Course),
    /// Messages of a window: [`MessagesHead`].
    Messages(Window),
    /// Messages of a span, added up and listed: [`TrafficHead`].
    Traffic(Traffic),
    /// Operations of all of a span, added up: [`CollectiveSumsHead`].
    CollectiveSums(SpanOf),
    /// Operations of all of a window: [`CollectivesHead`].
    Collectives(Window),
    /// All about one of them: [`CollectiveHead`].
    Collective(Operation),
    /// Which counters have values where: [`CounterPlacesHead`]. The first to ask waits for a pass over them.
    CounterPlaces,
    /// Counters of a window: [`CountersHead`].
    Counters(Counters),
    /// Where states overlap that need not nest: [`OverlapPlacesHead`]. The first to ask waits for a pass over them.
    OverlapPlaces,
    /// Such states of a window: [`OverlapsHead`].
    Overlaps(Window),
    /// Instants of a window that the program marked: [`EventsHead`].
    Events(Window),
    /// All about those of a location in a span: [`EventsAtHead`].
    EventsAt(EventSpan),
    /// Waits of a window: [`WaitsHead`].
    Waits(Window),
    /// Where the critical path goes in a window: [`PathHead`].
    Path(Window),
    /// What of waits, delays and the critical path lies in a span: [`CausesHead`]. Reads its events.
    Causes(SpanOf),
    /// All about the visit at an instant: [`VisitHead`].
    Visit(At),
    /// The next visit of a region, or the one before: [`FoundHead`].
    Step(Step),
    /// How much time each location spent in which region, over the whole run or in a span: [`SharesHead`].
    Shares(SharesOf),
    /// How much time all locations together spent in which call path in a span: [`CallPathsHead`].
    CallPaths(SpanOf),
    /// How much time each location spent on which level, over the whole run: [`LevelsHead`].
    Levels,
    /// What locations did up to an instant, and what is on its way to them then: [`UtilisationHead`].
    Utilisation(Until),
    /// Situations of the whole run: [`SituationsHead`]. The first to ask waits for a pass over it.
    Situations,
    /// Visits of the whole run that lasted longer than their like: [`AnomaliesHead`]. The first to ask waits, too.
    Anomalies,
    /// How visits of a region differ in length or size: [`HistogramHead`].
    Histogram(Histogram),
    /// Those visits of a region that last so long or move so much: [`InstancesHead`].
    Instances(Instances),
    /// Which sources there are, and what they cost: [`SourceHead`]. The first to ask about sources waits for a pass over sums.
    Source,
    /// A source with its text, what lies in it, and what its lines cost: [`SourceFileHead`].
    SourceFile(NumberOf),
    /// The machine code that a source is in, where the run keeps it: [`SourceCodesHead`].
    SourceCodes(NumberOf),
    /// A stretch of it: [`SourceCodeHead`].
    SourceCode(NumberOf),
    /// What was called from within a loop: [`SourceLoopHead`].
    SourceLoop(NumberOf),
    /// Functions of the user's: [`SourceFunctionsHead`].
    SourceFunctions,
    /// Types: [`SourceTypesHead`].
    SourceTypes,
    /// A type with its members: [`SourceTypeHead`].
    SourceType(NumberOf),
    /// Whom a function calls: [`CalleesHead`].
    Callees(CalleesOf),
    /// How a function is come to: [`SourceWayHead`].
    SourceWay(WayTo),
    /// What compilers said of loops, beside what these cost: [`RemarksHead`]. The first to ask waits for a pass over samples.
    Remarks,
    /// What a verb and a noun cost on a level: [`SentencesHead`].
    Sentences(Sentences),
    /// When that was: [`SentenceTimesHead`]. Reads the events of the span.
    SentenceTimes(SentenceTimes),
    /// What it cost to act on each array, and which data messages come from and go to: [`ArraysHead`].
    Arrays(PartOf),
    /// More of one array: [`ArrayHead`].
    Array(ArrayOf),
    /// Which of its elements were referred to: [`SectionsHead`]. Reads all accesses.
    Sections(SectionsOf),
    /// What accesses to some of them cost: [`SubArrayHead`]. Reads all accesses.
    SubArray(SubArrayOf),
    /// What differs between the run and the one beside it: [`CompareHead`].
    Compare,
    /// The iterations of both, one by one: [`IterationsHead`].
    Iterations,
}

/// What of the run is asked about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its first instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// The instant behind its last, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
    /// What is shorter than 2^`resolution_log2` ns need not be told apart.
    pub resolution_log2: u32,
    /// Ranges of locations, each its first and the one behind its last.
    pub locations: Vec<(u32, u32)>,
    /// Whether the answer may take its time to be exact.
    pub exact: bool,
}

/// An instant on a line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct At {
    /// The line.
    pub line: u32,
    /// The instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub at_ns: i64,
    /// How far from there a visit may lie and still be meant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub near_ns: i64,
    /// The region that must be meant; `null` = any.
    pub region: Option<u32>,
}

/// Where to look for a visit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// On which line; `null` = any.
    pub line: Option<u32>,
    /// Of which region.
    pub region: u32,
    /// From which instant on, ns: visits that begin after it, or before it.
    #[cfg_attr(test, ts(type = "number"))]
    pub at_ns: i64,
    /// Which way.
    pub towards: Towards,
}

/// An instant.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub at_ns: i64,
}

/// A direction in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Towards {
    /// Later.
    Next,
    /// Earlier.
    Previous,
}

/// What the run is.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunHead {
    /// Name of the run's file.
    pub name: String,
    /// Name of the run that was opened beside it; `null` = none.
    pub other: Option<String>,
    /// Why no clock of it can be moved by hand; `null` = it can.
    pub why_no_shift: Option<String>,
    /// Messages that seem to arrive before they are sent, if clocks were corrected after the merge.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub backwards: Option<u64>,
    /// Its title, as the user gave it.
    pub title: String,
    /// The command line that was recorded.
    pub command: Vec<String>,
    /// When it started, ns since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_realtime_ns: i64,
    /// How long it took, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub duration_ns: i64,
    /// Nodes.
    pub hosts: Vec<String>,
    /// MPI library; empty = none.
    pub mpi_library: String,
    /// Intervals and messages that are recorded.
    #[cfg_attr(test, ts(type = "number"))]
    pub intervals: u64,
    /// Messages that are recorded.
    #[cfg_attr(test, ts(type = "number"))]
    pub messages: u64,
    /// By how much times of different processes may be wrong against each other, ns; `null` = nobody knows.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub clock_ns: Option<i64>,
    /// How many problems the recording had.
    #[cfg_attr(test, ts(type = "number"))]
    pub problems: u64,
    /// When events of some locations began to be only added up, ns; `null` = all have theirs to the end. Of what is behind
    /// it an answer about a span has what was recorded one by one.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub added_up_since_ns: Option<i64>,
    /// What other tool left that it was imported from; empty = it was recorded.
    pub imported_from: String,
    /// Whether that is a profile, which does not say when anything was done.
    pub without_times: bool,
    /// Regions of which visits were only counted from some time on, by number.
    pub reduced: Vec<WireReduced>,
    /// What of it was left out where the run was exported: `visits`, `messages`.
    pub left_out: Vec<String>,
    /// Levels, the outermost first.
    pub levels: Vec<String>,
    /// Regions.
    pub regions: Vec<WireRegion>,
    /// Processes.
    pub processes: Vec<WireProcess>,
    /// Locations.
    pub locations: Vec<WireLocation>,
    /// Lines, by (location, level, depth).
    pub lines: Vec<WireLine>,
    /// Counters.
    pub counters: Vec<WireCounter>,
    /// What the program marks: instants, and fields of visits.
    pub event_kinds: Vec<WireEventKind>,
}

/// A region.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireRegion {
    /// What it is called: as briefly as tells it from the others of its level.
    pub name: String,
    /// Its verb.
    pub verb: String,
    /// Its noun; empty = none.
    pub noun: String,
    /// Place of its level in the list of levels.
    pub level: u32,
    /// Its colour is one of this kind.
    pub kind: Kind,
    /// Source file; empty = unknown.
    pub file: String,
    /// Line; 0 = unknown.
    pub line: u32,
    /// How often it was visited.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
    /// Time of all locations in it and not in what is beneath, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub exclusive_ns: i64,
}

/// What a region is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The program's own work.
    Work,
    /// Data from one to another.
    Transfer,
    /// Waiting for others, also for locks.
    Wait,
    /// Operations of all.
    Collective,
    /// Files.
    Io,
    /// Setting up and asking.
    Manage,
}

/// A process.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireProcess {
    /// Its node.
    pub host: String,
    /// Its rank in `MPI_COMM_WORLD`; `null` = it is no MPI process.
    pub rank: Option<u32>,
    /// Number of that world.
    pub world: u32,
    /// Number that the operating system gave it.
    pub pid: u32,
    /// How it ended.
    pub outcome: String,
    /// What was added to its times by hand, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub offset_ns: i64,
}

/// A thread, or a lane of a process.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireLocation {
    /// What it is called.
    pub name: String,
    /// Its process.
    pub process: u32,
    /// First instant of its measurement, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_ns: i64,
    /// Last instant, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub end_ns: i64,
}

/// A line of a picture: one depth of one level on a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireLine {
    /// The location.
    pub location: u32,
    /// Place of the level in the list of levels.
    pub level: u32,
    /// Depth within the level, 0 the outermost.
    pub depth: u32,
    /// How long something was recorded on it, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}

/// How far an answer is to be trusted.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Trust {
    /// Whether it is as fine as was asked for and all of it was read.
    pub is_exact: bool,
    /// log₂ of the length of its coarsest buckets, ns.
    pub coarsest_log2: u32,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// What is to be drawn. Columns `line`, `start`, `duration` (ns), `region1` … `region3` (2³²−1 = none), `share1` …
/// `share3` and `rest`: the shares of the time that they take, all other regions the last. A visit has one region with
/// the share 1; what is too short stands together in buckets. Sorted by line and start.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatesHead {
    /// How exact it is.
    pub trust: Trust,
    /// Visits that are told one by one.
    pub visits: u32,
}

/// Time by region. Columns `region`, `time` (ns, of all lines together).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TotalsHead {
    /// How exact it is.
    pub trust: Trust,
    /// Time of regions that are not told apart, ns.
    pub rest_ns: f64,
    /// How long the locations were there in the window, ns.
    pub lives_ns: f64,
}

/// A mountain range of a window.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Course {
    /// Where and how finely.
    #[serde(flatten)]
    pub window: Window,
    /// Regions that are left out: whoever is in one of them counts nowhere.
    #[serde(default)]
    pub without: Vec<u32>,
}

/// Locations by region in the course of time. Columns `region` (of each series), `busy` (series × buckets: how many
/// locations were in the region on average; the series of all others is the last).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CourseHead {
    /// How exact it is.
    pub trust: Trust,
    /// Begin of the first bucket, ns.
    pub from_ns: f64,
    /// Length of a bucket, ns.
    pub bucket_ns: f64,
    /// How many buckets.
    pub buckets: u32,
    /// How many locations there are.
    pub locations: u32,
    /// Whether some of the time of all others was not told apart where it was read: what is left out may be in it.
    pub has_untold: bool,
}

/// Messages. Columns `send_location`, `send_time`, `receive_location`, `receive_time` (when they were there, ns),
/// `bytes`, `tag` (not a number = unknown), `count`. If there are too many, those of two locations that were sent about
/// the same time stand together: `count` of them, with the means of their times, all of their bytes, and no tag.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MessagesHead {
    /// How many there are in the window; `null` = so many that they were not counted.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub number: Option<u64>,
    /// How many of them are in no line: of more pairs of locations than a picture has lines those that talk most are told.
    #[cfg_attr(test, ts(type = "number"))]
    pub not_drawn: u64,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// A visit, or that there is none.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct VisitHead {
    /// The visit; `null` = there is none.
    pub visit: Option<WireVisit>,
}

/// A visit.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireVisit {
    /// Its line.
    pub line: u32,
    /// Its region.
    pub region: u32,
    /// When it was entered, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_ns: i64,
    /// When it was left, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub end_ns: i64,
    /// Data that it moved, bytes; `null` = it is no matter of data.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub bytes: Option<u64>,
    /// How many visits in a row it stands for.
    pub visits: u32,
    /// Regions around it, the outermost first, itself the last.
    pub path: Vec<u32>,
    /// From where it was called, the innermost first.
    pub stack: Vec<WireFrame>,
    /// What it waited for meanwhile.
    pub waits: Vec<WireWait>,
    /// Messages that it sent or received.
    pub messages: Vec<WireMessage>,
    /// Whether these are all.
    pub all_messages: bool,
    /// The operation of all that it began or completed; `null` = none.
    pub operation: Option<Operation>,
    /// What the program said of it: the name of the attribute, a point, and that of the field.
    pub fields: Vec<WireField>,
}

/// A place in the source.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireFrame {
    /// Function; empty = unknown.
    pub function: String,
    /// File; empty = unknown.
    pub file: String,
    /// Line; 0 = unknown.
    pub line: u32,
}

/// A wait.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireWait {
    /// What was waited for.
    pub pattern: String,
    /// How long, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// Who was waited for.
    pub cause: u32,
}

/// A message.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireMessage {
    /// Sender; `null` = unknown.
    pub from: Option<u32>,
    /// When it was sent, ns.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub sent_ns: Option<i64>,
    /// Receiver; `null` = unknown.
    pub to: Option<u32>,
    /// When it was there, ns.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub received_ns: Option<i64>,
    /// Its size, bytes.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: i64,
    /// Its tag; `null` = unknown.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub tag: Option<i64>,
}

/// What locations did from the start of the run to an instant. Columns, one value a location: `waiting` (waits that were
/// explained), `absent` (before it began, or since it ended) and `busy` (the rest), ns; `incoming` and `outgoing`: messages
/// that are on their way then, sent and not yet received.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct UtilisationHead {
    /// Whether the run was explained; else nothing counts as waiting.
    pub is_known: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// A visit that was looked for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FoundHead {
    /// The line that it is on; `null` = there is none.
    pub line: Option<u32>,
    /// Its begin, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub start_ns: i64,
    /// Its end, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub end_ns: i64,
}

/// Why there is no answer. Its frame has `error` as its kind.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorHead {
    /// What is wrong, and what to do.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ts_rs::TS;

    use super::*;

    /// `MAREY_UPDATE_DOCS=1` writes it anew.
    #[test]
    fn the_viewer_has_these_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/wire/generated.ts");
        let expected = typescript();
        if std::env::var_os("MAREY_UPDATE_DOCS").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == expected, "{} is old: MAREY_UPDATE_DOCS=1 writes it anew", path.display());
    }

    fn typescript() -> String {
        let mut text = String::from(
            "/**\n * What goes over the wire, written from the types of marey-serve by its tests; not to be edited.\n */\n",
        );
        let all = [
            Request::decl(),
            Window::decl(),
            At::decl(),
            Step::decl(),
            Towards::decl(),
            Until::decl(),
            Sample::decl(),
            Measure::decl(),
            Histogram::decl(),
            Instances::decl(),
            Which::decl(),
            RunHead::decl(),
            WireRegion::decl(),
            WireReduced::decl(),
            Kind::decl(),
            WireProcess::decl(),
            WireLocation::decl(),
            WireLine::decl(),
            Trust::decl(),
            StatesHead::decl(),
            TotalsHead::decl(),
            Course::decl(),
            CourseHead::decl(),
            MessagesHead::decl(),
            CollectivesHead::decl(),
            Operation::decl(),
            CollectiveHead::decl(),
            WireOperation::decl(),
            SpanOf::decl(),
            TrafficOrder::decl(),
            Traffic::decl(),
            TrafficHead::decl(),
            CollectiveSumsHead::decl(),
            Counters::decl(),
            WireCounter::decl(),
            CounterPlacesHead::decl(),
            CountersHead::decl(),
            OverlapPlacesHead::decl(),
            OverlapsHead::decl(),
            WireEventKind::decl(),
            EventsHead::decl(),
            EventSpan::decl(),
            EventsAtHead::decl(),
            WireEvent::decl(),
            WireField::decl(),
            WaitsHead::decl(),
            PathHead::decl(),
            CausesHead::decl(),
            WireCalled::decl(),
            WireSuffered::decl(),
            WireDelay::decl(),
            WireOnPath::decl(),
            VisitHead::decl(),
            WireVisit::decl(),
            WireFrame::decl(),
            WireWait::decl(),
            WireMessage::decl(),
            UtilisationHead::decl(),
            SituationsHead::decl(),
            WireSituation::decl(),
            WireSituationKind::decl(),
            WireUnit::decl(),
            WireCall::decl(),
            WireCause::decl(),
            AnomaliesHead::decl(),
            WireAnomaly::decl(),
            SharesOf::decl(),
            SharesHead::decl(),
            CallPathsHead::decl(),
            LevelsHead::decl(),
            FoundHead::decl(),
            HistogramHead::decl(),
            InstancesHead::decl(),
            ErrorHead::decl(),
        ];
        for declaration in all
            .into_iter()
            .chain(compare::declarations())
            .chain(runs::declarations())
            .chain(again::declarations())
            .chain(remarks::declarations())
            .chain(sentences::declarations())
            .chain(arrays::declarations())
            .chain(sub_array::declarations())
            .chain(source::declarations())
            .chain(code::declarations())
        {
            text.push_str("\nexport ");
            // Without the comments, which stand beside the types in Rust.
            text.push_str(&without_comments(&declaration));
            text.push('\n');
        }
        text
    }

    fn without_comments(text: &str) -> String {
        let mut left = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("/**") {
            left.push_str(before.trim_end());
            left.push(' ');
            rest = behind.split_once("*/").map_or("", |(_, rest)| rest.trim_start());
        }
        left.push_str(rest);
        left
    }
}
