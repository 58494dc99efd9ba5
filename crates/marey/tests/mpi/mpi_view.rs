//! The viewer in a real browser, on a real run and on one whose names are made to do harm.
//!
//! What users do and what they must see then stands in `ui/test/`; here runs are made and served.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use marey_archive::merge::{Config, merge};
use marey_archive::prepare;
use marey_testkit::{Message, Spool};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need, which};

/// A viewer that is being served.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(run: &Path, words: &[&str]) -> Self {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        marey.arg("view").arg(run).args(words);
        Self::started(marey)
    }

    /// Those beneath a directory.
    fn all(directory: &Path) -> Self {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        // No other runs of this machine are in the list.
        marey.arg("view").current_dir(directory).env("XDG_STATE_HOME", directory.join(".state"));
        Self::started(marey)
    }

    fn started(mut marey: Command) -> Self {
        let mut child = marey.arg("--no-open").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).ok();
        assert!(self.child.wait().is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

/// Node and the scripts, if all of it is there and the viewer was built.
fn browser() -> Option<(PathBuf, PathBuf)> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    let is_there = ["chromium", "chromium-browser", "google-chrome"].iter().any(|name| which(name).is_some())
        && ui.join("node_modules/playwright-core").is_dir()
        && ui.join("dist/index.html").is_file();
    let node = which("node").filter(|_| is_there)?;
    Some((node, ui))
}

/// Serves a run, and does in a browser what a case says.
pub(crate) fn look(run: &Path, words: &[&str], case: &str, place: &Place) {
    let there = need!(browser(), "Chromium, npm's packages in ui/ and the page that `cargo xtask ui` builds");
    let served = Served::new(run, words);
    see(&there, &[&served.address, case], place);
}

/// The same with a file that says what is to be seen.
pub(crate) fn look_for(run: &Path, case: &str, file: &Path, place: &Place) {
    look_with(run, &[], case, file, place);
}

/// With both.
pub(crate) fn look_with(run: &Path, words: &[&str], case: &str, file: &Path, place: &Place) {
    let there = need!(browser(), "Chromium, npm's packages in ui/ and the page that `cargo xtask ui` builds");
    let served = Served::new(run, words);
    see(&there, &[&served.address, case, &file.to_string_lossy()], place);
}

/// Does in a browser what a case says.
fn see((node, ui): &(PathBuf, PathBuf), words: &[&str], place: &Place) {
    // MAREY_PICTURES=DIR keeps what the browser shows.
    let pictures = std::env::var_os("MAREY_PICTURES").map_or_else(|| place.dir("pictures"), PathBuf::from);
    std::fs::create_dir_all(&pictures).unwrap();
    let mut script = Command::new(node);
    script.current_dir(ui).arg("test/browser.mjs").args(&words[..2]).arg(pictures).args(&words[2..]);
    let output = script.stdin(Stdio::null()).output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", said(&output.stdout), said(&output.stderr));
    assert!(said(&output.stdout).contains("all of it holds"));
}

/// The same, if pages can be exported.
pub(crate) fn browser_and_engine() -> Option<(PathBuf, PathBuf)> {
    browser().filter(|(_, ui)| ui.join("dist/engine.wasm.gz").is_file())
}

#[test]
fn a_run_of_lammps_in_the_browser() {
    let lammps = need!(Mpi::Open.installed().and_then(|_| which("lmp")), "LAMMPS and Open MPI");
    let place = Place::new();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lammps/in.melt");
    let job = Job::new(Mpi::Open, 4, lammps).arg("-in").arg(input);
    let run = job.clone().record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    look(run.path(), &[], "lammps", &place);
    look(run.path(), &[], "explained", &place);
    for case in ["addresses", "keys", "tables", "histogram", "finder"] {
        look(run.path(), &[], case, &place);
    }
    let there = need!(browser_and_engine(), "the engine of exported pages that `cargo xtask ui` builds");
    let rules = place.path().join("next.rules");
    let chosen = Served::new(run.path(), &[]);
    see(&there, &[&chosen.address, "next", &rules.to_string_lossy()], &place);
    recorded_by_rules(&run, &job, &rules, &place);
    let served = Served::new(run.path(), &[]);
    see(&there, &[&served.address, "exported", &exported(run.path(), &[], &place)], &place);
}

/// The program again, with the rules that were chosen in the browser: calls of the one are added up, of the other there are none.
fn recorded_by_rules(before: &Run, job: &Job, rules: &Path, place: &Place) {
    let again = job.clone().option("--filter").option(&rules.to_string_lossy()).record(&place.dir("again"));
    let calls = |run: &Run, name: &str| -> u64 {
        run.mpi_calls().values().filter_map(|of_rank| of_rank.get(name)).sum()
    };
    assert!(0 < calls(before, "MPI_Wtime"));
    assert_eq!(calls(&again, "MPI_Wtime"), 0);
    assert_eq!(calls(&again, "MPI_Send"), calls(before, "MPI_Send"));
    let traced = |run: &Run| run.json("info")["messages"].as_u64().unwrap();
    assert!(traced(&again) < traced(before) / 2, "{} and {}", traced(&again), traced(before));
}

/// What programs say themselves: counters, and states that overlap.
#[test]
fn what_stands_beneath_the_rows_in_the_browser() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
    let build = Build {
        mpi,
        compiler: Compiler::C,
        sources: &["tracks.c"],
        flags: &["-O1", &format!("-I{}", include.display())],
        output: "tracks",
    };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let run = Job::new(mpi, 4, program).option("--counters=page-faults").record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    look(run.path(), &[], "tracks", &place);
    look(run.path(), &[&run.path().to_string_lossy()], "beside", &place);
}

/// Three nodes with two ranks each, of which the first has three threads; ranks send to the next one.
fn on_three_nodes() -> Spool {
    let mut spool = Spool::world(6);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        process.host = format!("node-{}", rank / 2);
        process.boot = format!("boot-{}", rank / 2);
        let (work, help) = (process.site(0, "work"), process.site(0, "help"));
        let (send, receive) = (process.site(1, "MPI_Send"), process.site(1, "MPI_Recv"));
        let message = |peer: u64| Message {
            communicator: 0,
            peer: i64::try_from(peer % 6).unwrap(),
            tag: 1,
            bytes: 800,
        };
        for round in 0..40 {
            let at = 100_000 * round + 1000;
            process.enter(0, work, at);
            process.leave(0, at + 40_000 + 2000 * rank);
            process.enter(0, send, at + 60_000);
            process.send(0, message(rank + 1));
            process.leave(0, at + 62_000);
            process.enter(0, receive, at + 62_500);
            process.receive(0, message(rank + 5));
            process.leave(0, at + 90_000);
            for thread in (1..3).filter(|_| rank == 0) {
                process.enter(thread, help, at);
                process.leave(thread, at + 30_000);
            }
        }
        process.end = Some(4_100_000);
    }
    spool
}

#[test]
fn rows_of_several_nodes_stand_in_groups() {
    let place = Place::new();
    let (from, to) = (place.path().join("spool"), place.path().join("nodes.marey"));
    on_three_nodes().write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    look(&to, &[], "nodes", &place);
    look(&to, &[&to.to_string_lossy()], "hosts", &place);
}

#[test]
fn two_runs_of_lammps_in_the_browser() {
    let lammps = need!(Mpi::Open.installed().and_then(|_| which("lmp")), "LAMMPS and Open MPI");
    let place = Place::new();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lammps/in.melt");
    let runs = [2, 4].map(|ranks| {
        let job = Job::new(Mpi::Open, ranks, &lammps).arg("-in").arg(&input);
        let run = job.record(&place.dir(&format!("with-{ranks}")));
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        run
    });
    let other = runs[1].path().to_string_lossy();
    look(runs[0].path(), &[&other], "compare", &place);
    let there = need!(browser_and_engine(), "the engine of exported pages that `cargo xtask ui` builds");
    let served = Served::new(runs[0].path(), &[&other]);
    let page = exported(runs[0].path(), &[&other], &place);
    see(&there, &[&served.address, "exportedPair", &page], &place);
}

#[test]
fn names_are_shown_as_texts() {
    const HARM: &str = "<img src=x onerror=\"window.harmed=1\">";
    /// What is behind it would be read from right to left.
    const TURNED: &str = "gnp\u{202e}exe.שלום";
    const UNSEEN: &str = "tab\tbell\u{7}";
    let place = Place::new();
    let mut spool = Spool::world(2);
    for process in &mut spool.processes {
        for (number, verb) in
            [HARM, "</script><script>window.harmed=2</script>", "javascript:harmed=3", TURNED, UNSEEN]
                .iter()
                .enumerate()
        {
            let (site, at) = (process.site(0, verb), 1000 * (number as u64 + 1));
            process.enter(0, site, at);
            process.leave(0, at + 500);
        }
    }
    let (from, to) = (place.path().join("spool"), place.path().join("harm.marey"));
    spool.write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    let again = to.to_string_lossy();
    look(&to, &[&again, "--prefix", "/some/where/"], "hostile", &place);
    let there = need!(browser_and_engine(), "the engine of exported pages that `cargo xtask ui` builds");
    see(&there, &[&exported(&to, &[], &place), "hostile"], &place);
}

#[test]
fn runs_are_listed_and_opened() {
    let there = need!(browser(), "Chromium, npm's packages in ui/ and the page that `cargo xtask ui` builds");
    let place = Place::new();
    for name in ["harm.marey", "<img src=x onerror=harmed=1>.marey"] {
        let mut spool = Spool::world(2);
        for process in &mut spool.processes {
            let site = process.site(0, name);
            (0..50).for_each(|visit| {
                process.enter(0, site, 1000 * visit);
                process.leave(0, 1000 * visit + 600);
            });
            process.end = Some(50_000);
        }
        let from = place.path().join("from");
        spool.write(&from).unwrap();
        let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false };
        merge(&from, &place.path().join(name), &config, &()).unwrap();
    }
    Spool::world(1).write(&place.path().join("half.marey/spool")).unwrap();
    let served = Served::all(place.path());
    see(&there, &[&served.address, "runs"], &place);
}

/// Ranks that exchange with their neighbours in twenty steps and then add up; one of them is slower in every third step.
#[test]
fn pictures_are_those_that_were_looked_at() {
    let there = need!(browser(), "Chromium, npm's packages in ui/ and the page that `cargo xtask ui` builds");
    let place = Place::new();
    let mut spool = Spool::world(6);
    let ranks = spool.processes.len() as u64;
    let message = |peer: u64| Message { communicator: 0, peer: peer.cast_signed(), tag: 1, bytes: 4096 };
    for (rank, process) in (0_u64..).zip(&mut spool.processes) {
        let [main, step, relax] = ["main", "step", "relax"].map(|verb| process.site(0, verb));
        let [send, receive, sum] =
            ["MPI_Send", "MPI_Recv", "MPI_Allreduce"].map(|verb| process.site(1, verb));
        process.enter(0, main, 20_000 + 3000 * rank);
        for number in 0..20 {
            let at = 60_000 + 95_000 * number;
            let slow = if rank == 2 && number % 3 == 0 { 35_000 } else { 0 };
            let worked = at + 30_000 + 2000 * rank + slow;
            process.enter(0, step, at);
            process.enter(0, relax, at + 500);
            process.leave(0, worked);
            process.enter(0, send, worked + 100);
            process.send(0, message((rank + 1) % ranks));
            process.leave(0, worked + 3000);
            // All wait for the one before them.
            let before = (rank + ranks - 1) % ranks;
            let late = if before == 2 && number % 3 == 0 { 35_000 } else { 0 };
            let arrived = (at + 30_000 + 2000 * before + late + 4000).max(worked + 4000);
            process.enter(0, receive, worked + 3100);
            process.receive(0, message(before));
            process.leave(0, arrived);
            process.enter(0, sum, arrived + 200);
            process.leave(0, at + 86_000);
            process.leave(0, at + 90_000);
        }
        process.leave(0, 1_970_000);
        process.end = Some(2_000_000);
    }
    let (from, to) = (place.path().join("spool"), place.path().join("made-up.marey"));
    spool.write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    prepare(&to).unwrap();
    let served = Served::new(&to, &[]);
    see(&there, &[&served.address, "references"], &place);
}

#[test]
fn a_page_without_visits_has_pictures_all_the_same() {
    let there =
        need!(browser_and_engine(), "Chromium, npm's packages in ui/ and all that `cargo xtask ui` builds");
    let place = Place::new();
    let mut spool = Spool::world(2);
    let mut chance = marey_testkit::Chance::new(1);
    for process in &mut spool.processes {
        let mut at = 0;
        let sites = ["work", "more", "rest"].map(|verb| process.site(0, verb));
        for visit in 0..250_000_usize {
            process.enter(0, sites[visit % 3], at);
            at += 1 + chance.below(3000);
            process.leave(0, at);
            at += 1 + chance.below(900);
        }
        process.end = Some(at);
    }
    let (from, to) = (place.path().join("spool"), place.path().join("long.marey"));
    spool.write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    let page = exported(&to, &["--most-mib", "1"], &place);
    see(&there, &[&page, "coarse"], &place);
    // What was changed on its way says so. One that was cut off has no script to say anything.
    let path = place.path().join("page.html");
    let mut changed = std::fs::read(&path).unwrap();
    let run = String::from_utf8_lossy(&changed).rfind("data-marey=\"run\"").unwrap();
    changed[run + 1000..run + 1003].fill(b'*');
    std::fs::write(&path, &changed).unwrap();
    see(&there, &[&page, "damaged"], &place);
}

/// A run with one region of a rank, by some name.
fn write_small(place: &Place, run: &Path, verb: &str) {
    let mut spool = Spool::world(1);
    for process in &mut spool.processes {
        let site = process.site(0, verb);
        process.enter(0, site, 1000);
        process.leave(0, 40_000);
        process.end = Some(50_000);
    }
    let from = place.path().join(format!("spool-{verb}"));
    spool.write(&from).unwrap();
    merge(&from, run, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
}

#[test]
fn a_server_that_ends_is_told_and_found_again() {
    let there = need!(browser(), "Chromium, npm's packages in ui/ and the page that `cargo xtask ui` builds");
    let place = Place::new();
    let run = place.path().join("run.marey");
    write_small(&place, &run, "work");
    write_small(&place, &place.path().join("run.marey.other"), "rest");
    let words = [env!("CARGO_BIN_EXE_marey"), run.to_str().unwrap()];
    see(&there, &["about:blank", "ended", &serde_json::to_string(&words).unwrap()], &place);
}

#[test]
fn a_page_that_is_given_no_worker_says_what_that_means() {
    let there = need!(browser_and_engine(), "the engine of exported pages that `cargo xtask ui` builds");
    let place = Place::new();
    let run = place.path().join("run.marey");
    write_small(&place, &run, "work");
    see(&there, &[&exported(&run, &[], &place), "workerless"], &place);
}

/// The run as a page, by its address.
pub(crate) fn exported(run: &Path, words: &[&str], place: &Place) -> String {
    let page = place.path().join("page.html");
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.arg("export").arg(run).args(["--to", "html", "-o"]).arg(&page).args(words);
    let output = marey.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("file://{}", page.display())
}
