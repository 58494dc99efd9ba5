//! Writes the seeds of all fuzz targets: `seeds DIRECTORY` fills `DIRECTORY/TARGET/`.

use marey_fuzz::{Foreign, Parts, everything, records, trees};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let into = PathBuf::from(std::env::args_os().nth(1).ok_or(io::ErrorKind::InvalidInput)?);
    let spool = everything();
    let (mut whole, mut taken_apart) = (Vec::new(), Vec::new());
    for process in &spool.processes {
        let definitions = process.definition_text();
        whole.extend([process.definition_bytes(), definitions.clone()]);
        let windows = process.event_windows();
        for (n, window) in windows.iter().enumerate() {
            let (first, second) = (records(window), records(&windows[(n + 1) % windows.len()]));
            for sequence in [1, 2] {
                let parts = Parts { sequence, definitions: &definitions, first: &first, second: &second };
                taken_apart.push(parts.join());
            }
        }
        whole.extend(windows);
    }
    write(&into.join("records"), &whole)?;
    write(&into.join("spool"), &taken_apart)?;
    write(&into.join("trees"), &trees())?;
    write(&into.join("remarks"), &remarks())?;
    write(&into.join("imports"), &imports()?)?;
    let window = r#""from_ns":0,"to_ns":1000,"resolution_log2":3,"locations":[[0,9]],"exact":true"#;
    let sample = r#"{"from_ns":0,"to_ns":1000,"locations":[[0,9]],"region":1,"of":"duration"}"#;
    let windows = ["states", "totals", "course", "messages", "waits", "path"];
    let mut requests: Vec<Vec<u8>> =
        windows.map(|ask| format!(r#"{{"ask":"{ask}",{window}}}"#).into_bytes()).to_vec();
    requests.extend(
        [
            r#"{"ask":"shares"}"#.to_owned(),
            r#"{"ask":"visit","line":1,"at_ns":300,"near_ns":1000,"region":null}"#.to_owned(),
            r#"{"ask":"step","line":null,"region":1,"at_ns":0,"towards":"next"}"#.to_owned(),
            format!(r#"{{"ask":"histogram","sample":{sample},"bins":9,"logarithmic":true,"range":null}}"#),
            format!(r#"{{"ask":"instances","sample":{sample},"which":{{"anomalous":1}}}}"#),
        ]
        .map(String::into_bytes),
    );
    write(&into.join("request"), &requests)?;
    // One damage of each kind to files at the beginning, in the middle and at the end of the list.
    let damages = (0..8).flat_map(|kind| [0, 90, 180].map(|file| vec![kind, file, 1, 2, 3, 0, 255, 255]));
    write(&into.join("archive"), &damages.collect::<Vec<_>>())
}

/// A record of each form, as compilers write them, behind the byte that says which it is.
fn remarks() -> Vec<Vec<u8>> {
    let at = r#""pass":"1","function":"f","location":{"file":"a.c","line":6,"column":9}"#;
    let gcc = format!(
        r#"[{{"format":"1"}},[{{"id":"1","name":"vect"}}],[{{"kind":"scope",{at},"message":["=== analyze_loop_nest ==="],
        "children":[{{"kind":"note",{at},"message":["got vectype for stmt: ",{{"stmt":"_2 = a[_1];\n"}},{{"expr":"vector(4) float"}}]}},
        {{"kind":"note",{at},"message":["dependence distance  = 1.\n"]}},{{"kind":"failure",{at},"message":["bad data dependence.\n"]}}]}},
        {{"kind":"failure",{at},"message":["couldn't vectorize loop\n"],"inlining_chain":[{{"fndecl":"f"}},
        {{"fndecl":"main","site":{{"file":"a.c","line":9,"column":1}}}}]}}]]"#
    );
    let llvm = "--- !Missed\nPass:            inline\nName:            NoDefinition\n\
        DebugLoc:        { File: 'a b.c', Line: 3, \n                   Column: 9 }\nFunction:        f\nArgs:\n  \
        - Callee:          g\n  - String:          ' will not be inlined into '\n  - Caller:          f\n  \
        - String:          \" because\\n its definition is unavailable\"\n  - Text: |\n      more\n...\n";
    let printed = "note: a.rs:7:9 loop-vectorize (analysis): loop not vectorized: unsafe dependent memory operations in loop.\n      \
        Backward loop carried data dependence. Memory location is the same as accessed at a.rs:7:16\n\n\
        note: a.rs:5:9 loop-vectorize (success): vectorized loop (vectorization width: 4, interleaved count: 2)\n";
    [(0, gcc.as_str()), (1, llvm), (2, printed)]
        .map(|(form, text)| [&[form], text.as_bytes()].concat())
        .to_vec()
}

/// Small traces of each format: some of our own, and the real ones that lie beside the project, if they do.
fn imports() -> io::Result<Vec<Vec<u8>>> {
    let events = r#"{"traceEvents":[{"ph":"X","name":"a","cat":"c","pid":1,"tid":2,"ts":1.5,"dur":9,"args":{"n":-1}},
        {"ph":"B","name":"MPI_Send","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":2,"ts":"3"},
        {"ph":"b","id":"x","name":"s","pid":1,"tid":3,"ts":2},{"ph":"e","id":"x","name":"s","pid":1,"tid":3,"ts":4},
        {"ph":"s","id":1,"name":"f","pid":1,"tid":2,"ts":2},{"ph":"f","id":1,"name":"f","bp":"e","pid":1,"tid":3,"ts":5},
        {"ph":"C","name":"k","pid":1,"tid":2,"ts":3,"args":{"value":1.5}},{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"t"}}]}"#;
    let mut seeds = vec![Foreign::of_file(events.as_bytes())];
    let beside = |path: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let tests = beside("../crates/marey-formats/tests");
    let mut dirs = vec![beside("../../shared/samples")];
    dirs.extend(["alog", "paje", "sddf", "tau_profile"].map(|format| tests.join(format)));
    while let Some(dir) = dirs.pop() {
        // Without the samples there is less to begin with.
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else if entry.metadata()?.len() < MOST_SEED {
                seeds.push(Foreign::of_file(&std::fs::read(&path)?));
            }
        }
        let read = |name: &str| std::fs::read(dir.join(name));
        if let (Ok(global), Ok(own), Ok(events)) =
            (read("traces.def"), read("traces/0.def"), read("traces/0.evt"))
        {
            seeds.push(Foreign::of_archive([&global, &own, &events]));
        }
    }
    Ok(seeds)
}

/// Bytes of a seed: what is larger is tried less often.
const MOST_SEED: u64 = 64 << 10;

fn write(dir: &Path, seeds: &[Vec<u8>]) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    for (n, seed) in seeds.iter().enumerate() {
        std::fs::write(dir.join(format!("seed-{n:03}")), seed)?;
    }
    Ok(())
}
