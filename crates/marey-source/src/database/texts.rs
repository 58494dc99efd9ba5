//! All texts of a database, each once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::facts::Text;

/// Texts by number.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: FxHashMap<Arc<str>, u32>,
    list: Vec<Arc<str>>,
}

impl Texts {
    /// The number of a text.
    pub(super) fn add(&mut self, text: &str) -> Text {
        if let Some(known) = self.known.get(text) {
            return Text(*known);
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.known.insert(Arc::clone(&text), number);
        self.list.push(text);
        Text(number)
    }

    /// The text of a number.
    pub(super) fn get(&self, text: Text) -> &str {
        self.list.get(text.0 as usize).map_or("", |text| text)
    }
}
