//! Several runs, opened when somebody looks at them.
//!
//! The one idea: a run, or two of them side by side, is named by numbers that the list gave out, `3` or `3-5`, and stays
//! open until the server ends: who has looked at it comes back.
//!
//! What is deliberately absent: where runs are found. The command line does that, and a page cannot name a place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::Opened;
use crate::wire::{WireOpening, WireRuns, WireShift};

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

    /// Why no clock of a run can be moved; `None` = it can.
    fn why_no_shift(&self, run: usize) -> Option<String>;

    /// Moves the clock of a process. Who opens the run then gets times with that.
    ///
    /// # Errors
    /// In words, if there is no such run or process, or it cannot be written down.
    fn shift(&self, run: usize, shift: WireShift) -> Result<(), String>;
}

/// Which runs are looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Looked {
    run: usize,
    beside: Option<usize>,
}

impl Looked {
    /// What is served where one run, or one with another beside it, was named.
    pub(super) const ONLY: Self = Self { run: 0, beside: None };

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
    /// Held by who opens it; others wait for that.
    opened: Mutex<Option<Arc<Opened<'static>>>>,
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

    fn book(&self, looked: Looked) -> Arc<Book> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(books.entry(looked).or_default())
    }

    /// Puts a run there that is open.
    pub(super) fn put(&self, looked: Looked, run: Opened<'static>) {
        let book = self.book(looked);
        *book.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(self.told(looked, run)));
    }

    /// With what can be done to it.
    fn told(&self, looked: Looked, mut run: Opened<'static>) -> Opened<'static> {
        run.allow_shift(self.shelf.why_no_shift(looked.run));
        run
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

    /// A run, which is opened for the first who asks. One that cannot be opened is tried again for the next.
    pub(super) fn get(&self, looked: Looked) -> Result<Arc<Opened<'static>>, String> {
        let book = self.book(looked);
        let mut opened = book.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = &*opened {
            return Ok(Arc::clone(run));
        }
        let say = |how_far: Option<WireOpening>| {
            *book.progress.lock().unwrap_or_else(PoisonError::into_inner) = how_far;
        };
        let found = self.shelf.open(looked.run, looked.beside, &|how_far| say(Some(how_far)));
        say(None);
        let run = Arc::new(self.told(looked, found?));
        *opened = Some(Arc::clone(&run));
        Ok(run)
    }

    /// Moves the clock of a process; the run is opened anew, alone and beside others, when somebody asks for it.
    pub(super) fn shift(&self, looked: Looked, shift: WireShift) -> Result<(), String> {
        self.shelf.shift(looked.run, shift)?;
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of_it = |it: &&Looked| it.run == looked.run || it.beside == Some(looked.run);
        let concerned: Vec<Arc<Book>> =
            books.keys().filter(is_of_it).filter_map(|it| books.get(it)).map(Arc::clone).collect();
        drop(books);
        for book in concerned {
            let before = book.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
            before.inspect(|run| run.retire());
        }
        Ok(())
    }
}
