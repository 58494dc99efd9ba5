//! An archive as analysis sees it: what was written arrives, and damage is named.
#![expect(clippy::unwrap_used, reason = "a test may fail where it likes")]

use std::path::Path;

use marey_analyze::{Frame, Trace, headline};
use marey_archive::schema::{self, NONE, TableSpec};
use marey_archive::{Archive, Columns, Error, Meta, Part, RunFacts, RunTrace, Value, write_table};
use marey_model::{CallPathId, Nanos, Role, StackId};

/// Writes one table: rows of texts and integers, which are turned into the columns' types.
fn put(dir: &Path, meta: &mut Meta, spec: &'static TableSpec, rows: &[&[&str]]) {
    fn value<'a>((text, column): (&&'a str, &schema::ColumnSpec)) -> Value<'a> {
        match column.kind {
            schema::Kind::U32 => Value::U32(text.parse().unwrap()),
            schema::Kind::I64 => Value::I64(text.parse().unwrap()),
            schema::Kind::F64 => Value::F64(text.parse().unwrap()),
            schema::Kind::Text => Value::Text(text),
        }
    }
    let mut columns = Columns::new(spec);
    for row in rows {
        columns.push(&row.iter().zip(spec.columns).map(value).collect::<Vec<_>>()).unwrap();
    }
    let stats = write_table(dir, &columns).unwrap();
    meta.add(spec, Part::new(spec, 0, 0, stats));
}

/// Two ranks; rank 0 calls MPI_Send twice, from line 12 of `halo`, which was inlined into `main`.
fn write_run(dir: &Path) -> Meta {
    let none = &*NONE.to_string();
    let mut meta = Meta::new(RunFacts { duration_ns: 1000, ..RunFacts::default() });
    let regions: &[&[&str]] = &[
        &["0", "source", "execute", "main", "work", "0", "0", "0", "a.c", "1"],
        &["1", "mpi", "MPI_Send", "", "transfer", "1", "1", none, "", "0"],
    ];
    put(dir, &mut meta, &schema::REGIONS, regions);
    let paths: &[&[&str]] = &[&["0", none, "0", none, "0", "0", "0"], &["1", "0", "1", "0", "1", "1", "0"]];
    put(dir, &mut meta, &schema::CALL_PATHS, paths);
    put(dir, &mut meta, &schema::MODULES, &[&["0", "/home/u/app", "ab12"]]);
    // The rows of the stack in the wrong order, and an address that nobody knows.
    put(dir, &mut meta, &schema::STACKS, &[&["0", "1", "0", "4096"], &["0", "0", "0", "16"]]);
    let frames: &[&[&str]] =
        &[&["0", "16", "1", "main", "a.c", "44", "lines"], &["0", "16", "0", "halo", "a.c", "12", "lines"]];
    put(dir, &mut meta, &schema::FRAMES, frames);
    let rest = ["./app", "/home/u/app", "0", "1000", "finished", "0", "", "single", "640"];
    let used = ["1048576", "700", "50", "0", "-1", "-1"];
    let process = |id, rank| [&[id, "node", "7", "0", rank, "2"][..], &rest, &used].concat();
    put(dir, &mut meta, &schema::PROCESSES, &[&process("0", "0"), &process("1", "1")]);
    let locations: &[&[&str]] = &[
        &["0", "0", "thread 0", "thread", "0", "7", "node", "0", "0", "0", "1000", "-1"],
        &["1", "1", "thread 0", "thread", "0", "8", "node", "0", "1", "0", "1000", "-1"],
    ];
    put(dir, &mut meta, &schema::LOCATIONS, locations);
    put(dir, &mut meta, &schema::COMMUNICATORS, &[&["0", "MPI_COMM_WORLD", "2", none, "intra", "0-1"]]);
    let profile: &[&[&str]] = &[
        &["0", "0", "1", "1000", "600", "1000", "1000", "1000000", "0", "0"],
        &["1", "0", "2", "400", "400", "100", "300", "100000", "64", "0"],
        &["0", "1", "1", "1000", "1000", "-1", "-1", "0", "0", "0"],
    ];
    put(dir, &mut meta, &schema::PROFILE, profile);
    let samples: &[&[&str]] =
        &[&[none, "0", "0", "2", "3", "15000", "1"], &["1", "0", none, "1", "1", "5000", "0"]];
    put(dir, &mut meta, &schema::SAMPLED, samples);
    let sent: &[&[&str]] = &[&["0", "1", "0", "5", "2", "64"], &["1", "0", none, "-1", "1", "0"]];
    put(dir, &mut meta, &schema::COMMUNICATION, sent);
    put(dir, &mut meta, &schema::PROBLEMS, &[&["dropped", "1", none, "3", "disk full"]]);
    // The innermost region first: the reader puts them in order.
    let open: &[&[&str]] = &[&["1", "1", "1", "950"], &["0", "0", "0", "5"], &["1", "0", "0", "10"]];
    put(dir, &mut meta, &schema::OPEN_AT_END, open);
    meta.save(dir).unwrap();
    meta
}

#[test]
fn what_was_written_arrives() {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    let trace = RunTrace::load(&Archive::open(dir.path()).unwrap()).unwrap();
    assert_eq!(trace.duration(), Nanos(1000));
    assert_eq!(trace.regions()[1].role, Role::Transfer);
    assert_eq!(trace.call_paths()[0].stack, None);
    assert_eq!(trace.call_paths()[1].parent, Some(CallPathId(0)));
    let frame =
        |function: &str, file: &str, line| Frame { function: function.into(), file: file.into(), line };
    let stack: Vec<Frame> = trace.stack(StackId(0)).into_iter().cloned().collect();
    assert_eq!(stack, [frame("halo", "a.c", 12), frame("main", "a.c", 44), frame("app+0x1000", "", 0)]);
    assert!(trace.stack(StackId(1)).is_empty());
    assert_eq!((trace.processes()[1].rank, trace.processes()[1].pid), (Some(1), 7));
    let used = (trace.processes()[1].peak_memory, trace.processes()[1].processor_time);
    assert_eq!(used, (Some(1 << 20), Some(Nanos(750))));
    assert_eq!(trace.communicators()[0].parent, None);
    let samples = [(None, Some(StackId(0)), 2, true), (Some(CallPathId(1)), None, 1, false)];
    let found = trace.samples().iter().map(|row| (row.call_path, row.stack, row.samples, row.is_complete));
    assert_eq!(found.collect::<Vec<_>>(), samples);
    assert_eq!((trace.profile()[1].visits, trace.profile()[1].max), (2, Some(Nanos(300))));
    assert_eq!(trace.profile()[2].min, None);
    assert_eq!((trace.communication()[0].size_log2, trace.communication()[1].size_log2), (Some(5), None));
    assert_eq!((trace.problems()[0].count, trace.problems()[0].location), (3, None));

    let open: Vec<_> = trace.open_at_end().unwrap().iter().map(|it| (it.location.0, it.start.0)).collect();
    assert_eq!(open, [(0, 5), (1, 10), (1, 950)]);
    assert_eq!(trace.processes()[0].exit_code, Some(0));

    let found = headline(&trace);
    assert_eq!((found.process_time, found.mpi), (Nanos(2000), Nanos(400)));
    let site = found.largest_call_site.unwrap();
    assert_eq!((&*site.verb, &*site.function, site.line, site.visits), ("MPI_Send", "halo", 12, 2));
}

/// `profile` as version 1 of the schema had it: without the last column.
static FIRST_PROFILE: TableSpec =
    TableSpec { columns: schema::PROFILE.columns.split_last().unwrap().1, ..schema::PROFILE };

#[test]
fn a_column_that_is_newer_than_the_archive_is_missing_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = write_run(dir.path());
    let rows: &[&[&str]] = &[&["0", "0", "5", "1000", "600", "1000", "1000", "1000000", "0"]];
    meta.tables.remove("profile");
    put(dir.path(), &mut meta, &FIRST_PROFILE, rows);
    let profile = |schema: u32| {
        Meta { schema, ..meta.clone() }.save(dir.path()).unwrap();
        Archive::open(dir.path()).unwrap().table("profile")
    };
    let old = profile(1).unwrap();
    assert_eq!((old.i64("visits").unwrap(), old.i64("untimed").unwrap()), (&[5][..], &[-1][..]));
    let trace = RunTrace::load(&Archive::open(dir.path()).unwrap()).unwrap();
    assert_eq!((trace.profile()[0].visits, trace.profile()[0].untimed), (5, 0));
    // Where it should be, and alone, when nothing says how many rows there are.
    assert!(matches!(profile(2), Err(Error::ForeignColumn { column: "untimed", .. })));
    profile(1).unwrap();
    let alone = Archive::open(dir.path()).unwrap().scan("profile", &["untimed"], &[], |_| {}).unwrap();
    assert!(matches!(alone.damage[..], [Error::ForeignColumn { column: "untimed", .. }]));
}

#[test]
fn an_archive_without_rows_is_an_empty_trace() {
    let dir = tempfile::tempdir().unwrap();
    Meta::new(RunFacts::default()).save(dir.path()).unwrap();
    let trace = RunTrace::load(&Archive::open(dir.path()).unwrap()).unwrap();
    assert!(trace.regions().is_empty() && trace.profile().is_empty());
    assert!(trace.open_at_end().is_none(), "an archive that has no such table does not say");
    assert_eq!(headline(&trace).process_time, Nanos(0));
}

#[test]
fn ids_that_are_not_row_numbers_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = write_run(dir.path());
    put(dir.path(), &mut meta, &schema::MODULES, &[&["5", "/home/u/app", ""]]);
    meta.save(dir.path()).unwrap();
    let loaded = RunTrace::load(&Archive::open(dir.path()).unwrap());
    assert!(matches!(loaded, Err(Error::WrongId { table: "modules", row: 0, found: 5 })), "{loaded:?}");

    let mut meta = write_run(dir.path());
    put(dir.path(), &mut meta, &schema::STACKS, &[&["4000000000", "0", "0", "16"]]);
    meta.save(dir.path()).unwrap();
    let loaded = RunTrace::load(&Archive::open(dir.path()).unwrap());
    assert!(matches!(loaded, Err(Error::WrongId { table: "stacks", .. })), "{loaded:?}");
}

/// Who walks up from any call path comes to an end, and soon.
#[test]
fn parents_stand_before_their_children_and_not_too_deep() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = write_run(dir.path());
    let none = NONE.to_string();
    // A circle, one that is its own parent, one whose parent comes later; then a chain.
    let mut parents: Vec<String> = ["1", "0", "2", "5", &none, &none].map(str::to_owned).to_vec();
    parents.extend((5..9_000).map(|above: u32| above.to_string()));
    let ids: Vec<String> = (0..parents.len()).map(|id| id.to_string()).collect();
    let row = |(id, parent)| [id, parent, "0", none.as_str(), "0", "0", "0"];
    let rows: Vec<[&str; 7]> =
        ids.iter().map(String::as_str).zip(parents.iter().map(String::as_str)).map(row).collect();
    let rows: Vec<&[&str]> = rows.iter().map(<[&str; 7]>::as_slice).collect();
    put(dir.path(), &mut meta, &schema::CALL_PATHS, &rows);
    meta.save(dir.path()).unwrap();
    let trace = RunTrace::load(&Archive::open(dir.path()).unwrap()).unwrap();
    let paths = trace.call_paths();
    let parent = |id: usize| paths[id].parent;
    assert_eq!([0, 1, 2, 3].map(parent), [None, Some(CallPathId(0)), None, None]);
    assert_eq!(parent(600), Some(CallPathId(599)));
    let depth =
        |id: usize| std::iter::successors(paths[id].parent, |above| paths[above.idx()].parent).count();
    assert_eq!(depth(1000), 995);
    assert!(depth(8_999) <= 2048, "{}", depth(8_999));
}
