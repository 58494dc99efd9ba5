//! What compilers say of a program, or of records that are given: `remarks PROGRAM [RECORD|DIRECTORY]…`.
#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::path::{Path, PathBuf};

use marey_source::remarks::{RemarkConfig, join, of_module, of_paths};
use marey_source::text::{Sources, TextConfig};
use marey_source::{ModuleRef, SymbolizerConfig};

fn main() {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(program) = args.next() else { return };
    let given: Vec<PathBuf> = args.collect();
    let given = (!given.is_empty()).then(|| of_paths(&given));
    let module = ModuleRef { path: Path::new(&program), build_id: None };
    let found =
        of_module(&module, given.as_deref(), &[], &RemarkConfig::system(), &SymbolizerConfig::system());
    let files: std::collections::BTreeSet<PathBuf> =
        found.rows.iter().map(|row| PathBuf::from(&row.file)).collect();
    let files: Vec<PathBuf> = files.into_iter().filter(|file| file.is_file()).collect();
    let text = Sources::of_files(&files, &TextConfig::system());
    for it in join(&found.rows, &text) {
        println!("{}:{}-{} {} {:?}", it.file, it.first, it.last, it.function, it.outcome);
        for row in it.remarks.iter().map(|number| &found.rows[*number]) {
            println!(
                "    {}:{} {:?} {} [{}] {:?} {:?} lanes {} {}",
                row.line,
                row.column,
                row.kind,
                row.reason,
                row.said.lines().next().unwrap_or(""),
                row.dependence,
                row.arrays,
                row.lanes,
                row.callee
            );
        }
    }
    for problem in found.problems {
        println!("! {problem}");
    }
}
