//! What `marey doctor` finds: each finding is provoked, and must be named with its remedy; where all is
//! well, it must not be named.
//!
//! The one idea: a case is how a program is made, and words of what is found and of what to do. What
//! needs another machine (clock sources, counters, network file systems) is judged by functions that
//! are tested beside them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A directory of its own with programs in it.
struct Place(TempDir);

/// What the doctor said, and the status it ended with.
struct Answer {
    status: i32,
    findings: Vec<Value>,
}

const EMPTY: &str = "int main(void) { return 0; }";

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program in C. `false`, said aloud, without the compiler or what the flags ask for.
    fn compile(&self, compiler: &str, source: &str, flags: &[&str], name: &str) -> bool {
        fs::write(self.path("source.c"), source).unwrap();
        let mut command = Command::new(compiler);
        command.current_dir(self.0.path()).args(["source.c", "-o", name]).args(flags);
        match command.output() {
            Ok(output) if output.status.success() => true,
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr).into_owned();
                marey_testkit::skip(&format!("what {compiler} needs for {flags:?}: {errors}"));
                false
            }
            Err(error) => {
                marey_testkit::skip(&format!("{compiler}: {error}"));
                false
            }
        }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) {
        fs::write(self.path(name), content).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn doctor(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(self.0.path()).env_remove("LD_PRELOAD").args(["doctor", "--json", "--"]);
        command
    }

    fn ask(&self, line: &str) -> Answer {
        Answer::of(self.doctor().args(line.split(' ').filter(|word| !word.is_empty())))
    }

    /// Asks in the shell after `preparation`. Nothing if that fails.
    fn ask_after(&self, preparation: &str, starter: &[&str]) -> Option<Answer> {
        let marey = env!("CARGO_BIN_EXE_marey");
        let line = format!("{preparation} || exit 99; exec {marey} doctor --json");
        let words = [starter, &["/bin/sh", "-c", &line]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.0.path()).env_remove("LD_PRELOAD");
        let output = command.output().ok()?;
        serde_json::from_slice(&output.stdout).ok().map(|json| Answer::new(output.status.code(), &json))
    }
}

impl Answer {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        Self::new(output.status.code(), &json)
    }

    fn new(status: Option<i32>, json: &Value) -> Self {
        Self { status: status.unwrap(), findings: json["findings"].as_array().unwrap().clone() }
    }

    /// There is such a finding, and the status is what its state asks for.
    #[track_caller]
    fn check(&self, topic: &str, state: &str, found: &str, remedy: &str) {
        let of_topic: Vec<&Value> = self
            .findings
            .iter()
            .filter(|finding| finding["topic"] == topic && finding["state"] == state)
            .collect();
        let is_meant = |finding: &&&Value| {
            let advice = format!("{} {}", finding["remedy"], finding["command"]);
            finding["found"].as_str().unwrap().contains(found) && advice.contains(remedy)
        };
        assert!(
            of_topic.iter().any(|finding| is_meant(&finding)),
            "{topic} {found:?} {remedy:?}: {:#?}",
            self.findings
        );
        if state == "problem" {
            assert_eq!(self.status, 1);
        }
    }

    /// Nothing stands against it in these topics.
    #[track_caller]
    fn check_well(&self, topics: &[&str]) {
        let bad = |finding: &&Value| {
            topics.iter().any(|topic| finding["topic"] == *topic) && finding["state"] != "ok"
        };
        assert_eq!(self.findings.iter().find(bad), None);
    }
}

/// Topics that are about the program alone.
const OF_PROGRAM: [&str; 6] = ["program", "loading", "libraries", "mpi", "source", "threads"];

#[test]
fn a_good_program_on_a_good_machine_is_left_in_peace() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &["-g"], "good") {
        return;
    }
    let before = fs::read_dir(place.0.path()).unwrap().count();
    let answer = place.ask("./good");
    answer.check_well(&OF_PROGRAM);
    answer.check("recording", "ok", "recorded in", "");
    answer.check("loading", "ok", "takes the recorder", "");
    answer.check("source", "ok", "lines are known", "");
    assert_eq!(answer.status, 0);
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), before, "nothing is left behind");
}

#[test]
fn how_a_program_is_built_decides_what_is_found() {
    let with_mpi = "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }";
    let cases: [(&str, &[&str], [&str; 4]); 6] = [
        (EMPTY, &[], ["source", "note", "lines are not", "-g"]),
        (EMPTY, &["-g", "-s"], ["source", "note", "stripped", "do not strip"]),
        (EMPTY, &["-g", "-static"], ["loading", "problem", "linked statically", "marey link"]),
        (EMPTY, &["-g", "-static-pie"], ["loading", "problem", "linked statically", "marey link"]),
        (with_mpi, &["-g"], ["mpi", "problem", "inside itself", "marey link"]),
        (EMPTY, &["-g", "-fsanitize=address"], ["loading", "problem", "AddressSanitizer", "LD_PRELOAD=/"]),
    ];
    for (source, flags, [topic, state, found, remedy]) in cases {
        let place = Place::new();
        if !place.compile("gcc", source, flags, "program") {
            continue;
        }
        let answer = place.ask("./program");
        answer.check(topic, state, found, remedy);
        let others: Vec<&str> = OF_PROGRAM.into_iter().filter(|other| *other != topic).collect();
        answer.check_well(&others);
    }
}

#[test]
fn a_program_that_the_recorder_is_linked_into_is_known() {
    for flags in [&["-g", "-static"][..], &["-g", "-static-pie", "-s"], &["-g"], &["-g", "-s"]] {
        let place = Place::new();
        let link = Command::new(env!("CARGO_BIN_EXE_marey"))
            .args(["link", "--mpi", "off", "--directory"])
            .arg(place.path("link"))
            .output()
            .unwrap();
        let words = String::from_utf8(link.stdout).unwrap();
        let words: Vec<&str> = flags.iter().copied().chain(words.split_whitespace()).collect();
        if !place.compile("gcc", EMPTY, &words, "program") {
            continue;
        }
        let answer = place.ask("./program");
        answer.check("loading", "ok", "has the recorder linked into it", "");
        answer.check_well(&["loading", "mpi", "program"]);
        assert_eq!(answer.status, 0);
        // The note of another version is no recorder for this one.
        let bytes = fs::read(place.path("program")).unwrap();
        let note = b"\x06\0\0\0\x04\0\0\0\x01\0\0\0marey\0";
        let at = bytes.windows(note.len()).position(|window| window == note).unwrap() + note.len() + 2;
        let mut other = bytes.clone();
        other[at] = 99;
        place.write("other", other, 0o755);
        place.ask("./other").check("loading", "problem", "has the recorder linked", "marey link");
    }
}

#[test]
fn recording_says_at_once_that_a_static_program_has_no_recorder() {
    let place = Place::new();
    if !place.compile("gcc", EMPTY, &["-static"], "program") {
        return;
    }
    for line in [&["./program"][..], &["env", "A=1", "./program"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_marey"))
            .current_dir(place.0.path())
            .args(["record", "--force", "--"])
            .args(line)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let first = told.lines().next().unwrap();
        assert!(first.contains("warning: ./program is linked statically"), "{line:?}: {told}");
        assert!(first.contains("no recorder inside") && first.contains("`marey link`"), "{told}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn the_remedy_for_a_sanitised_program_is_one() {
    let place = Place::new();
    if !place.compile("gcc", EMPTY, &["-g", "-fsanitize=address"], "program") {
        return;
    }
    let answer = place.ask("./program");
    let command =
        answer.findings[0]["command"].as_str().unwrap().replace("marey", env!("CARGO_BIN_EXE_marey"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(place.0.path()).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn debug_information_in_a_file_beside_the_program_counts() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &["-g"], "program") {
        return;
    }
    let part = "objcopy --only-keep-debug program program.debug && strip program && \
                objcopy --add-gnu-debuglink=program.debug program";
    match Command::new("sh").args(["-c", part]).current_dir(place.0.path()).output() {
        Ok(output) if output.status.success() => {}
        _ => return marey_testkit::skip("objcopy and strip"),
    }
    place.ask("./program").check_well(&["source"]);
    fs::remove_file(place.path("program.debug")).unwrap();
    place.ask("./program").check("source", "note", "stripped", "-g");
}

#[test]
fn what_cannot_be_started_is_told_with_the_way_out() {
    let place = Place::new();
    place.write("text", "no program", 0o644);
    place.write("beside", "#!/bin/sh\n", 0o755);
    place.write("bytes", [0, 1, 2, 3], 0o755);
    place.write("no-interpreter", "#!/nonexistent/python\n", 0o755);
    place.write("no-env", "#!/usr/bin/env no-such-interpreter-anywhere\n", 0o755);
    let cases = [
        ("./gone", "no such file", "ls -l"),
        ("no-such-program-anywhere", "not in the search path", "type -a"),
        ("beside", "but in this directory", "./beside"),
        ("./text", "may not be executed", "chmod u+x ./text"),
        ("./", "a directory", "ls ./"),
        ("./bytes", "neither a program nor a script", "file ./bytes"),
        ("./no-interpreter", "/nonexistent/python, which is not there", "type -a"),
        ("./no-env", "no-such-interpreter-anywhere, which is not there", "type -a"),
    ];
    for (program, found, remedy) in cases {
        place.ask(program).check("program", "problem", found, remedy);
    }
}

#[test]
fn scripts_are_measured_through_what_they_start() {
    let place = Place::new();
    place.write("script", "#!/bin/sh\ntrue\n", 0o755);
    place.write("plain", "true\n", 0o755);
    for program in ["./script", "./plain", "sh ./plain"] {
        let answer = place.ask(program);
        answer.check_well(&OF_PROGRAM);
        assert_eq!(answer.status, 0, "{program}");
    }
    place.ask("./script").check("program", "ok", "a script of /bin/sh", "");
}

#[test]
fn programs_for_other_machines_are_recognised() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &[], "program") {
        return;
    }
    let good = fs::read(place.path("program")).unwrap();
    // Byte 4 says 32 or 64 bits, bytes 18 and 19 which processors; 183 is AArch64.
    for (at, byte, found) in [(4, 1, "32 bits"), (18, 183, "processors of another kind")] {
        let mut changed = good.clone();
        changed[at] = byte;
        place.write("foreign", changed, 0o755);
        place.ask("./foreign").check("program", "problem", found, "x86-64");
    }
    place.write("cut", &good[..100], 0o755);
    place.ask("./cut").check("program", "problem", "damaged", "x86-64");
}

#[test]
fn libraries_that_are_not_there_are_named() {
    let place = Place::new();
    let flags = ["-shared", "-fPIC", "-Wl,-soname,libgone.so.1"];
    if !place.compile("cc", "int gone(void) { return 0; }", &flags, "libgone.so") {
        return;
    }
    let source = "int gone(void); int main(void) { return gone(); }";
    assert!(place.compile("cc", source, &["-g", "-L.", "-lgone"], "program"));
    place.ask("./program").check("libraries", "problem", "libgone.so.1 cannot be found", "LD_LIBRARY_PATH");
    fs::rename(place.path("libgone.so"), place.path("libgone.so.1")).unwrap();
    let mut doctor = place.doctor();
    Answer::of(doctor.arg("./program").env("LD_LIBRARY_PATH", place.0.path())).check_well(&OF_PROGRAM);
}

/// Whether the kernel gives programs in `directory` the rights that they ask for.
fn obeys_setuid(directory: &Path) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let flags = rustix::fs::statvfs(directory).unwrap().f_flag;
    !status.contains("NoNewPrivs:\t1") && !flags.contains(rustix::fs::StatVfsMountFlags::NOSUID)
}

#[test]
fn programs_with_more_rights_than_their_user_are_told() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &["-g"], "program") {
        return;
    }
    fs::set_permissions(place.path("program"), fs::Permissions::from_mode(0o4755)).unwrap();
    // Setuid to oneself gives nothing, so the loader obeys.
    place.ask("./program").check_well(&OF_PROGRAM);
    let setuid = place.path("program");
    if !obeys_setuid(place.0.path()) {
        return marey_testkit::leave_out("no program gains rights here (nosuid, no_new_privs)");
    }
    if std::os::unix::fs::chown(&setuid, Some(54321), None).is_err() {
        return marey_testkit::leave_out("only root may give a file to somebody else");
    }
    fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
    let answer = place.ask("./program");
    answer.check(
        "loading",
        "problem",
        "setuid: it runs as user 54321",
        "install -m 755 ./program ./program.plain",
    );
    let command = answer.findings[0]["command"].as_str().unwrap();
    assert!(Command::new("sh").args(["-c", command]).current_dir(place.0.path()).status().unwrap().success());
    place.ask("./program.plain").check_well(&OF_PROGRAM);
}

#[test]
fn file_capabilities_are_told_to_those_who_would_gain_by_them() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &["-g"], "program") {
        return;
    }
    let mut set = Command::new("/usr/sbin/setcap");
    let is_set = set.args(["cap_net_raw+ep", "program"]).current_dir(place.0.path()).output();
    if !is_set.is_ok_and(|output| output.status.success()) {
        return marey_testkit::leave_out("only root may give capabilities to a file");
    }
    place.ask("./program").check_well(&["loading"]);
    if !obeys_setuid(place.0.path()) {
        return marey_testkit::leave_out("no program gains rights here (nosuid, no_new_privs)");
    }
    // As somebody else, who must be able to reach this directory and the executable.
    fs::set_permissions(place.0.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_marey"), place.path("marey")).unwrap();
    let mut doctor = Command::new(place.path("marey"));
    doctor.args(["doctor", "--json", "--", "./program"]).current_dir(place.0.path()).uid(65534).gid(65534);
    Answer::of(&mut doctor).check("loading", "problem", "file capabilities", "install -m 755");
}

const MPI: &str = "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }";

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    let is_there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !is_there {
        marey_testkit::skip(program);
    }
    is_there
}

#[test]
fn a_program_and_its_launcher_must_be_of_one_family() {
    let place = Place::new();
    let families = [("openmpi", "Open MPI"), ("mpich", "MPICH")];
    for (family, name) in families {
        let (compiler, own) = (format!("mpicc.{family}"), format!("mpirun.{family}"));
        let foreign = families.iter().find(|(other, _)| *other != family).unwrap().0;
        let foreign = format!("mpirun.{foreign}");
        if !is_there(&own) || !is_there(&foreign) || !place.compile(&compiler, MPI, &["-g"], "program") {
            return;
        }
        let right = place.ask(&format!("{own} -n 1 ./program"));
        right.check_well(&OF_PROGRAM);
        // With its version, which the library says too.
        right.check("mpi", "ok", &format!("{name} 4."), "");
        let wrong = place.ask(&format!("env A=1 {foreign} -n 1 ./program 7"));
        wrong.check(
            "mpi",
            "problem",
            &format!("{foreign} starts programs of"),
            &format!("launcher of {name}"),
        );
        let command = wrong.findings[0]["command"].as_str().unwrap();
        assert!(command.starts_with("marey record -- env A=1 mpirun"), "{command}");
        assert!(command.ends_with(" -n 1 ./program 7") && !command.contains(&foreign), "{command}");
        // Wherever they lie, launchers are found by what they say they are.
        wrong.check("launcher", "ok", "Open MPI", "");
        wrong.check("launcher", "ok", "MPICH", "");
    }
}

#[test]
fn launchers_that_are_missing_or_in_vain_are_told() {
    let place = Place::new();
    if !place.compile("cc", EMPTY, &["-g"], "program") {
        return;
    }
    let program = place.path("program");
    let mut doctor = place.doctor();
    doctor
        .args(["mpirun".as_ref(), "-n".as_ref(), "2".as_ref(), program.as_os_str()])
        .env("PATH", place.0.path());
    let answer = Answer::of(&mut doctor);
    answer.check("launcher", "problem", "not in the search path", "module");
    let mut doctor = place.doctor();
    let answer = Answer::of(doctor.arg(program).env("PATH", place.0.path()));
    answer.check("launcher", "note", "none in the search path", "module load");
    place.write("mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n", 0o755);
    let answer = place.ask("./mpirun -n 1 ./program");
    answer.check("mpi", "note", "no MPI library", "marey record --all -- ./mpirun -n 1 ./program");
    place.ask("./program").check_well(&["mpi"]);
    assert_eq!(place.ask("./mpirun -n 4").status, 1, "nothing to start");
}

#[test]
fn too_many_ranks_or_threads_are_told() {
    let place = Place::new();
    if !place.compile("gcc", EMPTY, &["-g", "-fopenmp", "-Wl,--no-as-needed"], "program") {
        return;
    }
    place.write("mpirun", "#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n", 0o755);
    let usable = std::thread::available_parallelism().unwrap();
    let answer = place.ask("./mpirun -n 100000 ./program 100000");
    answer.check("processors", "note", "100 000 ranks", &format!("./mpirun -n {usable} ./program 100000"));
    let with_threads =
        |number: &str| Answer::of(place.doctor().arg("./program").env("OMP_NUM_THREADS", number));
    with_threads("1").check("threads", "ok", "libgomp", "");
    with_threads("1").check_well(&["threads"]);
    with_threads("100000").check(
        "threads",
        "note",
        "100 000 threads",
        &format!("OMP_NUM_THREADS={usable} marey"),
    );
}

#[test]
fn limits_of_the_shell_are_told_with_the_command_that_lifts_them() {
    let place = Place::new();
    let cases = [
        ("ulimit -f 100", "problem", "ulimit -f unlimited"),
        ("ulimit -f 10000000", "note", "ulimit -f unlimited"),
        ("ulimit -v 8000000", "note", "ulimit -v unlimited"),
        ("ulimit -n 64", "note", "ulimit -n 1024"),
    ];
    for (limit, state, remedy) in cases {
        let Some(answer) = place.ask_after(limit, &[]) else { panic!("{limit}") };
        answer.check("limit", state, "no ", remedy);
    }
    // One cause is one problem: nothing is tried that cannot work.
    let answer = place.ask_after("ulimit -f 100", &[]).unwrap();
    assert_eq!(answer.findings.iter().filter(|finding| finding["state"] == "problem").count(), 1);
}

#[test]
fn directories_that_cannot_be_recorded_into_are_told() {
    let place = Place::new();
    fs::create_dir(place.path("d")).unwrap();
    let cases = [
        ("mount -t tmpfs -o size=1m none d && cd d", "directory", "problem", "full", "/run.marey"),
        ("mount -t tmpfs -o ro none d && cd d", "directory", "problem", "not to be written to", "-o /"),
        ("mount -t tmpfs -o size=1g none d && cd d", "directory", "note", "(memory)", "-o DIR"),
        // Nor can anything be written where the library would be put then.
        (
            "mount -t tmpfs -o noexec none d && mount --rbind /tmp /tmp && mount -o remount,bind,ro /tmp \
             && mount -t tmpfs -o ro none /var/tmp && mount -t tmpfs -o ro none /dev/shm \
             && cd d && export TMPDIR=$PWD",
            "recording",
            "problem",
            "nothing",
            "TMPDIR=DIR",
        ),
    ];
    for (preparation, topic, state, found, remedy) in cases {
        let Some(answer) = place.ask_after(preparation, &["unshare", "-rm"]) else {
            return marey_testkit::leave_out("only some users may mount a file system");
        };
        answer.check(topic, state, found, remedy);
    }
    // Code from elsewhere is all that is needed.
    let noexec = "mount -t tmpfs -o noexec none d && cd d";
    let answer = place.ask_after(noexec, &["unshare", "-rm"]).unwrap();
    answer.check_well(&["recording"]);
}

#[test]
fn people_read_the_problem_first_and_lines_that_fit() {
    let place = Place::new();
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_marey"));
    doctor.args(["doctor", "--", "./gone\x1b[2J"]).current_dir(place.0.path()).env_remove("COLUMNS");
    let output = doctor.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!text.contains('\x1b'), "{text}");
    assert!(text.lines().nth(2).unwrap().contains("cannot be measured as it is: one problem"), "{text}");
    assert!(text.find("PROBLEMS") < text.find("IN ORDER"), "{text}");
    for line in text.lines().filter(|line| !line.contains("/tmp")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// Every field is explained, whatever is not in order has a remedy, and every finding says why.
#[test]
fn the_document_on_json_names_every_field() {
    let document = include_str!("../../../docs/json.md");
    let section = document.split("\n## ").find(|text| text.starts_with("`marey doctor --json`")).unwrap();
    let place = Place::new();
    let output = place.doctor().arg("./gone").output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = json["findings"].as_array().unwrap();
    let names = json.as_object().unwrap().keys().chain(findings[0].as_object().unwrap().keys());
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
    for finding in findings {
        assert!(section.contains(&format!("`{}`", finding["topic"].as_str().unwrap())), "{finding}");
        assert!(finding["why"].as_str().unwrap().ends_with('.'), "{finding}");
        assert_eq!(finding["remedy"].is_null(), finding["state"] == "ok", "{finding}");
    }
}

#[test]
fn the_program_itself_is_never_run() {
    let place = Place::new();
    let source = "#include <fcntl.h>\n#include <unistd.h>\n\
                  __attribute__((constructor)) static void mark(void) \
                  { close(open(\"ran\", O_CREAT | O_RDWR, 0600)); }\n\
                  int main(void) { return 0; }";
    if !place.compile("cc", source, &["-g"], "program") {
        return;
    }
    place.write("script", "#!/bin/sh\ntouch ran\n", 0o755);
    for line in ["./program", "env A=1 ./program", "./script", "sh ./script"] {
        place.ask(line);
        assert!(!Path::new(OsStr::new(&place.path("ran"))).exists(), "{line}");
    }
}
