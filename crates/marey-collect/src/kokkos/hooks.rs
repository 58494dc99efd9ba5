//! The functions that Kokkos looks for in its tool, by their names.
//!
//! The one idea: each notes how it was entered, so that the call stack is that of whoever called Kokkos, and says what
//! begins or ends; texts and spaces are read here and nowhere else.
//!
//! Kokkos is told that it need not wait for devices around each call: the program does what it does without us.

use core::ffi::{c_char, c_int, c_void};

use marey_measure::sys::undisturbed;
use marey_model::AccessKind;

use super::names::{Kind, bytes_of};
use super::open::{Accesses, Call, Ends};
use super::space::{self, SpaceHandle};
use super::views::{self, Told};
use super::{Verb, sections};
use crate::entry::{Entry, plain_noting_jump};

/// Exports a function of this name; what it does with the call that it is, where that is recorded.
macro_rules! hooks {
    ($(fn $name:ident($call:ident $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        const _: () = {
            unsafe extern "C" fn body($($arg: $type),*) {
                let entry = Entry::take();
                let Some(mut call) = Call::begin(entry) else { return };
                let $call = &mut call;
                $body
            }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                plain_noting_jump!(body)
            }
        };
    )*};
}

hooks! {
    fn kokkosp_init_library(_call, _sequence: c_int, _version: u64, _n_devices: u32, _devices: *const c_void) {}

    fn kokkosp_finalize_library(call) {
        call.end_all();
    }

    fn kokkosp_begin_parallel_for(call, name: *const c_char, device: u32, number: *mut u64) {
        begin_kernel(call, Verb::ParallelFor, name, device, number);
    }

    fn kokkosp_begin_parallel_reduce(call, name: *const c_char, device: u32, number: *mut u64) {
        begin_kernel(call, Verb::ParallelReduce, name, device, number);
    }

    fn kokkosp_begin_parallel_scan(call, name: *const c_char, device: u32, number: *mut u64) {
        begin_kernel(call, Verb::ParallelScan, name, device, number);
    }

    fn kokkosp_begin_fence(call, name: *const c_char, device: u32, number: *mut u64) {
        begin(call, Verb::Fence, Kind::Fence, name, device, number);
    }

    fn kokkosp_end_parallel_for(call, number: u64) {
        call.end(number);
    }

    fn kokkosp_end_parallel_reduce(call, number: u64) {
        call.end(number);
    }

    fn kokkosp_end_parallel_scan(call, number: u64) {
        call.end(number);
    }

    fn kokkosp_end_fence(call, number: u64) {
        call.end(number);
    }

    fn kokkosp_push_profile_region(call, name: *const c_char) {
        let noun = noun(call, Kind::Region, name);
        call.enter(call.site(Verb::Region, noun), Ends::Region, [None, None]);
    }

    fn kokkosp_pop_profile_region(call) {
        call.end_innermost(Ends::Region);
    }

    fn kokkosp_create_profile_section(call, name: *const c_char, number: *mut u32) {
        // SAFETY: Kokkos's promise.
        let made = sections::create(call, unsafe { bytes_of(name) });
        // SAFETY: Kokkos gives an address for the number.
        if let Some(number) = unsafe { number.as_mut() } {
            // Kokkos has nothing there yet; 0 is never given out, so nothing is done with that.
            *number = made.unwrap_or(0);
        }
    }

    fn kokkosp_start_profile_section(call, number: u32) {
        sections::start(call, number);
    }

    fn kokkosp_stop_profile_section(_call, number: u32) {
        sections::stop(number);
    }

    fn kokkosp_destroy_profile_section(_call, number: u32) {
        sections::destroy(number);
    }

    fn kokkosp_profile_event(call, name: *const c_char) {
        let noun = noun(call, Kind::Event, name);
        call.instant(call.site(Verb::Event, noun), [None, None]);
    }

    fn kokkosp_allocate_data(call, space: SpaceHandle, label: *const c_char, address: usize, bytes: u64) {
        // SAFETY: Kokkos's promise.
        let label = unsafe { bytes_of(label) };
        // A dozen locks, for each of which signals would be held back anew.
        undisturbed(|| views::allocated(call, Told { space: &space, label, address, bytes }));
    }

    fn kokkosp_deallocate_data(call, space: SpaceHandle, label: *const c_char, address: usize, bytes: u64) {
        // SAFETY: Kokkos's promise.
        let label = unsafe { bytes_of(label) };
        undisturbed(|| views::deallocated(call, Told { space: &space, label, address, bytes }));
    }

    fn kokkosp_begin_deep_copy(
        call,
        to_space: SpaceHandle,
        to_label: *const c_char,
        to: usize,
        _from_space: SpaceHandle,
        _from_label: *const c_char,
        from: usize,
        bytes: u64,
    ) {
        // SAFETY: Kokkos's promise.
        let to_label = unsafe { bytes_of(to_label) };
        begin_copy(call, (&to_space, to_label, to), from, bytes);
    }

    fn kokkosp_end_deep_copy(call) {
        call.end_innermost(Ends::Copy);
    }

    fn kokkosp_dual_view_sync(call, label: *const c_char, head: usize, _is_device: bool) {
        of_dual_view(call, Verb::Sync, label, head);
    }

    fn kokkosp_dual_view_modify(call, label: *const c_char, head: usize, _is_device: bool) {
        of_dual_view(call, Verb::Modify, label, head);
    }
}

/// `Kokkos_Tools_ToolSettings`.
#[repr(C)]
struct ToolSettings {
    requires_global_fencing: bool,
    padding: [bool; 255],
}

/// What Kokkos asks its tool before the program begins.
#[unsafe(no_mangle)]
unsafe extern "C" fn kokkosp_request_tool_settings(_version: u32, settings: *mut ToolSettings) {
    // SAFETY: Kokkos gives the address of what it is to do.
    if let Some(settings) = unsafe { settings.as_mut() } {
        settings.requires_global_fencing = false;
    }
}

fn noun(call: &mut Call, kind: Kind, name: *const c_char) -> u32 {
    // SAFETY: Kokkos's promise: a text that stays for as long as the call lasts.
    let name = unsafe { bytes_of(name) };
    if name.is_empty() { u32::MAX } else { call.here.met.noun(kind, 0, name, str::to_owned) }
}

fn begin_kernel(call: &mut Call, verb: Verb, name: *const c_char, device: u32, number: *mut u64) {
    begin(call, verb, Kind::Kernel, name, device, number);
}

fn begin(call: &mut Call, verb: Verb, kind: Kind, name: *const c_char, device: u32, number: *mut u64) {
    // SAFETY: as in `noun`.
    let name = unsafe { bytes_of(name) };
    let label = |name: &str| match space::of_device(device).as_str() {
        "" => name.to_owned(),
        space => format!("{name} on {space}"),
    };
    let noun = call.here.met.noun(kind, space::told(device), name, label);
    let given = call.enter(call.site(verb, noun), Ends::ByNumber, [None, None]);
    // SAFETY: Kokkos gives an address for the number.
    if let Some(number) = unsafe { number.as_mut() } {
        *number = given;
    }
}

/// A copy into a View, or out of one. What is written is its noun.
fn begin_copy(
    call: &mut Call,
    (to_space, to_label, to): (&SpaceHandle, &[u8], usize),
    from: usize,
    bytes: u64,
) {
    let [written, read] = views::holding(call.runtime, [to, from]);
    let noun = match &written {
        Some(written) => written.noun,
        None => {
            let label = |name: &str| space::in_space(name, &to_space.name());
            call.here.met.noun(Kind::View, to_space.told(), to_label, label)
        }
    };
    let accesses: Accesses = [
        written.map(|view| view.access(AccessKind::Write, bytes)),
        read.map(|view| view.access(AccessKind::Read, bytes)),
    ];
    call.enter(call.site(Verb::DeepCopy, noun), Ends::Copy, accesses);
}

/// What the program says of a `DualView`; the copy that follows, if any, is told by itself.
fn of_dual_view(call: &mut Call, verb: Verb, label: *const c_char, head: usize) {
    let noun = views::noun_of(head).unwrap_or_else(|| noun(call, Kind::View, label));
    call.instant(call.site(verb, noun), [None, None]);
}
