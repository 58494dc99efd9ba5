//! What a machine recorded on its own disk, on the way to the run: brought whole or not at all, nothing
//! taken that is not ours, and always to be tried again.
//!
//! The disk is a memory file system, so that nothing can arrive by being renamed. The programs are shells,
//! measured from their start by `--all`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory to record in, and the disk of the machine.
struct Place {
    root: TempDir,
    disk: TempDir,
}

impl Place {
    /// `None`, said aloud, without a second file system.
    fn new() -> Option<Self> {
        let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let Ok(disk) = TempDir::new_in("/dev/shm") else {
            marey_testkit::leave_out("no /dev/shm to be the disk of a machine");
            return None;
        };
        let device = |dir: &TempDir| fs::metadata(dir.path()).unwrap().dev();
        assert_ne!(device(&root), device(&disk));
        Some(Self { root, disk })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn marey(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(self.root.path()).args(words).env_remove("LD_PRELOAD").stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.marey(words).output().unwrap()
    }

    /// Runs it and expects it to succeed. What it says.
    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        stderr(&output)
    }

    fn recording(&self, script: &str) -> Command {
        let disk = self.disk.path().to_str().unwrap();
        self.marey(&["record", "--all", "--spool", disk, "--", "/bin/sh", "-c", script])
    }

    /// A recording whose recorder was killed before it could do anything. What was recorded, and where.
    fn abandoned(&self) -> (PathBuf, BTreeMap<String, Vec<u8>>) {
        let output = self.recording("kill -9 $PPID; ls / | wc -l").output().unwrap();
        assert_eq!(output.status.code(), None, "{}", stderr(&output));
        let place = self.place();
        let files = contents(&place);
        assert!(files.len() >= 2, "{files:?}");
        (place, files)
    }

    /// The only directory on the disk.
    fn place(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.disk.path()).unwrap();
        let place = entries.next().unwrap().unwrap().path();
        assert!(entries.next().is_none());
        place
    }

    fn home(&self) -> BTreeMap<String, Vec<u8>> {
        contents(&self.path("run.marey/spool"))
    }

    fn processes(&self) -> u64 {
        let info: serde_json::Value =
            serde_json::from_slice(&self.run(&["info", "--json", "run.marey"]).stdout).unwrap();
        info["processes"].as_u64().unwrap()
    }

    fn disk_is_empty(&self) -> bool {
        fs::read_dir(self.disk.path()).unwrap().next().is_none()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Recordings in a directory.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name.ends_with(".events") || name.ends_with(".definitions"));
    names.map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
}

macro_rules! place {
    () => {
        match Place::new() {
            Some(place) => place,
            None => return,
        }
    };
}

#[test]
fn a_recorder_brings_home_what_was_recorded() {
    let place = place!();
    let output = place.recording("echo $MAREY_SPOOL; stat -c %a $MAREY_SPOOL").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(place.disk.path().to_str().unwrap()) && said.ends_with("\n700\n"), "{said}");
    assert!(place.processes() >= 1 && place.disk_is_empty());

    let disk = place.disk.path().to_str().unwrap();
    place.ok(&["record", "--force", "--no-merge", "--all", "--spool", disk, "--", "/bin/sh", "-c", ":"]);
    assert!(!place.home().is_empty() && place.disk_is_empty());
    place.ok(&["merge", "run.marey"]);
    assert_eq!(place.processes(), 1);
}

#[test]
fn after_a_killed_recorder_it_is_gathered_whole() {
    let place = place!();
    let (_, recorded) = place.abandoned();
    let told = place.ok(&["gather", "run.marey"]);
    assert!(told.contains(&format!("gathered {} files", recorded.len())), "{told}");
    assert!(place.home() == recorded && place.disk_is_empty());
    let told = place.ok(&["gather", "run.marey"]);
    assert!(told.contains("nothing of run.marey is left on this machine"), "{told}");
    place.ok(&["merge", "run.marey"]);
    assert!(place.processes() >= 2);
    let refused = place.run(&["gather", "run.marey"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}

#[test]
fn a_merge_gathers_what_is_on_its_machine() {
    let place = place!();
    let (_, recorded) = place.abandoned();
    place.ok(&["merge", "run.marey"]);
    let processes = recorded.keys().filter(|name| name.ends_with(".definitions")).count();
    assert_eq!(place.processes(), processes as u64);
    assert!(place.disk_is_empty() && !place.path("run.marey/spool").exists());
}

#[test]
fn a_gathering_that_fails_goes_on_where_it_stopped() {
    let place = place!();
    let (from, recorded) = place.abandoned();
    // One file is longer than may be written here, the others are not.
    let longest = &recorded.keys().last().unwrap().clone();
    let mut long = recorded[longest].clone();
    long.resize(4 << 20, 1);
    fs::write(from.join(longest), &long).unwrap();
    let line = format!("ulimit -f 2048; {} gather run.marey", env!("CARGO_BIN_EXE_marey"));
    let failed = Command::new("/bin/sh").args(["-c", &line]).current_dir(place.root.path()).output().unwrap();
    assert_eq!(failed.status.code(), Some(1), "{}", stderr(&failed));
    assert!(from.join(longest).exists() && !place.home().contains_key(longest));
    // Nothing is anywhere else but in one of the two places, whole.
    let mut both = place.home();
    both.extend(contents(&from));
    let mut expected = recorded;
    expected.insert(longest.clone(), long);
    assert!(both == expected);
    // As if it had been killed: half of a copy, and a copy whose original was not removed yet.
    fs::write(place.path(&format!("run.marey/spool/{longest}.gathering")), "half").unwrap();
    fs::write(place.path(&format!("run.marey/spool/{longest}")), &expected[longest]).unwrap();
    place.ok(&["gather", "run.marey"]);
    assert!(place.home() == expected && place.disk_is_empty());
    assert!(!place.path(&format!("run.marey/spool/{longest}.gathering")).exists());
}

/// A copy at home that differs, as of a process that went on, is replaced and not trusted.
#[test]
fn what_has_changed_is_brought_again() {
    let place = place!();
    let (_, recorded) = place.abandoned();
    for (name, bytes) in &recorded {
        fs::write(place.path(&format!("run.marey/spool/{name}")), &bytes[..bytes.len() / 2]).unwrap();
    }
    place.ok(&["gather", "run.marey"]);
    assert!(place.home() == recorded && place.disk_is_empty());
}

#[test]
fn what_still_records_is_not_taken_away() {
    let place = place!();
    let script = "kill -9 $PPID; echo ready; read line; echo $line";
    let mut recorder = place.recording(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // Taken, for waiting closes it.
    let mut input = recorder.stdin.take().unwrap();
    let mut output = BufReader::new(recorder.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!((recorder.wait().unwrap().code(), line.as_str()), (None, "ready\n"));
    let gathered = place.run(&["gather", "run.marey"]);
    assert_eq!(gathered.status.code(), Some(1), "{}", stderr(&gathered));
    assert!(stderr(&gathered).contains("processes still record"), "{}", stderr(&gathered));
    let from = contents(&place.place());
    assert!(!from.is_empty() && place.home().keys().eq(from.keys()));
    input.write_all(b"on\n").unwrap();
    line.clear();
    // Until the end of the stream, which is the end of the process.
    while output.read_line(&mut line).unwrap() > 0 {}
    assert_eq!(line, "on\n");
    let from = contents(&place.place());
    place.ok(&["gather", "run.marey"]);
    assert!(place.home() == from && place.disk_is_empty());
}

#[test]
fn a_run_that_is_being_recorded_is_not_gathered() {
    let place = place!();
    let line = format!("{} gather run.marey; echo $?", env!("CARGO_BIN_EXE_marey"));
    let output = place.recording(&line).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n", "{}", stderr(&output));
    assert!(stderr(&output).contains("is being recorded into"), "{}", stderr(&output));
}

#[test]
fn a_spool_by_another_name_of_its_disk() {
    let place = place!();
    let (from, recorded) = place.abandoned();
    fs::create_dir(place.path("mnt")).unwrap();
    let name = from.file_name().unwrap();
    let copied = Command::new("cp").arg("-a").arg(&from).arg(place.path("mnt")).status().unwrap();
    assert!(copied.success());
    fs::remove_dir_all(&from).unwrap();
    let elsewhere = place.run(&["gather", "run.marey", "."]);
    assert_eq!(elsewhere.status.code(), Some(2), "{}", stderr(&elsewhere));
    assert!(stderr(&elsewhere).contains(name.to_str().unwrap()), "{}", stderr(&elsewhere));
    place.ok(&["gather", "run.marey", "mnt"]);
    assert!(place.home() == recorded && !place.path("mnt").join(name).exists());
}

#[test]
fn what_is_not_ours_stays() {
    let place = place!();
    let (from, recorded) = place.abandoned();
    fs::write(place.path("secret"), "of somebody").unwrap();
    symlink(place.path("secret"), from.join("a-1-00.events")).unwrap();
    let pipe = Command::new("mkfifo").arg(from.join("b-1-00.definitions")).status().unwrap();
    assert!(pipe.success());
    fs::create_dir(from.join("c-1-00.events")).unwrap();
    fs::write(from.join("notes.txt"), "mine").unwrap();
    let told = place.ok(&["gather", "run.marey"]);
    assert!(told.contains("4 things that are no recording"), "{told}");
    assert!(place.home() == recorded);
    let mut left: Vec<_> = fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a-1-00.events", "b-1-00.definitions", "c-1-00.events", "notes.txt"]);
    assert_eq!(fs::read(place.path("secret")).unwrap(), b"of somebody");
}

/// Says that the place is somewhere else.
fn point_to(place: &Place, path: &Path) {
    let file = place.path("run.marey/spool/launch.json");
    let mut launch: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    launch["spool"] = path.to_str().unwrap().into();
    fs::write(file, launch.to_string()).unwrap();
}

#[test]
fn a_place_that_others_could_have_made_is_refused() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 3] = [
        ("not a directory", |place| {
            let aside = place.with_extension("aside");
            fs::rename(place, &aside).unwrap();
            symlink(aside, place).unwrap();
        }),
        ("can be written by other users", |place| {
            fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
        }),
        ("belongs to another user", |place| {
            // Only root can give a directory away.
            if rustix::process::geteuid().is_root() {
                std::os::unix::fs::chown(place, Some(65534), None).unwrap();
            } else {
                fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
            }
        }),
    ];
    for (why, spoil) in cases {
        let place = place!();
        let (from, recorded) = place.abandoned();
        spoil(&from);
        for command in ["gather", "merge"] {
            let output = place.run(&[command, "run.marey"]);
            assert_ne!(output.status.code(), Some(0), "{why}");
            let is_told = stderr(&output).contains(why) || stderr(&output).contains("can be written");
            assert!(is_told, "{why}: {}", stderr(&output));
        }
        assert!(contents(&from) == recorded && place.home().is_empty(), "{why}");
    }
}

/// A run that somebody made up could otherwise have what belongs to another taken away.
#[test]
fn the_place_of_another_run_is_refused() {
    let (place, other) = (place!(), place!());
    let (_, mine) = place.abandoned();
    let (theirs, recorded) = other.abandoned();
    point_to(&place, &theirs);
    for command in ["gather", "merge"] {
        let output = place.run(&[command, "run.marey"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("was recorded for"), "{}", stderr(&output));
    }
    assert!(contents(&theirs) == recorded && contents(&place.place()) == mine);
}

/// Every file in a directory.
fn everything(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Nor is a directory taken for the run's place because the run names it.
#[test]
fn a_directory_that_no_recorder_made_for_the_run_is_refused() {
    const NAME: &str = "marey-0123456789abcdef";
    const GATHER: &[&str] = &["gather", "run.marey"];
    const MERGE: &[&str] = &["merge", "run.marey"];
    // What is tried, where the run says that it was recorded, and what is not there that was.
    let cases: [(&str, &[&[&str]], &str, &str); 5] = [
        ("is not called as", &[GATHER, MERGE], "other.marey/spool", ""),
        ("is the spool of the run itself", &[GATHER, MERGE], "run.marey/spool", ""),
        ("is not called as", &[&["gather", "run.marey", "other.marey"]], "other.marey/spool", ""),
        ("is the spool of a run", &[GATHER, MERGE, &["gather", "run.marey", "."]], NAME, ""),
        ("does not say which run", &[MERGE], NAME, "launch.json"),
    ];
    for (why, commands, named, removed) in cases {
        let place = place!();
        place.abandoned();
        place.ok(&["record", "--no-merge", "--all", "-o", "other.marey", "--", "/bin/true"]);
        let other = place.path("other.marey/spool");
        fs::write(other.join("world-0"), "").unwrap();
        let copied = Command::new("cp").arg("-a").arg(&other).arg(place.path(NAME)).status().unwrap();
        assert!(copied.success());
        if !removed.is_empty() {
            fs::remove_file(place.path(NAME).join(removed)).unwrap();
        }
        // The run has recordings already, so that nothing else keeps it from being merged.
        for (name, bytes) in contents(&other) {
            fs::write(place.path("run.marey/spool").join(name), bytes).unwrap();
        }
        point_to(&place, &place.path(named));
        let look = || ["run.marey/spool", "other.marey/spool", NAME].map(|dir| everything(&place.path(dir)));
        let before = look();
        for command in commands {
            let output = place.run(command);
            assert_eq!(output.status.code(), Some(2), "{command:?}: {}", stderr(&output));
            assert!(stderr(&output).contains(why), "{command:?}: {}", stderr(&output));
            assert!(look() == before, "{command:?}: {why}");
        }
    }
}

#[test]
fn what_was_not_recorded_elsewhere_needs_no_gathering() {
    let place = place!();
    place.ok(&["record", "--no-merge", "--all", "--", "/bin/sh", "-c", ":"]);
    assert!(place.ok(&["gather", "run.marey"]).contains("nothing to gather"));
    fs::create_dir(place.path("empty")).unwrap();
    assert_eq!(place.run(&["gather", "empty"]).status.code(), Some(2));
    assert_eq!(place.run(&["gather", "missing"]).status.code(), Some(2));
}

/// Where the run lies behind a network, as far as the kernel says: `strace` lets the first `statfs` answer
/// that it is NFS. The machine's place for temporary files is on the disk of the build.
#[test]
fn behind_a_network_a_machine_records_on_its_own_disk() {
    let inject = "-einject=statfs:poke_exit=@arg2=69690000:when=1";
    let strace = ["-qq", "-o", "calls", "-etrace=statfs", inject];
    let root = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let is_able = Command::new("strace").args(strace).arg("true").current_dir(root.path()).output();
    if !is_able.is_ok_and(|output| output.status.success()) {
        marey_testkit::leave_out("no strace that plays a network file system");
        return;
    }
    fs::create_dir(root.path().join("tmp")).unwrap();
    // What is started, the machines of the job, where temporary files lie, and where it records.
    let cases: [(&[&str], &str, &str, &str); 6] = [
        (&["printenv", "MAREY_SPOOL"], "", "tmp", "tmp/marey-"),
        // It could start a launcher.
        (&["nice", "printenv", "MAREY_SPOOL"], "", "tmp", "run.marey/spool"),
        (&["sh", "-c", "echo $MAREY_SPOOL"], "", "tmp", "run.marey/spool"),
        (&["sh", "-c", "echo $MAREY_SPOOL"], "1", "tmp", "tmp/marey-"),
        (&["sh", "-c", "echo $MAREY_SPOOL"], "2", "tmp", "run.marey/spool"),
        // In memory it would be worse off; then /tmp, which may be in memory here.
        (&["printenv", "MAREY_SPOOL"], "", "/dev/shm", ""),
    ];
    for (program, machines, temporary, expected) in cases {
        let mut record = Command::new("strace");
        record.args(strace).arg(env!("CARGO_BIN_EXE_marey")).args(["record", "--all", "--force", "--"]);
        record.args(program).current_dir(root.path()).env_remove("LD_PRELOAD");
        record.env("TMPDIR", root.path().join(temporary)).env("SLURM_JOB_NUM_NODES", machines);
        let output = record.output().unwrap();
        let place = String::from_utf8(output.stdout.clone()).unwrap();
        let expected = root.path().join(expected);
        assert!(
            temporary == "/dev/shm" && !place.starts_with(temporary)
                || temporary == "tmp" && place.starts_with(expected.to_str().unwrap()),
            "{program:?} {machines}: {place}{}",
            stderr(&output)
        );
        assert!(!Path::new(place.trim_end()).exists(), "{program:?}: {}", stderr(&output));
        assert!(root.path().join("run.marey/meta.json").exists(), "{program:?}: {}", stderr(&output));
        assert!(fs::read_dir(root.path().join("tmp")).unwrap().next().is_none());
    }
}
