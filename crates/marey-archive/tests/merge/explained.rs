//! What a merge prepares of what explains a run comes back as it was, or not at all.

use marey_analyze::{Causes, Happenings, causes};
use marey_archive::corrections::Corrections;
use marey_archive::schema::{self, ColumnSpec, Kind, TableSpec};
use marey_archive::{Archive, Columns, Events, Meta, Part, RunTrace, Value, prepare, prepared, write_table};
use marey_testkit::Spool;

use super::{Merged, NONE, call, merged, message};

/// Rank 1 waits for a message twice, in different calls, and rank 0 for the last rank to come to a barrier.
fn run() -> Merged {
    let mut spool = Spool::world(3);
    for n in 0..2 {
        call(&mut spool.processes[0], 0, "MPI_Send", 1000 * n + 400, 1000 * n + 420, |p| {
            p.send(0, message(1, 5))
        });
        let verb = ["MPI_Recv", "MPI_Mrecv"][usize::try_from(n).unwrap()];
        call(&mut spool.processes[1], 0, verb, 1000 * n + 5, 1000 * n + 430, |p| p.receive(0, message(0, 5)));
    }
    for process in &mut spool.processes {
        process.end = Some(5000);
    }
    let merged = merged(&spool);
    prepare(&merged.path()).unwrap();
    merged
}

fn found(archive: &Archive) -> (Option<Causes>, Causes) {
    let trace = RunTrace::load(archive).unwrap();
    let events = Events::open(archive, &trace).unwrap();
    (prepared(archive, &trace), causes(&trace, &events).unwrap())
}

#[test]
fn what_was_prepared_is_what_events_give() {
    let run = run();
    let (prepared, causes) = found(&Archive::open(&run.path()).unwrap());
    assert_eq!(causes.waits.list.len(), 2);
    assert!(!causes.delays.rows.is_empty() && !causes.delays.effects.is_empty() && !causes.times.is_empty());
    assert_eq!(prepared, Some(causes));
}

#[test]
fn a_run_of_which_nothing_was_prepared_is_whole() {
    let mut spool = Spool::world(2);
    spool.processes[0].end = Some(10);
    assert_eq!(found(&merged(&spool).archive).0, None);
}

#[test]
fn corrections_of_clocks_make_it_stale() {
    let run = run();
    let offsets = [(1, 7)].into();
    let corrections = Corrections { version: 1, offsets, ..Corrections::default() };
    corrections.save(&run.path()).unwrap();
    let (prepared, causes) = found(&Archive::open(&run.path()).unwrap());
    assert_eq!(prepared, None);
    // Rank 1 began and ended its calls 7 ns later than it was merged, and no message came later.
    assert_eq!(causes.waits.list[0].from.0, 12);
}

/// Puts other rows into a table.
fn replace(run: &Merged, spec: &'static TableSpec, row: &[Value<'_>]) {
    let mut columns = Columns::new(spec);
    columns.push(row).unwrap();
    let mut meta = Meta::load(&run.path()).unwrap();
    meta.add(spec, Part::new(spec, 0, 0, write_table(&run.path(), &columns).unwrap()));
    meta.save(&run.path()).unwrap();
}

#[test]
fn what_makes_no_sense_is_found_again() {
    let wait_on = |communicator, (location, start, duration, path, pattern, cause)| {
        let at = [Value::U32(location), Value::I64(start), Value::I64(duration)];
        let end = [Value::U32(path), Value::Text(pattern), Value::U32(cause)];
        [&at[..], &end, &[Value::U32(0), Value::U32(communicator)]].concat()
    };
    let wait = |location, start, duration, path, pattern, cause| {
        wait_on(NONE, (location, start, duration, path, pattern, cause))
    };
    let right = wait(1, 5, 395, 0, "late sender", 0);
    let wrong: [(&'static TableSpec, Vec<Value<'_>>); 9] = [
        (&schema::WAITS, wait(9, 5, 395, 0, "late sender", 0)),
        (&schema::WAITS, wait(1, 5, 395, 77, "late sender", 0)),
        (&schema::WAITS, wait(1, 5, 395, 0, "late comer", 0)),
        (&schema::WAITS, wait(1, 5, 395, 0, "late sender", 9)),
        (&schema::WAITS, wait_on(99, (1, 5, 395, 0, "late sender", 0))),
        (&schema::WAITS, wait(1, i64::MAX, 395, 0, "late sender", 0)),
        (
            &schema::ACTIVITIES,
            [&[Value::U32(0), Value::Text("asleep"), Value::U32(0)][..], &[Value::I64(1); 5]].concat(),
        ),
        (&schema::IDEAL_NETWORK, [&[Value::U32(0)][..], &[Value::I64(0); 4]].concat()),
        (&schema::EXPLANATION, [&[Value::I64(0); 6][..], &[Value::F64(0.0), Value::I64(0)]].concat()),
    ];
    let altered = run();
    replace(&altered, &schema::WAITS, &right);
    let (prepared, _) = found(&Archive::open(&altered.path()).unwrap());
    assert_eq!(prepared.unwrap().waits.list.len(), 1, "what makes sense is taken as it stands");
    for (spec, row) in wrong {
        let run = run();
        replace(&run, spec, &row);
        let (prepared, causes) = found(&Archive::open(&run.path()).unwrap());
        assert!(prepared.is_none(), "{row:?}");
        assert_eq!(causes.waits.list.len(), 2);
    }
}

/// A row of which all is 0 but what is named; of what can be of several kinds, one that synchronises two or all.
fn row(spec: &'static TableSpec, named: &[(&str, i64)]) -> Vec<Value<'static>> {
    let kind = if spec.name == "rma" { "fence" } else { "wake" };
    let value = |column: &ColumnSpec| {
        let value = named.iter().find(|(name, _)| *name == column.name).map_or(0, |it| it.1);
        match column.kind {
            Kind::U32 => Value::U32(u32::try_from(value).unwrap()),
            Kind::I64 => Value::I64(value),
            Kind::F64 => Value::F64(0.0),
            Kind::Text => Value::Text(if column.name == "kind" { kind } else { "" }),
        }
    };
    spec.columns.iter().map(value).collect()
}

/// The run takes 5000 ns and has events of 2 locations. Ids of a row may be right though a bit of its times has tipped over: that is no
/// visit of 18 minutes. So may times though a bit of an id has.
#[test]
fn what_cannot_have_happened_is_not_believed() {
    const TIPPED: i64 = 1 << 40;
    type Case = (&'static TableSpec, &'static [(&'static str, i64)], bool);
    let cases: [Case; 22] = [
        (&schema::INTERVALS, &[("start", 10), ("duration", 4990)], true),
        (&schema::INTERVALS, &[("start", 10), ("duration", 4990 + TIPPED)], false),
        (&schema::INTERVALS, &[("start", 10 - TIPPED), ("duration", 4990)], false),
        (&schema::INTERVALS, &[("start", 10), ("duration", -1)], false),
        (
            &schema::MESSAGES,
            &[
                ("send_time", 10),
                ("send_start", 10),
                ("send_end", 20),
                ("recv_start", 10),
                ("recv_time", 20),
                ("recv_post", 10),
            ],
            true,
        ),
        (&schema::MESSAGES, &[("recv_start", 10), ("recv_time", 20 + TIPPED)], false),
        (&schema::MESSAGES, &[("send_time", 10 + TIPPED), ("recv_start", 10), ("recv_time", 20)], false),
        (&schema::COLLECTIVES, &[("enter", 10), ("start", 10), ("leave", 20)], true),
        (&schema::COLLECTIVES, &[("enter", 10), ("start", 10), ("leave", 20 + TIPPED)], false),
        (&schema::INTERVALS, &[("location", 2), ("start", 10), ("duration", 4990)], false),
        (&schema::MESSAGES, &[("send_location", 2), ("recv_start", 10), ("recv_time", 20)], false),
        (&schema::MESSAGES, &[("recv_location", 2), ("recv_start", 10), ("recv_time", 20)], false),
        (&schema::COLLECTIVES, &[("location", 2), ("enter", 10), ("start", 10), ("leave", 20)], false),
        (&schema::EDGES, &[("from_time", 10), ("to_location", 1), ("to_time", 5000)], true),
        (&schema::EDGES, &[("from_time", 10), ("to_location", 2), ("to_time", 5000)], false),
        (&schema::EDGES, &[("from_time", 10), ("from_location", 2), ("to_time", 5000)], false),
        (&schema::EDGES, &[("from_time", 10), ("to_location", 1), ("to_time", 10 + TIPPED)], false),
        (&schema::EDGES, &[("from_time", 10 - TIPPED), ("to_location", 1), ("to_time", 10)], false),
        (&schema::RMA, &[("location", 1), ("time", 10), ("leave", -1)], true),
        (&schema::RMA, &[("location", 2), ("time", 10), ("leave", 20)], false),
        (&schema::RMA, &[("location", 1), ("time", 10 + TIPPED), ("leave", 20 + TIPPED)], false),
        (&schema::RMA, &[("location", 1), ("time", 10), ("leave", 20 + TIPPED)], false),
    ];
    for (spec, named, is_right) in cases {
        let run = run();
        replace(&run, spec, &row(spec, named));
        let archive = Archive::open(&run.path()).unwrap();
        let trace = RunTrace::load(&archive).unwrap();
        let read = Events::open(&archive, &trace).map_err(|error| error.to_string()).and_then(|events| {
            let mut seen = 0;
            let whole = match spec.name {
                "intervals" => (0..events.slabs().len())
                    .try_for_each(|slab| events.intervals(slab, &mut |batch| seen += batch.len())),
                "messages" => events.messages(&mut |batch| seen += batch.len()),
                "edges" => events.edges(&mut |batch| seen += batch.len()),
                _ => events.members(&mut |batch| seen += batch.len()),
            };
            assert_eq!(seen > 0, is_right, "{named:?}");
            whole.map_err(|unread| unread.to_string())
        });
        match read {
            Ok(()) => assert!(is_right, "{named:?}"),
            Err(error) => assert!(!is_right && error.contains("outside of the run"), "{named:?}: {error}"),
        }
    }
}
