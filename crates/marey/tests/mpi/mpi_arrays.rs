//! Which array a message was sent from and received into: what programs say of their own buffers is what the archive says,
//! message by message, also where an address has been given back and is used again.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need, programs};

/// What a program says of the buffer of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    name: String,
    offset: i64,
    begin: i64,
    /// Which of the data of this name it is; −1 for one that has been met under another name.
    which: i64,
}

/// By rank, in the order of messages, from the files that they write.
fn said(dir: &Path) -> [Vec<Said>; 2] {
    [0, 1].map(|rank| {
        let text = std::fs::read_to_string(dir.join(format!("said.{rank}"))).unwrap();
        let lines = text.lines().map(|line| line.trim_start().split('\t').collect::<Vec<&str>>());
        let said = lines.enumerate().map(|(number, fields)| {
            let [by, of, name, offset, begin, which] = fields[..] else { panic!("{fields:?}") };
            assert_eq!([by.parse(), of.parse()], [Ok(rank), Ok(number)]);
            Said {
                name: name.to_owned(),
                offset: offset.parse().unwrap(),
                begin: begin.parse().unwrap(),
                which: which.parse().unwrap(),
            }
        });
        said.collect()
    })
}

/// What the archive says of each message: for sender and receiver the array's row, its name, and where the buffer lies in it.
fn told(run: &Run) -> Vec<[(u32, String, i64, i64); 2]> {
    let (arrays, nouns) = (run.table("arrays"), run.table("nouns"));
    let names: BTreeMap<u32, &String> =
        nouns.u32("id").unwrap().iter().copied().zip(nouns.text("name").unwrap()).collect();
    let address = arrays.i64("address").unwrap();
    let of = |array: u32, buffer: i64| {
        let row = array as usize;
        let name = names[&arrays.u32("noun").unwrap()[row]].clone();
        (array, name, buffer - address[row], address[row])
    };
    let messages = run.table("messages");
    let column = |name| messages.u32(name).unwrap();
    let (buffers, into) = (messages.i64("send_buffer").unwrap(), messages.i64("recv_buffer").unwrap());
    let mut rows: Vec<usize> = (0..messages.len()).collect();
    rows.sort_by_key(|&row| messages.i64("send_time").unwrap()[row]);
    let both =
        |row: usize| [of(column("send_array")[row], buffers[row]), of(column("recv_array")[row], into[row])];
    rows.into_iter().map(both).collect()
}

/// Every message of a program must lie in what it says.
fn check(compiler: Compiler, (source, flag): (&str, &str), messages: usize) -> Option<(Run, Place)> {
    let mpi = need!(Mpi::Open.installed(), "Open MPI" => None);
    let build = Build { mpi, compiler, sources: &[source], flags: &[flag], output: "arrays" };
    let program = need!(build.path(), "a compiler for {}", source => None);
    let place = Place::new();
    let dir = place.dir("recorded");
    let run = Job::new(mpi, 2, program).record(&dir);
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    let told = told(&run);
    assert_eq!(told.len(), messages);
    for (side, said) in said(&dir).into_iter().enumerate() {
        assert_eq!(said.len(), messages);
        let mut known: BTreeMap<(String, i64), u32> = BTreeMap::new();
        for (number, said) in said.iter().enumerate() {
            let (array, name, offset, begin) = &told[number][side];
            if said.which < 0 {
                // It is still called as it was when it was met.
                assert_eq!(
                    (*offset, *begin),
                    (said.offset, said.begin),
                    "message {number} of rank {side}: {name}"
                );
                continue;
            }
            let is_it = name == &said.name || said.name == "p::mine" && name == "block of p ← main";
            assert!(is_it, "message {number} of rank {side}: {name}, not {}", said.name);
            if name.starts_with("small") {
                continue;
            }
            // Frames come and go, and are one row.
            if !name.contains("local") {
                assert_eq!(
                    (*offset, *begin),
                    (said.offset, said.begin),
                    "message {number} of rank {side}: {name}"
                );
            }
            let first = *known.entry((name.clone(), said.which)).or_insert(*array);
            assert_eq!(first, *array, "message {number} of rank {side}: {name} is one");
        }
        let mut rows: Vec<u32> = known.values().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), known.len(), "{known:?}: no two are one");
    }
    let arrays = run.json("report")["buffers"].clone();
    let sum = |field: &str| -> u64 {
        arrays.as_array().unwrap().iter().map(|row| row[field].as_u64().unwrap()).sum()
    };
    let pairs = run.json("report")["communication"].clone();
    let bytes: u64 = pairs.as_array().unwrap().iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!(["sent_messages", "received_messages"].map(sum), [messages as u64; 2]);
    assert_eq!(["sent_bytes", "received_bytes"].map(sum), [bytes; 2]);
    Some((run, place))
}

/// The name of each row of `arrays`, `-` for none.
fn names(run: &Run, rows: &[u32]) -> Vec<String> {
    let (arrays, nouns) = (run.table("arrays"), run.table("nouns"));
    let (of, names) = (arrays.u32("noun").unwrap(), nouns.text("name").unwrap());
    rows.iter()
        .map(|&row| of.get(row as usize).map_or("-".to_owned(), |&noun| names[noun as usize].clone()))
        .collect()
}

#[test]
fn buffers_of_c_lie_in_what_the_program_says() {
    let Some((run, _place)) = check(Compiler::C, ("arrays.c", "-O1"), 26) else { return };
    let collectives = run.table("collectives");
    let arrays = ["array_out", "array_in"].map(|column| names(&run, collectives.u32(column).unwrap()));
    let bytes = ["bytes_out", "bytes_in"].map(|column| collectives.i64(column).unwrap().to_vec());
    let mut told: Vec<_> = (0..collectives.len())
        .filter(|&row| 0 < bytes[0][row] + bytes[1][row])
        .map(|row| (bytes[0][row], arrays[0][row].as_str(), bytes[1][row], arrays[1][row].as_str()))
        .collect();
    told.sort_unstable();
    let (summed, in_place) = ((800, "sim.cells", 800, "halo"), (80, "sim.cells", 80, "sim.cells"));
    assert_eq!(told, [(0, "-", 800, "grid"), in_place, in_place, (800, "grid", 0, "-"), summed, summed]);
    let rma = run.table("rma");
    let kinds = rma.text("kind").unwrap();
    let arrays = names(&run, rma.u32("array").unwrap());
    let mut told: Vec<_> = kinds.iter().map(String::as_str).zip(arrays.iter().map(String::as_str)).collect();
    told.sort_unstable();
    let fence = ("fence", "-");
    assert_eq!(told, [fence, fence, fence, fence, ("get", "sim.cells"), ("put", "halo")]);
}

#[test]
fn buffers_of_fortran_lie_in_what_the_program_says() {
    // Optimised, the descriptor of an array of the main program lies in registers.
    for (flag, local) in [("-O0", "p::mine"), ("-O2", "block of p ← main")] {
        let Some((run, _place)) = check(Compiler::Fortran, ("arrays.f90", flag), 18) else { return };
        let names = run.json("report")["buffers"].to_string();
        assert!(names.contains(local), "{names}");
    }
}

/// What gfortran copies for a call is no array of the program's, and is told with what to do.
#[test]
fn copies_that_the_compiler_makes_are_temporaries_of_the_line_that_needs_them() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let source = std::fs::read_to_string(programs().join("packed.f90")).unwrap();
    let line = |text: &str| 1 + source.lines().position(|line| line.contains(text)).unwrap() as u64;
    for flag in ["-O0", "-O2"] {
        let build = Build {
            mpi,
            compiler: Compiler::Fortran,
            sources: &["packed.f90"],
            flags: &[flag],
            output: "packed",
        };
        let program = need!(build.path(), "a compiler for Fortran");
        let place = Place::new();
        let run = Job::new(mpi, 2, program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let report = run.json("report");
        let rows = report["buffers"].as_array().unwrap();
        let is_temporary =
            |row: &&serde_json::Value| row["array"].as_str().unwrap().starts_with("temporary of packed");
        let mut temporaries: Vec<_> = rows
            .iter()
            .filter(is_temporary)
            .map(|row| {
                let number = |name: &str| row[name].as_u64().unwrap();
                (number("line"), number("sent_messages"), number("sent_bytes"), number("received_messages"))
            })
            .collect();
        temporaries.sort_unstable();
        // Ten rows of 2 000 numbers of 8 bytes.
        let (sent, received) = (line("MPI_Send(a(i, :)"), line("MPI_Recv(a(i, :)"));
        assert_eq!(temporaries, [(sent, 10, 160_000, 0), (received, 0, 0, 10)], "{flag} {rows:#?}");
        // Columns lie in one piece.
        let others: u64 = rows
            .iter()
            .filter(|row| !is_temporary(row))
            .map(|row| row["sent_messages"].as_u64().unwrap())
            .sum();
        assert_eq!(others, 10);
        let text = run.text("report", &["--by", "buffer"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let remark = format!(
            "temporaries that the compiler makes at packed.f90:{sent}: 10 messages with 156 KiB sent from them."
        );
        assert!(text.contains(&remark), "{text}");
    }
}

/// What is sent from no address lies where its type says, or nowhere; never in what was named before.
#[test]
fn messages_without_a_buffer_are_of_no_array_but_where_their_type_has_an_address() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let build =
            Build { mpi, compiler: Compiler::C, sources: &["bottom.c"], flags: &[], output: "bottom" };
        let program = need!(build.path(), "a compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 2, program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let report = run.json("report");
        let row = |row: &serde_json::Value| {
            let number = |name: &str| row[name].as_u64().unwrap();
            let name = row["array"].as_str().unwrap_or("-").to_owned();
            (name, number("sent_messages"), number("sent_bytes"), number("received_messages"))
        };
        let mut rows: Vec<_> = report["buffers"].as_array().unwrap().iter().map(row).collect();
        rows.sort_unstable();
        // Of two ranks.
        let of = |name: &str, sent, bytes, received| (name.to_owned(), sent, bytes, received);
        assert_eq!(rows, [of("-", 10, 0, 10), of("named", 6, 96, 0), of("taken", 0, 0, 6)], "{mpi:?}");
    }
}
