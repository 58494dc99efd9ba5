//! Merges a spool and says how long it took: `merge SPOOL RUN [THREADS [MIB]]`. Prints seconds, timed
//! records per second, and archived bytes per timed record.
#![expect(clippy::print_stdout, reason = "a bench program")]
#![expect(clippy::disallowed_methods, reason = "its own time is not measured time")]
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::path::PathBuf;

use marey_archive::merge::{Config, merge};

fn main() -> Result<(), marey_archive::Error> {
    let mut args = std::env::args().skip(1);
    let spool = PathBuf::from(args.next().expect("a spool directory is given"));
    let run = PathBuf::from(args.next().expect("a run directory is given"));
    let threads = args.next().and_then(|word| word.parse().ok());
    let mebibytes = args.next().and_then(|word| word.parse::<usize>().ok());
    let memory_bytes = mebibytes.map_or(Config::DEFAULT_MEMORY_BYTES, |number| number << 20);
    let config = Config { threads, memory_bytes, keep_spool: true };
    let before = std::time::Instant::now();
    let summary = merge(&spool, &run, &config, &())?;
    let seconds = before.elapsed().as_secs_f64();
    let meta = marey_archive::Archive::open(&run)?.meta().clone();
    let bytes: u64 = meta.tables.values().flatten().map(|part| part.bytes).sum();
    println!("{summary:?}");
    for (table, parts) in &meta.tables {
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        let rows: u64 = parts.iter().map(|part| part.rows).sum();
        if rows > 0 {
            println!("  {table}: {} parts, {rows} rows, {bytes} bytes", parts.len());
        }
    }
    let events = summary.events as f64;
    println!("seconds {seconds:.3}");
    println!("million_events_per_second {:.1}", events / seconds / 1e6);
    println!("million_messages_per_second {:.2}", summary.messages as f64 / seconds / 1e6);
    println!("archived_bytes_per_event {:.3}", bytes as f64 / events);
    Ok(())
}
