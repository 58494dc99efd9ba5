//! What stands behind the pages of a file.
//!
//! The one idea: pages have checksums of their own, but bounds of pages, where they lie and the footer have none. All of these
//! stand in one piece at the end, of which `meta.json` has the checksum.

use std::io::{self, Read};

use serde::{Deserialize, Serialize};

/// The end of a file behind its last page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tail {
    /// How long it is; 0 = nobody has looked, as in archives of older versions.
    pub bytes: u64,
    /// CRC-32 of it, as ZIP has it.
    pub crc32: u32,
}

impl Tail {
    /// Of the rest of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn of(mut rest: impl Read) -> io::Result<Self> {
        let mut hash = crc32fast::Hasher::new();
        let mut buffer = vec![0; 64 << 10];
        let mut bytes = 0;
        loop {
            match rest.read(&mut buffer) {
                Ok(0) => return Ok(Self { bytes, crc32: hash.finalize() }),
                Ok(read) => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
