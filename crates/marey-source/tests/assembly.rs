//! Machine code of programs, against what `objdump` and `readelf` say of the same files.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

#[expect(unreachable_pub, dead_code, reason = "a module of tests")]
mod toolchain;

use std::collections::BTreeMap;
use std::path::Path;

use marey_source::database::{Assembly, Code, Listing};
use marey_source::{ModuleRef, Problem, SymbolizerConfig};
use toolchain::Workspace;

const ALL: u64 = u64::MAX;

fn assembly(path: &Path) -> Result<Assembly, Problem> {
    let config = SymbolizerConfig { debug_roots: Vec::new(), max_bytes: 1 << 30, only_symbols: Vec::new() };
    Assembly::open(&ModuleRef { path, build_id: None }, &config)
}

/// By address: bytes, and words of the instruction.
type Instructions = BTreeMap<u64, (Vec<u8>, Vec<String>)>;

/// What binutils says: address, bytes and text of each instruction, between tabs.
fn disassembled(workspace: &Workspace, file: &str) -> Instructions {
    let text = workspace.tool("objdump", &["-d", "-w", file]);
    let row = |line: &str| {
        let mut parts = line.split('\t');
        let address = u64::from_str_radix(parts.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let bytes = parts.next()?.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap());
        Some((address, (bytes.collect(), words(parts.next().unwrap_or_default()))))
    };
    text.lines().filter_map(row).collect()
}

/// The words of an instruction without its operands; those that only pad are none.
fn words(text: &str) -> Vec<String> {
    const PADDING: [&str; 4] = ["data16", "cs", "rex.W", "notrack"];
    let text = text.split(['#', '%', '$', '<', '(', '*']).next().unwrap();
    let words = text.split_whitespace().filter(|word| word.starts_with(|it: char| it.is_ascii_lowercase()));
    words.filter(|word| !PADDING.contains(word)).map(str::to_owned).collect()
}

fn listings(assembly: &mut Assembly) -> Vec<(Code, Listing)> {
    let codes = assembly.codes().to_vec();
    codes.into_iter().map(|code| (code.clone(), assembly.listing(&code, ALL))).collect()
}

/// Whether two write one instruction. The size of operands may be said or left to these: `callq` is `call`.
fn is_same(ours: &[String], theirs: &[String]) -> bool {
    let is_same = |a: &String, b: &String| {
        a == b
            || [(a, b), (b, a)]
                .iter()
                .any(|(a, b)| ["b", "w", "l", "q"].iter().any(|size| a.strip_suffix(size) == Some(b)))
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b))
}

#[track_caller]
fn check(source: &str, compiler: &str, flags: &[&str], least: usize) {
    let Some(workspace) = Workspace::with(compiler) else { return };
    let program = workspace.executable(source, flags);
    let theirs = disassembled(&workspace, "program");
    let listings = listings(&mut assembly(&program).unwrap());
    let mut seen = 0;
    let mut differing = Vec::new();
    for (code, listing) in &listings {
        assert_eq!(listing.left_out_bytes, 0, "{}", code.name);
        let expected: Vec<_> = theirs.range(code.range.clone()).collect();
        let (first, (last, bytes)) =
            (expected[0], (expected[expected.len() - 1].0, &expected[expected.len() - 1].1.0));
        assert_eq!(
            (*first.0, last + bytes.len() as u64),
            (code.range.start, code.range.end),
            "{}",
            code.name
        );
        assert_eq!(listing.instructions.len(), expected.len(), "{}", code.name);
        for (ours, (address, (bytes, words_of_theirs))) in listing.instructions.iter().zip(expected) {
            assert_eq!((ours.address, &ours.bytes), (*address, bytes), "{}: {}", code.name, ours.text);
            if !is_same(&words(&ours.text), words_of_theirs) {
                differing.push((ours.text.clone(), words_of_theirs.clone()));
            }
            seen += 1;
        }
    }
    assert!(
        differing.is_empty(),
        "{} of {seen}: {:#?}",
        differing.len(),
        &differing[..differing.len().min(30)]
    );
    assert!(least <= seen, "{seen} are too few for a test");
    check_lines(&workspace, &listings, least);
}

/// By address where a row of the tables of lines begins: the name of the file, and the line; `None` behind the last.
/// `shapes.cpp    175    0x1505    1    x`
fn table_of_lines(workspace: &Workspace) -> BTreeMap<u64, Option<(String, u32)>> {
    let text = workspace.tool("readelf", &["-W", "--debug-dump=decodedline", "program"]);
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let (file, line) = (words.next()?.rsplit('/').next()?, words.next()?);
        let address = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        Some((address, line.parse().ok().map(|line: u32| (file.to_owned(), line))))
    };
    let (mut table, mut stretch) = (BTreeMap::new(), Vec::new());
    for (address, row) in text.lines().filter_map(row) {
        match row {
            Some((file, line)) => stretch.push((address, (line != 0).then_some((file, line)))),
            // A row where the stretch ends is of no byte; another stretch may begin there.
            None => {
                table.extend(stretch.drain(..).filter(|(begin, _)| *begin < address));
                table.entry(address).or_default();
            }
        }
    }
    table
}

/// The line of each instruction is that of the last row of the table before it.
#[track_caller]
fn check_lines(workspace: &Workspace, listings: &[(Code, Listing)], least: usize) {
    let table = table_of_lines(workspace);
    let mut seen = 0;
    for (listing, instruction) in
        listings.iter().flat_map(|(_, it)| it.instructions.iter().map(move |at| (it, at)))
    {
        let theirs = table.range(..=instruction.address).next_back().and_then(|(_, row)| row.as_ref());
        let place = instruction.place.and_then(|place| listing.places[place as usize].first());
        let ours = place.and_then(|it| {
            let file = Path::new(it.file.as_deref()?).file_name()?;
            Some((file.to_str()?.to_owned(), it.line?))
        });
        assert_eq!(ours.as_ref(), theirs, "{:x}: {}", instruction.address, instruction.text);
        seen += usize::from(theirs.is_some());
    }
    assert!(least / 2 <= seen, "{seen} lines are too few for a test");
}

#[test]
fn instructions_and_their_lines_are_those_of_binutils() {
    check("calls.c", "gcc", &["-g", "-O2"], 50);
    check("shapes.cpp", "g++", &["-g", "-O2"], 100);
    check("shapes.cpp", "g++", &["-g", "-O0"], 100);
    check("nested.f90", "gfortran", &["-g", "-O2", "-mavx2"], 50);
    check("calls.rs", "rustc", &["-g", "-O"], 50_000);
}
