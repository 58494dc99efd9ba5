//! Round trips of tables through files, pruned scans, packed runs, and damage.
#![expect(clippy::unwrap_used, reason = "a test may fail where it likes")]

use std::path::Path;

use marey_archive::schema::{self, INTERVALS, Kind, NONE, REGIONS, TABLES, TableSpec};
use marey_archive::{
    Archive, Column, Columns, Error, Filter, META_FILE, Meta, Part, PartWriter, RunFacts, State, Tail, Value,
    pack,
};
use proptest::prelude::*;

/// Writes rows as one part and lists it.
fn put(dir: &Path, meta: &mut Meta, rows: &Columns, slab: u32, group: u32) {
    let spec = rows.spec();
    let mut writer = PartWriter::create(&dir.join(spec.file(slab, group)), spec).unwrap();
    writer.write(rows).unwrap();
    meta.add(spec, Part::new(spec, slab, group, writer.finish().unwrap()));
}

fn new_meta() -> Meta {
    Meta::new(RunFacts { command: vec!["./app".to_owned()], duration_ns: 5, ..RunFacts::default() })
}

/// `rows` intervals of two locations; the i-th begins at 10·i and takes 7 ns.
fn intervals(first: u32, rows: u32) -> Columns {
    let all = || first..first + rows;
    let columns = vec![
        Column::U32(all().map(|i| i / (first + rows / 2).max(1)).collect()),
        Column::I64(all().map(|i| 10 * i64::from(i)).collect()),
        Column::I64(vec![7; rows as usize]),
        Column::U32(all().map(|i| i % 50).collect()),
        Column::U32(vec![1; rows as usize]),
        Column::U32(vec![NONE; rows as usize]),
        Column::I64(vec![-1; rows as usize]),
        Column::U32(vec![1; rows as usize]),
        Column::I64(vec![0; rows as usize]),
    ];
    Columns::from_columns(&INTERVALS, columns).unwrap()
}

fn any_column(kind: Kind, rows: usize) -> BoxedStrategy<Column> {
    match kind {
        Kind::U32 => prop::collection::vec(any::<u32>(), rows).prop_map(Column::U32).boxed(),
        Kind::I64 => prop::collection::vec(any::<i64>(), rows).prop_map(Column::I64).boxed(),
        Kind::F64 => prop::collection::vec(-1e300..1e300, rows).prop_map(Column::F64).boxed(),
        Kind::Text => prop::collection::vec(".{0,12}", rows).prop_map(Column::Text).boxed(),
    }
}

fn any_rows() -> impl Strategy<Value = Columns> {
    (0..TABLES.len(), 0_usize..40).prop_flat_map(|(table, rows)| {
        let spec = TABLES[table];
        let columns: Vec<_> = spec.columns.iter().map(|column| any_column(column.kind, rows)).collect();
        columns.prop_map(move |columns| Columns::from_columns(spec, columns).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Such columns are stored as runs until they turn out to be none.
    #[test]
    fn columns_of_runs_come_back_and_are_found(
        runs in prop::collection::vec((0..5_u32, 1..9000_usize), 1..40),
        restless in 0..3000_u32,
        batch in 1..20_000_usize,
    ) {
        let mut values: Vec<u32> = runs.iter().flat_map(|&(value, len)| vec![value; len]).collect();
        values.extend((0..restless).map(|i| i % 7));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(INTERVALS.file(0, 0));
        let mut writer = PartWriter::create(&path, &INTERVALS).unwrap();
        for (idx, values) in values.chunks(batch).enumerate() {
            let signed = |values: &[u32]| values.iter().map(|&value| i64::from(value) - 1).collect();
            let first = (idx * batch) as i64;
            let columns = vec![
                Column::U32(values.to_vec()),
                Column::I64((first..).take(values.len()).collect()),
                Column::I64(signed(values)),
                Column::U32(values.to_vec()),
                Column::U32(vec![NONE; values.len()]),
                Column::U32(values.iter().map(|value| value * 0x2aaa_aaaa).collect()),
                Column::I64(signed(values)),
                Column::U32(vec![1; values.len()]),
                Column::I64(signed(values)),
            ];
            writer.write(&Columns::from_columns(&INTERVALS, columns).unwrap()).unwrap();
        }
        let mut meta = new_meta();
        meta.add(&INTERVALS, Part::new(&INTERVALS, 0, 0, writer.finish().unwrap()));
        meta.save(dir.path()).unwrap();
        let archive = Archive::open(dir.path()).unwrap();
        let all = archive.table("intervals").unwrap();
        prop_assert_eq!(all.u32("location").unwrap(), &values[..]);
        prop_assert!(all.i64("bytes").unwrap().iter().zip(&values).all(|(a, &b)| *a == i64::from(b) - 1));
        prop_assert!(all.u32("depth").unwrap().iter().all(|&depth| depth == NONE));
        check_scan(&archive, &[Filter { column: "location", range: 2..3 }]);
        check_scan(&archive, &[Filter { column: "bytes", range: -1..1 }]);
    }

    #[test]
    fn every_table_comes_back_as_it_was_written(rows in any_rows()) {
        let dir = tempfile::tempdir().unwrap();
        let mut meta = new_meta();
        put(dir.path(), &mut meta, &rows, 0, 0);
        meta.save(dir.path()).unwrap();
        let archive = Archive::open(dir.path()).unwrap();
        let read = archive.table(rows.spec().name).unwrap();
        prop_assert_eq!(read.columns(), rows.columns());
    }
}

#[test]
fn every_table_can_hold_its_extremes() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    let extremes = |spec: &'static TableSpec| {
        let mut rows = Columns::new(spec);
        for row in 0..3 {
            let value = |kind| match kind {
                Kind::U32 => Value::U32([0, 1, u32::MAX][row]),
                Kind::I64 => Value::I64([i64::MIN, 0, i64::MAX][row]),
                Kind::F64 => Value::F64([f64::MIN, 0.0, f64::MAX][row]),
                Kind::Text => Value::Text(["", "ö🎵", "a\0b"][row]),
            };
            let values: Vec<_> = spec.columns.iter().map(|column| value(column.kind)).collect();
            rows.push(&values).unwrap();
        }
        rows
    };
    for spec in TABLES {
        put(dir.path(), &mut meta, &extremes(spec), 0, 0);
    }
    meta.save(dir.path()).unwrap();
    let archive = Archive::open(dir.path()).unwrap();
    for spec in TABLES {
        assert_eq!(archive.table(spec.name).unwrap().columns(), extremes(spec).columns(), "{}", spec.name);
    }
}

#[test]
fn names_of_tables_and_columns_are_unique() {
    for spec in TABLES {
        assert_eq!(TABLES.iter().filter(|other| other.name == spec.name).count(), 1, "{}", spec.name);
        assert!(std::ptr::eq(schema::table(spec.name).unwrap(), spec));
        for column in spec.columns {
            let same = spec.columns.iter().filter(|other| other.name == column.name).count();
            assert_eq!(same, 1, "{}.{}", spec.name, column.name);
        }
        for time in spec.times {
            let names = [Some(time.begin), time.duration];
            for name in names.into_iter().flatten() {
                let place = spec.column(name).unwrap();
                assert_eq!(spec.columns[place].kind, Kind::I64, "{}.{name}", spec.name);
            }
        }
    }
}

/// Scans with filters and compares with a filter applied by hand.
fn check_scan(archive: &Archive, filters: &[Filter<'_>]) {
    let all = archive.table("intervals").unwrap();
    let expected: Vec<i64> = (0..all.len())
        .filter(|&row| {
            filters.iter().all(|filter| {
                let value = match filter.column {
                    "location" | "call_path" => i64::from(all.u32(filter.column).unwrap()[row]),
                    "end" => all.i64("start").unwrap()[row] + all.i64("duration").unwrap()[row],
                    _ => all.i64(filter.column).unwrap()[row],
                };
                filter.range.contains(&value)
            })
        })
        .map(|row| all.i64("start").unwrap()[row])
        .collect();
    let mut found = Vec::new();
    let scanned = archive
        .scan("intervals", &["start"], filters, |batch| {
            assert_eq!(batch.columns().len(), 1);
            found.extend_from_slice(batch.i64("start").unwrap());
        })
        .unwrap();
    assert_eq!(found, expected, "{filters:?}");
    assert_eq!(scanned.rows, expected.len() as u64);
    assert!(scanned.damage.is_empty());
}

#[test]
fn scans_return_exactly_the_rows_in_the_ranges() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    // Not multiples of a page, a batch or a row group.
    put(dir.path(), &mut meta, &intervals(0, 100_001), 0, 0);
    put(dir.path(), &mut meta, &intervals(100_001, 70_000), 1, 0);
    meta.save(dir.path()).unwrap();
    let archive = Archive::open(dir.path()).unwrap();
    let filter = |column, range| Filter { column, range };
    check_scan(&archive, &[]);
    check_scan(&archive, &[filter("start", 0..0)]);
    check_scan(&archive, &[filter("start", 0..1)]);
    check_scan(&archive, &[filter("start", 163_835..163_855)]);
    check_scan(&archive, &[filter("start", 999_990..1_000_050)]);
    check_scan(&archive, &[filter("start", 1_700_000..i64::MAX)]);
    check_scan(&archive, &[filter("start", i64::MIN..30)]);
    check_scan(&archive, &[filter("location", 1..2)]);
    check_scan(&archive, &[filter("location", 1..2), filter("start", 600_000..600_500)]);
    check_scan(&archive, &[filter("call_path", 49..50), filter("start", 400_000..1_200_000)]);
    check_scan(&archive, &[filter("end", i64::MIN..1000)]);
    check_scan(&archive, &[filter("end", 900_000..900_100)]);
    check_scan(&archive, &[filter("start", 0..900_000), filter("end", 899_000..i64::MAX)]);
}

#[test]
fn a_narrow_scan_reads_few_pages() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    put(dir.path(), &mut meta, &intervals(0, 200_000), 0, 0);
    meta.save(dir.path()).unwrap();
    let file = dir.path().join(INTERVALS.file(0, 0));
    let mut bytes = std::fs::read(&file).unwrap();
    let archive = Archive::open(dir.path()).unwrap();
    // The call paths of later rows are wiped out.
    let (start, len) = chunk_of(&file, "call_path");
    bytes[start + len / 4..start + len].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let mut rows = 0;
    let narrow = Filter { column: "start", range: 0..1000 };
    let scanned = archive.scan("intervals", &["call_path"], &[narrow], |batch| rows += batch.len()).unwrap();
    assert!(scanned.damage.is_empty(), "{:?}", scanned.damage);
    assert_eq!(rows, 100);
    let ended = Filter { column: "end", range: 0..1007 };
    let scanned = archive.scan("intervals", &["call_path"], &[ended], |batch| rows += batch.len()).unwrap();
    assert!(scanned.damage.is_empty(), "{:?}", scanned.damage);
    assert_eq!(rows, 200);
    let scanned = archive.scan("intervals", &["call_path"], &[], |_| ()).unwrap();
    assert_eq!(scanned.damage.len(), 1);
}

/// Where the first row group of a file has a column: first byte and length.
fn chunk_of(file: &std::path::Path, column: &str) -> (usize, usize) {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};

    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let group = reader.metadata().row_group(0);
    let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == column).unwrap();
    let (start, len) = chunk.byte_range();
    (start.try_into().unwrap(), len.try_into().unwrap())
}

#[test]
fn a_part_knows_its_rows_and_span() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    put(dir.path(), &mut meta, &intervals(3, 10), 2, 5);
    let part = &meta.parts("intervals")[0];
    assert_eq!(part.file, "intervals/s000002-g00005.parquet");
    assert_eq!((part.rows, part.slab, part.group), (10, 2, 5));
    // The first begins at 30, the last at 120 and takes 7.
    assert_eq!((part.min_time, part.max_time), (Some(30), Some(127)));
    assert_eq!(part.bytes, std::fs::metadata(dir.path().join(&part.file)).unwrap().len());
}

#[test]
fn missing_times_do_not_count_in_the_span() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    let mut rows = Columns::new(&schema::MESSAGES);
    let value = |name: &str, kind| match (name, kind) {
        ("recv_time", _) => Value::I64(90),
        (_, Kind::U32) => Value::U32(NONE),
        (_, _) => Value::I64(-1),
    };
    let row: Vec<_> = schema::MESSAGES.columns.iter().map(|c| value(c.name, c.kind)).collect();
    rows.push(&row).unwrap();
    put(dir.path(), &mut meta, &rows, 0, 0);
    let part = &meta.parts("messages")[0];
    assert_eq!((part.min_time, part.max_time), (Some(90), Some(90)));
}

#[test]
fn batches_of_any_size_make_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let rows = 40_000;
    let mut files = Vec::new();
    for batch in [1_000, 16_384, 40_000] {
        let path = dir.path().join(format!("{batch}.parquet"));
        let mut writer = PartWriter::create(&path, &INTERVALS).unwrap();
        let all = intervals(0, rows);
        let slice = |column: &Column, from: usize, to: usize| match column {
            Column::U32(values) => Column::U32(values[from..to].to_vec()),
            Column::I64(values) => Column::I64(values[from..to].to_vec()),
            other => other.clone(),
        };
        let mut from = 0;
        while from < all.len() {
            let to = all.len().min(from + batch);
            let columns = all.columns().iter().map(|column| slice(column, from, to)).collect();
            writer.write(&Columns::from_columns(&INTERVALS, columns).unwrap()).unwrap();
            from = to;
        }
        writer.finish().unwrap();
        files.push(std::fs::read(&path).unwrap());
    }
    assert!(files[0] == files[1] && files[1] == files[2]);
}

#[test]
fn a_part_that_is_not_finished_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(INTERVALS.file(0, 0));
    let mut writer = PartWriter::create(&path, &INTERVALS).unwrap();
    writer.write(&intervals(0, 10)).unwrap();
    assert!(!path.exists());
    drop(writer);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
}

#[test]
fn rows_of_another_table_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = PartWriter::create(&dir.path().join("x.parquet"), &REGIONS).unwrap();
    assert!(matches!(writer.write(&intervals(0, 1)), Err(Error::WrongWidth { .. })));
    let mut rows = Columns::new(&schema::PARTICIPANTS);
    assert!(matches!(rows.push(&[Value::U32(1), Value::I64(1)]), Err(Error::WrongKind { .. })));
    assert!(matches!(rows.push(&[Value::U32(1)]), Err(Error::WrongWidth { .. })));
    assert!(rows.is_empty());
    let uneven = vec![Column::U32(vec![1]), Column::U32(vec![])];
    let uneven = Columns::from_columns(&schema::PARTICIPANTS, uneven);
    assert!(matches!(uneven, Err(Error::UnequalLengths { column: "noun", .. })));
}

#[test]
fn meta_comes_back_as_it_was_saved() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    put(dir.path(), &mut meta, &intervals(0, 10), 1, 0);
    put(dir.path(), &mut meta, &intervals(0, 20), 0, 1);
    // The second of the same place replaces the first.
    put(dir.path(), &mut meta, &intervals(0, 30), 1, 0);
    meta.state = State::Finished;
    meta.counts.insert("intervals".to_owned(), 50);
    meta.save(dir.path()).unwrap();
    assert_eq!(Meta::load(dir.path()).unwrap(), meta);
    let rows: Vec<u64> = meta.parts("intervals").iter().map(|part| part.rows).collect();
    assert_eq!(rows, [20, 30]);
    assert_eq!(meta.rows("intervals"), 50);
}

#[test]
fn meta_may_not_lead_out_of_the_archive() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["/etc/passwd", "../x.parquet", "intervals/../../x", ""] {
        let mut meta = new_meta();
        meta.add(&REGIONS, Part { file: file.to_owned(), ..Part::default() });
        meta.save(dir.path()).unwrap();
        assert!(matches!(Archive::open(dir.path()), Err(Error::OutsideArchive { .. })), "{file}");
    }
}

#[test]
fn an_archive_of_a_later_version_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let meta = Meta { schema: schema::SCHEMA_VERSION + 1, ..new_meta() };
    meta.save(dir.path()).unwrap();
    assert!(matches!(Archive::open(dir.path()), Err(Error::UnknownSchema { .. })));
}

/// An archive with two parts of intervals and the region `MPI_Send`.
fn small_archive(dir: &Path) {
    let mut meta = new_meta();
    put(dir, &mut meta, &intervals(0, 40_000), 0, 0);
    put(dir, &mut meta, &intervals(40_000, 500), 1, 0);
    let mut regions = Columns::new(&REGIONS);
    for id in 0..200_u32 {
        let noun = format!("noun {id}");
        let names = ["mpi", "MPI_Send", &noun, "transfer"].map(Value::Text);
        let [level, verb, noun, role] = names;
        let ids = [1, 2, NONE].map(Value::U32);
        let [level_id, verb_id, noun_id] = ids;
        let row =
            [id.into(), level, verb, noun, role, level_id, verb_id, noun_id, "a.c".into(), Value::U32(7)];
        regions.push(&row).unwrap();
    }
    put(dir, &mut meta, &regions, 0, 0);
    meta.save(dir).unwrap();
}

#[test]
fn a_packed_run_reads_like_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.marey");
    std::fs::create_dir(&run).unwrap();
    small_archive(&run);
    let packed = dir.path().join("run.marey.zip");
    pack(&run, &packed).unwrap();
    let (plain, from_pack) = (Archive::open(&run).unwrap(), Archive::open(&packed).unwrap());
    assert_eq!(plain.meta(), from_pack.meta());
    for spec in TABLES {
        let (a, b) = (plain.table(spec.name).unwrap(), from_pack.table(spec.name).unwrap());
        assert_eq!(a.columns(), b.columns(), "{}", spec.name);
    }
    check_scan(&from_pack, &[Filter { column: "start", range: 200_000..200_200 }]);
    let again = dir.path().join("again.zip");
    pack(&run, &again).unwrap();
    assert!(std::fs::read(&packed).unwrap() == std::fs::read(&again).unwrap());
}

#[test]
fn a_missing_part_is_named_and_the_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    small_archive(dir.path());
    let lost = dir.path().join(INTERVALS.file(0, 0));
    std::fs::remove_file(&lost).unwrap();
    let archive = Archive::open(dir.path()).unwrap();
    let scanned = archive.scan("intervals", &["start"], &[], |_| ()).unwrap();
    assert_eq!(scanned.rows, 500);
    assert!(matches!(&scanned.damage[..], [Error::Io { path, .. }] if *path == lost), "{:?}", scanned.damage);
    assert!(archive.table("intervals").is_err());
    assert_eq!(archive.table("regions").unwrap().len(), 200);
}

/// Reads everything there is and expects nothing but to come back.
fn read_all(path: &Path) {
    let Ok(archive) = Archive::open(path) else { return };
    for spec in TABLES {
        archive.table(spec.name).ok();
        let names: Vec<_> = spec.columns.iter().map(|column| column.name).collect();
        let filters: Vec<_> =
            spec.times.iter().map(|time| Filter { column: time.begin, range: 1000..200_000 }).collect();
        let each = |batch: &Columns| assert!(batch.len() <= 1 << 13);
        let scanned = archive.scan(spec.name, &names, &filters, each).unwrap();
        assert!(scanned.damage.len() <= archive.parts(spec.name).len());
    }
}

/// Numbers without pattern, the same at each run.
fn scatter(round: u64, below: usize) -> usize {
    let mut mixed = round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^= mixed >> 32;
    usize::try_from(mixed % below as u64).unwrap()
}

/// As archives were that had no checksums of their list and of how their files end, so that readers meet what is damaged.
fn forget_tails(dir: &Path) {
    let mut meta = Archive::open(dir).unwrap().meta().clone();
    meta.tables.values_mut().flatten().for_each(|part| part.tail = Tail::default());
    meta.save(dir).unwrap();
    let path = dir.join(META_FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let (sum, rest) = text.split_once(",\n").unwrap();
    assert!(sum.contains("crc32"), "{sum}");
    std::fs::write(path, format!("{{\n{rest}")).unwrap();
}

#[test]
fn a_bit_of_the_list_that_has_turned_is_told_or_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    put(dir.path(), &mut meta, &intervals(0, 100), 0, 0);
    meta.run.duration_ns = 1_234_567;
    meta.save(dir.path()).unwrap();
    let path = dir.path().join(META_FILE);
    let whole = std::fs::read(&path).unwrap();
    let mut told = 0;
    // Every third one: each place in a byte is met, and each byte.
    let bits = (0..whole.len() * 8).step_by(3);
    let all = bits.len();
    for bit in bits {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, bytes).unwrap();
        match Meta::load(dir.path()) {
            Ok(found) => assert_eq!(found, meta, "bit {bit}"),
            Err(_) => told += 1,
        }
    }
    // All but those of the first line, which is no fact of the run.
    assert!(told > all - 70, "{told} of {all}");
    // Another program may write it in its own form, and has no checksum then.
    let value: serde_json::Value = serde_json::from_slice(&whole).unwrap();
    std::fs::write(&path, serde_json::to_vec(&value).unwrap()).unwrap();
    assert_eq!(Meta::load(dir.path()).unwrap(), meta);
}

#[test]
fn a_bit_that_has_turned_is_told_or_was_not_needed() {
    let dir = tempfile::tempdir().unwrap();
    let mut meta = new_meta();
    put(dir.path(), &mut meta, &intervals(0, 100), 0, 0);
    meta.save(dir.path()).unwrap();
    let path = dir.path().join(INTERVALS.file(0, 0));
    let whole = std::fs::read(&path).unwrap();
    // All of it, and what lies in a span, for which bounds of pages are asked as well.
    let read = || {
        let archive = Archive::open(dir.path()).unwrap();
        let mut starts = Vec::new();
        let filter = Filter { column: "start", range: 200..400 };
        let scanned = archive.scan("intervals", &["start"], &[filter], |batch| starts.push(batch.clone()))?;
        scanned.damage.into_iter().next().map_or(Ok(()), Err)?;
        let starts: Vec<i64> = starts.iter().flat_map(|batch| batch.i64("start").unwrap().to_vec()).collect();
        Ok::<_, Error>((archive.table("intervals")?.columns().to_vec(), starts))
    };
    let expected = read().unwrap();
    let mut told = 0;
    for place in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place % 8);
        std::fs::write(&path, bytes).unwrap();
        match read() {
            Ok(found) => assert_eq!(found, expected, "at {place}"),
            Err(_) => told += 1,
        }
    }
    // Pages of columns with one value are not read: their bounds say it.
    assert!(told > whole.len() / 2, "{told} of {}", whole.len());
}

#[test]
fn damaged_files_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    small_archive(dir.path());
    forget_tails(dir.path());
    let packed = dir.path().join("packed.zip");
    pack(dir.path(), &packed).unwrap();
    let files = [INTERVALS.file(1, 0), REGIONS.file(0, 0), META_FILE.to_owned(), "packed.zip".to_owned()];
    for name in files {
        let path = dir.path().join(&name);
        let whole = std::fs::read(&path).unwrap();
        let target = if name == "packed.zip" { path.as_path() } else { dir.path() };
        for round in 0..240 {
            let mut bytes = whole.clone();
            match round % 4 {
                0 => bytes.truncate(scatter(round, whole.len())),
                1 => bytes[scatter(round, whole.len())] ^= 1 << (round / 4 % 8),
                // Near the end lie the index and the footer, where damage does the most.
                2 => bytes[whole.len() - 1 - scatter(round, whole.len().min(700))] ^= 1 << (round / 4 % 8),
                _ => {
                    let from = scatter(round, whole.len());
                    let to = whole.len().min(from + 40);
                    bytes[from..to].fill(u8::try_from(scatter(round + 1, 256)).unwrap());
                }
            }
            std::fs::write(&path, bytes).unwrap();
            read_all(target);
        }
        std::fs::write(&path, whole).unwrap();
    }
    let archive = Archive::open(dir.path()).unwrap();
    assert_eq!(archive.table("intervals").unwrap().len(), 40_500);
}

#[test]
fn the_documentation_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/archive.md");
    let text = schema::document();
    if std::env::var_os("MAREY_UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert!(there == text, "docs/archive.md is stale; MAREY_UPDATE_DOCS=1 renews it");
}
