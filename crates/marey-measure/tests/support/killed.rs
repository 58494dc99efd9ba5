//! Processes that say how far they are, and are killed there.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::support::{Checked, Spool, command};

const COUNTER: &str = "counter";

/// In the child: says how many there have been.
pub(crate) fn tell(directory: &Path) -> impl Fn(u64) {
    let counter = OpenOptions::new().write(true).create_new(true).open(directory.join(COUNTER)).unwrap();
    move |number| counter.write_all_at(&number.to_le_bytes(), 0).unwrap()
}

/// Runs a test as the child that records, and kills it when it has told of so many. The last number that it
/// told, and what it left.
pub(crate) fn killed(test: &str, number: u64) -> (u64, Checked) {
    let directory = tempfile::tempdir().unwrap();
    let mut process = command(test, directory.path()).spawn().unwrap();
    let path = directory.path().join(COUNTER);
    let told = || {
        let mut bytes = [0; 8];
        let read = File::open(&path).and_then(|file| file.read_exact_at(&mut bytes, 0));
        read.map_or(0, |()| u64::from_le_bytes(bytes))
    };
    while told() < number {
        std::hint::spin_loop();
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let told = told();
    std::fs::remove_file(&path).unwrap();
    (told, Spool::read(directory.path()).checked())
}
