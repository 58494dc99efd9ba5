//! Kokkos: what a program says that it has done is what is recorded.
//!
//! The one idea: the program prints how often it does what, and where its Views lie, from its own `data()`; a second one
//! calls the recorder as no Kokkos should. Messages of Views are in `mpi/mpi_kokkos.rs`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use marey_archive::{Archive, Columns};
use program::{Program, Recorded};

const KOKKOS: &str =
    "g++ -O1 -g -std=c++17 -isystem /usr/include/trilinos {}/kokkos.cpp -ltrilinos_kokkoscore";
const ODD: &str = "gcc -O1 -g -Wall -pthread {}/kokkos_odd.c -ldl";

/// A program with Kokkos; `None`, said aloud, without that.
fn kokkos() -> Option<Program> {
    if !Path::new("/usr/include/trilinos/Kokkos_Core.hpp").exists() {
        marey_testkit::skip("Kokkos (libtrilinos-kokkos-dev)");
        return None;
    }
    Program::compile(KOKKOS)
}

fn archive(recorded: &Recorded) -> Archive {
    Archive::open(&recorded.dir.join("run.marey")).unwrap()
}

fn table(recorded: &Recorded, name: &str) -> Columns {
    archive(recorded).table(name).unwrap()
}

/// `VERB NOUN` of each region of level `kokkos`, by its number.
fn regions(recorded: &Recorded) -> BTreeMap<u32, String> {
    let regions = table(recorded, "regions");
    let text = |column: &str| regions.text(column).unwrap();
    let (levels, verbs, nouns) = (text("level"), text("verb"), text("noun"));
    let named = |row: usize| {
        let name = format!("{} {}", verbs[row], nouns[row]);
        (levels[row] == "kokkos").then(|| (u32::try_from(row).unwrap(), name.trim_end().to_owned()))
    };
    (0..regions.len()).filter_map(named).collect()
}

/// The same for call paths, and that of the one around it if that is Kokkos's too.
fn paths(recorded: &Recorded) -> BTreeMap<u32, (String, Option<String>)> {
    let (regions, paths) = (regions(recorded), table(recorded, "call_paths"));
    let (of, parents) = (paths.u32("region").unwrap(), paths.u32("parent").unwrap());
    let name = |path: u32| regions.get(of.get(path as usize)?).cloned();
    let ids = (0_u32..).take(paths.len());
    ids.filter_map(|path| Some((path, (name(path)?, name(parents[path as usize]))))).collect()
}

/// Visits by `VERB NOUN`.
fn visits(recorded: &Recorded) -> BTreeMap<String, i64> {
    let (paths, profile) = (paths(recorded), table(recorded, "profile"));
    let mut visits = BTreeMap::new();
    for (path, n) in profile.u32("call_path").unwrap().iter().zip(profile.i64("visits").unwrap()) {
        if let Some((name, _)) = paths.get(path) {
            *visits.entry(name.clone()).or_default() += n;
        }
    }
    visits
}

/// Names of nouns by their numbers.
fn nouns(recorded: &Recorded) -> Vec<String> {
    table(recorded, "nouns").text("name").unwrap().to_vec()
}

/// Which array each access means, what it does and how many bytes: `read alpha 8000`, in the order of time.
fn accesses(recorded: &Recorded, verb: &str) -> Vec<(String, Vec<String>)> {
    let (accesses, arrays, nouns) = (table(recorded, "accesses"), table(recorded, "arrays"), nouns(recorded));
    let paths = paths(recorded);
    let column = |name: &str| accesses.u32(name).unwrap();
    let mut found: BTreeMap<i64, (String, Vec<String>)> = BTreeMap::new();
    for row in 0..accesses.len() {
        let Some((region, _)) = paths.get(&column("call_path")[row]) else { continue };
        if region.split(' ').next() == Some(verb) {
            let noun = arrays.u32("noun").unwrap()[column("array")[row] as usize] as usize;
            let (kind, bytes) = (&accesses.text("kind").unwrap()[row], accesses.i64("bytes").unwrap()[row]);
            let offset = accesses.i64("offset").unwrap()[row];
            let one = found.entry(accesses.i64("time").unwrap()[row]).or_default();
            region.clone_into(&mut one.0);
            one.1.push(format!("{kind} {} {bytes}+{offset}", nouns[noun]));
        }
    }
    found.into_values().collect()
}

/// One test, since Kokkos takes seconds to compile.
#[test]
fn what_a_program_does_with_kokkos_is_told_as_it_does_it() {
    let Some(program) = kokkos() else { return };
    let recorded = program.record(&[], &[]);
    recorded.is_whole();
    kernels_regions_and_sections_are_there_as_often_as_it_says(&program, &recorded);
    copies_say_what_is_read_and_what_is_written(&recorded);
    views_lie_where_it_says_for_as_long_as_they_are_there(&recorded);
    a_tool_of_the_users_stays_alone(&program);
}

fn kernels_regions_and_sections_are_there_as_often_as_it_says(program: &Program, recorded: &Recorded) {
    let alone = Command::new(program.path()).stdin(Stdio::null()).output().unwrap();
    // But for addresses, which are others each time.
    let results = |output: &[u8]| -> Vec<String> {
        let text = String::from_utf8(output.to_vec()).unwrap();
        text.lines().filter(|line| !line.starts_with("view ")).map(str::to_owned).collect()
    };
    assert_eq!(results(&recorded.output.stdout), results(&alone.stdout));
    let visits = visits(recorded);
    let mut n = 0;
    for line in results(&recorded.output.stdout) {
        let Some((name, count)) = line.rsplit_once(' ') else { continue };
        let Some((_, count)) = name.contains(' ').then_some(()).zip(count.parse::<i64>().ok()) else {
            continue;
        };
        if name.starts_with("section ") || name.starts_with("beta ") {
            continue;
        }
        assert_eq!(visits.get(name), Some(&count), "{name}: {visits:#?}");
        n += 1;
    }
    assert_eq!(n, 12);
    // Of the program's three steps, with the kernels inside.
    let paths = paths(recorded);
    let parent =
        |name: &str| paths.values().find(|path| path.0 == name).unwrap().1.clone().unwrap_or_default();
    assert_eq!(parent("parallel_for fill"), "region step");
    assert_eq!(parent("region inner"), "region step");
    assert_eq!(parent("region step"), "");
    assert_eq!(parent("parallel_scan prefix"), "");
    assert_eq!(parent("parallel_for Kokkos::View::initialization [alpha]"), "");
    // Sections overlap and are beside the regions.
    let (states, regions) = (table(recorded, "overlaps"), regions(recorded));
    let mut sections: BTreeMap<&str, usize> = BTreeMap::new();
    for region in states.u32("region").unwrap() {
        *sections.entry(regions[region].as_str()).or_default() += 1;
    }
    assert_eq!(sections, BTreeMap::from([("section across", 4), ("section outer", 4)]));
    assert_eq!(parent("parallel_for between"), "");
}

fn copies_say_what_is_read_and_what_is_written(recorded: &Recorded) {
    let copies = accesses(recorded, "deep_copy");
    let expected: [(&str, &[&str]); 5] = [
        ("deep_copy beta", &["read alpha 8000+0", "write beta 8000+0"]),
        ("deep_copy beta", &["read alpha 1600+0", "write beta 1600+800"]),
        ("deep_copy alpha_mirror", &["read alpha 8000+0", "write alpha_mirror 8000+0"]),
        ("deep_copy beta", &["write beta 8000+0"]),
        ("deep_copy later", &["write later 32768+0"]),
    ];
    assert_eq!(copies.len(), expected.len(), "{copies:?}");
    for ((region, mut accesses), (verb, which)) in copies.into_iter().zip(expected) {
        accesses.sort();
        assert_eq!((region.as_str(), accesses), (verb, which.iter().map(|it| (*it).to_owned()).collect()));
    }
    // What is told of arrays is what stands in the archive, and all of it lies with the process itself.
    let arrays = recorded.json("arrays");
    let beta = arrays["arrays"].as_array().unwrap().iter().find(|array| array["array"] == "beta").unwrap();
    let sum = |of: &serde_json::Value| (of["accesses"].as_u64().unwrap(), of["bytes"].as_u64().unwrap());
    assert_eq!((sum(&beta["local"]), sum(&beta["remote"])), ((3, 17600), (0, 0)));
    assert_eq!(
        (&beta["kind"], &beta["bytes"], &beta["instances"]),
        (&"view".into(), &8000.into(), &1.into())
    );
    let words = ["sentence", "--level", "kokkos", "--verb", "deep_copy", "--by", "noun", "--json"];
    let sentence: serde_json::Value = serde_json::from_str(&recorded.show(&words)).unwrap();
    let group =
        |it: &serde_json::Value| (it["name"].as_str().unwrap().to_owned(), it["visits"].as_u64().unwrap());
    let mut groups: Vec<_> = sentence["groups"].as_array().unwrap().iter().map(group).collect();
    groups.sort();
    assert_eq!(
        groups,
        [("alpha_mirror", 1), ("beta", 3), ("later", 1)].map(|(name, n)| (name.to_owned(), n))
    );
}

fn views_lie_where_it_says_for_as_long_as_they_are_there(recorded: &Recorded) {
    let (arrays, nouns) = (table(recorded, "arrays"), nouns(recorded));
    let column = |name: &str| arrays.i64(name).unwrap();
    let mut views: Vec<(String, i64, i64)> = Vec::new();
    for row in 0..arrays.len() {
        let name = &nouns[arrays.u32("noun").unwrap()[row] as usize];
        // What Kokkos takes for itself is none of the program's.
        if arrays.text("kind").unwrap()[row] == "view" && !name.starts_with("Kokkos::") {
            views.push((name.clone(), column("bytes")[row], column("address")[row]));
            assert!(column("from")[row] < column("until")[row], "{name} was given back");
        }
    }
    let source =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/kokkos.cpp"));
    let line = source.unwrap().lines().position(|line| line.contains("View unlabelled(int n)")).unwrap() + 1;
    let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
    let said: Vec<(String, i64, i64)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("view "))
        .map(|view| view.split(' ').collect::<Vec<_>>())
        .map(|words| (words[0].to_owned(), words[1].parse().unwrap(), words[2].parse().unwrap()))
        .map(|(name, bytes, address)| {
            (if name == "-" { format!("made at kokkos.cpp:{line}") } else { name }, bytes, address)
        })
        .collect();
    assert_eq!(said.len(), 11);
    views.sort();
    let mut expected = said;
    expected.sort();
    assert_eq!(views, expected);
    // Two of them lay at one place, one after the other.
    let of = |name: &str| views.iter().find(|view| view.0 == name).unwrap().2;
    assert_eq!(of("brief"), of("later"), "the program does not show what it is to show");
}

fn a_tool_of_the_users_stays_alone(program: &Program) {
    let record = |name: &str, value: &str, options: &[&str]| {
        let dir = program.dir("with-tool");
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.args(["record", "--force"]).args(options).arg("--").arg(program.path());
        let output = record.current_dir(&dir).env_remove("LD_PRELOAD").env(name, value).output().unwrap();
        assert!(output.status.success());
        (Recorded { dir, output: output.clone() }, String::from_utf8(output.stderr).unwrap())
    };
    // Kokkos says aloud that it finds no such library, which shows that it looks for that one and no other.
    let (recorded, said) = record("KOKKOS_PROFILE_LIBRARY", "/nowhere/tool.so", &[]);
    assert!(said.contains("/nowhere/tool.so"), "{said}");
    assert!(said.contains("warning: KOKKOS_PROFILE_LIBRARY names a tool"), "{said}");
    assert_eq!(visits(&recorded), BTreeMap::new());
    let (recorded, said) = record("KOKKOS_TOOLS_LIBS", "/nowhere/tool.so", &["--kokkos", "off"]);
    assert!(!said.contains("warning"), "{said}");
    assert_eq!(visits(&recorded), BTreeMap::new());
    // That of an outer recorder is none.
    let (recorded, said) = record("KOKKOS_TOOLS_LIBS", "/elsewhere/spool/libmarey.so", &[]);
    assert!(!said.contains("warning") && !visits(&recorded).is_empty(), "{said}");
}

#[test]
fn what_kokkos_should_never_do_leaves_the_recording_right() {
    let Some(program) = Program::compile(ODD) else { return };
    let recorded = program.record(&[], &[]);
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), "fences 0\n");
    // Of 200 regions in each other 64 are recorded, and the others are told as what is missing.
    let problems = &recorded.json("info")["problems"];
    let missing = ["dropped", "lost", "truncated"].map(|it| problems[it].as_u64());
    assert_eq!(missing, [Some(200 - 64), Some(0), Some(0)]);
    let visits = visits(&recorded);
    let expected = [
        ("parallel_for outer", 1),
        ("parallel_for inner", 1),
        ("parallel_for behind", 1),
        ("parallel_for there", 1),
        ("parallel_for afterwards", 1),
        ("fence before a copy", 2),
        ("fence there", 1),
        ("parallel_for between", 1),
        ("parallel_for shallow", 1),
        ("parallel_for fill on Cuda, instance 5", 1),
        ("parallel_for open", 1),
        ("parallel_for last", 1),
        ("region deep", 64),
        ("region open", 1),
        ("allocate remote in Cuda", 1),
        ("deallocate remote in Cuda", 1),
        ("allocate kept in Cuda", 1),
        ("allocate again in Cuda", 1),
        ("deallocate", 1),
    ];
    for (name, count) in expected {
        assert_eq!(visits.get(name), Some(&count), "{name}: {visits:#?}");
    }
    let paths = paths(&recorded);
    let parent =
        |name: &str| paths.values().find(|path| path.0 == name).unwrap().1.clone().unwrap_or_default();
    assert_eq!(parent("parallel_for inner"), "parallel_for outer");
    // The ends of what had ended already ended nothing else.
    assert_eq!(parent("parallel_for behind"), "region order");
    assert_eq!(parent("parallel_for afterwards"), "region thread");
    for within in ["fence before a copy", "fence there", "parallel_for between"] {
        assert_eq!(parent(within), "region fences", "{within}");
    }
    for outside in ["parallel_for shallow", "region open", "parallel_for last", "region thread"] {
        assert_eq!(parent(outside), "", "{outside}");
    }
    // Memory that is told twice is given back before the second time.
    let (arrays, nouns) = (table(&recorded, "arrays"), nouns(&recorded));
    let (of, ends) = (arrays.u32("noun").unwrap(), arrays.i64("until").unwrap());
    let end = |name: &str| ends[of.iter().position(|noun| nouns[*noun as usize] == name).unwrap()];
    assert!(end("kept in Cuda") > 0 && end("again in Cuda") == -1);
}

/// What another thread has ended is over then, though the thread that began it never calls again; what comes too late for
/// that, or is too much, is counted: the end of `gone`, and 44 of the 300 that are left while `many` waits.
#[test]
fn an_end_from_another_thread_is_found_when_the_thread_ends_or_is_counted() {
    let Some(program) = Program::compile(ODD) else { return };
    let recorded = program.record(&[], &["threads"]);
    let (intervals, paths) = (table(&recorded, "intervals"), paths(&recorded));
    let (of, starts) = (intervals.u32("call_path").unwrap(), intervals.i64("start").unwrap());
    let (lengths, places) = (intervals.i64("duration").unwrap(), intervals.u32("location").unwrap());
    let span = |name: &str| {
        let is_it = |row: &usize| paths.get(&of[*row]).is_some_and(|path| path.0 == name);
        let rows: Vec<usize> = (0..intervals.len()).filter(is_it).collect();
        let [row] = rows[..] else { panic!("{name} is there {} times", rows.len()) };
        (places[row], starts[row], starts[row] + lengths[row])
    };
    let (waits, mark) = (span("parallel_for waits"), span("parallel_for mark"));
    assert_ne!(waits.0, mark.0);
    assert!(waits.1 < waits.2 && waits.2 <= mark.1, "{waits:?} is over before {mark:?}");
    assert_eq!(recorded.json("info")["problems"]["dropped"], 1 + 44);
}

/// Later versions say that the older variable is deprecated, if they find it.
#[test]
fn a_later_kokkos_finds_one_variable() {
    let Some(program) = Program::compile(&format!("{ODD} -DLATER -rdynamic")) else { return };
    let recorded = program.record(&[], &["variables"]);
    assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), "KOKKOS_TOOLS_LIBS\n");
    let Some(program) = Program::compile(ODD) else { return };
    let recorded = program.record(&[], &["variables"]);
    assert_eq!(
        String::from_utf8_lossy(&recorded.output.stdout),
        "KOKKOS_TOOLS_LIBS\nKOKKOS_PROFILE_LIBRARY\n"
    );
}

#[test]
fn without_recording_a_program_finds_no_tool() {
    let Some(program) = Program::compile(ODD) else { return };
    for (name, options) in [("off", ["--kokkos", "off"]), ("quiet", ["--mode", "quiet"])] {
        let recorded = program.record(&options, &[]);
        assert_eq!(String::from_utf8_lossy(&recorded.output.stdout), "no tool\n", "{name}");
    }
}
