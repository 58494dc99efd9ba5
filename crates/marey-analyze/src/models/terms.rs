//! The terms that models choose from.
//!
//! The one idea: exponents are fractions and no floating-point numbers, so that a law has one name. The list is that of
//! `docs/scaling.md`, which says where it comes from.

use std::cmp::Ordering;
use std::fmt;

/// `n^a · log₂^b(n)`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// Exponent of the power: numerator and denominator, without a common divisor.
    pub power: (i8, u8),
    /// Exponent of the logarithm.
    pub log: u8,
}

impl Term {
    /// The exponent of the power.
    pub fn power(&self) -> f64 {
        f64::from(self.power.0) / f64::from(self.power.1)
    }

    /// Its value.
    pub fn at(&self, n: f64) -> f64 {
        n.powf(self.power()) * n.log2().powi(i32::from(self.log))
    }

    /// Whether it becomes larger with n, and not smaller.
    pub fn is_growing(&self) -> bool {
        self.power.0 > 0 || self.log > 0
    }

    /// Which of two grows faster.
    pub fn cmp_growth(&self, other: &Self) -> Ordering {
        let (a, b) = (self.power, other.power);
        let powers = (i32::from(a.0) * i32::from(b.1)).cmp(&(i32::from(b.0) * i32::from(a.1)));
        powers.then(self.log.cmp(&other.log))
    }
}

/// `n^(1/2)·log2(n)`
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power = match self.power {
            (0, _) => String::new(),
            (1, 1) => "n".to_owned(),
            (whole, 1) => format!("n^{whole}"),
            (over, under) => format!("n^({over}/{under})"),
        };
        let log = match self.log {
            0 => String::new(),
            1 => "log2(n)".to_owned(),
            log => format!("log2(n)^{log}"),
        };
        let between = if power.is_empty() || log.is_empty() { "" } else { "·" };
        write!(f, "{power}{between}{log}")
    }
}

const fn term(over: i8, under: u8, log: u8) -> Term {
    Term { power: (over, under), log }
}

/// All of them.
pub const TERMS: [Term; 55] = [
    term(1, 4, 0),
    term(1, 3, 0),
    term(1, 2, 0),
    term(2, 3, 0),
    term(3, 4, 0),
    term(4, 5, 0),
    term(1, 1, 0),
    term(5, 4, 0),
    term(4, 3, 0),
    term(3, 2, 0),
    term(5, 3, 0),
    term(7, 4, 0),
    term(2, 1, 0),
    term(9, 4, 0),
    term(7, 3, 0),
    term(5, 2, 0),
    term(8, 3, 0),
    term(11, 4, 0),
    term(3, 1, 0),
    term(0, 1, 1),
    term(1, 4, 1),
    term(1, 3, 1),
    term(1, 2, 1),
    term(2, 3, 1),
    term(3, 4, 1),
    term(1, 1, 1),
    term(5, 4, 1),
    term(4, 3, 1),
    term(3, 2, 1),
    term(2, 1, 1),
    term(5, 2, 1),
    term(3, 1, 1),
    term(0, 1, 2),
    term(1, 4, 2),
    term(1, 3, 2),
    term(1, 2, 2),
    term(2, 3, 2),
    term(3, 4, 2),
    term(1, 1, 2),
    term(3, 2, 2),
    term(2, 1, 2),
    term(5, 2, 2),
    term(-1, 4, 0),
    term(-1, 3, 0),
    term(-1, 2, 0),
    term(-2, 3, 0),
    term(-3, 4, 0),
    term(-4, 5, 0),
    term(-1, 1, 0),
    term(-5, 4, 0),
    term(-4, 3, 0),
    term(-3, 2, 0),
    term(-5, 3, 0),
    term(-7, 4, 0),
    term(-2, 1, 0),
];
