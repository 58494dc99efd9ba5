//! Slack: what is drawn, and what a slow replay says of a run of which one piece takes longer.
//!
//! The one idea: whatever slack is said to be, a replay of the run with that much more must be as long as the run, and with
//! one nanosecond more longer. The replay is the slow one, which knows nothing of slack.

#[expect(dead_code, reason = "only its waits are needed here")]
mod reference;
#[expect(dead_code, reason = "only replays are needed here")]
#[path = "what_if/slow.rs"]
mod slow;
#[expect(dead_code, reason = "only its deeds are needed here")]
#[path = "what_if/statement.rs"]
mod statement;

use marey_analyze::what_if::Limits;
use marey_analyze::{
    Activity, Selection, SlackRow, SlackSpan, Span, Trace, causes, causes_of, slack, slack_spans,
};
use marey_model::{LocationId, Nanos};
use marey_testkit::{Drawing, disturbed_drawing, random_drawing};

use slow::Slow;
use statement::Deed;

const RANDOM_RUNS: u32 = 1000;

fn spans(run: &Drawing, limits: &Limits) -> Vec<SlackSpan> {
    let causes = causes(run, run).expect("all can be read");
    slack_spans(run, run, &causes, limits).expect("all can be read").expect("there is room for all")
}

fn drawn(text: &str) -> Drawing {
    Drawing::parse(text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

const CHAIN: &str = "1 char = 10 ns
w = source execute work solve
S = mpi MPI_Send transfer
R = mpi MPI_Recv transfer
T = mpi MPI_Recv transfer

a rank 0 |wwwwwSwwwww
b rank 1 |wwRRRRwwwwwww
c rank 2 |wwwSTTTTTTTTTw
d rank 3 |wwwwwww

message a:S1 -> b:R1
message c:S1 -> b:R1
";

/// Location, from, to and slack in the order of locations and times.
fn check(text: &str, expected: &[(&str, i64, i64, Option<i64>)]) {
    let run = drawn(text);
    let mut found: Vec<_> = spans(&run, &Limits::default())
        .into_iter()
        .map(|it| (it.location, it.from.0, it.to.0, it.slack.map(|slack| slack.0)))
        .collect();
    found.sort();
    let named: Vec<_> = found.iter().map(|it| (run.name(it.0), it.1, it.2, it.3)).collect();
    assert_eq!(named, expected);
}

#[test]
fn what_is_behind_a_wait_has_its_length() {
    // b waits for a from 20 to 50, and for c not as long: c could send 20 later. c ends last, at 140.
    check(
        CHAIN,
        &[
            // a may send 10 later, for b has 10 to the end; and end 30 later.
            ("a", 0, 50, Some(10)),
            ("a", 50, 110, Some(30)),
            ("b", 0, 20, Some(40)),
            ("b", 50, 130, Some(10)),
            // What c does is the path, for nothing is known of what it receives.
            ("c", 0, 140, Some(0)),
            ("d", 0, 70, Some(70)),
        ],
    );
}

/// Fails unless each span can be so much longer and no more.
fn is_right(name: &str, drawing: &Drawing, limits: &Limits) -> [usize; 3] {
    let slow = Slow::new(drawing);
    let whole = slow.run_time(&[]);
    let mut numbers = [0; 3];
    let spans = spans(drawing, limits);
    // A replay takes its time: some of them, at one of their ends or in the middle.
    for (turn, span) in
        spans.iter().enumerate().filter(|(turn, span)| (turn + spans.len()) % 20 < 2 || span.slack.is_none())
    {
        let at = [span.from.0, (span.from.0 + span.to.0 - 1) / 2, span.to.0 - 1][turn % 3];
        let longer = |by: i64| {
            let at = usize::try_from(at).expect("drawn times are not negative");
            slow.run_time(&[Deed::Longer(span.location, at, by)])
        };
        match span.slack {
            Some(Nanos(slack)) => {
                assert!(0 <= slack, "{name}: {span:?}");
                assert_eq!(longer(slack), whole, "{name}: {span:?} at {at}");
                assert!(whole < longer(slack + 1), "{name}: {span:?} at {at}");
                numbers[usize::from(slack > 0)] += 1;
            }
            None => {
                assert_eq!(longer(1 << 30), whole, "{name}: {span:?} at {at}");
                numbers[2] += 1;
            }
        }
    }
    // All work of everybody who is there has one, and nothing has two.
    for (id, location) in (0..).map(LocationId).zip(drawing.locations()) {
        let mut own: Vec<&SlackSpan> = spans.iter().filter(|span| span.location == id).collect();
        own.sort_by_key(|span| span.from);
        assert!(own.windows(2).all(|pair| pair[0].to <= pair[1].from), "{name}: {own:?}");
        let work: i64 = own.iter().map(|span| (span.to - span.from).0).sum();
        let waits: i64 = slow.waiting(id);
        assert_eq!(work + waits, (location.end - location.start).0, "{name}: {}", drawing.name(id));
    }
    numbers
}

#[test]
fn a_replay_with_that_much_more_is_as_long_and_with_more_longer() {
    let mut numbers = [0; 3];
    let sane = (1..=RANDOM_RUNS).map(|seed| (format!("random run {seed}"), random_drawing(seed)));
    let odd = (1..=RANDOM_RUNS / 5).map(|seed| (format!("disturbed run {seed}"), disturbed_drawing(seed)));
    for (turn, (name, text)) in sane.chain(odd).enumerate() {
        let drawing = drawn(&text);
        let name = format!("{name}:\n{text}");
        let found = if turn % 2 == 0 {
            is_right(&name, &drawing, &Limits::default())
        } else {
            let small = Limits { points: 7, ..Limits::default() };
            is_right(&name, &drawing.clone().cut_every(Nanos(30)), &small)
        };
        for (sum, more) in numbers.iter_mut().zip(found) {
            *sum += more;
        }
    }
    eprintln!("{numbers:?} instants on the path, with slack, without a bound");
    assert!(numbers[0] >= 300 && numbers[1] >= 1500 && numbers[2] >= 20, "{numbers:?}");
}

/// Rows are what spans add up to, also of a part of the run; and what is on the path has none.
#[test]
fn rows_are_sums_of_spans() {
    let mut on_path = 0;
    for seed in 1..=200 {
        let text = random_drawing(seed);
        let run = drawn(&text);
        let end = run.duration();
        for span in [Span::ALL, Span { from: Nanos(end.0 / 4), to: Nanos(end.0 / 2 + 1) }] {
            let causes = causes_of(&run, &run, &Selection { span, ..Selection::default() }).unwrap();
            let rows: Vec<SlackRow> = slack(&run, &run, &causes, &Limits::default()).unwrap().unwrap();
            let spans = spans(&run, &Limits::default());
            for (id, _) in (0..).map(LocationId).zip(run.locations()) {
                let own = rows.iter().filter(|row| row.location == id);
                let clipped = |it: &SlackSpan| Some((span.clip(it.from, it.to)?, it.slack));
                let mine: Vec<_> = spans.iter().filter(|it| it.location == id).filter_map(clipped).collect();
                let length = |((from, to), _): &((Nanos, Nanos), Option<Nanos>)| (*to - *from).0;
                assert_eq!(
                    own.clone().map(|row| row.time.0).sum::<i64>(),
                    mine.iter().map(length).sum::<i64>()
                );
                let least = mine.iter().filter_map(|it| it.1).min();
                assert_eq!(own.clone().filter_map(|row| row.least).min(), least, "{text}");
                #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
                let weighted: f64 =
                    mine.iter().filter_map(|it| Some(length(it) as f64 * it.1?.0 as f64)).sum();
                assert!((own.clone().map(|row| row.weighted).sum::<f64>() - weighted).abs() < 1e-6, "{text}");
            }
            assert!(rows.iter().all(|row| row.activity != Activity::NotStarted));
            // Most of what is on the path has no time to lose. (Not all of it: who is cut off holds nobody up.)
            for row in &causes.times {
                let slack = rows.iter().find(|it| (it.location, it.activity) == (row.location, row.activity));
                on_path += usize::from(
                    row.on_path > Nanos(0) && slack.is_some_and(|slack| slack.least == Some(Nanos(0))),
                );
            }
        }
    }
    assert!(on_path > 200, "{on_path}");
}

#[test]
fn of_runs_that_are_too_large_it_is_not_known() {
    let run = drawn(CHAIN);
    let causes = causes(&run, &run).unwrap();
    let none = Limits { slack: 3, ..Limits::default() };
    assert_eq!(slack(&run, &run, &causes, &none).unwrap(), None);
}
