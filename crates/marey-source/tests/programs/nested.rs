//! Iterator chains, closures, generics and trait objects of the standard library and own ones.
use std::collections::{BTreeMap, HashMap};
use std::fmt;

mod lattice {
    pub trait Cell: Copy {
        fn mixed(self, other: Self) -> Self;
    }
    impl Cell for u32 {
        #[inline]
        fn mixed(self, other: Self) -> Self {
            self.rotate_left(5) ^ other
        }
    }
    impl Cell for f64 {
        #[inline]
        fn mixed(self, other: Self) -> Self {
            0.5 * (self + other)
        }
    }
    pub struct Field<T, const N: usize>(pub Vec<T>);
    impl<T: Cell + PartialOrd, const N: usize> Field<T, N> {
        #[inline(never)]
        pub fn smooth(&mut self) -> Option<T> {
            let mixed: Vec<T> = self.0.windows(2).take(N).map(|pair| pair[0].mixed(pair[1])).collect();
            self.0 = mixed;
            self.0.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
            self.0.iter().copied().reduce(T::mixed)
        }
    }
}

use lattice::Field;

struct Shown<'a>(&'a BTreeMap<String, usize>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(word, n)| write!(f, "{word}={n} "))
    }
}

#[inline(never)]
fn counts(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace().filter(|word| !word.starts_with('#')) {
        *counts.entry(word.to_uppercase()).or_default() += 1;
    }
    counts
}

fn twice(with: &dyn Fn(u64) -> u64, from: u64) -> u64 {
    with(with(from))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "one two one #three".to_owned());
    println!("{}", Shown(&counts(&text)));
    let mut whole = Field::<u32, 16>((0..40).collect());
    let mut real = Field::<f64, 16>((0..40).map(f64::from).collect());
    let names: HashMap<u32, String> = whole.0.iter().map(|&n| (n, format!("cell {n}"))).collect();
    println!("{:?} {:?} {}", whole.smooth(), real.smooth(), names.len());
    let add = text.len() as u64;
    println!("{}", twice(&move |n| n.wrapping_mul(add) + 1, "17".parse()?));
    std::thread::spawn(move || println!("{}", names[&3])).join().map_err(|_| "a thread has failed")?;
    Ok(())
}
