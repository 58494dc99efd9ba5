//! Exported pages, taken apart: what is in them, and of redacted ones what is not.
//!
//! How they look is told by a browser (`mpi/mpi_view.rs`).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod place;
mod sample;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use marey_archive::schema::{self, Layout, NONE, TABLES};
use marey_archive::{Archive, Column, Columns, Meta, Part, Value, write_table};
use place::{Place, stderr};
use serde_json::Value as Json;

/// A page: the text around its parts, and the parts as a browser unpacks them.
struct Page {
    frame: String,
    parts: BTreeMap<String, Vec<u8>>,
}

impl Page {
    fn read(path: &Path) -> Self {
        const HEAD: &str = "<script type=\"application/octet-stream\" data-marey=\"";
        let text = std::fs::read_to_string(path).unwrap();
        let mut pieces = text.split(HEAD);
        let mut frame = pieces.next().unwrap().to_owned();
        let (mut packed, mut parts) = (BTreeMap::<String, Vec<u8>>::new(), BTreeMap::new());
        for piece in pieces {
            let (head, rest) = piece.split_once('>').unwrap();
            let (content, behind) = rest.split_once("</script>").unwrap();
            let (name, bytes) = head.split_once("\" data-bytes=\"").unwrap();
            packed.entry(name.to_owned()).or_default().extend(from_base64(content));
            parts.insert(name.to_owned(), bytes.trim_end_matches('"').parse::<usize>().unwrap());
            frame.push_str(behind);
        }
        let unpack = |(name, bytes): (String, Vec<u8>)| {
            let mut unpacked = Vec::new();
            GzDecoder::new(&*bytes).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked.len(), parts[&name], "{name} is as long as the page says");
            (name, unpacked)
        };
        Self { frame, parts: packed.into_iter().map(unpack).collect() }
    }

    fn archive(&self) -> Archive {
        Archive::open_in_memory(Path::new("page"), self.parts["run"].clone()).unwrap()
    }

    fn report(&self) -> Json {
        serde_json::from_slice(&self.parts["report"]).unwrap()
    }

    /// Everything in its parts that anybody can read.
    fn texts(&self) -> String {
        let archive = self.archive();
        let mut texts = format!("{:?}\n", archive.meta());
        for table in TABLES {
            for column in archive.table(table.name).unwrap().columns() {
                match column {
                    Column::Text(values) => {
                        texts.extend(values.iter().flat_map(|text| [text.as_str(), "\n"]))
                    }
                    Column::U32(values) => texts.push_str(&format!("{values:?}\n")),
                    Column::I64(values) => texts.push_str(&format!("{values:?}\n")),
                    Column::F64(_) => {}
                }
            }
        }
        for part in ["name", "report"] {
            texts.push_str(&String::from_utf8_lossy(&self.parts[part]));
        }
        texts
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{letter} is no letter of Base64"),
    };
    let four = |letters: &[u8]| {
        let letters: Vec<u8> = letters.iter().filter(|letter| **letter != b'=').copied().collect();
        let bits = letters.iter().fold(0_u32, |bits, letter| bits << 6 | u32::from(value(*letter)));
        let bits = bits << (6 * (4 - letters.len()));
        bits.to_be_bytes()[1..letters.len()].to_vec()
    };
    text.as_bytes().chunks(4).flat_map(four).collect()
}

/// Whether this marey can export pages; leaves the test if not.
fn can_export(place: &Place) -> bool {
    sample::write(&place.path("try.marey"));
    let output = place.marey(&["export", "try.marey", "--to", "html"]);
    let said = stderr(&output);
    if said.contains("was built without") {
        marey_testkit::skip("the page and the engine that `cargo xtask ui` builds");
        return false;
    }
    assert!(output.status.success(), "{said}");
    true
}

/// Adds rows to a table of a run.
fn add(run: &Path, meta: &mut Meta, table: &str, rows: &[&[Value<'_>]]) {
    let spec = schema::table(table).unwrap();
    let mut columns = Columns::new(spec);
    if spec.layout == Layout::Single {
        columns = Archive::open(run).unwrap().table(table).unwrap();
    }
    rows.iter().for_each(|row| columns.push(row).unwrap());
    meta.add(spec, Part::new(spec, 0, 0, write_table(run, &columns).unwrap()));
}

/// What nobody else is to know; none of it may be part of a usual word.
const SECRETS: [&str; 26] = [
    "ada",
    "Grace Hopper",
    "D:/plans",
    "mesh.dat",
    "login7",
    "hunter2",
    "GRAND_PLAN",
    "secret",
    "node1",
    "[4000, 4001]",
    "[4000, 4000]",
    "./app",
    "/bin/app",
    "halo.cpp",
    "main.c",
    "/src",
    "mpirun",
    "0123456789abcdef",
    "Debian",
    "thoughts",
    "id_private",
    "feedface",
    "kernel.cpp",
    "MY_TOKEN",
    "--title",
    "scratch",
];

/// The small run, by somebody who has secrets. `private` is a file of theirs that the run names.
fn write_secret(run: &Path, private: &str) {
    use Value::{I64, Text, U32};
    sample::write(run);
    let mut meta = Meta::load(run).unwrap();
    meta.run.title = "GRAND_PLAN of ada".to_owned();
    meta.run.memo = "thoughts".to_owned();
    meta.run.command.extend(["--title", "hunter2"].map(str::to_owned));
    meta.run.rules = vec!["count ada_*".to_owned()];
    meta.run.hosts.push("login7".to_owned());
    let noun = |id, kind, name| [U32(id), U32(0), Text(kind), Text(name), U32(NONE), Text(private), U32(3)];
    add(
        run,
        &mut meta,
        "nouns",
        &[
            &noun(0, "file", "/home/ada/input-secret.dat"),
            &noun(1, "function", "void at(/home/ada/kernel.cpp:7)"),
            &noun(2, "socket", "login7:22"),
            &noun(3, "region", r"read C:\Users\Grace Hopper\mesh.dat"),
            &noun(4, "region", "step of ada at login7.example, from D:/plans"),
        ],
    );
    let region = |id, noun, name, file| {
        [
            U32(id),
            Text("source"),
            Text("execute"),
            Text(name),
            Text("work"),
            U32(0),
            U32(0),
            U32(noun),
            Text(file),
            U32(9),
        ]
    };
    add(
        run,
        &mut meta,
        "regions",
        &[
            &region(5, 0, "/home/ada/input-secret.dat", ""),
            &region(6, 1, "void at(/home/ada/kernel.cpp:7)", private),
            &region(7, 2, "login7:22", ""),
            &region(8, 99, "secret of nobody", ""),
            &region(9, 3, r"read C:\Users\Grace Hopper\mesh.dat", ""),
            &region(10, 4, "step of ada at login7.example, from D:/plans", ""),
        ],
    );
    add(run, &mut meta, "modules", &[&[U32(1), Text(private), Text("feedface")]]);
    let frame = |at, name| [U32(1), I64(at), U32(0), Text(name), Text(private), U32(1), Text("symbol")];
    add(
        run,
        &mut meta,
        "frames",
        &[&frame(0x900, "id_private+0x900"), &frame(0x910, "in /scratch/x.c on login7")],
    );
    add(run, &mut meta, "environment", &[&[U32(NONE), Text("MY_TOKEN"), Text("hunter2")]]);
    let problem = [Text("lost"), U32(0), U32(NONE), I64(1), Text("of ada on login7: /scratch/spool")];
    add(run, &mut meta, "problems", &[&problem]);
    meta.save(run).unwrap();
}

#[test]
fn a_page_holds_the_run_and_its_report() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    let page = Page::read(&place.path("try.marey.html"));
    assert_eq!(page.parts["name"], b"try.marey");
    assert!(page.parts["engine"].starts_with(b"\0asm"));
    let whole = Archive::open(&place.path("try.marey")).unwrap();
    for table in ["regions", "intervals", "messages", "profile"] {
        let (found, expected) = (page.archive().table(table).unwrap(), whole.table(table).unwrap());
        assert_eq!(found.columns(), expected.columns(), "{table}");
    }
    assert!(page.archive().parts("environment").is_empty(), "nobody asks for it");
    let report: Json = serde_json::from_str(&place.ok(&["report", "try.marey", "--json"])).unwrap();
    assert_eq!(page.report(), report);
    // What a browser is told about scripts stands before the first of them, and none comes from elsewhere.
    let policy = page.frame.find("Content-Security-Policy").unwrap();
    assert!(policy < page.frame.find("<script").unwrap() && policy < page.frame.find("<style").unwrap());
    for link in [" src=", "http://", "https://"] {
        assert!(!page.frame.split("<style>").next().unwrap().contains(link), "{link}");
    }
}

#[test]
fn a_page_of_a_packed_run_is_that_of_the_run() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    place.ok(&["pack", "try.marey", "-o", "try.zip"]);
    place.ok(&["export", "try.zip", "--to", "html", "-o", "packed.html"]);
    let pages = ["try.marey.html", "packed.html"].map(|name| Page::read(&place.path(name)));
    assert_eq!(pages[0].parts["run"], pages[1].parts["run"]);
    place.ok(&["export", "try.zip", "--to", "html", "-o", "packed.html", "--force", "--redact"]);
}

#[test]
fn a_redacted_page_does_not_say_whose_run_it_was() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    let private = place.path("id_private");
    std::fs::write(&private, "feedface of ada").unwrap();
    write_secret(&place.path("GRAND_PLAN.marey"), private.to_str().unwrap());

    place.ok(&["export", "GRAND_PLAN.marey", "--to", "html", "-o", "open.html"]);
    let frame = Page::read(&place.path("open.html")).frame;
    let open = Page::read(&place.path("open.html")).texts();
    let hidden: Vec<&str> = SECRETS.into_iter().filter(|secret| !open.contains(secret)).collect();
    assert_eq!(hidden, ["MY_TOKEN"], "all but the environment is in a page that is not redacted");
    assert!(!open.contains("feedface of ada"), "files that a run names are not opened");

    place.ok(&["export", "GRAND_PLAN.marey", "--to", "html", "-o", "redacted.html", "--redact"]);
    let page = Page::read(&place.path("redacted.html"));
    assert_eq!(page.frame, frame, "all that is of the run lies in the parts");
    let texts = page.texts();
    for secret in SECRETS {
        let at = texts.find(secret);
        let around = at.map(|at| texts.get(at.saturating_sub(60)..at + 60));
        assert_eq!(at, None, "{secret}: {around:?}");
    }
    let there = texts.contains(place.path("").to_str().unwrap());
    assert!(!there, "where it was made is nobody's business");
    for kept in [
        "MPI_Send",
        "execute",
        "void at(…:7)",
        "host-1",
        "file-2.cpp",
        "module-2+0x900",
        "Open MPI v4.1.4",
        "read …",
    ] {
        assert!(texts.contains(kept), "{kept} stays");
    }

    // What was done and how long is what it was.
    let sums = |report: &Json| {
        report["regions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["exclusive_ns"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(sums(&page.report()), sums(&Page::read(&place.path("open.html")).report()));
    let left: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".tmp")), "{left:?}");
}

#[test]
fn a_page_of_two_runs_holds_both_and_what_differs() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    for name in ["a", "b"] {
        std::fs::create_dir(place.path(name)).unwrap();
    }
    sample::write(&place.path("a/run.marey"));
    write_secret(&place.path("b/run.marey"), "id_private");
    place.ok(&["export", "a/run.marey", "b/run.marey", "--to", "html", "-o", "both.html"]);
    let page = Page::read(&place.path("both.html"));
    let text = |part: &str| String::from_utf8_lossy(&page.parts[part]).into_owned();
    let near = |name: &str| Path::new(name).join("run.marey").display().to_string();
    assert_eq!([text("name"), text("other-name")], [near("a"), near("b")]);
    assert!(text("compare").contains("sentences") && text("iterations").contains("is_same"));
    let is_there = text("compare").contains(place.path("").to_str().unwrap());
    assert!(!is_there, "where it was made is nobody's business");
    let alone = ["a", "b"].map(|name| {
        let out = format!("{name}.html");
        place.ok(&["export", &near(name), "--to", "html", "-o", &out]);
        Page::read(&place.path(&out)).parts["run"].clone()
    });
    assert_eq!([&page.parts["run"], &page.parts["other-run"]], [&alone[0], &alone[1]]);

    place.ok(&["export", "a/run.marey", "b/run.marey", "--to", "html", "--redact", "-o", "x.html"]);
    let page = Page::read(&place.path("x.html"));
    let names = ["name", "other-name"].map(|part| String::from_utf8_lossy(&page.parts[part]).into_owned());
    assert_eq!(names, ["run-1", "run-2"]);
    let other = Page {
        frame: String::new(),
        parts: [("run", "other-run"), ("name", "compare"), ("report", "other-report")]
            .map(|(to, from)| (to.to_owned(), page.parts[from].clone()))
            .into(),
    };
    // All parts of both, as far as they are texts.
    let texts = page.texts() + &other.texts() + &String::from_utf8_lossy(&page.parts["iterations"]);
    let here = place.path("").display().to_string();
    for secret in SECRETS.into_iter().chain([here.as_str(), "x.html"]) {
        assert!(!texts.contains(secret), "{secret}");
    }
    assert!(String::from_utf8_lossy(&page.parts["compare"]).contains("sentences"));
}

#[test]
fn a_page_is_called_as_its_run_is() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    // From within the run, which has a name all the same.
    for (command, end) in [(&["export", ".", "--to", "html"][..], "html"), (&["pack", "."], "zip")] {
        let mut marey = std::process::Command::new(env!("CARGO_BIN_EXE_marey"));
        std::fs::remove_file(place.path("try.marey.html")).ok();
        let output = marey.args(command).current_dir(place.path("try.marey")).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(place.path(&format!("try.marey.{end}")).is_file());
    }
}

#[test]
fn what_is_too_large_is_left_out_or_refused() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    // Before its footer a file may have whatever it likes, for the footer tells where all else begins.
    let run = place.path("try.marey");
    let mut meta = Meta::load(&run).unwrap();
    for table in ["messages", "intervals"] {
        let part = &mut meta.tables.get_mut(table).unwrap()[0];
        let file = run.join(&part.file);
        let mut bytes = std::fs::read(&file).unwrap();
        let end = bytes.len() - 8;
        let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
        let footer = bytes.split_off(end - footer);
        bytes.resize(bytes.len() + (2 << 20), 0);
        bytes.extend(footer);
        part.bytes = bytes.len() as u64;
        // As if nobody had looked how it ends.
        part.tail = marey_archive::Tail::default();
        std::fs::write(file, bytes).unwrap();
    }
    meta.save(&run).unwrap();
    let export = |most: &str| {
        let output = place.marey(&[
            "export",
            "try.marey",
            "--to",
            "html",
            "-o",
            "x.html",
            "--force",
            "--most-mib",
            most,
        ]);
        (output.status.success(), stderr(&output))
    };
    let (is_done, said) = export("3");
    assert!(is_done && said.contains("messages are left out") && !said.contains("single visits"), "{said}");
    assert_eq!(Page::read(&place.path("x.html")).archive().meta().left_out("messages"), 2);
    let (is_done, said) = export("1");
    assert!(
        is_done && said.contains("messages are left out") && said.contains("single visits are left out"),
        "{said}"
    );
    let archive = Page::read(&place.path("x.html")).archive();
    assert!(archive.parts("intervals").is_empty() && archive.meta().left_out("intervals") > 0);

    // What no page could open is no page.
    std::fs::write(run.join("profile.parquet"), vec![7; 900]).unwrap();
    let (is_done, said) = export("9");
    assert!(!is_done && said.contains("is damaged"), "{said}");
}

#[test]
fn pages_are_written_through_no_link_and_replace_no_device() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    let run = place.path("run.marey");
    sample::write(&run);
    // What pages were once written through until they were complete.
    std::fs::write(place.path("victim"), "mine").unwrap();
    std::os::unix::fs::symlink("victim", place.path("page.html.tmp")).unwrap();
    let words = ["export", "run.marey", "--to", "html", "-o"];
    assert!(place.marey(&[&words[..], &["page.html"]].concat()).status.success());
    assert_eq!(std::fs::read_to_string(place.path("victim")).unwrap(), "mine");
    assert!(place.path("page.html").symlink_metadata().unwrap().is_file());
    let fifo = place.path("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    for (name, why) in [("fifo", "no ordinary file"), ("-", "standard output")] {
        let output = place.marey(&[&words[..], &[name, "--force"]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert!(!fifo.metadata().unwrap().is_file());
}

#[test]
fn what_cannot_be_exported_is_said() {
    let place = Place::new();
    if !can_export(&place) {
        return;
    }
    let cases: [(&[&str], i32, &str); 5] = [
        (&["export", "try.marey", "--to", "html"], 2, "use --force"),
        (&["export", "absent.marey", "--to", "html"], 2, "there is no run"),
        (&["export", "try.marey", "--to", "html", "-o", "try.marey/x.html"], 2, "lies in the run itself"),
        (&["export", "try.marey"], 2, "--to <FORM>"),
        (&["export", "try.marey", "--to", "html", "-o", "absent/x.html"], 1, "cannot write"),
    ];
    for (args, status, expected) in cases {
        let output = place.marey(args);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}
