//! The recorder as an object that is linked into a program, for programs that cannot be preloaded.
//!
//! The one idea: there is no dynamic linker that could say what the next definition of a function is, so
//! the static one says it. `marey link` writes stubs: a stub is called in a function's place and jumps to
//! where its *slot* points. The linker fills slots with the real functions, and so a program that nobody
//! records has one jump more in a call; where a process is to be recorded, slots are made to point to our
//! wrappers before `main`. MPI functions have stubs by their own name, in front of `PMPI_x`, and by
//! `--wrap` for `PMPI_x`, by which Fortran's layer reaches MPI; all others by `--wrap` alone.
//!
//! What is deliberately absent: `dlsym`, which makes static linking warn and drags the loader in; `dlclose`
//! and the logging calls of MPE.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::ABI_VERSION;

/// A function that has a stub, as `crates/marey/src/link/stubs.rs` writes it.
#[repr(C)]
struct Slot {
    /// What the stub jumps to.
    target: AtomicUsize,
    /// The real function.
    real: usize,
    /// Ours.
    wrapper: usize,
    /// Its name.
    name: *const c_char,
}

// By this note others see that the program has a recorder: the library, if it is loaded as well, and the
// command line. It is loaded with the program, so that `strip` leaves it.
core::arch::global_asm!(
    ".pushsection .note.marey,\"a\",@note",
    ".p2align 2",
    ".long 6, 4, 1",
    ".asciz \"marey\"",
    ".p2align 2",
    ".long {version}",
    ".popsection",
    version = const ABI_VERSION,
);

// The Fortran module's way to the runtime: a common block there, which this is the content of.
core::arch::global_asm!(
    ".pushsection .data.rel.marey_linked_runtime,\"aw\",@progbits",
    ".p2align 3",
    ".globl marey_linked_runtime",
    ".type marey_linked_runtime, @object",
    ".size marey_linked_runtime, 8",
    "marey_linked_runtime:",
    ".quad marey_runtime",
    ".popsection",
);

/// Bounds of what the linker has put together of a section; null where no object has it.
macro_rules! section {
    ($name:literal) => {{
        let (start, end): (usize, usize);
        // SAFETY: loads two addresses.
        unsafe {
            core::arch::asm!(
                concat!(".weak __start_", $name),
                concat!(".weak __stop_", $name),
                concat!(".hidden __start_", $name),
                concat!(".hidden __stop_", $name),
                concat!("mov {start}, qword ptr [rip + __start_", $name, "@GOTPCREL]"),
                concat!("mov {end}, qword ptr [rip + __stop_", $name, "@GOTPCREL]"),
                start = out(reg) start,
                end = out(reg) end,
                options(nostack, nomem, pure, preserves_flags)
            );
        }
        start..end
    }};
}

fn slots() -> &'static [Slot] {
    let section = section!("marey_slots");
    if section.is_empty() {
        return &[];
    }
    // SAFETY: stubs put slots into the section and nothing else.
    unsafe { core::slice::from_raw_parts(section.start as *const Slot, section.len() / size_of::<Slot>()) }
}

/// Lets all stubs go to our wrappers. To be called before the program has threads.
pub(crate) fn activate() {
    for slot in slots() {
        slot.target.store(slot.wrapper, Ordering::Relaxed);
    }
}

/// The real function of this name; 0 if it is not in the program.
#[cold]
pub(crate) fn real(name: &[u8]) -> usize {
    if let Some((_, function)) = TRIES.iter().find(|(known, _)| known.as_bytes() == name) {
        return *function as *const () as usize;
    }
    // SAFETY: names are terminated strings.
    let found = slots().iter().find(|slot| unsafe { CStr::from_ptr(slot.name) }.to_bytes() == name);
    found.map_or(0, |slot| slot.real)
}

/// Functions that we call in place of others, and that have no stub: a try that a program makes by itself
/// is not recorded.
const TRIES: [(&str, unsafe extern "C" fn()); 4] = [
    ("pthread_mutex_trylock", pthread_mutex_trylock),
    ("pthread_rwlock_tryrdlock", pthread_rwlock_tryrdlock),
    ("pthread_rwlock_trywrlock", pthread_rwlock_trywrlock),
    ("mtx_trylock", mtx_trylock),
];

unsafe extern "C" {
    fn pthread_mutex_trylock();
    fn pthread_rwlock_tryrdlock();
    fn pthread_rwlock_trywrlock();
    fn mtx_trylock();
}

/// Whether a function that begins at `address` belongs to a layer between programs and MPI's functions,
/// such as Fortran's: what it calls was called by its caller.
pub(crate) fn is_of_mpi(address: usize) -> bool {
    let section = section!("marey_layers");
    if section.is_empty() || address == 0 {
        return false;
    }
    // SAFETY: stubs put addresses into the section and nothing else.
    let layers = unsafe { core::slice::from_raw_parts(section.start as *const usize, section.len() / 8) };
    layers.contains(&address)
}

/// Declares the data objects of Open MPI that tell it and its handles.
macro_rules! objects {
    ($($name:literal)*) => {
        core::arch::global_asm!(
            ".pushsection .data.rel.marey_objects,\"aw\",@progbits",
            ".p2align 3",
            ".hidden marey_objects",
            ".globl marey_objects",
            "marey_objects:",
            $(concat!(".weak ", $name), concat!(".quad ", $name),)*
            ".popsection",
        );

        const OBJECTS: &[&str] = &[$($name),*];
    };
}

objects! {
    "ompi_mpi_comm_world" "ompi_mpi_comm_self" "ompi_mpi_comm_null" "ompi_mpi_byte" "ompi_request_null"
    "ompi_message_null" "ompi_message_no_proc" "ompi_mpi_datatype_null" "ompi_mpi_op_no_op"
}

unsafe extern "C" {
    #[link_name = "marey_objects"]
    static OBJECT_ADDRESSES: [usize; OBJECTS.len()];
}

/// Address of a data object of the MPI library; 0 if the program's has none of this name.
pub(crate) fn object(name: &CStr) -> usize {
    let Some(at) = OBJECTS.iter().position(|known| known.as_bytes() == name.to_bytes()) else { return 0 };
    // SAFETY: the linker has filled as many words as there are names.
    unsafe { OBJECT_ADDRESSES[at] }
}
