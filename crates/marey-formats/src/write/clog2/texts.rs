//! Names of few bytes, of which no two become alike.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names;
use crate::clog2::len;

#[derive(Default)]
pub(super) struct Names {
    known: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// How many were cut.
    pub(super) cut: usize,
}

impl Names {
    /// A name that fits, with a zero byte behind it.
    pub(super) fn short(&mut self, name: &str) -> String {
        if let Some(short) = self.known.get(name) {
            return short.clone();
        }
        let line = names::one_line(name.trim());
        let line = if line.is_empty() { "-".to_owned() } else { line };
        let fits = |most: usize| line[..line.floor_char_boundary(most)].trim_end().to_owned();
        let mut short = fits(len::NAME - 1);
        self.cut += usize::from(short.len() < line.len());
        for number in 2.. {
            if self.taken.insert(short.clone()) {
                break;
            }
            let end = format!("~{number}");
            short = fits(len::NAME - 1 - end.len()) + &end;
        }
        self.known.insert(name.to_owned(), short.clone());
        short
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_stay_apart() {
        let mut names = super::Names::default();
        let long = "a_name_that_is_longer_than_thirty_one_bytes";
        assert_eq!(names.short(long), "a_name_that_is_longer_than_thir");
        assert_eq!(names.short(&format!("{long}_2")), "a_name_that_is_longer_than_th~2");
        assert_eq!(names.short(long), "a_name_that_is_longer_than_thir");
        assert_eq!(
            (names.short(" "), names.short(&"é".repeat(16)).len(), names.cut),
            ("-".to_owned(), 30, 3)
        );
    }
}
