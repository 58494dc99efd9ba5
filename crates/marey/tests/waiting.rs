//! Waiting as the recorder sees it, against what programs say of themselves by their own clock, and against what
//! `strace` sees of them.
//!
//! The one idea: a program reads its clock around each call, so no call may have taken longer than that; and it knows how
//! long a call that waits for time must at least take. Between the two lies what is recorded, however busy the machine.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use marey_archive::Archive;
use program::{Program, Recorded};
use serde_json::Value;

const C: &str = "cc -O1 -g -Wall -pthread {}/waits.c -lrt";

/// What a program says of a call: calls, and the least and the most that they can have taken, ns.
type Truth = (u64, i64, i64);

/// Lines of `CALL FUNCTION CALLS LEAST_NS OWN_NS`; without FUNCTION it is `in_CALL`.
fn told(recorded: &Recorded) -> BTreeMap<(String, String), Truth> {
    let text = String::from_utf8(recorded.output.stdout.clone()).unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [head @ .., calls, least, own] = words.as_slice() else { panic!("{line}") };
        let function = head.get(1).map_or_else(|| format!("in_{}", head[0]), |&name| name.to_owned());
        let number = |word: &str| word.parse::<i64>().unwrap();
        ((head[0].to_owned(), function), (calls.parse().unwrap(), number(least), number(own)))
    };
    text.lines().map(line).collect()
}

/// Calls and time by call and function.
fn found(recorded: &Recorded) -> BTreeMap<(String, String), (u64, i64)> {
    let report = recorded.json("report");
    let mut found = BTreeMap::new();
    for row in report["waiting"].as_array().unwrap() {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let function = text("function").split("::").last().unwrap().to_owned();
        let sum: &mut (u64, i64) = found.entry((text("call"), function)).or_default();
        sum.0 += row["calls"].as_u64().unwrap();
        sum.1 += row["time_ns"].as_i64().unwrap() + row["idle_ns"].as_i64().unwrap();
    }
    found
}

/// Each call that the program tells of is there with its number and a time that it can have taken.
fn agrees(recorded: &Recorded) {
    let (told, found) = (told(recorded), found(recorded));
    assert!(!told.is_empty());
    for ((names, function), (calls, least, own)) in told {
        let is_it = |name: &&str| found.contains_key(&((*name).to_owned(), function.clone()));
        let Some(name) = names.split('|').find(is_it) else { panic!("no {names} in {function}: {found:?}") };
        let (seen, time) = found[&(name.to_owned(), function.clone())];
        // A standard library may ask more than once.
        assert!(
            seen == calls || (names.contains('|') && calls < seen),
            "{name} in {function}: {seen} of {calls} calls"
        );
        // Two clocks that count the same time need not be equal to the last digit.
        let slack = own / 1000 + 1000;
        assert!(
            least - slack <= time && time <= own + slack,
            "{name} in {function}: {least} ≤ {time} ≤ {own}"
        );
    }
    recorded.is_whole();
}

#[test]
fn calls_of_c_take_as_long_as_they_say() {
    let Some(program) = Program::compile(C) else { return };
    for group in ["sleeps", "polls", "children", "sockets", "awaits", "locks", "queues", "names", "threads"] {
        agrees(&program.record(&[], &[group]));
    }
    // The same where nothing but sums is kept.
    agrees(&program.record(&["--mode", "profile"], &["sleeps", "polls", "children"]));
}

#[test]
fn calls_of_rust_take_as_long_as_they_say() {
    let Some(program) = Program::compile("rustc -O -g --edition=2024 {}/waits.rs") else { return };
    agrees(&program.record(&[], &[]));
}

#[test]
fn calls_of_fortran_take_as_long_as_they_say() {
    let Some(program) = Program::compile("gfortran -O1 -g {}/waits.f90") else { return };
    agrees(&program.record(&[], &[]));
}

#[test]
fn calls_that_never_return_end_when_they_are_left() {
    let Some(program) = Program::compile(C) else { return };
    let recorded = program.record(&[], &["leaves"]);
    agrees(&recorded);
    // What comes then is no part of them.
    let report = recorded.json("report");
    let paths = report["call_paths"].as_array().unwrap();
    let inner: Vec<_> = paths.iter().filter(|row| row["path"].as_array().unwrap().len() > 1).collect();
    assert!(inner.is_empty(), "{inner:?}");
}

#[test]
fn what_a_call_calls_is_its_own_matter() {
    let Some(program) = Program::compile(C) else { return };
    let recorded = program.record(&[], &["within"]);
    agrees(&recorded);
    assert_eq!(found(&recorded).len(), 1);
}

#[test]
fn what_calls_do_to_descriptors_is_known() {
    let Some(program) = Program::compile(C) else { return };
    let recorded = program.record(&[], &["descriptors"]);
    let report = recorded.json("report");
    let rows = report["files"].as_array().unwrap();
    let of =
        |name: &str| rows.iter().find(|row| row["file"] == name).map(|row| row["writes"].as_u64().unwrap());
    assert_eq!((of("(pipe)"), of("(socket)")), (Some(1), Some(1)), "{rows:?}");
    // Between the two, a child has read ten bytes.
    let archive = Archive::open(&recorded.dir.join("run.marey")).unwrap();
    let io = archive.table("io").unwrap();
    let (kinds, offsets) = (io.text("kind").unwrap(), io.i64("offset").unwrap());
    let places: Vec<i64> =
        (0..io.len()).filter(|&row| kinds[row] == "read").map(|row| offsets[row]).collect();
    assert_eq!(places, [0, 20]);
}

/// Calls of the C library and the kernel's that they are made of.
const SAME: [(&[&str], &[&str]); 19] = [
    (&["nanosleep", "clock_nanosleep", "usleep", "sleep", "thrd_sleep"], &["nanosleep", "clock_nanosleep"]),
    (&["poll"], &["poll"]),
    (&["ppoll"], &["ppoll"]),
    (&["select", "pselect"], &["select", "pselect6"]),
    (&["epoll_wait", "epoll_pwait"], &["epoll_wait", "epoll_pwait"]),
    (&["wait", "waitpid", "wait3", "wait4", "system", "pclose"], &["wait4"]),
    (&["connect"], &["connect"]),
    (&["accept", "accept4"], &["accept", "accept4"]),
    (&["recv", "recvfrom"], &["recvfrom"]),
    (&["recvmsg", "recvmmsg"], &["recvmsg", "recvmmsg"]),
    (&["send", "sendto"], &["sendto"]),
    (&["sendmsg", "sendmmsg"], &["sendmsg", "sendmmsg"]),
    (&["pause"], &["pause"]),
    (&["sigsuspend"], &["rt_sigsuspend"]),
    (&["sigwait", "sigwaitinfo", "sigtimedwait"], &["rt_sigtimedwait"]),
    (&["flock"], &["flock"]),
    (&["msgsnd", "msgrcv"], &["msgsnd", "msgrcv"]),
    (&["semop", "semtimedop"], &["semop", "semtimedop"]),
    (&["mq_send", "mq_receive", "mq_timedsend", "mq_timedreceive"], &["mq_timedsend", "mq_timedreceive"]),
];

#[test]
fn calls_are_as_many_as_the_kernel_saw() {
    const GROUPS: [&str; 7] = ["sleeps", "polls", "children", "sockets", "awaits", "locks", "queues"];
    let Some(program) = Program::compile(C) else { return };
    let watched = program.dir("watched");
    let mut strace = Command::new("strace");
    strace.args(["-o", "calls", "-s", "0"]).arg(program.path()).args(GROUPS).current_dir(&watched);
    match strace.stdin(Stdio::null()).env_remove("LD_PRELOAD").output() {
        Err(error) => return marey_testkit::skip(&format!("strace: {error}")),
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
    }
    let lines = std::fs::read_to_string(watched.join("calls")).unwrap();
    let kernel = |names: &[&str]| {
        // What the kernel makes anew by itself, because a child has ended, is one call.
        let is_it = |line: &&str| {
            line.split_once('(').is_some_and(|(name, _)| names.contains(&name))
                && !line.contains("ERESTARTSYS")
        };
        lines.lines().filter(is_it).count() as u64
    };
    let found = found(&program.record(&[], &GROUPS));
    let recorded = |names: &[&str]| -> u64 {
        let rows = found.iter().filter(|((name, _), _)| names.contains(&name.as_str()));
        rows.map(|(_, (calls, _))| calls).sum()
    };
    for (ours, theirs) in SAME {
        assert_eq!(recorded(ours), kernel(theirs), "{ours:?}");
    }
    assert!(kernel(&["poll"]) == 1002 && kernel(&["wait4"]) == 7, "{lines}");
}

/// Intervals of a verb, as `marey dump` shows them, and the visits that they stand for.
fn intervals(recorded: &Recorded, verb: &str) -> (u64, u64) {
    let text = recorded.show(&["dump", "--json"]);
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_verb = lines.filter(|it| it["verb"] == verb && (it["event"] == "leave" || it["event"] == "visit"));
    of_verb.fold((0, 0), |(rows, visits), it| (rows + 1, visits + it["visits"].as_u64().unwrap_or(1)))
}

#[test]
fn polls_in_vain_are_one_record() {
    let Some(program) = Program::compile(C) else { return };
    let (rows, visits) = intervals(&program.record(&["--sample", "off"], &["polls"]), "poll");
    // The first by itself, those after it together, then one that waits and one that finds something; a record ends
    // after some 20 ms.
    assert!(visits == 1002 && (4..40).contains(&rows), "{rows} rows of {visits}");
    let (rows, visits) = intervals(&program.record(&["--sample", "off"], &["sockets"]), "recv");
    assert!(visits == 8 && rows < 8, "{rows} rows of {visits}");
}

#[test]
fn rules_and_switches_leave_out_what_they_say() {
    let Some(program) = Program::compile(C) else { return };
    let off = program.record(&["--system", "off"], &["sleeps", "polls", "awaits"]);
    assert_eq!(found(&off), BTreeMap::new());
    assert!(!off.show(&["report"]).contains("WAITING"));
    let rules =
        ["--rule", "count system:poll", "--rule", "off system:nanosleep", "--rule", "time system:*usleep"];
    let some = program.record(&rules, &["sleeps", "polls"]);
    let (told, found) = (told(&some), found(&some));
    let all = |name: &str, function: &str| found.get(&(name.to_owned(), function.to_owned())).copied();
    let calls =
        |name: &str| -> u64 { found.iter().filter(|(key, _)| key.0 == name).map(|(_, sum)| sum.0).sum() };
    assert_eq!((calls("poll"), calls("nanosleep")), (1002, 0));
    let (_, least, own) = told[&("usleep".to_owned(), "in_usleep".to_owned())];
    let (visits, time) = all("usleep", "in_usleep").unwrap();
    assert!(visits == 5 && least <= time && time <= own, "{time}");
    assert_eq!(intervals(&some, "usleep"), (0, 0));
}

#[test]
fn the_report_says_where_the_program_waits() {
    let Some(program) = Program::compile(C) else { return };
    let recorded = program.record(&[], &["sleeps"]);
    let text = recorded.show(&["report"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("▸ The program waits in calls of the system for "), "{text}");
    assert!(words.contains("most in sleep, called from in_sleep (waits.c:"), "{text}");
    assert!(text.contains("\nWAITING  ") && text.contains("CALL TREE"), "{text}");
    assert!(recorded.show(&["report", "--by", "waiting"]).starts_with("\nWAITING  "));
    let report = recorded.json("report");
    let paths = report["call_paths"].as_array().unwrap();
    let path = paths.iter().find(|row| row["path"][0] == "usleep").unwrap();
    let stack: Vec<&str> =
        path["stack"].as_array().unwrap().iter().map(|frame| frame["function"].as_str().unwrap()).collect();
    assert!(stack.ends_with(&["main", "sleeps", "in_usleep"]), "{stack:?}");
}

#[test]
fn a_thread_that_only_serves_does_not_hide_one_that_works() {
    let Some(program) = Program::compile(C) else { return };
    let recorded = program.record(&["--sample", "off"], &["threads"]);
    let report = recorded.json("report");
    let rows = report["waiting"].as_array().unwrap();
    let row = |function: &str| rows.iter().find(|row| row["function"] == function).unwrap();
    let (service, work) = (row("in_service"), row("in_nanosleep"));
    assert!(service["time_ns"] == 0 && service["idle_ns"].as_i64().unwrap() > 100_000_000, "{service}");
    assert!(work["idle_ns"] == 0 && work["time_ns"].as_i64().unwrap() >= 40_000_000, "{work}");
    assert_eq!(rows[0]["function"], "in_nanosleep");
    let text = recorded.show(&["report"]);
    let answer = text.split("\n\n").nth(1).unwrap();
    assert!(!answer.contains("poll") && text.contains("1 idle one"), "{text}");
}
