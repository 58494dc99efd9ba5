//! Arguments that do not count by the standard: of operations with a root those that are for others, of what is in place, of
//! who only reads. Nobody looks at what they hold, so a program does what it does alone, and what was moved is told right.
//!
//! The one idea: what a program passes there would end it if anybody looked, and it prints what each process gives and gets.

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

fn job(mpi: Mpi, ranks: u32) -> Option<Job> {
    let build =
        Build { mpi, compiler: Compiler::C, sources: &["ignored.c"], flags: &["-g"], output: "ignored" };
    Some(Job::new(mpi, ranks, build.path()?))
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

/// Rank, bytes given and bytes got of each part in an operation that moves something or could.
fn moved(run: &Run) -> Vec<(i64, i64, i64)> {
    let (table, locations) = (run.table("collectives"), run.table("locations"));
    let ranks = run.table("processes").i64("rank").unwrap().to_vec();
    let process = locations.u32("process").unwrap().to_vec();
    let column = |name: &str| table.i64(name).unwrap().to_vec();
    let (out, got, location) = (column("bytes_out"), column("bytes_in"), table.u32("location").unwrap());
    let rank = |row: usize| ranks[process[location[row] as usize] as usize];
    let mut rows: Vec<_> = (0..table.len()).map(|row| (rank(row), out[row], got[row])).collect();
    rows.retain(|(_, out, got)| 0 < out + got);
    rows.sort_unstable();
    rows
}

#[test]
fn arguments_that_do_not_count_are_not_looked_at() {
    for (mpi, ranks) in [(Mpi::Open, 2), (Mpi::Open, 3), (Mpi::Mpich, 2)] {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let place = Place::new();
        let job = need!(job(mpi, ranks), "a compiler for {mpi:?}");
        let alone = job.plain(&place.dir("alone"));
        let run = job.record(&place.dir("recorded"));
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let said = lines(&run.stdout());
        assert_eq!(said, lines(&String::from_utf8_lossy(&alone.stdout)));
        assert!(said.iter().all(|line| line.ends_with(" 1")), "{said:#?}");
        assert_eq!(said.len(), if ranks == 2 { 26 } else { 32 });
        let number = |word: &str| word.parse::<i64>().unwrap();
        let operations = said.iter().filter(|line| line.contains("MPI_"));
        let parts = operations.map(|line| line.split(' ').collect::<Vec<_>>());
        let mut expected: Vec<_> =
            parts.map(|words| (number(words[0]), number(words[2]), number(words[3]))).collect();
        expected.retain(|(_, out, got)| 0 < out + got);
        expected.sort_unstable();
        assert_eq!(moved(&run), expected, "{mpi:?}, {ranks} ranks");
    }
}

/// At the ends of a row there are counts for nobody.
#[test]
fn operations_among_neighbours_move_what_neighbours_there_are() {
    for (mpi, ranks) in [(Mpi::Open, 3), (Mpi::Mpich, 2)] {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let sources = &["neighbours.c"];
        let build = Build { mpi, compiler: Compiler::C, sources, flags: &["-g"], output: "neighbours" };
        let program = need!(build.path(), "a compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, ranks, program).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let numbers = |line: &str| {
            let words: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            (words[0], words[1], words[2])
        };
        let mut expected: Vec<_> = run.stdout().lines().map(numbers).collect();
        assert_eq!(expected.len(), 15 * ranks as usize);
        expected.retain(|(_, out, got)| 0 < out + got);
        expected.sort_unstable();
        assert_eq!(moved(&run), expected, "{mpi:?}");
    }
}

/// Two of three accept the third.
#[test]
fn names_of_ports_are_those_of_the_first() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    let run = need!(job(mpi, 3), "a compiler for Open MPI").arg("ports").record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(lines(&run.stdout()), ["0 1 0", "1 2 7", "2 1 0"]);
    // The name of the port, and what is sent through it.
    let messages = run.table("messages");
    assert_eq!(messages.i64("tag").unwrap(), [0, 3]);
    run.expect_no_problems(&[]);
}

#[test]
fn what_types_say_lies_elsewhere_is_told_there() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let place = Place::new();
        let job = need!(job(mpi, 2), "a compiler for {mpi:?}").arg("displaced");
        let run = job.record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let (arrays, nouns) = (run.table("arrays"), run.table("nouns"));
        let name = |row: u32| {
            let noun = *arrays.u32("noun").unwrap().get(row as usize)?;
            Some(nouns.text("name").unwrap()[noun as usize].clone())
        };
        let messages = run.table("messages");
        let told = |column| messages.u32(column).unwrap().iter().map(|row| name(*row)).collect::<Vec<_>>();
        let [lies, comes] = ["lies", "comes"].map(|it| Some(it.to_owned()));
        assert_eq!((told("send_array"), told("recv_array")), (vec![lies.clone(); 2], vec![comes.clone(); 2]));
        let table = run.table("collectives");
        let mut parts: Vec<_> = (0..table.len())
            .map(|row| ["array_out", "array_in"].map(|side| name(table.u32(side).unwrap()[row])))
            .filter(|sides| sides.iter().any(Option::is_some))
            .collect();
        parts.sort_unstable();
        assert_eq!(parts, [[None, comes.clone()], [lies.clone(), None]]);
        let rma = run.table("rma");
        let kinds = rma.text("kind").unwrap();
        let mut told: Vec<_> = (0..rma.len())
            .map(|row| (kinds[row].as_str(), name(rma.u32("array").unwrap()[row])))
            .filter(|(kind, _)| *kind != "fence")
            .collect();
        told.sort_unstable();
        let each = [("fetch-and-op", &lies), ("get", &comes), ("get-accumulate", &comes), ("put", &lies)];
        assert_eq!(
            told,
            each.iter().flat_map(|(kind, it)| vec![(*kind, (*it).clone()); 2]).collect::<Vec<_>>()
        );
    }
}
