//! Halves of messages, decided: what a process sends to be matched.
//!
//! The one idea: a half leaves its process when nothing about it can change any more, with all that
//! its row will say, so that matching asks no process what became of it.
//!
//! In which order halves stand is not decided here; they carry what tells it.

use super::happen::{Kind, Op};
use crate::schema::NONE;

/// A channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Key {
    pub communicator: u32,
    /// The sender's group of an intercommunicator.
    pub side: u8,
    pub from: u32,
    pub to: u32,
    pub tag: i64,
}

/// A send or a receive, decided.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Half {
    pub receives: bool,
    /// Takes a place in the order but has no known end.
    pub ghost: bool,
    /// Took a number but is no message.
    pub cancelled: bool,
    /// When it was posted is not known.
    pub lost_post: bool,
    pub process: u32,
    /// The communicator in that process's numbers.
    pub local: u32,
    /// Where it was posted, and where it was completed.
    pub posted_at: u32,
    pub location: u32,
    /// Enter and leave of the posting call.
    pub post: i64,
    pub post_leave: i64,
    /// Enter and leave of the completing call.
    pub start: i64,
    pub end: i64,
    pub bytes: u64,
    pub buffer: u64,
    pub datatype: u32,
    /// Row of the datum that the buffer lies in.
    pub data: u32,
    pub path: u32,
    /// That of the completing call; `NONE` if another thread made it, whose time it is.
    pub done_path: u32,
    pub number: u64,
    /// Orders what was posted by one call.
    pub serial: u64,
    /// Halves of one run have no certain order among themselves; 0 = certain.
    pub run: u32,
}

impl Half {
    pub(crate) fn of(post: &Op, done: &Op, posted_at: u32, location: u32) -> Self {
        let receives = matches!(done.kind, Kind::Receive | Kind::Received);
        Self {
            posted_at,
            location: if receives { location } else { posted_at },
            post: post.enter,
            post_leave: post.leave,
            start: done.enter,
            end: done.leave,
            bytes: post.bytes,
            buffer: post.buffer,
            datatype: post.datatype,
            data: post.data,
            path: if receives { done.path } else { post.path },
            done_path: if posted_at == location { done.path } else { NONE },
            number: post.number,
            serial: post.serial,
            ..Self::default()
        }
    }
}
