//! Functions of Rust that are entered and left in all ways that Rust has.
// Here the test forbids unsafe code.
#![deny(warnings, unused_qualifications, missing_docs)]

pub mod shapes;

macro_rules! doubled {
    ($name:ident, $type:ty) => {
        /// Made by a macro.
        pub fn $name(n: $type) -> $type {
            n + n
        }
    };
}

doubled!(double, u32);

/// Recursion.
pub fn fib(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { fib(n - 1) + fib(n - 2) }
}

/// In the compiler, too.
pub const fn square(n: u32) -> u32 {
    n * n
}

/// Between its polls it does not run.
pub async fn later() -> u32 {
    5
}

/// Panics at the bottom.
pub fn deep(n: u32) -> u32 {
    #![allow(unconditional_panic)]
    assert!(n != 0, "bottom");
    deep(n - 1) + 1
}

/// Early returns, a label, and a value out of a loop.
pub fn early(n: u32) -> Option<u32> {
    if n == 0 {
        return None;
    }
    let mut sum = 0;
    'rows: for row in 0..n {
        for column in 0.. {
            if column > row {
                continue 'rows;
            }
            if column * row > 20 {
                break 'rows;
            }
            sum += column;
        }
    }
    let found = loop {
        sum += 1;
        if sum % 7 == 0 {
            break sum;
        }
    };
    Some(found)
}

/// With a function of its own.
pub fn outer() -> u32 {
    fn inner() -> u32 {
        line!()
    }
    inner() + inner()
}

/// Short, and called all the time if the program is told so.
#[inline(never)]
pub fn hot(x: u64) -> u64 {
    x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)
}

/// What calls it.
pub fn warm(calls: u64) -> u64 {
    (0..calls).fold(1, |x, _| hot(x))
}
