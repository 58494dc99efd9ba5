//! What can be counted beside the time: events of the processor, and of the kernel.
//!
//! The one idea: a counter has one name, that of `perf list`, on the command line, in the spool, in the archive and in
//! the report; the table here says what it counts and where it is to be had.
//!
//! Deliberately absent: how a counter is read (`marey-measure`), and what counts tell (`marey-analyze`). Events that
//! only some processors have are named by their code, `rUUEE`, in hexadecimal digits: unit mask and event.

use core::fmt;

/// The most counters of a recording. Processors have four to eight; beyond that they take turns.
pub const MAX_COUNTERS: usize = 8;

/// Where a counter is to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterSource {
    /// The processor, by the kernel's `perf_event_open`: type and configuration there.
    Processor(u32, u64),
    /// The kernel, by `perf_event_open` too.
    Event(u64),
    /// The kernel, by `getrusage` of the thread.
    Usage(Usage),
    /// The clock of the thread's processor time.
    ThreadTime,
}

impl CounterSource {
    /// `hardware` or `kernel`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processor(..) => HARDWARE,
            Self::Event(_) | Self::Usage(_) | Self::ThreadTime => KERNEL,
        }
    }
}

/// The name of the source of what processors count.
pub const HARDWARE: &str = "hardware";
/// The name of the source of what the kernel counts.
pub const KERNEL: &str = "kernel";
/// The name of the source of what programs count.
pub const PROGRAM: &str = "program";

/// A field of `getrusage`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usage {
    /// Pages that were given without reading a disk.
    MinorFaults,
    /// Pages that were read from a disk.
    MajorFaults,
    /// Both.
    Faults,
    /// The thread gave its processor away, because it had to wait.
    Waits,
    /// Its processor was taken from it.
    Preemptions,
    /// Both.
    Switches,
}

/// Something that can be counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// The unit of its values; empty for events.
    pub unit: &'static str,
    /// Where it is to be had.
    pub source: CounterSource,
}

/// A counter that is known by name.
#[derive(Clone, Copy, Debug)]
pub struct KnownCounter {
    /// Its name, as in `perf list`.
    pub name: &'static str,
    /// The unit of its values; empty for events.
    pub unit: &'static str,
    /// Where it is to be had.
    pub source: CounterSource,
    /// What it counts.
    pub doc: &'static str,
}

/// `PERF_TYPE_HARDWARE`: events that most processors have.
const GENERIC: u32 = 0;
/// `PERF_TYPE_HW_CACHE`: a level of cache, what is done there, and with what result.
const CACHE: u32 = 3;
/// `PERF_TYPE_RAW`: events by the processor's own code.
const RAW: u32 = 4;

// Levels of cache.
const L1D: u64 = 0;
const LAST: u64 = 2;
const DATA_TLB: u64 = 3;
const CODE_TLB: u64 = 4;

// What is done there, and with what result.
const LOADS: u64 = 0;
const STORES: u64 = 1 << 8;
const LOAD_MISSES: u64 = 1 << 16;
const STORE_MISSES: u64 = STORES | LOAD_MISSES;

const fn processor(name: &'static str, kind: u32, config: u64, doc: &'static str) -> KnownCounter {
    KnownCounter { name, unit: "", source: CounterSource::Processor(kind, config), doc }
}

const fn usage(name: &'static str, usage: Usage, doc: &'static str) -> KnownCounter {
    KnownCounter { name, unit: "", source: CounterSource::Usage(usage), doc }
}

/// All counters that are known by name.
pub static KNOWN: [KnownCounter; 26] = [
    processor("cycles", GENERIC, 0, "cycles of the processor at its speed of the moment"),
    processor("instructions", GENERIC, 1, "instructions that were retired"),
    processor("ref-cycles", GENERIC, 9, "cycles at the processor's nominal speed"),
    processor("stalled-cycles-frontend", GENERIC, 7, "cycles in which no instruction could be fetched"),
    processor("stalled-cycles-backend", GENERIC, 8, "cycles in which no instruction could be finished"),
    processor("branches", GENERIC, 4, "branches that were retired"),
    processor("branch-misses", GENERIC, 5, "branches that were predicted wrongly"),
    processor("cache-references", GENERIC, 2, "accesses to the last level of cache"),
    processor("cache-misses", GENERIC, 3, "those that had to go to memory"),
    processor("L1-dcache-loads", CACHE, L1D | LOADS, "loads from the first level of cache"),
    processor("L1-dcache-load-misses", CACHE, L1D | LOAD_MISSES, "those that it could not serve"),
    processor("L1-dcache-stores", CACHE, L1D | STORES, "stores to the first level of cache"),
    processor("LLC-loads", CACHE, LAST | LOADS, "loads from the last level of cache"),
    processor("LLC-load-misses", CACHE, LAST | LOAD_MISSES, "those that had to go to memory"),
    processor("LLC-stores", CACHE, LAST | STORES, "stores to the last level of cache"),
    processor("LLC-store-misses", CACHE, LAST | STORE_MISSES, "those that had to go to memory"),
    processor("dTLB-load-misses", CACHE, DATA_TLB | LOAD_MISSES, "loads whose page was not in the TLB"),
    processor("iTLB-load-misses", CACHE, CODE_TLB | LOAD_MISSES, "code whose page was not in the TLB"),
    KnownCounter {
        name: "task-clock",
        unit: "ns",
        source: CounterSource::ThreadTime,
        doc: "processor time of the thread",
    },
    usage("page-faults", Usage::Faults, "pages that were touched and not in memory yet"),
    usage("minor-faults", Usage::MinorFaults, "those that needed no disk"),
    usage("major-faults", Usage::MajorFaults, "those that were read from a disk"),
    usage("context-switches", Usage::Switches, "times that another thread got the processor"),
    usage("voluntary-switches", Usage::Waits, "those because this thread had to wait"),
    usage("involuntary-switches", Usage::Preemptions, "those because the kernel chose another"),
    KnownCounter {
        name: "cpu-migrations",
        unit: "",
        source: CounterSource::Event(4),
        doc: "times that the thread went on at another processor",
    },
];

/// What is counted where nothing else is asked for: as much as most processors can count at a time.
pub const USUAL: &str =
    "cycles,instructions,branches,branch-misses,cache-references,cache-misses,page-faults,context-switches";

/// Why a list of counters cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CounterError {
    /// A name that nothing has.
    Unknown(String),
    /// The same one twice.
    Twice(String),
    /// More than [`MAX_COUNTERS`].
    TooMany(usize),
    /// None at all.
    None,
}

impl fmt::Display for CounterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
                write!(
                    f,
                    "no counter is called “{name}”; there are {}, and rUUEE, a processor's own by unit mask and event \
                     in hexadecimal digits, up to r and 16 of them",
                    known.join(", ")
                )
            }
            Self::Twice(name) => write!(f, "“{name}” is there twice"),
            Self::TooMany(number) => write!(f, "{number} counters; at most {MAX_COUNTERS} can be recorded"),
            Self::None => f.write_str("no counter is named"),
        }
    }
}

impl core::error::Error for CounterError {}

/// Reads a list of names, separated by commas.
pub fn parse(list: &str) -> Result<Vec<Counter>, CounterError> {
    let mut counters: Vec<Counter> = Vec::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let counter = counter(name).ok_or_else(|| CounterError::Unknown(name.to_owned()))?;
        if counters.contains(&counter) {
            return Err(CounterError::Twice(counter.name));
        }
        counters.push(counter);
    }
    match counters.len() {
        0 => Err(CounterError::None),
        1..=MAX_COUNTERS => Ok(counters),
        more => Err(CounterError::TooMany(more)),
    }
}

fn counter(name: &str) -> Option<Counter> {
    if let Some(known) = KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(name)) {
        return Some(Counter { name: known.name.to_owned(), unit: known.unit, source: known.source });
    }
    let digits = name.strip_prefix('r')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let code = is_number.then(|| u64::from_str_radix(digits, 16).ok())??;
    Some(Counter { name: format!("r{code:x}"), unit: "", source: CounterSource::Processor(RAW, code) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_what_is_wrong_in_them_is_said() {
        let found = parse(" cycles,l1-dcache-load-misses,,r01B7").unwrap();
        let names: Vec<&str> = found.iter().map(|counter| counter.name.as_str()).collect();
        assert_eq!(names, ["cycles", "L1-dcache-load-misses", "r1b7"]);
        // PERF_COUNT_HW_CACHE_L1D, _OP_READ and _RESULT_MISS.
        assert_eq!(found[1].source, CounterSource::Processor(3, 0x1_0000));
        assert_eq!(found[2].source, CounterSource::Processor(4, 0x1b7));
        assert_eq!(parse(USUAL).unwrap().len(), MAX_COUNTERS);
        assert_eq!(parse("cycles,flops"), Err(CounterError::Unknown("flops".to_owned())));
        assert_eq!(parse("r1,r01"), Err(CounterError::Twice("r1".to_owned())));
        assert_eq!(parse("r1,r2,r3,r4,r5,r6,r7,r8,r9"), Err(CounterError::TooMany(9)));
        assert_eq!(parse(" , "), Err(CounterError::None));
        for wrong in ["r", "rx", "r+1", "r11112222333344445", "é"] {
            assert_eq!(parse(wrong), Err(CounterError::Unknown(wrong.to_owned())));
        }
    }

    #[test]
    fn no_name_is_there_twice() {
        for (place, known) in KNOWN.iter().enumerate() {
            assert!(KNOWN[..place].iter().all(|other| other.name != known.name), "{}", known.name);
        }
    }
}
