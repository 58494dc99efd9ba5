//! Traces of TAU: a small one of which all is known, a real one whose records were counted by other means, and broken
//! ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

const EDF: &str = "\
9 dynamic_trace_events
# FunctionId Group Tag \"Name Type\" Parameters
1 TAU_USER 0 \"int main(int, char **) C [{cpi.c} {12,1}-{60,1}]\" EntryExit
2 MPI 0 \"MPI_Send()  \" EntryExit
3 MPI 0 \"MPI_Recv()  \" EntryExit
4 TAUEVENT 0 \"Heap in use\" TriggerValue
5 TAUEVENT 0 \"Hostname | first\" TriggerValue
6 TRACER 0 \"EV_INIT\" none
7 TRACER 0 \"WALL_CLOCK\" none
8 TAU_MESSAGE -7 \"MESSAGE_SEND\" par
9 TAU_MESSAGE -8 \"MESSAGE_RECV\" par
";

const BEGIN: i64 = 1_795_228_681_000_000;

/// Event, node, parameter, time since the beginning, µs.
const RECORDS: &[(i32, u16, i64, i64)] = &[
    (6, 0, 3, 0),
    (7, 0, BEGIN / 1_000_000, 0),
    (1, 0, 1, 0),
    (1, 1, 1, 1),
    (5, 0, 0, 2),
    (4, 0, 4096, 3),
    (4, 0, 4_616_189_618_054_758_400, 4),
    (2, 0, 1, 10),
    (3, 1, 1, 10),
    // To rank 1, tag 7, 64 bytes.
    (8, 0, 0x0107_0040, 11),
    (2, 0, -1, 12),
    (9, 1, 0x0007_0040, 20),
    (3, 1, -1, 21),
    (1, 0, -1, 30),
    (1, 1, -1, 30),
];

fn trace(is_wanted: impl Fn(u16) -> bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (event, node, parameter, time) in RECORDS.iter().filter(|it| is_wanted(it.1)) {
        bytes.extend(event.to_le_bytes());
        bytes.extend(node.to_le_bytes());
        bytes.extend(0_u16.to_le_bytes());
        bytes.extend(parameter.to_le_bytes());
        bytes.extend((BEGIN + time).to_le_bytes());
    }
    bytes
}

fn read(dir: &Path, content: &[u8]) -> Result<Imported, Error> {
    std::fs::write(dir.join("tau.edf"), EDF).unwrap();
    std::fs::write(dir.join("tau.trc"), content).unwrap();
    let spool = dir.join("spool");
    if spool.exists() {
        std::fs::remove_dir_all(&spool).unwrap();
    }
    import(&dir.join("tau.trc"), &spool, &())
}

fn definitions(dir: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir.join("spool")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let is_wanted = |file: &&PathBuf| file.extension().is_some_and(|it| it == "definitions");
    files.iter().filter(is_wanted).map(|file| std::fs::read(file).unwrap()).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

fn expected(counts: [u64; 5]) -> Vec<(String, Fate, u64)> {
    let names = [
        ("EntryExit", Fate::Mapped),
        ("MESSAGE_RECV", Fate::Mapped),
        ("MESSAGE_SEND", Fate::Mapped),
        ("TriggerValue", Fate::Mapped),
        ("TriggerValue of metadata", Fate::Kept),
    ];
    let counted = names.into_iter().zip(counts).filter(|it| it.1 > 0);
    counted.map(|((name, fate), number)| (name.to_owned(), fate, number)).collect()
}

#[test]
fn a_small_trace_is_counted_record_by_record() {
    let dir = tempfile::tempdir().unwrap();
    let imported = read(dir.path(), &trace(|_| true)).unwrap();
    assert_eq!(imported.problems, []);
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 2, 15));
    let mut records = expected([8, 1, 1, 2, 1]);
    records.push(("of the recorder".to_owned(), Fate::Ignored, 2));
    assert_eq!(imported.records, records);
    let definitions = definitions(dir.path());
    for name in ["first", "int main(int, char **) C", "cpi.c", "MPI_Send", "Heap in use"] {
        assert!(contains(&definitions[0], name), "{name}");
    }
    assert!(contains(&definitions[1], "MPI_Recv") && !contains(&definitions[1], "MPI_Recv()"));
    for made in ["send", "receive"] {
        assert!(!definitions.iter().any(|it| contains(it, made)), "{made}");
    }
}

#[test]
fn files_of_threads_are_one_trace() {
    let dir = tempfile::tempdir().unwrap();
    let merged = read(dir.path(), &trace(|_| true)).unwrap();
    let apart = tempfile::tempdir().unwrap();
    for node in 0..2_u16 {
        // A file begins with its own record of the beginning.
        let begin = if node == 0 { Vec::new() } else { trace(|_| true)[..48].to_vec() };
        let content = [begin, trace(|it| it == node)].concat();
        std::fs::write(apart.path().join(format!("tautrace.{node}.0.0.trc")), content).unwrap();
        std::fs::write(apart.path().join(format!("events.{node}.edf")), EDF).unwrap();
    }
    let (format, file) = recognise(apart.path()).unwrap();
    assert_eq!((format, file), (Format::Tau, apart.path().join("tautrace.0.0.0.trc")));
    let read_apart = import(apart.path(), &apart.path().join("spool"), &()).unwrap();
    assert_eq!(read_apart.events, merged.events + 2);
    assert_eq!((read_apart.processes, read_apart.locations), (2, 2));
    std::fs::write(apart.path().join("tau.trc"), trace(|_| true)).unwrap();
    assert_eq!(recognise(apart.path()).unwrap().1, apart.path().join("tau.trc"));
}

#[test]
fn any_byte_may_be_wrong_and_any_end_may_be_missing() {
    let dir = tempfile::tempdir().unwrap();
    let whole = trace(|_| true);
    for at in 0..whole.len() {
        for bits in [1, 0x80, 0xff] {
            let mut content = whole.clone();
            content[at] ^= bits;
            check_broken(dir.path(), &content);
        }
        check_broken(dir.path(), &whole[..at]);
    }
}

fn check_broken(dir: &Path, content: &[u8]) {
    match read(dir, content) {
        Ok(_) | Err(Error::Unknown { .. }) => {}
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_sample_has_as_many_records_as_were_counted() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/samples/tau-trace/generated_with_TAU/cpi");
    if !sample.is_dir() {
        marey_testkit::leave_out("samples of other tools are not part of the repository");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (number, file) in ["tau.trc", "tautrace.2.0.0.trc"].into_iter().enumerate() {
        let imported = import(&sample.join(file), &dir.path().join(number.to_string()), &()).unwrap();
        assert_eq!(imported.problems, []);
        assert_eq!((imported.processes, imported.locations, imported.events), (4, 4, 1068));
        let records: Vec<_> = imported.records.into_iter().filter(|it| it.1 != Fate::Ignored).collect();
        assert_eq!(records, expected(SAMPLE), "{file}");
    }
}

/// Counted by the numbers in `tau.trc` and the lines of `tau.edf`, and where names are not cut off, in `tau.dump`.
const SAMPLE: [u64; 5] = [96, 0, 0, 44, 912];
