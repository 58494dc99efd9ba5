//! What is in a packed file that lies in memory.
//!
//! The one idea: of the ZIP format only that is read which `crate::pack` writes: entries stored as they are, fewer than 2¹⁶ of
//! them, in less than 4 GiB. So a browser needs no more than this.
//!
//! What is deliberately absent: packed files on a disk, which may be larger and made by others; a library reads these.

use std::collections::BTreeMap;

/// Where the entries lie: start and length of each. `None` = this is no such file.
pub(super) fn listing(bytes: &[u8]) -> Option<BTreeMap<Box<str>, (u64, u64)>> {
    const END: usize = 22;
    let end = bytes.get(bytes.len().checked_sub(END)?..)?;
    let number = u16_at(end, 10)?;
    let mut at = u32_at(end, 16)? as usize;
    if !end.starts_with(b"PK\x05\x06") || number == u16::MAX {
        return None;
    }
    let mut entries = BTreeMap::new();
    for _ in 0..number {
        let head = bytes.get(at..)?;
        let (name, more, remark) = (u16_at(head, 28)?, u16_at(head, 30)?, u16_at(head, 32)?);
        let (method, length, place) = (u16_at(head, 10)?, u32_at(head, 24)?, u32_at(head, 42)?);
        let behind = 46 + usize::from(name);
        let text = std::str::from_utf8(head.get(46..behind)?).ok()?;
        // Before its bytes an entry says once more what it is, perhaps at another length.
        let local = bytes.get(place as usize..)?;
        let start = place as usize + 30 + usize::from(u16_at(local, 26)?) + usize::from(u16_at(local, 28)?);
        bytes.get(start..start.checked_add(length as usize)?)?;
        if !head.starts_with(b"PK\x01\x02") || !local.starts_with(b"PK\x03\x04") || method != 0 {
            return None;
        }
        entries.insert(text.into(), (start as u64, u64::from(length)));
        at += behind + usize::from(more) + usize::from(remark);
    }
    Some(entries)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
