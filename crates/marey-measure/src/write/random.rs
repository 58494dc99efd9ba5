//! Random numbers for when visits are timed.
//!
//! The one idea: a few instructions that need no library, for they run within programs that may have none.

/// A random interval of a process without memory, `gap` on average and 1 at least; `random` is where the numbers go on.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "gaps are 32 bits, and never negative"
)]
pub(super) fn interval(random: &mut u32, gap: u32) -> u32 {
    *random = next(*random);
    let share = (f64::from(*random) + 1.0) / (f64::from(u32::MAX) + 2.0);
    (1.0 - logarithm(share) * f64::from(gap)) as u32
}

/// The natural logarithm of a number that is normal and greater than 0, to 10⁻⁵. That of the standard library is the C
/// library's, and what is linked into a program must not ask for a library of mathematics that it has no need of.
fn logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = f64::from(((bits >> 52) & 0x7ff) as u32) - 1023.0;
    let mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    // 2 artanh s, whose terms are small: s is at most a third.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let terms = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square / 9.0)));
    exponent * core::f64::consts::LN_2 + 2.0 * s * terms
}

/// Marsaglia's: never 0 but after 0.
#[inline(always)]
pub(super) const fn next(mut random: u32) -> u32 {
    random ^= random << 13;
    random ^= random >> 17;
    random ^ random << 5
}

#[cfg(test)]
mod tests {
    use super::logarithm;

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        for step in 1..100_000_u32 {
            let x = f64::from(step) / 100_000.0;
            assert!((logarithm(x) - x.ln()).abs() < 1e-5, "{x}: {}", logarithm(x));
        }
        let least = 1.0 / (f64::from(u32::MAX) + 2.0);
        assert!((logarithm(least) - least.ln()).abs() < 1e-5);
    }
}
