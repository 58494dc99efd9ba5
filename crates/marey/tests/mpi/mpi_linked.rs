//! Programs that the recorder is linked into by `marey link`: statically, with a static MPI library alone,
//! and with a shared one.
//!
//! The one idea: what a recording must have is known without it. C programs count their calls in their own
//! text, by macros that are made from it; what Fortran programs call has been seen by the independent
//! counter in the same program with a shared MPI.
//!
//! The only static MPI library that Debian has is MPICH's. For a program with nothing dynamic some of what
//! it needs is missing there (`programs/stand_ins.c`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::mpi_sites;
use crate::support::{Compiler, Counter, Counts, Job, Mpi, Place, Run, need, prepare, programs, which};

/// How a program comes by its MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing is dynamic.
    Static,
    /// The C library is dynamic, MPI is not.
    StaticMpi,
    /// All is dynamic.
    Shared(Mpi),
}

impl Way {
    const ALL: [Self; 4] = [Self::Static, Self::StaticMpi, Self::Shared(Mpi::Open), Self::Shared(Mpi::Mpich)];

    fn mpi(self) -> Mpi {
        match self {
            Self::Static | Self::StaticMpi => Mpi::Mpich,
            Self::Shared(mpi) => mpi,
        }
    }

    /// The program on so many ranks. Between ranks without shared memory UCX goes by TCP, where what it
    /// does not find when it is linked statically makes it wait for ever in one end of three, recorder or
    /// not.
    fn job(self, ranks: u32, program: &Path) -> Job {
        Job::new(self.mpi(), ranks, program).env("UCX_TLS", "self,sysv,posix")
    }

    /// Links `source`, of the programs or a path, with these words in the middle. Nothing, said aloud,
    /// where a library is missing.
    fn build(self, place: &Place, source: &str, words: &[String], output: &str) -> Option<PathBuf> {
        let language = if source.ends_with(".c") { Compiler::C } else { Compiler::Fortran };
        let compiler = need!(which(self.mpi().compiler(language)), "{:?}", self.mpi() => None);
        let stand_ins = programs().join("stand_ins.c");
        let mut command = Command::new(match (self, language) {
            (Self::Shared(_), _) => compiler,
            (_, Compiler::C) => "cc".into(),
            (..) => "gfortran".into(),
        });
        command
            .current_dir(place.path())
            .args(["-g", "-O1", "-w", "-o", output])
            .arg(programs().join(source));
        let libraries: &[&str] = match self {
            Self::Shared(_) => &[],
            Self::StaticMpi => &["-l:libmpichfort.a", "-l:libmpich.a", "-lhwloc", "-lucp", "-lucs"],
            Self::Static => {
                let whole = ["-Wl,--whole-archive", "-lucs", "-luct", "-lucp", "-Wl,--no-whole-archive"];
                &[
                    &["-static"][..],
                    &whole,
                    &["-Wl,--start-group", "-lmpichfort", "-lmpich", "-lhwloc", "-lnuma"],
                ]
                .concat()
            }
        };
        if !matches!(self, Self::Shared(_)) {
            let headers = need!(mpich_headers(), "the headers of MPICH" => None);
            command.arg("-I").arg(headers);
        }
        if self == Self::Static {
            let object = place.path().join("stand_ins.o");
            let made =
                Command::new("cc").args(["-O1", "-c", "-o"]).args([&object, &stand_ins]).output().unwrap();
            assert!(made.status.success(), "{}", text(&made.stderr));
            command.args(words).args(libraries).arg(object).args(["-Wl,--end-group", "-lm"]);
        } else {
            command.args(words).args(libraries);
        }
        let output = place.path().join(output);
        let told = command.output().unwrap();
        let errors = text(&told.stderr);
        if errors.contains("cannot find -l") {
            marey_testkit::skip(&format!("static libraries: {errors}"));
            return None;
        }
        assert!(told.status.success(), "{self:?}: {errors}");
        Some(output)
    }
}

fn mpich_headers() -> Option<String> {
    let output = Command::new(which("mpicc.mpich")?).arg("-show").output().ok()?;
    let shown = text(&output.stdout);
    shown.split_whitespace().find_map(|word| word.strip_prefix("-I")).map(str::to_owned)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What `marey link` prints, and where its files are to lie.
fn link_words(place: &Place, options: &[&str]) -> Vec<String> {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = marey.arg("link").args(options).arg("--directory").arg(place.dir("link")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).split_whitespace().map(str::to_owned).collect()
}

/// A C program whose calls of MPI are counted in its own text, in a file of `COUNTS` at its end.
fn counted(place: &Place, source: &str) -> String {
    let content = std::fs::read_to_string(programs().join(source)).unwrap();
    let code = content.split_once("*/").unwrap().1;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names: BTreeSet<&str> = code
        .match_indices("MPI_")
        .map(|(at, _)| &code[at..])
        .filter_map(|rest| {
            rest.split_once('(').map(|(name, _)| name).filter(|name| name.chars().all(is_name))
        })
        .collect();
    assert!(names.len() > 100, "{names:?}");
    let (mut macros, mut table) = (String::new(), String::new());
    for (number, name) in names.iter().enumerate() {
        macros.push_str(&format!("#define {name}(...) (own[{number}]++, {name}(__VA_ARGS__))\n"));
        table.push_str(&format!("\"{name}\", "));
    }
    let n = names.len();
    let head = format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         static long own[{n}];\nstatic const char *const own_names[{n}] = {{{table}}};\n\
         __attribute__((destructor)) static void own_end(void) {{\n\
         char path[4096]; snprintf(path, sizeof path, \"%s/%d\", getenv(\"COUNTS\"), (int)getpid());\n\
         FILE *file = fopen(path, \"w\");\n\
         for (int i = 0; i < {n}; i++) if (own[i]) fprintf(file, \"%s %ld\\n\", own_names[i], own[i]);\n\
         fclose(file); }}\n{macros}#line 1 \"{source}\"\n"
    );
    let path = place.path().join(source);
    std::fs::write(&path, head + &content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A way to record.
type Record = fn(&Job, &Place) -> Run;

/// With the library preloaded, which the launcher has as well.
fn record_as_usual(job: &Job, place: &Place) -> Run {
    job.record(place.path())
}

/// The job without anything of ours preloaded, recorded.
fn record_without_preload(job: &Job, place: &Place) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    command.args(["record", "--force", "-o", "run.marey", "--", "env", "-u", "LD_PRELOAD"]);
    command.args(job.line());
    Run::new(place.path(), job.ready(&mut command, place.path()).output().unwrap())
}

/// Everything in a directory.
fn content(dir: &Path) -> BTreeSet<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The same output and status.
#[track_caller]
fn same(ours: &Output, plain: &Output, how: &str) {
    let lines = |output: &Output| text(&output.stdout).lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!(ours.status.code(), plain.status.code(), "{how}: {}", text(&ours.stderr));
    assert_eq!(lines(ours), lines(plain), "{how}");
    assert!(!plain.stdout.is_empty(), "{how}: nothing to compare");
}

#[test]
fn calls_of_c_programs_however_they_are_linked() {
    for way in Way::ALL {
        let place = Place::new();
        need!(way.mpi().installed(), "{}", way.mpi().launcher());
        let source = counted(&place, "c_all.c");
        let Some(plain) = way.build(&place, &source, &[], "plain") else { continue };
        let linked = way.build(&place, &source, &link_words(&place, &[]), "linked").unwrap();
        let job = |program: &Path, counts: &str| {
            let job = way.job(2, program).arg(place.path().join("scratch"));
            job.env("COUNTS", place.dir(counts))
        };
        let plain = job(&plain, "unrecorded").plain(place.path());

        let before = content(place.path());
        same(&job(&linked, "unrecorded").plain(place.path()), &plain, "not recorded");
        assert_eq!(content(place.path()), before, "{way:?}: nobody records, and yet something is there");

        for (counts, record) in [("beside", record_as_usual as Record), ("alone", record_without_preload)] {
            let run = record(&job(&linked, counts), &place);
            let how = format!("{way:?}, {counts}");
            same(&run.output, &plain, &how);
            let truth = Counter::read(&place.dir(counts));
            assert!(truth.len() == 2 && truth.values().all(|calls| calls.len() == 120), "{how}: {truth:?}");
            assert_eq!(run.mpi_calls(), truth, "{how}");
            assert!(run.table("messages").len() >= 20, "{how}");
            run.expect_no_problems(&[]);
        }
    }
}

#[test]
fn calls_of_programs_that_the_recorder_is_linked_to_as_a_library() {
    for mpi in Mpi::BOTH {
        let (place, way) = (Place::new(), Way::Shared(mpi));
        need!(mpi.installed(), "{}", mpi.launcher());
        let source = counted(&place, "c_all.c");
        let Some(program) = way.build(&place, &source, &link_words(&place, &["--shared"]), "linked") else {
            return;
        };
        let job = way.job(2, &program).arg(place.path().join("scratch"));
        for (counts, record) in [("beside", record_as_usual as Record), ("alone", record_without_preload)] {
            let run = record(&job.clone().env("COUNTS", place.dir(counts)), &place);
            assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
            assert_eq!(run.mpi_calls(), Counter::read(&place.dir(counts)), "{mpi:?}, {counts}");
            run.expect_no_problems(&[]);
        }
    }
}

#[test]
fn the_command_that_links_may_stand_behind() {
    let place = Place::new();
    std::fs::write(place.path().join("program.c"), "int main(void) { return 0; }").unwrap();
    let link = |words: &[&str]| {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        marey.args(["link", "--mpi", "off", "--directory"]).arg(place.dir("link")).arg("--").args(words);
        marey.current_dir(place.path()).output().unwrap().status.code()
    };
    assert_eq!(link(&["cc", "-static", "program.c", "-o", "program"]), Some(0));
    let program = std::fs::read(place.path().join("program")).unwrap();
    assert!(program.windows(12).any(|bytes| bytes == b"marey_slots\0"));
    assert_eq!(link(&["sh", "-c", "exit 7"]), Some(7));
    assert_eq!(link(&["no-such-compiler-anywhere"]), Some(127));
}

/// Counts without the numbers of the processes, which are others in every run.
fn by_process(counts: Counts) -> Vec<Vec<(String, u64)>> {
    let mut counts: Vec<Vec<(String, u64)>> =
        counts.into_values().map(|functions| functions.into_iter().collect()).collect();
    counts.sort();
    counts
}

#[test]
fn calls_of_fortran_programs_are_those_seen_with_a_shared_mpi() {
    for source in ["f_mpifh.f", "f_mpi.f90", "f_f08.f90"] {
        let place = Place::new();
        need!(Mpi::Mpich.installed(), "MPICH");
        let counter = need!(Counter::build(Mpi::Mpich), "python3 or a C compiler");
        let shared = need!(Way::Shared(Mpi::Mpich).build(&place, source, &[], "shared"), "Fortran");
        let job = |program: &Path| Way::Static.job(2, program).arg(place.path().join("scratch"));
        let plain = counter.watch(job(&shared), &place.dir("counts")).plain(place.path());
        let truth = by_process(Counter::read(&place.dir("counts")));
        assert!(truth.len() == 2 && truth[0].len() > 20, "{truth:?}");
        for way in [Way::Static, Way::StaticMpi] {
            let Some(linked) = way.build(&place, source, &link_words(&place, &[]), "linked") else {
                continue;
            };
            same(&job(&linked).plain(place.path()), &plain, "not recorded");
            let run = job(&linked).record(place.path());
            same(&run.output, &plain, source);
            assert_eq!(by_process(run.mpi_calls()), truth, "{source}, {way:?}");
            run.expect_no_problems(&[]);
        }
    }
}

#[test]
fn call_sites_in_static_programs_are_those_of_the_source() {
    const MAIN: &str = "sites_main.c";
    for source in ["c_sites.c", "f_sites.f90"] {
        let place = Place::new();
        need!(Mpi::Mpich.installed(), "MPICH");
        let mut words = link_words(&place, &[]);
        let main = place.path().join("main.o");
        let mut cc = Command::new("cc");
        cc.args(["-g", "-O1", "-c", "-I", &need!(mpich_headers(), "the headers of MPICH"), "-o"]).arg(&main);
        assert!(cc.arg(programs().join(MAIN)).status().unwrap().success());
        words.push(main.to_str().unwrap().to_owned());
        let Some(program) = Way::Static.build(&place, source, &words, "program") else { continue };
        let run = Way::Static.job(1, &program).record(place.path());
        mpi_sites::compare(&run, &[MAIN, source], "linked statically");
    }
}

/// A stub costs a program that nobody records one jump. All else is the same, so instructions are counted
/// and not time.
#[test]
fn what_nobody_records_is_as_fast_as_before() {
    let valgrind = need!(which("valgrind"), "valgrind");
    need!(Mpi::Mpich.installed(), "MPICH");
    let place = Place::new();
    let Some(plain) = Way::Static.build(&place, "cost.c", &[], "plain") else { return };
    let linked = Way::Static.build(&place, "cost.c", &link_words(&place, &[]), "linked").unwrap();
    let once = |program: &Path, calls: u64| {
        let mut command = Command::new(&valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
        let output =
            prepare(&mut command, place.path()).args(["queries", &calls.to_string()]).output().unwrap();
        let told = text(&output.stderr);
        let collected = told.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, n)| n.trim());
        collected.unwrap_or_else(|| panic!("{told}")).parse::<f64>().unwrap()
    };
    // What else MPI does, waiting for its own threads, differs from run to run: the least is nearest to none.
    let instructions =
        |program: &Path, calls| (0..3).map(|_| once(program, calls)).fold(f64::INFINITY, f64::min);
    let [plain, linked] = [plain, linked]
        .map(|program| (instructions(&program, 820_000) - instructions(&program, 20_000)) / 800_000.0);
    eprintln!("{plain:.2} instructions a call, {linked:.2} with stubs");
    assert!(5.0 < plain && linked - plain < 1.5, "{plain} and {linked}");
}

#[test]
fn a_flag_left_out_is_an_error_of_the_linker() {
    let place = Place::new();
    need!(mpich_headers(), "MPICH");
    let words = link_words(&place, &[]);
    let options = words.iter().find_map(|word| word.strip_prefix("-Wl,@")).unwrap();
    let whole = std::fs::read_to_string(options).unwrap();
    for left_out in ["PMPI_Bcast", "pthread_create", "_exit"] {
        let line = format!("--wrap={left_out}\n");
        assert!(whole.contains(&line), "{left_out}");
        std::fs::write(options, whole.replace(&line, "")).unwrap();
        let mut linker = Command::new("cc");
        linker.current_dir(place.path()).args(["-w", "-o", "program", "-I"]).arg(mpich_headers().unwrap());
        let source = programs().join("cost.c");
        let output = linker.arg(source).args(&words).args(["-l:libmpich.a", "-lhwloc", "-lucp", "-lucs"]);
        let told = text(&output.output().unwrap().stderr);
        assert!(told.contains(&format!("undefined reference to `__real_{left_out}'")), "{told}");
    }
}

#[test]
fn threads_and_regions_of_static_programs_without_mpi() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
    for (options, links) in [
        (&["--mpi", "off"][..], &["-static"][..]),
        (&["--mpi", "off"], &["-static-pie"]),
        (&["--mpi", "off"], &[]),
    ] {
        let place = Place::new();
        let mut compiler = Command::new("cc");
        compiler
            .current_dir(place.path())
            .args(["-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", "program", "-I"]);
        compiler
            .arg(&include)
            .args(links)
            .arg(programs().join("linked_threads.c"))
            .args(link_words(&place, options));
        let told = compiler.output().unwrap();
        let errors = text(&told.stderr);
        assert!(told.status.success(), "{errors}");
        assert_eq!(errors, "", "the linker has nothing to warn of");
        let program = place.path().join("program");
        let plain = Command::new(&program).output().unwrap();
        assert_eq!(plain.status.code(), Some(3));

        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        marey.args(["record", "--force", "-o", "run.marey", "--"]).arg(&program);
        let run = Run::new(place.path(), prepare(&mut marey, place.path()).output().unwrap());
        same(&run.output, &plain, "recorded");
        let found = visits(&run);
        for line in text(&plain.stdout).lines() {
            let (name, count) = line.split_once(' ').unwrap();
            assert_eq!(found.get(name).map(u64::to_string).as_deref(), Some(count), "{links:?} {name}");
        }
        assert!(!run.text("report", &[]).contains("_exit"), "it ended by exit");
        run.expect_no_problems(&[]);
    }
}

/// Fortran's run-time library calls functions of threads if it finds that the program has some of them.
#[test]
fn regions_of_static_fortran_programs_without_mpi() {
    let gfortran = need!(which("gfortran"), "gfortran");
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include/marey.f90");
    let place = Place::new();
    let program = "program p\nuse marey\ntype(marey_region), save :: r = marey_region('solve')\ninteger :: i\n\
                   do i = 1, 7\ncall marey_enter(r)\ncall marey_leave(r)\nend do\nprint *, 'done'\nend program\n";
    std::fs::write(place.path().join("program.f90"), program).unwrap();
    let mut compiler = Command::new(gfortran);
    compiler.current_dir(place.path()).args(["-static", "-g", "-w", "-o", "program"]).arg(module);
    compiler.arg("program.f90").args(link_words(&place, &["--mpi", "off"]));
    let told = compiler.output().unwrap();
    assert!(told.status.success(), "{}", text(&told.stderr));
    let plain = Command::new(place.path().join("program")).output().unwrap();
    assert_eq!((plain.status.code(), text(&plain.stdout).trim()), (Some(0), "done"));
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.args(["record", "--force", "-o", "run.marey", "--", "./program"]);
    let run = Run::new(place.path(), prepare(&mut marey, place.path()).output().unwrap());
    same(&run.output, &plain, "recorded");
    assert_eq!(visits(&run).get("solve"), Some(&7));
}

/// Visits of regions by name.
fn visits(run: &Run) -> BTreeMap<String, u64> {
    let (profile, paths, regions) = (run.table("profile"), run.table("call_paths"), run.table("regions"));
    let mut visits = BTreeMap::new();
    for row in 0..profile.len() {
        let path = profile.u32("call_path").unwrap()[row] as usize;
        let region = paths.u32("region").unwrap()[path] as usize;
        // What a program enters by the interface of its own is named by a noun.
        let words =
            [regions.text("noun").unwrap()[region].clone(), regions.text("verb").unwrap()[region].clone()];
        let name = words.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
        *visits.entry(name).or_default() += profile.i64("visits").unwrap()[row].cast_unsigned();
    }
    visits
}
