//! How fast intervals are written to a part and how small they become.
//!
//! The workload: 20 M intervals of one location, gaps of 1–5 µs, 50 call paths, depth 1–2. Prints
//! one line; give another number of rows as the argument.
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_methods, reason = "the time measured is that of marey itself")]

use std::time::Instant;

use marey_archive::schema::{INTERVALS, NONE};
use marey_archive::{Column, Columns, Error, PartWriter};

const BATCH_ROWS: usize = 1 << 16;

fn main() -> Result<(), Error> {
    let rows = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(20_000_000);
    let batches = intervals(rows);
    let dir = tempfile::tempdir().expect("a temporary directory can be made");
    for round in 0..3 {
        let path = dir.path().join(format!("{round}.parquet"));
        let began = Instant::now();
        let mut writer = PartWriter::create(&path, &INTERVALS)?;
        for batch in &batches {
            writer.write(batch)?;
        }
        let stats = writer.finish()?;
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "write intervals: {:.1} M rows/s, {:.2} bytes a row",
            stats.rows as f64 / seconds / 1e6,
            stats.bytes as f64 / stats.rows as f64
        );
    }
    Ok(())
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
