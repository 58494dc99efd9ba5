//! All types of records of CLOG-2, with their sizes and what becomes of them.
//!
//! The one idea: a record does not say how long it is, so this table is what finds the next one.
//!
//! Source: `clog_record.h` of MPE2 2.44.

use crate::Fate::{self, Ignored, Kept, Mapped};

/// A type of record; its code is its place in [`KINDS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    pub code: u8,
    pub name: &'static str,
    /// Bytes behind its head.
    pub len: usize,
    pub fate: Fate,
    pub is_definition: bool,
    /// Whether it only says where records end.
    pub is_mark: bool,
    /// What it is in a run, or why it is nothing.
    pub becomes: &'static str,
}

/// Codes that are known by name.
pub(crate) mod code {
    pub(crate) const END_LOG: u8 = 0;
    pub(crate) const END_BLOCK: u8 = 1;
    pub(crate) const STATE: u8 = 2;
    pub(crate) const EVENT: u8 = 3;
    pub(crate) const BARE: u8 = 5;
    pub(crate) const CARGO: u8 = 6;
    pub(crate) const MESSAGE: u8 = 7;
    pub(crate) const COLLECTIVE: u8 = 8;
    pub(crate) const COMMUNICATOR: u8 = 9;
    pub(crate) const SOURCE: u8 = 10;
    pub(crate) const SHIFT: u8 = 11;
}

const fn record(code: u8, name: &'static str, len: usize, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, len, fate, is_definition: false, is_mark: false, becomes }
}

const fn definition(code: u8, name: &'static str, len: usize, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, len, fate, is_definition: true, is_mark: false, becomes }
}

const fn mark(code: u8, name: &'static str, becomes: &'static str) -> Kind {
    Kind { code, name, len: 0, fate: Ignored, is_definition: false, is_mark: true, becomes }
}

/// Bytes of a record's head.
pub(crate) const HEAD: usize = 24;

/// All types, by code.
pub(super) const KINDS: [Kind; 12] = [
    mark(0, "ENDLOG", "the end of the log"),
    mark(1, "ENDBLOCK", "the end of a block"),
    definition(
        2,
        "STATEDEF",
        112,
        Mapped,
        "a region: of MPI if its name begins with `MPI_`, else a function of the program; its format names what its events carry",
    ),
    definition(3, "EVENTDEF", 104, Mapped, "a kind of events, whose fields its format names"),
    definition(4, "CONSTDEF", 40, Ignored, "values of MPI's constants"),
    record(5, "BAREEVT", 8, Mapped, "enter or leave of a region; an event if it belongs to no state"),
    record(
        6,
        "CARGOEVT",
        40,
        Mapped,
        "the same; what it carries is a fact about the region, or fields of the event",
    ),
    record(7, "MSGEVT", 24, Mapped, "sends and receives"),
    record(8, "COLLEVT", 16, Mapped, "a part in a collective; an event if the communicator is not known"),
    definition(9, "COMMEVT", 48, Mapped, "ranks, members of communicators, and the hosts of processes"),
    record(10, "SRCLOC", 48, Kept, "an event with these fields: `id`, `line`, `file`"),
    record(
        11,
        "TIMESHIFT",
        8,
        Kept,
        "an event with the field `seconds`: the times behind it are shifted already",
    ),
];

/// The type of a code.
pub(super) fn of(code: u32) -> Option<&'static Kind> {
    KINDS.get(usize::try_from(code).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_stands_at_its_code() {
        assert!((0..).zip(&KINDS).all(|(code, kind)| kind.code == code));
    }
}
