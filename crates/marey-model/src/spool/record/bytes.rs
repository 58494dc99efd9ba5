//! Records as bytes.
//!
//! The one idea: reading never looks beyond what is there, and whatever is no record gives none, so a
//! reader of damaged bytes stops where they stop making sense. Writing is the reference that the
//! recorder's hot paths are tested against.
//!
//! What records mean is told in [`super`].

use super::{Access, CollectiveSignature, Direction, Record, SHORT_SITES, Signature, Visits, op};
use crate::spool::varint::{get, get_bytes, get_signed, put, put_bytes, put_signed, put_wide};

impl<'a> Record<'a> {
    /// Ticks since the record before, of records that have a time of their own.
    #[inline(always)]
    pub const fn delta(&self) -> Option<u64> {
        match *self {
            Record::Enter { delta, .. }
            | Record::Leave { delta }
            | Record::Begin { delta, .. }
            | Record::End { delta, .. }
            | Record::LaneEnter { delta, .. }
            | Record::LaneLeave { delta, .. }
            | Record::Event { delta, .. }
            | Record::Folded { delta, .. }
            | Record::Counter { delta, .. }
            | Record::ThreadEnd { delta } => Some(delta),
            _ => None,
        }
    }

    /// Ticks from the record before to the end of this one, of records that have a time of their own.
    pub const fn passed(&self) -> Option<u64> {
        match *self {
            Record::Folded { delta, visits, .. } => Some(delta.saturating_add(visits.span)),
            _ => self.delta(),
        }
    }

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
            op::LANE_LEAVE => Record::LaneLeave {
                lane: small(bytes, next)?,
                site: small(bytes, next)?,
                delta: get(bytes, next)?,
            },
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
            op::FOLDED => Record::Folded {
                site: small(bytes, next)?,
                delta: get(bytes, next)?,
                visits: Visits::decode(bytes, next)?,
            },
            op::THREAD_END => Record::ThreadEnd { delta: get(bytes, next)? },
            op::RMA => Record::Rma {
                kind: byte()?,
                window: small(bytes, next)?,
                target: get_signed(bytes, next)?,
                bytes: get(bytes, next)?,
                displacement: get_signed(bytes, next)?,
                data: small(bytes, next)?.wrapping_sub(1),
                shape: small(bytes, next)?.wrapping_sub(1),
            },
            op::IO => Record::Io {
                kind: byte()?,
                file: small(bytes, next)?,
                bytes: get(bytes, next)?,
                offset: get_signed(bytes, next)?,
            },
            op::ACTS_ON => {
                let body = get_bytes(bytes, next)?;
                Record::ActsOn { communicator: u32::try_from(get(body, &mut 0)?).ok()? }
            }
            op::ACCESS => Record::Access { access: Access::decode(get_bytes(bytes, next)?)? },
            op::LANE_EARLIER => {
                let (body, at) = (get_bytes(bytes, next)?, &mut 0);
                Record::LaneEarlier {
                    lane: small(body, at)?,
                    site: small(body, at)?,
                    back: get(body, at)?,
                    is_enter: get(body, at)? != 0,
                }
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
            Record::LaneLeave { lane, site, delta } => {
                numbers(out, op::LANE_LEAVE, &[lane.into(), site.into(), delta]);
            }
            Record::LaneEarlier { lane, site, back, is_enter } => {
                let mut body = Vec::new();
                for value in [lane.into(), site.into(), back, is_enter.into()] {
                    put(&mut body, value);
                }
                out.push(op::LANE_EARLIER);
                put_bytes(out, &body);
            }
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
            Record::Folded { site, delta, visits } => {
                numbers(out, op::FOLDED, &[site.into(), delta]);
                visits.encode(out);
            }
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
            Record::Rma { kind, window, target, bytes, displacement, data, shape } => {
                out.extend([op::RMA, kind]);
                put(out, window.into());
                put_signed(out, target);
                put(out, bytes);
                put_signed(out, displacement);
                put(out, data.wrapping_add(1).into());
                put(out, shape.wrapping_add(1).into());
            }
            Record::Io { file, kind, bytes, offset } => {
                out.extend([op::IO, kind]);
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
            Record::Access { access } => {
                let mut body = Vec::new();
                access.encode(&mut body);
                out.push(op::ACCESS);
                put_bytes(out, &body);
            }
            Record::Unknown { opcode, body } => {
                out.push(opcode);
                put_bytes(out, body);
            }
        }
    }
}

impl Access {
    /// Numbers behind those that are known are of a later version.
    fn decode(body: &[u8]) -> Option<Self> {
        let mut at = 0;
        Some(Self {
            kind: u8::try_from(get(body, &mut at)?).ok()?,
            data: small(body, &mut at)?.wrapping_sub(1),
            target: get_signed(body, &mut at)?,
            bytes: get(body, &mut at)?,
            offset: get(body, &mut at)?,
            shape: small(body, &mut at)?.wrapping_sub(1),
        })
    }
}

impl Visits {
    fn decode(bytes: &[u8], next: &mut usize) -> Option<Self> {
        Some(Self {
            number: get(bytes, next)?,
            inside: get(bytes, next)?,
            span: get(bytes, next)?,
            shortest: get(bytes, next)?,
            longest: get(bytes, next)?,
            squares: f64::from_bits(get(bytes, next)?),
        })
    }

    /// Each number takes nine bytes, however small it is: it may grow.
    fn encode(&self, out: &mut Vec<u8>) {
        let Self { number, inside, span, shortest, longest, squares } = *self;
        for value in [number, inside, span, shortest, longest, squares.to_bits()] {
            put_wide(out, value);
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
            data: small(bytes, next)?.wrapping_sub(1),
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
        put(out, self.data.wrapping_add(1).into());
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
            data: [small(bytes, next)?.wrapping_sub(1), small(bytes, next)?.wrapping_sub(1)],
            number: get(bytes, next)?,
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.communicator.into());
        put_signed(out, self.root);
        put(out, self.bytes_out);
        put(out, self.bytes_in);
        self.data.iter().for_each(|data| put(out, data.wrapping_add(1).into()));
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
