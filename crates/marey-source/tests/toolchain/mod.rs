//! Builds and runs the programs of `tests/programs` in a directory of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One call that a program made, in its own words.
#[derive(Debug, Clone)]
pub struct Call {
    /// The file that holds the call.
    pub module: PathBuf,
    /// Return address, as a virtual address of that file.
    pub vaddr: u64,
    /// Line of the call.
    pub line: u32,
    /// Function that makes the call.
    pub function: String,
}

/// A temporary directory with the tools to fill it.
pub struct Workspace {
    dir: tempfile::TempDir,
    /// What compiles C.
    pub c_compiler: &'static str,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

impl Workspace {
    /// `None`, said aloud, when `tool` or the C compiler is missing.
    pub fn with(tool: &str) -> Option<Self> {
        for needed in [tool, "gcc"] {
            if Command::new(needed).arg("--version").output().is_err() {
                marey_testkit::skip(needed);
                return None;
            }
        }
        Some(Self { dir: tempfile::tempdir().unwrap(), c_compiler: "gcc" })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs a tool here; it must succeed.
    #[track_caller]
    pub fn tool(&self, name: &str, arguments: &[&str]) -> String {
        let output = Command::new(name).args(arguments).current_dir(self.dir()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Builds `source` into the executable `program`.
    pub fn executable(&self, source: &str, flags: &[&str]) -> PathBuf {
        self.object("probe.c", "probe.o", &["-O1"]);
        let source_path = sources().join(source);
        let source_path = source_path.to_str().unwrap();
        match source.rsplit_once('.').unwrap().1 {
            "rs" => {
                let link = ["-C", "link-arg=probe.o", "--edition=2024", "-o", "program", source_path];
                self.tool("rustc", &[flags, &link].concat());
            }
            language => {
                let compiler = match language {
                    "cpp" => "g++",
                    "f90" => "gfortran",
                    _ => self.c_compiler,
                };
                let common = ["-DENTRY=main", source_path, "probe.o", "-o", "program"];
                let defines = if language == "f90" { &common[1..] } else { &common };
                self.tool(compiler, &[flags, defines].concat());
            }
        }
        self.dir().join("program")
    }

    /// Builds `source` into a shared library, and `program` that calls it.
    pub fn executable_with_library(&self, source: &str, flags: &[&str]) -> PathBuf {
        let source_path = sources().join(source);
        let library = ["-fPIC", "-shared", "-DENTRY=run", source_path.to_str().unwrap(), "-o", "libcalls.so"];
        self.tool("gcc", &[flags, &library].concat());
        self.object("probe.c", "probe.o", &["-O1"]);
        std::fs::write(self.dir().join("start.c"), "int run(void); int main(void) { return run(); }\n")
            .unwrap();
        let own = format!("-Wl,-rpath,{}", self.dir().display());
        self.tool("gcc", &["-rdynamic", "start.c", "probe.o", "-L.", "-lcalls", &own, "-o", "program"]);
        self.dir().join("program")
    }

    /// Runs a program and returns the calls that it reports.
    #[track_caller]
    pub fn run(&self, program: &Path) -> Vec<Call> {
        let text = self.tool(program.to_str().unwrap(), &[]);
        text.lines()
            .map(|line| {
                let [module, vaddr, line, function] = line.split('\t').collect::<Vec<_>>()[..] else {
                    panic!("unexpected output: {line}")
                };
                Call {
                    module: PathBuf::from(module),
                    vaddr: u64::from_str_radix(vaddr, 16).unwrap(),
                    line: line.parse().unwrap(),
                    function: function.to_owned(),
                }
            })
            .collect()
    }

    /// Functions and lines at `vaddr` as the `addr2line` of binutils sees them.
    pub fn binutils_lines(&self, file: &str, vaddr: u64) -> Vec<(String, Option<u32>)> {
        let text = self.tool("addr2line", &["-f", "-i", "-e", file, &format!("{vaddr:#x}")]);
        let lines: Vec<_> = text.lines().collect();
        lines.chunks(2).map(|pair| (pair[0].to_owned(), line_number(pair[1]))).collect()
    }

    pub fn remove_by_extension(&self, extension: &str) {
        for entry in std::fs::read_dir(self.dir()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|found| found == extension) {
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    pub fn append(&self, name: &str, bytes: &[u8]) {
        let path = self.dir().join(name);
        let mut data = std::fs::read(&path).unwrap();
        data.extend_from_slice(bytes);
        std::fs::write(path, data).unwrap();
    }

    fn object(&self, source: &str, object: &str, flags: &[&str]) {
        let source = sources().join(source);
        self.tool("gcc", &[flags, &["-fPIC", "-c", source.to_str().unwrap(), "-o", object]].concat());
    }
}

/// `file:12 (discriminator 3)` → 12; `?` → none.
fn line_number(place: &str) -> Option<u32> {
    let after = place.rsplit_once(':')?.1;
    after.split(' ').next()?.parse().ok().filter(|line| *line != 0)
}
