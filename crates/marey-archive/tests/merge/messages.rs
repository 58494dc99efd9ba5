//! Halves of messages find each other, and what cannot be told is not guessed.

use marey_model::spool::{ANY_SOURCE, ANY_TAG, Direction, Record};
use marey_testkit::{Message, Spool};

use super::{NONE, call, merged, message};

#[test]
fn blocking_messages_match_in_order() {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
        call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| {
            p.receive(0, message(0, 5))
        });
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 50), (110, 150), (210, 250)]);
    assert_eq!(merged.problem("unmatched_sends") + merged.problem("unmatchable_channels"), 0);
    let communication = merged.table("communication");
    assert_eq!(communication.i64("messages").unwrap(), [3]);
    assert_eq!(communication.i64("size_log2").unwrap(), [3]);
    let table = merged.table("intervals");
    assert!(table.u32("participants").unwrap().iter().all(|&set| set != NONE));
}

#[test]
fn receives_match_in_the_order_of_posting_whatever_wildcards_and_completion_order() {
    let mut spool = Spool::world(2);
    for n in 0..2 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    let receiver = &mut spool.processes[1];
    let wild = message(ANY_SOURCE, ANY_TAG);
    let first = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, wild));
    let second = call(receiver, 0, "MPI_Irecv", 3, 4, |p| p.post_receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 200, 210, |p| p.received(0, second, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 300, 310, |p| p.received(0, first, message(0, 5)));
    assert_eq!(merged(&spool).pairs(), [(10, 310), (110, 210)]);
}

#[test]
fn cancelled_operations_take_no_message() {
    let mut spool = Spool::world(2);
    let sender = &mut spool.processes[0];
    let gone = call(sender, 0, "MPI_Isend", 10, 11, |p| p.post_send(0, message(1, 5)));
    call(sender, 0, "MPI_Wait", 12, 13, |p| p.cancelled(0, gone));
    call(sender, 0, "MPI_Send", 20, 21, |p| p.send(0, message(1, 5)));
    let receiver = &mut spool.processes[1];
    let gone = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 3, 4, |p| p.cancelled(0, gone));
    call(receiver, 0, "MPI_Recv", 15, 30, |p| p.receive(0, message(0, 5)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(20, 30)]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn another_thread_may_complete_what_one_began() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 10, 20, |p| p.send(0, message(1, 5)));
    let receiver = &mut spool.processes[1];
    let serial = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, message(0, 5)));
    receiver.timed(1, 3, |delta| Record::Event { kind: 99, delta, fields: &[] });
    // The other thread names the operation relative to the last it mentioned: none.
    let slot = message(0, 5);
    call(receiver, 1, "MPI_Wait", 30, 40, |p| p.received(1, serial, slot));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 40)]);
    let table = merged.table("messages");
    assert_eq!(table.i64("recv_post").unwrap(), [1]);
    assert_eq!(table.u32("recv_location").unwrap(), [2]);
}

#[test]
fn concurrent_threads_on_one_channel_are_ambiguous_unless_sizes_tell() {
    // What cannot be decided is told half by half: both sends, both receives.
    let halves = [(-1, 20), (-1, 30), (10, -1), (20, -1)].as_slice();
    for (sizes, ambiguous, pairs) in [([8, 8], 2, halves), ([8, 16], 0, &[(10, 20), (20, 30)])] {
        let mut spool = Spool::world(2);
        for (n, bytes) in (0..).zip(sizes) {
            let what = Message { bytes, ..message(1, 5) };
            call(&mut spool.processes[0], 0, "MPI_Send", 10 + 10 * n, 15 + 10 * n, |p| p.send(0, what));
        }
        let receiver = &mut spool.processes[1];
        let site = receiver.site(1, "MPI_Recv");
        receiver.enter(0, site, 5);
        receiver.enter(1, site, 6);
        // Thread 1's receive got the first message.
        receiver.receive(1, Message { bytes: sizes[0], ..message(0, 5) });
        receiver.leave(1, 20);
        receiver.receive(0, Message { bytes: sizes[1], ..message(0, 5) });
        receiver.leave(0, 30);
        let merged = merged(&spool);
        assert_eq!(merged.pairs(), pairs);
        assert_eq!(merged.problem("ambiguous"), ambiguous);
        assert_eq!(merged.summary.messages, 2 - ambiguous);
    }
}

#[test]
fn nothing_behind_a_gap_is_guessed() {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        if n == 1 {
            spool.processes[0].skip_messages(Direction::Send, message(1, 5), 1);
        }
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    for n in 0..4 {
        call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| {
            p.receive(0, message(0, 5))
        });
    }
    let merged = merged(&spool);
    assert_eq!(merged.summary.messages, 1);
    assert!(merged.pairs().contains(&(10, 50)));
    assert_eq!(merged.problem("unmatchable_channels"), 1);
    assert_eq!(merged.problem("unmatched_sends") + merged.problem("unmatched_receives"), 0);
    // The halves are told as what they are.
    assert_eq!(merged.pairs().len(), 1 + 2 + 3);
}

#[test]
fn halves_without_the_other_are_counted() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 10, 20, |p| p.send(0, message(1, 5)));
    call(&mut spool.processes[1], 0, "MPI_Recv", 10, 20, |p| p.receive(0, message(0, 6)));
    let merged = merged(&spool);
    assert_eq!((merged.problem("unmatched_sends"), merged.problem("unmatched_receives")), (1, 1));
    assert_eq!(merged.pairs(), [(-1, 20), (10, -1)]);
}

#[test]
fn a_message_that_arrives_before_it_is_sent_is_counted() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 100, 120, |p| p.send(0, message(1, 5)));
    call(&mut spool.processes[1], 0, "MPI_Recv", 10, 20, |p| p.receive(0, message(0, 5)));
    assert_eq!(merged(&spool).problem("clock_violations"), 1);
}
