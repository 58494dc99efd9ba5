//! The workload of the recording benchmarks for libraries in Rust: the same as
//! `benches/record/workload.h`, with the same arguments and the same figures on standard output.
//!
//! The one idea: libraries with static call sites want a literal for each name, so a macro writes
//! fifty functions, and the workload calls them through tables. The call is part of the figure; it
//! costs about a nanosecond, and every peer pays it. The program `empty` shows how much.
#![expect(clippy::print_stdout, reason = "the figures go to whoever started the program")]

use std::path::Path;
use std::thread;

/// What happens next: a function of the outer table and one of the inner.
#[derive(Clone, Copy)]
pub struct Choice {
    /// Index into the outer table.
    pub outer: u8,
    /// Index into the inner table.
    pub inner: u8,
}

/// Runs the workload as the command line says and prints the figures.
///
/// `open` starts recording into a directory, `work` records that many pairs on one thread, `close`
/// ends recording and returns how many pairs were handed over, if the library says so.
pub fn run<Session>(
    open: impl FnOnce(&Path) -> Session,
    work: impl Fn(&[Choice], u64) + Sync,
    close: impl FnOnce(Session) -> Option<u64>,
) {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [pairs, threads, output] = &args[..] else { panic!("usage: PROGRAM PAIRS THREADS OUTPUT") };
    let pairs: u64 = pairs.parse::<u64>().expect("PAIRS is a number") / 2 * 2;
    let threads: u64 = threads.parse().expect("THREADS is a number");
    let choices = choices();
    std::fs::create_dir_all(output).expect("OUTPUT can be made");

    let start = clock_ns(libc::CLOCK_MONOTONIC);
    let session = open(Path::new(output));
    let measured = || {
        let (cpu, wall) = (clock_ns(libc::CLOCK_THREAD_CPUTIME_ID), clock_ns(libc::CLOCK_MONOTONIC));
        work(&choices, pairs);
        (clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) - cpu, clock_ns(libc::CLOCK_MONOTONIC) - wall)
    };
    let times: Vec<(f64, f64)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(measured)).collect();
        workers.into_iter().map(|worker| worker.join().expect("recording does not panic")).collect()
    });
    let recorded = close(session);
    let flushed = clock_ns(libc::CLOCK_MONOTONIC) - start;

    let all = (pairs * threads) as f64;
    let (cpu, wall) = times.iter().fold((0.0, 0.0), |sum, time| (sum.0 + time.0, sum.1 + time.1));
    println!("ns_per_pair {:.3}\nwall_ns_per_pair {:.3}", cpu / all, wall / all);
    println!("process_ns_per_pair {:.3}", clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) / all);
    println!("flushed_ns_per_pair {:.3}\nexecuted {all}", flushed / pairs as f64);
    if let Some(recorded) = recorded {
        println!("recorded {recorded}");
    }
}

/// Functions that call another one inside their scope, and functions that only have a scope.
pub type Tables<'a> = (&'a [fn(fn()); 25], &'a [fn(); 25]);

/// Calls the functions of the two tables in the chosen order.
#[inline(always)]
pub fn call((outer, inner): Tables<'_>, choices: &[Choice], pairs: u64) {
    for choice in choices.iter().cycle().take(usize::try_from(pairs / 2).expect("64-bit machine")) {
        outer[usize::from(choice.outer)](inner[usize::from(choice.inner)]);
    }
}

/// Random choices as in the programs in C, but so few that the processor learns where the calls
/// go: a call to an unknown place costs 9 ns, half of what is measured.
fn choices() -> Vec<Choice> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let mut choose = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        Choice { outer: ((x >> 20) % 25) as u8, inner: ((x >> 40) % 25) as u8 }
    };
    (0..64).map(|_| choose()).collect()
}

fn clock_ns(clock: libc::clockid_t) -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the result and lives through the call.
    let done = unsafe { libc::clock_gettime(clock, &mut now) };
    assert_eq!(done, 0, "the clock exists");
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Defines `OUTER` and `INNER`, tables of functions that open the scope `$scope!("name")` for as
/// long as they run.
#[macro_export]
macro_rules! regions {
    ($scope:ident) => {
        $crate::regions!(@outer $scope
            "outer_00" "outer_01" "outer_02" "outer_03" "outer_04"
            "outer_05" "outer_06" "outer_07" "outer_08" "outer_09"
            "outer_10" "outer_11" "outer_12" "outer_13" "outer_14"
            "outer_15" "outer_16" "outer_17" "outer_18" "outer_19"
            "outer_20" "outer_21" "outer_22" "outer_23" "outer_24"
        );
        $crate::regions!(@inner $scope
            "inner_00" "inner_01" "inner_02" "inner_03" "inner_04"
            "inner_05" "inner_06" "inner_07" "inner_08" "inner_09"
            "inner_10" "inner_11" "inner_12" "inner_13" "inner_14"
            "inner_15" "inner_16" "inner_17" "inner_18" "inner_19"
            "inner_20" "inner_21" "inner_22" "inner_23" "inner_24"
        );
    };
    (@outer $scope:ident $($name:literal)*) => {
        static OUTER: [fn(fn()); 25] = [$({
            fn named(inner: fn()) { $scope!($name); inner(); }
            named
        }),*];
    };
    (@inner $scope:ident $($name:literal)*) => {
        static INNER: [fn(); 25] = [$({
            fn named() { $scope!($name); std::hint::black_box(()); }
            named
        }),*];
    };
}
