//! The attribute on every sort of function: what it does not change (results, generics, inner
//! attributes), and the names it gives.

mod support;

use marey_measure::instrument;
use support::{Spool, child, spool_of};

mod inner {
    use marey_measure::instrument;

    #[instrument(crate = marey_measure)]
    pub(super) fn plain(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        n + 1
    }
}

struct Grid<T>(T);

impl<T: Copy> Grid<T>
where
    T: Into<f64>,
{
    #[instrument(crate = marey_measure)]
    fn norm(&self) -> f64 {
        #![allow(unused_parens)]
        (self.0.into())
    }
}

#[instrument(name = "named", crate = marey_measure)]
fn numbers<'a, const N: usize>(values: &'a [u32; N]) -> impl Iterator<Item = u32> + 'a {
    values.iter().copied()
}

#[instrument(name = concat!("a", "b"), crate = marey_measure)]
#[expect(unsafe_code, reason = "every sort of function")]
unsafe extern "C" fn foreign() -> i32 {
    7
}

trait Shape {
    #[instrument(crate = ::marey_measure)]
    fn area(&self) -> u32 {
        5
    }
}

impl Shape for () {}

#[test]
fn every_sort_of_function_can_be_a_region() {
    if let Some(directory) = spool_of("every_sort_of_function_can_be_a_region") {
        marey_measure::start(&directory).unwrap();
        assert_eq!(inner::plain(0) + inner::plain(1), 3);
        assert_eq!(Grid(1.5_f32).norm(), 1.5);
        assert_eq!(numbers(&[1, 2]).sum::<u32>(), 3);
        #[expect(unsafe_code, reason = "every sort of function")]
        // SAFETY: it does nothing.
        let seven = unsafe { foreign() };
        assert_eq!(seven, 7);
        assert_eq!(().area(), 5);
        return;
    }
    let spool = Spool::read(child("every_sort_of_function_can_be_a_region").path());
    let visits = spool.checked().visits;
    let expected = [
        ("ab", 1),
        ("instrument::area", 1),
        ("instrument::inner::plain", 2),
        ("instrument::norm", 1),
        ("named", 1),
    ];
    assert_eq!(visits, expected.map(|(name, n)| (name.to_owned(), n)).into());
}
