//! Every message has its channel's next number, however many channels there are, through new windows,
//! on several threads and across a fork. A reader counts as `docs/spool.md` says.
//!
//! Each test runs itself again as the program that records, and reads what that left.
#![expect(unsafe_code, clippy::unwrap_used, reason = "a test that forks and records messages")]

mod support;

use std::collections::BTreeMap;

use marey_measure::message::{self, Half, Part};
use marey_measure::{ROOM, Runtime, Scratch, Thread};
use marey_model::spool::{Direction, op};
use support::{Channel, Checked, Spool, child, spool_of};

fn half(direction: Direction, peer: i32, tag: i32) -> Half {
    Half { direction, communicator: 3, peer, tag, datatype: 5, bytes: 8, count: 1, buffer: 0x1000, data: 7 }
}

/// The channel of [`half`], as a reader knows it.
fn channel(half: &Half) -> Channel {
    (Some(half.direction), half.communicator, half.peer.into(), half.tag.into())
}

fn record(f: impl FnOnce(&Runtime, *mut Thread, &mut Scratch)) {
    let runtime = marey_measure::current_runtime();
    let thread = marey_measure::current_thread();
    // SAFETY: the descriptor is the calling thread's; a signature and a message take less than `ROOM`.
    let recorded = unsafe {
        let runtime = runtime.or_else(|| {
            // A child that has recorded nothing yet.
            marey_measure::revive();
            marey_measure::current_runtime()
        });
        marey_measure::write(thread, ROOM, |thread, scratch| f(runtime.unwrap(), thread, scratch))
    };
    assert!(recorded);
}

fn message(half: &Half) {
    record(|runtime, thread, scratch| {
        // SAFETY: the descriptor is the calling thread's, amid a record.
        let slot = unsafe { message::slot(runtime, thread, scratch, half) };
        scratch.byte(if half.direction == Direction::Send { op::SEND } else { op::RECEIVE });
        scratch.byte(slot);
    });
}

fn post(half: &Half, serial: u64) {
    record(|runtime, thread, scratch| {
        // SAFETY: as above.
        let slot = unsafe { message::posted_slot(runtime, thread, scratch, half) };
        scratch.byte(op::POST_RECEIVE);
        scratch.byte(slot);
        // SAFETY: as above.
        unsafe { message::put_serial(thread, scratch, serial) };
    });
}

fn collective(communicator: u32, bytes_out: u64) {
    record(|runtime, thread, scratch| {
        let part = Part { communicator, root: -1, bytes_out, bytes_in: 0, data: [3, 4] };
        // SAFETY: as above.
        let slot = unsafe { message::collective_slot(runtime, thread, scratch, &part) };
        scratch.byte(op::COLLECTIVE);
        scratch.byte(slot);
    });
}

/// All messages of a spool's processes together, each channel's in order.
fn sorted(checked: Checked) -> BTreeMap<Channel, Vec<u64>> {
    let mut messages = checked.messages;
    messages.values_mut().for_each(|numbers| numbers.sort_unstable());
    messages
}

fn first(n: u64) -> Vec<u64> {
    (0..n).collect()
}

const TAGS: i32 = 9_000;

#[test]
fn thousands_of_channels_keep_their_numbers() {
    const TEST: &str = "thousands_of_channels_keep_their_numbers";
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        for round in 0..3 {
            for tag in 0..TAGS {
                message(&half(Direction::Send, tag % 5, tag));
                let received = half(Direction::Receive, tag % 5, tag);
                post(&received, (round * TAGS + tag).unsigned_abs().into());
                message(&received);
                // The same slots again and again beside slots that change.
                message(&half(Direction::Send, 7, tag % 3));
                collective((tag % 4).unsigned_abs(), u64::from((tag % 500).unsigned_abs()));
            }
        }
        return;
    }
    let found = Spool::read(child(TEST).path()).checked();
    assert!(found.windows > 4, "{}", found.windows);
    // In order without sorting: there is one thread.
    let messages = found.messages;
    let tags = usize::try_from(TAGS).unwrap();
    assert_eq!(messages.len(), 2 * tags + 3 + 4);
    for ((direction, _, peer, _), numbers) in messages {
        let expected = match (direction, peer) {
            (None, _) => 3 * TAGS / 4,
            (_, 7) => TAGS,
            _ => 3,
        };
        assert_eq!(numbers, first(expected.unsigned_abs().into()), "{direction:?} {peer}");
    }
}

#[test]
fn what_a_loop_repeats_is_written_down_once_in_a_window() {
    const TEST: &str = "what_a_loop_repeats_is_written_down_once_in_a_window";
    const LOOP: usize = 100;
    const ROUNDS: usize = 1000;
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        for _ in 0..ROUNDS {
            for (number, bytes) in (0..).zip((0..LOOP as u64).map(|n| n * 8)) {
                message(&Half { bytes, ..half(Direction::Send, number % 6, number % 4) });
                collective(number.unsigned_abs() % 3, bytes);
            }
        }
        return;
    }
    let found = Spool::read(child(TEST).path()).checked();
    assert_eq!(found.messages.values().map(Vec::len).sum::<usize>(), 2 * LOOP * ROUNDS);
    // Some find their places taken before all have found one.
    let at_least = found.windows * 2 * LOOP;
    assert!(found.signatures < at_least * 3 / 2, "{} in {} windows", found.signatures, found.windows);
}

#[test]
fn threads_on_channels_of_all_and_on_their_own() {
    const TEST: &str = "threads_on_channels_of_all_and_on_their_own";
    const THREADS: i32 = 4;
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        message::set_concurrent();
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                std::thread::spawn(move || {
                    for tag in 0..TAGS {
                        message(&half(Direction::Send, 0, tag % 100));
                        message(&half(Direction::Send, 1 + number, tag));
                        post(&half(Direction::Receive, 0, 0), 1);
                        message(&half(Direction::Receive, 0, 0));
                        collective(0, 0);
                    }
                })
            })
            .collect();
        return threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
    let found = sorted(Spool::read(child(TEST).path()).checked());
    let all = u64::from((THREADS * TAGS).unsigned_abs());
    let expected = |&(direction, _, peer, _): &Channel| match (direction, peer) {
        (Some(Direction::Send), 0) => all / 100,
        (Some(Direction::Send), _) => 1,
        _ => all,
    };
    assert_eq!(found.len(), usize::try_from(100 + THREADS * TAGS + 2).unwrap());
    for (channel, numbers) in &found {
        assert_eq!(numbers, &first(expected(channel)), "{channel:?}");
    }
}

#[test]
fn a_forked_child_goes_on_from_its_parents_numbers() {
    const TEST: &str = "a_forked_child_goes_on_from_its_parents_numbers";
    let (old, new) = (half(Direction::Send, 1, 1), half(Direction::Send, 1, 2));
    if let Some(directory) = spool_of(TEST) {
        marey_measure::start(&directory).unwrap();
        (0..5).for_each(|_| message(&old));
        (0..1000).for_each(|tag| message(&half(Direction::Receive, 2, tag)));
        // SAFETY: the child does little and leaves by `_exit`.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            (0..3).for_each(|_| message(&old));
            // More channels than the parent's table has room for.
            (0..4000).for_each(|tag| message(&half(Direction::Receive, 2, tag)));
            message(&new);
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        assert_eq!(status, 0);
        (0..2).for_each(|_| message(&old));
        return message(&new);
    }
    let spool = Spool::read(child(TEST).path());
    assert_eq!(spool.processes.len(), 2);
    let mut numbers: Vec<_> = spool
        .processes
        .iter()
        .map(|process| {
            let mut found = Checked::default();
            spool.check_process(process, &mut found);
            let of = |half: &Half| found.messages[&channel(half)].clone();
            let received = |tag| of(&half(Direction::Receive, 2, tag));
            (of(&old), of(&new), received(7), found.messages.len())
        })
        .collect();
    numbers.sort_unstable();
    let parent = (vec![0, 1, 2, 3, 4, 5, 6], vec![0], vec![0], 1002);
    let child = (vec![5, 6, 7], vec![0], vec![1], 4002);
    assert_eq!(numbers, [parent, child]);
}
