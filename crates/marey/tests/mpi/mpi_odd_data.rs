//! Which datum a message lies in where that is hard to tell: on a stack that the program made itself, and in threads
//! that come and go by thousands.
//!
//! The one idea: the program prints the addresses of what it sends from, and how much memory it has.

use std::collections::BTreeMap;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

fn job(words: &[&str]) -> Option<Job> {
    built(&["-O1", "-pthread"], words)
}

fn built(flags: &[&str], words: &[&str]) -> Option<Job> {
    let mpi = need!(Mpi::Open.installed(), "Open MPI" => None);
    let build = Build { mpi, compiler: Compiler::C, sources: &["odd_data.c"], flags, output: "odd_data" };
    let program = need!(build.path(), "a compiler for Open MPI" => None);
    Some(words.iter().fold(Job::new(mpi, 1, program), |job, word| job.arg(word)))
}

fn record(words: &[&str]) -> Option<(Run, Place)> {
    let place = Place::new();
    let run = job(words)?.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    Some((run, place))
}

/// What lies behind a message.
#[derive(Debug)]
struct Told {
    kind: String,
    name: String,
    begin: i64,
    bytes: i64,
    buffer: i64,
}

/// By tag.
fn told(run: &Run) -> BTreeMap<i64, Told> {
    let (messages, arrays, nouns) = (run.table("messages"), run.table("arrays"), run.table("nouns"));
    let row = |row: usize| {
        let of = messages.u32("send_array").unwrap()[row] as usize;
        let noun = arrays.u32("noun").unwrap()[of] as usize;
        let told = Told {
            kind: arrays.text("kind").unwrap()[of].clone(),
            name: nouns.text("name").unwrap()[noun].clone(),
            begin: arrays.i64("address").unwrap()[of],
            bytes: arrays.i64("bytes").unwrap()[of],
            buffer: messages.i64("send_buffer").unwrap()[row],
        };
        (messages.i64("tag").unwrap()[row], told)
    };
    (0..messages.len()).map(row).collect()
}

/// Tag, what it is, its begin and the buffer.
fn said(run: &Run) -> Vec<(i64, String, i64, i64)> {
    let text = run.stdout();
    let line = |line: &str| {
        let [tag, what, begin, offset] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<i64>().unwrap();
        (number(tag), what.to_owned(), number(begin), number(begin) + number(offset))
    };
    text.lines().map(line).collect()
}

/// The allocator gives out again what was given back last, which the program says.
#[test]
fn a_variable_that_holds_what_is_no_more_gives_no_other_block_its_name() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let sources = &["stale.c", "stale_others.c"];
    let build = Build { mpi, compiler: Compiler::C, sources, flags: &["-g", "-O1"], output: "stale" };
    let place = Place::new();
    let run = Job::new(mpi, 1, build.path().unwrap()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.stdout(), "3 same\n4 same\n");
    let told = told(&run);
    let names: Vec<&str> = told.values().map(|it| it.name.as_str()).collect();
    assert_eq!(names[..2], ["shared", "first"], "{told:#?}");
    assert!(names[2].contains("send_anew"), "{told:#?}");
    assert_eq!(names[3], "own", "{told:#?}");
}

/// The same of Fortran, in which an allocatable array holds nothing once it is given back, and a pointer what it pointed to.
#[test]
fn a_pointer_of_fortran_that_is_left_over_gives_no_other_array_its_name() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let sources = &["stale_left.f90", "stale.f90"];
    let build =
        Build { mpi, compiler: Compiler::Fortran, sources, flags: &["-g", "-O1"], output: "stale-fortran" };
    let place = Place::new();
    let program = need!(build.path(), "a Fortran compiler for Open MPI");
    let run = Job::new(mpi, 1, program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(run.stdout().replace(' ', ""), "1same\n2same\n");
    let told = told(&run);
    let names: Vec<&str> = told.values().map(|it| it.name.as_str()).collect();
    assert!(names[0].contains("send_anew"), "{told:#?}");
    assert_eq!(names[1], "left::made", "{told:#?}");
}

/// The first of the two stacks ends before memory that cannot be read: a search that goes on there ends the program.
#[test]
fn what_is_sent_on_a_stack_of_the_program_s_own_is_told_or_unknown_and_never_wrong() {
    let Some((run, _place)) = record(&["coroutines"]) else { return };
    let (said, told) = (said(&run), told(&run));
    assert_eq!((said.len(), told.len()), (8, 8));
    for (tag, what, begin, buffer) in said {
        let it = &told[&tag];
        assert_eq!(it.buffer, buffer, "{tag}");
        match (what.as_str(), tag) {
            // Mapped by the program, so nobody knows of what it is a part.
            ("stack", ..4) => {
                assert_eq!((it.kind.as_str(), it.name.contains("mapped")), ("other", true), "{it:?}")
            }
            ("stack", _) => {
                assert_eq!((it.kind.as_str(), it.begin, it.bytes), ("block", begin, 1 << 16), "{it:?}")
            }
            ("block", _) => {
                assert_eq!((it.kind.as_str(), it.begin, it.bytes), ("block", begin, 8192), "{it:?}");
                // By who made it: no variable is taken for its holder that is not.
                assert_eq!(it.name, "block of on ← coroutines");
            }
            _ => assert_eq!((it.kind.as_str(), it.name.as_str(), it.begin), ("variable", "fixed", begin)),
        }
    }
}

/// The parameter of the function that sends holds the address of each in turn, and names none.
#[test]
fn blocks_that_a_function_is_called_with_are_not_one_array_for_it() {
    let place = Place::new();
    let job = need!(built(&["-g", "-O0", "-pthread"], &["parameters"]), "a compiler for Open MPI");
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let (said, told) = (said(&run), told(&run));
    assert_eq!((said.len(), told.len()), (5, 5));
    for (tag, what, begin, _) in said {
        let it = &told[&tag];
        let name = if what == "make" { "block of make ← parameters" } else { "parameters::whole" };
        assert_eq!((it.name.as_str(), it.begin), (name, begin), "{tag}: {it:?}");
    }
}

/// What is remembered of small blocks, of which nothing is known, says nothing of a large one that lies where they did. When
/// more blocks were made meanwhile than are remembered, that is so for its beginning.
#[test]
fn a_large_block_where_small_ones_were_is_told_from_its_first_message_on() {
    for others in ["100", "300"] {
        let Some((run, _place)) = record(&["grown", others]) else { return };
        let (said, told) = (said(&run), told(&run));
        let n_large = said.iter().filter(|it| it.1 == "large").count();
        let at_beginning = said.iter().filter(|it| it.1 == "large" && it.2 == it.3).count();
        assert!(
            300 < n_large && at_beginning == 1,
            "the allocator put it elsewhere: {n_large}, {at_beginning}"
        );
        assert_eq!((said.len(), told.len()), (1000 + n_large, 1000 + n_large));
        for (tag, what, begin, buffer) in said {
            let it = &told[&tag];
            assert_eq!(it.buffer, buffer, "{tag}");
            let is_large = (it.kind.as_str(), it.begin, it.bytes) == ("block", begin, 1 << 20);
            match what.as_str() {
                "small" => assert!(it.kind == "other" && it.name.contains("small blocks"), "{it:?}"),
                _ => assert!(is_large || others == "300" && begin != buffer, "{others} {tag}: {it:?}"),
            }
        }
    }
}

/// Types say where their data lie, which may be in another variable than the one that is given as the buffer.
#[test]
fn what_is_sent_lies_where_its_type_says() {
    let Some((run, _place)) = record(&["displaced"]) else { return };
    let (said, told) = (said(&run), told(&run));
    assert_eq!((said.len(), told.len()), (10, 10));
    for (tag, what, _, buffer) in said {
        let it = &told[&tag];
        assert_eq!((it.name.as_str(), it.buffer), (what.as_str(), buffer), "{tag}: {it:?}");
    }
}

/// Arrays on the stack that lie where others did, frames by the dozen, blocks that are made anew.
#[test]
fn buffers_of_which_hundreds_take_turns_are_each_told_as_what_they_are() {
    let Some((run, _place)) = record(&["turns"]) else { return };
    let (said, told) = (said(&run), told(&run));
    let (many, levels) = (300, 41);
    assert_eq!((said.len(), told.len()), (3 * (6 * many + levels * 32), said.len()));
    for (tag, what, begin, buffer) in said {
        let it = &told[&tag];
        assert_eq!(it.buffer, buffer, "{tag}");
        match what.as_str() {
            "block" => assert_eq!((it.kind.as_str(), it.begin, it.bytes), ("block", begin, 8192), "{it:?}"),
            name => {
                let (kind, begin) = if name == "lasting" { ("variable", begin) } else { ("frame", it.begin) };
                let own = it.name.rsplit("::").next().unwrap();
                assert_eq!((it.kind.as_str(), own, it.begin), (kind, name, begin), "{tag}: {it:?}");
            }
        }
    }
}

/// What a thread remembers of buffers is some KiB.
#[test]
fn threads_that_end_leave_no_memory_behind() {
    let n = 3000;
    let Some((run, _place)) = record(&["threads", &n.to_string()]) else { return };
    assert_eq!(run.table("messages").len(), 300 + n);
    let kib: i64 = run.stdout().trim().parse().unwrap();
    assert!(kib * 1024 < 1024 * n as i64, "{kib} KiB for {n} threads");
}
