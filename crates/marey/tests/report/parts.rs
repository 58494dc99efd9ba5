//! Parts of the small run: what is shown of them, and what is said of parts that are not there.

use std::process::Command;

use snapbox::file;

use super::{Json, check, fields, json, marey, with_run};

/// What a command says that is not understood, on one line.
fn complaint(args: &[&str]) -> String {
    let dir = with_run();
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = command.args(args).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}");
    String::from_utf8(output.stderr).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_part_is_told_alone() {
    check(&["report", "--from", "10ms", "--to", "60ms", "--ranks", "1"], file!["../shown/report-part.txt"]);
}

#[test]
fn the_json_says_which_part_it_is_about() {
    let part = json(&["report", "--json", "--from", "10ms", "--to", "60ms", "--ranks", "1"]);
    assert_eq!((part["from_ns"].as_i64(), part["to_ns"].as_i64()), (Some(10_000_000), Some(60_000_000)));
    assert_eq!(part["part"], "from 10.0 ms to 60.0 ms, rank 1");
    assert!(part["explained_until_ns"].is_null());
    let ranks: Vec<i64> =
        part["ranks"].as_array().unwrap().iter().map(|it| it["rank"].as_i64().unwrap()).collect();
    assert_eq!(ranks, [1]);
    assert_eq!(part["ranks"][0]["time_ns"], 50_000_000);
    let whole = json(&["report", "--json"]);
    assert_eq!((whole["from_ns"].as_i64(), whole["to_ns"].as_i64()), (Some(0), Some(100_000_000)));
    assert!(whole["part"].is_null());
    assert_eq!(fields(&Json::Array(vec![part])), fields(&Json::Array(vec![whole])));
}

#[test]
fn parts_that_are_not_there_are_told_with_what_is() {
    for command in ["report", "waits"] {
        let of = |option: &str, value: &str| complaint(&[command, "run.marey", option, value]);
        assert!(of("--ranks", "7").contains("the run has no rank 7; it has 0 to 1"));
        assert!(
            of("--from", "3s")
                .contains("nothing lies between --from and --to; the run goes from 0 to 100 ms")
        );
        assert!(of("--to", "0").contains("nothing lies between"));
        assert!(of("--level", "gpu").contains("the run has no calls of level \"gpu\"; it has "));
        assert!(
            of("--context", "nowhere")
                .contains("no recorded call and no sample is in or beneath \"nowhere\"")
        );
        let told = of("--communicator", "nobody");
        assert!(told.contains("the run has no communicator \"nobody\"; it has MPI_COMM_WORLD"), "{told}");
    }
}

/// Whatever a finding names as its evidence can be pasted.
#[test]
fn commands_of_findings_show_the_same_part() {
    let dir = with_run();
    for part in [&["--from", "10ms"][..], &["--ranks", "0-1", "--level", "mpi"], &["--communicator", "0"]] {
        let args = [&["report", "--json"], part].concat();
        let told: Json = serde_json::from_str(&marey(dir.path(), &args)).unwrap();
        for finding in told["findings"].as_array().unwrap() {
            let command = finding["command"].as_str().unwrap();
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            assert!(!marey(dir.path(), &words).is_empty(), "{command}");
        }
    }
}
