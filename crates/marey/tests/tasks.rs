//! Tasks of tokio, jobs of rayon and spans of tracing in recorded runs, against what the programs count themselves.
//!
//! The one idea: the programs of `marey-rust`'s example count with atomics of their own, in closures and futures that
//! know nothing of the recording; each number must be in the tables, neither more nor less.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use marey_archive::Archive;
use serde_json::Value;
use tempfile::TempDir;

type Truth = BTreeMap<String, u64>;

/// A run that was recorded, and what its program said.
struct Run {
    place: TempDir,
    truth: Truth,
}

/// An interval of a table, in words.
#[derive(Clone, Debug)]
struct Visit {
    place: String,
    is_lane: bool,
    level: String,
    verb: String,
    noun: String,
    depth: u32,
    start: i64,
    end: i64,
}

/// An edge, in the order of time.
#[derive(Clone, Debug)]
struct Edge {
    kind: String,
    from: (String, i64),
    to: (String, i64),
}

/// The program, which the test runner has built beside the executable, in a directory of its own. Without debug
/// information, which takes longer to read than the program runs: places of tasks and spans are told, not looked up.
fn program() -> Option<(TempDir, PathBuf)> {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_marey")).with_file_name("examples").join("tasks");
    if !built.exists() {
        marey_testkit::skip(&format!("{}, which `--examples` builds", built.display()));
        return None;
    }
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = place.path().join("tasks");
    let is_stripped = Command::new("strip").arg("-o").arg(&program).arg(&built).status();
    if !is_stripped.is_ok_and(|status| status.success()) {
        std::fs::copy(&built, &program).unwrap();
    }
    Some((place, program))
}

fn truth(output: &Output) -> Truth {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let line =
        |line: &str| line.split_once(' ').map(|(name, number)| (name.to_owned(), number.parse().unwrap()));
    text.lines().filter_map(line).collect()
}

/// Records the program, and sees that it says the same without a recorder where that does not depend on chance.
fn record(words: &[&str], options: &[&str]) -> Option<Run> {
    let (place, program) = program()?;
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.arg("record").args(options).arg("--").arg(program).args(words);
    let record = record.current_dir(place.path()).env_remove("LD_PRELOAD").stdin(Stdio::null());
    let truth = truth(&record.output().unwrap());
    Some(Run { place, truth })
}

impl Run {
    fn path(&self) -> PathBuf {
        self.place.path().join("run.marey")
    }

    fn archive(&self) -> Archive {
        Archive::open(&self.path()).unwrap()
    }

    fn show(&self, words: &[&str]) -> String {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(self.place.path()).env("COLUMNS", "160").args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, command: &str) -> Value {
        serde_json::from_str(&self.show(&[command, "--json"])).unwrap()
    }

    /// Names of locations, and whether each is a lane.
    fn places(&self) -> Vec<(String, bool)> {
        let table = self.archive().table("locations").unwrap();
        let (names, kinds) = (table.text("name").unwrap(), table.text("kind").unwrap());
        (0..table.len()).map(|row| (names[row].clone(), kinds[row] == "lane")).collect()
    }

    fn lanes(&self, name: &str) -> usize {
        let of_name = |(it, is_lane): &(String, bool)| {
            *is_lane && it.rsplit_once(' ').is_some_and(|(before, _)| before == name)
        };
        self.places().iter().filter(|it| of_name(it)).count()
    }

    fn visits(&self) -> Vec<Visit> {
        let archive = self.archive();
        let (places, intervals) = (self.places(), archive.table("intervals").unwrap());
        let (paths, regions) = (archive.table("call_paths").unwrap(), archive.table("regions").unwrap());
        let [level, verb, noun] = ["level", "verb", "noun"].map(|name| regions.text(name).unwrap());
        let [call_path, location, depth] =
            ["call_path", "location", "depth"].map(|name| intervals.u32(name).unwrap());
        let (region, start) = (paths.u32("region").unwrap(), intervals.i64("start").unwrap());
        let duration = intervals.i64("duration").unwrap();
        (0..intervals.len())
            .map(|row| {
                let region = region[call_path[row] as usize] as usize;
                let (place, is_lane) = places[location[row] as usize].clone();
                Visit {
                    place,
                    is_lane,
                    level: level[region].clone(),
                    verb: verb[region].clone(),
                    noun: noun[region].clone(),
                    depth: depth[row],
                    start: start[row],
                    end: start[row] + duration[row],
                }
            })
            .collect()
    }

    fn edges(&self) -> Vec<Edge> {
        let (places, table) = (self.places(), self.archive().table("edges").unwrap());
        let end = |which: &str, row: usize| {
            let location = table.u32(&format!("{which}_location")).unwrap()[row] as usize;
            (places[location].0.clone(), table.i64(&format!("{which}_time")).unwrap()[row])
        };
        (0..table.len())
            .map(|row| Edge {
                kind: table.text("kind").unwrap()[row].clone(),
                from: end("from", row),
                to: end("to", row),
            })
            .collect()
    }

    /// Events of that name, with their fields.
    fn events(&self, name: &str) -> Vec<Value> {
        let archive = self.archive();
        let (events, kinds) = (archive.table("events").unwrap(), archive.table("event_kinds").unwrap());
        let is_it =
            |row: &usize| kinds.text("name").unwrap()[events.u32("kind").unwrap()[*row] as usize] == name;
        let fields = |row: usize| serde_json::from_str(&events.text("fields").unwrap()[row]).unwrap();
        (0..events.len()).filter(is_it).map(fields).collect()
    }

    fn is_whole(&self) {
        let problems = &self.json("info")["problems"];
        let of = |name: &str| problems[name].as_u64().unwrap();
        assert_eq!((of("dropped"), of("lost"), of("truncated")), (0, 0, 0));
    }
}

fn count(visits: &[Visit], is_lane: bool, verb: &str, noun: &str) -> u64 {
    let is_it = |it: &&Visit| it.is_lane == is_lane && it.verb == verb && it.noun == noun;
    visits.iter().filter(is_it).count() as u64
}

/// Edges that end at the begin of a visit, of which `is_it`.
fn edges_to(edges: &[Edge], kind: &str, visits: &[Visit], is_it: impl Fn(&Visit) -> bool) -> u64 {
    let starts: BTreeMap<(&str, i64), &Visit> = visits
        .iter()
        .filter(|it| !it.is_lane && is_it(it))
        .map(|it| ((it.place.as_str(), it.start), it))
        .collect();
    let leads = |edge: &&Edge| edge.kind == kind && starts.contains_key(&(edge.to.0.as_str(), edge.to.1));
    edges.iter().filter(leads).count() as u64
}

#[test]
fn each_task_and_each_poll_is_there_once_on_a_thread_and_once_on_a_lane() {
    let Some(run) = record(&["tasks", "200", "3"], &["--budget", "off"]) else { return };
    let (truth, visits, edges) = (&run.truth, run.visits(), run.edges());
    assert_eq!((truth["tasks"], truth["polls"]), (300, 800));
    assert_eq!(
        count(&visits, false, "spawn", "small") + count(&visits, false, "spawn", "after"),
        truth["tasks"]
    );
    assert_eq!(
        count(&visits, false, "join", "small") + count(&visits, false, "join", "after"),
        truth["ends"]
    );
    assert_eq!(count(&visits, false, "poll", "small"), truth["polls"]);
    assert_eq!(count(&visits, false, "poll", "main"), truth["main-polls"]);
    // The same on lanes: from creation to end, each time that it was ready, each time that it ran.
    for (verb, number) in [("live", 200), ("ready", truth["polls"]), ("run", truth["polls"])] {
        assert_eq!(count(&visits, true, verb, "small"), number, "{verb}");
    }
    assert!(visits.iter().filter(|it| it.is_lane).all(|it| it.level == "tasks"));
    // Who is there at a time has a lane of its own; who comes after another has the other's.
    let (lanes, most) = (run.lanes("small") as u64, truth["most"]);
    assert!(lanes <= most + 3 && most <= lanes + 1, "{lanes} lanes for {most} at a time");
    assert!(run.lanes("after") <= 3, "{} lanes", run.lanes("after"));
    // One edge by which each began, one from each of its own wakes; one to each that waited for it.
    let is_small = |it: &Visit| it.verb == "poll" && it.noun == "small";
    assert_eq!(edges_to(&edges, "spawn", &visits, is_small), 200);
    assert_eq!(edges_to(&edges, "wake", &visits, is_small), truth["polls"] - 200);
    assert_eq!(edges_to(&edges, "done", &visits, |it| it.verb == "join"), truth["ends"]);
    assert!(edges.iter().all(|edge| edge.from.1 <= edge.to.1), "nothing happens before its cause");
    // On a lane one thing follows the other, and lies in the task's life.
    let mut on_lanes: Vec<&Visit> = visits.iter().filter(|it| it.is_lane && it.noun == "small").collect();
    on_lanes.sort_by_key(|it| (it.place.clone(), it.start, it.depth));
    for lane in on_lanes.chunk_by(|a, b| a.place == b.place) {
        for task in lane.chunk_by(|_, b| b.verb != "live") {
            let [life, pieces @ ..] = task else { panic!("an empty lane") };
            let words: Vec<&str> = pieces.iter().map(|it| it.verb.as_str()).collect();
            assert_eq!((life.verb.as_str(), words), ("live", ["ready", "run"].repeat(4)), "{}", life.place);
            assert!(pieces.is_sorted_by_key(|it| it.start));
            assert!(pieces.iter().all(|it| life.start <= it.start && it.end <= life.end && it.depth == 1));
        }
    }
    run.is_whole();
}

#[test]
fn a_task_that_is_dropped_or_panics_or_outlives_its_runtime_ends_all_the_same() {
    let Some(run) = record(&["endings"], &["--budget", "off"]) else { return };
    let (truth, visits, edges) = (&run.truth, run.visits(), run.edges());
    let mut dropped: Vec<String> =
        run.events("task dropped").iter().map(|fields| fields["task"].as_str().unwrap().to_owned()).collect();
    dropped.sort();
    assert_eq!(dropped, ["aborted", "left", "left", "left", "loser"]);
    assert_eq!(run.events("task panicked"), [serde_json::json!({ "task": "panics" })]);
    assert_eq!(truth["drops"], 6, "five that were dropped, and one that panicked");
    for (name, lives, polls) in [
        ("sleeper", 1, truth["sleeper-polls"]),
        ("aborted", 1, 1),
        ("loser", 1, truth["loser-polls"]),
        ("panics", 1, 3),
        ("left", 3, 3),
    ] {
        assert_eq!(count(&visits, true, "live", name), lives, "{name}");
        assert_eq!(count(&visits, true, "run", name), polls, "{name}");
        assert_eq!(count(&visits, false, "poll", name), polls, "{name}");
    }
    assert_eq!(count(&visits, false, "poll", "blocking"), 1);
    // The sleeper has slept 20 ms from within its first poll on, and was not ready meanwhile.
    let time = |verb: &str| {
        let of = |it: &&Visit| it.is_lane && it.noun == "sleeper" && it.verb == verb;
        visits.iter().filter(of).map(|it| it.end - it.start).sum::<i64>()
    };
    let slept = time("live") - time("ready");
    assert!(slept >= 19_000_000, "slept {slept} ns");
    // It was woken by whoever ran `main`.
    let woken = edges_to(&edges, "wake", &visits, |it| it.verb == "poll" && it.noun == "sleeper");
    assert_eq!(woken, truth["sleeper-polls"] - 1);
    // Workers park, and are left by nothing else meanwhile.
    let parks: Vec<&Visit> = visits.iter().filter(|it| it.verb == "park").collect();
    assert!(!parks.is_empty() && parks.iter().all(|it| it.noun == "tokio worker" && !it.is_lane));
    run.is_whole();
}

#[test]
fn each_job_is_there_and_those_that_another_thread_did_are_stolen() {
    let Some(run) = record(&["jobs", "6"], &["--budget", "off"]) else { return };
    let (truth, visits, edges) = (&run.truth, run.visits(), run.edges());
    assert_eq!((truth["joins"], truth["leaves"], truth["stolen"]), (63, 64, 1));
    let of_join = |verb: &str| {
        let is_it = |it: &&Visit| it.verb == verb && it.noun.starts_with("jobs.rs:");
        visits.iter().filter(is_it).count() as u64
    };
    assert_eq!(of_join("join"), truth["joins"]);
    assert_eq!(of_join("run") + of_join("steal"), 2 * truth["joins"], "two for each join");
    assert_eq!(count(&visits, false, "spawn", "meets"), truth["spawned"]);
    assert_eq!(count(&visits, false, "steal", "meets"), truth["stolen"]);
    assert_eq!(count(&visits, false, "run", "meets"), truth["spawned"] - truth["stolen"]);
    assert_eq!(count(&visits, false, "run", "piece") + count(&visits, false, "steal", "piece"), 16);
    assert!(count(&visits, false, "steal", "piece") >= 1, "the two ends were done by two threads");
    // What is done for a thread outside of the pool is done by another one, always.
    for name in ["tree", "pair", "sum"] {
        assert_eq!(count(&visits, false, "steal", name), 1, "{name}");
        assert_eq!(count(&visits, false, "install", name), 1, "{name}");
    }
    // Each theft has an edge from who made the job, on another thread.
    let stolen = visits.iter().filter(|it| it.verb == "steal").count() as u64;
    assert_eq!(edges_to(&edges, "spawn", &visits, |it| it.verb == "steal"), stolen);
    assert!(
        run.lanes("meets") == 0
            && run.places().iter().filter(|(name, _)| name.starts_with("pool ")).count() == 2
    );
    run.is_whole();
}

#[test]
fn spans_are_regions_and_those_that_are_suspended_have_lanes() {
    let Some(run) = record(&["spans", "10"], &["--budget", "off"]) else { return };
    let (truth, visits) = (&run.truth, run.visits());
    let (step, request) = ("tasks::spans::step", "tasks::spans::request");
    assert_eq!((truth["steps"], truth["requests"], truth["polls"]), (10, 10, 30));
    assert_eq!(count(&visits, false, "execute", step), truth["steps"]);
    assert_eq!(run.lanes(step), 0, "what is never suspended needs no lane");
    // tokio's poll, and `Instrumented` once more when it drops what it holds.
    assert_eq!(count(&visits, false, "execute", request), truth["polls"] + truth["requests"]);
    assert_eq!(count(&visits, true, "live", request), truth["requests"]);
    assert_eq!(count(&visits, true, "run", request), truth["polls"] + truth["requests"]);
    assert_eq!(run.lanes(request) as u64, truth["requests"], "all are there at a time");
    // Each slept twice for 5 ms, which is on no thread.
    let lives: Vec<&Visit> = visits.iter().filter(|it| it.verb == "live" && it.noun == request).collect();
    assert!(lives.iter().all(|it| it.end - it.start >= 10_000_000), "{lives:#?}");
    for life in lives {
        let runs = visits.iter().filter(|it| it.place == life.place && it.verb == "run");
        assert!(runs.clone().all(|it| life.start <= it.start && it.end <= life.end));
        assert!(runs.map(|it| it.end - it.start).sum::<i64>() < (life.end - life.start) / 2);
    }
    // Fields with their types; what is told later, too.
    let facts = run.events(step);
    let whole = |number: u64| serde_json::json!({ "number": number, "state": "plain", "ratio": 0.5 });
    assert_eq!(facts.iter().filter(|fields| (0..10).any(|n| **fields == whole(n))).count(), 10);
    let late = |fields: &&Value| fields["late"].as_u64().is_some_and(|it| it % 2 == 0);
    assert_eq!(facts.iter().filter(late).count(), 10, "{facts:#?}");
    let kinds = run.archive().table("event_kinds").unwrap();
    let solved = kinds.text("name").unwrap().iter().find(|name| name.starts_with("info ")).cloned().unwrap();
    let solved = run.events(&solved);
    let first =
        serde_json::json!({ "residual": 1.5, "iterations": 0, "converged": true, "message": "solved" });
    assert_eq!((solved.len(), &solved[0]), (10, &first));
    let answered = kinds.text("name").unwrap().iter().filter(|name| name.starts_with("debug ")).cloned();
    let answered: usize = answered.map(|name| run.events(&name).len()).sum();
    assert_eq!((solved.len() + answered) as u64, truth["events"]);
    // What follows from another leads from its end to the other's begin.
    let second = |it: &Visit| it.noun == "tasks::spans::second";
    assert_eq!(edges_to(&run.edges(), "wake", &visits, second), 1);
    run.is_whole();
}

/// Each number's bits say which fields there are, so 300 numbers are 300 combinations; 256 of them are kept.
#[test]
fn what_comes_with_more_combinations_of_fields_than_are_told_apart_is_counted() {
    let Some(run) = record(&["combinations", "300"], &["--budget", "off"]) else { return };
    assert_eq!((run.truth["events"], run.truth["steps"]), (600, 300));
    let combined = "tasks::spans::combined";
    let (events, facts) = (run.events(combined), run.events("tasks::spans::combining"));
    let number = |fields: &Value| fields.as_object().unwrap().values().next().unwrap().as_u64().unwrap();
    let twice: Vec<u64> = (1..=256).chain(1..=256).collect();
    assert_eq!(events.iter().map(number).collect::<Vec<_>>(), twice);
    assert_eq!(facts.iter().map(number).collect::<Vec<_>>(), twice[..256]);
    let info = run.json("info");
    assert_eq!(info["problems"]["dropped"], 2 * 44 + 44);
    let said = run.show(&["info"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("dropped 132 process 0") && said.contains("of more kinds, regions or lanes"),
        "{said}"
    );
    // Spans themselves are there, and fewer are no problem.
    assert_eq!(count(&run.visits(), false, "execute", "tasks::spans::combining"), 300);
    let Some(run) = record(&["combinations", "256"], &["--budget", "off"]) else { return };
    assert_eq!(run.events(combined).len(), 512);
    run.is_whole();
}

#[test]
fn threads_of_the_standard_library_have_their_names() {
    let Some(run) = record(&["threads"], &[]) else { return };
    let places = run.places();
    for number in 0..3 {
        let name = format!("reader {number}");
        assert_eq!(places.iter().filter(|(it, is_lane)| *it == name && !is_lane).count(), 1, "{places:?}");
    }
}

/// Ten thousand, 250 at a time, and the numbers are still those of the program.
#[test]
fn ten_thousand_tasks_are_all_there() {
    let Some(run) = record(&["tasks", "10000", "1", "250"], &["--budget", "off"]) else { return };
    let (truth, visits) = (&run.truth, run.visits());
    assert_eq!(truth["tasks"], 10_100);
    assert_eq!(count(&visits, false, "spawn", "small"), 10_000);
    assert_eq!(count(&visits, false, "poll", "small"), truth["polls"]);
    assert_eq!(count(&visits, true, "live", "small"), 10_000);
    // Lanes have no share of anything: three threads have time, and so long.
    let report = run.json("report");
    let region = |verb: &str| {
        let mut rows = report["regions"].as_array().unwrap().iter();
        rows.find(|row| (&row["verb"], &row["noun"]) == (&verb.into(), &"small".into()))
    };
    assert!(report["efficiency"]["locations"].as_u64().unwrap() <= 3);
    assert_eq!(region("poll").unwrap()["calls"], truth["polls"]);
    assert!(region("live").is_none_or(|row| row["calls"] == 0));
    let tasks = report["tasks"].as_array().unwrap().iter().find(|row| row["name"] == "small").unwrap();
    assert_eq!((&tasks["number"], &tasks["runs"]), (&10_000.into(), &truth["polls"].into()));
    let parts = ["running_ns", "ready_ns", "waiting_ns"].map(|part| tasks[part].as_i64().unwrap());
    assert_eq!(parts.iter().sum::<i64>(), tasks["lived_ns"].as_i64().unwrap(), "the parts are the whole");
    let on_path = report["critical_path"].as_array().unwrap();
    assert!(on_path.iter().all(|row| !row["region"].as_str().unwrap_or_default().starts_with("live")));
    run.is_whole();
}

/// Tasks, jobs and messages share one timeline: each message is sent by a task, beneath its poll.
#[test]
fn mpi_messages_lie_beneath_the_tasks_that_send_them() {
    let Some((place, program)) = program() else { return };
    if Command::new("mpirun.openmpi").arg("--version").output().is_err() {
        return marey_testkit::skip("mpirun.openmpi");
    }
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.args(["record", "--budget", "off", "--", "mpirun.openmpi", "--oversubscribe", "-n", "2"]);
    record.arg(program).args(["mpi", "10"]).current_dir(place.path()).stdin(Stdio::null());
    record.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    let truth = truth(&record.env_remove("LD_PRELOAD").output().unwrap());
    let run = Run { place, truth };
    assert_eq!((run.truth["messages-0"], run.truth["messages-1"]), (20, 20));
    let archive = run.archive();
    assert_eq!(archive.table("messages").unwrap().len(), 20);
    let (paths, regions) = (archive.table("call_paths").unwrap(), archive.table("regions").unwrap());
    let words = |path: u32| {
        let region = paths.u32("region").unwrap()[path as usize] as usize;
        (regions.text("verb").unwrap()[region].as_str(), regions.text("noun").unwrap()[region].as_str())
    };
    let profile = archive.table("profile").unwrap();
    let mut calls = [0, 0];
    for row in 0..profile.len() {
        let path = profile.u32("call_path").unwrap()[row];
        if ["MPI_Send", "MPI_Recv"].contains(&words(path).0) {
            let above = paths.u32("parent").unwrap()[path as usize];
            assert_eq!(words(above), ("poll", "exchange"));
            calls[usize::from(words(path).0 == "MPI_Recv")] += profile.i64("visits").unwrap()[row];
        }
    }
    assert_eq!(calls, [20, 20]);
    let visits = run.visits();
    assert_eq!(count(&visits, true, "live", "exchange"), 20);
    assert_eq!(count(&visits, false, "poll", "exchange"), 40, "each gives way once");
    assert_eq!(count(&visits, false, "steal", "compute"), 20, "the pool does what the task hands in");
    // Only threads have time: two ranks, each with its own, two workers and two of the pool.
    let report = run.json("report");
    let compared = report["efficiency"]["locations"].as_u64().unwrap();
    assert!((2..=10).contains(&compared), "{compared} locations");
    let tasks = report["tasks"].as_array().unwrap();
    let exchange = tasks.iter().find(|row| row["name"] == "exchange").unwrap();
    assert_eq!((&exchange["number"], &exchange["runs"]), (&20.into(), &40.into()));
    run.is_whole();
}

/// The same numbers without a recorder, and nothing is written.
#[test]
fn without_a_recorder_the_programs_do_the_same() {
    let Some((place, program)) = program() else { return };
    let run = |words: &[&str]| {
        let mut command = Command::new(&program);
        truth(&command.args(words).current_dir(place.path()).env_remove("LD_PRELOAD").output().unwrap())
    };
    let tasks = run(&["tasks", "200", "3"]);
    assert_eq!((tasks["tasks"], tasks["ends"], tasks["polls"]), (300, 300, 800));
    assert_eq!(run(&["endings"])["drops"], 6);
    let jobs = run(&["jobs", "6"]);
    assert_eq!((jobs["joins"], jobs["leaves"], jobs["spawned"], jobs["stolen"]), (63, 64, 2, 1));
    assert_eq!(run(&["spans", "10"])["events"], 20);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "the program");
}
