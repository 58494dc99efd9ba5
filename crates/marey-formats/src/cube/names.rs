//! Names of paradigms and of roles of regions, as Score-P and Scalasca write them.
//!
//! The one idea: they are those of OTF2, for the same tool writes both, so each has OTF2's code and is told as there.

/// The code of a paradigm in OTF2; 0 where it has none.
pub(super) fn paradigm(name: &str) -> u8 {
    match name {
        "user" => 1,
        "compiler" => 2,
        "openmp" | "omp" => 3,
        "mpi" => 4,
        "cuda" => 5,
        "measurement" => 6,
        "pthread" | "pthreads" => 7,
        "hmpp" => 8,
        "ompss" => 9,
        "hardware" => 10,
        "gaspi" => 11,
        "upc" => 12,
        "shmem" => 13,
        "openacc" => 18,
        "opencl" => 19,
        "mtapi" => 20,
        "sampling" => 21,
        "hip" => 23,
        "kokkos" => 24,
        _ => 0,
    }
}

/// The code of a role in OTF2; 0 where it has none.
pub(super) fn role(name: &str) -> u8 {
    match name {
        "function" | "func" => 1,
        "wrapper" => 2,
        "loop" => 3,
        "code" => 4,
        "parallel" => 5,
        "sections" => 6,
        "section" => 7,
        "workshare" => 8,
        "single" => 9,
        "single sblock" => 10,
        "master" => 11,
        "critical" => 12,
        "critical sblock" => 13,
        "atomic" => 14,
        "barrier" => 15,
        "implicit barrier" | "ibarrier" => 16,
        "flush" => 17,
        "ordered" => 18,
        "ordered sblock" => 19,
        "task" => 20,
        "task create" => 21,
        "taskwait" | "task wait" => 22,
        "one2all" => 23,
        "all2one" => 24,
        "all2all" => 25,
        "other collective" => 26,
        "file_io" | "file io" => 27,
        "point2point" => 28,
        "rma" => 29,
        "data transfer" => 30,
        "artificial" => 31,
        "thread create" => 32,
        "thread wait" => 33,
        "untied task" => 34,
        "allocate" => 35,
        "deallocate" => 36,
        "reallocate" => 37,
        "file_io metadata" | "file io metadata" => 38,
        _ => 0,
    }
}
