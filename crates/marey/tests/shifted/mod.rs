//! Clocks that are moved by hand: what the page says is written beside the tables, and nothing else is ever written.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::listed::Page;
use super::{question, sample};

/// When visits of a location are, by the server: all of the run as one picture, of which what is short lies in buckets of
/// 2¹⁶ ns. Clocks are moved by whole buckets here.
fn starts(page: &Page, path: &str, location: u32) -> Vec<f64> {
    let body = format!(
        r#"{{"ask":"states","from_ns":0,"to_ns":200000000,"resolution_log2":16,"locations":[[{location},{}]],"exact":true}}"#,
        location + 1
    );
    let answer = page.post(path, &body);
    assert_eq!(answer.status, 200);
    let len = u32::from_le_bytes(answer.body[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&answer.body[4..4 + len]).unwrap();
    let columns = head["columns"].as_array().unwrap();
    let column = columns.iter().find(|it| it["name"] == "start").unwrap();
    let place = |name: &str| usize::try_from(column[name].as_u64().unwrap()).unwrap();
    let bytes = &answer.body[place("at")..place("at") + 8 * place("length")];
    bytes.chunks_exact(8).map(|it| f64::from_le_bytes(it.try_into().unwrap())).collect()
}

fn shift(page: &Page, path: &str, body: &str) -> (u16, String) {
    let (host, more) = (page.served.parts().0, format!("Cookie: {}\r\n", page.cookie));
    let answer = page
        .served
        .ask(&question(host, &page.served.at(path), &more, body).replace("api/answer", "api/clock"));
    (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
}

/// What `marey info` says is applied.
fn offsets(run: &Path) -> Value {
    let output =
        Command::new(env!("CARGO_BIN_EXE_marey")).arg("info").arg(run).arg("--json").output().unwrap();
    let info: Value = serde_json::from_slice(&output.stdout).unwrap();
    info["corrections"]["offsets"].clone()
}

#[test]
fn clocks_moved_at_the_same_time_are_all_moved() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.marey");
    sample::write(&run);
    // Two servers, each with two who ask: nobody meets half a file, and nobody takes back what another has moved.
    let pages = [(); 2].map(|()| Page::new(dir.path(), &["run.marey"]));
    std::thread::scope(|scope| {
        for (process, page) in [0, 1, 0, 1].iter().zip(pages.iter().chain(&pages)) {
            scope.spawn(move || {
                for step in 1..=10 {
                    let body = format!(r#"{{"process":{process},"offset_ns":{}}}"#, step << 20);
                    let (status, why) = shift(page, "/", &body);
                    assert_eq!(status, 204, "{why}");
                }
            });
        }
    });
    let told = offsets(&run);
    let offsets: Vec<_> = told.as_array().unwrap().iter().map(|it| it["offset_ns"].clone()).collect();
    assert_eq!(offsets, [10 << 20, 10 << 20], "{told}");
}

#[test]
fn a_clock_is_moved_and_moved_back() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.marey");
    sample::write(&run);
    for (words, path) in [(&["run.marey"][..], "/"), (&[], "/run/0/")] {
        let page = Page::new(dir.path(), words);
        if words.is_empty() {
            assert_eq!(page.runs().len(), 1);
        }
        let before = [0, 1].map(|location| starts(&page, path, location));
        assert!(before.iter().all(|starts| !starts.is_empty()));
        let head = page.head(path, r#"{"ask":"run"}"#);
        assert!(head["why_no_shift"].is_null(), "{head}");
        assert_eq!(head["processes"][1]["offset_ns"], 0);

        assert_eq!(shift(&page, path, r#"{"process":1,"offset_ns":5242880}"#).0, 204);
        let head = page.head(path, r#"{"ask":"run"}"#);
        assert_eq!(
            (&head["processes"][0]["offset_ns"], &head["processes"][1]["offset_ns"]),
            (&0.into(), &5_242_880.into())
        );
        assert!(head["backwards"].is_u64());
        let moved: Vec<f64> = before[1].iter().map(|start| start + 5_242_880.0).collect();
        assert_eq!(starts(&page, path, 0), before[0], "the other stays");
        assert_eq!(starts(&page, path, 1), moved);
        let told = offsets(&run);
        assert_eq!((&told[0]["process"], &told[0]["offset_ns"]), (&1.into(), &5_242_880.into()), "{told}");

        // It takes the place of what was before, and 0 takes it back.
        assert_eq!(shift(&page, path, r#"{"process":1,"offset_ns":7340032}"#).0, 204);
        assert_eq!(page.head(path, r#"{"ask":"run"}"#)["processes"][1]["offset_ns"], 7_340_032);
        assert_eq!(shift(&page, path, r#"{"process":1,"offset_ns":0}"#).0, 204);
        assert_eq!(starts(&page, path, 1), before[1]);
        assert!(!run.join("corrections.json").exists());
    }
}

#[test]
fn what_cannot_be_moved_is_refused_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.marey");
    sample::write(&run);
    let page = Page::new(dir.path(), &["run.marey"]);
    for (body, status) in [
        (r#"{"process":9,"offset_ns":5}"#, 409),
        (r#"{"process":1,"offset_ns":9223372036854775807}"#, 409),
        (r#"{"process":-1,"offset_ns":5}"#, 400),
        (r#"{"process":1,"offset_ns":1e3}"#, 400),
        (r#"{"process":1,"offset_ns":5,"run":"/etc"}"#, 400),
        ("", 400),
    ] {
        assert_eq!(shift(&page, "/", body).0, status, "{body}");
    }
    assert_eq!(shift(&page, "/run/0/", r#"{"process":1,"offset_ns":5}"#).0, 404, "there is no list");
    let host = page.served.parts().0;
    let good = r#"{"process":1,"offset_ns":5}"#;
    for (more, status) in
        [(String::new(), 401), (format!("Cookie: {}\r\nOrigin: http://evil.example\r\n", page.cookie), 403)]
    {
        let request = question(host, &page.served.at("/"), &more, good).replace("api/answer", "api/clock");
        assert_eq!(page.served.ask(&request).status, status);
    }
    assert!(!run.join("corrections.json").exists());
    drop(page);
    // A packed run stays as it is, and the page is told why.
    let packed = Command::new(env!("CARGO_BIN_EXE_marey"))
        .args(["pack", "run.marey", "-o", "packed.marey"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    let page = Page::new(dir.path(), &["packed.marey"]);
    let head = page.head("/", r#"{"ask":"run"}"#);
    assert!(head["why_no_shift"].as_str().unwrap().contains("packed"), "{head}");
    let (status, why) = shift(&page, "/", good);
    assert_eq!(status, 409);
    assert!(why.contains("unpack it"), "{why}");
}
