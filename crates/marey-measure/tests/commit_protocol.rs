//! The commit protocol under every order that the memory model allows, by loom.
//!
//! Mapped memory cannot be loom's, so the protocol stands here once more and small: a writer stores
//! a record's bytes without order and then moves the cursor behind them with release order; a
//! reader — the merge, or a live view — loads the cursor with acquire order and reads up to there.
//! What must hold: the reader sees whole records only, in the order in which they were written,
//! and having seen a window sealed it sees all of it.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::thread;

const RECORDS: usize = 3;

struct Window {
    bytes: [AtomicU64; RECORDS],
    cursor: AtomicUsize,
    sealed: AtomicU64,
}

impl Window {
    fn new() -> Self {
        Self {
            bytes: [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)],
            cursor: AtomicUsize::new(0),
            sealed: AtomicU64::new(0),
        }
    }

    fn write(&self, at: usize, record: u64, commit: Ordering) {
        self.bytes[at].store(record, Ordering::Relaxed);
        self.cursor.store(at + 1, commit);
    }

    fn read(&self, order: Ordering) -> Vec<u64> {
        let end = self.cursor.load(order);
        self.bytes[..end].iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

/// Runs writer and reader side by side in every order and says whether the reader ever saw a
/// record that was not whole.
fn ever_torn(commit: Ordering, acquire: Ordering) -> bool {
    let torn = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen_torn = torn.clone();
    loom::model(move || {
        let window = Arc::new(Window::new());
        let writer = {
            let window = window.clone();
            thread::spawn(move || (0..RECORDS).for_each(|at| window.write(at, at as u64 + 1, commit)))
        };
        let read = window.read(acquire);
        let expected: Vec<u64> = (1..=read.len() as u64).collect();
        if read != expected {
            seen_torn.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        writer.join().expect("the writer does not panic");
        assert_eq!(window.read(Ordering::Relaxed), [1, 2, 3]);
    });
    torn.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn a_reader_sees_whole_records_only() {
    assert!(!ever_torn(Ordering::Release, Ordering::Acquire));
}

/// Both halves are needed: without either of them the model finds a torn record.
#[test]
fn neither_order_can_be_weaker() {
    assert!(ever_torn(Ordering::Relaxed, Ordering::Acquire));
    assert!(ever_torn(Ordering::Release, Ordering::Relaxed));
}

#[test]
fn a_sealed_window_is_seen_whole() {
    loom::model(|| {
        let window = Arc::new(Window::new());
        let writer = {
            let window = window.clone();
            thread::spawn(move || {
                (0..RECORDS).for_each(|at| window.write(at, at as u64 + 1, Ordering::Release));
                window.sealed.store(7, Ordering::Release);
            })
        };
        if window.sealed.load(Ordering::Acquire) != 0 {
            assert_eq!(window.read(Ordering::Acquire), [1, 2, 3]);
        }
        writer.join().unwrap();
    });
}
