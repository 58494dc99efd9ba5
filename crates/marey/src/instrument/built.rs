//! What tools have made among sources, by what is in it.
//!
//! The one idea: a name says little, `.obj` is a model and `.mod` a mechanism of neurons elsewhere; the first bytes say who
//! wrote a file. What names the directory that it was made in would build the original.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Endings of what compilers leave beside sources.
const OBJECTS: [&str; 9] = ["o", "lo", "obj", "gch", "pch", "gcda", "gcno", "mod", "smod"];

/// With what such files begin: ELF, code of LLVM, COFF, libtool, headers of GCC and Clang, counts of gcov, modules of
/// Fortran (packed, old, LLVM's).
const BEGINNINGS: [&[u8]; 13] = [
    b"\x7fELF",
    b"BC\xc0\xde",
    b"\xde\xc0\x17\x0b",
    b"\x64\x86",
    b"\x4c\x01",
    b"# ",
    b"gpch",
    b"CPCH",
    b"adcg",
    b"oncg",
    b"\x1f\x8b",
    b"GFORTRAN module",
    b"!mod$",
];

/// Files of builds in which the directory of the sources may stand.
const BUILDS: [&str; 7] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "build.ninja",
    "cmake_install.cmake",
    "CTestTestfile.cmake",
    "config.status",
];

/// More than files of builds have.
const MOST_BYTES: u64 = 16 << 20;

/// What a file of a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Build {
    /// Made by CMake, which makes it again.
    OfCmake,
    /// It has the directory of the sources in it.
    NamesRoot,
}

/// Whether a compiler has made a file.
pub(super) fn is_object(path: &Path) -> bool {
    let is_named = path.extension().is_some_and(|it| OBJECTS.iter().any(|object| it == *object));
    if !is_named {
        return false;
    }
    let start = start_of(path, 256);
    let is_libtool = start.windows(21).any(|it| it == b"a libtool object file");
    BEGINNINGS.iter().any(|it| start.starts_with(it) && (*it != b"# " || is_libtool))
}

/// What a file is that says how to build, if that is to be known.
pub(super) fn build(path: &Path, root: &Path) -> Option<Build> {
    let name = path.file_name()?;
    if name == "CMakeCache.txt" {
        return Some(Build::OfCmake);
    }
    let is_build = BUILDS.iter().any(|it| name == *it) || path.extension().is_some_and(|it| it == "mk");
    if !is_build {
        return None;
    }
    let text = start_of(path, MOST_BYTES);
    let top = &text[..text.len().min(512)];
    let has = |text: &[u8], word: &[u8]| text.windows(word.len()).any(|it| it == word);
    if has(top, b"CMAKE generated file")
        || has(top, b"# Install script for directory:")
        || has(top, b"# CMake generated")
    {
        return Some(Build::OfCmake);
    }
    let root = root.as_os_str().as_encoded_bytes();
    (root.len() > 1 && has(&text, root)).then_some(Build::NamesRoot)
}

/// The beginning of a file; nothing if it cannot be read, which is told when it is copied.
fn start_of(path: &Path, most: u64) -> Vec<u8> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut start));
    read.map_or_else(|_| Vec::new(), |_| start)
}
