//! Stubs: what a program calls in place of functions that are recorded.
//!
//! The one idea: a stub is one jump through a *slot*, which holds the address of the real function until
//! the recorder puts its wrapper's there. All slots of a program lie side by side in a section of their
//! own, where the recorder finds them with the real functions and their names; `Slot` in
//! `crates/marey-collect/src/linked.rs` reads what is written here.

use object::elf::{R_X86_64_64, R_X86_64_PC32};
use object::write::{Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionFlags, SectionKind, SymbolFlags,
    SymbolKind, SymbolScope,
};

/// A stub and what it stands between.
#[derive(Debug)]
pub(super) struct Stub {
    /// By which it is called.
    symbol: String,
    /// Of the real function.
    real: String,
    /// Of the recorder's.
    wrapper: String,
    /// The function's.
    name: String,
    /// The function that the linker is asked to send here, by its option `--wrap`.
    wrapped: Option<String>,
}

impl Stub {
    /// For a function whose calls the linker sends to another name, wherever they stand.
    pub(super) fn around(kind: &str, name: &str) -> Self {
        Self {
            symbol: format!("__wrap_{name}"),
            real: format!("__real_{name}"),
            wrapper: format!("marey_{kind}_{name}"),
            name: name.to_owned(),
            wrapped: Some(name.to_owned()),
        }
    }

    /// For a function of MPI by its own name.
    pub(super) fn in_front_of(name: &str) -> Self {
        Self {
            symbol: name.to_owned(),
            real: format!("P{name}"),
            wrapper: format!("marey_mpi_{name}"),
            name: name.to_owned(),
            wrapped: None,
        }
    }

    /// For both names of a function of MPI. The libraries define the one without the P weakly, so that a
    /// tool may have it; Fortran's layers and some of C++'s call the other one.
    pub(super) fn both_of_mpi(name: &str) -> [Self; 2] {
        let around = Self::around("mpi", &format!("P{name}"));
        [
            Self { real: around.real.clone(), ..Self::in_front_of(name) },
            Self { name: name.to_owned(), ..around },
        ]
    }

    /// The function that is to be wrapped.
    pub(super) fn wrapped(&self) -> Option<&str> {
        self.wrapped.as_deref()
    }
}

/// An object with stubs for functions of the library of coarrays, which lies in the program; wrappers are the recorder's that
/// is loaded, which finds the slots by the name of their table.
pub(super) fn of_coarrays(names: &[&str]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let code = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
    let slots = object.add_section(Vec::new(), b"marey_coarrays".to_vec(), SectionKind::Data);
    let texts = object.add_section(Vec::new(), b".rodata".to_vec(), SectionKind::ReadOnlyData);
    for name in names {
        let stub = Stub::around("coarray", name);
        // Every program calls the first, and so the linker takes the library; another one may be newer than that.
        let binding = if *name == COARRAYS_BEGIN { Binding::Strong } else { Binding::Weak };
        add(&mut object, [code, slots, texts], &stub, binding, None);
    }
    let end = object.append_section_data(slots, &[0; 32], 8);
    let name = marey_model::COARRAY_STUBS.to_bytes().to_vec();
    object.add_symbol(Symbol {
        name,
        value: 0,
        size: end + 32,
        kind: SymbolKind::Data,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Section(slots),
        flags: SymbolFlags::None,
    });
    no_executable_stack(&mut object);
    object.write().expect("sections of this size can always be written")
}

/// What every program with coarrays calls first.
const COARRAYS_BEGIN: &str = "_gfortran_caf_init";

/// Names of the functions that lie between Fortran programs and functions of MPI: those of `mpif.h` and the
/// module `mpi`, those of `mpi_f08`, and MPICH's for arrays.
pub(super) fn layers(mpi: &[&str]) -> Vec<String> {
    let names = mpi.iter().flat_map(|name| {
        let (small, rest) = (name.to_lowercase(), name.trim_start_matches("MPI_"));
        [
            format!("p{small}_"),
            format!("{small}_f08_"),
            format!("{small}_f08ts_"),
            format!("MPIR_{rest}_cdesc"),
        ]
    });
    names.collect()
}

/// An object with stubs, and with the addresses of `layers` as far as the program has them.
pub(super) fn object(stubs: &[Stub], layers: &[String]) -> Vec<u8> {
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let code = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
    let slots = object.add_section(Vec::new(), b"marey_slots".to_vec(), SectionKind::Data);
    let names = object.add_section(Vec::new(), b".rodata".to_vec(), SectionKind::ReadOnlyData);
    for stub in stubs {
        add(&mut object, [code, slots, names], stub, Binding::Strong, Some(&stub.wrapper));
    }
    if !layers.is_empty() {
        let section = object.add_section(Vec::new(), b"marey_layers".to_vec(), SectionKind::Data);
        for name in layers {
            let at = object.append_section_data(section, &[0; 8], 8);
            let layer = undefined(&mut object, name, Binding::Weak);
            point(&mut object, (section, at), (layer, 0));
        }
    }
    no_executable_stack(&mut object);
    object.write().expect("sections of this size can always be written")
}

/// Without this mark the program's stack would become executable.
fn no_executable_stack(object: &mut Object<'_>) {
    let mark = object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object.section_mut(mark).flags =
        SectionFlags::Elf { sh_type: object::elf::SHT_PROGBITS, sh_flags: Default::default() };
}

#[derive(Clone, Copy, Debug)]
enum Binding {
    Strong,
    /// What is not there is 0, and is not sought in archives.
    Weak,
}

fn undefined(object: &mut Object<'_>, name: &str, binding: Binding) -> SymbolId {
    object.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Unknown,
        scope: SymbolScope::Unknown,
        weak: matches!(binding, Binding::Weak),
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    })
}

fn add(
    object: &mut Object<'_>,
    [code, slots, names]: [SectionId; 3],
    stub: &Stub,
    binding: Binding,
    wrapper: Option<&str>,
) {
    // jmp *slot(%rip)
    const JUMP: [u8; 6] = [0xff, 0x25, 0, 0, 0, 0];
    let at = object.append_section_data(code, &JUMP, 8);
    let slot = object.append_section_data(slots, &[0; 32], 8);
    let name = object.append_section_data(names, &[stub.name.as_bytes(), b"\0"].concat(), 1);
    object.add_symbol(Symbol {
        name: stub.symbol.as_bytes().to_vec(),
        value: at,
        size: JUMP.len() as u64,
        kind: SymbolKind::Text,
        scope: SymbolScope::Dynamic,
        weak: false,
        section: SymbolSection::Section(code),
        flags: SymbolFlags::None,
    });
    let [slots_begin, names_begin] = [slots, names].map(|section| object.section_symbol(section));
    let real = undefined(object, &stub.real, binding);
    let wrapper = wrapper.map(|name| undefined(object, name, Binding::Strong));
    let distance = RelocationFlags::Elf { r_type: R_X86_64_PC32 };
    let addend = i64::try_from(slot).expect("slots are few") - 4;
    relocate(object, code, Relocation { offset: at + 2, symbol: slots_begin, addend, flags: distance });
    let name = i64::try_from(name).expect("names are short");
    // Where it jumps, the real function, ours, the name.
    let words = [Some((real, 0)), Some((real, 0)), wrapper.map(|it| (it, 0)), Some((names_begin, name))];
    for (word, target) in words.into_iter().enumerate() {
        if let Some(target) = target {
            point(object, (slots, slot + 8 * word as u64), target);
        }
    }
}

/// Writes the address of a symbol, and so many bytes behind it, into a word.
fn point(object: &mut Object<'_>, (section, at): (SectionId, u64), (symbol, addend): (SymbolId, i64)) {
    let flags = RelocationFlags::Elf { r_type: R_X86_64_64 };
    relocate(object, section, Relocation { offset: at, symbol, addend, flags });
}

fn relocate(object: &mut Object<'_>, section: SectionId, relocation: Relocation) {
    object.add_relocation(section, relocation).expect("relocations of these kinds can always be written");
}
