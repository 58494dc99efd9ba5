//! What file systems are made of: disks, memory, networks.
//!
//! The one idea: the kernel tells their name, in the table of mounts, and their number, by `statfs`. Neither is
//! known of all, and one number stands for everything that goes through user space; so both are looked up, in
//! one table. What is not in it is taken for a disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a file system is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Disks of this machine, or unknown.
    Disk,
    /// Memory of this machine.
    Memory,
    /// Another machine, behind a network or a process in user space.
    Network,
    /// Copies what is written out of the image of a container.
    Layer,
}

/// The number of all that goes through user space.
const FUSE: u32 = 0x6573_5546;
/// Where the number is not known.
const UNKNOWN: u32 = 0;

/// Names, numbers (linux/magic.h and the sources of Lustre, GPFS, BeeGFS, Panasas), and what they are made of.
/// Of entries with one number the first stands for it.
const FILE_SYSTEMS: [(&str, u32, Medium); 34] = [
    ("tmpfs", 0x0102_1994, Medium::Memory),
    ("ramfs", 0x8584_58F6, Medium::Memory),
    ("hugetlbfs", 0x9584_58F6, Medium::Memory),
    ("overlay", 0x794C_7630, Medium::Layer),
    ("aufs", 0x6175_6673, Medium::Layer),
    ("nfs", 0x0000_6969, Medium::Network),
    ("nfs4", 0x0000_6969, Medium::Network),
    ("smbfs", 0x0000_517B, Medium::Network),
    ("cifs", 0xFF53_4D42, Medium::Network),
    ("smb3", 0xFE53_4D42, Medium::Network),
    ("lustre", 0x0BD0_0BD0, Medium::Network),
    ("gpfs", 0x4750_4653, Medium::Network),
    ("beegfs", 0x1983_0326, Medium::Network),
    ("ceph", 0x00C3_6400, Medium::Network),
    ("afs", 0x5346_414F, Medium::Network),
    ("afs", 0x6B41_4653, Medium::Network),
    ("coda", 0x7375_7245, Medium::Network),
    ("9p", 0x0102_1997, Medium::Network),
    ("panfs", 0xAAD7_AAEA, Medium::Network),
    ("gfs2", 0x0116_1970, Medium::Network),
    ("ocfs2", 0x7461_636F, Medium::Network),
    ("orangefs", 0x2003_0528, Medium::Network),
    ("pvfs2", 0x2003_0528, Medium::Network),
    ("ncpfs", 0x0000_564C, Medium::Network),
    ("wekafs", UNKNOWN, Medium::Network),
    ("dvs", UNKNOWN, Medium::Network),
    ("glusterfs", UNKNOWN, Medium::Network),
    // sshfs, GlusterFS, DAOS … Of those in user space the disks are few and known by name.
    ("fuse", FUSE, Medium::Network),
    ("virtiofs", FUSE, Medium::Network),
    ("fuseblk", FUSE, Medium::Disk),
    ("fuse.ntfs-3g", FUSE, Medium::Disk),
    ("fuse.exfat", FUSE, Medium::Disk),
    ("fuse.fuse-overlayfs", FUSE, Medium::Layer),
    ("fuse.overlayfs", FUSE, Medium::Layer),
];

/// What a file system of this name and number is made of, as far as each is known.
pub(crate) fn medium(name: Option<&str>, number: Option<u32>) -> Medium {
    // A name that another number is of is that of what lay there before.
    let agrees = |of_name: u32| number.is_none_or(|number| of_name == UNKNOWN || of_name == number);
    let by_name = FILE_SYSTEMS.iter().find(|(known, of, _)| name == Some(*known) && agrees(*of));
    let number = number.or_else(|| name.is_some_and(|name| name.starts_with("fuse.")).then_some(FUSE));
    let by_number = || FILE_SYSTEMS.iter().find(|(_, of, _)| *of != UNKNOWN && number == Some(*of));
    by_name.or_else(by_number).map_or(Medium::Disk, |(_, _, medium)| *medium)
}

/// The number of the file system that `path` lies on.
pub(crate) fn number(path: &Path) -> Option<u32> {
    let magic = rustix::fs::statfs(path).ok()?.f_type;
    // Some are negative where the field is signed and has 32 bits; these are what counts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "magic numbers have 32 bits")]
    Some(magic as u32)
}

/// The name of the file system that `path` lies on, by a table as in `/proc/self/mountinfo`.
pub(crate) fn name(mounts: &[u8], path: &Path) -> Option<String> {
    let mut best: Option<(usize, String)> = None;
    for line in mounts.split(|&byte| byte == b'\n') {
        // Number, parent, device, root, mount point, options, further fields, a dash, type, source …
        let mut words = line.split(|&byte| byte == b' ');
        let Some(point) = words.nth(4).map(unescape) else { continue };
        let Some(kind) = words.skip_while(|word| *word != b"-").nth(1) else { continue };
        let point = Path::new(OsStr::from_bytes(&point));
        let depth = point.as_os_str().len();
        // What was mounted last covers what was there before.
        if path.starts_with(point) && best.as_ref().is_none_or(|(known, _)| *known <= depth) {
            best = Some((depth, String::from_utf8_lossy(kind).into_owned()));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Space, tab, newline and backslash are written as `\040` and the like.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| byte == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_known_by_name_and_number() {
        use Medium::{Disk, Layer, Memory, Network};
        let cases = [
            (None, Some(0xEF53), Disk),      // ext2, ext3, ext4
            (None, Some(0x5846_5342), Disk), // XFS
            (None, Some(0x9123_683E), Disk), // Btrfs
            (None, Some(0xDEAD_BEEF), Disk), // unknown
            (None, Some(UNKNOWN), Disk),
            (None, None, Disk),
            (Some("ext4"), Some(0xEF53), Disk),
            // The table of mounts is behind.
            (Some("ext4"), Some(0x6969), Network),
            (Some("nfs4"), Some(0xEF53), Disk),
            (Some("overlay"), Some(0x794C_7630), Layer),
            (Some("tmpfs"), Some(0x0102_1994), Memory),
            (Some("nfs4"), Some(0x6969), Network),
            (None, Some(0x0BD0_0BD0), Network),
            (Some("afs"), Some(0x6B41_4653), Network),
            (Some("wekafs"), Some(0x1234_5678), Network),
            (Some("dvs"), Some(0x1234_5678), Network),
            (Some("virtiofs"), Some(FUSE), Network),
            (Some("fuse.sshfs"), Some(FUSE), Network),
            (Some("fuse.sshfs"), None, Network),
            (Some("fuseblk"), Some(FUSE), Disk),
            (Some("fuse.fuse-overlayfs"), Some(FUSE), Layer),
            (None, Some(FUSE), Network),
        ];
        for (name, number, expected) in cases {
            assert_eq!(medium(name, number), expected, "{name:?} {number:x?}");
        }
    }

    #[test]
    fn no_file_system_is_there_twice() {
        for (idx, entry) in FILE_SYSTEMS.iter().enumerate() {
            let is_same = |other: &&(&str, u32, Medium)| (other.0, other.1) == (entry.0, entry.1);
            assert!(!FILE_SYSTEMS[..idx].iter().any(|other| is_same(&other)), "{entry:?}");
        }
    }

    #[test]
    fn the_innermost_and_latest_mount_counts() {
        let mounts = b"1 0 8:1 / / rw - ext4 /dev/a rw\n\
            2 1 0:5 / /home rw shared:3 - nfs4 host:/home rw\n\
            3 1 0:6 / /my\\040disk rw - xfs /dev/b rw\n\
            4 1 0:7 / /tmp rw - ext3 /dev/c rw\n\
            5 1 0:8 / /tmp rw - tmpfs none rw\n\
            broken line\n";
        let cases = [
            ("/x", "ext4"),
            ("/home/u", "nfs4"),
            ("/homes", "ext4"),
            ("/my disk/x", "xfs"),
            ("/tmp", "tmpfs"),
        ];
        for (path, expected) in cases {
            assert_eq!(name(mounts, Path::new(path)).as_deref(), Some(expected), "{path}");
        }
    }
}
