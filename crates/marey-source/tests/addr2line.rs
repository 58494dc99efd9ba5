//! At random addresses of many programs, functions, files, lines and inlined chains are those that the
//! `addr2line -f -i` of binutils gives, but for the rules in `binutils/rules.rs`.
//!
//! The addresses come from a fixed generator. `cargo test -p marey-source --test addr2line -- --nocapture`
//! shows how many are equal in each program and how many by which rule.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "the file is tests throughout, with a tally")]

#[expect(unreachable_pub, reason = "a module of tests")]
mod binutils;

#[expect(unreachable_pub, dead_code, reason = "a module of tests")]
mod toolchain;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use binutils::{Answer, Chain, Place, Rule, Symbols, answers, explain, lexical, plain};
use marey_source::{Address, ModuleRef, Resolved, Symbolizer, SymbolizerConfig};
use toolchain::Workspace;

/// Two descriptions of the same code.
struct Case<'a> {
    name: &'a str,
    /// What we resolve.
    module: &'a Path,
    /// What binutils resolves: a twin with debug information that it can read.
    twin: &'a Path,
    /// Where our debug files lie.
    debug_root: &'a Path,
    /// How many addresses are drawn.
    n_addresses: usize,
}

/// How often each set of rules made an answer the same; none for those that are the same anyway.
type Tally = BTreeMap<Vec<Rule>, usize>;

#[track_caller]
fn check(case: &Case<'_>) {
    let symbols = Symbols::of(case.twin);
    let addresses = draw(&symbols.text, case.n_addresses);
    let mut symbolizer = Symbolizer::new(SymbolizerConfig {
        debug_roots: vec![case.debug_root.to_owned()],
        max_bytes: 1 << 30,
        only_symbols: vec![],
    });
    let mut tally = Tally::new();
    let mut failures = Vec::new();
    for (i, theirs) in answers(case.twin, &addresses).iter().enumerate() {
        let vaddr = addresses[i];
        // Half of them as a call would leave them: what is meant is the instruction before.
        let (address, recorded) = match i % 2 {
            0 => (Address::Exact(vaddr), vaddr),
            _ => (Address::Return(vaddr + 1), vaddr + 1),
        };
        let ours = chain(&symbolizer.resolve(&ModuleRef { path: case.module, build_id: None }, address));
        let file_name = case.module.file_name().unwrap().to_str().unwrap();
        let offset_name = format!("{file_name}+{recorded:#x}");
        let alone = || {
            // Each is a process; with many failures the reason is another.
            let is_worth_it = failures.len() < 20;
            let alone = is_worth_it.then(|| answers(case.twin, &[vaddr]))?;
            let mut rules = explain(&symbols, vaddr, &offset_name, &ours, &alone[0])?;
            rules.push(Rule::AfterOthers);
            Some(rules)
        };
        match explain(&symbols, vaddr, &offset_name, &ours, theirs).or_else(alone) {
            Some(rules) => *tally.entry(rules).or_default() += 1,
            None => failures.push(difference(vaddr, &ours, theirs)),
        }
    }
    report(case, addresses.len(), &tally);
    let shown = failures.iter().take(5).map(String::as_str).collect::<String>();
    assert!(failures.is_empty(), "{}: {} differ, such as\n{shown}", case.name, failures.len());
    assert_eq!(symbolizer.problems(), []);
    let equal = tally.get(&vec![]).copied().unwrap_or(0);
    assert!(addresses.len() < 2 * equal, "{}: the rules explain too much", case.name);
}

/// Different addresses in these ranges, sorted, so that binutils finds its tables at hand.
fn draw(ranges: &[(u64, u64)], n: usize) -> Vec<u64> {
    let total: u64 = ranges.iter().map(|(start, end)| end - start).sum();
    let mut state: u64 = 0x5eed;
    let mut drawn = BTreeSet::new();
    for _ in 0..n {
        // The generator of Knuth's MMIX; its high bits are the good ones.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut offset = (state >> 24) % total;
        for &(start, end) in ranges {
            if offset < end - start {
                drawn.insert(start + offset);
                break;
            }
            offset -= end - start;
        }
    }
    drawn.into_iter().collect()
}

fn chain(resolved: &Resolved) -> Chain {
    let place = |frame: &marey_source::Frame| Place {
        function: plain(&frame.function),
        file: frame.file.as_deref().map(lexical),
        line: frame.line,
    };
    resolved.frames.iter().map(place).collect()
}

fn difference(vaddr: u64, ours: &Chain, theirs: &Answer) -> String {
    let lines = |who: &str, chain: &Chain| -> String {
        chain.iter().map(|place| format!("  {who} {place:?}\n")).collect()
    };
    format!("{vaddr:#x}\n{}{}", lines("ours", ours), lines("theirs", &theirs.chain))
}

fn report(case: &Case<'_>, n_addresses: usize, tally: &Tally) {
    let equal = tally.get(&vec![]).copied().unwrap_or(0);
    let mut line = format!("{}: {n_addresses} addresses, {equal} equal", case.name);
    for (rules, count) in tally.iter().filter(|(rules, _)| !rules.is_empty()) {
        line.push_str(&format!(", {count} {rules:?}"));
    }
    println!("{line}");
}

/// A workspace, if what compares and what compiles are there.
fn workspace(compiler: &str) -> Option<Workspace> {
    Workspace::with("addr2line").and_then(|_| Workspace::with(compiler))
}

/// The program of `source`, as it is built with these flags.
#[track_caller]
fn check_program(source: &str, flags: &[&str]) {
    let compiler = match source.rsplit_once('.').unwrap().1 {
        "c" => "gcc",
        "cpp" => "g++",
        "f90" => "gfortran",
        _ => "rustc",
    };
    let Some(workspace) = workspace(compiler) else { return };
    let program = workspace.executable(source, flags);
    let name = format!("{source} {}", flags.join(" "));
    check_twins(&workspace, &name, &program, &program);
}

#[track_caller]
fn check_twins(workspace: &Workspace, name: &str, module: &Path, twin: &Path) {
    check(&Case { name, module, twin, debug_root: workspace.dir(), n_addresses: 1500 });
}

#[test]
fn c_programs() {
    check_program("nested.c", &["-gdwarf-5", "-O2", "-fopenmp"]);
    check_program("nested.c", &["-gdwarf-4", "-O3", "-no-pie"]);
}

#[test]
fn cpp_programs() {
    check_program("nested.cpp", &["-gdwarf-4", "-O3"]);
}

/// One program of C++, which takes long to compile, with its debug information at several places.
#[test]
fn cpp_program_and_its_debug_files() {
    let Some(workspace) = workspace("g++") else { return };
    let flags = ["-gdwarf-5", "-O2", "-Wl,--build-id=0xabcdef0123456789"];
    let program = workspace.executable("nested.cpp", &flags);
    check_twins(&workspace, "nested.cpp -gdwarf-5 -O2", &program, &program);

    let twin = workspace.dir().join("twin");
    std::fs::copy(&program, &twin).unwrap();
    workspace.tool("objcopy", &["--only-keep-debug", "--compress-debug-sections=zlib", "twin", "debug"]);
    workspace.tool("objcopy", &["--strip-all", "--add-gnu-debuglink=debug", "program"]);
    check_twins(&workspace, "compressed, by link", &program, &twin);

    workspace.tool("mkdir", &["-p", ".build-id/ab"]);
    workspace.tool("mv", &["debug", ".build-id/ab/cdef0123456789.debug"]);
    check_twins(&workspace, "compressed, by build id", &program, &twin);

    // Binutils does not read split files, but the code is the same without.
    let program = workspace.executable("nested.cpp", &[&flags[..], &["-gsplit-dwarf"]].concat());
    check_twins(&workspace, "split", &program, &twin);
}

#[test]
fn fortran_programs() {
    check_program("nested.f90", &["-gdwarf-5", "-O2", "-cpp", "-fopenmp"]);
    check_program("nested.f90", &["-gdwarf-4", "-O3", "-cpp", "-no-pie"]);
}

#[test]
fn rust_programs() {
    check_program("nested.rs", &["-g", "-O"]);
    check_program("nested.rs", &["-Cdebuginfo=line-tables-only", "-O", "-Csymbol-mangling-version=v0"]);
}

#[test]
fn this_test_itself() {
    if workspace("gcc").is_none() {
        return;
    }
    let me = std::env::current_exe().unwrap();
    let nowhere = Path::new("/nonexistent");
    check(&Case { name: "this test", module: &me, twin: &me, debug_root: nowhere, n_addresses: 2000 });
}

#[test]
fn lammps_and_mpi() {
    let lammps = Path::new("/usr/bin/lmp");
    if workspace("gcc").is_none() {
        return;
    }
    if !lammps.exists() {
        return marey_testkit::skip("LAMMPS");
    }
    let debug_root = Path::new("/usr/lib/debug");
    for (name, n_addresses) in [("liblammps.so", 3000), ("libmpi.so", 3000)] {
        let library = library(lammps, name);
        check(&Case { name, module: &library, twin: &library, debug_root, n_addresses });
    }
}

/// The file that `program` loads as a library whose name begins so.
fn library(program: &Path, name: &str) -> PathBuf {
    let said = Command::new("ldd").arg(program).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let line = said.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
    PathBuf::from(line.split_whitespace().nth(2).unwrap())
}
