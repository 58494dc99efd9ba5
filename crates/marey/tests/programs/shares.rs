//! Four functions with known shares of the processor time: generic, inlined, recursive, and a closure on a thread.

use std::hint::black_box;

#[repr(C)]
struct Time {
    seconds: i64,
    ns: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}

/// Processor time of the calling thread, ns.
fn now() -> f64 {
    let mut time = Time { seconds: 0, ns: 0 };
    // SAFETY: the time is writable.
    unsafe { clock_gettime(3, &mut time) };
    time.seconds as f64 * 1e9 + time.ns as f64
}

#[inline(never)]
fn ten<T: Into<f64> + Copy>(values: &[T]) -> f64 {
    values.iter().map(|&value| value.into() * 0.5).sum()
}

#[inline(always)]
fn twenty(rounds: u64) -> f64 {
    let mut sum = 1.0;
    for i in 0..rounds {
        sum = sum * 0.999 + i as f64;
    }
    sum
}

#[inline(never)]
fn around_twenty(rounds: u64) -> f64 {
    black_box(twenty(rounds)) + 1.0
}

#[inline(never)]
fn thirty(rounds: u64, depth: u32) -> f64 {
    if depth > 0 {
        return black_box(thirty(rounds, depth - 1)) + 1.0;
    }
    let mut sum = 2.0;
    for i in 0..rounds {
        sum = sum * 0.998 + i as f64;
    }
    black_box(sum)
}

#[inline(never)]
fn forty(rounds: u64) -> f64 {
    let mut sum = 3.0;
    for i in 0..rounds {
        sum = sum * 0.997 + i as f64;
    }
    black_box(sum)
}

#[inline(never)]
fn phase(ms: f64, mut work: impl FnMut() -> f64) -> f64 {
    let begin = now();
    let mut end = begin;
    while end - begin < ms * 1e6 {
        black_box(work());
        end = now();
    }
    end - begin
}

fn main() {
    let values = vec![1.5_f32; 100_000];
    let mut sums = [0.0; 4];
    for _ in 0..3 {
        sums[0] += phase(100.0, || ten(black_box(&values)));
        sums[1] += phase(200.0, || around_twenty(black_box(200_000)));
        sums[2] += phase(300.0, || thirty(black_box(200_000), 12));
        sums[3] += std::thread::spawn(|| phase(400.0, || forty(black_box(200_000)))).join().unwrap_or(0.0);
    }
    for (name, sum) in ["ten", "twenty", "thirty", "forty"].iter().zip(sums) {
        println!("{name} {sum:.0}");
    }
}
