//! Several runs, opened when somebody looks at them.
//!
//! The one idea: a run, or two of them side by side, is named by numbers that the list gave out, `3` or `3-5`, and stays
//! open until the server ends: who has looked at it comes back.
//!
//! Whatever takes the place of a run that is open is another run, of which nothing that was told is true. Marks tell them
//! apart: a page that means the one is never answered, nor a clock moved for it, in the other.
//!
//! What is deliberately absent: where runs are found. The command line does that, and a page cannot name a place.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Again;
use crate::Opened;
use crate::wire::{WireOpening, WireRuns, WireShift};

/// What tells how far the opening of a run is.
pub type Progress<'p> = dyn Fn(WireOpening) + Sync + 'p;

/// What tells a run from another one that takes its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark(pub u64);

/// Those of a run and of the one beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Marks {
    run: Mark,
    beside: Option<Mark>,
}

impl fmt::Display for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.run.0)?;
        self.beside.map_or(Ok(()), |beside| write!(f, "-{:016x}", beside.0))
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It cannot be done, in words.
    Said(String),
    /// The run that is meant is not there any more.
    Replaced(String),
}

impl Refusal {
    fn replaced() -> Self {
        Self::Replaced(
            "this run was replaced by another one, as when it is recorded again under its name; what is shown is of \
             the old one"
                .to_owned(),
        )
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Said(why)
    }
}

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

    /// What tells it from another one that takes its place, as it lies there now; of two that were named together both.
    ///
    /// # Errors
    /// In words, if there is none.
    fn mark(&self, run: usize) -> Result<Mark, String>;

    /// Why no clock of a run can be moved; `None` = it can.
    fn why_no_shift(&self, run: usize) -> Option<String>;

    /// Moves the clock of a process, if the run still has that mark. Who opens the run then gets times with that.
    ///
    /// # Errors
    /// In words, if there is no such run or process, or it cannot be written down.
    fn shift(&self, run: usize, mark: Mark, shift: WireShift) -> Result<(), String>;

    /// What can record the run of number 0 once more.
    ///
    /// # Errors
    /// In words, if the user has not allowed it.
    fn again(&self) -> Result<&dyn Again, String> {
        Err("this server may start no program; one that you start as `marey view RUN --allow-run` may"
            .to_owned())
    }
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

    /// Whether a run is the one that is looked at.
    pub(super) fn is_of(self, run: usize) -> bool {
        self.run == run
    }

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
    /// Of what was opened last.
    marks: Mutex<Option<Marks>>,
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
        let mut books = lock(&self.books);
        Arc::clone(books.entry(looked).or_default())
    }

    /// Puts a run there that is open.
    pub(super) fn put(&self, looked: Looked, run: Opened<'static>) {
        let book = self.book(looked);
        *lock(&book.marks) = self.marks(looked).ok();
        *lock(&book.opened) = Some(Arc::new(self.told(looked, run)));
    }

    /// As they are now.
    fn marks(&self, looked: Looked) -> Result<Marks, String> {
        let beside = looked.beside.map(|beside| self.shelf.mark(beside)).transpose()?;
        Ok(Marks { run: self.shelf.mark(looked.run)?, beside })
    }

    /// With what can be done to it.
    fn told(&self, looked: Looked, mut run: Opened<'static>) -> Opened<'static> {
        run.allow_shift(self.shelf.why_no_shift(looked.run));
        run
    }

    pub(super) fn again(&self) -> Result<&dyn Again, String> {
        self.shelf.again()
    }

    pub(super) fn list(&self) -> WireRuns {
        self.shelf.list()
    }

    /// How far the opening of a run is; `None` = it is open, or nobody opens it.
    pub(super) fn progress(&self, looked: Looked) -> Option<WireOpening> {
        let books = lock(&self.books);
        let book = Arc::clone(books.get(&looked)?);
        drop(books);
        lock(&book.progress).clone()
    }

    /// A run, which is opened for the first who asks, and anew where another one has taken its place; not for who means the
    /// one before. One that cannot be opened is tried again for the next.
    pub(super) fn get(
        &self,
        looked: Looked,
        meant: Option<&str>,
    ) -> Result<(Arc<Opened<'static>>, Marks), Refusal> {
        let book = self.book(looked);
        let mut opened = lock(&book.opened);
        let now = self.marks(looked);
        let (known, there) = (*lock(&book.marks), now.as_ref().ok().copied());
        if meant.is_some() && meant != there.map(|there| there.to_string()).as_deref() {
            return Err(now.err().map_or_else(Refusal::replaced, Refusal::Replaced));
        }
        if let (Some(run), Some(marks)) = (&*opened, there.filter(|_| there == known)) {
            return Ok((Arc::clone(run), marks));
        }
        opened.take().inspect(|before| before.retire());
        let say = |how_far: Option<WireOpening>| *lock(&book.progress) = how_far;
        let found = self.shelf.open(looked.run, looked.beside, &|how_far| say(Some(how_far)));
        say(None);
        let run = Arc::new(self.told(looked, found?));
        // What was there before it was opened: who has replaced it since is noticed.
        let marks = now?;
        *lock(&book.marks) = Some(marks);
        *opened = Some(Arc::clone(&run));
        Ok((run, marks))
    }

    /// Whether the run is there that was opened.
    pub(super) fn is_still(&self, looked: Looked, marks: Marks) -> Result<(), Refusal> {
        match self.marks(looked) {
            Ok(now) if now == marks => Ok(()),
            Ok(_) => Err(Refusal::replaced()),
            Err(why) => Err(Refusal::Replaced(why)),
        }
    }

    /// Whether the run is there that somebody has seen.
    pub(super) fn is_meant(&self, looked: Looked, meant: Option<&str>) -> Result<(), Refusal> {
        match self.marks(looked) {
            Ok(now) if meant.is_none_or(|meant| meant == now.to_string()) => Ok(()),
            Ok(_) => Err(Refusal::replaced()),
            Err(why) => Err(Refusal::Replaced(why)),
        }
    }

    /// Moves the clock of a process; the run is opened anew, alone and beside others, when somebody asks for it.
    pub(super) fn shift(&self, looked: Looked, meant: Option<&str>, shift: WireShift) -> Result<(), Refusal> {
        // A clock is moved of what somebody has seen, and of nothing else.
        let seen = *lock(&self.book(looked).marks);
        let seen = seen.ok_or_else(|| "this run was not opened; open it first".to_owned())?;
        if meant.is_some_and(|meant| meant != seen.to_string()) {
            return Err(Refusal::replaced());
        }
        self.is_still(looked, seen)?;
        self.shelf.shift(looked.run, seen.run, shift)?;
        let books = lock(&self.books);
        let is_of_it = |it: &&Looked| it.run == looked.run || it.beside == Some(looked.run);
        let concerned: Vec<Arc<Book>> =
            books.keys().filter(is_of_it).filter_map(|it| books.get(it)).map(Arc::clone).collect();
        drop(books);
        for book in concerned {
            let before = lock(&book.opened).take();
            before.inspect(|run| run.retire());
        }
        Ok(())
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
