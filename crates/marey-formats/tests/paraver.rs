//! Traces of Paraver: a small one of which all is known, real ones whose records were counted by other means, and broken
//! ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use marey_formats::{Error, Fate, Format, Imported, import, recognise};

/// Two ranks, the second with two threads; a message that is awaited, one that is there already, and one that has come
/// before it was sent, as of clocks that differ; a collective, states, a counter, and each kind of types.
const TRACE: &str = include_str!("paraver/small.prv");

const PCF: &str = include_str!("paraver/small.pcf");

const ROW: &str = include_str!("paraver/small.row");

struct Case {
    dir: tempfile::TempDir,
    number: u32,
}

impl Case {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("t.pcf"), PCF).unwrap();
        std::fs::write(dir.path().join("t.row"), ROW).unwrap();
        Self { dir, number: 0 }
    }

    fn import(&mut self, name: &str, content: &[u8]) -> Result<Imported, Error> {
        let file = self.dir.path().join(name);
        std::fs::write(&file, content).unwrap();
        self.number += 1;
        let spool = self.dir.path().join(format!("spool{}", self.number));
        let imported = import(&file, &spool, &());
        std::fs::remove_file(file).unwrap();
        imported
    }

    /// The bytes that the last spool holds, for each process.
    fn definitions(&self) -> Vec<Vec<u8>> {
        let spool = self.dir.path().join(format!("spool{}", self.number));
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(spool).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        let is_wanted = |file: &&PathBuf| file.extension().is_some_and(|it| it == "definitions");
        files.iter().filter(is_wanted).map(|file| std::fs::read(file).unwrap()).collect()
    }
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn number(imported: &Imported, name: &str) -> u64 {
    let all = imported.records.iter().chain(&imported.definitions);
    all.filter(|it| it.0.starts_with(name)).map(|it| it.2).sum()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_small_trace_is_counted_record_by_record() {
    let mut case = Case::new();
    let imported = case.import("t.prv", TRACE.as_bytes()).unwrap();
    assert_eq!(imported.problems, []);
    assert_eq!((imported.processes, imported.locations), (2, 3));
    let records = [
        ("communication", Fate::Mapped, 3),
        ("event 42000050 PAPI_TOT_INS [Instr completed]", Fate::Mapped, 2),
        ("event 50000001 MPI Point-to-point", Fate::Mapped, 10),
        ("event 50000002 MPI Collective Comm", Fate::Mapped, 4),
        ("event 50100001", Fate::Kept, 2),
        ("event 50100002", Fate::Kept, 2),
        ("event 50100003", Fate::Kept, 1),
        ("event 50100004", Fate::Kept, 2),
        ("event 60000006 OpenMP named-Lock", Fate::Mapped, 3),
        ("event 60000019 User function", Fate::Mapped, 2),
        ("event 60000119 User function line", Fate::Mapped, 1),
        ("event 70000001", Fate::Kept, 1),
        ("event 77", Fate::Kept, 1),
        ("state", Fate::Mapped, 2),
    ];
    let records: Vec<_> = records.map(|(name, fate, number)| (name.to_owned(), fate, number)).into();
    assert_eq!(imported.records, records);
    assert_eq!(imported.events, 36);
    assert_eq!((number(&imported, "communicator"), number(&imported, "task")), (2, 2));
    let definitions = case.definitions();
    let names = ["first", "main of 0", "a_long_function_name", "main.c", "MPI_Send", "MPI_Recv", "MPI_Bcast"];
    for name in names {
        assert!(contains(&definitions[0], name), "{name}");
    }
    assert!(contains(&definitions[0], "PAPI_TOT_INS") && !contains(&definitions[0], "Instr completed"));
    assert!(!contains(&definitions[0], "a_long..name"));
    for name in ["second", "main of 1", "helper of 1", "Locked status"] {
        assert!(contains(&definitions[1], name), "{name}");
    }
    // All messages lie in calls of MPI, so none had to be made for them.
    for made in ["send", "receive"] {
        assert!(!definitions.iter().any(|it| contains(it, made)), "{made}");
    }
}

#[test]
fn content_decides_also_behind_gzip() {
    let mut case = Case::new();
    let plain = case.import("t.prv", TRACE.as_bytes()).unwrap();
    let zipped = case.import("t.prv.gz", &packed(TRACE.as_bytes())).unwrap();
    assert_eq!(plain, zipped);
    std::fs::write(case.dir.path().join("t.prv"), packed(TRACE.as_bytes())).unwrap();
    assert_eq!(recognise(case.dir.path()).unwrap().0, Format::Paraver);
}

#[test]
fn a_single_task_without_mpi_is_no_rank() {
    // As ovni writes it, with a value that holds until the next one.
    let text = "#Paraver (19/01/38 at 03:14):00000000000000000020_ns:0:1:1(2:1)\n2:0:1:1:2:0:10:1\n2:0:1:1:2:5:10:2\n2:0:1:1:2:9:10:0\n2:0:1:1:1:9:10:1\n";
    let mut case = Case::new();
    std::fs::write(case.dir.path().join("t.pcf"), "EVENT_TYPE\n0 10 Subsystem\nVALUES\n1 Idle\n2 Busy\n")
        .unwrap();
    let imported = case.import("t.prv", text.as_bytes()).unwrap();
    assert_eq!((imported.processes, imported.locations, imported.events), (1, 2, 4));
    assert_eq!(imported.records, [("event 10 Subsystem".to_owned(), Fate::Mapped, 4)]);
    assert_eq!(imported.problems, []);
    let definitions = case.definitions();
    assert!(contains(&definitions[0], "Busy") && contains(&definitions[0], "Subsystem"));
    // The recorder of each process, and the library of one that has a rank.
    let recorders = |definitions: &[u8]| definitions.windows(7).filter(|it| it == b"Paraver").count();
    assert_eq!(recorders(&definitions[0]), 1);
    let text = text.replace(":10:1\n", ":50000003:31\n");
    case.import("t.prv", text.as_bytes()).unwrap();
    assert_eq!(recorders(&case.definitions()[0]), 2);
}

#[test]
fn what_makes_no_sense_is_told() {
    let check = |lines: &str, expected: &str| {
        let text = format!("#Paraver (a):1000:1(1):1:2(1:1,1:1)\n{lines}\n");
        let problems = Case::new().import("t.prv", text.as_bytes()).unwrap().problems;
        assert!(problems.iter().any(|it| it.0.starts_with(expected)), "{lines}: {problems:?}");
    };
    check("1:1:1:1:1:0:2000:1", "states that end behind the end of the trace");
    check("1:1:1:1:1:0:10:1\n1:1:1:1:1:5:20:1", "states that begin before the last one");
    check("9:1", "lines that are no records; the first is line 2");
    check("2:1:1:1:1:5:7", "events that have a type and no value");
    check("2:1:1:9:1:5:7:1", "records of tasks that the first line does not name");
    check("2:1:1:1:4000000000:5:7:1", "threads that the first line does not name");
    check("2:1:1:1:1:5:50000001:0", "calls that were left and not entered");
    check("2:1:1:1:1:9223372036854775807:7:1", "times that are too late");
    check("c:1:1:1:3", "communicators whose members make no sense");
    check("c:1:1:2:1:1", "communicators whose members make no sense");
    check("2:1:1:1:1:5:50000002:7:50100004:9", "collectives on communicators that are not there");
    check("2:1:1:1:1:5:42000050:99999999999", "differences of counters");
    let text = "#Paraver (a):1000:1(1):1:1000000000(1:1)\n";
    let problems = Case::new().import("t.prv", text.as_bytes()).unwrap().problems;
    assert_eq!(problems[0].0, "the first line does not name as many tasks as it says");
}

#[test]
fn any_byte_may_be_wrong_and_any_end_may_be_missing() {
    let mut case = Case::new();
    for at in 0..TRACE.len() {
        let mut content = TRACE.as_bytes().to_vec();
        content[at] ^= 1;
        check_broken(&mut case, &content);
        content[at] ^= 1 | 0x40;
        check_broken(&mut case, &content);
        check_broken(&mut case, &TRACE.as_bytes()[..at]);
    }
    let zipped = packed(TRACE.as_bytes());
    for at in 0..zipped.len() {
        let mut content = zipped.clone();
        content[at] ^= 0x10;
        check_broken(&mut case, &content);
        check_broken(&mut case, &zipped[..at]);
    }
}

fn check_broken(case: &mut Case, content: &[u8]) {
    match case.import("t.prv", content) {
        Ok(_) | Err(Error::Unknown { .. } | Error::Unreadable { .. }) => {}
        Err(other) => panic!("{other}"),
    }
    let spool = case.dir.path().join(format!("spool{}", case.number));
    if spool.exists() {
        std::fs::remove_dir_all(spool).unwrap();
    }
}

/// Counted with awk: lines of each kind, types and values.
const SAMPLES: &[(&str, [u64; 7])] = &[
    // Processes, threads, states, messages, types with values, communicators, problems.
    ("NAG_pypop/epoch/epoch_2proc.prv.gz", [2, 2, 6985, 1156, 86_969, 3, 1]),
    ("NAG_pypop/epoch/epoch_8proc.prv.gz", [8, 8, 29_983, 5100, 371_324, 9, 1]),
    ("NAG_pypop/imagemagick/omp4.prv.gz", [1, 4, 114_301, 0, 1_083_849, 0, 1]),
    ("generated_with_tau_convert/cpi.prv", [4, 4, 64, 0, 400, 0, 3]),
];

#[test]
fn samples_have_as_many_records_as_were_counted() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/paraver");
    if !samples.is_dir() {
        marey_testkit::leave_out("samples of other tools are not part of the repository");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (at, (name, expected)) in SAMPLES.iter().enumerate() {
        let imported = import(&samples.join(name), &dir.path().join(at.to_string()), &()).unwrap();
        let (states, messages) = (number(&imported, "state"), number(&imported, "communication"));
        let found = [
            imported.processes,
            imported.locations,
            states,
            messages,
            imported.events - states - messages,
            number(&imported, "communicator"),
            imported.problems.len() as u64,
        ];
        assert_eq!(&found, expected, "{name}: {:?}", imported.problems);
    }
}
