//! Cost of an enter and a leave: `pairs N [DIR]` runs N pairs of 50 regions at depth 2, recording
//! into DIR if it is given, and prints `ns_per_pair` (wall) and `cpu_ns_per_pair` (this thread).
#![expect(clippy::print_stdout, unsafe_code, reason = "a bench program that asks for its own time")]

use marey_measure::{Site, clock};

fn main() {
    let mut args = std::env::args().skip(1);
    let pairs: u64 = args.next().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    if let Some(directory) = args.next() {
        marey_measure::start(directory.as_ref()).expect("the directory can be written");
    }
    let sites: Vec<&'static Site> = (0..50)
        .map(|idx| {
            let name: &'static str = Box::leak(format!("region {idx}").into_boxed_str());
            let site: &'static Site = Box::leak(Box::new(Site::new(name, file!(), line!())));
            site
        })
        .collect();
    for site in &sites {
        drop(site.enter());
    }
    let (before, cpu_before) = (clock::monotonic_ns(), cpu_ns());
    for n in 0..pairs / 2 {
        let outer = sites[(n % 50) as usize].enter();
        let inner = sites[(n * 7 % 50) as usize].enter();
        drop(inner);
        drop(outer);
    }
    let (ns, cpu_ns) = (clock::monotonic_ns() - before, cpu_ns() - cpu_before);
    println!("ns_per_pair {:.2}", ns as f64 / pairs as f64);
    println!("cpu_ns_per_pair {:.2}", cpu_ns as f64 / pairs as f64);
}

/// Time that this thread has had a processor, in ns.
fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
