//! `target` regions, and the data that devices are given.
//!
//! The one idea: whoever begins a region waits until the device is done, so the call of the runtime is what the host sees of
//! it. Without a device the runtime executes the region on the host, and what that does lies within.
//!
//! Deliberately absent: what devices do meanwhile, and bytes: what is moved the runtime alone knows, for data that are on the
//! device already stay there.

use marey_measure::existing_thread;

use super::place;
use super::real::{Function, address};
use super::region::{Construct, begin_call, enter, leave, site_of_call};
use super::wrapper::{Frame, export, export_long};
use crate::own::Own;
use crate::process;

export! {
    GOMP_target_data_ext = before, after;
    GOMP_target_end_data = before, after;
}

export_long! {
    GOMP_target_ext = before, after;
    GOMP_target_update_ext = before, after;
    GOMP_target_enter_exit_data = before, after;
}

/// What is pending during a call.
#[repr(C)]
struct Pending {
    region: u32,
    is_recorded: u32,
}

unsafe extern "C" fn before(frame: *mut Frame, index: usize) -> usize {
    /// Among the flags of what enters and leaves.
    const EXIT: usize = 1 << 1;
    // SAFETY: the frame is that of the call, which is under way; its arguments are those of the function of this number.
    unsafe {
        let pending = (*frame).room::<Pending>();
        pending.write(Pending { region: 0, is_recorded: 0 });
        if let Some((_own, (runtime, thread))) = begin_call((*frame).sp) {
            let is = |function: Function| index == function as usize;
            let (construct, noun) = if is(Function::GOMP_target_ext) {
                (Construct::Target, place::noun(runtime, (*frame).args[1]))
            } else if is(Function::GOMP_target_data_ext) {
                (Construct::TargetData, u32::MAX)
            } else if is(Function::GOMP_target_end_data) {
                (Construct::TargetEndData, u32::MAX)
            } else if is(Function::GOMP_target_update_ext) {
                (Construct::TargetUpdate, u32::MAX)
            } else if (*frame).args[5] & EXIT != 0 {
                (Construct::TargetExitData, u32::MAX)
            } else {
                (Construct::TargetEnterData, u32::MAX)
            };
            let region = enter(thread, site_of_call(thread, construct, noun, (*frame).entry()));
            pending.write(Pending { region, is_recorded: 1 });
        }
    }
    // SAFETY: as above.
    unsafe { address(index, frame) }
}

unsafe extern "C" fn after(frame: *mut Frame, _: usize) {
    // SAFETY: `before` has filled the frame.
    unsafe {
        let Pending { region, is_recorded } = (*frame).room::<Pending>().read();
        let thread = existing_thread();
        if is_recorded != 0 && !thread.is_null() && process::running().is_some() {
            let _own = Own::begin();
            leave(thread, region);
        }
    }
}
