//! Runs on two machines, which are namespaces of this one: with names, addresses and disks of their own.
//!
//! The one idea: nothing of what one machine has recorded on its disk is to be seen on the other, so what
//! the program counted can be in the run only if it was gathered.

use std::process::{Command, Output};

use crate::mpi_clocks::rounds;
use crate::mpi_launch::{Said, program};
use crate::support::{Mpi, Place, Run, need, prepare, programs};

const HOSTS: &str = "10.77.0.1,10.77.0.2";

/// The launcher's words for a rank on each machine.
fn launcher(mpi: Mpi) -> String {
    match mpi {
        Mpi::Open => "mpirun.openmpi --host 10.77.0.1:1,10.77.0.2:1 --mca plm_rsh_agent $PWD/agent \
                      --mca oob_tcp_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24 \
                      --mca btl tcp,self -n 2"
            .to_owned(),
        Mpi::Mpich => {
            format!("mpirun.mpich -iface va -launcher rsh -launcher-exec $PWD/agent -hosts {HOSTS} -n 2")
        }
    }
}

/// Runs a line of the shell on one machine of two.
fn on_two(place: &Place, words: &[(&str, &str)], line: &str) -> Output {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--uts", "--net", "--propagation", "private", "sh"]);
    command.arg(programs().join("two_hosts.sh")).arg(line);
    command.env("marey", env!("CARGO_BIN_EXE_marey")).envs(words.iter().copied());
    prepare(&mut command, place.path()).output().unwrap()
}

/// Whether two machines can be made here.
fn has_two() -> bool {
    let place = Place::new();
    let output = on_two(&place, &[], "./on_b hostname");
    let is_able = output.stdout == b"b\n";
    if !is_able {
        let why = String::from_utf8_lossy(&output.stderr);
        marey_testkit::leave_out(&format!("no right to make namespaces, or no unshare and ip: {why}"));
    }
    is_able
}

/// Records with both MPIs, and looks whether all is there.
fn check(line: &str, look: impl Fn(&Run)) {
    if !has_two() {
        return;
    }
    for mpi in Mpi::BOTH {
        let program = need!(program(mpi), "{mpi:?}");
        let place = Place::new();
        let words = [("launch", program.to_str().unwrap()), ("mpirun", &launcher(mpi))];
        // The launcher's words are those of a line, with the directory in them.
        let line = format!("mpirun=$(eval echo \"$mpirun\"); {line}");
        let run = Run::new(place.path(), on_two(&place, &words, &line));
        assert_eq!(run.output.status.code(), Some(0), "{mpi:?}: {}{}", run.stdout(), run.stderr());
        let said = Said::read(&run.output);
        assert_eq!(said.calls.len(), 2, "{mpi:?}: {}", run.stderr());
        assert_eq!(run.mpi_calls(), said.calls, "{mpi:?}: {}", run.stderr());
        assert_eq!(run.table("messages").len() as u64, said.calls_of("MPI_Sendrecv"), "{mpi:?}");
        let mut hosts = run.table("processes").text("host").unwrap().to_vec();
        hosts.sort();
        hosts.dedup();
        assert_eq!(hosts, ["a", "b"], "{mpi:?}");
        run.expect_no_problems(&[]);
        look(&run);
    }
}

#[test]
fn machines_that_share_the_run_record_into_it() {
    check("$marey record -o run.marey -- $mpirun $launch 20", |_| ());
    check("$mpirun $marey record -o run.marey -- $launch 20", |_| ());
}

/// As by ssh: what starts processes on the other machine brings them no environment. A recorder behind the
/// launcher needs none.
#[test]
fn a_recorder_on_each_machine_needs_no_environment() {
    let bare = "sed -i 's|^./on_b|exec env -i PATH=$PATH HOME=$HOME ./on_b|' agent && grep -q env agent";
    check(&format!("{bare} && $mpirun $marey record -o run.marey -- $launch 20"), |_| ());
}

/// Each machine has a recorder, the last of which brings home what is there.
#[test]
fn recorders_bring_home_what_their_machine_has() {
    let line = "$mpirun $marey record --spool disk -o run.marey -- $launch 20 &&
                test -z \"$(ls disk; ./on_b ls disk)\"";
    check(line, |run| assert!(!run.path().join("spool").exists()));
}

/// The launcher starts processes on a machine where no recorder is: they make their directory themselves,
/// and the recorder sees that ranks are missing and does not merge without them, however many other processes
/// have recorded.
#[test]
fn what_lies_on_a_machine_without_recorder_is_gathered_by_hand() {
    for option in ["", "--all"] {
        let line = format!(
            "$marey record {option} --spool disk -o run.marey -- $mpirun $launch 20 &&
             test ! -e run.marey/meta.json && test -z \"$(ls disk)\" && test -n \"$(./on_b ls disk)\" &&
             $marey gather run.marey && ./on_b $marey gather run.marey && test -z \"$(./on_b ls disk)\" &&
             $marey merge run.marey"
        );
        check(&line, |run| {
            assert!(run.stderr().contains("recorded on other machines"), "{}", run.stderr());
            assert!(
                run.stderr().contains("nothing of run.marey is left on this machine"),
                "{}",
                run.stderr()
            );
        });
    }
}

/// Where the clocks differ ranks find each other although their spools do not lie together.
#[test]
fn clocks_are_compared_between_machines_with_disks_of_their_own() {
    let skewed = "sh -c 'test $(hostname) = a && export MAREY_CLOCK_SKEW=0,0 ||
                  export MAREY_CLOCK_SKEW=5000000000,0; exec $launch 20'";
    check(&format!("$mpirun $marey record --keep-spool --spool disk -o run.marey -- {skewed}"), |run| {
        assert!(!rounds(&run.path().join("spool")).is_empty(), "no exchange: {}", run.stderr());
        // What the test has put there, and network and scheduler leave open.
        let offset = run.table("clocks").i64("offset_ns").unwrap().iter().map(|ns| ns.abs()).max().unwrap();
        assert!((offset - 5_000_000_000).abs() < 50_000_000, "{offset}: {}", run.text("info", &[]));
    });
}
