//! The engine of a page that holds a run itself: `marey_serve::answer`, as WebAssembly.
//!
//! The one idea: whoever holds the instance asks for room, writes into it, and says what that was: the report, the name,
//! what is known of it and another run, the packed run, a request. What comes back lies where the last function said. So there are plain numbers on both
//! sides, and no glue that somebody would have to generate.
//!
//! What is deliberately absent: the page (`ui/`), what goes into it (`marey export`), and whatever a browser could do
//! besides: nothing is imported.
#![expect(
    unsafe_code,
    reason = "names that the page calls must stand as they are, and that alone is unsafe here"
)]

use std::cell::RefCell;
use std::path::Path;

use marey_archive::Archive;
use marey_serve::{Opened, answer};

/// What is kept between two calls.
#[derive(Default)]
struct Engine {
    /// What the page has written last.
    input: Vec<u8>,
    report: Vec<u8>,
    name: String,
    /// Of a page with two runs, what the other one is called, and what is known of both.
    other: Option<String>,
    compare: Vec<u8>,
    iterations: Vec<u8>,
    run: Option<Opened<'static>>,
    /// What it may read now.
    output: Vec<u8>,
}

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::default();
}

/// Makes room for so many bytes, and says where. What was there before is gone.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_room(length: usize) -> *mut u8 {
    ENGINE.with_borrow_mut(|engine| {
        engine.input = vec![0; length];
        engine.input.as_mut_ptr()
    })
}

/// What was written is the report of the run.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_take_report() {
    ENGINE.with_borrow_mut(|engine| engine.report = std::mem::take(&mut engine.input));
}

/// What was written is the name of the run.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_take_name() {
    ENGINE.with_borrow_mut(|engine| {
        engine.name = String::from_utf8_lossy(&std::mem::take(&mut engine.input)).into_owned();
    });
}

/// What was written is the name of the other run of the page.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_take_other() {
    ENGINE.with_borrow_mut(|engine| {
        engine.other = Some(String::from_utf8_lossy(&std::mem::take(&mut engine.input)).into_owned());
    });
}

/// What was written is the answer to how both runs compare.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_take_compare() {
    ENGINE.with_borrow_mut(|engine| engine.compare = std::mem::take(&mut engine.input));
}

/// What was written is the answer to which iterations both have.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_take_iterations() {
    ENGINE.with_borrow_mut(|engine| engine.iterations = std::mem::take(&mut engine.input));
}

/// What was written is the packed run. 0 = it is open; else so many bytes say why not.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_open() -> usize {
    ENGINE.with_borrow_mut(|engine| {
        engine.output = engine.open().err().map_or(Vec::new(), |why| why.to_string().into_bytes());
        engine.output.len()
    })
}

/// What was written is a request. The number of bytes of the answer.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_answer() -> usize {
    ENGINE.with_borrow_mut(|engine| {
        engine.output = engine.run.as_ref().map_or(Vec::new(), |run| answer(run, &engine.input));
        engine.output.len()
    })
}

/// Where the last answer lies. It is there until the next call.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn marey_output() -> *const u8 {
    ENGINE.with_borrow(|engine| engine.output.as_ptr())
}

impl Engine {
    fn open(&mut self) -> Result<(), marey_archive::Error> {
        let archive = Archive::open_in_memory(Path::new("run"), std::mem::take(&mut self.input))?;
        // It is there as long as the page is.
        let archive: &'static Archive = Box::leak(Box::new(archive));
        let report = std::mem::take(&mut self.report);
        let run = Opened::new(archive, &self.name, move || report.clone())?;
        self.run = Some(match self.other.take() {
            Some(other) => {
                run.told(&other, std::mem::take(&mut self.compare), std::mem::take(&mut self.iterations))
            }
            None => run,
        });
        Ok(())
    }
}
