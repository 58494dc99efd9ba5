//! A threaded program for `cargo xtask demo` on machines without MPI: heat flows along a rod that
//! four threads share.
//!
//! Each thread owns a piece of the rod, a barrier separates the steps, and a mutex guards the sum.
//! The last thread owns twice as much as the others, so a recording has something to show: three
//! threads wait for the fourth. Integers keep the output the same on every machine.
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

const THREADS: usize = 4;
const CELLS_PER_SHARE: usize = 40_000;
/// One share for each thread, and one more for the last.
const CELLS: usize = CELLS_PER_SHARE * (THREADS + 1);
const STEPS: usize = 4000;

fn main() {
    let rod: Vec<AtomicI64> = (0..CELLS).map(|cell| AtomicI64::new(initial_heat(cell))).collect();
    let next: Vec<AtomicI64> = (0..CELLS).map(|_| AtomicI64::new(0)).collect();
    let step_done = Barrier::new(THREADS);
    let total = Mutex::new(0_i64);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (rod, next, step_done, total) = (&rod, &next, &step_done, &total);
            scope.spawn(move || {
                for step in 0..STEPS {
                    let (from, to) = if step % 2 == 0 { (rod, next) } else { (next, rod) };
                    diffuse(from, to, share(thread));
                    step_done.wait();
                }
                add_up(rod, share(thread), total);
            });
        }
    });
    let total = total.into_inner().expect("no thread panicked while it held the sum");
    println!("{THREADS} threads, {CELLS} cells, {STEPS} steps: total heat {total}");
}

/// The cells that a thread owns.
fn share(thread: usize) -> Range<usize> {
    let first = thread * CELLS_PER_SHARE;
    let shares = if thread == THREADS - 1 { 2 } else { 1 };
    first..first + shares * CELLS_PER_SHARE
}

fn initial_heat(cell: usize) -> i64 {
    if cell % 1000 < 100 { 1 << 20 } else { 0 }
}

/// One step: every cell moves towards the mean of its neighbours; the ends of the rod keep theirs.
#[inline(never)]
fn diffuse(from: &[AtomicI64], to: &[AtomicI64], cells: Range<usize>) {
    for cell in cells {
        let here = from[cell].load(Ordering::Relaxed);
        let left = if cell == 0 { here } else { from[cell - 1].load(Ordering::Relaxed) };
        let right = if cell + 1 == from.len() { here } else { from[cell + 1].load(Ordering::Relaxed) };
        to[cell].store((left + 2 * here + right) / 4, Ordering::Relaxed);
    }
}

/// Adds in small pieces, so that the threads meet at the lock.
#[inline(never)]
fn add_up(rod: &[AtomicI64], cells: Range<usize>, total: &Mutex<i64>) {
    for piece in rod[cells].chunks(100) {
        let sum: i64 = piece.iter().map(|cell| cell.load(Ordering::Relaxed)).sum();
        *total.lock().expect("no thread panicked while it held the sum") += sum;
    }
}
