//! The anchor file of an archive: what kind of archive it is, and how large its chunks are.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::chunks::MOST_CHUNK;
use crate::Error;
use crate::bytes::{Bytes, Order};

/// What the anchor says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Anchor {
    pub event_chunk: u64,
    pub definition_chunk: u64,
    pub n_locations: u64,
    /// What has recorded it, name and version.
    pub creator: String,
    /// What stands behind that, and says nothing that is needed, is there up to its end.
    pub is_whole: bool,
}

/// Bytes of an anchor file that are read: its properties can be many, but not that many.
const MOST: u64 = 16 << 20;
/// What stands at the end.
const END: u8 = 2;
/// What compression and substrate are called.
const COMPRESSED: u8 = 2;
const SION: u8 = 2;

/// Reads an anchor file.
pub(super) fn read(path: &Path) -> Result<Anchor, Error> {
    let cannot = |source| Error::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).map_err(cannot)?.take(MOST + 1).read_to_end(&mut bytes).map_err(cannot)?;
    let unreadable =
        |what: String| Error::Unreadable { path: path.to_owned(), format: "an OTF2 anchor file", what };
    if MOST < bytes.len() as u64 {
        return Err(unreadable(format!("it has more than {MOST} bytes, which no anchor has")));
    }
    let (anchor, substrate, compression) =
        parse(&bytes).ok_or_else(|| unreadable(format!("it ends after {} bytes, too early", bytes.len())))?;
    if compression == COMPRESSED {
        return Err(unreadable("its files are compressed, which no version of OTF2 reads".to_owned()));
    }
    if substrate == SION {
        let help = "its events lie in SIONlib containers; unpack them with `sionsplit` first";
        return Err(unreadable(help.to_owned()));
    }
    let chunks = [anchor.event_chunk, anchor.definition_chunk];
    if let Some(wrong) = chunks.iter().find(|chunk| !(64..=MOST_CHUNK).contains(*chunk)) {
        return Err(unreadable(format!(
            "it says that chunks have {wrong} bytes; 64 to {MOST_CHUNK} are possible"
        )));
    }
    Ok(anchor)
}

fn parse(bytes: &[u8]) -> Option<(Anchor, u8, u8)> {
    let order = if bytes.get(1) == Some(&0x23) { Order::Big } else { Order::Little };
    let mut bytes = Bytes::new(bytes, order);
    bytes.take(2)?;
    bytes.text()?;
    let format = bytes.u8()?;
    // The format of the trace, and three numbers of the version.
    bytes.take(4)?;
    let (event_chunk, definition_chunk) = (bytes.u64()?, bytes.u64()?);
    let (substrate, compression) = (bytes.u8()?, bytes.u8()?);
    let (n_locations, _) = (bytes.u64()?, bytes.u64()?);
    // Between the machine and a description.
    let (_, creator, _) = (bytes.text()?, bytes.text()?, bytes.text()?);
    let is_whole = rest(&mut bytes, format).is_some();
    let anchor = Anchor { event_chunk, definition_chunk, n_locations, creator, is_whole };
    Some((anchor, substrate, compression))
}

/// Properties, the number of the trace, and how many snapshots and thumbnails there are.
fn rest(bytes: &mut Bytes<'_>, format: u8) -> Option<()> {
    if format > 1 {
        for _ in 0..bytes.u32()? {
            let _ = (bytes.text()?, bytes.text()?);
        }
        bytes.u64()?;
    }
    if format > 2 {
        bytes.take(8)?;
    }
    (bytes.u8()? == END).then_some(())
}
