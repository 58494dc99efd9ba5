//! Shows its own data: scope | name | offset / size | where data lie | element | dimensions.
use std::ffi::{CStr, c_char, c_ulong, c_void};

unsafe extern "C" {
    fn show(address: *const c_void, bytes: c_ulong, what: *const c_char);
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Particle {
    x: [f64; 3],
    kind: i32,
}

static mut FIELD: [[f64; 4]; 3] = [[0.5; 4]; 3];
static mut PARTS: [Particle; 8] = [Particle { x: [1.0; 3], kind: 0 }; 8];

mod inner {
    pub static COUNTS: [u16; 6] = [1, 2, 3, 4, 5, 6];
}

fn tell<T>(at: *const T, what: &CStr) {
    // SAFETY: `show` only looks at the address itself.
    unsafe { show(at.cast(), size_of::<T>() as c_ulong, what.as_ptr()) }
}

macro_rules! tell_here {
    ($at:expr, $what:expr) => {
        // SAFETY: `show` only looks at the address itself.
        unsafe { show((&raw const $at).cast(), 8, $what.as_ptr()) }
    };
}

#[inline(never)]
fn frames(n: i64) -> i64 {
    let mut local = [0_i64; 9];
    local[2] = n;
    let mine = Particle { x: [n as f64; 3], kind: 2 };
    tell_here!(local[4], c"variables::frames|local|32/72|storage|i64|0:9");
    tell_here!(mine.x[1], c"variables::frames|mine.x|8/24|storage|f64|0:3");
    local[2] + i64::from(mine.kind)
}

fn main() {
    unsafe {
        tell(&raw const FIELD[1][2], c"variables|FIELD|48/96|storage|f64|0:3 0:4");
        tell(&raw const PARTS[5].kind, c"variables|PARTS.kind|0/4|storage|i32|");
        tell(&raw const PARTS[5], c"variables|PARTS|160/256|storage|variables::Particle|0:8");
    }
    tell(&inner::COUNTS[3], c"variables::inner|COUNTS|6/12|storage|u16|0:6");
    frames(4);
}
