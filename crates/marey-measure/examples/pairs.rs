//! Cost of an enter and a leave: `pairs N [DIR]` runs N pairs of 50 regions at depth 2, recording
//! into DIR if it is given, and prints `ns_per_pair`.
#![expect(clippy::print_stdout, reason = "a bench program")]

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
    let before = clock::monotonic_ns();
    for n in 0..pairs / 2 {
        let outer = sites[(n % 50) as usize].enter();
        let inner = sites[(n * 7 % 50) as usize].enter();
        drop(inner);
        drop(outer);
    }
    let ns = clock::monotonic_ns() - before;
    println!("ns_per_pair {:.2}", ns as f64 / pairs as f64);
}
