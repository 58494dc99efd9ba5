//! All texts of a database, each once.
//!
//! The one idea: a row holds a number of four bytes instead of a name, and who has equal numbers has equal names. Nothing is
//! ever taken out.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A text of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(pub(crate) u32);

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    known: FxHashMap<Arc<str>, u32>,
    list: Vec<Arc<str>>,
}

impl Texts {
    /// The number of a text.
    pub(crate) fn add(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return Text(*known);
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.known.insert(Arc::clone(&text), number);
        self.list.push(text);
        Text(number)
    }

    /// All texts, in the order of their numbers.
    pub(crate) fn list(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|text| &**text)
    }

    /// The text of a number.
    pub(crate) fn get(&self, text: Text) -> &str {
        self.list.get(text.0 as usize).map_or("", |text| text)
    }
}
