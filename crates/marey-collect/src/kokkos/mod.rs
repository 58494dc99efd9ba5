//! Kokkos: kernels, regions, copies and fences of a program, and the Views that it has.
//!
//! The one idea: Kokkos looks for functions `kokkosp_…` in the library that `KOKKOS_TOOLS_LIBS` (before version 3.7
//! `KOKKOS_PROFILE_LIBRARY`) names, and calls them at beginnings and ends; `marey record` names us, so Kokkos tells all
//! that it tells of itself, wherever it is linked. A program without Kokkos never calls them.
//!
//! * [`older`]: one variable too many. * [`hooks`]: the functions. * [`open`]: what has begun and not ended. * [`sections`]: what need not nest. * [`names`]:
//!   what kernels are called. * [`views`]: which Views there are. * [`space`]: where kernels run and Views lie.
//!
//! What is deliberately absent: which Views a kernel reads and writes, of which Kokkos tells nothing; tuning; what a space
//! other than the host's does between a kernel's launch and the fence that waits for it.
//! Source of the layouts: `Kokkos_Profiling_C_Interface.h`, which Kokkos 3.1 to 4 have in common.

mod hooks;
mod names;
mod older;
mod open;
mod sections;
mod space;
mod views;

pub(crate) use names::named;
pub(crate) use older::loaded;
pub(crate) use open::thread_ends;
pub(crate) use views::at;

use marey_model::Role;

use crate::site::{KOKKOS_VERBS, What};

macro_rules! verbs {
    ($($name:ident $verb:literal $role:ident;)*) => {
        /// What is recorded.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        enum Verb { $($name,)* }

        const VERBS: &[(&str, Role)] = &[$(($verb, Role::$role),)*];
    };
}

verbs! {
    ParallelFor "parallel_for" Work;
    ParallelReduce "parallel_reduce" Work;
    ParallelScan "parallel_scan" Work;
    Region "region" Work;
    Section "section" Work;
    DeepCopy "deep_copy" Transfer;
    Fence "fence" Wait;
    Allocate "allocate" Manage;
    Deallocate "deallocate" Manage;
    Sync "sync" Manage;
    Modify "modify" Manage;
    Event "event" Manage;
}

impl Verb {
    fn with(self, noun: u32) -> What {
        What { function: KOKKOS_VERBS + self as u32, noun }
    }
}

/// What the verbs of this level are called and what they do, by their numbers in [`What::function`].
pub(crate) fn verb(number: u32) -> Option<(&'static str, Role)> {
    VERBS.get(number.checked_sub(KOKKOS_VERBS)? as usize).copied()
}
