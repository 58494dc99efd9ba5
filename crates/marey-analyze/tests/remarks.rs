//! Remarks of compilers beside costs that a made-up run was made to have.

use marey_analyze::{
    CallPath, Frame, Location, LoopOutcome, OnPath, Process, ProfileRow, Region, RemarkRow, SampledRow,
    Trace, changed_loops, remarked, remarked_alone,
};
use marey_model::{LocationId, Nanos, StackId};
use marey_testkit::MadeUp;

const PERIOD: i64 = 1000;

/// A remark, or none, about a loop of `made_up.c`.
fn row(function: &str, (first_line, last_line): (u32, u32), outcome: LoopOutcome, kind: &str) -> RemarkRow {
    RemarkRow {
        file: "made_up.c".to_owned(),
        first_line,
        last_line,
        is_read: true,
        function: function.to_owned(),
        outcome,
        kind: kind.to_owned(),
        line: first_line,
        column: 0,
        compiler: "GCC".to_owned(),
        pass: String::new(),
        reason: String::new(),
        said: String::new(),
        dependence: String::new(),
        distance: -1,
        array: String::new(),
        is_array_of_text: false,
        lanes: 0,
        callee: String::new(),
        inlined_into: String::new(),
    }
}

/// Work in a loop of lines 10 to 30, in one within it of lines 12 to 15, and in a function that is called from line 20.
fn run() -> MadeUp {
    let mut run = MadeUp::new(1);
    run.sample(PERIOD);
    let rank = LocationId(0);
    for (frames, periods) in [
        (&[("main", 5)][..], 7),
        (&[("main", 13)], 8),
        (&[("main", 25)], 2),
        (&[("main", 20), ("part", 53)], 30),
    ] {
        run.compute_in(frames);
        run.pause(rank, periods * PERIOD);
    }
    run
}

#[test]
fn loops_have_the_time_of_their_own_lines_and_the_costliest_is_first() {
    let run = run();
    let not = LoopOutcome::NotVectorised;
    let why = RemarkRow {
        dependence: "carried".to_owned(),
        lanes: 8,
        ..row("main", (12, 15), not, "not vectorised")
    };
    let rows = [
        row("main", (10, 30), LoopOutcome::Silent, ""),
        row("main", (12, 15), not, "not vectorised"),
        why.clone(),
        row("part", (52, 58), not, "not vectorised"),
        row("part", (70, 80), LoopOutcome::Vectorised, "vectorised"),
    ];
    let found = remarked(&run, &rows, None);
    let told: Vec<(u32, i64, i64)> =
        found.loops.iter().map(|it| (it.at.first_line, it.own.time.0 / PERIOD, it.gain().0)).collect();
    // With four elements where nothing is told, three of four parts can be won; with eight, seven of eight.
    assert_eq!(told, [(52, 30, 22_500), (12, 8, 7_000), (10, 2, 1_500), (70, 0, 0)]);
    assert_eq!((found.whole.time.0 / PERIOD, found.path), (47, None));
    // What explains most comes first, and a loop without remarks has none.
    assert_eq!(found.loops[1].why(), Some(&why));
    assert_eq!((found.loops[1].remarks.len(), found.loops[2].remarks.len()), (2, 0));
    assert_eq!(found.loops[1].lanes(), (8, true));
    // On the path there was nothing but the loop within: it is first.
    let on_path: Vec<_> = run.samples().iter().filter(|row| row.time.0 == 8 * PERIOD).cloned().collect();
    assert_eq!(on_path.len(), 1);
    let found = remarked(&run, &rows, Some(OnPath { samples: &on_path, length: Nanos(9 * PERIOD) }));
    let first = &found.loops[0];
    assert_eq!((first.at.first_line, first.time().0, first.gain().0), (12, 8 * PERIOD, 7 * PERIOD));
    assert_eq!(found.loops[1].time(), Nanos(0));
    // And without a run nothing costs anything.
    assert!(remarked_alone(&rows).loops.iter().all(|it| it.own.samples == 0));
}

/// A run of which the two innermost functions of each stack are one frame of the machine.
struct Inlined(MadeUp);

impl Trace for Inlined {
    fn beneath(&self) -> Option<&dyn Trace> {
        Some(&self.0)
    }
    fn duration(&self) -> Nanos {
        self.0.duration()
    }
    fn regions(&self) -> &[Region] {
        self.0.regions()
    }
    fn call_paths(&self) -> &[CallPath] {
        self.0.call_paths()
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.0.stack(stack)
    }
    fn inlined_together(&self, _: StackId) -> usize {
        2
    }
    fn processes(&self) -> &[Process] {
        self.0.processes()
    }
    fn locations(&self) -> &[Location] {
        self.0.locations()
    }
    fn profile(&self) -> &[ProfileRow] {
        self.0.profile()
    }
    fn samples(&self) -> &[SampledRow] {
        self.0.samples()
    }
}

#[test]
fn what_was_inlined_into_a_loop_is_the_loops_own() {
    let rows = [
        row("main", (10, 30), LoopOutcome::NotVectorised, "not vectorised"),
        row("part", (52, 58), LoopOutcome::NotVectorised, "not vectorised"),
    ];
    // `part` from line 20 of `main`, in a loop of its own and outside of it; and a third function that is no part of them.
    let mut run = MadeUp::new(1);
    run.sample(PERIOD);
    for (frames, periods) in [
        (&[("main", 20), ("part", 53)][..], 30),
        (&[("main", 20), ("part", 40)], 4),
        (&[("main", 20), ("part", 40), ("third", 90)], 2),
    ] {
        run.compute_in(frames);
        run.pause(LocationId(0), periods * PERIOD);
    }
    let own = |trace: &dyn Trace| -> Vec<(u32, i64)> {
        let found = remarked(trace, &rows, None);
        let mut own: Vec<_> =
            found.loops.iter().map(|it| (it.at.first_line, it.own.time.0 / PERIOD)).collect();
        own.sort_unstable();
        own
    };
    assert_eq!(own(&run), [(10, 0), (52, 30)]);
    assert_eq!(own(&Inlined(run)), [(10, 4), (52, 30)]);
}

#[test]
fn a_call_that_was_not_inlined_has_what_was_done_in_it() {
    let run = run();
    let call = |line, callee: &str| RemarkRow {
        line,
        callee: callee.to_owned(),
        ..row("main", (10, 30), LoopOutcome::Silent, "not inlined")
    };
    let rows = [call(20, "ns::part<int>"), call(20, "other"), call(21, "part")];
    let found = remarked(&run, &rows, None);
    let told: Vec<(&str, i64)> =
        found.calls.iter().map(|call| (call.at.callee.as_str(), call.inclusive.time.0 / PERIOD)).collect();
    assert_eq!(told, [("ns::part<int>", 30)]);
    // As GCC names it: with its type and arguments, or with what its copy is for.
    for callee in ["void part(std::vector<float>&)", "part.constprop"] {
        let rows = [call(20, callee)];
        assert_eq!(remarked(&run, &rows, None).calls.len(), 1, "{callee}");
    }
    // Two of one last name on a line: it is the one that is named so.
    let rows = [call(20, "other::part(int)"), call(20, "part(int)")];
    let found = remarked(&run, &rows, None);
    let told: Vec<&str> = found.calls.iter().map(|call| call.at.callee.as_str()).collect();
    assert_eq!(told, ["part(int)"]);
}

#[test]
fn loops_are_known_again_by_function_and_place_among_its_loops() {
    use LoopOutcome::{Both, NotVectorised, Silent, Vectorised};
    let of = |rows: &[(&str, (u32, u32), LoopOutcome)]| -> Vec<RemarkRow> {
        rows.iter().map(|(function, lines, outcome)| row(function, *lines, *outcome, "")).collect()
    };
    let old = of(&[
        ("f", (10, 12), NotVectorised),
        ("f", (20, 22), Vectorised),
        ("g", (30, 32), NotVectorised),
        ("h", (40, 42), NotVectorised),
        ("k", (50, 52), Vectorised),
        ("m", (60, 62), Silent),
    ]);
    let new = of(&[
        ("f", (11, 13), Vectorised),
        ("f", (21, 23), Both),
        // A loop more: which is which is not guessed.
        ("g", (31, 32), Vectorised),
        ("g", (35, 36), NotVectorised),
        ("h", (44, 46), NotVectorised),
        ("m", (60, 62), Vectorised),
    ]);
    let (old, new) = (remarked_alone(&old), remarked_alone(&new));
    let changes = changed_loops(&old, &new);
    let told: Vec<(u32, u32, bool)> =
        changes.iter().map(|it| (it.old.at.first_line, it.new.at.first_line, it.is_gain())).collect();
    assert_eq!(told, [(10, 11, true), (20, 21, false)]);
}

#[test]
fn of_files_with_one_name_each_is_compared_with_itself_or_none() {
    use LoopOutcome::{NotVectorised, Vectorised};
    type Row<'r> = (&'r str, (u32, u32), LoopOutcome);
    let of = |rows: &[Row<'_>]| -> Vec<RemarkRow> {
        let row = |(file, lines, outcome): &Row<'_>| RemarkRow {
            file: (*file).to_owned(),
            ..row("step", *lines, *outcome, "")
        };
        rows.iter().map(row).collect()
    };
    let told = |old: &[Row<'_>], new: &[Row<'_>]| -> Vec<(String, String)> {
        let (old, new) = (of(old), of(new));
        let (old, new) = (remarked_alone(&old), remarked_alone(&new));
        let changes = changed_loops(&old, &new);
        changes.iter().map(|it| (it.old.at.file.clone(), it.new.at.file.clone())).collect()
    };
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    let (x, y) = (("/p/x/k.c", (2, 3), NotVectorised), ("/p/y/k.c", (2, 3), Vectorised));
    // One program, whichever of both took more time.
    assert_eq!(told(&[x, y], &[y, x]), []);
    // Of each run one of both was read.
    assert_eq!(told(&[x, ("/p/m.c", (5, 6), Vectorised)], &[y, ("/p/m.c", (5, 6), Vectorised)]), []);
    // Built elsewhere; the one that changed is told.
    let (x2, y2) = (("/q/b/x/k.c", (3, 4), Vectorised), ("/q/b/y/k.c", (2, 3), Vectorised));
    assert_eq!(told(&[x, y], &[x2, y2]), [pair("/p/x/k.c", "/q/b/x/k.c")]);
    // Alone in its directory, which is another one now.
    assert_eq!(told(&[x], &[("/q/k.c", (2, 3), Vectorised)]), [pair("/p/x/k.c", "/q/k.c")]);
    // Two that one may be.
    assert_eq!(told(&[("/p/k.c", (2, 3), NotVectorised)], &[x2, y2]), []);
}
