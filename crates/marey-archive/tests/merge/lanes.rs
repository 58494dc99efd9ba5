//! What was told of a lane later than it happened: a span gets its lane when it is gone on with, and has been there before.

use marey_model::spool::{Definition, Record};
use marey_testkit::{Process, Spool};

use super::slabs::long_run;
use super::{config, merged, merged_with};

/// Says so many ticks after it that a region was entered or left on lane 5.
fn earlier(process: &mut Process, site: u32, back: u64, is_enter: bool) {
    process.untimed(0, Record::LaneEarlier { lane: 5, site, back, is_enter });
}

#[test]
fn what_is_told_later_stands_where_it_happened() {
    let mut process = Process::new(7);
    process.definitions.push(Definition::Lane { id: 5, name: "span 1".to_owned(), ticks: 90 });
    let [work, live, run] = ["work", "live", "run"].map(|name| process.site(0, name));
    process.enter(0, work, 80);
    process.leave(0, 100);
    earlier(&mut process, live, 90, true);
    earlier(&mut process, run, 80, true);
    earlier(&mut process, run, 60, false);
    process.timed(0, 110, |delta| Record::LaneEnter { lane: 5, site: run, delta });
    process.timed(0, 120, |delta| Record::LaneLeave { lane: 5, site: run, delta });
    process.timed(0, 150, |delta| Record::LaneLeave { lane: 5, site: live, delta });
    // Of a lane that is not defined nothing is known.
    process.untimed(0, Record::LaneEarlier { lane: 6, site: live, back: 10, is_enter: true });
    process.end = Some(200);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(
        merged.intervals(),
        ["0 work 80+20", "1 live 10+140", "1 live/run 20+20", "1 live/run 110+10"]
    );
    assert_eq!(merged.profile()["live"], (1, 140, 110));
    assert_eq!(merged.table("locations").i64("start").unwrap()[1], 10);
}

/// What has been written stays: a life goes through all slabs since it began, a stretch in one that is over is without
/// length.
#[test]
fn what_is_told_later_than_its_slab_is_written_is_not_lost() {
    let mut spool = long_run();
    let process = &mut spool.processes[0];
    process.definitions.push(Definition::Lane { id: 5, name: "span 1".to_owned(), ticks: 60_999_000 });
    let (live, run) = (process.site(0, "live"), process.site(0, "run"));
    let last = 61_000_000;
    earlier(process, live, last - 1_000, true);
    earlier(process, run, last - 2_000, true);
    earlier(process, run, last - 3_000, false);
    process.timed(0, last + 10, |delta| Record::LaneEnter { lane: 5, site: run, delta });
    process.timed(0, last + 30, |delta| Record::LaneLeave { lane: 5, site: run, delta });
    process.timed(0, last + 50, |delta| Record::LaneLeave { lane: 5, site: live, delta });
    let merged = merged_with(&spool, &config(2, 1));
    let slabs = merged.archive.meta().counts["slabs"];
    assert!(slabs > 1);
    let profile = merged.profile();
    let life = last + 50 - 1_000;
    assert_eq!(profile["live"], (1, life.cast_signed(), life.cast_signed() - 20));
    assert_eq!(profile["live/run"], (2, 20, 20));
    // Whoever looks at a slab sees that it is there.
    let snapshots = merged.table("snapshots");
    let lives = snapshots.i64("start").unwrap().iter().filter(|start| **start == 1_000).count() as u64;
    assert_eq!(lives, slabs - 1);
    assert_eq!(merged.summary.problems, []);
}
