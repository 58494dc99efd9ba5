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

use super::varint::{get, get_bytes, get_signed, put, put_bytes, put_signed};

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
    pub const EXTENSION: u8 = 0x21;
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
    /// Collective operations begun on the communicator by this process before the next one.
    pub number: u64,
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
}

impl RmaKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 16] = [
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
    ];

    /// The kind that a code stands for.
    pub fn from_code(code: u64) -> Option<Self> {
        usize::try_from(code).ok().and_then(|idx| Self::ALL.get(idx)).copied()
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
        }
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
    /// The innermost open region of a lane was left.
    LaneLeave {
        /** which */
        lane: u32,
        /** when */
        delta: u64,
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
    },
    /// The open interval moves bytes between memory and a file.
    Io {
        /** which */
        file: u32,
        /** 0 read, 1 write */
        write: u8,
        /** how many */
        bytes: u64,
        /** where; −1 unknown */
        offset: i64,
    },
    /// A record of a later version of marey.
    Unknown {
        /** its opcode */
        opcode: u8,
        /** its bytes */
        body: &'a [u8],
    },
}

impl<'a> Record<'a> {
    /// Reads the record at `*at` and moves `*at` behind it. `None`, with `*at` unchanged, if no
    /// whole record stands there.
    #[inline(always)]
    pub fn decode(bytes: &'a [u8], at: &mut usize) -> Option<Self> {
        let opcode = *bytes.get(*at)?;
        let mut next = *at + 1;
        let record = match opcode {
            op::SHORT_ENTER.. => {
                Record::Enter { site: u32::from(opcode - op::SHORT_ENTER), delta: get(bytes, &mut next)? }
            }
            op::LEAVE => Record::Leave { delta: get(bytes, &mut next)? },
            op::ENTER => Record::Enter { site: small(bytes, &mut next)?, delta: get(bytes, &mut next)? },
            _ => Self::decode_rare(opcode, bytes, &mut next)?,
        };
        *at = next;
        Some(record)
    }

    fn decode_rare(opcode: u8, bytes: &'a [u8], next: &mut usize) -> Option<Self> {
        let mut byte = || {
            let found = bytes.get(*next).copied();
            *next += 1;
            found
        };
        Some(match opcode {
            op::SEND => Record::Send { slot: byte()? },
            op::RECEIVE => Record::Receive { slot: byte()? },
            op::COLLECTIVE => Record::Collective { slot: byte()? },
            op::POST_SEND => Record::PostSend { slot: byte()?, ahead: get_signed(bytes, next)? },
            op::POST_RECEIVE => Record::PostReceive { slot: byte()?, ahead: get_signed(bytes, next)? },
            op::PROBED => Record::Probed { slot: byte()?, ahead: get_signed(bytes, next)? },
            op::POST_COLLECTIVE => Record::PostCollective { slot: byte()?, ahead: get_signed(bytes, next)? },
            op::RECEIVED => Record::Received { slot: byte()?, back: get_signed(bytes, next)? },
            op::SENT => Record::Sent { back: get_signed(bytes, next)? },
            op::COLLECTED => Record::Collected { back: get_signed(bytes, next)? },
            op::CANCELLED => Record::Cancelled { back: get_signed(bytes, next)? },
            op::FREED => Record::Freed { back: get_signed(bytes, next)? },
            op::SIGNATURE => Record::Signature { slot: byte()?, signature: Signature::decode(bytes, next)? },
            op::COLLECTIVE_SIGNATURE => Record::CollectiveSignature {
                slot: byte()?,
                signature: CollectiveSignature::decode(bytes, next)?,
            },
            op::BEGIN => Record::Begin {
                site: small(bytes, next)?,
                token: get(bytes, next)?,
                delta: get(bytes, next)?,
            },
            op::END => Record::End { token: get(bytes, next)?, delta: get(bytes, next)? },
            op::LANE_ENTER => Record::LaneEnter {
                lane: small(bytes, next)?,
                site: small(bytes, next)?,
                delta: get(bytes, next)?,
            },
            op::LANE_LEAVE => Record::LaneLeave { lane: small(bytes, next)?, delta: get(bytes, next)? },
            op::EVENT => Record::Event {
                kind: small(bytes, next)?,
                delta: get(bytes, next)?,
                fields: get_bytes(bytes, next)?,
            },
            op::ATTRIBUTE => Record::Attribute { kind: small(bytes, next)?, fields: get_bytes(bytes, next)? },
            op::COUNTER => {
                let counter = small(bytes, next)?;
                let delta = get(bytes, next)?;
                let eight = bytes.get(*next..)?.first_chunk::<8>()?;
                *next += 8;
                Record::Counter { counter, delta, value: f64::from_le_bytes(*eight) }
            }
            op::EDGE => Record::Edge {
                kind: byte()?,
                thread: small(bytes, next)?,
                back: get(bytes, next)?,
                noun: get(bytes, next)?,
            },
            op::COUNTED => Record::Counted { site: small(bytes, next)?, visits: get(bytes, next)? },
            op::THREAD_END => Record::ThreadEnd { delta: get(bytes, next)? },
            op::RMA => Record::Rma {
                kind: byte()?,
                window: small(bytes, next)?,
                target: get_signed(bytes, next)?,
                bytes: get(bytes, next)?,
                displacement: get_signed(bytes, next)?,
            },
            op::IO => Record::Io {
                write: byte()?,
                file: small(bytes, next)?,
                bytes: get(bytes, next)?,
                offset: get_signed(bytes, next)?,
            },
            op::ACTS_ON => {
                let body = get_bytes(bytes, next)?;
                Record::ActsOn { communicator: u32::try_from(get(body, &mut 0)?).ok()? }
            }
            op::EXTENSION..op::SHORT_ENTER => Record::Unknown { opcode, body: get_bytes(bytes, next)? },
            _ => return None,
        })
    }

    /// Appends the record's bytes. The recorder's hot paths write the same bytes by whole words;
    /// this is the reference that they are tested against, and what test traces are made with.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Record::Enter { site, delta } if site < SHORT_SITES => {
                out.push(op::SHORT_ENTER + u8::try_from(site).unwrap_or(0));
                put(out, delta);
            }
            Record::Enter { site, delta } => numbers(out, op::ENTER, &[site.into(), delta]),
            Record::Leave { delta } => numbers(out, op::LEAVE, &[delta]),
            Record::Begin { site, token, delta } => numbers(out, op::BEGIN, &[site.into(), token, delta]),
            Record::End { token, delta } => numbers(out, op::END, &[token, delta]),
            Record::LaneEnter { lane, site, delta } => {
                numbers(out, op::LANE_ENTER, &[lane.into(), site.into(), delta]);
            }
            Record::LaneLeave { lane, delta } => numbers(out, op::LANE_LEAVE, &[lane.into(), delta]),
            Record::Event { kind, delta, fields } => {
                numbers(out, op::EVENT, &[kind.into(), delta]);
                put_bytes(out, fields);
            }
            Record::Attribute { kind, fields } => {
                numbers(out, op::ATTRIBUTE, &[kind.into()]);
                put_bytes(out, fields);
            }
            Record::Counter { counter, delta, value } => {
                numbers(out, op::COUNTER, &[counter.into(), delta]);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Record::Edge { kind, thread, back, noun } => {
                out.extend([op::EDGE, kind]);
                for value in [thread.into(), back, noun] {
                    put(out, value);
                }
            }
            Record::Counted { site, visits } => numbers(out, op::COUNTED, &[site.into(), visits]),
            Record::ThreadEnd { delta } => numbers(out, op::THREAD_END, &[delta]),
            Record::Signature { slot, signature } => {
                out.extend([op::SIGNATURE, slot]);
                signature.encode(out);
            }
            Record::CollectiveSignature { slot, signature } => {
                out.extend([op::COLLECTIVE_SIGNATURE, slot]);
                signature.encode(out);
            }
            Record::Send { slot } => out.extend([op::SEND, slot]),
            Record::Receive { slot } => out.extend([op::RECEIVE, slot]),
            Record::Collective { slot } => out.extend([op::COLLECTIVE, slot]),
            Record::PostSend { slot, ahead } => slotted(out, op::POST_SEND, slot, ahead),
            Record::PostReceive { slot, ahead } => slotted(out, op::POST_RECEIVE, slot, ahead),
            Record::Probed { slot, ahead } => slotted(out, op::PROBED, slot, ahead),
            Record::PostCollective { slot, ahead } => slotted(out, op::POST_COLLECTIVE, slot, ahead),
            Record::Received { slot, back } => slotted(out, op::RECEIVED, slot, back),
            Record::Sent { back } => signed(out, op::SENT, back),
            Record::Collected { back } => signed(out, op::COLLECTED, back),
            Record::Cancelled { back } => signed(out, op::CANCELLED, back),
            Record::Freed { back } => signed(out, op::FREED, back),
            Record::Rma { kind, window, target, bytes, displacement } => {
                out.extend([op::RMA, kind]);
                put(out, window.into());
                put_signed(out, target);
                put(out, bytes);
                put_signed(out, displacement);
            }
            Record::Io { file, write, bytes, offset } => {
                out.extend([op::IO, write]);
                put(out, file.into());
                put(out, bytes);
                put_signed(out, offset);
            }
            Record::ActsOn { communicator } => {
                let mut body = Vec::new();
                put(&mut body, communicator.into());
                out.push(op::ACTS_ON);
                put_bytes(out, &body);
            }
            Record::Unknown { opcode, body } => {
                out.push(opcode);
                put_bytes(out, body);
            }
        }
    }
}

impl Signature {
    fn decode(bytes: &[u8], next: &mut usize) -> Option<Self> {
        let direction = match *bytes.get(*next)? {
            0 => Direction::Send,
            1 => Direction::Receive,
            _ => return None,
        };
        *next += 1;
        Some(Self {
            direction,
            communicator: small(bytes, next)?,
            peer: get_signed(bytes, next)?,
            tag: get_signed(bytes, next)?,
            bytes: get(bytes, next)?,
            count: get(bytes, next)?,
            datatype: small(bytes, next)?,
            buffer_step: get_signed(bytes, next)?,
            number: get(bytes, next)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.direction == Direction::Receive));
        put(out, self.communicator.into());
        put_signed(out, self.peer);
        put_signed(out, self.tag);
        put(out, self.bytes);
        put(out, self.count);
        put(out, self.datatype.into());
        put_signed(out, self.buffer_step);
        put(out, self.number);
    }
}

impl CollectiveSignature {
    fn decode(bytes: &[u8], next: &mut usize) -> Option<Self> {
        Some(Self {
            communicator: small(bytes, next)?,
            root: get_signed(bytes, next)?,
            bytes_out: get(bytes, next)?,
            bytes_in: get(bytes, next)?,
            number: get(bytes, next)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.communicator.into());
        put_signed(out, self.root);
        put(out, self.bytes_out);
        put(out, self.bytes_in);
        put(out, self.number);
    }
}

#[inline(always)]
fn small(bytes: &[u8], next: &mut usize) -> Option<u32> {
    u32::try_from(get(bytes, next)?).ok()
}

fn numbers(out: &mut Vec<u8>, opcode: u8, values: &[u64]) {
    out.push(opcode);
    for &value in values {
        put(out, value);
    }
}

fn slotted(out: &mut Vec<u8>, opcode: u8, slot: u8, distance: i64) {
    out.extend([opcode, slot]);
    put_signed(out, distance);
}

fn signed(out: &mut Vec<u8>, opcode: u8, distance: i64) {
    out.push(opcode);
    put_signed(out, distance);
}

#[cfg(test)]
mod tests;
