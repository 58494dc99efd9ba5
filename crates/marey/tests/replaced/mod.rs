//! A run that another one has taken the place of: it is told, and nothing is written into the other one.

use std::path::Path;

use super::listed::Page;
use super::{Answer, question, sample};

/// Asks for a run that is meant, as a page does that has seen it.
fn ask(page: &Page, path: &str, what: &str, meant: &str, body: &str) -> Answer {
    let more = format!("Cookie: {}\r\nX-Marey-Run: {meant}\r\n", page.cookie);
    page.served
        .ask(&question(page.served.parts().0, &page.served.at(path), &more, body).replace("api/answer", what))
}

/// Puts another run in the place of one, as recording anew does.
fn replace(run: &Path) {
    std::fs::remove_dir_all(run).unwrap();
    sample::write(run);
}

const RUN: &str = r#"{"ask":"run"}"#;
const SHIFT: &str = r#"{"process":1,"offset_ns":5242880}"#;

#[test]
fn another_run_is_not_taken_for_the_one_that_was_opened() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.marey");
    sample::write(&run);
    for (words, path) in [(&["run.marey"][..], "/"), (&[], "/run/0/")] {
        let page = Page::new(dir.path(), words);
        if words.is_empty() {
            assert_eq!(page.runs().len(), 1);
        }
        let first = page.post(path, RUN);
        let meant = first.header("x-marey-run").unwrap().to_owned();
        assert_eq!(ask(&page, path, "api/answer", &meant, RUN).status, 200);
        let here = |meant: &str| {
            let more = format!("Cookie: {}\r\nX-Marey-Run: {meant}\r\n", page.cookie);
            let host = page.served.parts().0;
            page.served
                .ask(&format!(
                    "GET {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n",
                    page.served.at(&format!("{path}api/here"))
                ))
                .status
        };
        assert_eq!(here(&meant), 204);

        replace(&run);
        assert_eq!(here(&meant), 410);
        for (what, body) in [("api/answer", RUN), ("api/clock", SHIFT)] {
            let answer = ask(&page, path, what, &meant, body);
            let why = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(answer.status == 410 && why.contains("was replaced by another one"), "{what}: {why}");
        }
        // Nor for who does not say which run is meant.
        let more = format!("Cookie: {}\r\n", page.cookie);
        let bare = question(page.served.parts().0, &page.served.at(path), &more, SHIFT)
            .replace("api/answer", "api/clock");
        assert_eq!(page.served.ask(&bare).status, 410);
        assert!(!run.join("corrections.json").exists(), "the other one keeps its clocks");

        // Who opens it anew has the other one.
        let again = page.post(path, RUN);
        let now = again.header("x-marey-run").unwrap().to_owned();
        assert!(again.status == 200 && now != meant);
        assert_eq!(
            ask(&page, path, "api/clock", &meant, SHIFT).status,
            410,
            "an old page still means the old one"
        );
        assert_eq!(ask(&page, path, "api/clock", &now, SHIFT).status, 204);
        assert_eq!(ask(&page, path, "api/answer", &now, RUN).status, 200, "corrections make it no other");

        std::fs::remove_dir_all(&run).unwrap();
        let answer = ask(&page, path, "api/answer", &now, RUN);
        let why = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(answer.status == 410 && why.contains("is not there any more"), "{why}");
        sample::write(&run);
    }
}
