//! Numbers of calls: of every MPI function and process as many as a counter of another make has
//! seen in the same run, whichever of the two libraries is preloaded first.
//!
//! Real applications are here for what nobody would think of: calls from C, C++ and Fortran in one
//! process, polling, cancelled receives, communicators by the hundred.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Build, Compiler, Counter, Job, Mpi, Place, Run, need, programs, which};

/// Which lines of the output are the same in every run.
type Keep = fn(&str) -> bool;

/// Records the job in both orders of preloading and compares calls, output and exit code.
fn check(mpi: Mpi, job: &Job, place: &Place, keep: Keep) {
    let counter = need!(Counter::build(mpi), "python3 or a C compiler for {mpi:?}");
    let plain = job.plain(place.path());
    for order in ["0", "1"] {
        let counts = place.dir(&format!("counts{order}"));
        let watched = counter.watch(job.clone(), &counts).env("MAREY_PRELOAD_FIRST", order);
        let run = watched.record(place.path());
        assert_eq!(run.output.status.code(), plain.status.code(), "order {order}: {}", run.stderr());
        assert_eq!(kept(&run.output, keep), kept(&plain, keep), "order {order}");
        compare(&run, &counts, order);
        run.expect_no_problems(&[]);
        run.expect_sums();
    }
}

/// The lines that do not change, sorted: ranks write in any order.
fn kept(output: &Output, keep: Keep) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().filter(|line| keep(line)).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "nothing to compare in {text}\n{}", String::from_utf8_lossy(&output.stderr));
    lines.sort();
    lines
}

fn compare(run: &Run, counts: &Path, order: &str) {
    let (truth, ours) = (Counter::read(counts), run.mpi_calls());
    assert!(truth.len() > 1, "the counter saw {} processes\n{}", truth.len(), run.stderr());
    let mut wrong = Vec::new();
    for (process, functions) in &truth {
        let ours = ours.get(process).cloned().unwrap_or_default();
        let mut names: Vec<&String> = functions.keys().chain(ours.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let (wanted, found) = (functions.get(name), ours.get(name));
            if wanted != found {
                wrong.push(format!("process {process} {name}: counted {wanted:?}, recorded {found:?}"));
            }
        }
    }
    let unknown: Vec<&u32> = ours.keys().filter(|process| !truth.contains_key(process)).collect();
    let calls: u64 = truth.values().flat_map(|functions| functions.values()).sum();
    let functions: BTreeSet<&String> = truth.values().flat_map(|functions| functions.keys()).collect();
    eprintln!("{} processes, {} functions, {calls} calls", truth.len(), functions.len());
    assert!(unknown.is_empty(), "processes that made no call: {unknown:?}");
    assert!(wrong.is_empty(), "order {order}:\n{}\n{}", wrong.join("\n"), run.stderr());
}

/// One of our own programs, with every MPI that is there.
fn check_own(compiler: Compiler, source: &str) {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build = Build { mpi, compiler, sources: &[source], flags: &["-O1", "-w"], output: "program" };
        let program = need!(build.path(), "{}", mpi.compiler(compiler));
        let place = Place::new();
        // MPICH's ranks wait without yielding: more of them than processors take minutes.
        let ranks = if mpi == Mpi::Open { 4 } else { 2 };
        let job = Job::new(mpi, ranks, program).arg(place.path().join("scratch"));
        check(mpi, &job, &place, |_| true);
    }
}

#[test]
fn calls_from_c() {
    check_own(Compiler::C, "c_all.c");
}

#[test]
fn calls_through_mpif_h() {
    check_own(Compiler::Fortran, "f_mpifh.f");
}

#[test]
fn calls_through_use_mpi() {
    check_own(Compiler::Fortran, "f_mpi.f90");
}

#[test]
fn calls_through_use_mpi_f08() {
    check_own(Compiler::Fortran, "f_f08.f90");
}

#[test]
fn calls_from_python() {
    need!(Mpi::Open.installed(), "Open MPI");
    // Debian's own: another Python on the PATH does not see Debian's modules.
    let python = "/usr/bin/python3";
    let import = Command::new(python).args(["-c", "import mpi4py"]).output();
    need!(import.ok().filter(|output| output.status.success()), "mpi4py for {python}");
    let job = Job::new(Mpi::Open, 4, python).arg(programs().join("py_all.py"));
    check(Mpi::Open, &job, &Place::new(), |_| true);
}

/// An installed application of Open MPI.
pub(crate) fn application(name: &str) -> Option<PathBuf> {
    Mpi::Open.installed().and_then(|_| which(name))
}

#[test]
fn calls_of_lammps() {
    let lammps = need!(application("lmp"), "LAMMPS");
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lammps/in.melt");
    let job = Job::new(Mpi::Open, 4, lammps).arg("-in").arg(input);
    // The table of energies: lines of numbers.
    check(Mpi::Open, &job, &Place::new(), |line| {
        !line.trim().is_empty() && line.split_whitespace().all(|word| word.parse::<f64>().is_ok())
    });
}

/// Puts the input of a small HPCC into the place, with other lines of these numbers. The program, if it is there.
pub(crate) fn prepare_hpcc(place: &Place, lines: &[(usize, &str)]) -> Option<PathBuf> {
    let hpcc = application("hpcc")?;
    let example = std::fs::read_to_string("/usr/share/doc/hpcc/examples/_hpccinf.txt").ok()?;
    // Line 6 is the order of the matrix.
    let changed = |n: usize| lines.iter().chain(&[(6, "300 Ns")]).find(|line| line.0 == n);
    let small: Vec<&str> =
        (1..).zip(example.lines()).map(|(n, line)| changed(n).map_or(line, |line| line.1)).collect();
    std::fs::write(place.path().join("hpccinf.txt"), small.join("\n")).unwrap();
    Some(hpcc)
}

#[test]
fn calls_of_hpcc() {
    let place = Place::new();
    let hpcc = need!(prepare_hpcc(&place, &[]), "HPCC and the example that comes with it");
    let mpi = Mpi::Open;
    let counter = need!(Counter::build(mpi), "python3 or a C compiler for {mpi:?}");
    for order in ["0", "1"] {
        let counts = place.dir(&format!("counts{order}"));
        let job = counter.watch(Job::new(mpi, 4, &hpcc), &counts).env("MAREY_PRELOAD_FIRST", order);
        // It appends to its output file.
        std::fs::remove_file(place.path().join("hpccoutf.txt")).ok();
        let run = job.record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let result = std::fs::read_to_string(place.path().join("hpccoutf.txt")).unwrap();
        assert!(result.contains("\nSuccess=1\n"), "{result}");
        compare(&run, &counts, order);
        run.expect_no_problems(&[]);
    }
}

/// One molecule of water in a box, and its energy.
const WATER: &str = "\
&control
  calculation = 'scf', prefix = 'water', outdir = './scratch'
  pseudo_dir = '/usr/share/espresso/pseudo'
/
&system
  ibrav = 1, celldm(1) = 10.0, nat = 3, ntyp = 2, ecutwfc = 20.0
/
&electrons
  conv_thr = 1.0d-6
/
ATOMIC_SPECIES
 O 15.999 O.blyp-mt.UPF
 H 1.008 H.blyp-vbc.UPF
ATOMIC_POSITIONS angstrom
 O 0.000 0.000 0.000
 H 0.757 0.586 0.000
 H -0.757 0.586 0.000
K_POINTS gamma
";

#[test]
fn calls_of_quantum_espresso() {
    let pw = need!(application("pw.x"), "Quantum ESPRESSO");
    let pseudo = Path::new("/usr/share/espresso/pseudo/O.blyp-mt.UPF");
    need!(pseudo.is_file().then_some(()), "pseudopotentials of Quantum ESPRESSO");
    let place = Place::new();
    std::fs::write(place.path().join("water.in"), WATER).unwrap();
    let job = Job::new(Mpi::Open, 4, pw).arg("-in").arg("water.in");
    check(Mpi::Open, &job, &place, |line| line.starts_with("!    total energy"));
}

#[test]
fn calls_of_scalapack() {
    let dir = Path::new("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests");
    need!(dir.join("xdlu").is_file().then_some(()), "tests of ScaLAPACK");
    need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    // Two sizes of matrices and of blocks instead of four and three: a third of the cases, and all of the calls.
    let cases = std::fs::read_to_string(dir.join("LU.dat")).unwrap();
    let fewer = cases.replacen("\n4\t", "\n2\t", 1).replacen("\n3\t", "\n2\t", 1);
    std::fs::write(place.path().join("LU.dat"), fewer).unwrap();
    let job = Job::new(Mpi::Open, 4, dir.join("xdlu"));
    check(Mpi::Open, &job, &place, |line| line.contains("tests completed"));
}

#[test]
fn calls_of_netpipe() {
    let netpipe = need!(application("NPopenmpi"), "NetPIPE");
    let place = Place::new();
    let job = Job::new(Mpi::Open, 2, netpipe).arg("-u").arg("65536").arg("-n").arg("200");
    let job = job.arg("-o").arg(place.path().join("netpipe.txt"));
    let counter = need!(Counter::build(Mpi::Open), "python3 or a C compiler");
    for order in ["0", "1"] {
        let counts = place.dir(&format!("counts{order}"));
        let run = counter.watch(job.clone(), &counts).env("MAREY_PRELOAD_FIRST", order).record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        assert!(std::fs::read_to_string(place.path().join("netpipe.txt")).unwrap().lines().count() > 50);
        compare(&run, &counts, order);
        run.expect_no_problems(&[]);
    }
}
