//! Coarray Fortran: operations by array, line, image and section, as the text of the program says them.
//!
//! The program says in comments how often it does what; the expected rows below are written from these. What MPI is called
//! for them is counted by hand from what OpenCoarrays does: a strided section is moved element by element.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need, programs, which};

pub(crate) fn program(mpi: Mpi) -> Option<PathBuf> {
    let library = match mpi {
        Mpi::Open => "caf_openmpi",
        Mpi::Mpich => "caf_mpich",
    };
    let found = Path::new("/usr/lib/x86_64-linux-gnu").join(format!("lib{library}.so"));
    if !found.exists() {
        return None;
    }
    let link = format!("-l{library}");
    let flags = ["-O1", "-fcoarray=lib", &link];
    let build = Build {
        mpi,
        compiler: Compiler::Fortran,
        sources: &["coarrays.f90"],
        flags: &flags,
        output: "coarrays",
    };
    build.path()
}

/// The line of the program that holds a text.
pub(crate) fn line_of(text: &str) -> u64 {
    let source = std::fs::read_to_string(programs().join("coarrays.f90")).unwrap();
    let at =
        source.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("no line has {text}"));
    at as u64 + 1
}

/// Number, bytes, and calls beneath that move data.
type Row = (u64, u64, u64);

/// What `marey arrays` says: by verb, array and line.
pub(crate) fn statements(arrays: &Value) -> BTreeMap<(String, String, u64), Row> {
    let mut found = BTreeMap::new();
    for array in arrays["arrays"].as_array().unwrap() {
        for statement in array["statements"].as_array().unwrap() {
            let beneath = statement["beneath"].as_array().unwrap().iter();
            let transfers =
                beneath.filter(|it| it["is_transfer"] == true).map(|it| it["calls"].as_u64().unwrap());
            let key = (
                statement["verb"].as_str().unwrap().to_owned(),
                array["array"].as_str().unwrap().to_owned(),
                statement["line"].as_u64().unwrap(),
            );
            let row: &mut Row = found.entry(key).or_default();
            row.0 += statement["accesses"].as_u64().unwrap();
            row.1 += statement["bytes"].as_u64().unwrap();
            row.2 += transfers.sum::<u64>();
        }
    }
    found
}

/// Visits of the level `coarray` by verb: what the program asks for, and what the library does by itself.
pub(crate) fn visits(run: &Run) -> [BTreeMap<String, i64>; 2] {
    let [regions, paths, profile] = ["regions", "call_paths", "profile"].map(|name| run.table(name));
    let (levels, verbs) = (regions.text("level").unwrap(), regions.text("verb").unwrap());
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    for (path, visits) in profile.u32("call_path").unwrap().iter().zip(profile.i64("visits").unwrap()) {
        let region = paths.u32("region").unwrap()[*path as usize] as usize;
        if levels[region] != "coarray" || *visits == 0 {
            continue;
        }
        let [asked, implied] = &mut found;
        let (of, verb) = match verbs[region].strip_suffix(" (implied)") {
            Some(verb) => (implied, verb),
            None => (asked, verbs[region].as_str()),
        };
        *of.entry(verb.to_owned()).or_default() += *visits;
    }
    found
}

/// One row of `accesses`: kind, array, rank, bytes, offset and dimensions.
pub(crate) type Access = (String, String, i64, i64, i64, Vec<(String, i64, i64, i64)>);

pub(crate) fn accesses(run: &Run) -> Vec<Access> {
    let (rows, arrays, nouns, shapes) =
        (run.table("accesses"), run.table("arrays"), run.table("nouns"), run.table("shapes"));
    let dimensions = |shape: u32| -> Vec<(String, i64, i64, i64)> {
        let rows = (0..shapes.len()).filter(|row| shapes.u32("id").unwrap()[*row] == shape);
        rows.map(|row| {
            let number = |name: &str| shapes.i64(name).unwrap()[row];
            (shapes.text("kind").unwrap()[row].clone(), number("start"), number("stride"), number("count"))
        })
        .collect()
    };
    let row = |row: usize| {
        let array = rows.u32("array").unwrap()[row] as usize;
        let noun = arrays.u32("noun").unwrap()[array] as usize;
        (
            rows.text("kind").unwrap()[row].clone(),
            nouns.text("name").unwrap()[noun].clone(),
            rows.i64("target").unwrap()[row],
            rows.i64("bytes").unwrap()[row],
            rows.i64("offset").unwrap()[row],
            dimensions(rows.u32("shape").unwrap()[row]),
        )
    };
    (0..rows.len()).map(row).collect()
}

/// What the program prints, without what MPICH's network says of messages that were left.
fn printed(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.contains(" UCX ")).map(str::to_owned).collect()
}

fn told(mpi: Mpi, images: u32, program: &Path, options: &[&str]) {
    let place = Place::new();
    let job = options.iter().fold(Job::new(mpi, images, program), |job, option| job.option(option));
    let alone = job.plain(place.path());
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(printed(&run.stdout()), printed(&String::from_utf8(alone.stdout).unwrap()));
    assert_eq!(printed(&run.stdout()), [format!("sum {} seen {}", images * (images + 1) / 2, 6 * images)]);
    // When an image ends, the library tells all others, who may not listen any more.
    run.expect_no_problems(&["unmatched_sends"]);
    let arrays = run.json("arrays");
    let found = statements(&arrays);
    let mut expected: Vec<(&str, &str, &str, Row)> = vec![
        ("get", "grid", "taken = grid(4, :)[3]", (3, 480, 60)),
        ("send", "grid", "grid(:, 5)[2] = 1.5d0", (2, 160, 2)),
        ("get", "grid", "taken(1:3) = grid(subscripts, 2)[2]", (1, 24, 3)),
        ("get", "grid", "taken(1:4) = grid(1:10:3, 1)[2]", (1, 32, 4)),
        ("send", "fixed", "fixed(i)[2] = i", (4, 16, 4)),
        ("get", "parts%values", "parts[2]%values(2:4)", (5, 120, 35)),
        ("sendget", "fixed", "fixed(5:6)[3] = fixed(7:8)[2]", (2, 16, 4)),
        ("atomic_op", "counter", "call atomic_add", (6 * u64::from(images), 24 * u64::from(images), 18)),
        ("atomic_ref", "counter", "call atomic_ref", (u64::from(images), 4 * u64::from(images), 3)),
        ("get", "fixed", "i = fixed(0)[2]", (1, 4, 1)),
        ("get", "local", "copy = local(i)[2]", (7, 28, 7)),
        ("co_broadcast", "fixed", "call co_broadcast", (u64::from(images), 40 * u64::from(images), 0)),
    ];
    for (verb, array, text, row) in expected.drain(..) {
        let key = (verb.to_owned(), array.to_owned(), line_of(text));
        let seen = found.get(&key).unwrap_or_else(|| panic!("{key:?} is not among {found:#?}"));
        assert_eq!((seen.0, seen.1), (row.0, row.1), "{key:?}");
        // Atomic operations and collectives are MPI's own in some way.
        if !verb.starts_with("co_") {
            assert_eq!(seen.2, row.2, "{key:?} took so many calls");
        }
    }
    // Nothing else moves data.
    let moved: u64 =
        arrays["arrays"].as_array().unwrap().iter().map(|it| it["accesses"].as_u64().unwrap()).sum();
    let listed: u64 = 3 + 2 + 1 + 1 + 4 + 5 + 2 + 1 + 7 + u64::from(images) * 8;
    assert_eq!(moved, listed);
    // Arrays have names, places and bounds whether their making is recorded or not.
    let is_made = !options.contains(&"off coarray:allocate");
    of_visits(&run, images, is_made);
    of_arrays(&arrays, images);
    of_sections(&run);
    // Locks and events are in use, though no element of them is accessed.
    let text = run.text("arrays", &[]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = match is_made {
        true => "never accessed across processes: unused; 400 B in each",
        false => "no access was recorded to unused; but a rule left calls out",
    };
    assert!(text.contains(said), "{text}");
}

/// All that the program does on the level, whether it moves something or not.
fn of_visits(run: &Run, images: u32, is_made: bool) {
    let images = i64::from(images);
    let mut expected = BTreeMap::from([
        // gfortran ends what allocates a coarray with one of its own: 2 of 8.
        ("sync all", 8 * images),
        ("sync images", 2),
        ("lock", images),
        ("unlock", images),
        ("event post", 1),
        ("event wait", 1),
        ("co_sum", images),
        ("co_broadcast", images),
        ("form team", images),
        ("change team", images),
        ("end team", images),
        // 6 static coarrays, 2 by statements; of a component, room for it with the static array, and elements by a statement.
        ("allocate", 10 * images),
        // What is saved stays.
        ("deallocate", images),
        ("get", 3 + 1 + 1 + 5 + 1 + 7),
        ("send", 2 + 4),
        ("sendget", 1),
        ("atomic_op", 6 * images),
        ("atomic_ref", images),
        ("initialise", images),
        ("finalise", images),
    ]);
    if !is_made {
        expected.remove("allocate");
    }
    let [asked, implied] = visits(run);
    let asked: BTreeMap<&str, i64> = asked.iter().map(|(verb, visits)| (verb.as_str(), *visits)).collect();
    assert_eq!(asked, expected);
    // What the library calls by itself is seen if it is a shared one: the first static coarray initialises it, and what gives a
    // coarray back waits for all images.
    if !implied.is_empty() {
        assert_eq!(
            implied,
            [("initialise", images), ("sync all", images)].map(|(v, n)| (v.to_owned(), n)).into()
        );
    }
}

/// What is said of arrays: names, places, types and bounds.
fn of_arrays(arrays: &Value, images: u32) {
    let array = |name: &str| {
        let mut rows = arrays["arrays"].as_array().unwrap().iter();
        rows.find(|row| row["array"] == name).unwrap_or_else(|| panic!("no array {name} in {arrays:#}"))
    };
    let bounds = |name: &str| array(name)["bounds"].to_string();
    let expected = [
        ("grid", "real(8)", "[[1,10],[1,20]]", 1600, "real(8), allocatable, save :: grid"),
        ("fixed", "integer(4)", "[[0,9]]", 40, "integer :: fixed(0:9)[*]"),
        ("local", "real(4)", "[[1,7]]", 28, "real(4), allocatable, save :: local"),
        ("unused", "integer(4)", "[[1,100]]", 400, "integer, save :: unused(100)[*]"),
        ("parts%values", "real(8)", "[[1,8]]", 64, "type(holder), save :: parts[*]"),
        ("counter", "integer(4)", "[]", 4, "integer(atomic_int_kind) :: counter[*]"),
    ];
    for (name, element, extents, bytes, declared) in expected {
        let row = array(name);
        assert_eq!(row["element"], element, "{name}");
        assert_eq!(bounds(name), extents, "{name}");
        assert_eq!(row["bytes"], bytes, "{name}");
        assert_eq!(row["line"], line_of(declared), "{name}");
        assert_eq!(row["processes"].as_array().unwrap().len(), images as usize, "{name}");
    }
    assert_eq!(array("unused")["accesses"], 0);
    // What is counted instead of measured has a name all the same.
    for (name, element, declared) in [
        ("guard", "lock_type", "type(lock_type), save :: guard[*]"),
        ("news", "event_type", "type(event_type), save :: news[*]"),
    ] {
        assert_eq!(array(name)["line"], line_of(declared), "{name}");
        assert_eq!(array(name)["element"], element, "{name}");
    }
    // Images 2 and 3 are ranks 1 and 2; image 1 counts for itself.
    assert_eq!(array("counter")["local"]["accesses"], 7);
    assert_eq!(array("counter")["remote"]["accesses"], 7 * (images - 1));
}

/// Which elements were meant, and with which image they lie.
fn of_sections(run: &Run) {
    let rows = accesses(run);
    let of = |kind: &str, array: &str| -> Vec<&Access> {
        rows.iter().filter(|row| row.0 == kind && row.1 == array).collect()
    };
    let elements = |stride: i64, count: i64| vec![("elements".to_owned(), 0, stride, count)];
    let grid: Vec<_> = of("read", "grid").iter().map(|row| (row.2, row.4, row.5.clone())).collect();
    let row_of_grid = (2, 3 * 8, elements(10, 20));
    assert_eq!(grid[..3], [row_of_grid.clone(), row_of_grid.clone(), row_of_grid]);
    let vector = vec![("vector".to_owned(), 1, 9, 3), ("subscripts".to_owned(), 2, 1, 1)];
    assert_eq!(grid[3], (1, 10 * 8, vector));
    assert_eq!(grid[4], (1, 0, elements(3, 4)));
    let column: Vec<_> = of("write", "grid").iter().map(|row| (row.2, row.4, row.5.clone())).collect();
    assert_eq!(column, [(1, 320, elements(1, 10)), (1, 320, elements(1, 10))]);
    let fixed: Vec<_> = of("write", "fixed").iter().map(|row| (row.2, row.3, row.4)).collect();
    assert_eq!(fixed, [(1, 4, 0), (1, 4, 4), (1, 4, 8), (1, 4, 12), (2, 8, 20)]);
    // The last is in a team of images 1 and 3, of which the second is meant.
    let fixed: Vec<_> = of("read", "fixed").iter().map(|row| (row.2, row.3, row.4)).collect();
    assert_eq!(fixed, [(1, 8, 28), (2, 4, 0)]);
    let values = vec![("subscripts".to_owned(), 2, 1, 3)];
    let parts = of("read", "parts%values");
    assert!(
        parts.len() == 5 && parts.iter().all(|row| (row.2, row.4, &row.5) == (1, 8, &values)),
        "{parts:?}"
    );
    let local: Vec<_> = of("read", "local").iter().map(|row| (row.2, row.4)).collect();
    assert_eq!(local, (0..7).map(|at| (1, at * 4)).collect::<Vec<_>>());
}

#[test]
fn operations_of_coarrays_are_counted_by_array_line_and_image() {
    let program = need!(program(Mpi::Open), "coarrays of Fortran for Open MPI");
    told(Mpi::Open, 3, &program, &[]);
}

#[test]
fn arrays_are_known_by_name_where_their_making_is_not_recorded() {
    let program = need!(program(Mpi::Open), "coarrays of Fortran for Open MPI");
    told(Mpi::Open, 3, &program, &["--rule", "off coarray:allocate"]);
}

#[test]
fn operations_are_counted_with_the_library_inside_and_stubs_in_front_of_it() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let caf = need!(which("caf.openmpi"), "OpenCoarrays");
    let place = Place::new();
    let words = ["-O1", "-g", "coarrays.f90", "-o"];
    let output = Command::new(env!("CARGO_BIN_EXE_marey"))
        .args(["link", "--coarrays", "--directory"])
        .arg(place.dir("link"))
        .arg("--")
        .arg(caf)
        .args(words)
        .arg(place.path().join("coarrays"))
        .current_dir(programs())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    told(mpi, 3, &place.path().join("coarrays"), &[]);
}

#[test]
fn operations_of_coarrays_are_counted_with_the_other_mpi() {
    // It spins: more than there are processors take long.
    let program = need!(program(Mpi::Mpich), "coarrays of Fortran for MPICH");
    told(Mpi::Mpich, 3, &program, &[]);
}

/// Image 1 reads what image 2 has.
const SMALL: &str = "program small\n  integer :: held[*]\n  held = this_image()\n  sync all\n  \
                     if (this_image() == 1) print '(i0)', held[2]\nend program small\n";

#[test]
fn who_links_the_library_statically_is_told_and_the_wrapper_does_not() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let caf = need!(which("caf.openmpi"), "OpenCoarrays");
    need!(program(mpi), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let dir = place.path();
    std::fs::write(dir.join("small.f90"), SMALL).unwrap();
    let run = |program: &Path, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(dir).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let marey = Path::new(env!("CARGO_BIN_EXE_marey"));
    let shown =
        run(marey, &["f90", "--compiler", "mpif90.openmpi", "--show", "-g", "small.f90", "-o", "shared"]);
    assert_eq!(shown, "mpif90.openmpi -fcoarray=lib -g small.f90 -o shared -lcaf_openmpi\n");
    run(marey, &["f90", "--compiler", "mpif90.openmpi", "-g", "small.f90", "-o", "shared"]);
    run(&caf, &["-g", "small.f90", "-o", "static"]);
    let stubs = dir.join("stubs").display().to_string();
    let caf = caf.display().to_string();
    run(
        marey,
        &["link", "--coarrays", "--directory", &stubs, "--", &caf, "-g", "small.f90", "-o", "stubbed"],
    );
    // Without the recorder it does what it did.
    let alone = Job::new(mpi, 2, dir.join("stubbed")).plain(dir);
    assert_eq!(String::from_utf8(alone.stdout).unwrap(), "2\n");
    for (program, is_seen) in [("shared", true), ("static", false), ("stubbed", true)] {
        let recorded = Job::new(mpi, 2, dir.join(program)).record(&place.dir(&format!("of-{program}")));
        assert_eq!(recorded.stdout(), "2\n");
        let arrays = recorded.json("arrays");
        let rows = arrays["arrays"].as_array().unwrap();
        let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
        // Windows that serve coarrays are told where nothing else is, and only there.
        match is_seen {
            true => assert_eq!((kinds.as_slice(), &rows[0]["array"]), (&["coarray"][..], &"held".into())),
            false => assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "window"), "{kinds:?}"),
        }
        // Image 1 is rank 0, and gets.
        let statements = rows.iter().flat_map(|row| row["statements"].as_array().unwrap());
        let moved: Vec<_> = statements.filter(|row| row["pattern"].is_string()).collect();
        let [get] = moved[..] else { panic!("{program}: {moved:#?}") };
        assert_eq!(
            (get["pattern"].as_str(), get["accesses"].as_u64()),
            (Some("one-to-one"), Some(1)),
            "{program}"
        );
        assert_eq!((get["bytes"].as_u64(), get["line"].as_u64()), (Some(4), Some(5)), "{program}");
        // Calls of MPI are seen of both.
        assert!(recorded.mpi_calls().values().any(|calls| !calls.is_empty()));
        let told = run(marey, &["doctor", &format!("./{program}")]);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(told.contains("recorded by array, line and image"), is_seen, "{told}");
        assert_eq!(told.contains("only the calls of MPI beneath are recorded"), !is_seen, "{told}");
    }
}

#[test]
fn what_is_moved_element_by_element_is_a_finding_with_its_remedy() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    need!(program(mpi), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let dir = place.path();
    let source = include_str!("../../../../examples/coarray/misaligned.f90");
    std::fs::write(dir.join("misaligned.f90"), source.replace("per_image = 250000", "per_image = 20000"))
        .unwrap();
    let words = ["f90", "--compiler", "mpif90.openmpi", "-O2", "-g", "misaligned.f90", "-o", "misaligned"];
    let marey = env!("CARGO_BIN_EXE_marey");
    let built = std::process::Command::new(marey).args(words).current_dir(dir).status().unwrap();
    assert!(built.success());
    let run = Job::new(mpi, 3, dir.join("misaligned")).record(dir);
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let report = run.json("report");
    let findings = report["findings"].as_array().unwrap();
    let line = 1 + source.lines().position(|line| line.contains("a(i) = b(at)[from] + step")).unwrap();
    let of_gets: Vec<&Value> = findings.iter().filter(|it| it["line"] == line).collect();
    let [first, others @ ..] = &of_gets[..] else { panic!("nothing of line {line}: {findings:#?}") };
    // Three images, four steps, 20 000 elements of 8 bytes; a third lies with the image itself.
    let expected = serde_json::json!({
        "why": "elements", "array": "b", "accesses": 240_000, "bytes": 1_920_000, "transfers": 160_000,
    });
    assert_eq!(first["pieces"], expected);
    assert!(first["command"].as_str().unwrap().ends_with("--by line --array b"), "{first:#}");
    // What the library does for it is told as what it is done for, and what to do once.
    for finding in &of_gets {
        assert_eq!((&finding["level"], &finding["region"]), (&"coarray".into(), &"get b".into()));
    }
    assert!(others.iter().all(|finding| finding["pieces"].is_null()), "{findings:#?}");
    // With three images each has something that each other wants.
    let arrays = run.json("arrays");
    let b = arrays["arrays"].as_array().unwrap().iter().find(|row| row["array"] == "b").unwrap();
    let gets = b["statements"].as_array().unwrap().iter().find(|row| row["verb"] == "get").unwrap();
    assert_eq!(gets["pattern"], "all-to-all");
    // What serves it: transfers explicitly, and the locks around them and all else implicitly.
    let (mappings, regions) = (run.table("mappings"), run.table("regions"));
    let name = |region: u32| {
        let of = |column| &regions.text(column).unwrap()[region as usize];
        format!("{} {}", of("verb"), of("noun"))
    };
    let mut served: BTreeMap<String, (String, i64)> = BTreeMap::new();
    for row in 0..mappings.len() {
        let ends = ["upper", "lower"].map(|column| mappings.u32(column).unwrap()[row]);
        if name(ends[0]) == "get b" {
            let verb = regions.text("verb").unwrap()[ends[1] as usize].clone();
            let sum = served.entry(verb).or_default();
            *sum =
                (mappings.text("kind").unwrap()[row].clone(), sum.1 + mappings.i64("visits").unwrap()[row]);
        }
    }
    for (verb, kind) in
        [("MPI_Get", "explicit"), ("MPI_Win_lock", "implicit"), ("MPI_Win_unlock", "implicit")]
    {
        assert_eq!(served[verb], (kind.to_owned(), 160_000), "{served:?}");
    }
    // It stands in two loops.
    let at = |text: &str| 1 + source.lines().position(|line| line.trim() == text).unwrap();
    let [inner, outer] =
        [("do i = 1, per_image", "a(i) = b(at)[from] + step"), ("do step = 1, steps", "end if")].map(
            |(first, last)| {
                // Each ends with the first `end do` behind this line.
                let behind = source.lines().skip(at(last)).position(|line| line.trim() == "end do").unwrap();
                serde_json::json!({ "first_line": at(first), "last_line": at(last) + 1 + behind })
            },
        );
    assert_eq!(gets["loops"], serde_json::json!([inner, outer]));
    let of_mpi = |finding: &&Value| finding["routine"].as_str().unwrap().starts_with("_gfortran_caf");
    assert_eq!(findings.iter().filter(of_mpi).count(), 0, "{findings:#?}");
}

#[test]
fn what_is_switched_off_is_not_recorded_and_calls_of_mpi_are() {
    let program = need!(program(Mpi::Open), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let job = Job::new(Mpi::Open, 3, &program).option("--coarrays=off").option("--buffers=off");
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert!(run.table("levels").text("name").unwrap().iter().all(|name| name != "coarray"));
    let rma = run.table("rma");
    let gets = rma.text("kind").unwrap().iter().filter(|kind| *kind == "get").count();
    assert!(gets >= 67, "{gets} gets");
    // Nothing else tells of the windows of the library then.
    assert!(run.table("arrays").text("kind").unwrap().iter().all(|kind| kind == "window"));
    let read = run.table("accesses").text("kind").unwrap().iter().filter(|kind| *kind == "read").count();
    assert_eq!(read, gets);
    assert!(rma.u32("array").unwrap().iter().all(|array| *array == u32::MAX));
}
