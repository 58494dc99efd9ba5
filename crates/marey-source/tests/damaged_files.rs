//! Damaged executables and debug information: whatever the bytes, resolution answers, and answers the same
//! a second time. The damage is drawn from a fixed generator, so a failure can be repeated.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

#[expect(unreachable_pub, dead_code, reason = "a module of tests")]
mod toolchain;

use std::path::Path;

use marey_source::database::{Assembly, Database};
use marey_source::variables::Variables;
use marey_source::{Address, ModuleRef, Problem, Quality, Resolved, Symbolizer, SymbolizerConfig};
use toolchain::{Call, Workspace};

/// xorshift64*: enough to scatter damage.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end
    }
}

fn resolve_all(path: &Path, calls: &[Call]) -> (Vec<Resolved>, Vec<Problem>) {
    let config = SymbolizerConfig { debug_roots: vec![], max_bytes: 64 << 20, only_symbols: vec![] };
    let mut symbolizer = Symbolizer::new(config);
    let module = ModuleRef { path, build_id: None };
    let edges = [Address::Exact(0), Address::Return(0), Address::Exact(u64::MAX), Address::Return(u64::MAX)];
    let addresses = calls.iter().map(|call| Address::Return(call.vaddr)).chain(edges);
    let resolved = addresses.map(|address| symbolizer.resolve(&module, address)).collect();
    (resolved, symbolizer.problems().to_vec())
}

/// All that is told of a program.
fn database(path: &Path) -> String {
    let config = SymbolizerConfig { debug_roots: vec![], max_bytes: 64 << 20, only_symbols: vec![] };
    let database = Database::of(&ModuleRef { path, build_id: None }, &config);
    format!("{:?} {:?} {:?}", database.functions, database.calls, database.problems)
}

/// All its machine code, of a function as much as a run keeps.
fn assembly(path: &Path) -> String {
    let config = SymbolizerConfig { debug_roots: vec![], max_bytes: 64 << 20, only_symbols: vec![] };
    let mut assembly = match Assembly::open(&ModuleRef { path, build_id: None }, &config) {
        Ok(assembly) => assembly,
        Err(problem) => return problem.to_string(),
    };
    let codes = assembly.codes().to_vec();
    let listings: Vec<_> = codes.iter().map(|code| assembly.listing(code, 64 << 10)).collect();
    format!("{listings:?} {:?}", assembly.problems())
}

/// What is told of data all over a program, and of the frames of those who call.
fn variables(path: &Path, calls: &[Call]) -> String {
    let config = SymbolizerConfig { debug_roots: vec![], max_bytes: 64 << 20, only_symbols: vec![] };
    let (variables, problems) = Variables::open(&ModuleRef { path, build_id: None }, &config);
    let fixed: Vec<_> = (0x3000..0x5000).step_by(0x80).map(|vaddr| variables.at(vaddr, 8)).collect();
    let frames = calls.iter().flat_map(|call| (-16..2).map(move |slot| (call.vaddr, slot * 8)));
    let frames: Vec<_> = frames.map(|(pc, from_cfa)| variables.in_frame(pc, from_cfa, 8)).collect();
    let edge = (variables.at(u64::MAX, u64::MAX), variables.in_frame(u64::MAX, i64::MIN, 0));
    format!("{fixed:?} {frames:?} {edge:?} {:?} {problems:?}", variables.holders())
}

/// Damages the executable in `rounds` ways and resolves each; returns how many answers had lost their lines.
fn check(
    source: &str,
    flags: &[&str],
    seed: u64,
    rounds: usize,
    damage: impl Fn(&mut Random, &mut Vec<u8>),
) -> usize {
    let compiler = if source.ends_with("cpp") { "g++" } else { "gcc" };
    let Some(workspace) = Workspace::with(compiler) else { return 1 };
    let program = workspace.executable(source, flags);
    let calls = workspace.run(&program);
    let whole = std::fs::read(&program).unwrap();
    let path = workspace.dir().join("damaged");
    let mut random = Random(seed);
    let mut poorer = 0;
    for round in 0..rounds {
        let mut bytes = whole.clone();
        damage(&mut random, &mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let first = resolve_all(&path, &calls);
        assert!(first.0.iter().all(|resolved| !resolved.frames.is_empty()));
        assert_eq!(first, resolve_all(&path, &calls));
        // A database reads far more of a file, and takes as much longer.
        if round % 5 == 0 {
            assert_eq!(database(&path), database(&path));
            assert_eq!(assembly(&path), assembly(&path));
            assert_eq!(variables(&path, &calls), variables(&path, &calls));
        }
        poorer += first.0[..calls.len()].iter().filter(|resolved| resolved.quality < Quality::Lines).count();
    }
    poorer
}

fn flip_some(random: &mut Random, bytes: &mut [u8]) {
    for _ in 0..1 + random.below(200) {
        let at = random.below(bytes.len());
        bytes[at] = random.byte();
    }
}

/// The last part of an executable holds its debug sections, symbol tables and section headers.
fn flip_in_debug_sections(random: &mut Random, bytes: &mut [u8]) {
    let start = bytes.len() * 2 / 3;
    for _ in 0..1 + random.below(60) {
        let at = start + random.below(bytes.len() - start);
        bytes[at] ^= 1 << random.below(8);
    }
}

#[test]
fn scattered_damage() {
    let poorer = check("calls.c", &["-g", "-O2"], 1, 300, |random, bytes| flip_some(random, bytes));
    assert!(0 < poorer, "the damage hit nothing");
}

#[test]
fn damaged_debug_sections() {
    let poorer = check("calls.c", &["-gdwarf-5", "-O2"], 2, 300, |random, bytes| {
        flip_in_debug_sections(random, bytes)
    });
    assert!(0 < poorer, "the damage hit nothing");
    check("calls.cpp", &["-gdwarf-4", "-O0"], 3, 150, |random, bytes| flip_in_debug_sections(random, bytes));
}

#[test]
fn damaged_compressed_sections() {
    check("calls.c", &["-g", "-O2", "-gz=zlib"], 4, 150, |random, bytes| {
        flip_in_debug_sections(random, bytes)
    });
}

#[test]
fn truncated_files() {
    let poorer = check("calls.c", &["-g", "-O2"], 5, 200, |random, bytes| {
        let end = random.below(bytes.len());
        bytes.truncate(end);
    });
    assert!(0 < poorer, "a truncated file has no section headers");
}

#[test]
fn noise_behind_an_elf_header() {
    check("calls.c", &["-g", "-O2"], 6, 100, |random, bytes| {
        for byte in &mut bytes[64..] {
            *byte = random.byte();
        }
    });
}
