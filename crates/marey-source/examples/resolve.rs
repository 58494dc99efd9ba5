//! Resolves evenly spread addresses of the code of a module, in order, and prints what loading and resolving
//! them cost, for judging changes: `cargo run --release -p marey-source --example resolve -- FILE COUNT`.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use marey_source::{Address, ModuleRef, Symbolizer, SymbolizerConfig};
use object::read::ReadCache;
use object::{Object, ObjectSection};

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "an example that prints its own times")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, count] = &arguments[..] else {
        println!("usage: resolve FILE COUNT");
        return;
    };
    let (first, size) = text(Path::new(file));
    let count: u64 = count.parse().expect("a number of addresses");
    let module = ModuleRef { path: Path::new(file), build_id: None };
    let mut symbolizer = Symbolizer::new(SymbolizerConfig::system());
    let start = Instant::now();
    symbolizer.resolve(&module, Address::Exact(first));
    println!("load: {:?}", start.elapsed());
    for round in ["first", "second"] {
        let start = Instant::now();
        let mut by_quality = [0u64; 3];
        let mut frames = 0;
        for i in 0..count {
            let vaddr =
                first + u64::try_from(u128::from(size) * u128::from(i) / u128::from(count)).unwrap_or(0);
            let resolved = symbolizer.resolve(&module, Address::Exact(vaddr));
            by_quality[resolved.quality as usize] += 1;
            frames += resolved.frames.len();
        }
        let [offset, symbols, lines] = by_quality;
        let per_second = count as f64 / start.elapsed().as_secs_f64();
        println!(
            "{round}: {count} addresses, {per_second:.0} a second; \
             {frames} frames, {lines} with lines, {symbols} symbols, {offset} offsets"
        );
    }
    for problem in symbolizer.problems() {
        println!("{problem}");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or(""));
}

/// Start and size of the section with the code.
fn text(file: &Path) -> (u64, u64) {
    // Read in parts, so that the peak of memory below is that of the symbolizer.
    let parts = ReadCache::new(File::open(file).expect("a file that can be read"));
    let elf = object::File::parse(&parts).expect("an ELF file");
    let text = elf.section_by_name(".text").expect("an ELF file with code");
    (text.address(), text.size())
}
