//! `marey view` without a run: those that there are, opened by their numbers and by nothing else.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use super::{Answer, Served, question, sample};

pub(super) struct Page {
    pub(super) served: Served,
    pub(super) cookie: String,
}

impl Page {
    pub(super) fn new(dir: &Path, words: &[&str]) -> Self {
        let served = Served::asked_for(dir, words);
        let cookie = served.cookie();
        Self { served, cookie }
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        let (host, cookie, path) = (self.served.parts().0, &self.cookie, self.served.at(path));
        self.served.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ))
    }

    pub(super) fn post(&self, path: &str, body: &str) -> Answer {
        let more = format!("Cookie: {}\r\n", self.cookie);
        self.served.ask(&question(self.served.parts().0, &self.served.at(path), &more, body))
    }

    /// The head of an answer of a run.
    pub(super) fn head(&self, path: &str, body: &str) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let len = u32::from_le_bytes(answer.body[..4].try_into().unwrap()) as usize;
        let head: Value = serde_json::from_slice(&answer.body[4..4 + len]).unwrap();
        head["head"].clone()
    }

    pub(super) fn runs(&self) -> Vec<Value> {
        let answer = self.get("/api/runs");
        assert_eq!(answer.status, 200);
        let list: Value = serde_json::from_slice(&answer.body).unwrap();
        list["runs"].as_array().unwrap().clone()
    }

    /// What a run under a number is called, by its own answer.
    fn name(&self, looked: &str) -> String {
        let head = self.head(&format!("/run/{looked}/"), r#"{"ask":"run"}"#);
        let other = head["other"].as_str().map_or_else(String::new, |other| format!(" and {other}"));
        format!("{}{other}", head["name"].as_str().unwrap())
    }
}

fn write(run: &Path) {
    std::fs::create_dir_all(run.parent().unwrap()).unwrap();
    sample::write(run);
}

fn of_name<'r>(runs: &'r [Value], name: &str) -> &'r Value {
    runs.iter().find(|run| run["name"] == name).unwrap_or_else(|| panic!("no {name} in {runs:?}"))
}

#[test]
fn runs_are_found_and_opened_by_their_numbers() {
    let dir = tempfile::tempdir().unwrap();
    for place in ["here.marey", "deep/down/there.marey", ".hidden/secret.marey", "1/2/3/4/5/too-deep.marey"] {
        write(&dir.path().join(place));
    }
    // One that is not merged, one that is broken, and what is no run.
    std::fs::create_dir_all(dir.path().join("half.marey/spool")).unwrap();
    std::fs::create_dir_all(dir.path().join("broken.marey")).unwrap();
    std::fs::write(dir.path().join("broken.marey/meta.json"), "{").unwrap();
    std::fs::create_dir_all(dir.path().join("other/stuff")).unwrap();
    std::os::unix::fs::symlink(dir.path().join("here.marey"), dir.path().join("again.marey")).unwrap();
    let page = Page::new(dir.path(), &[]);
    let runs = page.runs();
    let mut names: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["broken.marey", "half.marey", "here.marey", "there.marey"]);
    let there = of_name(&runs, "there.marey");
    assert_eq!(there["place"], "deep/down");
    assert!(there["why_not"].is_null() && there["visits"].as_f64().unwrap() > 0.0, "{there}");
    for name in ["half.marey", "broken.marey"] {
        let run = of_name(&runs, name);
        assert!(run["why_not"].as_str().unwrap().contains(name), "{run}");
        let answer = page.post(&format!("/run/{}/", run["number"]), r#"{"ask":"run"}"#);
        assert_eq!(answer.status, 409, "{name} says why it cannot be opened");
        assert!(String::from_utf8_lossy(&answer.body).contains(name));
    }
    // Each answers for itself, and two of them together.
    let [here, there] = ["here.marey", "there.marey"].map(|name| of_name(&runs, name)["number"].to_string());
    assert_eq!(page.name(&here), "here.marey");
    assert_eq!(page.name(&there), "there.marey");
    assert_eq!(page.name(&format!("{here}-{there}")), "here.marey and there.marey");
    assert_eq!(page.name(&here), "here.marey", "and comes back");
    // A number stays that of its run, whatever comes and goes.
    write(&dir.path().join("a-new-one.marey"));
    std::fs::remove_dir_all(dir.path().join("half.marey")).unwrap();
    let later = page.runs();
    assert_eq!(of_name(&later, "there.marey")["number"].to_string(), there);
    assert!(later.iter().all(|run| run["name"] != "half.marey"));
    assert_eq!(of_name(&later, "a-new-one.marey")["place"], "");
}

#[test]
fn a_page_can_name_no_other_run() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("beneath/run.marey"));
    write(&dir.path().join("secret.marey"));
    let page = Page::new(&dir.path().join("beneath"), &[]);
    let known = page.runs().len();
    assert_eq!(known, 1, "only what lies beneath");
    for looked in
        ["1", "0-1", "99", "0-99", "18446744073709551616", "-1", "0-", "..%2fsecret.marey", "secret.marey"]
    {
        let answer = page.post(&format!("/run/{looked}/"), r#"{"ask":"run"}"#);
        assert!(answer.status == 409 || answer.status == 404, "{looked}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains(r#""kind":"run""#), "{looked}");
    }
    // There is no run at the root, and without the cookie there is no list.
    assert_eq!(page.post("/", r#"{"ask":"run"}"#).status, 404);
    let host = page.served.parts().0;
    let bare =
        format!("GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", page.served.at("/api/runs"));
    assert_eq!(page.served.ask(&bare).status, 401);
    // One that is served alone has no list.
    let alone = Page::new(dir.path(), &["secret.marey"]);
    assert_eq!(alone.get("/api/runs").body, b"null");
    assert_eq!(alone.post("/run/0/", r#"{"ask":"run"}"#).status, 404);
}

#[test]
fn what_was_looked_at_lately_is_found_from_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run.marey"));
    let list = dir.path().join(".state/marey/runs");
    drop(Page::new(dir.path(), &["run.marey"]));
    assert_eq!(std::fs::metadata(&list).unwrap().permissions().mode() & 0o777, 0o600);
    // The same list, from elsewhere.
    let elsewhere = dir.path().join("else/where");
    std::fs::create_dir_all(elsewhere.join(".state/marey")).unwrap();
    let gone = "/nowhere/gone.marey\nnot a path\n";
    let text = format!("{}{gone}", std::fs::read_to_string(&list).unwrap());
    std::fs::write(elsewhere.join(".state/marey/runs"), text).unwrap();
    let page = Page::new(&elsewhere, &[]);
    let runs = page.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(runs[0]["place"], dir.path().canonicalize().unwrap().display().to_string());
    assert_eq!(page.name("0"), "run.marey");
    // Where no list can be kept, all else goes on.
    std::fs::write(dir.path().join("a-file"), "").unwrap();
    std::fs::remove_dir_all(dir.path().join(".state")).unwrap();
    std::os::unix::fs::symlink("a-file", dir.path().join(".state")).unwrap();
    assert_eq!(Page::new(dir.path(), &["run.marey"]).get("/").status, 200);
}
