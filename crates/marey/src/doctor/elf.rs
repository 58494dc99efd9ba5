//! What the headers and symbols of an executable or library say about measuring it.
//!
//! The one idea: only what decides something is read, and by name: whether a file has an MPI
//! library in it, or asks another for functions of MPI. Which call stands where is the matter of
//! `marey-source`.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::elf::{EM_X86_64, FileHeader64, PT_NOTE, SHN_UNDEF, SHT_DYNSYM, SHT_SYMTAB, Sym64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, FileKind, ReadCache, ReadRef};

/// What a file is.
#[derive(Debug)]
pub(super) enum Kind {
    /// An executable or a library for this kind of machine.
    Elf(Box<Elf>),
    /// One for another: what for.
    Foreign(String),
    /// A script, with the line that names its interpreter.
    Script(Option<String>),
    /// Neither.
    Other,
}

/// Facts of an ELF file.
#[derive(Debug, Default)]
pub(super) struct Elf {
    /// The dynamic loader that it asks for; without one it is linked statically.
    pub(super) loader: Option<PathBuf>,
    /// The recorder is linked into it; with which version of its interface.
    pub(super) recorder: Option<u32>,
    /// It is an MPI library, or has one in it.
    pub(super) defines_mpi: bool,
    /// It has what only Open MPI has.
    pub(super) defines_open_mpi: bool,
    /// The version of the MPI library that it is; empty if it does not say.
    pub(super) mpi_version: String,
    /// It asks another library for functions of MPI.
    pub(super) calls_mpi: bool,
    /// It has the library of coarrays of Fortran in it.
    pub(super) defines_coarrays: bool,
    /// And stubs of ours in front of it.
    pub(super) has_coarray_stubs: bool,
    /// It asks another library for its coarrays.
    pub(super) calls_coarrays: bool,
    /// It has the table of all symbols.
    pub(super) has_symbols: bool,
    /// Where the version of the MPI library is written.
    version_at: Option<u64>,
    /// Where its `main` is, that of Fortran included, if its symbols tell.
    pub(super) main: Option<u64>,
    /// Addresses of its code.
    pub(super) code: Range<u64>,
}

/// Reads the beginning of a file, and the rest as far as needed.
pub(super) fn read(path: &Path) -> std::io::Result<Kind> {
    let file = File::open(path)?;
    let data = ReadCache::new(file);
    let data = &data;
    // Files may be shorter than any header.
    let begin = data.read_bytes_at(0, data.len().unwrap_or(0).min(4096)).unwrap_or_default();
    if let Some(rest) = begin.strip_prefix(b"#!") {
        let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
        return Ok(Kind::Script(Some(String::from_utf8_lossy(line).trim().to_owned())));
    }
    Ok(match FileKind::parse(data) {
        Ok(FileKind::Elf64) => match facts(data) {
            Ok(kind) => kind,
            Err(error) => Kind::Foreign(format!("a damaged ELF file ({error})")),
        },
        Ok(FileKind::Elf32) => Kind::Foreign("a program of 32 bits".to_owned()),
        Ok(_) => Kind::Foreign("a program for another system".to_owned()),
        // As shells do: what begins with text is theirs.
        Err(_) if !begin.is_empty() && !begin.contains(&0) => Kind::Script(None),
        Err(_) => Kind::Other,
    })
}

fn facts<'data>(data: &'data ReadCache<File>) -> object::Result<Kind> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let machine = header.e_machine(endian);
    if machine != EM_X86_64 {
        return Ok(Kind::Foreign(format!(
            "a program for processors of another kind (ELF machine {machine:?})"
        )));
    }
    let mut elf = Elf::default();
    for segment in header.program_headers(endian, data)? {
        if let Some(path) = segment.interpreter(endian, data)? {
            elf.loader = Some(PathBuf::from(OsStr::from_bytes(path)));
        }
        if segment.p_type(endian) == PT_NOTE
            && let Ok(notes) = segment.data(endian, data)
        {
            elf.recorder = elf.recorder.or_else(|| recorder(notes));
        }
    }
    let sections = header.sections(endian, data)?;
    if let Some((_, code)) = sections.section_by_name(endian, b".text") {
        elf.code = code.sh_addr(endian)..code.sh_addr(endian).saturating_add(code.sh_size(endian));
    }
    for kind in [SHT_DYNSYM, SHT_SYMTAB] {
        let symbols = sections.symbols(endian, data, kind)?;
        if symbols.is_empty() {
            continue;
        }
        elf.has_symbols |= kind == SHT_SYMTAB;
        // All names at once: one by one they would be two system calls each.
        let names: &'data [u8] = sections.section(symbols.string_section())?.data(endian, data)?;
        symbols.iter().for_each(|symbol| elf.look_at(symbol, endian, names));
    }
    // What is not loaded has no address.
    for section in sections.iter().filter(|section| section.sh_addr(endian) != 0) {
        let place = elf.version_at.and_then(|at| at.checked_sub(section.sh_addr(endian)));
        if let Some(place) = place.filter(|&place| place < section.sh_size(endian)) {
            let text =
                usize::try_from(place).ok().and_then(|place| section.data(endian, data).ok()?.get(place..));
            elf.mpi_version = version(text.unwrap_or_default());
        }
    }
    Ok(Kind::Elf(Box::new(elf)))
}

/// The version that the recorder's note says (`crates/marey-collect/src/linked.rs`), if it is among these.
/// The linker puts notes one behind the other, whoever they are of.
fn recorder(notes: &[u8]) -> Option<u32> {
    // Length of the name and of the content, kind, name.
    const BEGIN: &[u8] = b"\x06\0\0\0\x04\0\0\0\x01\0\0\0marey\0\0\0";
    let at = notes.windows(BEGIN.len()).position(|window| window == BEGIN)?;
    let content = notes.get(at + BEGIN.len()..at + BEGIN.len() + 4)?;
    Some(u32::from_le_bytes(content.try_into().ok()?))
}

/// A text that ends with a zero byte, if it can be a version.
fn version(text: &[u8]) -> String {
    const LONGEST: usize = 24;
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let is_version = text.len() <= LONGEST && text.first().is_some_and(u8::is_ascii_digit);
    String::from_utf8(text.to_vec()).ok().filter(|_| is_version).unwrap_or_default()
}

/// What every program with coarrays calls.
const COARRAYS: &[u8] = b"_gfortran_caf_register";

impl Elf {
    fn look_at(&mut self, symbol: &Sym64<Endianness>, endian: Endianness, names: &[u8]) {
        let name = names.get(symbol.st_name(endian) as usize..).unwrap_or_default();
        let is_defined = symbol.st_shndx(endian) != SHN_UNDEF;
        let has_name = |wanted: &[u8]| name.strip_prefix(wanted).is_some_and(|rest| rest.first() == Some(&0));
        if is_defined {
            const VERSIONS: [&[u8]; 3] =
                [b"ompi_version_string", b"MPII_Version_string", b"MPIR_Version_string"];
            if VERSIONS.iter().any(|wanted| has_name(wanted)) {
                self.version_at = Some(symbol.st_value(endian));
            }
            if has_name(b"main") || has_name(b"MAIN__") {
                self.main = Some(symbol.st_value(endian));
            }
            // Not `MPI_Init`: tools and programs with wrappers of their own define that too.
            self.defines_mpi |= has_name(b"PMPI_Init");
            // A function: objects like `ompi_mpi_comm_world` are copied into executables.
            self.defines_open_mpi |= has_name(b"ompi_mpi_init");
            self.defines_coarrays |= has_name(COARRAYS);
            self.has_coarray_stubs |= has_name(marey_model::COARRAY_STUBS.to_bytes());
        } else {
            // Fortran's names are small letters.
            self.calls_coarrays |= has_name(COARRAYS);
            self.calls_mpi |= [&b"MPI_"[..], b"PMPI_", b"mpi_"].iter().any(|begin| name.starts_with(begin));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::embedded;

    /// A library of ours with one byte of its headers changed, or cut off.
    #[test]
    fn damaged_files_are_told_and_never_believed() {
        let whole = embedded::LIBRARY;
        let place = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(place.path(), whole).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
        assert!(matches!(read(place.path()).unwrap(), Kind::Elf(elf) if elf.calls_mpi || elf.defines_mpi));
        let sections_at = u64::from_le_bytes(whole[40..48].try_into().unwrap());
        let length = whole.len() as u64;
        let header = 0..600;
        let mut changed = 0;
        for at in header.chain(sections_at..length).step_by(5) {
            let before = whole[usize::try_from(at).unwrap()];
            file.write_all_at(&[before ^ 0xff], at).unwrap();
            // What it says does not matter; that it says something does.
            read(place.path()).unwrap();
            file.write_all_at(&[before], at).unwrap();
            changed += 1;
        }
        assert!(200 < changed);
        for len in [0, 3, 10, 63, 64, 100, 1000, length / 2, length - 1] {
            file.set_len(len).unwrap();
            let is_whole = matches!(read(place.path()).unwrap(), Kind::Elf(elf) if elf.has_symbols);
            assert!(!is_whole, "{len}");
        }
    }
}
