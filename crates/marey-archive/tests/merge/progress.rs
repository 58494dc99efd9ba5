//! What is told to whoever watches a merge.

use std::sync::atomic::{AtomicU64, Ordering};

use marey_archive::merge::{Progress, merge};

use super::config;
use super::slabs::long_run;

/// What was announced, and the sum of the steps.
#[derive(Default)]
struct Watcher([AtomicU64; 2]);

impl Progress for Watcher {
    fn begin(&self, _: &str, total: u64) {
        self.0[0].store(total, Ordering::Relaxed);
    }

    fn advance(&self, n: u64) {
        self.0[1].fetch_add(n, Ordering::Relaxed);
    }
}

#[test]
fn progress_ends_where_it_was_said_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    long_run().write(&spool).unwrap();
    let watcher = Watcher::default();
    merge(&spool, &dir.path().join("run"), &config(2, 1), &watcher).unwrap();
    let [total, done] = watcher.0.map(AtomicU64::into_inner);
    assert!(total > 1_000_000);
    assert_eq!(done, total);
}
