//! System calls by hand.
//!
//! The C library's wrappers are not used where a measured program could notice: they set `errno`,
//! are points where `pthread_cancel` strikes, and can be interposed — by ourselves among others.

#![expect(
    clippy::cast_possible_truncation,
    reason = "the kernel's words are as wide as pointers; ids and error numbers are small"
)]

pub use crate::undisturbed::undisturbed;

use core::ffi::{CStr, c_long};
use core::sync::atomic::{AtomicU64, Ordering};

/// What memory and files are handed out in.
pub const PAGE: usize = 4096;

/// Bytes of a file that are reserved at a time. The kernel keeps them together in its cache; of larger
/// pieces each page that is touched was seen to cost more again.
const PIECE: usize = 64 << 10;

/// Calls that the recorder may not make any more, a bit each.
static REFRAINED: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];

/// From now on [`syscall`] refuses a call with EPERM, because it would end the process.
pub fn refrain(number: c_long) {
    if let Some(word) = REFRAINED.get(number as usize / 64) {
        word.fetch_or(1 << (number % 64), Ordering::Relaxed);
    }
}

/// Whether that was said of `number`.
pub fn is_refrained(number: c_long) -> bool {
    let word = REFRAINED.get(number as usize / 64).map_or(0, |word| word.load(Ordering::Relaxed));
    word >> (number % 64) & 1 != 0
}

/// Calls the kernel for the recorder. Returns what it returns: −errno on failure.
///
/// # Safety
/// The arguments must be what the system call `number` asks for.
pub unsafe fn syscall(number: c_long, args: [usize; 6]) -> isize {
    if is_refrained(number) {
        return -(libc::EPERM as isize);
    }
    // SAFETY: the caller's promise.
    unsafe { pass_on(number, args) }
}

/// Calls the kernel for the program. Returns what it returns: −errno on failure.
///
/// # Safety
/// The arguments must be what the system call `number` asks for.
#[cfg(target_arch = "x86_64")]
pub unsafe fn pass_on(number: c_long, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rcx and r11 only; what the call does is the caller's promise.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack)
        );
    }
    result
}

/// Calls the kernel. Returns what it returns: −errno on failure.
///
/// # Safety
/// The arguments must be what the system call `number` asks for.
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn pass_on(number: c_long, args: [usize; 6]) -> isize {
    // SAFETY: the caller's promise; errno is restored below.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = libc::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]);
        let failed = *errno;
        *errno = before;
        if result < 0 { -(failed as isize) } else { result as isize }
    }
}

/// How often memory has been unmapped.
///
/// What one thread gives back may be what another gets next. The kernel keeps the two apart, but
/// nothing in the language says so; a release here before and an acquire after does.
static UNMAPPED: AtomicU64 = AtomicU64::new(0);

/// Maps `len` bytes of zeros, private to the process.
pub fn map_zeros(len: usize) -> Option<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    map(len, flags, usize::MAX, 0)
}

fn map(len: usize, flags: i32, fd: usize, offset: u64) -> Option<*mut u8> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
    let at = unsafe { syscall(libc::SYS_mmap, [0, len, protection, flags as usize, fd, offset as usize]) };
    UNMAPPED.load(Ordering::Acquire);
    // The kernel's failures are -4095 to -1.
    (!(-4095..=0).contains(&at)).then_some(at as *mut u8)
}

/// Makes a mapping arrive empty in a forked child. Without kernel support (before Linux 4.14) a
/// child would inherit the parent's; the caller then has to do without.
pub fn wipe_on_fork(at: *mut u8, len: usize) -> bool {
    // SAFETY: advice about our own mapping.
    unsafe { syscall(libc::SYS_madvise, [at as usize, len, libc::MADV_WIPEONFORK as usize, 0, 0, 0]) == 0 }
}

/// Fills a mapping with zeros that would else come page by page, each by a fault. Kernels before Linux
/// 5.14 leave it as it was.
pub(crate) fn populate(at: *mut u8, len: usize) {
    // SAFETY: advice about our own mapping, whose content stays.
    unsafe { syscall(libc::SYS_madvise, [at as usize, len, libc::MADV_POPULATE_WRITE as usize, 0, 0, 0]) };
}

/// Gives the memory of a private mapping back; it reads as zeros afterwards.
///
/// # Safety
/// Nothing may rely on the mapping's content any more.
pub unsafe fn discard(at: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_madvise, [at as usize, len, libc::MADV_DONTNEED as usize, 0, 0, 0]) };
}

/// Gives the disk space of whole pages of a shared mapping of a file back; they read as zeros afterwards.
/// Where the file system cannot, nothing happens.
///
/// # Safety
/// Nothing may be written there any more: there may be no space left for it.
pub unsafe fn give_back(at: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_madvise, [at as usize, len, libc::MADV_REMOVE as usize, 0, 0, 0]) };
}

/// Unmaps.
///
/// # Safety
/// Nothing may use the mapping any more.
pub unsafe fn unmap(at: *mut u8, len: usize) {
    UNMAPPED.fetch_add(1, Ordering::Release);
    // SAFETY: the caller's promise.
    unsafe { syscall(libc::SYS_munmap, [at as usize, len, 0, 0, 0, 0]) };
}

/// A file that is open for the length of a scope.
pub struct File(usize);

impl File {
    /// Opens for reading and writing; with `create`, makes a new file of mode 0600 and refuses one
    /// that exists. Never follows a symbolic link at the end of the path.
    pub fn open(path: &CStr, create: bool) -> Option<Self> {
        let mut flags = libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        if create {
            flags |= libc::O_CREAT | libc::O_EXCL;
        }
        // SAFETY: `path` ends with a zero byte.
        let fd = unsafe {
            syscall(
                libc::SYS_openat,
                [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags as usize, 0o600, 0, 0],
            )
        };
        usize::try_from(fd).ok().map(Self)
    }

    fn open_to_read(path: &CStr) -> Option<Self> {
        let (at, flags) = (path.as_ptr() as usize, libc::O_RDONLY | libc::O_CLOEXEC);
        // SAFETY: `path` ends with a zero byte.
        let fd = unsafe { syscall(libc::SYS_openat, [libc::AT_FDCWD as usize, at, flags as usize, 0, 0, 0]) };
        usize::try_from(fd).ok().map(Self)
    }

    /// Removes a file.
    pub fn remove(path: &CStr) {
        // SAFETY: `path` ends with a zero byte.
        unsafe { syscall(libc::SYS_unlinkat, [libc::AT_FDCWD as usize, path.as_ptr() as usize, 0, 0, 0, 0]) };
    }

    /// Reserves `len` bytes of zeros at `offset`, so that writing to them cannot fail later: a full disk
    /// would arrive as SIGBUS in the middle of the program. Nothing is tried beyond the size that
    /// the process's files may have, for the kernel answers that with SIGXFSZ.
    ///
    /// Zeros are written, not space merely reserved: pages that are in the kernel's cache already, and in
    /// pieces of many pages, cost a third of what it takes to make them one by one when they are touched.
    pub fn reserve(&self, offset: u64, len: usize) -> bool {
        if offset.saturating_add(len as u64) > largest_file() {
            return false;
        }
        let mut done = 0;
        while done < len {
            match self.write_zeros(offset + done as u64, len - done) {
                written @ 1.. => done += written as usize,
                failed if failed as i32 == -libc::EINTR => {}
                _ => {
                    self.take_back(offset, done);
                    return false;
                }
            }
        }
        true
    }

    /// Gives back what a window that did not fit has taken from a disk that is full: smaller windows, the
    /// definitions and the program's own files may still fit.
    #[cold]
    fn take_back(&self, offset: u64, len: usize) {
        if len != 0 {
            let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            // SAFETY: takes no pointers; nobody uses the bytes. Where it cannot be done, they are lost.
            unsafe { syscall(libc::SYS_fallocate, [self.0, how as usize, offset as usize, len, 0, 0]) };
        }
    }

    /// Writes up to `len` zeros in one piece. How many, or −errno.
    fn write_zeros(&self, offset: u64, len: usize) -> isize {
        static ZEROS: [u8; PAGE] = [0; PAGE];
        let page = libc::iovec { iov_base: ZEROS.as_ptr().cast_mut().cast(), iov_len: PAGE };
        let pages = [page; PIECE / PAGE];
        let count = (len / PAGE).min(pages.len());
        // SAFETY: `pages` has at least `count` entries, each of which is readable.
        unsafe {
            let place = offset as usize;
            syscall(libc::SYS_pwritev, [self.0, pages.as_ptr() as usize, count, place, 0, 0])
        }
    }

    /// Maps `len` bytes at `offset`, shared with everybody who maps or reads the file.
    pub fn map(&self, offset: u64, len: usize) -> Option<*mut u8> {
        map(len, libc::MAP_SHARED, self.0, offset)
    }
}

/// Bytes that a file of this process may have.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: u64::MAX, rlim_max: u64::MAX };
    // SAFETY: `limit` is writable; 0 is the calling process, and null changes nothing.
    unsafe {
        syscall(libc::SYS_prlimit64, [0, libc::RLIMIT_FSIZE as usize, 0, (&raw mut limit) as usize, 0, 0]);
    }
    limit.rlim_cur
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours and not used again.
        unsafe { syscall(libc::SYS_close, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// The first `most` bytes of a file; empty if it cannot be read. Nothing of the program's is called.
pub fn read(path: &CStr, most: usize) -> Vec<u8> {
    let Some(file) = File::open_to_read(path) else { return Vec::new() };
    let (mut bytes, mut len) = (vec![0; most.min(PAGE)], 0);
    while len < most {
        if len == bytes.len() {
            bytes.resize((2 * len).min(most), 0);
        }
        let rest = &mut bytes[len..];
        // SAFETY: `rest` is writable for its length.
        let read =
            unsafe { syscall(libc::SYS_read, [file.0, rest.as_mut_ptr() as usize, rest.len(), 0, 0, 0]) };
        match read {
            1.. => len += read as usize,
            failed if failed as i32 == -libc::EINTR => {}
            _ => break,
        }
    }
    bytes.truncate(len);
    bytes
}

/// The `len` bytes from `offset` on of a file; fewer if it has not as many or cannot be read. Nothing of the
/// program's is called.
pub fn read_part(path: &CStr, offset: u64, len: usize) -> Vec<u8> {
    let Some(file) = File::open_to_read(path) else { return Vec::new() };
    let (mut bytes, mut done) = (Vec::new(), 0);
    // What a damaged file says of its parts may be more than there is memory.
    if bytes.try_reserve_exact(len).is_ok() {
        bytes.resize(len, 0);
    }
    while done < bytes.len() {
        let rest = &mut bytes[done..];
        let (to, place) = (rest.as_mut_ptr() as usize, offset as usize + done);
        // SAFETY: `rest` is writable for its length.
        match unsafe { syscall(libc::SYS_pread64, [file.0, to, rest.len(), place, 0, 0]) } {
            read @ 1.. => done += read as usize,
            failed if failed as i32 == -libc::EINTR => {}
            _ => break,
        }
    }
    bytes.truncate(done);
    bytes
}

/// Where a symbolic link leads; empty if there is none.
pub fn read_link(path: &CStr) -> Vec<u8> {
    let mut bytes = vec![0; libc::PATH_MAX as usize];
    let (at, to) = (path.as_ptr() as usize, bytes.as_mut_ptr() as usize);
    // SAFETY: `path` ends with a zero byte, and `bytes` is writable for its length.
    let len = unsafe { syscall(libc::SYS_readlinkat, [libc::AT_FDCWD as usize, at, to, bytes.len(), 0, 0]) };
    bytes.truncate(usize::try_from(len).unwrap_or(0));
    bytes
}

/// The working directory; empty if it has none.
pub fn directory() -> Vec<u8> {
    let mut bytes = vec![0; libc::PATH_MAX as usize];
    // SAFETY: `bytes` is writable for its length.
    let len = unsafe { syscall(libc::SYS_getcwd, [bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0, 0]) };
    // With the zero byte at its end.
    bytes.truncate(usize::try_from(len).unwrap_or(0).saturating_sub(1));
    bytes
}

/// The kernel's id of the calling thread.
pub fn thread_id() -> u32 {
    // SAFETY: takes no arguments.
    unsafe { syscall(libc::SYS_gettid, [0; 6]) as u32 }
}

/// The calling thread's name: at most 15 bytes, then zeros.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { syscall(libc::SYS_prctl, [libc::PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    name
}

/// A number that no other living thread of the process has, without asking the kernel: the address
/// of the thread's control block.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub fn thread_mark() -> u64 {
    let mark: u64;
    // SAFETY: by the ABI the word at fs:0 is the thread pointer itself.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) mark, options(nostack, readonly, preserves_flags))
    };
    mark
}

/// A number that no other living thread of the process has.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn thread_mark() -> u64 {
    u64::from(thread_id())
}

/// The process id, asked of the kernel: a raw `fork` leaves no cached one to trust.
pub fn process_id() -> u32 {
    // SAFETY: takes no arguments.
    unsafe { syscall(libc::SYS_getpid, [0; 6]) as u32 }
}

/// Fills `out` with random bytes; false where the kernel has none to give.
pub fn random(out: &mut [u8]) -> bool {
    // SAFETY: `out` is writable for its length.
    let got = unsafe { syscall(libc::SYS_getrandom, [out.as_mut_ptr() as usize, out.len(), 0, 0, 0, 0]) };
    got == out.len() as isize
}

/// Copies memory of this process, which need not be there. What the kernel says: how many bytes it has copied, or
/// −EFAULT if there is nothing at `from`.
pub fn copy_own(from: usize, into: &mut [u8]) -> isize {
    let here = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let there = libc::iovec { iov_base: from as *mut _, iov_len: into.len() };
    let (here, there) = ((&raw const here) as usize, (&raw const there) as usize);
    // SAFETY: both describe as many bytes, of which the first are writable, and the kernel checks the others.
    unsafe { syscall(libc::SYS_process_vm_readv, [process_id() as usize, here, 1, there, 1, 0]) }
}

/// Lets another thread run.
pub fn yield_now() {
    // SAFETY: takes no arguments.
    unsafe { syscall(libc::SYS_sched_yield, [0; 6]) };
}
