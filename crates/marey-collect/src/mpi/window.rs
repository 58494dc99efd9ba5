//! Windows of one-sided communication: memory that other processes reach into.
//!
//! The one idea: what each process gives to a window is a datum, with the call that made it, where it begins and how large
//! it is; besides it is said in which other datum that memory lies, or which pointer is to hold it. So what is done from
//! anywhere can be told by the array. Which process's part a call means is found when the run is merged, since no rank
//! knows the memory of another.
//!
//! Deliberately absent: loads and stores of windows' memory, by whose it is or by those who share it; windows that the
//! library of coarrays makes to serve calls that are told themselves, for then one access would be two.

use marey_measure::{Lock, Runtime};
use marey_model::spool::{Access, Definition, DefinitionKind};
use marey_model::{AccessKind, DataKind};

use super::call::{Call, Open, Passing, Real};
use super::class::Class;
use super::collective::{finish, plain};
use super::communicator::{communicator, communicator_noun};
use super::flavour::flavour;
use super::handles::{Handles, Known};
use super::object::{Object, text};
use crate::data::{self, Key, buffers};
use crate::entry::slot;
use crate::site;

/// A window that records name.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) object: Object,
    /// The number of this process's part as a datum; [`NO_DATA`] = it is none.
    data: u32,
}

const NO_DATA: u32 = u32::MAX;

impl Known<3> for Window {
    fn words(self) -> [u64; 3] {
        let [word, communicator] = self.object.words();
        [word, communicator, self.data.into()]
    }

    unsafe fn of([word, communicator, data]: [u64; 3]) -> Self {
        // SAFETY: the caller's promise.
        Self { object: unsafe { Object::of([word, communicator]) }, data: data as u32 }
    }
}

static WINDOWS: Handles<Window, 3> = Handles::new();

/// Memory that is attached to windows: number of the window, address, datum.
static ATTACHED: Lock<Vec<(u32, usize, u32)>> = Lock::new(Vec::new());

/// The window that the argument `word` names.
pub(super) fn window(word: usize) -> Option<Window> {
    WINDOWS.get(flavour().handle(word))
}

/// The noun of sites that act on the window `word`.
pub(crate) fn window_noun(word: usize) -> u32 {
    window(word).map_or(u32::MAX, |known| known.object.noun)
}

/// What a process gives to a window.
#[derive(Clone, Copy)]
struct Piece {
    base: usize,
    bytes: u64,
    /// Bytes from one displacement to the next.
    unit: u64,
    /// Where the program wants to be told of memory that MPI has allocated.
    pointer: usize,
}

/// All functions that make a window; it is the last argument.
pub(crate) unsafe fn create<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    let comm = p.comm();
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(comm), |p, open| {
            let made = p.pass();
            if made {
                let [first, second, third] = [p.args[0], p.args[1], p.args[2]];
                let unit =
                    |word: usize| if p.function().large_count { word as u64 } else { word as u32 as u64 };
                let piece = match p.function().class {
                    Class::WinCreate => {
                        Piece { base: first, bytes: second as u64, unit: unit(third), pointer: 0 }
                    }
                    Class::WinCreateDynamic => Piece { base: 0, bytes: 0, unit: 1, pointer: 0 },
                    _ => Piece {
                        base: *(p.args[4] as *const usize),
                        bytes: first as u64,
                        unit: unit(second),
                        pointer: p.args[4],
                    },
                };
                let handle = flavour().handle_at(p.args[N - 1]);
                define(&open, p.call, handle, comm, piece);
            }
            finish(open, plain(comm).filter(|_| made));
        })
    }
}

fn define(open: &Open, call: Call, handle: usize, comm: usize, piece: Piece) {
    let runtime = open.runtime;
    let communicator = communicator(comm).map_or(u32::MAX, |known| known.number);
    let number = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::Window);
        let (base, size) = (piece.base as u64, piece.bytes);
        definitions.define(&Definition::Window { id, communicator, number: id.into(), base, size });
        id
    });
    let Some(number) = number else { return };
    let is_users = !crate::coarray::is_serving(call.entry);
    let made = if is_users { datum(open, call, number, piece) } else { None };
    let (data, noun) = made.unwrap_or_else(|| (NO_DATA, site::noun("window", &format!("window {number}"))));
    WINDOWS.insert(handle, Window { object: Object { number, noun, communicator }, data });
}

/// Defines what a process gives to the window of a number. The datum, and the noun of sites that act on it.
fn datum(open: &Open, call: Call, window: u32, piece: Piece) -> Option<(u32, u32)> {
    let runtime = open.runtime;
    let ticks = runtime.ticks();
    // SAFETY: the slot is the calling thread's own; it holds the site of the call that is under way.
    let site = unsafe { (*slot()).site };
    let Piece { base, bytes, unit, pointer } = piece;
    // Where there is nothing, a program may give any address.
    let memory =
        if bytes == 0 || pointer != 0 { None } else { buffers::memory(runtime, call.entry, base, site) };
    let held = if pointer == 0 { None } else { buffers::variable(runtime, call.entry, pointer) };
    let key = match (memory, held) {
        (Some(memory), _) => Key::Memory(memory),
        (None, Some((_, None))) => Key::Variable(pointer),
        // What lies in a frame is another variable in the next.
        (None, _) => Key::Made(site),
    };
    let id = runtime.define(|definitions| definitions.next_id(DefinitionKind::Data))?;
    let definition = Definition::Data {
        id,
        kind: DataKind::Window as u8,
        name: String::new(),
        place: held.map(|(place, _)| place),
        from_frame: held.and_then(|(_, from_frame)| from_frame),
        within: memory.map(|memory| (memory, 0)),
        site: Some(site),
        address: base as u64,
        bytes,
        element: unit,
        code: 0,
        bounds: Vec::new(),
        ticks,
    };
    let is_defined = runtime.define(|definitions| {
        definitions.define(&definition) && definitions.define(&Definition::WindowData { window, data: id })
    });
    is_defined.filter(|is_defined| *is_defined)?;
    record(open, AccessKind::Make, id, bytes);
    Some((id, data::noun("window", key, id)))
}

/// Says that all of a datum of this process is made or given back.
fn record(open: &Open, kind: AccessKind, data: u32, bytes: u64) {
    let access = Access { kind: kind as u8, data, target: Access::HERE, bytes, offset: 0, shape: u32::MAX };
    if open.is_recorded() {
        // SAFETY: the call is under way; the record is far shorter than what there is room for.
        unsafe { open.record(|_, _, scratch| scratch.access(&access)) };
    }
}

fn set_gone(runtime: &Runtime, id: u32) {
    let ticks = runtime.ticks();
    runtime.define(|definitions| definitions.define(&Definition::DataFreed { id, ticks }));
}

/// `(win)`, by pointer.
pub(crate) unsafe fn free(mut p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let handle = flavour().handle_at(p.args[0]);
        p.record(window_noun(handle), |p, open| {
            // Before the call: its handle may be given out again by another thread as soon as it returns.
            let known = WINDOWS.remove(handle);
            let is_freed = p.pass();
            if let Some(window) = known.filter(|window| window.data != NO_DATA && is_freed) {
                set_gone(open.runtime, window.data);
                record(&open, AccessKind::Free, window.data, 0);
                let number = window.object.number;
                let left = ATTACHED.with_or_renew(Vec::new, |all| {
                    all.extract_if(.., |it| it.0 == number).map(|it| it.2).collect::<Vec<u32>>()
                });
                left.unwrap_or_default().into_iter().for_each(|data| set_gone(open.runtime, data));
            }
            finish(open, known.and_then(|known| known.object.part()).filter(|_| is_freed));
        })
    }
}

/// `(win, win_name)`.
pub(crate) unsafe fn set_name(mut p: Passing<2, impl Real<2>>) -> usize {
    let [word, name] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(window_noun(word), |p, open| {
            let is_named = p.pass();
            if let Some(known) = window(word).filter(|known| is_named && known.data != NO_DATA) {
                let name = text(name);
                let number = known.object.number;
                open.runtime
                    .define(|definitions| definitions.define(&Definition::DataName { id: known.data, name }));
                // Calls on it speak of it alone from now on, whatever else lies in the same memory.
                let noun = data::noun("window", Key::Named(NAMED + number), known.data);
                let object = Object { noun, ..known.object };
                WINDOWS.replace(flavour().handle(word), Window { object, ..known });
            }
            open.finish_plain();
        })
    }
}

/// Names of windows are told apart from those of Views, of which there are fewer.
const NAMED: u32 = 1 << 31;

/// `(win, base, size)`.
pub(crate) unsafe fn attach(mut p: Passing<3, impl Real<3>>) -> usize {
    let [word, base, size] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(window_noun(word), |p, open| {
            let is_attached = p.pass();
            if let Some(known) = window(word).filter(|known| is_attached && known.data != NO_DATA) {
                let piece = Piece { base, bytes: size as u64, unit: 1, pointer: 0 };
                let number = known.object.number;
                if let Some((data, _)) = datum(&open, p.call, number, piece) {
                    ATTACHED.with_or_renew(Vec::new, |all| all.push((number, base, data)));
                }
            }
            open.finish_plain();
        })
    }
}

/// `(win, base)`.
pub(crate) unsafe fn detach(mut p: Passing<2, impl Real<2>>) -> usize {
    let [word, base] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(window_noun(word), |p, open| {
            let is_detached = p.pass();
            if let Some(number) = window(word).filter(|_| is_detached).map(|known| known.object.number) {
                let taken = ATTACHED.with_or_renew(Vec::new, |all| {
                    let at = all.iter().rposition(|it| (it.0, it.1) == (number, base))?;
                    Some(all.swap_remove(at).2)
                });
                if let Some(data) = taken.flatten() {
                    set_gone(open.runtime, data);
                    record(&open, AccessKind::Free, data, 0);
                }
            }
            open.finish_plain();
        })
    }
}
