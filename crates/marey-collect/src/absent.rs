//! What others ask of modules that a build leaves out.
//!
//! The one idea: whoever asks need not know what there is; a module that is absent answers that it has nothing.

/// The recorder's allocator, where it takes the system's.
#[cfg(feature = "system-allocator")]
#[cfg(feature = "system-allocator")]
pub(crate) mod alloc {
    pub(crate) fn is_exhausted() -> bool {
        false
    }

    pub(crate) fn prepare() -> bool {
        true
    }
}

/// Calls on files, in programs that the recorder is linked into.
#[cfg(feature = "linked")]
#[cfg(feature = "linked")]
pub(crate) mod files {
    pub(crate) fn name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn verb(_: u32) -> Option<&'static str> {
        None
    }

    pub(crate) fn begin() {}

    pub(crate) static FORKS: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

    pub(crate) fn by_number(
        _: core::ffi::c_long,
        _: [usize; 3],
        pass_on: impl FnOnce() -> core::ffi::c_long,
    ) -> core::ffi::c_long {
        pass_on()
    }
}

/// The heap, in the same.
#[cfg(feature = "linked")]
#[cfg(feature = "linked")]
pub(crate) mod heap {
    pub(crate) fn verb(_: u32) -> Option<&'static str> {
        None
    }
}

/// Calls that wait, in the same.
#[cfg(feature = "linked")]
#[cfg(feature = "linked")]
pub(crate) mod system {
    pub(crate) fn verb(_: u32) -> Option<(&'static str, marey_model::Role)> {
        None
    }
}

/// Coarrays, in the same.
#[cfg(feature = "linked")]
pub(crate) mod coarray {
    pub(crate) fn is_serving(_: crate::entry::Entry) -> bool {
        false
    }

    pub(crate) fn verb(_: u32) -> Option<(&'static str, marey_model::Role)> {
        None
    }
}

/// Kokkos, in the same.
#[cfg(feature = "linked")]
pub(crate) mod kokkos {
    pub(crate) fn named(_: u32) -> Option<(&'static str, String)> {
        None
    }

    pub(crate) fn verb(_: u32) -> Option<(&'static str, marey_model::Role)> {
        None
    }
}

/// Data, in the same.
#[cfg(feature = "linked")]
pub(crate) mod data {
    #[expect(dead_code, reason = "without debug information of their places data have numbers only")]
    pub(crate) enum Key {
        Variable(usize),
        Made(u32),
        Named(u32),
        Memory(u32),
    }

    pub(crate) fn of_noun(_: u32) -> Option<u32> {
        None
    }

    pub(crate) fn noun(kind: &'static str, _: Key, data: u32) -> u32 {
        crate::site::noun(kind, &format!("{kind} {data}"))
    }

    pub(crate) mod buffers {
        pub(crate) fn memory(
            _: &marey_measure::Runtime,
            _: crate::entry::Entry,
            _: usize,
            _: u32,
        ) -> Option<u32> {
            None
        }

        pub(crate) type Place = ((u32, u64), Option<i64>);

        pub(crate) fn variable(
            _: &marey_measure::Runtime,
            _: crate::entry::Entry,
            _: usize,
        ) -> Option<Place> {
            None
        }

        pub(crate) fn data(_: &marey_measure::Runtime, _: crate::entry::Entry, _: usize) -> u32 {
            marey_measure::message::NO_DATA
        }
    }
}

/// Constructs of OpenMP, in the same.
#[cfg(feature = "linked")]
pub(crate) mod openmp {
    pub(crate) fn place(_: u32) -> Option<(u32, u64)> {
        None
    }

    pub(crate) fn name(_: u32) -> Option<String> {
        None
    }

    pub(crate) fn verb(_: u32) -> Option<(&'static str, marey_model::Role)> {
        None
    }

    pub(crate) fn is_runtime(_: &[u8]) -> bool {
        false
    }
}
