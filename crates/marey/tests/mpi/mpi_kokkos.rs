//! Messages of Views of Kokkos: which View each was sent from and received into, as the program says, also where memory has
//! been a View's before and is another's, or nobody's.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

/// Messages and bytes by what buffers are called; `-` for all that are no Views.
type Sums = BTreeMap<String, (u64, u64)>;

#[test]
fn mpi_messages_say_which_views_they_come_from_and_go_to() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let headers = Path::new("/usr/include/trilinos");
    need!(headers.join("Kokkos_Core.hpp").exists().then_some(()), "Kokkos (libtrilinos-kokkos-dev)");
    let build = Build {
        mpi,
        compiler: Compiler::Cxx,
        sources: &["kokkos_mpi.cpp"],
        flags: &["-O1", "-std=c++17", "-isystem", "/usr/include/trilinos", "-ltrilinos_kokkoscore"],
        output: "kokkos",
    };
    let program = need!(build.path(), "a compiler for C++");
    let place = Place::new();
    let run = Job::new(mpi, 2, program).record(&place.dir("recorded"));
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    let (mut sent, mut received) = (Sums::new(), Sums::new());
    for line in run.stdout().lines().filter(|line| line.starts_with("message ")) {
        let [_, from, to, bytes] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        for (sums, name) in [(&mut sent, from), (&mut received, to)] {
            let sum = sums.entry(name.to_owned()).or_default();
            *sum = (sum.0 + 1, sum.1 + bytes.parse::<u64>().unwrap());
        }
    }
    // What the program does as its source has it.
    assert_eq!((sent["halo"], received["ghost"]), ((4, 100_000), (4, 100_000)));
    assert_eq!((sent["odd"], sent["even"]), ((10, 1280), (10, 1280)));
    assert_eq!((sent["brief"], sent["anew"]), ((1, 128), (1, 128)));
    assert_eq!(sent.get("-"), Some(&(1, 128)), "{}", run.stderr());
    assert!(!run.stderr().contains("lie elsewhere"), "{}", run.stderr());

    let buffers = run.json("report")["buffers"].clone();
    let told = |messages: &str, bytes: &str| -> Sums {
        let mut sums = Sums::new();
        for row in buffers.as_array().unwrap() {
            let number = |field: &str| row[field].as_u64().unwrap();
            if number(messages) > 0 {
                let is_view = row["kind"] == "view";
                let name = if is_view { row["array"].as_str().unwrap() } else { "-" };
                let sum = sums.entry(name.to_owned()).or_default();
                *sum = (sum.0 + number(messages), sum.1 + number(bytes));
            }
        }
        sums
    };
    assert_eq!(told("sent_messages", "sent_bytes"), sent, "{buffers:#}");
    assert_eq!(told("received_messages", "received_bytes"), received, "{buffers:#}");
}
