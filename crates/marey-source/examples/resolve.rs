//! Resolves evenly spread addresses of a module and prints what loading and resolving them cost, for
//! judging changes: `cargo run --release -p marey-source --example resolve -- FILE FIRST LAST COUNT`
//! (FIRST and LAST are virtual addresses in hexadecimal).

use std::path::Path;

use marey_source::{Address, ModuleRef, Symbolizer, SymbolizerConfig};

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that prints its own times")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, first, last, count] = &arguments[..] else {
        println!("usage: resolve FILE FIRST LAST COUNT");
        return;
    };
    let address =
        |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal address");
    let (first, last) = (address(first), address(last));
    let count: u64 = count.parse().expect("a number of addresses");
    let module = ModuleRef { path: Path::new(file), build_id: None };
    let mut symbolizer = Symbolizer::new(SymbolizerConfig::system());
    for round in ["load + first", "second"] {
        let start = std::time::Instant::now();
        let mut by_quality = [0u64; 3];
        for i in 0..count {
            let vaddr = first + (last - first) / count * i;
            let resolved = symbolizer.resolve(&module, Address::Exact(vaddr));
            by_quality[resolved.quality as usize] += 1;
        }
        let [offset, symbols, lines] = by_quality;
        println!(
            "{round}: {count} addresses in {:?}; {lines} with lines, {symbols} symbols, {offset} offsets",
            start.elapsed()
        );
    }
    for problem in symbolizer.problems() {
        println!("{problem}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or(""));
}
