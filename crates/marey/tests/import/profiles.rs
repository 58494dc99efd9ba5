//! Profiles that say nothing of when: sums of pprof against what `protoc` finds in the file, of TAU against its own text.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use super::otf2::{imported, marey};

#[path = "../../../marey-formats/tests/pprof/writer.rs"]
mod writer;

/// The fields of a profile that the test looks at, by their numbers in the format.
const PROTO: &str = r#"
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2; repeated Location location = 4;
  repeated Function function = 5; repeated string string_table = 6; ValueType period_type = 11; int64 period = 12;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; }
message Location { uint64 id = 1; uint64 address = 3; repeated Line line = 4; }
message Line { uint64 function_id = 1; }
message Function { uint64 id = 1; int64 name = 2; }
"#;

/// A message of protoc's text: fields in order.
#[derive(Debug, Default)]
struct Message(Vec<(String, Content)>);

#[derive(Debug)]
enum Content {
    Plain(String),
    Message(Message),
}

impl Message {
    fn parse<'t>(lines: &mut impl Iterator<Item = &'t str>) -> Self {
        let mut message = Self::default();
        while let Some(line) = lines.next().map(str::trim).filter(|line| *line != "}") {
            let (name, content) = match line.strip_suffix(" {") {
                Some(name) => (name, Content::Message(Self::parse(lines))),
                None => {
                    let (name, text) = line.split_once(": ").unwrap();
                    (name, Content::Plain(text.trim_matches('"').replace("\\\"", "\"")))
                }
            };
            message.0.push((name.to_owned(), content));
        }
        message
    }

    fn messages(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.0.iter().filter(move |it| it.0 == name).filter_map(|it| match &it.1 {
            Content::Message(message) => Some(message),
            Content::Plain(_) => None,
        })
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        let of = self.0.iter().filter(|it| it.0 == name);
        of.filter_map(|it| match &it.1 {
            Content::Plain(text) => Some(text.as_str()),
            Content::Message(_) => None,
        })
        .collect()
    }

    fn number(&self, name: &str) -> u64 {
        self.texts(name).first().map_or(0, |text| text.parse().unwrap())
    }
}

/// A sample of shared files as protoc reads it; `None` without either.
fn read(name: &str) -> Option<(String, Message)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/pprof").join(name);
    if !file.exists() {
        marey_testkit::skip("no samples of foreign formats beside the project");
        return None;
    }
    if Command::new("protoc").arg("--version").output().is_err() {
        marey_testkit::skip("protoc is not installed");
        return None;
    }
    let mut bytes = Vec::new();
    MultiGzDecoder::new(std::fs::File::open(&file).unwrap()).read_to_end(&mut bytes).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("profile.proto"), PROTO).unwrap();
    let mut protoc = Command::new("protoc");
    protoc.current_dir(dir.path()).args(["--decode=Profile", "profile.proto"]);
    let mut child = protoc.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some((file.to_str().unwrap().to_owned(), Message::parse(&mut text.lines())))
}

/// Of each function, the values of samples that ended in it, and of those that it was part of.
fn sums_of(profile: &Message, place: usize) -> [BTreeMap<String, u64>; 2] {
    let strings = profile.texts("string_table");
    let functions: BTreeMap<u64, &str> = profile
        .messages("function")
        .map(|it| (it.number("id"), strings[usize::try_from(it.number("name")).unwrap()]))
        .collect();
    let locations: BTreeMap<u64, &Message> =
        profile.messages("location").map(|it| (it.number("id"), it)).collect();
    let mut sums = [BTreeMap::new(), BTreeMap::new()];
    for sample in profile.messages("sample") {
        let ids = sample.texts("location_id");
        let lines = ids.iter().flat_map(|id| locations[&id.parse().unwrap()].messages("line"));
        let mut names: Vec<&str> = lines.map(|line| functions[&line.number("function_id")]).collect();
        let value: u64 = sample.texts("value")[place].parse().unwrap();
        *sums[0].entry(names[0].to_owned()).or_default() += value;
        names.sort_unstable();
        names.dedup();
        names.iter().for_each(|name| *sums[1].entry((*name).to_owned()).or_default() += value);
    }
    sums.iter_mut().for_each(|sums| sums.retain(|_, value| *value > 0));
    sums
}

fn report(dir: &Path) -> Value {
    let output = marey(dir, &["report", "run.marey", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Exclusive and inclusive times by function, and totals of counters.
fn told(dir: &Path) -> ([BTreeMap<String, u64>; 2], BTreeMap<String, u64>) {
    let report = report(dir);
    let mut times = [BTreeMap::new(), BTreeMap::new()];
    for region in report["regions"].as_array().unwrap() {
        let name = if region["verb"] == "execute" { &region["noun"] } else { &region["verb"] };
        for (times, field) in times.iter_mut().zip(["exclusive_ns", "inclusive_ns"]) {
            *times.entry(name.as_str().unwrap().to_owned()).or_default() += region[field].as_u64().unwrap();
        }
    }
    times.iter_mut().for_each(|times| times.retain(|_, time| *time > 0));
    let counters = report["counters"].as_array().unwrap().iter();
    let counters =
        counters.map(|it| (it["name"].as_str().unwrap().to_owned(), it["total"].as_u64().unwrap()));
    (times, counters.collect())
}

#[test]
fn profiles_of_pprof_have_the_sums_that_protoc_finds() {
    // Values: samples, and the time in ns; or samples alone, of no period.
    for (name, place) in [
        ("parca-dev_parca/fgprof.pb.gz", Some(1)),
        ("parca-dev_parca/profile1.pb.gz", Some(1)),
        ("parca-dev_parca/no-python.pb.gz", None),
    ] {
        let Some((file, profile)) = read(name) else { return };
        let dir = tempfile::tempdir().unwrap();
        let said = imported(dir.path(), &file);
        assert_eq!(said["problems"], serde_json::json!([]), "{name}");
        assert_eq!(said["events"].as_u64().unwrap(), profile.messages("sample").count() as u64);
        let (times, counters) = told(dir.path());
        assert_eq!(times, place.map_or_else(Default::default, |place| sums_of(&profile, place)), "{name}");
        let samples: u64 = sums_of(&profile, 0)[0].values().sum();
        assert_eq!(counters.values().copied().collect::<Vec<_>>(), [samples], "{name}");
    }
}

#[test]
fn a_profile_of_tau_is_told_as_it_stands_there() {
    let dir = tempfile::tempdir().unwrap();
    let text = include_bytes!("../../../marey-formats/tests/tau_profile/profile.0.0.0");
    std::fs::write(dir.path().join("profile.0.0.0"), text).unwrap();
    imported(dir.path(), "profile.0.0.0");
    let report = report(dir.path());
    let regions = report["regions"].as_array().unwrap().iter();
    let regions = regions.map(|it| {
        let name = if it["verb"] == "execute" { &it["noun"] } else { &it["verb"] };
        let numbers = ["calls", "exclusive_ns", "inclusive_ns"].map(|field| it[field].as_u64().unwrap());
        // Nobody knows how long single calls took.
        assert_eq!([&it["min_ns"], &it["max_ns"], &it["std_ns"]], [&Value::Null; 3]);
        (name.as_str().unwrap(), numbers)
    });
    let mut regions: Vec<_> = regions.collect();
    regions.sort_unstable();
    // Each function once, though the profile has it by itself and in a call path; samples have no time of their own.
    assert_eq!(regions, [("MPI_Send", [2, 50_000, 50_000]), ("main() C", [1, 10_500, 60_500])]);
    let paths = report["call_paths"].as_array().unwrap().iter();
    let mut paths: Vec<_> = paths.map(|it| it["path"].to_string()).collect();
    paths.sort_unstable();
    assert!(paths.contains(&r#"["main() C","MPI_Send"]"#.to_owned()), "{paths:?}");
    let counters: Vec<_> =
        report["counters"].as_array().unwrap().iter().map(|it| (&it["name"], &it["total"])).collect();
    assert_eq!(serde_json::json!(counters), serde_json::json!([["samples", 6], ["sampled TIME", 18_000]]));
    assert!(report["unexplained"].as_str().unwrap().contains("says how long and not when"));
    let dump = String::from_utf8(marey(dir.path(), &["dump", "run.marey"]).stdout).unwrap();
    for line in [
        r#"* user event {"greatest":64.0,"least":32.0,"mean":48.0,"name":"Message size","number":2,"sum_of_squares":5120.0}"#,
        r#"* metadata {"name":"Hostname","value":"a&b"}"#,
        r#"* function by parameter {"calls":1,"exclusive":4.0,"inclusive":4.0,"metric":"TIME","name":"main() C [{a.c} {3,1}-{9,1}] [ <n> = <5> ]"}"#,
    ] {
        assert!(dump.contains(line), "{line}\n{dump}");
    }
    let said = marey(dir.path(), &["waits", "run.marey"]);
    assert!(!said.status.success(), "nothing is known of waits");
    let said = marey(dir.path(), &["export", "run.marey", "--to", "chrome"]);
    assert!(!said.status.success() && String::from_utf8(said.stderr).unwrap().contains("not when"));
}

#[test]
fn a_profile_of_pprof_with_all_fields_is_told_as_it_stands_there() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("profile"), writer::profile()).unwrap();
    imported(dir.path(), "profile");
    let (times, counters) = told(dir.path());
    let as_map = |all: &[(&str, u64)]| all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let exclusive: BTreeMap<_, _> =
        as_map(&[("MPI_Send", 30_000), ("inlined", 5_000), ("libfoo.so 0x1234", 7_000)]);
    let inclusive: BTreeMap<_, _> = as_map(&[
        ("MPI_Send", 30_000),
        ("inlined", 35_000),
        ("libfoo.so 0x1234", 7_000),
        ("main", 42_000),
        ("work", 35_000),
    ]);
    // What is inlined lies beneath what it is inlined into.
    assert_eq!(times, [exclusive, inclusive]);
    assert_eq!(counters, as_map(&[("samples", 5), ("wall", 3)]));
    let dump = String::from_utf8(marey(dir.path(), &["dump", "run.marey"]).stdout).unwrap();
    for line in [
        r#"* profile {"duration_ns":99,"period":10000,"period_of":"cpu","period_unit":"microseconds"}"#,
        r#"* comment {"text":"a remark"}"#,
    ] {
        assert!(dump.contains(line), "{line}\n{dump}");
    }
    let info = String::from_utf8(marey(dir.path(), &["info", "run.marey"]).stdout).unwrap();
    assert!(info.contains("2023-11-14 22:13:20 UTC") && info.contains("a pprof profile"), "{info}");
}
