//! What kernels, regions and fences are called, as nouns.
//!
//! The one idea: a name comes with each call as text, so a thread keeps the numbers of those that it has met, and asks what
//! all threads share, which costs calls of the kernel, once for each.
//!
//! Deliberately absent: names of lambdas and functors in readable form, which are made when the run is merged.

use core::ffi::{CStr, c_char};

use marey_measure::Lock;
use rustc_hash::FxHashMap;

/// Nouns from here on are names of Kokkos, below those of data.
const NOUNS: u32 = 1 << 28;
/// Names beyond this many are one.
const MOST: usize = 1 << 12;
/// Bytes of a name that are looked at.
const LONGEST: usize = 1 << 10;

/// What a name is the name of, as the archive has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Kernel,
    Region,
    Section,
    Fence,
    Event,
    View,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Region => "region",
            Self::Section => "section",
            Self::Fence => "fence",
            Self::Event => "event",
            Self::View => "view",
        }
    }
}

/// What makes two names one: kind, place and text.
type Key = (Kind, u32, Box<[u8]>);

#[derive(Default)]
struct Known {
    numbers: FxHashMap<Key, u32>,
    labels: Vec<(Kind, String)>,
}

static KNOWN: Lock<Option<Known>> = Lock::new(None);

/// Kind and name of a noun of ours.
pub(crate) fn named(noun: u32) -> Option<(&'static str, String)> {
    let at = noun.checked_sub(NOUNS).filter(|at| *at < 1 << 20)? as usize;
    let label = KNOWN.with_or_renew(Option::default, |known| known.as_ref()?.labels.get(at).cloned());
    label.flatten().map(|(kind, name)| (kind.name(), name))
}

/// The bytes of a name that Kokkos has handed over, cut where it is too long.
///
/// # Safety
/// `name` is null or text that ends with a zero byte and stays for as long as the call lasts.
pub(super) unsafe fn bytes_of<'a>(name: *const c_char) -> &'a [u8] {
    if name.is_null() {
        return b"";
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    &bytes[..bytes.len().min(LONGEST)]
}

/// Names that a thread has met.
#[derive(Default)]
pub(super) struct Met {
    by_text: FxHashMap<Box<[u8]>, Vec<Noun>>,
    n: usize,
}

/// Of what, where, and its number.
type Noun = (Kind, u32, u32);

impl Met {
    /// The number of a name of something in a place, such as a device; `label` makes the text that it is shown as.
    pub(super) fn noun(
        &mut self,
        kind: Kind,
        place: u32,
        text: &[u8],
        label: impl FnOnce(&str) -> String,
    ) -> u32 {
        let of_text = self.by_text.get(text);
        let known = of_text.and_then(|known| known.iter().find(|it| (it.0, it.1) == (kind, place)));
        if let Some(&(.., noun)) = known {
            return noun;
        }
        let noun = ask(kind, place, text, label);
        // A program that makes names without end is not to fill the memory.
        if self.n < 2 * MOST {
            self.n += 1;
            self.by_text.entry(text.into()).or_default().push((kind, place, noun));
        }
        noun
    }
}

#[cold]
fn ask(kind: Kind, place: u32, text: &[u8], label: impl FnOnce(&str) -> String) -> u32 {
    let number = KNOWN.with_or_renew(Option::default, |known| {
        let known = known.get_or_insert_default();
        let key = (kind, place, Box::from(text));
        if let Some(number) = known.numbers.get(&key) {
            return *number;
        }
        let is_room = known.labels.len() < MOST;
        let key = if is_room { key } else { (kind, u32::MAX, Box::default()) };
        if let Some(number) = known.numbers.get(&key) {
            return *number;
        }
        let text = String::from_utf8_lossy(text);
        let shown = if is_room { label(&text) } else { format!("(other {}s)", kind.name()) };
        let number = NOUNS + known.labels.len() as u32;
        known.labels.push((kind, shown));
        known.numbers.insert(key, number);
        number
    });
    number.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, since what is known belongs to the process.
    #[test]
    fn a_name_is_one_noun_in_all_threads_and_names_without_end_are_not() {
        let plain = |name: &str| name.to_owned();
        let (mut one, mut other) = (Met::default(), Met::default());
        let fill = one.noun(Kind::Kernel, 0, b"fill", plain);
        assert_eq!(other.noun(Kind::Kernel, 0, b"fill", plain), fill);
        assert_eq!(named(fill), Some(("kernel", "fill".to_owned())));
        let others = [
            one.noun(Kind::Region, 0, b"fill", plain),
            one.noun(Kind::Kernel, 7, b"fill", |name| format!("{name} on Cuda")),
            one.noun(Kind::Kernel, 0, b"fil", plain),
        ];
        assert!(others.iter().all(|it| *it != fill) && others[0] != others[1]);
        assert_eq!(named(others[1]), Some(("kernel", "fill on Cuda".to_owned())));
        for number in 0..3 * MOST {
            one.noun(Kind::Fence, 0, number.to_string().as_bytes(), plain);
        }
        let (last, before) = (one.noun(Kind::Fence, 0, b"x", plain), one.noun(Kind::Fence, 0, b"y", plain));
        assert_eq!((last, named(last)), (before, Some(("fence", "(other fences)".to_owned()))));
        assert_eq!(one.noun(Kind::Kernel, 0, b"fill", plain), fill);
        assert!(one.n <= 2 * MOST);
        assert_eq!((named(0), named(u32::MAX)), (None, None));
    }
}
