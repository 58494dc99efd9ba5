//! What is printed of small runs, and what is said of wrong usage.

use std::process::Command;

use crate::{Place, is_documented, rows, sample};

fn with_runs() -> Place {
    let place = Place::new();
    for (name, number) in ["a.marey", "b.marey"].into_iter().zip(0..) {
        super::write_repeat(&place.path().join(name), number);
    }
    place
}

/// Five runs of nothing but the same.
fn five(place: &Place) -> [&'static str; 5] {
    let runs = ["1.marey", "2.marey", "3.marey", "4.marey", "5.marey"];
    for (name, number) in runs.into_iter().zip(1..) {
        super::write_repeat(&place.path().join(name), number);
    }
    runs
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let place = with_runs();
    let (status, text) = place.said(&["diff", "a.marey", "b.marey"]);
    assert_eq!(status, Some(0));
    assert!(text.contains("b.marey takes as long as a.marey, within 1 %"), "{text}");
    let json = place.json(&["diff", "a.marey", "b.marey", "--json"]);
    is_documented("diff", &json);
    let found = &json["comparisons"][0];
    for table in ["critical_path", "waits", "delays"] {
        assert!(0 < rows(&found[table]).count(), "{table}");
        assert!(rows(&found[table]).all(|row| row["old_ns"] == row["new_ns"]), "{table}");
    }
    assert_eq!(found["verdict"]["causes"], serde_json::json!([]));
    // 5 and 5 runs of nothing but the same pass.
    let runs = five(&place);
    let words = [&["check", "--baseline"], &runs[..], &["--candidate"], &runs[..]].concat();
    assert_eq!(place.said(&words).0, Some(0));
}

/// In `marey check … | head`, too, a step of continuous integration learns the verdict.
#[test]
fn a_verdict_does_not_need_a_reader() {
    let place = with_runs();
    for words in [&[][..], &["--json"][..]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(place.path()).args(["check", "--baseline", "a.marey", "--candidate", "b.marey"]);
        let output = command.args(words).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "one run of each has no verdict");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

/// 5 and 5 runs are enough for six measured metrics at once, and not for seven; exact ones count for nothing.
#[test]
fn many_metrics_need_more_runs() {
    let place = with_runs();
    let runs = five(&place);
    let check = |measured: usize| {
        let measured = vec!["--metric"; measured].into_iter().flat_map(|word| [word, "duration"]);
        let words = [&["check", "--baseline"], &runs[..], &["--candidate"], &runs[..]].concat();
        let exact = ["--metric", "messages", "--metric", "visits"];
        let all: Vec<&str> = words.into_iter().chain(measured).chain(exact).collect();
        place.said(&all)
    };
    assert_eq!(check(6).0, Some(0));
    let (status, text) = check(7);
    assert_eq!(status, Some(3), "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("6 of each are needed at least, to judge 7 measured metrics"), "{text}");
}

#[test]
fn runs_of_one_name_are_told_apart() {
    let place = with_runs();
    std::fs::create_dir(place.path().join("new")).unwrap();
    sample::write(&place.path().join("new/a.marey"));
    let (_, text) = place.said(&["diff", "a.marey", "new/a.marey"]);
    assert!(text.contains("a.marey → new/a.marey"), "{text}");
}

#[test]
fn a_report_computes_metrics() {
    let place = with_runs();
    let metrics =
        ["--metric", "mpi_time / time", "--metric", "per call = bytes / visits", "--metric", "1 / 0"];
    let (status, text) = place.said(&[&["report", "a.marey"], &metrics[..]].concat());
    assert_eq!(status, Some(0));
    // 57 of 190 ms.
    assert!(text.contains("mpi_time / time    0.3000\n"), "{text}");
    assert!(text.contains("1 / 0: division by zero"), "{text}");
    let json = place.json(&[&["report", "a.marey", "--json"], &metrics[..]].concat());
    is_documented("report", &json);
    let values: Vec<_> = rows(&json["derived_metrics"]).map(|row| row["value"].as_f64()).collect();
    assert!((values[0].unwrap() - 0.3).abs() < 1e-12);
    assert_eq!(values[2], None);
    assert_eq!(json["derived_metrics"][2]["reason"], "division by zero");
    assert_eq!(json["derived_metrics"][1]["name"], "per call");
    // An expression may begin with a sign.
    let (status, text) = place.said(&["report", "a.marey", "--metric", "-mpi_time / time"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("-0.3000"), "{text}");
}

#[test]
fn wrong_usage_is_told_with_its_place() {
    let place = with_runs();
    let cases: [(&[&str], &str); 15] = [
        (&["diff", "a.marey"], "2 values required"),
        (&["diff"], "<RUN>"),
        (&["diff", "a.marey", "c.marey"], "there is no run at c.marey"),
        (&["diff", "a.marey", "b.marey", "--metric", "tmie"], "did you mean `time`?\n    tmie\n    ^"),
        (&["diff", "a.marey", "b.marey", "--metric", "time > 5%"], "for `marey check` only"),
        (&["check", "--baseline", "a.marey"], "--candidate"),
        (&["check", "--candidate", "a.marey"], "--baseline"),
        (
            &["check", "--baseline", "a.marey", "--candidate", "b.marey", "--fail-above", "5"],
            "not a percentage such as 5%",
        ),
        (
            &["check", "--baseline", "a.marey", "--candidate", "b.marey", "--metric", "time > 5"],
            "a percentage is expected",
        ),
        (
            &[
                "check",
                "--baseline",
                "a.marey",
                "--candidate",
                "b.marey",
                "--metric",
                "region(\"MPI_Sned\").time",
            ],
            "the runs have no region `MPI_Sned`; did you mean `MPI_Send`?\n    region(\"MPI_Sned\").time\n           ^",
        ),
        (
            &["check", "--baseline", "a.marey", "./a.marey", "--candidate", "b.marey"],
            "a.marey and ./a.marey are the same run",
        ),
        (&["scale", "a.marey", "a.marey", "b.marey", "--parameter", "n=1,1,2"], "are the same run"),
        (&["report", "a.marey", "--metric", "1 +"], "the expression ends"),
        (&["report", "a.marey", "--metric", "rank(9).time"], "the run has no rank `9`"),
        (&["report", "a.marey", "--metric", "time", "--by", "rank"], "cannot be used with"),
    ];
    for (args, expected) in cases {
        let output = place.marey(args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(expected), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

/// Other runs than usual are no reason to panic: without events, of one thread, cut short.
#[test]
fn odd_runs_are_compared_as_far_as_they_go() {
    let place = with_runs();
    let path = place.path().join("b.marey");
    // Its intervals are gone: sums are there.
    for entry in std::fs::read_dir(&path).unwrap() {
        let file = entry.unwrap().path();
        if file.is_dir() && file.file_name().unwrap().to_string_lossy().contains("intervals") {
            std::fs::remove_dir_all(&file).unwrap();
        } else if file.file_name().unwrap().to_string_lossy().starts_with("intervals") {
            std::fs::remove_file(&file).unwrap();
        }
    }
    let output = place.marey(&["diff", "a.marey", "b.marey"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("b.marey cannot be explained") || text.contains("b.marey is damaged"), "{text}");
    // A metric that needs events has no value there, so there is no verdict.
    let (status, text) =
        place.said(&["check", "--baseline", "a.marey", "--candidate", "b.marey", "--metric", "waiting"]);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("no value in 1 of the runs"), "{text}");
}

#[test]
fn lines_fit_a_page_and_a_narrow_terminal() {
    let place = with_runs();
    let metric = "a name that is rather long = region(\"MPI_Send\").time / duration";
    for args in [
        &["diff", "a.marey", "b.marey", "--metric", metric][..],
        &[
            "check",
            "--baseline",
            "a.marey",
            "--candidate",
            "b.marey",
            "--metric",
            metric,
            "--metric",
            "messages",
        ],
        &["report", "a.marey", "--metric", metric],
    ] {
        for width in [None, Some(40), Some(60), Some(80)] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
            command.args(args).current_dir(place.path()).env_remove("COLUMNS");
            if let Some(width) = width {
                command.env("COLUMNS", width.to_string());
            }
            let output = command.output().unwrap();
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let most = width.unwrap_or(if line.contains("a name that is") { 140 } else { 104 });
                assert!(line.chars().count() <= most, "{args:?} at {width:?}: {line}");
            }
        }
    }
}
