//! Several runs, opened when somebody looks at them.
//!
//! The one idea: a run, or two of them side by side, is named by numbers that the list gave out, `3` or `3-5`, and stays
//! open until the server ends: who has looked at it comes back.
//!
//! What is deliberately absent: where runs are found. The command line does that, and a page cannot name a place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::Opened;
use crate::wire::{WireOpening, WireRuns};

/// What tells how far the opening of a run is.
pub type Progress<'p> = dyn Fn(WireOpening) + Sync + 'p;

/// Where runs come from.
pub trait Shelf: Send + Sync {
    /// What there is now. A number means the same run as long as the server runs.
    fn list(&self) -> WireRuns;

    /// Opens a run, with another beside it.
    ///
    /// # Errors
    /// In words, if there is no such run, or it cannot be opened.
    fn open(
        &self,
        run: usize,
        beside: Option<usize>,
        progress: &Progress<'_>,
    ) -> Result<Opened<'static>, String>;
}

/// Which runs are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Looked {
    run: usize,
    beside: Option<usize>,
}

impl Looked {
    /// From a part of an address.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.split_once('-') {
            None => Some(Self { run: text.parse().ok()?, beside: None }),
            Some((run, beside)) => Some(Self { run: run.parse().ok()?, beside: Some(beside.parse().ok()?) }),
        }
    }
}

/// A run that is open, or is being opened.
#[derive(Default)]
struct Book {
    opened: OnceLock<Opened<'static>>,
    /// Held by who opens it; others wait for that.
    opening: Mutex<()>,
    progress: Mutex<Option<WireOpening>>,
}

/// The runs that were opened.
pub(super) struct Shelved {
    shelf: Box<dyn Shelf>,
    books: Mutex<BTreeMap<Looked, Arc<Book>>>,
}

impl Shelved {
    pub(super) fn new(shelf: Box<dyn Shelf>) -> Self {
        Self { shelf, books: Mutex::default() }
    }

    pub(super) fn list(&self) -> WireRuns {
        self.shelf.list()
    }

    /// How far the opening of a run is; `None` = it is open, or nobody opens it.
    pub(super) fn progress(&self, looked: Looked) -> Option<WireOpening> {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let book = Arc::clone(books.get(&looked)?);
        drop(books);
        book.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Hands out a run, which is opened for the first who asks. One that cannot be opened is tried again for the next.
    pub(super) fn with<T>(
        &self,
        looked: Looked,
        then: impl FnOnce(&Opened<'static>) -> T,
    ) -> Result<T, String> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let book = Arc::clone(books.entry(looked).or_default());
        drop(books);
        let opening = book.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if book.opened.get().is_none() {
            let say = |how_far: Option<WireOpening>| {
                *book.progress.lock().unwrap_or_else(PoisonError::into_inner) = how_far;
            };
            let opened = self.shelf.open(looked.run, looked.beside, &|how_far| say(Some(how_far)));
            say(None);
            // Nobody else puts one there, for that is who holds the lock.
            book.opened.set(opened?).ok();
        }
        drop(opening);
        book.opened.get().map(then).ok_or_else(|| "the run was closed".to_owned())
    }
}
