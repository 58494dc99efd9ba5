//! Which functions the recorder has wrappers for.
//!
//! The one idea: the object itself says it, by its symbols, so that there is no second list. Which
//! functions of MPI a library may lack is the one thing that it does not know.

use object::{Object, ObjectSymbol};

/// Names of functions, sorted.
#[derive(Debug)]
pub(super) struct Functions<'a> {
    /// `MPI_x`.
    pub(super) mpi: Vec<&'a str>,
    /// Of the threads library, and `syscall`.
    pub(super) threads: Vec<&'a str>,
    /// Those that end the process.
    pub(super) endings: Vec<&'a str>,
}

impl<'a> Functions<'a> {
    /// Those of a recorder.
    pub(super) fn of(recorder: &'a [u8]) -> Self {
        let object = object::File::parse(recorder).expect("the object that was embedded is one");
        let with_prefix = |prefix: &str| {
            let names = object.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined());
            let names = names.filter_map(|symbol| symbol.name().ok()?.strip_prefix(prefix));
            let mut names: Vec<&'a str> = names.filter(|name| !name.starts_with("PMPI_")).collect();
            names.sort_unstable();
            names
        };
        Self {
            mpi: with_prefix("marey_mpi_"),
            threads: with_prefix("marey_thread_"),
            endings: with_prefix("marey_ending_"),
        }
    }
}

/// Functions of the library of coarrays that a recorder which is loaded has wrappers for, sorted.
pub(super) fn of_coarrays(recorder: &[u8]) -> Vec<&str> {
    let object = object::File::parse(recorder).expect("the library that was embedded is one");
    let names = object.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
    let mut names: Vec<&str> = names
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| name.starts_with("_gfortran_caf_"))
        .collect();
    names.sort_unstable();
    names
}

/// Functions of threads that run-time libraries of compilers (Fortran's, C++'s) call if a program has
/// threads, and name weakly, so that a static program without threads has none of them. Whether it has
/// threads they see by one of them, which the recorder needs; so all the others must be there as well.
pub(super) const ALL_OR_NONE: [&str; 35] = [
    "pthread_cancel",
    "pthread_cond_broadcast",
    "pthread_cond_clockwait",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_signal",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_detach",
    "pthread_equal",
    "pthread_getspecific",
    "pthread_join",
    "pthread_key_create",
    "pthread_key_delete",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_init",
    "pthread_mutexattr_settype",
    "pthread_once",
    "pthread_rwlock_destroy",
    "pthread_rwlock_init",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "pthread_self",
    "pthread_setspecific",
    "sched_yield",
];

/// Whether an MPI library of today may lack the function: it is newer than MPI 3.0, or of MPI 1 and
/// removed by MPI 3.0. Such functions are in a program only if it calls them; all others are there in any
/// case.
pub(super) fn is_rare(name: &str) -> bool {
    let is_removed = REMOVED.contains(&name);
    let is_initialised = name.ends_with("_init") && !THERE_FOR_LONG.contains(&name);
    let is_new = NEW.iter().any(|begin| name.starts_with(begin)) || is_initialised;
    name.ends_with("_c") || is_removed || is_new
}

const REMOVED: [&str; 15] = [
    "MPI_Address",
    "MPI_Attr_delete",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Errhandler_create",
    "MPI_Errhandler_get",
    "MPI_Errhandler_set",
    "MPI_Keyval_create",
    "MPI_Keyval_free",
    "MPI_Type_extent",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_lb",
    "MPI_Type_struct",
    "MPI_Type_ub",
];

/// Beginnings of names.
const NEW: [&str; 22] = [
    "MPI_Aint_",
    "MPI_Buffer_flush",
    "MPI_Buffer_iflush",
    "MPI_Comm_attach_buffer",
    "MPI_Comm_create_from_group",
    "MPI_Comm_idup_with_info",
    "MPI_Group_from_session",
    "MPI_Info_create_env",
    "MPI_Info_get_string",
    "MPI_Intercomm_create_from_groups",
    "MPI_Isendrecv",
    "MPI_Parrived",
    "MPI_Pready",
    "MPI_Precv_",
    "MPI_Psend_",
    "MPI_Request_get_status_",
    "MPI_Session_",
    "MPI_Status_get_",
    "MPI_Status_set_error",
    "MPI_Status_set_source",
    "MPI_T_",
    "MPIX_",
];

/// Persistent collectives are new; persistent messages are not.
const THERE_FOR_LONG: [&str; 5] =
    ["MPI_Bsend_init", "MPI_Recv_init", "MPI_Rsend_init", "MPI_Send_init", "MPI_Ssend_init"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorder_has_all_that_programs_call() {
        let functions = Functions::of(crate::embedded::OBJECT);
        assert!(450 < functions.mpi.len(), "{}", functions.mpi.len());
        assert!(functions.mpi.contains(&"MPI_Send") && functions.threads.contains(&"pthread_create"));
        assert_eq!(functions.endings, ["_Exit", "_exit", "abort", "quick_exit"]);
        let rare = functions.mpi.iter().filter(|name| is_rare(name)).count();
        assert!(100 < rare && rare < functions.mpi.len() / 2, "{rare}");
    }

    #[test]
    fn what_every_library_has_is_not_rare() {
        for name in ["MPI_Send", "MPI_Init", "MPI_Send_init", "MPI_Ialltoallw", "MPI_Mprobe", "MPI_Win_flush"]
        {
            assert!(!is_rare(name), "{name}");
        }
        for name in ["MPI_Send_c", "MPI_Bcast_init", "MPI_Session_init", "MPI_Address"] {
            assert!(is_rare(name), "{name}");
        }
    }
}
