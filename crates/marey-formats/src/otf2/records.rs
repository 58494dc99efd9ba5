//! All kinds of records that a file of events can hold, with their fields and what becomes of them.
//!
//! The one idea: this table is all there is. What the conversion has no place for in a run is decoded by it into an event
//! that describes itself; `docs/formats.md` is made from it, and a kind that is not in it is of a later version of OTF2.
//!
//! Source: the functions of `OTF2_EvtWriter.h` of OTF2 3.0.2.

use super::local::Numbered;
use crate::Fate;

/// How a field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    /// One byte.
    Byte,
    /// Up to four bytes.
    Word,
    /// Up to eight bytes.
    Long,
    /// The same with a sign.
    Signed,
    /// Always eight bytes.
    Ticks,
    /// A number of something that is defined.
    Of(Numbered),
}

/// A kind of record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub code: u8,
    pub name: &'static str,
    /// Whether it has a single field, and no length before it.
    pub is_single: bool,
    pub fate: Fate,
    pub fields: &'static [(&'static str, Field)],
}

use Fate::{Ignored, Kept, Mapped};
use Field::{Byte, Long, Of, Signed, Ticks, Word};
use Numbered::{
    Communicator, Context, File, Generator, Group, Handle, Metric, Parameter, Region, String, Window,
};

const fn kind(code: u8, name: &'static str, fate: Fate, fields: &'static [(&'static str, Field)]) -> Kind {
    Kind { code, name, is_single: false, fate, fields }
}

const fn single(code: u8, name: &'static str, fate: Fate, fields: &'static [(&'static str, Field)]) -> Kind {
    Kind { code, name, is_single: true, fate, fields }
}

/// Codes that the conversion knows by name.
pub(super) mod code {
    pub(crate) const ENTER: u8 = 12;
    pub(crate) const LEAVE: u8 = 13;
    pub(crate) const MPI_SEND: u8 = 14;
    pub(crate) const MPI_ISEND: u8 = 15;
    pub(crate) const MPI_ISEND_COMPLETE: u8 = 16;
    pub(crate) const MPI_IRECV_REQUEST: u8 = 17;
    pub(crate) const MPI_RECV: u8 = 18;
    pub(crate) const MPI_IRECV: u8 = 19;
    pub(crate) const MPI_REQUEST_CANCELLED: u8 = 21;
    pub(crate) const MPI_COLLECTIVE_END: u8 = 23;
    pub(crate) const METRIC: u8 = 31;
    pub(crate) const PARAMETER_STRING: u8 = 32;
    pub(crate) const PARAMETER_INT: u8 = 33;
    pub(crate) const PARAMETER_UNSIGNED: u8 = 34;
    pub(crate) const PROGRAM_BEGIN: u8 = 83;
    pub(crate) const PROGRAM_END: u8 = 84;
    pub(crate) const CONTEXT_ENTER: u8 = 66;
    pub(crate) const CONTEXT_LEAVE: u8 = 67;
}

const MESSAGE: &[(&str, Field)] =
    &[("peer", Word), ("communicator", Of(Communicator)), ("tag", Word), ("bytes", Long), ("request", Long)];
const COLLECTIVE: &[(&str, Field)] = &[
    ("operation", Byte),
    ("communicator", Of(Communicator)),
    ("root", Word),
    ("sent", Long),
    ("received", Long),
    ("request", Long),
];
const REQUEST: &[(&str, Field)] = &[("request", Long)];
const LOCK: &[(&str, Field)] = &[("lock", Word), ("order", Word)];
const MODEL_LOCK: &[(&str, Field)] = &[("model", Byte), ("lock", Word), ("order", Word)];
const TASK: &[(&str, Field)] = &[("task", Long)];
const TEAM: &[(&str, Field)] = &[("team", Of(Communicator))];
const TEAM_TASK: &[(&str, Field)] = &[("team", Of(Communicator)), ("creator", Word), ("generation", Word)];
const CONTINGENT: &[(&str, Field)] = &[("contingent", Of(Communicator)), ("sequence", Long)];
const WINDOW: &[(&str, Field)] = &[("window", Of(Window))];
const WINDOW_LOCK: &[(&str, Field)] =
    &[("window", Of(Window)), ("remote", Word), ("lock", Long), ("type", Byte)];
const WINDOW_BYTES: &[(&str, Field)] =
    &[("window", Of(Window)), ("remote", Word), ("bytes", Long), ("matching", Long)];
const WINDOW_MATCHING: &[(&str, Field)] = &[("window", Of(Window)), ("matching", Long)];
const HANDLE: &[(&str, Field)] = &[("handle", Of(Handle))];
const HANDLE_MATCHING: &[(&str, Field)] = &[("handle", Of(Handle)), ("matching", Long)];
const HANDLE_LOCK: &[(&str, Field)] = &[("handle", Of(Handle)), ("type", Byte)];

/// All kinds, by code.
pub(super) const KINDS: [Kind; 79] = [
    kind(10, "BufferFlush", Kept, &[("stop", Ticks)]),
    kind(11, "MeasurementOnOff", Kept, &[("mode", Byte)]),
    single(12, "Enter", Mapped, &[("region", Of(Region))]),
    single(13, "Leave", Mapped, &[("region", Of(Region))]),
    kind(14, "MpiSend", Mapped, MESSAGE),
    kind(15, "MpiIsend", Mapped, MESSAGE),
    single(16, "MpiIsendComplete", Mapped, REQUEST),
    single(17, "MpiIrecvRequest", Mapped, REQUEST),
    kind(18, "MpiRecv", Mapped, MESSAGE),
    kind(19, "MpiIrecv", Mapped, MESSAGE),
    single(20, "MpiRequestTest", Ignored, REQUEST),
    single(21, "MpiRequestCancelled", Mapped, REQUEST),
    kind(22, "MpiCollectiveBegin", Ignored, &[]),
    kind(23, "MpiCollectiveEnd", Mapped, COLLECTIVE),
    single(24, "OmpFork", Kept, &[("threads", Word)]),
    kind(25, "OmpJoin", Kept, &[]),
    kind(26, "OmpAcquireLock", Kept, LOCK),
    kind(27, "OmpReleaseLock", Kept, LOCK),
    single(28, "OmpTaskCreate", Kept, TASK),
    single(29, "OmpTaskSwitch", Kept, TASK),
    single(30, "OmpTaskComplete", Kept, TASK),
    kind(31, "Metric", Mapped, &[("metric", Of(Metric)), ("members", Byte)]),
    kind(32, "ParameterString", Mapped, &[("parameter", Of(Parameter)), ("value", Of(String))]),
    kind(33, "ParameterInt", Mapped, &[("parameter", Of(Parameter)), ("value", Signed)]),
    kind(34, "ParameterUnsignedInt", Mapped, &[("parameter", Of(Parameter)), ("value", Long)]),
    kind(35, "RmaWinCreate", Kept, WINDOW),
    kind(36, "RmaWinDestroy", Kept, WINDOW),
    kind(37, "RmaCollectiveBegin", Kept, &[]),
    kind(
        38,
        "RmaCollectiveEnd",
        Kept,
        &[
            ("operation", Byte),
            ("level", Word),
            ("window", Of(Window)),
            ("root", Word),
            ("sent", Long),
            ("received", Long),
        ],
    ),
    kind(39, "RmaGroupSync", Kept, &[("level", Word), ("window", Of(Window)), ("group", Of(Group))]),
    kind(40, "RmaRequestLock", Kept, WINDOW_LOCK),
    kind(41, "RmaAcquireLock", Kept, WINDOW_LOCK),
    kind(42, "RmaTryLock", Kept, WINDOW_LOCK),
    kind(43, "RmaReleaseLock", Kept, &[("window", Of(Window)), ("remote", Word), ("lock", Long)]),
    kind(44, "RmaSync", Kept, &[("window", Of(Window)), ("remote", Word), ("type", Byte)]),
    kind(45, "RmaWaitChange", Kept, WINDOW),
    kind(46, "RmaPut", Kept, WINDOW_BYTES),
    kind(47, "RmaGet", Kept, WINDOW_BYTES),
    kind(
        48,
        "RmaAtomic",
        Kept,
        &[
            ("window", Of(Window)),
            ("remote", Word),
            ("type", Byte),
            ("sent", Long),
            ("received", Long),
            ("matching", Long),
        ],
    ),
    kind(49, "RmaOpCompleteBlocking", Kept, WINDOW_MATCHING),
    kind(50, "RmaOpCompleteNonBlocking", Kept, WINDOW_MATCHING),
    kind(51, "RmaOpTest", Kept, WINDOW_MATCHING),
    kind(52, "RmaOpCompleteRemote", Kept, WINDOW_MATCHING),
    kind(53, "ThreadFork", Kept, &[("model", Byte), ("threads", Word)]),
    kind(54, "ThreadJoin", Kept, &[("model", Byte)]),
    kind(55, "ThreadTeamBegin", Kept, TEAM),
    kind(56, "ThreadTeamEnd", Kept, TEAM),
    kind(57, "ThreadAcquireLock", Kept, MODEL_LOCK),
    kind(58, "ThreadReleaseLock", Kept, MODEL_LOCK),
    kind(59, "ThreadTaskCreate", Kept, TEAM_TASK),
    kind(60, "ThreadTaskSwitch", Kept, TEAM_TASK),
    kind(61, "ThreadTaskComplete", Kept, TEAM_TASK),
    kind(62, "ThreadCreate", Kept, CONTINGENT),
    kind(63, "ThreadBegin", Kept, CONTINGENT),
    kind(64, "ThreadWait", Kept, CONTINGENT),
    kind(65, "ThreadEnd", Kept, CONTINGENT),
    kind(66, "CallingContextEnter", Mapped, &[("context", Of(Context)), ("unwind", Word)]),
    kind(67, "CallingContextLeave", Mapped, &[("context", Of(Context))]),
    kind(
        68,
        "CallingContextSample",
        Kept,
        &[("context", Of(Context)), ("unwind", Word), ("generator", Of(Generator))],
    ),
    kind(
        69,
        "IoCreateHandle",
        Kept,
        &[("handle", Of(Handle)), ("mode", Byte), ("creation", Word), ("status", Word)],
    ),
    kind(70, "IoDestroyHandle", Kept, HANDLE),
    kind(71, "IoDuplicateHandle", Kept, &[("old", Of(Handle)), ("new", Of(Handle)), ("status", Word)]),
    kind(
        72,
        "IoSeek",
        Kept,
        &[("handle", Of(Handle)), ("request", Signed), ("whence", Byte), ("result", Long)],
    ),
    kind(73, "IoChangeStatusFlags", Kept, &[("handle", Of(Handle)), ("status", Word)]),
    kind(74, "IoDeleteFile", Kept, &[("paradigm", Byte), ("file", Of(File))]),
    kind(
        75,
        "IoOperationBegin",
        Kept,
        &[("handle", Of(Handle)), ("mode", Byte), ("flags", Word), ("bytes", Long), ("matching", Long)],
    ),
    kind(76, "IoOperationTest", Kept, HANDLE_MATCHING),
    kind(77, "IoOperationIssued", Kept, HANDLE_MATCHING),
    kind(78, "IoOperationComplete", Kept, &[("handle", Of(Handle)), ("bytes", Long), ("matching", Long)]),
    kind(79, "IoOperationCancelled", Kept, HANDLE_MATCHING),
    kind(80, "IoAcquireLock", Kept, HANDLE_LOCK),
    kind(81, "IoReleaseLock", Kept, HANDLE_LOCK),
    kind(82, "IoTryLock", Kept, HANDLE_LOCK),
    kind(83, "ProgramBegin", Mapped, &[("program", Of(String)), ("arguments", Word)]),
    kind(84, "ProgramEnd", Mapped, &[("status", Signed)]),
    kind(85, "NonBlockingCollectiveRequest", Kept, REQUEST),
    kind(86, "NonBlockingCollectiveComplete", Kept, COLLECTIVE),
    kind(87, "CommCreate", Kept, &[("communicator", Of(Communicator))]),
    kind(88, "CommDestroy", Kept, &[("communicator", Of(Communicator))]),
];

/// The kind of a code.
#[inline]
pub(super) fn of(code: u8) -> Option<&'static Kind> {
    KINDS.get(usize::from(code.checked_sub(10)?))
}

/// What a kind is in a run, for those that are mapped; why it is not needed, for those that are ignored.
pub(super) fn becomes(kind: &Kind) -> &'static str {
    match kind.code {
        12 => "enter of a region",
        13 => "leave of a region",
        14 => "sends",
        15 => "begin of a send",
        16 => "completion of a send",
        17 => "begin of a receive",
        18 => "receives",
        19 => "completion of a receive",
        21 => "completion of what was cancelled",
        23 => "a part in a collective",
        31 => "values of counters",
        66 => "enters and leaves, until the regions of the context are open",
        67 => "leaves",
        83 => "the command line, and the process id if that is an attribute",
        84 => "the exit status",
        20 | 22 => "the region that is open says as much",
        32..=34 => "a fact about the region that is open",
        _ => "an event with these fields: ",
    }
}

/// Whether records of a code have no length.
#[inline]
pub(super) fn is_single(code: u8) -> bool {
    of(code).is_some_and(|kind| kind.is_single)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_code() {
        for (at, kind) in (10..).zip(&KINDS) {
            assert_eq!(
                (kind.code, kind.is_single),
                (at, kind.is_single && kind.fields.len() == 1),
                "{}",
                kind.name
            );
        }
    }
}
