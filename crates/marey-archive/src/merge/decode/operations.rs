//! Records of messages and collectives, which belong to the call that is open.
//!
//! What they say goes to the join of the process as it is; here they only get the call path, and the call
//! gets their bytes and communicator.

use marey_model::spool::{NO_PEER, Record};

use super::Decoder;
use crate::merge::build::Builder;
use crate::merge::globals::Context;
use crate::merge::happen::{Happened, Kind, Op};
use crate::schema::NONE;

impl Decoder {
    /// Halves of messages and parts in collectives.
    pub(super) fn operation(
        &mut self,
        context: &Context,
        record: Record<'_>,
        builder: &mut Builder,
        out: &mut Happened,
    ) {
        match record {
            Record::Signature { slot, signature } => self.slots.set_message(context, slot, signature),
            Record::CollectiveSignature { slot, signature } => {
                self.slots.set_collective(context, slot, signature);
            }
            Record::Send { slot } => self.half(Kind::Send, slot, 0, builder, out),
            Record::Receive { slot } => self.half(Kind::Receive, slot, 0, builder, out),
            Record::PostSend { slot, ahead } => {
                self.serial = self.serial.wrapping_add(ahead.cast_unsigned());
                self.half(Kind::PostSend, slot, self.serial, builder, out);
            }
            Record::PostReceive { slot, ahead } | Record::Probed { slot, ahead } => {
                self.serial = self.serial.wrapping_add(ahead.cast_unsigned());
                self.half(Kind::PostReceive, slot, self.serial, builder, out);
            }
            Record::Received { back, slot } => {
                self.half(Kind::Received, slot, self.serial.wrapping_sub(back.cast_unsigned()), builder, out);
            }
            Record::ActsOn { communicator } => {
                if let Some((_, part)) = context.communicators.get(&communicator) {
                    builder.participate(part.set);
                }
            }
            Record::Sent { back } => self.completion(Kind::Sent, back, builder, out),
            Record::Cancelled { back } => self.completion(Kind::Cancelled, back, builder, out),
            Record::Freed { back } => self.completion(Kind::Freed, back, builder, out),
            Record::Collected { back } => self.completion(Kind::Collected, back, builder, out),
            Record::Collective { slot } => self.part(Kind::Collective, slot, 0, builder, out),
            Record::PostCollective { slot, ahead } => {
                self.serial = self.serial.wrapping_add(ahead.cast_unsigned());
                self.part(Kind::PostCollective, slot, self.serial, builder, out);
            }
            _ => {}
        }
    }

    fn half(&mut self, kind: Kind, slot: u8, serial: u64, builder: &mut Builder, out: &mut Happened) {
        // What a posted receive will be is not known yet; it counts when it is there.
        let step = u64::from(kind != Kind::PostReceive);
        let Some((slot, number)) = self.slots.message(slot, step) else {
            // Its signature was in a part that is gone; the channel's numbers will show the gap.
            self.damaged += u64::from(kind != Kind::PostReceive);
            return;
        };
        if slot.signature.peer == NO_PEER {
            return;
        }
        let mut op = slot.op(kind, serial, self.now, number);
        // What a posted receive will get is not known; it is counted where it is complete.
        op.path = match kind {
            Kind::PostReceive => builder.take_part(slot.set, 0),
            _ => builder.operate(slot.set, slot.signature.bytes),
        };
        if kind == Kind::PostReceive
            && let Some(frame) = builder.stack.last_mut()
            && frame.bytes == 0
        {
            frame.bytes = -1;
        }
        out.op(op, builder);
    }

    fn part(&mut self, kind: Kind, slot: u8, serial: u64, builder: &mut Builder, out: &mut Happened) {
        let Some((slot, number)) = self.slots.collective(slot) else {
            self.damaged += 1;
            return;
        };
        let mut op = slot.op(kind, serial, self.now, number);
        let bytes = slot.signature.bytes_out.saturating_add(slot.signature.bytes_in);
        op.path = builder.operate(slot.set, bytes);
        out.op(op, builder);
    }

    fn completion(&mut self, kind: Kind, back: i64, builder: &mut Builder, out: &mut Happened) {
        let serial = self.serial.wrapping_sub(back.cast_unsigned());
        let mut op = Op::new(kind, serial, self.now, 0, 0);
        op.path = builder.stack.last().map_or(NONE, |frame| frame.path);
        out.op(op, builder);
    }
}
