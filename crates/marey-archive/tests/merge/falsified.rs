//! Runs of which one value in one row is another, in files that are sound: whatever is asked of them, an answer comes or an
//! error, and no panic.
//!
//! The one idea: every column of every table that has rows is made wrong once in its first and once in its last row, with
//! numbers that are too small, too large, or look right and lead nowhere.

use marey_analyze::what_if::{Change, Limits};
use marey_analyze::{
    Excerpt, Method, Selection, SituationRules, Span, anomalies, causes, causes_within, granularity, phases,
    short_regions, situations, slack, what_if,
};
use marey_archive::schema::TABLES;
use marey_archive::{Archive, Column, Columns, Events, Part, PartWriter, RunTrace, prepare, prepared};
use marey_model::Nanos;
use marey_model::spool::Record;
use marey_testkit::Spool;

use super::{Merged, call, merged, message};

/// Two ranks that wait for each other in messages, operations and a barrier of threads, again and again.
fn run() -> Merged {
    let mut spool = Spool::world(2);
    for n in 0..6 {
        let at = 1000 * n;
        call(&mut spool.processes[0], 0, "MPI_Send", at + 400, at + 420, |p| p.send(0, message(1, 5)));
        call(&mut spool.processes[1], 0, "MPI_Recv", at + 5, at + 430, |p| p.receive(0, message(0, 5)));
        for (rank, process) in (0..).zip(&mut spool.processes) {
            let enter = at + 500 + 100 * rank;
            call(process, 0, "MPI_Barrier", enter, at + 700, |p| p.collective(0, 0, -1, 0, 0));
            call(process, 0, "MPI_Bcast", enter + 250, at + 900, |p| p.collective(0, 1, 0, 64, 64));
        }
    }
    for process in &mut spool.processes {
        let main = process.site(0, "main");
        process.enter(1, main, 6100);
        process.untimed(1, Record::Edge { kind: 0, thread: 0, back: 15, noun: 0 });
        process.leave(1, 6200);
        process.end = Some(7000);
    }
    merged(&spool)
}

/// The column with another value in one row, if there is one for which it is a matter of numbers.
fn falsified(column: &Column, row: usize, number: i64) -> Option<Column> {
    let mut column = column.clone();
    match &mut column {
        Column::U32(values) => values[row] = u32::try_from(number).ok().unwrap_or(u32::MAX - 1),
        Column::I64(values) => values[row] = number,
        Column::F64(values) => values[row] = f64::from_bits(number.cast_unsigned()),
        Column::Text(_) => return None,
    }
    Some(column)
}

/// Asks all there is to ask, and says whether causes were found.
fn read_all(path: &std::path::Path) -> bool {
    let Ok(archive) = Archive::open(path) else { return false };
    let Ok(trace) = RunTrace::load(&archive) else { return false };
    short_regions(&trace, 10.0);
    let of_old = prepared(&archive, &trace);
    let Ok(events) = Events::open(&archive, &trace) else { return false };
    let span = Span { from: Nanos(1000), to: Nanos(3500) };
    let part = Selection { span, ..Selection::default() };
    // What cannot be read is said; here it only counts that it is.
    drop(Excerpt::new(&trace, &events, &part));
    let loops = phases(&trace, &events).map_or_else(|_| Vec::new(), |phases| phases.loops);
    let found = causes(&trace, &events);
    let whether = found.is_ok();
    let limits = Limits::default();
    for found in found.into_iter().chain(of_old) {
        for method in [Method::Normal, Method::Robust] {
            drop(anomalies(&trace, &events, &found.waits, loops.first(), (method, 1.0)));
        }
        drop(granularity(&trace, &events, &found, 10.0));
        drop(situations(&trace, &events, &found, &SituationRules::default()));
        drop(what_if(&trace, &events, &found, &Change::default(), &limits));
        drop(slack(&trace, &events, &found, &limits));
        marey_analyze::efficiency(&trace, &found);
        drop(causes_within(&trace, &events, &part, found));
    }
    whether
}

#[test]
fn one_wrong_value_is_no_panic() {
    let run = run();
    prepare(&run.path()).unwrap();
    assert!(read_all(&run.path()), "as it is, it is sound");
    let archive = Archive::open(&run.path()).unwrap();
    let (mut n_read, mut n_found) = (0, 0);
    for spec in TABLES.iter().filter(|spec| !archive.parts(spec.name).is_empty()) {
        let part = &archive.parts(spec.name)[0];
        let path = run.path().join(&part.file);
        let (sound, mut rows) = (std::fs::read(&path).unwrap(), Columns::new(spec));
        let names: Vec<&str> = spec.columns.iter().map(|column| column.name).collect();
        let scanned = archive.scan(spec.name, &names, &[], |batch| {
            if rows.is_empty() {
                rows = batch.clone();
            }
        });
        assert!(scanned.unwrap().damage.is_empty());
        if rows.is_empty() {
            continue;
        }
        for (idx, row) in (0..rows.columns().len()).flat_map(|idx| [(idx, 0), (idx, rows.len().max(1) - 1)]) {
            for number in [-1, 1 << 20, 1 << 40, i64::MIN, i64::MAX] {
                let mut columns = rows.columns().to_vec();
                let Some(wrong) = falsified(&columns[idx], row, number).filter(|_| !rows.is_empty()) else {
                    continue;
                };
                columns[idx] = wrong;
                let mut writer = PartWriter::create(&path, spec).unwrap();
                writer.write(&Columns::from_columns(spec, columns).unwrap()).unwrap();
                let part = Part::new(spec, part.slab, part.group, writer.finish().unwrap());
                let mut meta = archive.meta().clone();
                meta.add(spec, part);
                meta.save(&run.path()).unwrap();
                let name = format!("{}.{} = {number}", spec.name, spec.columns[idx].name);
                let found = std::panic::catch_unwind(|| read_all(&run.path()));
                let found = found.unwrap_or_else(|_| panic!("{name} in row {row}"));
                (n_read, n_found) = (n_read + 1, n_found + u32::from(found));
            }
        }
        std::fs::write(&path, sound).unwrap();
        archive.meta().save(&run.path()).unwrap();
    }
    assert!(500 < n_read && 100 < n_found && n_found < n_read, "{n_read} {n_found}");
}
