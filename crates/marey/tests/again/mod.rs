//! `marey view RUN --allow-run`: the recorded command once more, by what a page asks and by nothing else.
#![expect(clippy::disallowed_methods, reason = "a test waits for a while, and measures nothing")]

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use serde_json::Value;

use super::listed::Page;
use super::{Answer, sample};

/// Longer than any of this takes on a busy machine.
const EVER: Duration = Duration::from_secs(60);

const RULES: &str = "off   source:main\n";

/// A program that records itself, and does what a shell is told.
const SHELL: &str = "#include <stdlib.h>\n#include <sys/wait.h>\n\
    int main(int words, char **word) { (void)words; return WEXITSTATUS(system(word[1])); }\n";

/// A run of a command.
fn record(dir: &Path, script: &str) {
    std::fs::write(dir.join("shell.c"), SHELL).unwrap();
    let mut cc = Command::new("cc");
    cc.current_dir(dir).args(["-finstrument-functions", "-rdynamic", "-o", "shell", "shell.c"]);
    assert!(cc.status().unwrap().success());
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state"));
    marey.args(["record", "-o", "run.marey", "--sample=off", "--rule=count nothing", "--title=first"]);
    let output = marey.args(["--", "./shell", script]).output().unwrap();
    assert!(dir.join("run.marey/meta.json").is_file(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Asks as the page does; `more` are lines of its head.
fn post(page: &Page, path: &str, more: &str, body: &str) -> (u16, String) {
    let (host, at) = (page.served.parts().0, page.served.at(path));
    let answer = page.served.ask(&format!(
        "POST {at} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ));
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
}

/// With the cookie, and the run that was seen.
fn known(page: &Page) -> String {
    let seen: Answer = page.post("/", r#"{"ask":"run"}"#);
    format!("Cookie: {}\r\nX-Marey-Run: {}\r\n", page.cookie, seen.header("x-marey-run").unwrap())
}

fn json(page: &Page, path: &str) -> Value {
    let answer = page.get(path);
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}

/// What was started last, when it has ended.
fn ended(page: &Page) -> Value {
    let began = Instant::now();
    loop {
        let state = json(page, "/api/again/state");
        if state["is_running"] == false {
            return state;
        }
        assert!(began.elapsed() < EVER, "{state}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// How often the command has run.
fn times(dir: &Path) -> usize {
    std::fs::read_to_string(dir.join("times")).map_or(0, |text| text.lines().count())
}

#[test]
fn nothing_is_started_that_the_user_has_not_allowed() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), "echo once >> times");
    assert_eq!(times(dir.path()), 1);
    let page = Page::new(dir.path(), &["run.marey"]);
    let (status, why) = post(&page, "/api/again", &known(&page), RULES);
    assert_eq!(status, 403);
    assert!(why.contains("marey view run.marey --allow-run"), "{why}");
    assert_eq!(json(&page, "/api/again")["why_not"], why);
    assert_eq!(json(&page, "/api/again/state"), Value::Null);
    assert_eq!(page.get("/run/0/api/again").status, 200);
    assert_eq!(post(&page, "/run/0/api/again", &known(&page), RULES).0, 403);
    // Nor for a list of runs, of which each could come from elsewhere.
    let output = Command::new(env!("CARGO_BIN_EXE_marey")).args(["view", "--allow-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(times(dir.path()), 1);
}

#[test]
fn who_is_not_the_page_starts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), "echo once >> times");
    let page = Page::new(dir.path(), &["run.marey", "--allow-run"]);
    let own = known(&page);
    let cookie = format!("Cookie: {}\r\n", page.cookie);
    let refused = |more: &str, body: &str| post(&page, "/api/again", more, body).0;
    assert_eq!(refused(&format!("{own}Origin: http://evil.example\r\n"), RULES), 403);
    assert_eq!(refused("", RULES), 401);
    let cancel = |more: &str| post(&page, "/api/again/cancel", more, "").0;
    assert_eq!(cancel(&format!("{own}Origin: http://evil.example\r\n")), 403);
    assert_eq!((cancel(""), cancel(&own)), (401, 204), "there is nothing to cancel");
    assert_eq!(refused(&cookie, RULES), 400, "which run is meant is not said");
    assert_eq!(refused(&format!("{cookie}X-Marey-Run: 0123456789abcdef\r\n"), RULES), 410, "another run is");
    assert_eq!(refused(&own, "forget main\n"), 400);
    assert_eq!(refused(&own, "off x\u{1b}[2J\n"), 400);
    assert_eq!(refused(&own, &"off x\n".repeat(11_000)), 413);
    assert_eq!(post(&page, "/run/1/api/again", &own, RULES).0, 404, "of a run that was not named");
    assert_eq!(page.get("/api/again").status, 200);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(times(dir.path()), 1);
    assert_eq!(json(&page, "/api/again/state"), Value::Null);
    assert!(!dir.path().join("run-2.rules").exists());
}

#[test]
fn the_recorded_command_runs_once_more_and_both_runs_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    record(
        dir.path(),
        "echo once >> times; grep SigIgn /proc/$$/status >> ignored; while [ -e wait ]; do sleep 0.02; done; echo '<b>told</b>'; exit 7",
    );
    std::fs::write(dir.path().join("wait"), "").unwrap();
    let page = Page::new(dir.path(), &["run.marey", "--allow-run"]);
    let plan = json(&page, "/api/again");
    assert_eq!((&plan["why_not"], plan["output"].as_str()), (&Value::Null, Some("run-2.marey")));
    assert!(plan["command"].as_str().unwrap().starts_with("./shell 'echo once"), "{plan}");
    assert_eq!(Path::new(plan["directory"].as_str().unwrap()), dir.path().canonicalize().unwrap());
    assert_eq!(
        (&plan["options"], &plan["rules"][0]),
        (&Value::from("--sample=off"), &Value::from("count nothing"))
    );
    let own = known(&page);
    assert_eq!(post(&page, "/api/again", &own, RULES), (204, String::new()));
    let (status, why) = post(&page, "/api/again", &own, RULES);
    assert_eq!(status, 409, "one at a time");
    assert!(why.contains("runs already"), "{why}");
    assert_eq!(json(&page, "/api/again/state")["is_running"], true);
    std::fs::remove_file(dir.path().join("wait")).unwrap();
    let state = ended(&page);
    assert_eq!((&state["code"], &state["is_cancelled"]), (&Value::from(7), &Value::from(false)), "{state}");
    assert!(state["lines"].as_array().unwrap().contains(&Value::from("<b>told</b>")), "{state}");
    assert_eq!(times(dir.path()), 2);
    let ignored = std::fs::read_to_string(dir.path().join("ignored")).unwrap();
    let ignored: Vec<&str> = ignored.lines().collect();
    assert_eq!((ignored.len(), ignored[0]), (2, ignored[1]), "signals are as they were");
    assert_eq!(std::fs::read_to_string(dir.path().join("run-2.rules")).unwrap(), RULES);
    // The options of the first recording, and the rules of this one.
    let facts = |run: &str| -> Value {
        let meta = std::fs::read(dir.path().join(run).join("meta.json")).unwrap();
        serde_json::from_slice::<Value>(&meta).unwrap()["run"].clone()
    };
    let (before, made) = (facts("run.marey"), facts("run-2.marey"));
    assert!(made["settings"].as_array().unwrap().contains(&Value::from("--sample=off")), "{made}");
    assert_eq!(made["settings"], before["settings"]);
    let rule = made["rules"][0].as_str().unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!((made["rules"].as_array().unwrap().len(), rule), (1, vec!["off", "source:main"]));
    assert_eq!((before["title"].as_str(), made["title"].as_str()), (Some("first"), Some("")));
    assert_eq!(state["page"], "run/0-1/");
    let both = page.head("/run/0-1/", r#"{"ask":"run"}"#);
    assert_eq!((both["name"].as_str(), both["other"].as_str()), (Some("run.marey"), Some("run-2.marey")));
    // And nothing else has a number.
    assert_eq!(page.post("/run/0-2/", r#"{"ask":"run"}"#).status, 409);
    assert_eq!(page.post("/run/1/", r#"{"ask":"run"}"#).status, 404);
}

#[test]
fn what_was_started_ends_with_cancel_and_with_the_server() {
    let dir = tempfile::tempdir().unwrap();
    record(dir.path(), "[ -e long ] && echo $$ $PPID > pid && exec sleep 600; true");
    std::fs::write(dir.path().join("long"), "").unwrap();
    let pid = dir.path().join("pid");
    let started = |page: &Page| {
        assert_eq!(post(page, "/api/again", &known(page), RULES).0, 204);
        let began = Instant::now();
        loop {
            let text = std::fs::read_to_string(&pid).unwrap_or_default();
            // Of the last process that was started, and of the program.
            if let Some(pids) = text.strip_suffix('\n') {
                std::fs::remove_file(&pid).unwrap();
                let pids = pids.split(' ').map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
                return <[Pid; 2]>::try_from(pids.collect::<Vec<_>>()).unwrap();
            }
            assert!(began.elapsed() < EVER, "{}", json(page, "/api/again/state"));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // Who has ended keeps its number until somebody asks for its status, which nobody may.
    let is_there = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    let page = Page::new(dir.path(), &["run.marey", "--allow-run"]);
    let [last, program] = started(&page);
    assert!(is_there(last) && is_there(program));
    // Pressed twice: what was recorded is merged all the same.
    assert_eq!(post(&page, "/api/again/cancel", &known(&page), "").0, 204);
    assert_eq!(post(&page, "/api/again/cancel", &known(&page), "").0, 204);
    let state = ended(&page);
    assert_eq!(state["is_cancelled"], true, "{state}");
    assert!(state["page"].is_string(), "{state}");
    assert!(!is_there(last) && !is_there(program), "{state}");
    let [last, program] = started(&page);
    assert!(is_there(last) && is_there(program));
    drop(page);
    assert!(!is_there(last) && !is_there(program), "the server has ended");
    // One that is killed can end nothing, but the recorder hears of it, and passes on to the program that it is to end.
    let page = Page::new(dir.path(), &["run.marey", "--allow-run"]);
    let [last, program] = started(&page);
    page.served.kill();
    let began = Instant::now();
    while is_there(program) {
        assert!(began.elapsed() < EVER, "the server was killed");
        std::thread::sleep(Duration::from_millis(20));
    }
    rustix::process::kill_process(last, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn what_cannot_be_run_again_says_why() {
    let dir = tempfile::tempdir().unwrap();
    // A run that does not say where it was recorded, as one that was redacted.
    sample::write(&dir.path().join("run.marey"));
    let page = Page::new(dir.path(), &["run.marey", "--allow-run"]);
    let why = json(&page, "/api/again")["why_not"].as_str().unwrap().to_owned();
    assert!(why.contains("does not say in which directory it was recorded"), "{why}");
    assert_eq!(post(&page, "/api/again", &known(&page), RULES), (409, why));
    drop(page);
    std::fs::remove_dir_all(dir.path().join("run.marey")).unwrap();
    record(dir.path(), "true");
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir.path()).args(["pack", "run.marey", "-o", "packed.marey"]);
    assert!(marey.output().unwrap().status.success());
    let page = Page::new(dir.path(), &["packed.marey", "--allow-run"]);
    let (status, why) = post(&page, "/api/again", &known(&page), RULES);
    assert_eq!(status, 409);
    assert!(why.contains("packed run"), "{why}");
}
