//! Traces of other tools as inputs: one file, or an OTF2 archive of one location.
//!
//! The one idea: the first byte says which of the two it is, so that the fuzzer need not find out what an archive consists of.

use std::io;
use std::path::{Path, PathBuf};

/// Stands before a single file.
const FILE: u8 = 0;
/// Stands before the definitions of an archive, its location's own, and its events.
const ARCHIVE: u8 = 1;

/// A trace of another tool.
pub struct Foreign;

impl Foreign {
    /// The input that is this file.
    pub fn of_file(content: &[u8]) -> Vec<u8> {
        [&[FILE], content].concat()
    }

    /// The input that is an archive of these files.
    pub fn of_archive(parts: [&[u8]; 3]) -> Vec<u8> {
        crate::join(ARCHIVE, parts)
    }

    /// Writes the files of an input into a directory; what is to be imported.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(bytes: &[u8], dir: &Path) -> io::Result<Option<PathBuf>> {
        let (path, archive) = (dir.join("input"), dir.join("traces"));
        match bytes.split_first() {
            Some((&FILE, content)) => std::fs::write(&path, content)?,
            Some((&ARCHIVE, _)) => {
                let Some((_, [global, own, events])) = crate::take_apart(bytes) else { return Ok(None) };
                std::fs::create_dir(&archive)?;
                std::fs::write(dir.join("traces.def"), global)?;
                std::fs::write(archive.join("0.def"), own)?;
                std::fs::write(archive.join("0.evt"), events)?;
                let path = dir.join("traces.otf2");
                std::fs::write(&path, anchor())?;
                return Ok(Some(path));
            }
            _ => return Ok(None),
        }
        Ok(Some(path))
    }
}

/// The first file of an archive, with the smallest chunks that there are.
fn anchor() -> Vec<u8> {
    let mut bytes = vec![3, 0x42];
    bytes.extend(b"OTF2\0\x03\x03\x03\0\x02");
    for chunk in [1_u64 << 18, 1 << 18] {
        bytes.extend(chunk.to_le_bytes());
    }
    bytes.extend([1, 1]);
    for number in [1_u64, 10] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(b"\0\0\0");
    bytes.extend([0; 20]);
    bytes.push(2);
    bytes
}
