//! What others might put in our way: links, files under names that can be guessed, spools that are made up.
//! None of it may make us run, read, write or remove what is not the run's.
//!
//! Places for spools have their own tests, in `gather.rs`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const STRANGER: u32 = 65534;

struct Place(TempDir);

impl Place {
    /// On the disk of the build: temporary directories often do not allow setuid programs.
    fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.0.path()).env_remove("LD_PRELOAD").stdin(Stdio::null());
        command
    }

    fn marey(&self, words: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_marey"), words).output().unwrap()
    }

    fn ok(&self, words: &[&str]) -> String {
        let output = self.marey(words);
        assert!(output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A recording that is not merged.
    fn recorded(&self, run: &str) {
        self.ok(&["record", "--no-merge", "--all", "-o", run, "--", "/bin/sh", "-c", ":"]);
    }

    fn info(&self, run: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(&["info", run, "--json"])).unwrap()
    }

    /// Compiles a program; `None`, said aloud, without a compiler.
    fn compile(&self, name: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
        let file = self.path(&format!("{name}.c"));
        fs::write(&file, source).unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
        let mut compile = self.command("cc", &["-g", "-O1", "-Wl,--build-id", "-I"]);
        match compile.arg(include).arg(&file).args(flags).arg("-o").arg(self.path(name)).output() {
            Err(error) => {
                marey_testkit::skip(&format!("a C compiler: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{}", told(&output));
                Some(self.path(name))
            }
        }
    }
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All below a directory, without following links.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.symlink_metadata().unwrap().is_dir() {
            files.extend(tree(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    files
}

fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        marey_testkit::leave_out("only root can play another user");
    }
    is_root
}

#[test]
fn a_run_that_is_a_link_is_neither_recorded_into_nor_replaced() {
    let place = Place::new();
    fs::create_dir(place.path("home")).unwrap();
    fs::write(place.path("home/thesis.tex"), "text").unwrap();
    place.recorded("other.marey");
    for target in ["home", "other.marey", "nothing"] {
        symlink(place.path(target), place.path("run.marey")).unwrap();
        let before = tree(place.0.path());
        for force in [&[][..], &["--force"]] {
            let words = [&["record"], force, &["--", "/bin/sh", "-c", "echo ran"]].concat();
            let output = place.marey(&words);
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{target}");
        }
        assert!(tree(place.0.path()) == before, "{target}");
        fs::remove_file(place.path("run.marey")).unwrap();
    }
}

#[test]
fn links_in_a_run_are_not_followed_by_a_merge() {
    type Spoil = fn(&Path, &Path);
    let cases: [(&str, Spoil); 6] = [
        ("the spool", |run, other| {
            fs::remove_dir_all(run.join("spool")).unwrap();
            symlink(other.join("spool"), run.join("spool")).unwrap();
        }),
        ("a directory of parts", |run, other| symlink(other, run.join("intervals")).unwrap()),
        ("a file to be written", |run, other| {
            symlink(other.join("spool/launch.json"), run.join("meta.json")).unwrap();
        }),
        ("a file that is written aside", |run, other| {
            symlink(other.join("new"), run.join("regions.parquet")).unwrap();
        }),
        ("a part", |run, other| {
            fs::create_dir(run.join("intervals")).unwrap();
            symlink(other.join("new"), run.join("intervals/0000-000.parquet")).unwrap();
        }),
        ("a pipe", |run, _| {
            assert!(Command::new("mkfifo").arg(run.join("meta.json")).status().unwrap().success());
        }),
    ];
    for (what, spoil) in cases {
        let place = Place::new();
        place.recorded("run.marey");
        place.recorded("other.marey");
        spoil(&place.path("run.marey"), &place.path("other.marey"));
        let before = tree(&place.path("other.marey"));
        for words in [&["merge", "run.marey"][..], &["merge", "--force", "run.marey"]] {
            let output = place.marey(words);
            assert_eq!(output.status.code(), Some(2), "{what}: {}", told(&output));
            assert!(told(&output).contains("nothing is merged"), "{what}: {}", told(&output));
        }
        assert!(tree(&place.path("other.marey")) == before, "{what}");
    }
}

/// A spool that somebody packed and sent: the links in it would have had another recording read, named as
/// part of this one, and a file of any name read as what the launcher said.
#[test]
fn links_among_recordings_are_passed_over() {
    let place = Place::new();
    place.recorded("run.marey");
    place.recorded("other.marey");
    let (spool, other) = (place.path("run.marey/spool"), place.path("other.marey/spool"));
    let theirs = tree(&other);
    for path in theirs.keys() {
        let name = path.file_name().unwrap();
        if name != "launch.json" {
            symlink(path, spool.join(name)).unwrap();
        }
    }
    fs::write(place.path("secret"), r#"{"title": "taken from elsewhere"}"#).unwrap();
    fs::remove_file(spool.join("launch.json")).unwrap();
    symlink(place.path("secret"), spool.join("launch.json")).unwrap();
    place.ok(&["merge", "run.marey"]);
    let info = place.info("run.marey");
    assert_eq!(info["processes"], 1, "{info}");
    assert!(!place.ok(&["info", "run.marey"]).contains("taken from elsewhere"));
    assert!(tree(&other) == theirs);
    assert!(place.path("secret").exists());
}

/// Seen: recorders that join loaded what lay in a run of the right name and step, whoever had made it.
#[test]
fn a_run_that_another_user_has_made_is_not_joined() {
    let place = Place::new();
    let source = r#"#include <stdio.h>
        __attribute__((constructor)) static void loaded(void) { puts("evil"); fflush(stdout); }"#;
    let Some(evil) = place.compile("evil", source, &["-shared", "-fPIC"]) else { return };
    let run = place.path("run.marey");
    fs::create_dir_all(run.join("spool")).unwrap();
    fs::copy(evil, run.join("spool/libmarey.so")).unwrap();
    fs::write(run.join("recording.lock"), "").unwrap();
    fs::write(run.join("spool/launch.json"), r#"{"job_step": "step"}"#).unwrap();
    fs::write(run.join("spool/left.events"), "").unwrap();
    let spoils: [&dyn Fn(); 3] = [
        &|| fs::set_permissions(run.join("spool"), fs::Permissions::from_mode(0o777)).unwrap(),
        &|| fs::set_permissions(&run, fs::Permissions::from_mode(0o770)).unwrap(),
        &|| chown(&run, Some(STRANGER), None).unwrap(),
    ];
    for (idx, spoil) in spoils.into_iter().enumerate() {
        for dir in [run.clone(), run.join("spool")] {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
        }
        if idx == 2 && !is_root() {
            return;
        }
        spoil();
        let mut record =
            place.command(env!("CARGO_BIN_EXE_marey"), &["record", "--", "/bin/sh", "-c", "echo ran"]);
        let output = record.env("PMIX_NAMESPACE", "step").env("PMI_SIZE", "2").output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{idx}: {}", told(&output));
    }
}

/// What lies under names that a recorder might choose, made by another user before.
#[test]
fn files_of_others_in_the_place_for_spools_are_left_alone() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    fs::set_permissions(&disk, fs::Permissions::from_mode(0o1777)).unwrap();
    // The names of earlier versions, for the processes that might come next.
    let next = std::process::id();
    for pid in next..next + 200 {
        for attempt in 0..2 {
            let trap = disk.join(format!("marey-{pid}-{attempt}"));
            symlink(place.path("elsewhere"), &trap).unwrap();
            rustix::fs::chownat(
                rustix::fs::CWD,
                &trap,
                Some(rustix::fs::Uid::from_raw(STRANGER)),
                None,
                rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
            )
            .unwrap();
        }
    }
    let before = fs::read_dir(&disk).unwrap().count();
    let mut names = Vec::new();
    for _ in 0..2 {
        let line = "basename $MAREY_SPOOL; stat -c '%u %a' $MAREY_SPOOL";
        let words = ["record", "--all", "--force", "--spool", "disk", "--", "/bin/sh", "-c", line];
        let said = place.ok(&words);
        let (name, rest) = said.split_once('\n').unwrap();
        assert_eq!(rest, "0 700\n");
        names.push(name.to_owned());
    }
    assert_ne!(names[0], names[1], "no name comes again");
    assert!(names.iter().all(|name| name.len() == "marey-".len() + 16), "{names:?}");
    assert_eq!(fs::read_dir(&disk).unwrap().count(), before);
    assert!(!place.path("elsewhere").exists());
}

const SETUID: &str = r#"
    #include <stdio.h>
    #include <sys/auxv.h>
    #include <unistd.h>
    #include "marey.h"
    int main(void) {
        static marey_region work = MAREY_REGION("work");
        for (int i = 0; i < 3; i++) marey_enter(&work), marey_leave(&work);
        printf("%d %d %ld\n", (int)getuid(), (int)geteuid(), (long)getauxval(AT_SECURE));
        return 5;
    }"#;

/// A program with the rights of another user is never recorded: neither preloaded, which the dynamic
/// linker refuses, nor when it is linked with the library itself and finds our variables.
#[test]
fn a_setuid_program_is_left_alone() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    // The library, as a program could be linked with it.
    place.ok(&["record", "--", "/bin/sh", "-c", "cp $LD_PRELOAD libmarey.so; chmod 755 libmarey.so"]);
    let here = place.0.path().to_str().unwrap().to_owned();
    let linked = ["-L.", "-Wl,--no-as-needed", "-lmarey", &format!("-Wl,-rpath,{here}")];
    for (name, flags) in [("preloaded", &[][..]), ("linked", &linked)] {
        let Some(program) = place.compile(name, SETUID, flags) else { return };
        let line = format!("exec ./{name}");
        let record = |run: &str| place.marey(&["record", "--force", "-o", run, "--", "/bin/sh", "-c", &line]);
        let plain = record("plain.marey");
        assert_eq!((plain.status.code(), plain.stdout.as_slice()), (Some(5), &b"0 0 0\n"[..]), "{name}");
        assert_eq!(place.info("plain.marey")["processes"], 1, "{name}");

        chown(&program, Some(STRANGER), Some(STRANGER)).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o6755)).unwrap();
        // So that the program of the other user gets at it.
        fs::set_permissions(&here, fs::Permissions::from_mode(0o755)).unwrap();
        let alone = place.command("sh", &["-c", &line]).output().unwrap();
        if alone.stdout != b"0 65534 1\n" {
            marey_testkit::leave_out("setuid programs get no rights here, or may read nothing");
            return;
        }
        let output = record("run.marey");
        assert_eq!((output.status.code(), &output.stdout), (alone.status.code(), &alone.stdout), "{name}");
        assert!(told(&output).contains("setuid"), "{name}: {}", told(&output));
        let left = tree(&place.path("run.marey"));
        assert!(left.keys().all(|path| path.extension().is_none_or(|kind| kind != "events")), "{left:?}");
    }
}

/// Calls that are recorded with the stack that led to them.
const NAMED: &str = r#"
    #include <pthread.h>
    static void *nothing(void *argument) { return argument; }
    __attribute__((noinline)) void FUNCTION(void) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    int main(void) { FUNCTION(); return 0; }"#;

/// The path of the program is replaced in the spool by others of the same length. Wherever they lead, the
/// merge comes to its end, and tells nothing of what it has found there.
#[test]
fn paths_in_a_spool_lead_nowhere() {
    let place = Place::new();
    let Some(_) = place.compile("victim-a", &NAMED.replace("FUNCTION", "own_function"), &["-pthread"]) else {
        return;
    };
    fs::create_dir(place.path("in")).unwrap();
    fs::rename(place.path("victim-a"), place.path("in/program")).unwrap();
    place.compile("secret-b", &NAMED.replace("FUNCTION", "secret_function"), &["-pthread"]).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("in/apipe-x")).status().unwrap().success());
    symlink("/dev/zero", place.path("in/endless")).unwrap();
    fs::create_dir(place.path("in/adirect")).unwrap();
    let cases =
        ["in/program", "in/apipe-x", "in/endless", "in/adirect", "in/missing", "../secret-", "/../../../"];
    for (idx, path) in cases.iter().enumerate() {
        let run = format!("run{idx}.marey");
        place.ok(&["record", "--no-merge", "-o", &run, "--", "in/program"]);
        let root = place.0.path().to_str().unwrap();
        let to = match *path {
            // As long as the other, and up and down again.
            "../secret-" => format!("{root}/secret-b//"),
            path => format!("{root}/{path}"),
        };
        let from = format!("{root}/in/program");
        assert_eq!(from.len(), to.len(), "{to}");
        let mut replaced = 0;
        for file in tree(&place.path(&format!("{run}/spool"))).into_keys() {
            let bytes = fs::read(&file).unwrap();
            let mut text = bytes.clone();
            for at in 0..bytes.len().saturating_sub(from.len()) {
                if bytes[at..].starts_with(from.as_bytes()) {
                    text[at..at + to.len()].copy_from_slice(to.as_bytes());
                    replaced += 1;
                }
            }
            fs::write(&file, text).unwrap();
        }
        assert!(replaced > 0, "the program is named");
        let outside =
            [fs::read(place.path("secret-b")).unwrap(), fs::read(place.path("in/program")).unwrap()];
        place.ok(&["merge", &run]);
        let report = place.ok(&["report", &run, "--json"]);
        let is_own = report.contains("own_function");
        assert_eq!(is_own, idx == 0, "{to}: {report}");
        assert!(!report.contains("secret_function"), "{to}");
        let after = [fs::read(place.path("secret-b")).unwrap(), fs::read(place.path("in/program")).unwrap()];
        assert!(outside == after);
    }
}

/// Names of files are all that a spool says about where something lies; other names are passed over.
#[test]
fn strange_names_in_a_spool_are_passed_over() {
    let place = Place::new();
    place.recorded("run.marey");
    let spool = place.path("run.marey/spool");
    fs::create_dir(spool.join("...events")).unwrap();
    fs::write(spool.join("..events"), "").unwrap();
    fs::write(spool.join("-rf.events"), "no window").unwrap();
    fs::write(spool.join("world-..decision"), "").unwrap();
    fs::write(spool.join("world-x\n..\\..\\passwd"), "").unwrap();
    let outside = tree(place.0.path());
    let outside = outside.keys().filter(|path| !path.starts_with(place.path("run.marey"))).count();
    place.ok(&["merge", "run.marey"]);
    assert_eq!(place.info("run.marey")["processes"], 1);
    let after = tree(place.0.path());
    assert_eq!(after.keys().filter(|path| !path.starts_with(place.path("run.marey"))).count(), outside);
}
