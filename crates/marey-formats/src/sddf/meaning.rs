//! What the names of a descriptor say.

use marey_model::spool::FieldType;

use super::item::{Descriptor, Field};

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl Unit {
    /// The one that a name or a comment has.
    fn of(text: &str) -> Option<Self> {
        let words = text.split(|letter: char| !letter.is_ascii_alphabetic());
        words.map(str::to_ascii_lowercase).find_map(|word| {
            Some(match word.as_str() {
                "seconds" | "second" | "sec" => Self::Seconds,
                "milliseconds" | "millisecond" | "msec" | "ms" => Self::Millis,
                "microseconds" | "microsecond" | "usec" | "us" => Self::Micros,
                "nanoseconds" | "nanosecond" | "nsec" | "ns" => Self::Nanos,
                _ => return None,
            })
        })
    }

    pub(super) const fn ns(self) -> i64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Millis => 1_000_000,
            Self::Micros => 1000,
            Self::Nanos => 1,
        }
    }
}

/// What a record is by its name, in Dimemas and ParAide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Special {
    Burst,
    Send,
    Receive,
    BlockBegin,
    BlockEnd,
    UserEvent,
    GlobalOp,
    BlockDefinition,
    TypeDefinition,
    ValueDefinition,
    GroupDefinition,
    OpDefinition,
}

/// Names of records that have a meaning; they are those of the table of kinds, too.
const SPECIALS: [(&str, Special); 12] = [
    ("CPU burst", Special::Burst),
    ("NX send", Special::Send),
    ("NX recv", Special::Receive),
    ("block begin", Special::BlockBegin),
    ("block end", Special::BlockEnd),
    ("user event", Special::UserEvent),
    ("global OP", Special::GlobalOp),
    ("block definition", Special::BlockDefinition),
    ("user event type definition", Special::TypeDefinition),
    ("user event value definition", Special::ValueDefinition),
    ("communicator definition", Special::GroupDefinition),
    ("global OP definition", Special::OpDefinition),
];

/// Names of fields that are times, the best first.
const TIMES: [&str; 10] = [
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "timestamp",
    "time stamp",
    "event time",
    "time",
    "clock",
    "usec",
];
const PROCESSES: [&str; 10] = [
    "processor number",
    "processor",
    "node number",
    "node",
    "taskid",
    "task id",
    "task",
    "rank",
    "process",
    "pe",
];
const THREADS: [&str; 5] = ["thread id", "thread number", "thread", "thid", "pthread"];

/// What records of a descriptor mean.
#[derive(Clone, Debug)]
pub(super) struct Meaning {
    /// Name of the record.
    pub name: String,
    /// Names of its fields, and what they are in a run.
    pub fields: Vec<(String, FieldType)>,
    /// The same names, in small letters and without underscores.
    plain: Vec<String>,
    pub time: Option<(usize, Unit)>,
    pub process: Option<usize>,
    pub thread: Option<usize>,
    pub entry_exit: Option<usize>,
    pub trigger: Option<usize>,
    /// With the name that it has in the table of kinds.
    pub special: Option<(&'static str, Special)>,
}

impl Meaning {
    pub(super) fn of(descriptor: Descriptor) -> Self {
        let Descriptor { name, fields } = descriptor;
        let plain: Vec<String> = fields.iter().map(|field| plain(&field.name)).collect();
        let single = |names: &[&str]| {
            names.iter().find_map(|name| {
                let is_it = |(field, plain): (&Field, &String)| field.dimensions == 0 && plain == name;
                fields.iter().zip(&plain).position(is_it)
            })
        };
        let special = SPECIALS.into_iter().find(|it| it.0.eq_ignore_ascii_case(name.trim()));
        // What a burst has is its length.
        let is_burst = special.is_some_and(|it| it.1 == Special::Burst);
        let time = single(&TIMES).filter(|_| !is_burst);
        let time = time.and_then(|at| Some((at, unit(fields.get(at)?))));
        let (process, thread) = (single(&PROCESSES), single(&THREADS));
        let (entry_exit, trigger) = (single(&["entryexit"]), single(&["triggervalue"]));
        let fields = fields
            .into_iter()
            .map(|field| {
                let kind = field_type(&field);
                (if field.name.is_empty() { "value".to_owned() } else { field.name }, kind)
            })
            .collect();
        Self {
            name: name.trim().to_owned(),
            fields,
            plain,
            time,
            process,
            thread,
            entry_exit,
            trigger,
            special,
        }
    }

    /// Where the first of these fields is that is there.
    pub(super) fn field(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.plain.iter().position(|field| field == name))
    }
}

fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('_', " ");
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_real(field: &Field) -> bool {
    field.kind.contains("float") || field.kind.contains("double")
}

fn unit(field: &Field) -> Unit {
    let said = Unit::of(&field.name).or_else(|| Unit::of(&field.comment));
    said.unwrap_or(if is_real(field) || plain(&field.name) != "timestamp" {
        Unit::Seconds
    } else {
        Unit::Micros
    })
}

fn field_type(field: &Field) -> FieldType {
    if field.dimensions > 0 {
        FieldType::Text
    } else if is_real(field) {
        FieldType::Real
    } else {
        FieldType::Signed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, name: &str, comment: &str, expected: Option<Unit>) {
        let (kind, name, comment) = (kind.to_owned(), name.to_owned(), comment.to_owned());
        let fields = vec![Field { name, kind, dimensions: 0, comment }];
        let meaning = Meaning::of(Descriptor { name: "x".to_owned(), fields });
        assert_eq!(meaning.time, expected.map(|unit| (0, unit)));
    }

    #[test]
    fn units_are_in_names_comments_or_types() {
        check("unsigned long long", "Timestamp", "", Some(Unit::Micros));
        check("int", "Timestamp", " \"units\" \"milliseconds\"", Some(Unit::Millis));
        check("double", "time_stamp", "", Some(Unit::Seconds));
        check("double", "Seconds", "", Some(Unit::Seconds));
        check("long", "NANOSECONDS", "", Some(Unit::Nanos));
        check("int", "Time of day", "", None);
    }
}
