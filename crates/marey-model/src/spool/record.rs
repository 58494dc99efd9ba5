//! Records: what stands in a window of events.
//!
//! A record is an opcode byte and prefix integers (see [`super::put`]). Times are differences in
//! ticks from the record before. Entering one of the first [`SHORT_SITES`] sites and leaving take
//! an opcode and a difference: three bytes for anything up to 16 383 ticks.
//!
//! Message and collective halves carry no time: they belong to the interval that is open on the
//! stream (a send happens at its enter, a receive is complete at its leave). What a message is —
//! communicator, peer, tag, size, datatype, buffer — is put once a window into one of 256 slots
//! and then named by a byte.
//!
//! How records become bytes and come back is told in [`bytes`].

mod bytes;

use super::varint::zigzag;
use crate::IoKind;

/// Opcodes. Those from [`op::ACTS_ON`] up to the short enters carry their length, so that a
/// reader can skip what it does not know.
#[expect(missing_docs, reason = "each is documented at its variant of Record")]
pub mod op {
    pub const LEAVE: u8 = 0x01;
    pub const ENTER: u8 = 0x02;
    pub const BEGIN: u8 = 0x03;
    pub const END: u8 = 0x04;
    pub const LANE_ENTER: u8 = 0x05;
    pub const LANE_LEAVE: u8 = 0x06;
    pub const EVENT: u8 = 0x07;
    pub const ATTRIBUTE: u8 = 0x08;
    pub const COUNTER: u8 = 0x09;
    pub const EDGE: u8 = 0x0A;
    pub const COUNTED: u8 = 0x0B;
    pub const THREAD_END: u8 = 0x0C;
    pub const FOLDED: u8 = 0x0D;
    pub const SIGNATURE: u8 = 0x10;
    pub const SEND: u8 = 0x11;
    pub const RECEIVE: u8 = 0x12;
    pub const POST_SEND: u8 = 0x13;
    pub const POST_RECEIVE: u8 = 0x14;
    pub const SENT: u8 = 0x15;
    pub const RECEIVED: u8 = 0x16;
    pub const CANCELLED: u8 = 0x17;
    pub const FREED: u8 = 0x18;
    pub const PROBED: u8 = 0x19;
    pub const COLLECTIVE_SIGNATURE: u8 = 0x1A;
    pub const COLLECTIVE: u8 = 0x1B;
    pub const POST_COLLECTIVE: u8 = 0x1C;
    pub const COLLECTED: u8 = 0x1D;
    pub const RMA: u8 = 0x1E;
    pub const IO: u8 = 0x1F;
    pub const ACTS_ON: u8 = 0x20;
    pub const ACCESS: u8 = 0x21;
    pub const EXTENSION: u8 = 0x22;
    pub const LANE_EARLIER: u8 = 0x38;
    pub const SHORT_ENTER: u8 = 0x40;
}

/// Sites below this number are entered by an opcode of their own.
pub const SHORT_SITES: u32 = 256 - op::SHORT_ENTER as u32;
/// Number of message slots, and of collective slots, in a window.
pub const SLOTS: usize = 256;
/// A peer that stands for any source. Both MPIs' own numbers are translated to it.
pub const ANY_SOURCE: i64 = -1;
/// A peer that stands for nobody: the operation moves nothing.
pub const NO_PEER: i64 = -2;
/// A tag that stands for any tag.
pub const ANY_TAG: i64 = -1;

/// Which way a message goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// Away from the process that recorded it.
    Send,
    /// Towards it.
    Receive,
}

/// Everything that is known of one half of a message but its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Which half it is.
    pub direction: Direction,
    /// The communicator's number in its process.
    pub communicator: u32,
    /// Rank of the other side in the communicator (in the remote group of an intercommunicator).
    pub peer: i64,
    /// The tag.
    pub tag: i64,
    /// Bytes sent, or bytes that arrived.
    pub bytes: u64,
    /// The count argument.
    pub count: u64,
    /// The datatype's number in its process.
    pub datatype: u32,
    /// Distance in bytes of the buffer's address from that of the signature before it in the
    /// window (from [`super::Head::buffer`] for the first).
    pub buffer_step: i64,
    /// The number of the datum that the buffer lies in; 4294967295 = not known.
    pub data: u32,
    /// Messages counted on this channel (direction, communicator, peer, tag) of this process
    /// before the next one. `Send`, `PostSend`, `Receive` and `Received` count one; `PostReceive`
    /// and `Probed` count none, since what they will be is not known yet.
    pub number: u64,
}

/// Everything that is known of one member's part in a collective operation but its time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectiveSignature {
    /// The communicator's number in its process.
    pub communicator: u32,
    /// The root's rank in the communicator; −1 where there is none.
    pub root: i64,
    /// Bytes that this member gives.
    pub bytes_out: u64,
    /// Bytes that this member gets.
    pub bytes_in: u64,
    /// The numbers of the data that are given and got; 4294967295 = none, or not known.
    pub data: [u32; 2],
    /// Collective operations begun on the communicator by this process before the next one.
    pub number: u64,
}

/// Visits of a region that were not written down one by one. Times are in ticks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Visits {
    /// How many.
    pub number: u64,
    /// Sum of their times.
    pub inside: u64,
    /// From the beginning of the first to the end of the last.
    pub span: u64,
    /// The shortest.
    pub shortest: u64,
    /// The longest.
    pub longest: u64,
    /// Sum of the squares of their times.
    pub squares: f64,
}

impl Visits {
    /// Times, and how many visits are thought to have taken each: the shortest, the longest, and all others
    /// their mean.
    pub fn durations(&self) -> [(u64, u64); 3] {
        let Self { number, inside, shortest, longest, .. } = *self;
        let rest = number.saturating_sub(2);
        let between = inside.saturating_sub(shortest).saturating_sub(longest);
        let mean = between.checked_div(rest).unwrap_or(0).clamp(shortest.min(longest), longest);
        [(shortest, number.min(1)), (longest, u64::from(number > 1)), (mean, rest)]
    }
}

/// One-sided operations, as [`Record::Rma`] names them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the MPI operations")]
pub enum RmaKind {
    Put = 0,
    Get = 1,
    Accumulate = 2,
    GetAccumulate = 3,
    FetchAndOp = 4,
    CompareAndSwap = 5,
    Fence = 6,
    Post = 7,
    Start = 8,
    Complete = 9,
    Wait = 10,
    Lock = 11,
    Unlock = 12,
    LockAll = 13,
    UnlockAll = 14,
    Flush = 15,
    ExclusiveLock = 16,
    SharedLock = 17,
}

impl RmaKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 18] = [
        Self::Put,
        Self::Get,
        Self::Accumulate,
        Self::GetAccumulate,
        Self::FetchAndOp,
        Self::CompareAndSwap,
        Self::Fence,
        Self::Post,
        Self::Start,
        Self::Complete,
        Self::Wait,
        Self::Lock,
        Self::Unlock,
        Self::LockAll,
        Self::UnlockAll,
        Self::Flush,
        Self::ExclusiveLock,
        Self::SharedLock,
    ];

    /// The kind that a code stands for.
    pub fn from_code(code: u64) -> Option<Self> {
        usize::try_from(code).ok().and_then(|idx| Self::ALL.get(idx)).copied()
    }

    /// The kind that has this [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How it acts on the memory of its target; `None` if it does not.
    pub const fn access(self) -> Option<crate::AccessKind> {
        match self {
            Self::Put => Some(crate::AccessKind::Write),
            Self::Get => Some(crate::AccessKind::Read),
            Self::Accumulate | Self::GetAccumulate | Self::FetchAndOp | Self::CompareAndSwap => {
                Some(crate::AccessKind::Update)
            }
            _ => None,
        }
    }

    /// Whether it moves data.
    pub const fn is_transfer(self) -> bool {
        matches!(
            self,
            Self::Put
                | Self::Get
                | Self::Accumulate
                | Self::GetAccumulate
                | Self::FetchAndOp
                | Self::CompareAndSwap
        )
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Accumulate => "accumulate",
            Self::GetAccumulate => "get-accumulate",
            Self::FetchAndOp => "fetch-and-op",
            Self::CompareAndSwap => "compare-and-swap",
            Self::Fence => "fence",
            Self::Post => "post",
            Self::Start => "start",
            Self::Complete => "complete",
            Self::Wait => "wait",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::LockAll => "lock-all",
            Self::UnlockAll => "unlock-all",
            Self::Flush => "flush",
            Self::ExclusiveLock => "exclusive-lock",
            Self::SharedLock => "shared-lock",
        }
    }
}

/// How a call acts on a datum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Code of a [`crate::AccessKind`].
    pub kind: u8,
    /// The datum's number in its process; of one that lies with another process, that of its counterpart here.
    /// 4294967295 = not known.
    pub data: u32,
    /// Rank in `MPI_COMM_WORLD` of the process with which the datum lies; −1 unknown; −2 with this one, whatever its rank.
    pub target: i64,
    /// Size in bytes.
    pub bytes: u64,
    /// Distance of the first element from the datum's beginning, in bytes.
    pub offset: u64,
    /// The shape's number; 4294967295 = a single element, or not known.
    pub shape: u32,
}

impl Access {
    /// [`Self::target`] of what lies with the process itself.
    pub const HERE: i64 = -2;

    /// Whether bytes are moved.
    pub fn is_moved(&self) -> bool {
        crate::AccessKind::from_code(self.kind).is_some_and(crate::AccessKind::moves)
    }

    /// Appends the bytes of its fields.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.body(|value| super::varint::put(out, value));
    }

    /// Calls `put` for each number of it, in their order.
    pub fn body(&self, mut put: impl FnMut(u64)) {
        let numbers = [
            u64::from(self.kind),
            u64::from(self.data.wrapping_add(1)),
            zigzag(self.target),
            self.bytes,
            self.offset,
            u64::from(self.shape.wrapping_add(1)),
        ];
        numbers.into_iter().for_each(&mut put);
    }
}

/// One record. `delta` is always a difference in ticks from the record before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Record<'a> {
    /// A region was entered.
    Enter {
        /** where */
        site: u32,
        /** when */
        delta: u64,
    },
    /// The innermost open region was left.
    Leave {
        /** when */
        delta: u64,
    },
    /// A state that need not nest began.
    Begin {
        /** which */
        site: u32,
        /** unique in the process */
        token: u64,
        /** when */
        delta: u64,
    },
    /// The state that began with `token` ended, perhaps on another thread.
    End {
        /** which */
        token: u64,
        /** when */
        delta: u64,
    },
    /// A region was entered on a lane.
    LaneEnter {
        /** which */
        lane: u32,
        /** where */
        site: u32,
        /** when */
        delta: u64,
    },
    /// The innermost open visit of a site on a lane was left, with those inside it. Nothing was left if none is open:
    /// the visit was not recorded.
    LaneLeave {
        /** which */
        lane: u32,
        /** where */
        site: u32,
        /** when */
        delta: u64,
    },
    /// The same as [`Self::LaneEnter`] and [`Self::LaneLeave`], but that it was `back` ticks before the record before
    /// this one: only later was it known that there would be a lane.
    LaneEarlier {
        /** which */
        lane: u32,
        /** where */
        site: u32,
        /** when */
        back: u64,
        /** whether it was entered, else left */
        is_enter: bool,
    },
    /// A user-defined event, its fields encoded one after the other as its kind defines.
    Event {
        /** which */
        kind: u32,
        /** when */
        delta: u64,
        /** values */
        fields: &'a [u8],
    },
    /// Facts about the innermost open region.
    Attribute {
        /** which */
        kind: u32,
        /** values */
        fields: &'a [u8],
    },
    /// A user-defined counter has this value from now on.
    Counter {
        /** which */
        counter: u32,
        /** when */
        delta: u64,
        /** new value */
        value: f64,
    },
    /// Something on `thread`, `back` ticks before the record before this one, had to happen before
    /// that record; `noun` is the address of the lock, condition or barrier.
    Edge {
        /** code of an [`crate::EdgeKind`] */
        kind: u8,
        /** from */
        thread: u32,
        /** when */
        back: u64,
        /** what */
        noun: u64,
    },
    /// A site was visited `visits` times without being timed.
    Counted {
        /** which */
        site: u32,
        /** how often */
        visits: u64,
    },
    /// A region was visited several times in a row, with nothing recorded in between: polls in vain.
    /// All its numbers but the first two grow in place as long as it is the last record.
    Folded {
        /** where */
        site: u32,
        /** when the first visit began */
        delta: u64,
        /** how many, and what their times come to */
        visits: Visits,
    },
    /// The thread ended.
    ThreadEnd {
        /** when */
        delta: u64,
    },
    /// The slot stands for this signature from now on.
    Signature {
        /** which slot */
        slot: u8,
        /** what it stands for */
        signature: Signature,
    },
    /// The open interval sends, blocking.
    Send {
        /** what */
        slot: u8,
    },
    /// The open interval receives, blocking: posted at its enter, complete at its leave.
    Receive {
        /** what */
        slot: u8,
    },
    /// The open interval starts a nonblocking send, number `ahead` after the last one started.
    PostSend {
        /** what */
        slot: u8,
        /** distance of its serial number from the last */
        ahead: i64,
    },
    /// The open interval posts a nonblocking receive.
    PostReceive {
        /** what */
        slot: u8,
        /** distance of its serial number from the last */
        ahead: i64,
    },
    /// The open interval completed a nonblocking send, number `back` before the last one started.
    Sent {
        /** which */
        back: i64,
    },
    /// The open interval completed a nonblocking receive, which turned out to be `slot`.
    Received {
        /** which */
        back: i64,
        /** what */
        slot: u8,
    },
    /// The operation was cancelled successfully: there is no message.
    Cancelled {
        /** which */
        back: i64,
    },
    /// The operation's request was freed before it was complete.
    Freed {
        /** which */
        back: i64,
    },
    /// The open interval took a message out of the queue by a matching probe.
    Probed {
        /** what */
        slot: u8,
        /** distance of its serial number from the last */
        ahead: i64,
    },
    /// The collective slot stands for this signature from now on.
    CollectiveSignature {
        /** which slot */
        slot: u8,
        /** what it stands for */
        signature: CollectiveSignature,
    },
    /// The open interval is a blocking collective operation.
    Collective {
        /** what */
        slot: u8,
    },
    /// The open interval starts a nonblocking collective operation.
    PostCollective {
        /** what */
        slot: u8,
        /** distance of its serial number from the last */
        ahead: i64,
    },
    /// The open interval completed a nonblocking collective operation.
    Collected {
        /** which */
        back: i64,
    },
    /// The open interval acts on a communicator that no other record of it names: what it completed
    /// was begun there.
    ActsOn {
        /** its number in the process */
        communicator: u32,
    },
    /// The open interval is a one-sided operation or its synchronisation.
    Rma {
        /** code of a [`RmaKind`] */
        kind: u8,
        /** window */
        window: u32,
        /** rank; −1 where none */
        target: i64,
        /** size */
        bytes: u64,
        /** displacement in the target's units */
        displacement: i64,
        /** number of the datum at the origin; 4294967295 = none, or not known */
        data: u32,
        /** number of the shape of what is meant at the target; 4294967295 = bytes one behind the other */
        shape: u32,
    },
    /// The open interval acts on a file.
    Io {
        /** which */
        file: u32,
        /** code of an [`crate::IoKind`] */
        kind: u8,
        /** how many it moved */
        bytes: u64,
        /** where; −1 unknown */
        offset: i64,
    },
    /// The open interval acts on a datum.
    Access {
        /** what and how */
        access: Access,
    },
    /// A record of a later version of marey.
    Unknown {
        /** its opcode */
        opcode: u8,
        /** its bytes */
        body: &'a [u8],
    },
}

impl Record<'_> {
    /// Bytes moved by an operation on a window or a file; `None` if the record is none that moves any.
    pub fn accessed(&self) -> Option<u64> {
        match *self {
            Self::Rma { bytes, .. } => Some(bytes),
            Self::Access { access } => access.is_moved().then_some(access.bytes),
            Self::Io { kind, bytes, .. } => {
                IoKind::from_code(kind).is_some_and(IoKind::moves).then_some(bytes)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
