//! Calls on files: what each does, by its name.
//!
//! The one idea: what a call does to a file is one of a few things. The recorder, which writes it with each call, and
//! analysis, which has only the names where calls were added up, both take it from here.
//!
//! Deliberately absent: what is no call on an open file, such as removing one or asking for its size.

/// What a call does to a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum IoKind {
    /// Bytes go from the file to memory.
    Read = 0,
    /// Bytes go from memory to the file, or from another file.
    Write = 1,
    /// It is opened.
    Open = 2,
    /// It is closed.
    Close = 3,
    /// The place in it is set at which is read or written next.
    Seek = 4,
    /// What was written is to leave a buffer or the memory.
    Sync = 5,
    /// It becomes longer or shorter, or gets room.
    Resize = 6,
}

impl IoKind {
    /// All kinds in the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Write, Self::Open, Self::Close, Self::Seek, Self::Sync, Self::Resize];

    /// The kind that a byte of a spool stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The name used in the archive.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Open => "open",
            Self::Close => "close",
            Self::Seek => "seek",
            Self::Sync => "sync",
            Self::Resize => "resize",
        }
    }

    /// Whether bytes are moved: of all other kinds the number says nothing.
    pub const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }

    /// What the function of this name does to a file; `None` if it is none that acts on one.
    pub fn of_function(name: &str) -> Option<Self> {
        let mpi = name.strip_prefix("MPI_File_");
        let known = |(names, kind): &(&[&str], Self)| names.contains(&mpi.unwrap_or(name)).then_some(*kind);
        if let Some(name) = mpi {
            let name = name.strip_prefix('i').unwrap_or(name);
            for kind in [Self::Read, Self::Write, Self::Seek] {
                if name.starts_with(kind.name()) {
                    return Some(kind);
                }
            }
            return OF_MPI.iter().find_map(known);
        }
        FUNCTIONS.iter().find_map(known)
    }
}

/// Names under which calls of the C library are recorded.
const FUNCTIONS: [(&[&str], IoKind); 7] = [
    (&["open", "openat", "creat", "fopen", "freopen"], IoKind::Open),
    (&["close", "fclose"], IoKind::Close),
    (
        &[
            "read", "readv", "pread", "preadv", "fread", "fgets", "getline", "getdelim", "scanf", "fscanf",
            "vscanf", "vfscanf",
        ],
        IoKind::Read,
    ),
    (
        &[
            "write",
            "writev",
            "pwrite",
            "pwritev",
            "sendfile",
            "copy_file_range",
            "splice",
            "fwrite",
            "fputs",
            "puts",
            "printf",
            "fprintf",
            "dprintf",
            "vprintf",
            "vfprintf",
            "vdprintf",
        ],
        IoKind::Write,
    ),
    (&["lseek", "fseek", "rewind", "fsetpos"], IoKind::Seek),
    (&["fsync", "fdatasync", "sync_file_range", "fflush"], IoKind::Sync),
    (&["ftruncate", "fallocate", "posix_fallocate"], IoKind::Resize),
];

/// Those of MPI, behind their prefix, that do not begin with what they do.
const OF_MPI: [(&[&str], IoKind); 4] = [
    (&["open"], IoKind::Open),
    (&["close"], IoKind::Close),
    (&["sync"], IoKind::Sync),
    (&["set_size", "preallocate"], IoKind::Resize),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_do_what_their_names_say() {
        let cases = [
            ("pread", Some(IoKind::Read)),
            ("fprintf", Some(IoKind::Write)),
            ("MPI_File_iwrite_at_all", Some(IoKind::Write)),
            ("MPI_File_read_ordered_begin", Some(IoKind::Read)),
            ("MPI_File_seek_shared", Some(IoKind::Seek)),
            ("MPI_File_open", Some(IoKind::Open)),
            ("MPI_File_set_view", None),
            ("MPI_Send", None),
            ("pthread_create", None),
        ];
        for (name, expected) in cases {
            assert_eq!(IoKind::of_function(name), expected, "{name}");
        }
        for (code, kind) in (0..).zip(IoKind::ALL) {
            assert_eq!((kind as u8, IoKind::from_code(code)), (code, Some(kind)));
        }
    }
}
