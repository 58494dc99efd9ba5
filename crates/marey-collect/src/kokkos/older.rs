//! The variable of Kokkos before 3.7, which later ones complain of.
//!
//! The one idea: which Kokkos a program has is known only in its process. So the recorder is named by both variables, and
//! where a later Kokkos has been loaded the older one is taken back before the program begins.
//!
//! Deliberately absent: a Kokkos that is part of the program and whose functions have no names at run time: it says, once,
//! that the variable is deprecated.

use core::ffi::CStr;

use marey_measure::sys;

const OLDER: &CStr = c"KOKKOS_PROFILE_LIBRARY";
const LATER: &CStr = c"KOKKOS_TOOLS_LIBS";

/// `Kokkos::Tools::Impl::parse_environment_variables(Kokkos::Tools::InitArguments&)`, which came with the complaint.
const COMPLAINS: &CStr = c"_ZN6Kokkos5Tools4Impl27parse_environment_variablesERNS0_13InitArgumentsE";

/// To be called when the library has been loaded, before anything of the program's runs.
pub(crate) fn loaded() {
    // SAFETY: names end with a zero byte, and values are compared before anything changes the environment.
    let is_ours = unsafe {
        let (older, later) = (libc::getenv(OLDER.as_ptr()), libc::getenv(LATER.as_ptr()));
        !older.is_null()
            && !later.is_null()
            && CStr::from_ptr(older) == CStr::from_ptr(later)
            && CStr::from_ptr(older).to_bytes().ends_with(marey_model::RECORDER_FILE.as_bytes())
    };
    // With threads that were there before us somebody may be reading the environment.
    let is_alone = sys::process_id() == sys::thread_id();
    // SAFETY: names end with a zero byte.
    unsafe {
        if is_ours && is_alone && !libc::dlsym(libc::RTLD_DEFAULT, COMPLAINS.as_ptr()).is_null() {
            libc::unsetenv(OLDER.as_ptr());
        }
    }
}
