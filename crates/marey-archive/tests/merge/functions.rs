//! Functions that were recorded by their addresses: what the names that are found make of regions.

use marey_archive::merge::{Function, Namer, Names, merge_with_names};
use marey_archive::{Archive, Columns};
use marey_model::spool::Definition;
use marey_testkit::{Process, Spool};

use super::{Config, Merged, config, merged, paths_of};

/// Knows functions by the file of their module and their address.
struct Known(&'static [(&'static str, u64, &'static str, u32)]);

impl Namer for Known {
    fn name(&self, _: &Columns, _: &Columns) -> Option<Names> {
        None
    }

    fn functions(&self, functions: &[(u32, u64)], modules: &Columns) -> Vec<Option<Function>> {
        let path = |module: u32| modules.text("path").unwrap()[module as usize].as_str();
        let find = |&(module, vaddr): &(u32, u64)| {
            let found = self.0.iter().find(|known| (known.0, known.1) == (path(module), vaddr))?;
            Some(Function { name: found.2.to_owned(), file: "a.c".to_owned(), line: found.3 })
        };
        functions.iter().map(find).collect()
    }
}

/// The site of a function.
fn function(process: &mut Process, module: u32, vaddr: u64) -> u32 {
    let site = process.site(0, &format!("function {module} {vaddr}"));
    let Some(Definition::Region { verb, noun_kind, noun, .. }) = process.definitions.iter_mut().nth_back(1)
    else {
        panic!("a site has a region");
    };
    "execute".clone_into(verb);
    "function".clone_into(noun_kind);
    *noun = format!("lib.so+{vaddr:#x}");
    process.definitions.push(Definition::Function { region: site, module, vaddr });
    site
}

fn module(process: &mut Process, id: u32, path: &str) {
    let path = path.to_owned();
    process.definitions.push(Definition::Module {
        id,
        path,
        build_id: vec![],
        bias: 0,
        start: 0,
        end: 0,
        ticks: 0,
    });
}

/// Two processes that number modules and functions differently, and enter one function after the other.
fn spool() -> Spool {
    let processes = (0..2_u32).map(|idx| {
        let mut process = Process::new(7 + u64::from(idx));
        module(&mut process, idx, "/a/lib.so");
        module(&mut process, 1 - idx, "/b/lib.so");
        let mut places = [(idx, 0x10), (1 - idx, 0x10), (1 - idx, 0x20), (u32::MAX, 0x30)];
        places.rotate_left(idx as usize);
        for (at, (module, vaddr)) in (10..).step_by(10).zip(places) {
            let site = function(&mut process, module, vaddr);
            process.enter(0, site, at);
            process.leave(0, at + 1);
        }
        process.end = Some(100);
        process
    });
    Spool { processes: processes.collect() }
}

fn named(spool: &Spool, known: &Known) -> Merged {
    let dir = tempfile::tempdir().unwrap();
    spool.write(&dir.path().join("spool")).unwrap();
    let run = dir.path().join("run");
    let config = config(2, Config::DEFAULT_MEMORY_BYTES);
    let summary = merge_with_names(&dir.path().join("spool"), &run, &config, &(), known).unwrap();
    Merged { archive: Archive::open(&run).unwrap(), dir, summary }
}

/// Noun, file and line of each region, and how often it was entered.
fn regions(merged: &Merged) -> Vec<String> {
    let (regions, paths, profile) =
        (merged.table("regions"), merged.table("call_paths"), merged.table("profile"));
    let mut visits = vec![0; regions.len()];
    for row in 0..profile.len() {
        let path = profile.u32("call_path").unwrap()[row] as usize;
        visits[paths.u32("region").unwrap()[path] as usize] += profile.i64("visits").unwrap()[row];
    }
    let row = |row: usize| {
        let text = |name: &str| regions.text(name).unwrap()[row].clone();
        let line = regions.u32("line").unwrap()[row];
        format!("{} {}:{line} {}", text("noun"), text("file"), visits[row])
    };
    let mut rows: Vec<String> = (0..regions.len()).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn functions_are_called_after_their_places_as_long_as_nobody_knows_them() {
    let expected = ["lib.so+0x10 :0 2", "lib.so+0x10 :0 2", "lib.so+0x20 :0 2", "lib.so+0x30 :0 2"];
    assert_eq!(regions(&merged(&spool())), expected);
    assert_eq!(regions(&named(&spool(), &Known(&[]))), expected);
}

#[test]
fn functions_of_one_name_and_place_in_the_source_are_one_region() {
    let known = Known(&[("/a/lib.so", 0x10, "work", 3), ("/b/lib.so", 0x20, "work", 3)]);
    let merged = named(&spool(), &known);
    assert_eq!(regions(&merged), ["lib.so+0x10 :0 2", "lib.so+0x30 :0 2", "work a.c:3 4"]);
    assert_eq!(paths_of(&merged.archive).len(), 3);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn functions_of_one_name_in_several_places_of_the_source_are_several() {
    let known = Known(&[("/a/lib.so", 0x10, "work", 3), ("/b/lib.so", 0x10, "work", 4)]);
    let expected = ["lib.so+0x20 :0 2", "lib.so+0x30 :0 2", "work a.c:3 2", "work a.c:4 2"];
    assert_eq!(regions(&named(&spool(), &known)), expected);
}

#[test]
fn an_address_that_a_later_spool_or_a_damaged_one_gives_no_module_for_stays() {
    let mut process = Process::new(7);
    let site = function(&mut process, 17, 0x10);
    process.enter(0, site, 10);
    process.leave(0, 11);
    process.end = Some(100);
    let merged = named(&Spool { processes: vec![process] }, &Known(&[]));
    assert_eq!(regions(&merged), ["lib.so+0x10 :0 1"]);
}
