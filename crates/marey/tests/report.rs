//! What the reading commands print of a small run, compared with files under `tests/shown`.
//!
//! `SNAPSHOTS=overwrite cargo test -p marey --test report` accepts what is printed now.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod sample;

#[path = "report/changed.rs"]
mod changed;
#[path = "report/parts.rs"]
mod parts;

use std::path::Path;
use std::process::Command;

use marey_archive::{Columns, Meta, Part, Value, schema, write_table};
use marey_testkit::Spool;
use serde_json::Value as Json;
use snapbox::{Data, assert_data_eq, file};

/// Runs marey beside the small run `run.marey`, packs it first if asked, and returns its output.
fn marey(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = command.args(args).current_dir(dir).env_remove("COLUMNS").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn with_run() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    sample::write(&dir.path().join("run.marey"));
    dir
}

fn check(args: &[&str], expected: Data) {
    let dir = with_run();
    assert_data_eq!(marey(dir.path(), args), expected.raw());
}

fn json(args: &[&str]) -> Json {
    let dir = with_run();
    serde_json::from_str(&marey(dir.path(), args)).unwrap()
}

/// Fields of every element of a list.
fn fields(list: &Json) -> Vec<&str> {
    let mut names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_object().unwrap().keys())
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn the_report_answers_first_and_shows_the_evidence_below() {
    check(&["report"], file!["shown/report.txt"]);
}

#[test]
fn functions_have_a_table_of_their_own() {
    check(&["report", "--by", "function"], file!["shown/functions.txt"]);
}

#[test]
fn waits_and_their_causes_are_told() {
    check(&["waits"], file!["shown/waits.txt"]);
}

#[test]
fn the_critical_path_is_told() {
    check(&["path"], file!["shown/path.txt"]);
}

#[test]
fn changed_runs_are_told() {
    check(&["what-if"], file!["shown/what-if.txt"]);
    let changes = ["--faster", "kernel=2", "--rank", "1=4", "--latency", "1us", "--bandwidth", "10GB"];
    check(&[&["what-if", "run.marey"], &changes[..]].concat(), file!["shown/what-if-changed.txt"]);
}

#[test]
fn what_cannot_be_changed_is_told_with_what_can() {
    let dir = with_run();
    for (words, expected) in [
        (
            &["--faster", "kernal=2"][..],
            "there is no region or function `kernal` in this run; there is `kernel`",
        ),
        (&["--faster", "zzz=2"], "`marey path RUN` and `marey hot RUN` show the names"),
        (&["--faster", "halo.cpp:99=2"], "there is no call or sample on the line `halo.cpp:99` in this run"),
        (&["--rank", "7=2"], "there is no rank 7: the ranks of this run are 0 to 1"),
        (&["--faster", "halo"], "PLACE=FACTOR is meant, such as force=2"),
        (&["--faster", "halo=0"], "`0` is no factor: a number above 0 (2 is twice as fast), or inf"),
        (&["--faster", "=2"], "there is no place before the ="),
        (&["--rank", "x=2"], "`x` is no rank"),
        (&["--bandwidth", "0"], "`0` is no number of bytes a second, such as 10GB or 800MiB"),
        (&["--latency", "-1us"], "the latency is below 0"),
        (&["--zero-latency", "--latency", "1us"], "cannot be used with"),
        (&["--rank", "0=1e-6", "--rank", "0=1e-6"], "would take more than 292 years"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        let args = command.current_dir(dir.path()).args(["what-if", "run.marey"]).args(words);
        let output = args.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(expected), "{words:?}: {text}");
    }
}

/// Costs are the waits, the path is the run, and the report has both.
#[test]
fn the_numbers_that_explain_agree() {
    let (waits, path, report) =
        (json(&["waits", "--json"]), json(&["path", "--json"]), json(&["report", "--json"]));
    let sum = |rows: &Json, field: &str| {
        rows.as_array().unwrap().iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>()
    };
    // Rank 1 enters the barrier 20 ms before rank 0.
    assert_eq!(sum(&waits["waits"], "wait_ns"), 20_000_000);
    assert_eq!(waits["waiting_ns"], 20_000_000);
    // The help promises it, and nobody called by way of a library here.
    assert_eq!(waits["waits"][0]["routine"], "");
    assert_eq!(sum(&waits["delays"], "cost_ns"), 20_000_000);
    assert_eq!(
        sum(&path["critical_path"], "time_ns") + path["before_ns"].as_i64().unwrap(),
        path["duration_ns"].as_i64().unwrap()
    );
    for (field, rows) in
        [("waits", &waits["waits"]), ("delays", &waits["delays"]), ("critical_path", &path["critical_path"])]
    {
        assert_eq!(report[field], *rows, "{field}");
    }
    let finding = &report["findings"][0];
    assert_eq!((&finding["ranks"], &finding["activity"]), (&serde_json::json!([0]), &"outside".into()));
    assert_eq!(finding["effects"][0]["pattern"], "wait at barrier");
}

#[test]
fn info_tells_what_is_there() {
    check(&["info"], file!["shown/info.txt"]);
}

#[test]
fn a_dump_is_in_the_order_of_time() {
    check(&["dump"], file!["shown/dump.txt"]);
}

#[test]
fn a_dump_can_be_narrowed() {
    check(&["dump", "--rank", "1", "--from", "12ms", "--to", "20ms"], file!["shown/dump-narrow.txt"]);
    let dir = with_run();
    let limited = marey(dir.path(), &["dump", "--limit", "3"]);
    assert!(marey(dir.path(), &["dump"]).starts_with(&limited));
    assert_eq!(limited.lines().count(), 4, "a head and three events");
}

#[test]
fn every_line_of_a_json_dump_is_an_object() {
    let dir = with_run();
    let text = marey(dir.path(), &["dump", "--json"]);
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), marey(dir.path(), &["dump"]).lines().count() - 1);
    let send = lines.iter().find(|line| line["event"] == "send").unwrap();
    assert_eq!((&send["rank"], &send["peer_rank"], &send["bytes"]), (&1.into(), &0.into(), &64.into()));
    assert!(lines.iter().all(|line| line["time_ns"].is_i64()));
}

/// Other programs rely on these names.
#[test]
fn the_json_of_info_keeps_its_contract() {
    let info = json(&["info", "--json"]);
    for (field, expected) in [
        ("version", Json::from(env!("CARGO_PKG_VERSION"))),
        ("duration_ns", 100_000_000.into()),
        ("processes", 2.into()),
        ("locations", 2.into()),
        ("intervals", 8.into()),
        ("messages", 2.into()),
        ("events", 1.into()),
        ("levels", serde_json::json!(["source", "mpi", "memory"])),
    ] {
        assert_eq!(info[field], expected, "{field}");
    }
    let problems = serde_json::json!({ "lost": 0, "missing": 0, "dropped": 0, "unmatched_sends": 3, "unmatched_receives": 0,
        "ambiguous": 4, "unmatchable_channels": 0, "clock_violations": 0, "truncated": 1 });
    assert_eq!(info["problems"], problems);
    let thread = serde_json::json!({ "location": 1, "thread": 0, "state": "inside", "path": ["MPI_Barrier"],
        "start_ns": 60_000_000, "function": "main", "file": "/src/main.c", "line": 12 });
    let ending = serde_json::json!({ "process": 1, "world": 0, "rank": 1, "outcome": "killed",
        "exit_code": null, "end_ns": 90_000_000, "threads": [thread] });
    assert_eq!(info["ended_early"], serde_json::json!([ending]));
    assert_eq!(json(&["report", "--json"])["ended_early"], info["ended_early"]);
    assert_eq!(info["overhead"]["ns_per_event"], 25_000.0);
    assert_eq!(info["overhead"]["ns_per_call"], 120.0);
    assert!(info["overhead"]["fraction"].is_f64());
    assert_eq!(fields(&info["clocks"]), ["drift_ppm", "offset_ns", "process", "uncertainty_ns"]);
}

/// Nodes of the tree stand behind those above them, have no less time than what is beneath them, and lose nothing.
#[test]
fn the_call_tree_in_json_adds_up() {
    let report = json(&["report", "--json"]);
    let nodes = report["call_tree"].as_array().unwrap();
    let time = |node: &serde_json::Value| node["time_ns"].as_i64().unwrap();
    let mut beneath = vec![0; nodes.len()];
    let (mut roots, mut calls) = (0, 0);
    for (place, node) in nodes.iter().enumerate() {
        match node["parent"].as_u64() {
            Some(parent) => {
                let parent = usize::try_from(parent).unwrap();
                assert!(parent < place);
                beneath[parent] += time(node);
            }
            None => roots += time(node),
        }
        calls += node["calls"].as_u64().unwrap();
        assert_eq!(node["kind"] == "region", node["verb"].is_string(), "{node}");
    }
    for (node, beneath) in nodes.iter().zip(&beneath) {
        assert!(*beneath <= time(node), "{node} has {beneath}");
    }
    // All time of regions is in it, and what samples found in functions outside of regions.
    let sum = |rows: &serde_json::Value, field: &str| -> i64 {
        rows.as_array().unwrap().iter().map(|row| row[field].as_i64().unwrap()).sum()
    };
    assert!(sum(&report["regions"], "exclusive_ns") <= roots, "{roots}");
    assert_eq!(calls, u64::try_from(sum(&report["call_paths"], "calls")).unwrap());
    // Every call path ends in one node.
    let mut ends: Vec<u64> = nodes
        .iter()
        .flat_map(|node| node["call_paths"].as_array().unwrap())
        .map(|path| path.as_u64().unwrap())
        .collect();
    ends.sort_unstable();
    assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{ends:?}");
    assert!(ends.len() >= report["call_paths"].as_array().unwrap().len());
}

/// Other programs rely on these names.
#[test]
fn the_json_of_the_report_keeps_its_contract() {
    let report = json(&["report", "--json"]);
    let names = [
        "level",
        "verb",
        "noun",
        "calls",
        "inclusive_ns",
        "exclusive_ns",
        "min_ns",
        "max_ns",
        "mean_ns",
        "std_ns",
        "bytes",
    ];
    for field in names {
        assert!(fields(&report["regions"]).contains(&field), "{field}");
    }
    for field in ["path", "function", "file", "line", "calls", "inclusive_ns", "exclusive_ns", "bytes"] {
        assert!(fields(&report["call_paths"]).contains(&field), "{field}");
    }
    let ranks = serde_json::json!([
        { "process": 0, "world": 0, "rank": 0, "threads": 1, "time_ns": 100_000_000, "mpi_ns": 21_000_000,
          "peak_memory_bytes": 64 << 20, "processor_ns": 85_000_000 },
        { "process": 1, "world": 0, "rank": 1, "threads": 1, "time_ns": 90_000_000, "mpi_ns": 36_000_000,
          "peak_memory_bytes": null, "processor_ns": null },
    ]);
    assert_eq!(report["ranks"], ranks);
    for field in ["from", "to", "messages", "bytes"] {
        assert!(fields(&report["communication"]).contains(&field), "{field}");
    }
    let sizes = serde_json::json!([
        { "from_bytes": 64, "to_bytes": 128, "messages": 1, "bytes": 64 },
        { "from_bytes": 4096, "to_bytes": 8192, "messages": 1, "bytes": 4096 },
    ]);
    assert_eq!(report["message_sizes"], sizes);
    assert_eq!(report["hot"], json(&["hot", "--json"]));
    let problem = serde_json::json!({ "kind": "unmatched_sends", "process": 1, "location": 1, "count": 3,
        "detail": "to rank 0, tag 7" });
    assert_eq!(report["problems"][0], problem);
    assert_eq!(report["overhead"], json(&["info", "--json"])["overhead"]);
    let metrics = serde_json::json!([{ "name": "IPC", "kind": "number" },
        { "name": "memory traffic", "kind": "bytes_per_second" }]);
    assert_eq!(report["metrics"], metrics);
    // 60 of 120 million, and 1.5 million lines of 64 bytes in 60 ms.
    assert_eq!(report["counted_functions"][0]["metrics"], serde_json::json!([0.5, 1.6e9]));
    let send = report["regions"].as_array().unwrap().iter().find(|row| row["verb"] == "MPI_Send").unwrap();
    assert_eq!(
        (&send["calls"], &send["inclusive_ns"], &send["bytes"]),
        (&2.into(), &3_000_000.into(), &4160.into())
    );
    // Single calls take 3 and 0 ms; so do the ranks in all, since each of them makes one.
    assert_eq!((&send["min_ns"], &send["max_ns"]), (&0.into(), &3_000_000.into()));
    assert_eq!((&send["mean_ns"], &send["std_ns"]), (&1_500_000.0.into(), &1_500_000.0.into()));
    let halo = report["regions"].as_array().unwrap().iter().find(|row| row["noun"] == "halo").unwrap();
    // Both calls take 20 ms, of which 9 ms on rank 0 and 14 ms on rank 1 are its own.
    assert_eq!((&halo["min_ns"], &halo["max_ns"]), (&20_000_000.into(), &20_000_000.into()));
    let spread = serde_json::json!({ "min_ns": 9_000_000, "max_ns": 14_000_000, "mean_ns": 11_500_000.0,
        "std_ns": 2_500_000.0, "imbalance": 14.0 / 11.5 - 1.0, "processes": 2, "min_process": 0, "max_process": 1 });
    assert_eq!(halo["exclusive_of_process"], spread);
    let path =
        report["call_paths"].as_array().unwrap().iter().find(|row| row["path"][1] == "MPI_Send").unwrap();
    assert_eq!(path["path"], serde_json::json!(["halo", "MPI_Send"]));
    assert_eq!((&path["file"], &path["line"]), (&"/src/halo.cpp".into(), &41.into()));
}

#[test]
fn a_packed_run_reads_like_the_directory() {
    let dir = with_run();
    marey(dir.path(), &["pack"]);
    for command in ["info", "report", "waits", "path", "what-if", "dump"] {
        let of_directory = marey(dir.path(), &[command, "run.marey", "--json"]);
        let of_file = marey(dir.path(), &[command, "run.marey.zip", "--json"]);
        // Commands to paste name the run as it was named.
        assert_eq!(of_file.replace("run.marey.zip", "run.marey"), of_directory, "{command}");
    }
}

/// Commands that print pages.
const PAGES: [&[&str]; 9] = [
    &["report"],
    &["info"],
    &["waits"],
    &["path"],
    &["what-if"],
    &["what-if", "run.marey", "--faster", "halo=2", "--rank", "1=4", "--balance", "--zero-latency"],
    &["report", "--by", "function"],
    &["report", "--by", "region", "--across"],
    &["report", "--by", "path", "--across"],
];

#[test]
fn how_ranks_differ_is_a_table_of_regions_or_call_paths() {
    let dir = with_run();
    // Rank 0 is 3 ms in MPI_Send and rank 1 never comes there; both are 20 ms and 20 ms in the barrier.
    let text = marey(dir.path(), &["report", "--by", "region", "--across"]);
    let row = text.lines().find(|line| line.contains("MPI_Send")).unwrap();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words.join(" "), "MPI_Send 2 0 ns 1.50 ms 3.00 ms 1.50 ms 100 % rank 0", "{text}");
    let text = marey(dir.path(), &["report", "--by", "path", "--across"]);
    assert!(text.lines().any(|line| line.contains("halo › MPI_Recv") && line.contains("exchange")), "{text}");
    let output = Command::new(env!("CARGO_BIN_EXE_marey"))
        .args(["report", "--by", "rank", "--across"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("add --by region or --by path"));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn lines_fit_a_page() {
    let dir = with_run();
    for args in PAGES {
        for line in marey(dir.path(), args).lines() {
            assert!(line.chars().count() <= 104, "{args:?}: {line}");
        }
    }
}

#[test]
fn lines_fit_a_narrow_terminal() {
    let dir = with_run();
    for width in [40, 60, 80] {
        for args in PAGES {
            let columns = width.to_string();
            let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
            let output = command.args(args).current_dir(dir.path()).env("COLUMNS", columns).output().unwrap();
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                assert!(line.chars().count() <= width, "{args:?} at {width}: {line}");
            }
        }
    }
}

/// Every field that is printed is explained; those of `marey doctor` are compared by its own test.
#[test]
fn the_document_on_json_names_every_field() {
    let document = include_str!("../../../docs/json.md");
    let sections: Vec<&str> = document.split("\n## ").collect();
    let dir = with_run();
    for (command, words) in [
        ("info", &[][..]),
        ("report", &[]),
        ("waits", &[]),
        ("path", &[]),
        ("situations", &[]),
        ("what-if", &[]),
        ("what-if", &["run.marey", "--faster", "halo=2"]),
        ("hot", &[]),
        ("lines", &["run.marey", "halo.cpp"]),
        ("dump", &[]),
    ] {
        let section =
            sections.iter().find(|text| text.starts_with(&format!("`marey {command} --json`"))).unwrap();
        let text = marey(dir.path(), &[&[command], words, &["--json"]].concat());
        // Of a dump each line is a document.
        let values: Vec<Json> =
            serde_json::Deserializer::from_str(&text).into_iter().collect::<Result<_, _>>().unwrap();
        let mut names = Vec::new();
        values.iter().for_each(|value| collect_names(value, &mut names));
        assert!(7 <= names.len(), "{command}: {names:?}");
        for name in names {
            assert!(section.contains(&format!("`{name}`")), "{command}: {name}");
        }
    }
}

fn collect_names(value: &Json, names: &mut Vec<String>) {
    match value {
        Json::Object(object) => {
            for (name, value) in object {
                names.push(name.clone());
                // In these are names that the program gave.
                if name != "fields" {
                    collect_names(value, names);
                }
            }
        }
        Json::Array(list) => list.iter().for_each(|value| collect_names(value, names)),
        _ => {}
    }
}

#[test]
fn errors_say_what_to_do() {
    let dir = with_run();
    std::fs::create_dir_all(dir.path().join("unmerged.marey/spool")).unwrap();
    std::fs::write(dir.path().join("unmerged.marey/spool/1.events"), "").unwrap();
    std::fs::create_dir_all(dir.path().join("vain.marey/spool")).unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    std::fs::write(dir.path().join("text"), "no run").unwrap();
    std::fs::write(dir.path().join("taken.zip"), "").unwrap();
    std::fs::write(dir.path().join("cut.zip"), "PK\x03\x04").unwrap();
    sample::write(&dir.path().join("cut.marey"));
    std::fs::write(dir.path().join("cut.marey/profile.parquet"), "PAR1").unwrap();
    // The merge had begun, and what it needs is not there any more.
    std::fs::create_dir_all(dir.path().join("half.marey/spool")).unwrap();
    let meta = std::fs::read_to_string(dir.path().join("run.marey/meta.json")).unwrap();
    // Without its first line, the checksum, it is taken as it is.
    let (_, facts) = meta.split_once(",\n").unwrap();
    let facts = format!("{{{}", facts.replace("finished", "merging"));
    std::fs::write(dir.path().join("half.marey/meta.json"), facts).unwrap();
    std::fs::write(dir.path().join("nothing"), "").unwrap();
    let made = Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let inside = "run.marey/meta.json";
    let cases: [(&[&str], i32, &str); 22] = [
        (&["pack", "-o", inside, "--force"], 2, "lies in the run itself; choose another place"),
        (&["pack", "-o", "run.marey/new.zip"], 2, "lies in the run itself"),
        (&["pack", "text"], 2, "text is not a run"),
        (&["pack", "nothing"], 2, "nothing is not a run"),
        (&["pack", "cut.zip"], 1, "cannot open cut.zip: "),
        (&["report", "cut.zip"], 1, "cut short or is no run; copy it again"),
        (&["report", "pipe"], 2, "pipe is not a run: neither a directory nor a file"),
        (&["report", "/dev/null"], 2, "/dev/null is not a run"),
        (&["report", "missing.marey"], 2, "`marey record -- CMD` makes one"),
        (&["report", "unmerged.marey"], 2, "`marey merge unmerged.marey` does it"),
        (&["info", "empty"], 2, "not a run"),
        (&["info", "text"], 2, "text is not a run"),
        (&["info", "cut.zip"], 1, "error: cannot open cut.zip: "),
        (&["info", "cut.marey"], 1, "error: cut.marey is damaged: "),
        (&["merge", "half.marey"], 2, "its spool is gone"),
        (&["merge", "vain.marey"], 2, "nothing was recorded"),
        (&["report", "vain.marey"], 2, "nothing was recorded"),
        (&["dump", "--rank", "9"], 2, "no rank 9"),
        (&["dump", "--location", "9"], 2, "no location 9"),
        (&["dump", "--from", "1h"], 2, "unknown unit"),
        (&["dump", "--from", "2s", "--to", "1s"], 2, "--to lies before --from"),
        (&["pack", "-o", "taken.zip"], 2, "--force"),
    ];
    for (args, code, expected) in cases {
        let output =
            Command::new(env!("CARGO_BIN_EXE_marey")).args(args).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(expected), "{args:?}: {text}");
        let causes: Vec<&str> = text.trim_end().split(": ").collect();
        assert!(causes.iter().all(|one| causes.iter().filter(|other| *other == one).count() == 1), "{text}");
    }
}

/// Tables that are sound and not those of the run had been read as if nothing had been called.
#[test]
fn a_file_that_is_not_the_one_of_the_run_is_refused() {
    const COPY: &str = "copy the run again";
    let swap = |run: &Path, a: &str, b: &str| {
        let text = |name: &str| std::fs::read(run.join(name)).unwrap();
        let (first, second) = (text(a), text(b));
        std::fs::write(run.join(a), second).unwrap();
        std::fs::write(run.join(b), first).unwrap();
    };
    type Damage<'a> = &'a dyn Fn(&Path);
    let swapped = |run: &Path| swap(run, "call_paths.parquet", "profile.parquet");
    // As many bytes as there should be, and other rows.
    let fewer = |run: &Path| {
        let mut meta = Meta::load(run).unwrap();
        meta.tables.get_mut("call_paths").unwrap()[0].rows += 1;
        meta.save(run).unwrap();
    };
    let gone = |run: &Path| std::fs::remove_file(run.join("regions.parquet")).unwrap();
    let unneeded = |run: &Path| std::fs::remove_file(run.join("levels.parquet")).unwrap();
    let spooled = |run: &Path| {
        swap(run, "call_paths.parquet", "profile.parquet");
        std::fs::create_dir(run.join("spool")).unwrap();
        std::fs::write(run.join("spool/1.events"), "").unwrap();
    };
    let cases: [(Damage<'_>, &str, [&str; 2]); 8] = [
        (&swapped, "report", ["so it is another file", COPY]),
        (&swapped, "dump", ["call_paths.parquet", COPY]),
        (&swapped, "pack", ["so it is another file", COPY]),
        (&fewer, "report", ["rows where meta.json says", "call_paths.parquet"]),
        (&gone, "report", ["regions.parquet", COPY]),
        (&gone, "pack", ["regions.parquet", "cannot pack"]),
        (&unneeded, "pack", ["levels.parquet", "cannot pack"]),
        (&spooled, "report", ["`marey merge run.marey --force`", "call_paths.parquet"]),
    ];
    for (damage, command, expected) in cases {
        let dir = with_run();
        damage(&dir.path().join("run.marey"));
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.args([command, "run.marey"]).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(expected.iter().all(|part| said.contains(part)), "{command}: {said}");
    }
}

#[test]
fn a_run_whose_files_have_no_known_length_stays_readable() {
    let dir = with_run();
    let before = marey(dir.path(), &["report", "--json"]);
    let run = dir.path().join("run.marey");
    let mut meta = Meta::load(&run).unwrap();
    meta.tables.values_mut().flatten().for_each(|part| part.bytes = 0);
    meta.save(&run).unwrap();
    assert_eq!(marey(dir.path(), &["report", "--json"]), before);
}

/// A directory that was left beside the tables had been taken for a spool, and an empty run put in
/// the place of a full one.
#[test]
fn a_run_is_not_replaced_by_a_merge_of_nothing() {
    let dir = with_run();
    let before = marey(dir.path(), &["info", "--json"]);
    std::fs::create_dir(dir.path().join("run.marey/spool")).unwrap();
    std::fs::write(dir.path().join("run.marey/spool/world-0"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = command.args(["merge", "run.marey", "--force"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("its spool is gone"));
    assert_eq!(marey(dir.path(), &["info", "--json"]), before);
}

#[test]
fn numbers_that_lack_a_part_of_the_run_say_so_first() {
    for (problems, expected) in [
        (&[("dropped", 5), ("dropped", 7)][..], Some("12 events had no room")),
        (&[("dropped", 1)], Some("1 event had no room")),
        (&[("lost", 1)], Some("parts of the recording are gone")),
        (&[("missing", 1)], Some("parts of the recording are gone")),
        (&[("truncated", 1), ("dropped", 0)], None),
    ] {
        let dir = with_run();
        let mut table = Columns::new(&schema::PROBLEMS);
        for &(kind, count) in problems {
            let none = Value::U32(schema::NONE);
            table
                .push(&[Value::Text(kind), Value::U32(0), none, Value::I64(count), Value::Text("")])
                .unwrap();
        }
        let run = dir.path().join("run.marey");
        let mut meta = Meta::load(&run).unwrap();
        meta.add(&schema::PROBLEMS, Part::new(&schema::PROBLEMS, 0, 0, write_table(&run, &table).unwrap()));
        meta.save(&run).unwrap();
        let report = marey(dir.path(), &["report"]);
        let said = report.lines().find_map(|line| line.split_once("Not all of the run was recorded: "));
        let said = said.map(|(_, rest)| rest.split('.').next().unwrap());
        assert_eq!(said, expected, "{report}");
    }
}

/// `even` calls `odd` and so on, one deeper each time, and the innermost does the work: one line each.
#[test]
fn recursion_is_one_line_of_the_call_tree() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::world(1);
    let process = &mut spool.processes[0];
    let [main, even, odd, work] = ["main", "even", "odd", "work"].map(|name| process.site(0, name));
    let mut now = 1_000_000_000;
    let mut next = || {
        now += 1_000_000;
        now
    };
    process.enter(0, main, next());
    for depth in 1..=7 {
        (0..depth).for_each(|level| process.enter(0, if level % 2 == 0 { even } else { odd }, next()));
        process.enter(0, work, next());
        (0..=depth).for_each(|_| process.leave(0, next()));
    }
    process.leave(0, next());
    process.end = Some(now + 1);
    spool.write(&dir.path().join("spool")).unwrap();
    marey(dir.path(), &["merge", "spool", "-o", "run.marey"]);
    let report = marey(dir.path(), &["report"]);
    let from = report.find("CALL TREE").unwrap();
    let tree = &report[from..from + report[from..].find("\n\n").unwrap()];
    let rows = tree.lines().skip_while(|line| !line.contains("share")).skip(1);
    let lines: Vec<Vec<&str>> = rows.map(|line| line.split_whitespace().collect()).collect();
    // A visit takes 2 ms besides what lies in it, work takes 1 ms: 16 of even, 12 of odd, and 8 ms of main.
    assert_eq!(
        lines,
        [
            vec!["71.0", "ms", "100", "%", "1", "main"],
            vec!["63.0", "ms", "88.7", "%", "16", "╰", "even", "↻", "3"],
            vec!["27.0", "ms", "38.0", "%", "12", "├─", "odd"],
            vec!["3.00", "ms", "4.2", "%", "3", "│", "╰", "work"],
            vec!["4.00", "ms", "5.6", "%", "4", "└─", "work"],
        ],
        "{tree}"
    );
    assert!(tree.contains("; ↻: depth of"), "{tree}");
}

#[test]
fn a_dump_of_no_lines_is_its_head() {
    let dir = with_run();
    assert_eq!(marey(dir.path(), &["dump", "--limit", "0"]).lines().count(), 1);
}

/// Of the 20 ms that rank 1 waits for rank 0 at the barrier.
#[test]
fn a_part_of_a_run_can_be_explained() {
    let waiting = |args: &[&str]| {
        let found = json(&[&["waits", "--json"], args].concat());
        assert_eq!(
            found["waiting_ns"],
            found["waits"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["wait_ns"].as_i64().unwrap())
                .sum::<i64>()
        );
        found["waiting_ns"].as_i64().unwrap() / 1_000_000
    };
    for (args, expected_ms) in [
        (&["--from", "70ms"][..], 10),
        (&["--to", "65ms"], 5),
        (&["--from", "65ms", "--to", "70ms"], 5),
        (&["--from", "81ms"], 0),
        (&["--ranks", "1"], 20),
        (&["--ranks", "0"], 0),
        (&["--ranks", "0,1-1"], 20),
        (&["--level", "mpi"], 20),
        (&["--level", "source"], 0),
        (&["--context", "main"], 20),
        (&["--context", "MPI_Barrier", "--from", "79ms"], 1),
        (&["--context", "halo"], 0),
    ] {
        assert_eq!(waiting(args), expected_ms, "{args:?}");
    }
    let path = json(&["path", "--json", "--from", "20ms", "--to", "50ms"]);
    let sum: i64 =
        path["critical_path"].as_array().unwrap().iter().map(|row| row["time_ns"].as_i64().unwrap()).sum();
    assert_eq!((sum, path["duration_ns"].as_i64().unwrap()), (30_000_000, 30_000_000));
}

#[test]
fn parts_that_are_not_there_are_named() {
    let dir = with_run();
    for (args, why) in [
        (&["--from", "2s"][..], "nothing lies between --from and --to; the run goes from 0 to 100 ms"),
        (&["--from", "3ms", "--to", "3ms"], "nothing lies between"),
        (&["--ranks", "5"], "the run has no rank 5; it has 0 to 1"),
        (&["--ranks", "3-1"], "3-1 is empty"),
        (&["--ranks", "all"], "\"all\" is no rank; write ranks as 0,3-5"),
        (&["--context", "nowhere"], "no recorded call and no sample is in or beneath \"nowhere\""),
        (&["--level", "cuda"], "the run has no calls of level \"cuda\"; it has"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_marey"))
            .arg("waits")
            .args(args)
            .current_dir(dir.path())
            .output();
        let output = output.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(why), "{args:?}: {told}");
    }
}

/// What is shown of the path by rank, or by level and outside of calls, is together all of it, and has the same numbers.
#[test]
fn rows_of_the_path_are_chosen() {
    let dir = with_run();
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&marey(dir.path(), &[&["path", "--json"], args].concat())).unwrap()
    };
    let rows = |value: &serde_json::Value, table: &str| value[table].as_array().unwrap().clone();
    let whole = json(&[]);
    let ranks = ["0", "1"].map(|rank| json(&["--ranks", rank]));
    for (rank, part) in (0..).zip(&ranks) {
        assert_eq!((&part["spans"], &part["duration_ns"]), (&whole["spans"], &whole["duration_ns"]));
        for table in ["critical_path", "locations", "slack"] {
            let own: Vec<serde_json::Value> =
                rows(&whole, table).into_iter().filter(|row| row["rank"] == rank).collect();
            assert_eq!(rows(part, table), own, "{rank} {table}");
        }
        assert!(rows(part, "places").iter().all(|row| rows(&whole, "places").contains(row)));
    }
    for table in ["critical_path", "locations", "slack"] {
        let number: usize = ranks.iter().map(|part| rows(part, table).len()).sum();
        assert!(number > 1 && number == rows(&whole, table).len(), "{table}");
    }
    let mut levels: Vec<String> =
        rows(&whole, "critical_path").iter().map(|row| row["level"].as_str().unwrap().to_owned()).collect();
    levels.sort();
    levels.dedup();
    levels.retain(|level| !level.is_empty());
    assert!(levels.contains(&"mpi".to_owned()), "{levels:?}");
    for level in &levels {
        let part = json(&["--level", level]);
        for table in ["critical_path", "slack", "places"] {
            let own: Vec<serde_json::Value> =
                rows(&whole, table).into_iter().filter(|row| row["level"] == **level).collect();
            assert_eq!(rows(&part, table), own, "{level} {table}");
        }
    }
    assert_eq!(json(&["--ranks", "0-1", "--from", "0"]), whole);
    let text = marey(dir.path(), &["path", "--ranks", "0", "--level", "mpi"]);
    assert!(text.contains("shown are rows of: rank 0, calls of level mpi"), "{text}");
}
