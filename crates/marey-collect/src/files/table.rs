//! Which functions there are, and what their arguments and results mean.
//!
//! The one idea: a row says all that is to be known of a function; the code of the calls is the same for all.

use marey_model::IoKind;

use crate::c_library::functions::Functions;
use crate::c_library::wrapper::{export, export_variadic};

/// What a function acts on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum On {
    /// The descriptor in this argument.
    Fd(u8),
    /// The stream in this argument.
    Stream(u8),
    /// `stdin`.
    Input,
    /// `stdout`.
    Output,
    /// The file of the name in this argument, which it opens.
    Path(u8),
    /// The same, from the directory whose descriptor is the argument before.
    PathAt(u8),
    /// The file of the name in its first argument, by the stream in its third one, which is closed before.
    Again,
    /// The descriptors themselves: it gives a further one for that in its first argument, or closes some.
    Table(Change),
}

/// What a function does to descriptors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Dup,
    /// To the descriptor in its second argument.
    DupTo,
    /// `fcntl`.
    Control,
    CloseRange,
    CloseFrom,
    /// It is a directory's from now on, which `closedir` closes, and nobody sees that.
    Directory,
}

/// What a function returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gives {
    /// An `int`, below 0 on failure.
    Int,
    /// A `long`, below 0 on failure.
    Long,
    /// Null on failure.
    Pointer,
    /// 0, or what went wrong.
    Error,
    /// Nothing that would tell failure.
    Nothing,
}

/// How many bytes have been moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moves {
    Nothing,
    /// As many as it returns.
    Result,
    /// So many times the size in this argument.
    Items(u8),
    /// The text that it returns. (Behind a zero byte in it nobody knows where it ends.)
    Text,
    /// The text in its first argument, and so many bytes more.
    Given(u8),
    /// By how much the place in the stream is another one.
    Scanned,
}

/// Where in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The stream's matter, and not told.
    Hidden,
    /// At the place of the descriptor, which it moves.
    Here,
    /// At what this argument says.
    At(u8),
    /// What it returns is the place from now on.
    Returned,
    /// At the place of the descriptor, unless there is a pointer to another one in this argument; and the same for
    /// the file that is read, with its descriptor and its pointer in the arguments that follow here.
    Both(u8, u8, u8),
}

/// A function.
#[derive(Debug)]
pub(super) struct Row {
    /// Name under which calls are recorded.
    pub(super) verb: &'static str,
    /// What it does to a file; `None` if it only changes descriptors.
    pub(super) kind: Option<IoKind>,
    pub(super) on: On,
    pub(super) gives: Gives,
    pub(super) moves: Moves,
    pub(super) place: Place,
    /// Number of the function that calls are passed on to.
    pub(super) to: usize,
}

macro_rules! functions {
    (
        calls { $($name:ident $verb:literal $kind:ident, $on:expr, $gives:ident, $moves:expr, $place:expr;)* }
        variadic { $($vname:ident $named:tt to $to:ident $vverb:literal $vkind:ident, $von:expr, $vmoves:expr;)* }
        changes { $($cname:ident $change:ident;)* }
    ) => {
        /// Numbers of the functions.
        #[expect(non_camel_case_types, reason = "the names are those of the functions")]
        #[derive(Clone, Copy)]
        #[repr(usize)]
        pub(crate) enum Function { $($name,)* $($vname,)* $($cname,)* }

        const NAMES: &[&str; N] = &[
            $(concat!(stringify!($name), "\0"),)*
            $(concat!(stringify!($vname), "\0"),)*
            $(concat!(stringify!($cname), "\0"),)*
        ];

        const N: usize = [$(stringify!($name),)* $(stringify!($vname),)* $(stringify!($cname),)*].len();

        /// What is known of them.
        pub(super) static FUNCTIONS: [Row; N] = {
            use Moves::*;
            use On::*;
            use Place::*;
            [
                $(Row {
                    verb: $verb,
                    kind: Some(IoKind::$kind),
                    on: $on,
                    gives: Gives::$gives,
                    moves: $moves,
                    place: $place,
                    to: Function::$name as usize,
                },)*
                $(Row {
                    verb: $vverb,
                    kind: Some(IoKind::$vkind),
                    on: $von,
                    // What was read before the end of a file is not told by the result.
                    gives: if matches!($vmoves, Scanned) { Gives::Nothing } else { Gives::Int },
                    moves: $vmoves,
                    place: if matches!($von, Fd(_)) { Here } else { Hidden },
                    to: Function::$to as usize,
                },)*
                $(Row {
                    verb: stringify!($cname),
                    kind: None,
                    on: Table(Change::$change),
                    gives: Gives::Int,
                    moves: Moves::Nothing,
                    place: Hidden,
                    to: Function::$cname as usize,
                },)*
            ]
        };

        export! { files: $($name)* $($cname)* }
        export_variadic! { files: $($vname $named)* }
    };
}

functions! {
    calls {
        read "read" Read, Fd(0), Long, Result, Here;
        __read_chk "read" Read, Fd(0), Long, Result, Here;
        readv "readv" Read, Fd(0), Long, Result, Here;
        pread "pread" Read, Fd(0), Long, Result, At(3);
        pread64 "pread" Read, Fd(0), Long, Result, At(3);
        __pread_chk "pread" Read, Fd(0), Long, Result, At(3);
        __pread64_chk "pread" Read, Fd(0), Long, Result, At(3);
        preadv "preadv" Read, Fd(0), Long, Result, At(3);
        preadv64 "preadv" Read, Fd(0), Long, Result, At(3);
        preadv2 "preadv" Read, Fd(0), Long, Result, At(3);
        preadv64v2 "preadv" Read, Fd(0), Long, Result, At(3);
        write "write" Write, Fd(0), Long, Result, Here;
        writev "writev" Write, Fd(0), Long, Result, Here;
        pwrite "pwrite" Write, Fd(0), Long, Result, At(3);
        pwrite64 "pwrite" Write, Fd(0), Long, Result, At(3);
        pwritev "pwritev" Write, Fd(0), Long, Result, At(3);
        pwritev64 "pwritev" Write, Fd(0), Long, Result, At(3);
        pwritev2 "pwritev" Write, Fd(0), Long, Result, At(3);
        pwritev64v2 "pwritev" Write, Fd(0), Long, Result, At(3);
        // Of the file that these read there is no row: what they move would be summed twice in one call.
        sendfile "sendfile" Write, Fd(0), Long, Result, Both(NO_POINTER, 1, 2);
        sendfile64 "sendfile" Write, Fd(0), Long, Result, Both(NO_POINTER, 1, 2);
        copy_file_range "copy_file_range" Write, Fd(2), Long, Result, Both(3, 0, 1);
        splice "splice" Write, Fd(2), Long, Result, Both(3, 0, 1);
        open "open" Open, Path(0), Int, Nothing, Hidden;
        open64 "open" Open, Path(0), Int, Nothing, Hidden;
        __open_2 "open" Open, Path(0), Int, Nothing, Hidden;
        __open64_2 "open" Open, Path(0), Int, Nothing, Hidden;
        openat "openat" Open, PathAt(1), Int, Nothing, Hidden;
        openat64 "openat" Open, PathAt(1), Int, Nothing, Hidden;
        __openat_2 "openat" Open, PathAt(1), Int, Nothing, Hidden;
        __openat64_2 "openat" Open, PathAt(1), Int, Nothing, Hidden;
        creat "creat" Open, Path(0), Int, Nothing, Hidden;
        creat64 "creat" Open, Path(0), Int, Nothing, Hidden;
        close "close" Close, Fd(0), Int, Nothing, Hidden;
        lseek "lseek" Seek, Fd(0), Long, Nothing, Returned;
        lseek64 "lseek" Seek, Fd(0), Long, Nothing, Returned;
        fsync "fsync" Sync, Fd(0), Int, Nothing, Hidden;
        fdatasync "fdatasync" Sync, Fd(0), Int, Nothing, Hidden;
        sync_file_range "sync_file_range" Sync, Fd(0), Int, Nothing, Hidden;
        ftruncate "ftruncate" Resize, Fd(0), Int, Nothing, Hidden;
        ftruncate64 "ftruncate" Resize, Fd(0), Int, Nothing, Hidden;
        fallocate "fallocate" Resize, Fd(0), Int, Nothing, Hidden;
        fallocate64 "fallocate" Resize, Fd(0), Int, Nothing, Hidden;
        posix_fallocate "posix_fallocate" Resize, Fd(0), Error, Nothing, Hidden;
        posix_fallocate64 "posix_fallocate" Resize, Fd(0), Error, Nothing, Hidden;
        fopen "fopen" Open, Path(0), Pointer, Nothing, Hidden;
        fopen64 "fopen" Open, Path(0), Pointer, Nothing, Hidden;
        freopen "freopen" Open, Again, Pointer, Nothing, Hidden;
        freopen64 "freopen" Open, Again, Pointer, Nothing, Hidden;
        fclose "fclose" Close, Stream(0), Int, Nothing, Hidden;
        fread "fread" Read, Stream(3), Nothing, Items(1), Hidden;
        fread_unlocked "fread" Read, Stream(3), Nothing, Items(1), Hidden;
        __fread_chk "fread" Read, Stream(4), Nothing, Items(2), Hidden;
        __fread_unlocked_chk "fread" Read, Stream(4), Nothing, Items(2), Hidden;
        fgets "fgets" Read, Stream(2), Pointer, Text, Hidden;
        fgets_unlocked "fgets" Read, Stream(2), Pointer, Text, Hidden;
        __fgets_chk "fgets" Read, Stream(3), Pointer, Text, Hidden;
        __fgets_unlocked_chk "fgets" Read, Stream(3), Pointer, Text, Hidden;
        getline "getline" Read, Stream(2), Long, Result, Hidden;
        getdelim "getdelim" Read, Stream(3), Long, Result, Hidden;
        __getdelim "getdelim" Read, Stream(3), Long, Result, Hidden;
        vscanf "vscanf" Read, Input, Nothing, Scanned, Hidden;
        vfscanf "vfscanf" Read, Stream(0), Nothing, Scanned, Hidden;
        __isoc99_vscanf "vscanf" Read, Input, Nothing, Scanned, Hidden;
        __isoc99_vfscanf "vfscanf" Read, Stream(0), Nothing, Scanned, Hidden;
        __isoc23_vscanf "vscanf" Read, Input, Nothing, Scanned, Hidden;
        __isoc23_vfscanf "vfscanf" Read, Stream(0), Nothing, Scanned, Hidden;
        fwrite "fwrite" Write, Stream(3), Nothing, Items(1), Hidden;
        fwrite_unlocked "fwrite" Write, Stream(3), Nothing, Items(1), Hidden;
        fputs "fputs" Write, Stream(1), Int, Given(0), Hidden;
        fputs_unlocked "fputs" Write, Stream(1), Int, Given(0), Hidden;
        puts "puts" Write, Output, Int, Given(1), Hidden;
        vprintf "vprintf" Write, Output, Int, Result, Hidden;
        vfprintf "vfprintf" Write, Stream(0), Int, Result, Hidden;
        vdprintf "vdprintf" Write, Fd(0), Int, Result, Here;
        __vprintf_chk "vprintf" Write, Output, Int, Result, Hidden;
        __vfprintf_chk "vfprintf" Write, Stream(0), Int, Result, Hidden;
        __vdprintf_chk "vdprintf" Write, Fd(0), Int, Result, Here;
        fflush "fflush" Sync, Stream(0), Int, Nothing, Hidden;
        fflush_unlocked "fflush" Sync, Stream(0), Int, Nothing, Hidden;
        fseek "fseek" Seek, Stream(0), Int, Nothing, Hidden;
        fseeko "fseek" Seek, Stream(0), Int, Nothing, Hidden;
        fseeko64 "fseek" Seek, Stream(0), Int, Nothing, Hidden;
        rewind "rewind" Seek, Stream(0), Nothing, Nothing, Hidden;
        fsetpos "fsetpos" Seek, Stream(0), Int, Nothing, Hidden;
        fsetpos64 "fsetpos" Seek, Stream(0), Int, Nothing, Hidden;
    }
    variadic {
        printf 1 to vprintf "printf" Write, Output, Result;
        fprintf 2 to vfprintf "fprintf" Write, Stream(0), Result;
        dprintf 2 to vdprintf "dprintf" Write, Fd(0), Result;
        __printf_chk 2 to __vprintf_chk "printf" Write, Output, Result;
        __fprintf_chk 3 to __vfprintf_chk "fprintf" Write, Stream(0), Result;
        __dprintf_chk 3 to __vdprintf_chk "dprintf" Write, Fd(0), Result;
        scanf 1 to vscanf "scanf" Read, Input, Scanned;
        fscanf 2 to vfscanf "fscanf" Read, Stream(0), Scanned;
        __isoc99_scanf 1 to __isoc99_vscanf "scanf" Read, Input, Scanned;
        __isoc99_fscanf 2 to __isoc99_vfscanf "fscanf" Read, Stream(0), Scanned;
        __isoc23_scanf 1 to __isoc23_vscanf "scanf" Read, Input, Scanned;
        __isoc23_fscanf 2 to __isoc23_vfscanf "fscanf" Read, Stream(0), Scanned;
    }
    changes {
        dup Dup;
        dup2 DupTo;
        dup3 DupTo;
        fcntl Control;
        fcntl64 Control;
        close_range CloseRange;
        closefrom CloseFrom;
        fdopendir Directory;
    }
}

/// An argument that no function has.
pub(super) const NO_POINTER: u8 = u8::MAX;

/// The table that the instructions of [`crate::c_library::wrapper`] look at.
pub(crate) type Calls = Functions<N>;
pub(crate) static CALLS: Calls = Functions::new(NAMES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analysis_knows_what_each_function_does() {
        for row in &FUNCTIONS {
            assert_eq!(IoKind::of_function(row.verb), row.kind, "{}", row.verb);
            assert!(row.kind.is_some_and(IoKind::moves) == (row.moves != Moves::Nothing), "{}", row.verb);
        }
    }
}
