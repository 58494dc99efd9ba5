//! Numbers of types and values, and what they are called.
//!
//! Source of the numbers of MPI and the states: the labels that Extrae writes.

use std::fmt::Write;

use marey_analyze::{Region, Trace};
use marey_model::{CallPathId, Level, Role};

use super::super::{Definitions, names};
use super::states;

/// Calls of MPI.
const POINT_TO_POINT: i64 = 50_000_001;
const COLLECTIVE: i64 = 50_000_002;
const OTHER: i64 = 50_000_003;
const ONE_SIDED: i64 = 50_000_004;
const FILES: i64 = 50_000_005;
/// Facts about a collective call.
pub(super) const BYTES_OUT: i64 = 50_100_001;
pub(super) const BYTES_IN: i64 = 50_100_002;
pub(super) const IS_ROOT: i64 = 50_100_003;
pub(super) const COMMUNICATOR: i64 = 50_100_004;
const FUNCTION: i64 = 60_000_019;
/// Where a function is has the number of its type and this.
pub(super) const TO_PLACE: i64 = 100;
const HARDWARE: i64 = 42_000_000;
/// Of our own.
pub(super) const HEAP_PEAK: i64 = 91_000_001;
const EVENTS: i64 = 92_000_000;
const COUNTERS: i64 = 93_000_000;
const LEVELS: i64 = 94_000_001;
/// The first value of what Extrae has no number for.
const FIRST_OWN: i64 = 1000;

/// Values of calls of MPI, as Extrae has them.
const VALUES: &[(&str, i64)] = &[
    ("MPI_Send", 1),
    ("MPI_Recv", 2),
    ("MPI_Isend", 3),
    ("MPI_Irecv", 4),
    ("MPI_Wait", 5),
    ("MPI_Waitall", 6),
    ("MPI_Bcast", 7),
    ("MPI_Barrier", 8),
    ("MPI_Reduce", 9),
    ("MPI_Allreduce", 10),
    ("MPI_Alltoall", 11),
    ("MPI_Alltoallv", 12),
    ("MPI_Gather", 13),
    ("MPI_Gatherv", 14),
    ("MPI_Scatter", 15),
    ("MPI_Scatterv", 16),
    ("MPI_Allgather", 17),
    ("MPI_Allgatherv", 18),
    ("MPI_Comm_rank", 19),
    ("MPI_Comm_size", 20),
    ("MPI_Comm_create", 21),
    ("MPI_Comm_dup", 22),
    ("MPI_Comm_split", 23),
    ("MPI_Comm_group", 24),
    ("MPI_Comm_free", 25),
    ("MPI_Scan", 30),
    ("MPI_Init", 31),
    ("MPI_Finalize", 32),
    ("MPI_Bsend", 33),
    ("MPI_Ssend", 34),
    ("MPI_Rsend", 35),
    ("MPI_Ibsend", 36),
    ("MPI_Issend", 37),
    ("MPI_Irsend", 38),
    ("MPI_Test", 39),
    ("MPI_Cancel", 40),
    ("MPI_Sendrecv", 41),
    ("MPI_Sendrecv_replace", 42),
    ("MPI_Cart_create", 43),
    ("MPI_Waitany", 59),
    ("MPI_Waitsome", 60),
    ("MPI_Probe", 61),
    ("MPI_Iprobe", 62),
];

/// What a region is in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type {
    pub(super) kind: i64,
    pub(super) value: i64,
    /// The value of its place, if that is known.
    pub(super) place: Option<i64>,
}

/// A type of events: its number and label, and its values with theirs.
type Values = (i64, String, Vec<(i64, String)>);

pub(super) struct Labels {
    /// By region.
    regions: Vec<Type>,
    states: Vec<u8>,
    types: Vec<Values>,
    /// Whether counters only ever count.
    counters: Vec<bool>,
}

impl Labels {
    pub(super) fn new(run: &Definitions<'_>) -> Self {
        let trace = run.trace;
        let mut it =
            Self { regions: Vec::new(), states: Vec::new(), types: Vec::new(), counters: Vec::new() };
        let mut levels: Vec<&str> = Vec::new();
        for (number, region) in (0..).zip(trace.regions()) {
            let kind = match region.level.as_str() {
                Level::MPI => of_mpi(region),
                Level::SOURCE => FUNCTION,
                level => {
                    let at = levels.iter().position(|it| *it == level).unwrap_or_else(|| {
                        levels.push(level);
                        levels.len() - 1
                    });
                    LEVELS.saturating_add(i64::try_from(at).unwrap_or(i64::MAX))
                }
            };
            let known = VALUES.iter().find(|(name, _)| *name == region.verb && region.level == Level::MPI);
            let value = known.map_or(FIRST_OWN + number, |known| known.1);
            it.value(kind, &region.level, value, &names::one_line(names::region(region)));
            let place = names::place(region);
            let place = (!place.is_empty() && region.level == Level::SOURCE).then_some(FIRST_OWN + number);
            if let Some(value) = place {
                let file = names::one_line(&region.file);
                it.value(kind + TO_PLACE, "", value, &format!("{} ({file}, {file})", region.line));
            }
            it.regions.push(Type { kind, value, place });
            it.states.push(states::of(region));
        }
        for (number, counter) in (0..).zip(trace.counters()) {
            let is_sum = counter.source == "hardware" || counter.source == "kernel";
            it.counters.push(is_sum);
            let unit = if counter.unit.is_empty() { String::new() } else { format!(" [{}]", counter.unit) };
            let kind = if is_sum { HARDWARE } else { COUNTERS } + number;
            it.types.push((kind, names::one_line(&format!("{}{unit}", counter.name)), Vec::new()));
        }
        for (number, name) in (0..).zip(&run.event_kinds) {
            it.types.push((event(number), names::one_line(name), Vec::new()));
        }
        let facts = [
            (HEAP_PEAK, "heap peak [bytes]"),
            (BYTES_OUT, "Send Size in MPI Global OP"),
            (BYTES_IN, "Recv Size in MPI Global OP"),
            (IS_ROOT, "Root in MPI Global OP"),
            (COMMUNICATOR, "Communicator in MPI Global OP"),
        ];
        it.types.extend(facts.map(|(kind, label)| (kind, label.to_owned(), Vec::new())));
        it.types.sort_by_key(|it| it.0);
        it
    }

    fn value(&mut self, kind: i64, level: &str, value: i64, name: &str) {
        let at = self.types.iter().position(|it| it.0 == kind).unwrap_or_else(|| {
            let (label, end) = match kind {
                POINT_TO_POINT => ("MPI Point-to-point".to_owned(), "Outside MPI"),
                COLLECTIVE => ("MPI Collective Comm".to_owned(), "Outside MPI"),
                OTHER => ("MPI Other".to_owned(), "Outside MPI"),
                ONE_SIDED => ("MPI One-sided".to_owned(), "Outside MPI"),
                FILES => ("MPI I/O".to_owned(), "Outside MPI"),
                FUNCTION => ("User function".to_owned(), "End"),
                kind if kind == FUNCTION + TO_PLACE => ("User function line".to_owned(), "End"),
                _ => (format!("Level {}", names::one_line(level)), "End"),
            };
            self.types.push((kind, label, vec![(0, end.to_owned())]));
            self.types.len() - 1
        });
        let values = &mut self.types[at].2;
        if !values.iter().any(|it| it.0 == value) {
            values.push((value, name.to_owned()));
        }
    }

    pub(super) fn region_of(&self, trace: &dyn Trace, path: CallPathId) -> Type {
        let region = names::region_of(trace, path).and_then(|region| self.regions.get(region.idx()));
        region.copied().unwrap_or(Type { kind: FUNCTION, value: FIRST_OWN - 1, place: None })
    }

    pub(super) fn state_of(&self, trace: &dyn Trace, path: CallPathId) -> u8 {
        let region = names::region_of(trace, path).and_then(|region| self.states.get(region.idx()));
        region.copied().unwrap_or(states::RUNNING)
    }

    /// The type of a counter, and whether its values are what was counted since the last.
    pub(super) fn counter(&self, number: u32) -> (i64, bool) {
        let is_sum =
            usize::try_from(number).ok().and_then(|at| self.counters.get(at)).copied().unwrap_or(false);
        (if is_sum { HARDWARE } else { COUNTERS } + i64::from(number), is_sum)
    }

    /// The `.pcf`.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n\
             SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n\
             DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n",
        );
        // A text takes all that is written to it.
        for (number, name, _) in states::ALL {
            writeln!(text, "{number}    {name}").ok();
        }
        text += "\n\nSTATES_COLOR\n";
        for (number, _, colour) in states::ALL {
            writeln!(text, "{number}    {{{colour}}}").ok();
        }
        for (kind, label, values) in &self.types {
            writeln!(text, "\n\nEVENT_TYPE\n9    {kind}    {label}").ok();
            if !values.is_empty() {
                text += "VALUES\n";
            }
            for (value, label) in values {
                writeln!(text, "{value}   {label}").ok();
            }
        }
        text
    }
}

/// Whether a type is one of calls of MPI.
pub(super) fn is_mpi(kind: i64) -> bool {
    (POINT_TO_POINT..=FILES).contains(&kind)
}

/// The type of an event of the program.
pub(super) fn event(kind: u32) -> i64 {
    EVENTS + i64::from(kind)
}

/// The type of a call of MPI.
fn of_mpi(region: &Region) -> i64 {
    let name = region.verb.strip_prefix("MPI_").unwrap_or(&region.verb);
    match region.role {
        _ if name.starts_with("Win_") => ONE_SIDED,
        Role::Io => FILES,
        Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne => COLLECTIVE,
        Role::Transfer
            if ["Put", "Get", "Acc", "Fetch", "Compare", "Rput", "Rget", "Racc"]
                .iter()
                .any(|it| name.starts_with(it)) =>
        {
            ONE_SIDED
        }
        Role::Transfer | Role::Wait => POINT_TO_POINT,
        _ => OTHER,
    }
}
