//! Reads from an ELF file only what symbolisation needs: its identity, the names of its debug files, its
//! debug sections, its symbols.
//!
//! Files are read, not mapped: a program that is rebuilt during a merge would make a mapped file shrink
//! and kill us by SIGBUS. Every size in a file is checked against the file before memory is taken.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use object::read::{CompressedFileRange, CompressionFormat, ReadCache};
use object::{Object, ObjectSection};

use crate::problem::{BuildId, Problem};
use crate::symbols::SymbolTable;

/// What the rest of the crate calls an opened file.
pub(crate) type Parsed<'data> = object::File<'data, &'data ReadCache<Blocks>>;

/// Bytes that are read at a time: a name of a symbol is asked for in pieces of 256.
const BLOCK: usize = 256 << 10;

/// A file that is read block by block.
pub(crate) struct Blocks {
    file: File,
    len: u64,
    at: u64,
    block: Vec<u8>,
    block_at: u64,
}

/// The small facts about a file that decide whether and how it is used.
pub(crate) struct Head {
    /// Its identity, empty when it has none.
    pub(crate) build_id: BuildId,
    /// File name and CRC of its separate debug file (`.gnu_debuglink`).
    pub(crate) debug_link: Option<(PathBuf, u32)>,
    /// Path and build id of the file that holds shared parts of its DWARF (`.gnu_debugaltlink`).
    pub(crate) alt_link: Option<(PathBuf, BuildId)>,
    /// It holds debug information itself.
    pub(crate) has_dwarf: bool,
    /// Its full symbol table; empty when stripped.
    pub(crate) symbols: SymbolTable,
    /// Its dynamic symbol table.
    pub(crate) dynamic_symbols: SymbolTable,
}

/// Reads the head of the file at `path`.
pub(crate) fn read_head(path: &Path) -> Result<Head, Problem> {
    with_elf(path, |elf, _| {
        let damaged = |error| Problem::DamagedElf { path: path.to_owned(), error };
        let text_path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let has_dwarf = elf.section_by_name(".debug_info").is_some_and(|section| section.size() > 0);
        Ok(Head {
            build_id: BuildId(elf.build_id().map_err(damaged)?.unwrap_or_default().to_vec()),
            // A damaged link only costs the separate debug file.
            debug_link: elf.gnu_debuglink().ok().flatten().map(|(name, crc)| (text_path(name), crc)),
            alt_link: (elf.gnu_debugaltlink().ok().flatten())
                .map(|(name, id)| (text_path(name), BuildId(id.to_vec()))),
            has_dwarf,
            symbols: SymbolTable::read(elf.symbols()),
            dynamic_symbols: SymbolTable::read(elf.dynamic_symbols()),
        })
    })
}

/// The debug sections of one file, taken out of it one by one.
pub(crate) struct Sections {
    /// Names and bytes, uncompressed.
    list: Vec<(&'static str, Vec<u8>)>,
    /// Byte order of the file.
    pub(crate) little_endian: bool,
    /// Sum of the sizes in bytes.
    pub(crate) bytes: u64,
}

impl Sections {
    /// Reads the sections `names` of the file at `path`, as far as they exist, at most `limit_bytes`.
    pub(crate) fn read(path: &Path, names: &[&'static str], limit_bytes: u64) -> Result<Self, Problem> {
        with_elf(path, |elf, file| {
            let mut sections = Sections { list: Vec::new(), little_endian: elf.is_little_endian(), bytes: 0 };
            for &name in names {
                let Some(section) = elf.section_by_name(name) else { continue };
                let range = section
                    .compressed_file_range()
                    .map_err(|error| Problem::DamagedElf { path: path.to_owned(), error })?;
                let needed_bytes = sections.bytes.saturating_add(range.uncompressed_size);
                if limit_bytes < needed_bytes {
                    let path = path.to_owned();
                    return Err(Problem::TooLarge { path, needed_bytes, limit_bytes });
                }
                let data = read_range(path, file, &range)?;
                sections.bytes = needed_bytes;
                sections.list.push((name, data));
            }
            Ok(sections)
        })
    }

    /// The section `name`; empty when the file has none.
    pub(crate) fn get(&self, name: &str) -> &[u8] {
        self.list.iter().find(|(known, _)| *known == name).map_or(&[], |(_, data)| data)
    }

    /// Takes the section `name` out; empty when the file has none.
    pub(crate) fn take(&mut self, name: &str) -> Vec<u8> {
        (self.list.iter_mut())
            .find(|(known, _)| *known == name)
            .map(|(_, data)| std::mem::take(data))
            .unwrap_or_default()
    }
}

/// The CRC-32 of the whole file, as `.gnu_debuglink` wants it.
pub(crate) fn file_crc(path: &Path) -> io::Result<u32> {
    let file = open_regular(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut block = vec![0; 1 << 20];
    let mut at = 0;
    loop {
        match file.read_at(&mut block, at)? {
            0 => return Ok(hasher.finalize()),
            n => {
                hasher.update(&block[..n]);
                at += n as u64;
            }
        }
    }
}

pub(crate) fn with_elf<T>(
    path: &Path,
    read: impl FnOnce(&Parsed<'_>, &File) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let unreadable = |error: io::Error| Problem::Unreadable { path: path.to_owned(), kind: error.kind() };
    let file = open_regular(path).map_err(unreadable)?;
    // The cache is for headers and tables; sections are read past it, so that they are held once.
    let cache = ReadCache::new(Blocks::new(file.try_clone().map_err(unreadable)?).map_err(unreadable)?);
    let elf =
        object::File::parse(&cache).map_err(|error| Problem::DamagedElf { path: path.to_owned(), error })?;
    read(&elf, &file)
}

impl Blocks {
    fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len, at: 0, block: Vec::new(), block_at: 0 })
    }
}

impl io::Read for Blocks {
    fn read(&mut self, wanted: &mut [u8]) -> io::Result<usize> {
        let end = self.block_at + self.block.len() as u64;
        if !(self.block_at..end).contains(&self.at) {
            self.block.resize(BLOCK, 0);
            self.block_at = self.at;
            let read = self.file.read_at(&mut self.block, self.at);
            self.block.truncate(*read.as_ref().unwrap_or(&0));
            read?;
        }
        let before = usize::try_from(self.at - self.block_at).unwrap_or(usize::MAX);
        let there = self.block.get(before..).unwrap_or_default();
        let len = there.len().min(wanted.len());
        wanted[..len].copy_from_slice(&there[..len]);
        self.at += len as u64;
        Ok(len)
    }
}

impl io::Seek for Blocks {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let at = match to {
            io::SeekFrom::Start(at) => Some(at),
            io::SeekFrom::End(distance) => self.len.checked_add_signed(distance),
            io::SeekFrom::Current(distance) => self.at.checked_add_signed(distance),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Opens only regular files: a recorded path may meanwhile be a pipe, which would block us forever.
fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

pub(crate) fn read_range(path: &Path, file: &File, range: &CompressedFileRange) -> Result<Vec<u8>, Problem> {
    let unreadable = |error: io::Error| Problem::Unreadable { path: path.to_owned(), kind: error.kind() };
    let end = range.offset.saturating_add(range.compressed_size);
    if file.metadata().map_err(unreadable)?.len() < end {
        return Err(unreadable(io::ErrorKind::UnexpectedEof.into()));
    }
    let size =
        usize::try_from(range.compressed_size).map_err(|_| unreadable(io::ErrorKind::OutOfMemory.into()))?;
    let mut data = vec![0; size];
    file.read_exact_at(&mut data, range.offset).map_err(unreadable)?;
    if range.format == CompressionFormat::None {
        return Ok(data);
    }
    let compressed = object::read::CompressedData {
        format: range.format,
        data: &data,
        uncompressed_size: range.uncompressed_size,
    };
    // The caller has checked the claimed size against its limit.
    let plain =
        compressed.decompress().map_err(|error| Problem::DamagedElf { path: path.to_owned(), error })?;
    Ok(plain.into_owned())
}
