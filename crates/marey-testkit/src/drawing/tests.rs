//! What a drawing can say, and how it is told that it says nothing.

use marey_analyze::{Happenings, Interval, Trace};
use marey_model::{Nanos, Role};

use super::Drawing;

const DRAWN: &str = "\
1 char = 10 ns
w   = source execute work solve
R r = mpi MPI_Recv transfer
S   = mpi MPI_Send transfer

a rank 0            | wwSS.
t thread 1 of rank 0|   ww
b rank 1            |wRRrrw
                    | w
";

fn intervals(drawing: &Drawing) -> Vec<Interval> {
    let mut all = Vec::new();
    for slab in 0..drawing.slabs().len() {
        drawing.intervals(slab, &mut |some| all.extend(some)).expect("a drawing can be read");
    }
    all
}

#[test]
fn rows_are_locations_and_runs_of_letters_intervals() {
    let drawing = Drawing::parse(DRAWN).expect("it is a drawing");
    let lives: Vec<_> =
        drawing.locations().iter().map(|at| (at.name.as_str(), at.start.0, at.end.0, at.thread.0)).collect();
    assert_eq!(lives, [("a", 10, 60, 0), ("t", 30, 50, 1), ("b", 0, 60, 0)]);
    assert_eq!(drawing.processes().len(), 2);
    assert_eq!(drawing.regions()[1].role, Role::Transfer);
    let visits: Vec<_> =
        intervals(&drawing).iter().map(|i| (i.location.0, i.start.0, i.end.0, i.depth)).collect();
    let expected = [
        (0, 10, 30, 0),
        (0, 30, 50, 0),
        (1, 30, 50, 0),
        (2, 0, 10, 0),
        (2, 10, 30, 0),
        (2, 10, 20, 1),
        (2, 30, 50, 0),
        (2, 50, 60, 0),
    ];
    assert_eq!(visits, expected);
}

#[test]
fn the_example_of_the_documentation_is_the_drawing_that_is_tested() {
    let source = include_str!("../drawing.rs");
    let example = source.lines().skip_while(|line| !line.ends_with("```text")).skip(1);
    let example =
        example.take_while(|line| !line.ends_with("```")).map(|line| line[3..].trim_start_matches(' '));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analyze/tests/drawn/example.txt");
    let drawn = std::fs::read_to_string(file).expect("the drawing is there");
    assert!(example.eq(drawn.lines().map(|line| line.trim_start_matches(' '))));
}

#[test]
fn letters_of_one_region_are_one_region() {
    let drawing = Drawing::parse(DRAWN).expect("it is a drawing");
    let all = intervals(&drawing);
    assert_eq!(all[4].call_path, all[6].call_path);
    let inner = drawing.call_paths()[all[5].call_path.idx()];
    assert_eq!(inner.parent, Some(all[4].call_path));
}

#[test]
fn slabs_hand_out_every_interval_once() {
    let drawing = Drawing::parse(DRAWN).expect("it is a drawing");
    let cut = drawing.clone().cut_every(Nanos(10));
    assert_eq!(cut.slabs().len(), 6);
    let order = |i: &Interval| (i.location, i.start, i.depth);
    let mut all = intervals(&cut);
    all.sort_by_key(order);
    assert_eq!(all, intervals(&drawing));
}

#[test]
fn what_is_expected_is_written_as_it_is_read() {
    let statements = "\
wait b [10, 30) late sender in R caused by a
completion b [30, 40)
delay a in w: 12.5 + 7.5
delay a outside: 5
delay t not started: 3
critical a [10, 30), b [30, 60)
before 10";
    let drawing = Drawing::parse(&format!("{DRAWN}{statements}\n")).expect("it is a drawing");
    assert_eq!(drawing.written(&drawing.expected), statements);
}

/// `expected` is the error of these lines behind the drawing.
fn check_error(lines: &str, expected: &str) {
    let wrong = Drawing::parse(&format!("{DRAWN}{lines}\n")).map(|_| ()).expect_err("it is no drawing");
    assert_eq!(wrong, expected, "{lines}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    check_error("message a:S1 b:R1", "line 10: a message is `CALL -> CALL`");
    check_error("message a:S2 -> b:R1", "line 10: there is no 2. interval of S on a");
    check_error("message a:S1 -> c:R1", "line 10: there is no location `c`");
    check_error("message a:S1 -> b:R1, posted b:r1", "line 10: an operation is completed before it is begun");
    check_error(
        "message a:S1 -> b:R1, posted a:S1",
        "line 10: an operation is begun on one location and completed on another",
    );
    check_error("gaps a:S1 5", "line 10: `gaps CALL NS of N` is meant");
    check_error("wake a@x -> b@1", "line 10: `x` is no time in ns");
    check_error("wake a.middle -> b@1", {
        "line 10: `a.middle` is no place: a@120, a.start, a.end, a:S1.start or a:S1.end is meant"
    });
    check_error("critical a [20, 20)", "line 10: `a [20, 20)` has no length");
    check_error("delay a in w/S: 3", "line 10: nothing that is drawn has the call path `w/S`");
    check_error(
        "delay a outside: 3\ndelay a outside: 4",
        "line 11: there is a line for this activity already",
    );
    check_error("sleep well", "line 10: `sleep well` is not understood");
}

#[test]
fn what_is_drawn_wrongly_is_said_with_its_line() {
    let check = |rows: &str, expected: &str| {
        let text = format!("1 char = 10 ns\nw = source execute work\nS = mpi MPI_Send transfer\n{rows}\n");
        let wrong = Drawing::parse(&text).map(|_| ()).expect_err("it is no drawing");
        assert_eq!(wrong, expected, "{rows}");
    };
    check("a rank 0|ww ww", "line 4: a blank within the life of a location; `.` is outside of all regions");
    check("a rank 0|wx", "line 4: `x` in column 2 is not in the legend");
    check("a rank 0|wwSS\n        | ww", {
        "line 5: `w` in column 2 does not lie within one interval of the row above"
    });
    check("a rank 0|ww\nb rank 1 |ww", "line 5: the bar is not below the one above");
    check("a rank 0|ww\na rank 1|ww", "line 5: there is a location `a` already");
    check("a rank 0|", "line 4: nothing is drawn");
    check(" |ww", "line 4: the first row has no name");
    check("S = mpi MPI_Ssend transfer", "line 4: `S` is in the legend twice");
    assert_eq!(
        Drawing::parse("a rank 0|..").map(|_| ()),
        Err("nothing says how long a character is: `1 char = N ns`".to_owned())
    );
}
