//! Answers about made-up runs, against what a slow and obvious count of the intervals says.
//!
//! The runs have tens of thousands of visits, from some ns to a good part of the run, on several levels and depths, so
//! that windows of any size are answered: from prepared buckets, from visits, and from both side by side.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod annotations;
mod causes;
mod compare;
mod counters;
mod decoded;
mod events;
mod exported;
mod histogram;
mod operations;
mod overlaps;
mod pictures;
mod reduced;
mod refused;
mod remarks;
mod sections;
mod sentences;
mod source;
mod sums;
mod traffic;
mod visits;

use std::collections::{BTreeMap, BTreeSet};

use marey_archive::merge::{Config, merge};
use marey_archive::{Archive, Column, Columns, Part, PartWriter, schema};
use marey_serve::Opened;
use marey_testkit::{Chance, Spool};

/// A visit as the table has it.
#[derive(Clone, Copy, Debug)]
struct Row {
    location: u32,
    start: i64,
    end: i64,
    region: u32,
    path: u32,
    level: u32,
    depth: u32,
}

/// A run on disk, and all of its visits.
struct Made {
    dir: tempfile::TempDir,
    archive: &'static Archive,
    rows: Vec<Row>,
}

impl Made {
    fn of(spool: &Spool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        spool.write(&dir.path().join("spool")).unwrap();
        let config = Config { threads: Some(2), memory_bytes: 1, keep_spool: false };
        merge(&dir.path().join("spool"), &dir.path().join("run"), &config, &()).unwrap();
        let archive = Box::leak(Box::new(Archive::open(&dir.path().join("run")).unwrap()));
        let rows = rows(archive);
        Self { dir, archive, rows }
    }

    /// Four ranks, one of which has little to do.
    fn random(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let mut spool = Spool::world(4);
        for (rank, process) in (0_u64..).zip(&mut spool.processes) {
            let visits = if rank == 3 { 300 } else { 9000 };
            let mut now = 100 + chance.below(1000);
            let mut depth = 0;
            for _ in 0..visits {
                // Lengths from some ns to some hundred µs.
                let mut step = || {
                    let bits = 2 + chance.below(16);
                    1 + chance.below(1 << bits)
                };
                let (level, verb) = match (depth, step() % 3) {
                    (0..=3, 0) => (0, format!("work{}", step() % 9)),
                    _ => (1, ["MPI_Send", "MPI_Recv", "MPI_Wait"][(step() % 3) as usize].to_owned()),
                };
                now += step();
                let site = process.site(level, &verb);
                process.enter(0, site, now);
                depth += 1;
                now += step();
                while depth > 0 && (level == 1 || step() % 2 == 0) {
                    process.leave(0, now);
                    depth -= 1;
                    now += step();
                    if step() % 4 > 0 {
                        break;
                    }
                }
                if depth > 4 {
                    process.leave(0, now);
                    depth -= 1;
                }
            }
            for _ in 0..depth {
                process.leave(0, now);
                now += 10;
            }
            process.end = Some(now + 10);
        }
        Self::of(&spool)
    }

    /// The same run with a table in parts, as if it had been long enough to be cut: `slab` says in which a row is.
    fn in_slabs(self, table: &str, slab: impl Fn(usize) -> u32) -> Self {
        let (rows, spec) = (self.archive.table(table).unwrap(), schema::table(table).unwrap());
        let run = self.dir.path().join("run");
        let mut meta = self.archive.meta().clone();
        let slabs: BTreeSet<u32> = (0..rows.len()).map(&slab).collect();
        for number in slabs {
            let kept: Vec<usize> = (0..rows.len()).filter(|row| slab(*row) == number).collect();
            let columns = rows.columns().iter().map(|column| match column {
                Column::U32(values) => Column::U32(kept.iter().map(|row| values[*row]).collect()),
                Column::I64(values) => Column::I64(kept.iter().map(|row| values[*row]).collect()),
                Column::F64(values) => Column::F64(kept.iter().map(|row| values[*row]).collect()),
                Column::Text(values) => Column::Text(kept.iter().map(|row| values[*row].clone()).collect()),
            });
            let columns = Columns::from_columns(spec, columns.collect()).unwrap();
            let mut writer = PartWriter::create(&run.join(spec.file(number, 0)), spec).unwrap();
            writer.write(&columns).unwrap();
            meta.add(spec, Part::new(spec, number, 0, writer.finish().unwrap()));
        }
        meta.save(&run).unwrap();
        Self { archive: Box::leak(Box::new(Archive::open(&run).unwrap())), ..self }
    }

    fn open(&self) -> Opened<'static> {
        Opened::new(self.archive, "made", Vec::new).unwrap()
    }
}

/// Intervals with level and depth in it, counted along each call path.
fn rows(archive: &Archive) -> Vec<Row> {
    const NONE: u32 = u32::MAX;
    let (paths, regions) = (archive.table("call_paths").unwrap(), archive.table("regions").unwrap());
    let (parents, of_path) = (paths.u32("parent").unwrap(), paths.u32("region").unwrap());
    let level_of = |path: u32| regions.u32("level_id").unwrap()[of_path[path as usize] as usize];
    let depth_of = |path: u32| {
        let (mut above, mut depth) = (parents[path as usize], 0);
        while above != NONE {
            depth += u32::from(level_of(above) == level_of(path));
            above = parents[above as usize];
        }
        depth
    };
    let table = archive.table("intervals").unwrap();
    let row = |row: usize| {
        let path = table.u32("call_path").unwrap()[row];
        let start = table.i64("start").unwrap()[row];
        Row {
            location: table.u32("location").unwrap()[row],
            start,
            end: start + table.i64("duration").unwrap()[row],
            region: of_path[path as usize],
            path,
            level: level_of(path),
            depth: depth_of(path),
        }
    };
    (0..table.len()).map(row).collect()
}

/// Time by (location, level, depth) and region in a span.
type Times = BTreeMap<((u32, u32, u32), u32), f64>;

/// That, counted slowly.
#[expect(clippy::cast_precision_loss, reason = "made-up runs are short")]
fn counted(rows: &[Row], (from, to): (i64, i64)) -> Times {
    let mut times = Times::new();
    for row in rows {
        let inside = row.end.min(to) - row.start.max(from);
        if inside > 0 {
            *times.entry(((row.location, row.level, row.depth), row.region)).or_default() += inside as f64;
        }
    }
    times
}
