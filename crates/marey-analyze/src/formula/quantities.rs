//! All quantities that expressions may name.
//!
//! The one idea: one table, which the parser, the help and a test of the documentation read.

use super::{Expr, Operator};

/// What a quantity is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// The run.
    Run,
    /// All regions of a name.
    Region,
    /// All regions of a level.
    Level,
    /// Calls that a function makes, and its own code.
    Function,
    /// A rank of the first world.
    Rank,
}

impl Of {
    /// What errors call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Region => "region",
            Self::Level => "level",
            Self::Function => "function",
            Self::Rank => "rank",
        }
    }

    /// A quantity that it has.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Run | Self::Region | Self::Rank => "time",
            Self::Level | Self::Function => "self_time",
        }
    }
}

/// A unit: seconds and bytes to some power.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unit {
    /// Power of seconds.
    pub seconds: i32,
    /// Power of bytes.
    pub bytes: i32,
}

/// Something that a run knows a number of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantity {
    /// Of what.
    pub of: Of,
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Whether it does not depend on the speed of the machine.
    pub is_exact: bool,
    /// Whether only events tell.
    pub needs_events: bool,
    /// Whether more of it is better.
    pub is_efficiency: bool,
}

impl Quantity {
    /// Whether the name of a counter follows.
    pub fn is_counter(&self) -> bool {
        self.name == "counter"
    }
}

const SECONDS: Unit = Unit { seconds: 1, bytes: 0 };
const BYTES: Unit = Unit { seconds: 0, bytes: 1 };
const NUMBER: Unit = Unit { seconds: 0, bytes: 0 };

const fn measured(of: Of, name: &'static str, unit: Unit) -> Quantity {
    Quantity { of, name, unit, is_exact: false, needs_events: false, is_efficiency: false }
}

const fn exact(of: Of, name: &'static str, unit: Unit) -> Quantity {
    Quantity { is_exact: true, ..measured(of, name, unit) }
}

const fn of_events(of: Of, name: &'static str) -> Quantity {
    Quantity { needs_events: true, ..measured(of, name, SECONDS) }
}

const fn efficiency(name: &'static str) -> Quantity {
    Quantity { needs_events: true, is_efficiency: true, ..measured(Of::Run, name, NUMBER) }
}

/// All of them, in the order of the documentation.
pub const QUANTITIES: [Quantity; 58] = [
    measured(Of::Run, "duration", SECONDS),
    measured(Of::Run, "time", SECONDS),
    measured(Of::Run, "mpi_time", SECONDS),
    measured(Of::Run, "processor_time", SECONDS),
    exact(Of::Run, "processes", NUMBER),
    exact(Of::Run, "ranks", NUMBER),
    exact(Of::Run, "threads", NUMBER),
    exact(Of::Run, "visits", NUMBER),
    exact(Of::Run, "bytes", BYTES),
    exact(Of::Run, "messages", NUMBER),
    exact(Of::Run, "message_bytes", BYTES),
    measured(Of::Run, "peak_memory", BYTES),
    measured(Of::Run, "heap_peak", BYTES),
    measured(Of::Run, "allocated_bytes", BYTES),
    measured(Of::Run, "imbalance", NUMBER),
    of_events(Of::Run, "waiting"),
    efficiency("parallel_efficiency"),
    efficiency("load_balance"),
    efficiency("communication_efficiency"),
    efficiency("serialisation"),
    efficiency("setting_up"),
    efficiency("transfer"),
    measured(Of::Run, "counter", NUMBER),
    measured(Of::Region, "time", SECONDS),
    measured(Of::Region, "self_time", SECONDS),
    exact(Of::Region, "visits", NUMBER),
    exact(Of::Region, "bytes", BYTES),
    measured(Of::Region, "longest", SECONDS),
    of_events(Of::Region, "waiting"),
    of_events(Of::Region, "delay_cost"),
    of_events(Of::Region, "path_time"),
    measured(Of::Region, "counter", NUMBER),
    measured(Of::Level, "self_time", SECONDS),
    exact(Of::Level, "visits", NUMBER),
    exact(Of::Level, "bytes", BYTES),
    of_events(Of::Level, "waiting"),
    of_events(Of::Level, "delay_cost"),
    of_events(Of::Level, "path_time"),
    measured(Of::Function, "self_time", SECONDS),
    exact(Of::Function, "visits", NUMBER),
    exact(Of::Function, "bytes", BYTES),
    measured(Of::Function, "processor_time", SECONDS),
    of_events(Of::Function, "waiting"),
    of_events(Of::Function, "delay_cost"),
    of_events(Of::Function, "path_time"),
    measured(Of::Rank, "time", SECONDS),
    measured(Of::Rank, "mpi_time", SECONDS),
    measured(Of::Rank, "processor_time", SECONDS),
    measured(Of::Rank, "peak_memory", BYTES),
    exact(Of::Rank, "visits", NUMBER),
    exact(Of::Rank, "bytes", BYTES),
    exact(Of::Rank, "sent_messages", NUMBER),
    exact(Of::Rank, "sent_bytes", BYTES),
    exact(Of::Rank, "received_messages", NUMBER),
    exact(Of::Rank, "received_bytes", BYTES),
    of_events(Of::Rank, "waiting"),
    of_events(Of::Rank, "delay_cost"),
    of_events(Of::Rank, "path_time"),
];

/// The unit of an expression. A number has whatever unit it is added to.
pub(super) fn unit(expr: &Expr) -> Option<Unit> {
    match expr {
        Expr::Number(_) => Some(NUMBER),
        Expr::Quantity(ask) => Some(ask.quantity.unit),
        Expr::Negative(inner) | Expr::Exact(inner) | Expr::HigherIsBetter(inner) => unit(inner),
        Expr::Two(operator, _, sides) => {
            let (left, right) = (unit(&sides[0])?, unit(&sides[1])?);
            let power = |sign: i32| Unit {
                seconds: left.seconds + sign * right.seconds,
                bytes: left.bytes + sign * right.bytes,
            };
            match operator {
                Operator::Multiply => Some(power(1)),
                Operator::Divide => Some(power(-1)),
                Operator::Add | Operator::Subtract => match (&sides[0], &sides[1]) {
                    (Expr::Number(_), _) => Some(right),
                    (_, Expr::Number(_)) => Some(left),
                    _ => (left == right).then_some(left),
                },
            }
        }
    }
}

/// The name that is written most like this one, if any nearly is.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // A third of the letters may be wrong.
    let most = (name.chars().count() / 3).max(1);
    let far = names.map(|known| (distance(name, known), known));
    far.filter(|(far, _)| *far <= most).min().map(|(_, known)| known)
}

/// How many letters must be changed, added, left out, or exchanged with the next (the distance of Damerau and
/// Levenshtein, optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    // Names of regions come from programs and may be long.
    const MOST: usize = 200;
    let [a, b] = [a, b].map(|text| text.chars().take(MOST).collect::<Vec<char>>());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=b.len()).collect()];
    for i in 0..a.len() {
        rows.rotate_left(1);
        rows[2] = vec![i + 1];
        for j in 0..b.len() {
            let change = rows[1][j] + usize::from(a[i] != b[j]);
            let mut least = change.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(rows[0][j - 1] + 1);
            }
            rows[2].push(least);
        }
    }
    rows[2][b.len()]
}
