//! How fast intervals are written to a part, how small they become, and how fast they are read.
//!
//! The workload: 20 M intervals of one location, gaps of 1–5 µs, 50 call paths, depth 1–2; on one
//! thread. Give another number of rows as the argument. Prints the median of five rounds.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "the time measured is that of marey itself")]

use std::time::Instant;

use marey_archive::schema::{INTERVALS, NONE};
use marey_archive::{Archive, Column, Columns, Error, Filter, Meta, Part, PartStats, PartWriter, RunFacts};

const BATCH_ROWS: usize = 1 << 16;

fn main() -> Result<(), Error> {
    let rows = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(20_000_000);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    let mut meta = Meta::new(RunFacts::default());
    let batches = intervals(rows);
    let mut stats = PartStats::default();
    let path = dir.path().join(INTERVALS.file(0, 0));
    let seconds = median(|| {
        let mut writer = PartWriter::create(&path, &INTERVALS)?;
        for batch in &batches {
            writer.write(batch)?;
        }
        stats = writer.finish()?;
        Ok(())
    })?;
    let million = stats.rows as f64 / 1e6;
    let size = stats.bytes as f64 / stats.rows as f64;
    println!("write intervals: {:.1} M rows/s, {size:.2} bytes a row", million / seconds);

    meta.add(&INTERVALS, Part::new(&INTERVALS, 0, 0, stats));
    meta.save(dir.path())?;
    let archive = Archive::open(dir.path())?;
    let columns: Vec<&str> = INTERVALS.columns.iter().map(|column| column.name).collect();
    let mut sum = 0;
    let mut scan = |filters: &[Filter<'_>]| {
        let add = |batch: &Columns| sum += batch.len();
        archive.scan("intervals", &columns, filters, add).map(|scanned| assert!(scanned.damage.is_empty()))
    };
    let seconds = median(|| scan(&[]))?;
    println!("scan all columns: {:.1} M rows/s", million / seconds);
    // About 16 k rows from the middle of the run.
    let middle = i64::try_from(rows).expect("rows fit") * 3_000 / 2;
    let window = Filter { column: "start", range: middle..middle + 16_384 * 3_000 };
    let seconds = median(|| scan(std::slice::from_ref(&window)))?;
    println!("window of 16 k rows, opening the part included: {:.2} ms", seconds * 1e3);
    Ok(())
}

/// The median of five rounds, seconds.
fn median(mut round: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        round()?;
        seconds.push(began.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(seconds[2])
}

/// Synthetic intervals in batches, the same at each call.
fn intervals(rows: usize) -> Vec<Columns> {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) % below
    };
    let mut time = 0;
    let mut batches = Vec::new();
    let mut left = rows;
    while left > 0 {
        let rows = left.min(BATCH_ROWS);
        left -= rows;
        let mut start = Vec::with_capacity(rows);
        let mut duration = Vec::with_capacity(rows);
        let mut call_path = Vec::with_capacity(rows);
        let mut depth = Vec::with_capacity(rows);
        for _ in 0..rows {
            time += 1_000 + next(4_000).cast_signed();
            start.push(time);
            duration.push(100 + next(4_000).cast_signed());
            call_path.push(u32::try_from(next(50)).expect("below 50"));
            depth.push(1 + u32::try_from(next(2)).expect("below 2"));
        }
        let columns = vec![
            Column::U32(vec![3; rows]),
            Column::I64(start),
            Column::I64(duration),
            Column::U32(call_path),
            Column::U32(depth),
            Column::U32(vec![NONE; rows]),
            Column::I64(vec![-1; rows]),
        ];
        batches.push(Columns::from_columns(&INTERVALS, columns).expect("columns follow the table"));
    }
    batches
}
