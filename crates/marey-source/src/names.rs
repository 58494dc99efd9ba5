//! Makes linker names readable: what the programmer wrote, without what compilers added.
//!
//! Parameters and return types of C++ are left out: a profile's rows are told apart by file and line, and
//! `solve` is found where `std::vector<double, std::allocator<double> > solve(...)` is not. Template
//! arguments stay. A name that no scheme fits is returned as it is.

use std::fmt;

use cpp_demangle::{DemangleOptions, Symbol};
use rustc_hash::FxHashMap;

/// The names of a module that were made readable before. Functions recur at many addresses, above all those
/// that are inlined everywhere, and a name of C++ costs more than all else about an address: in a program
/// full of templates 30 000 addresses a second became 900 000.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: FxHashMap<Language, FxHashMap<Box<str>, Box<str>>>,
}

/// What is known about the language a function was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    /// Debug information says Fortran.
    Fortran,
    /// Debug information says another language.
    Other,
    /// Only the name is known.
    Unknown,
}

/// The longest name we print, in bytes. Mangled names are compressed: hostile ones grow exponentially.
const MAX_NAME_BYTES: usize = 4096;

impl Names {
    /// The name a reader of the source knows `linkage_name` by.
    pub(crate) fn readable(&mut self, linkage_name: &str, language: Language) -> String {
        let known = self.known.entry(language).or_default();
        if let Some(name) = known.get(linkage_name) {
            return name.to_string();
        }
        let name = readable(linkage_name, language);
        known.insert(linkage_name.into(), name.as_str().into());
        name
    }
}

/// The type that a name stands for which compilers of C++ give it at run time (`typeid(T).name()`); `None` for text that is
/// none. Such are the names of kernels that nobody has named: of their lambda or functor, with that of a tag behind a slash.
pub fn type_name(name: &str) -> Option<String> {
    if MAX_NAME_BYTES < name.len() {
        return None;
    }
    let of_type = |part: &str| {
        // A type of the language's is a single letter, and so might be what somebody calls a kernel.
        let is_one = part.starts_with(|c: char| matches!(c, 'Z' | 'N' | 'S' | '1'..='9'));
        let symbol = is_one.then(|| Symbol::new(format!("_ZTS{part}")).ok()).flatten()?;
        let mut out = Bounded(String::new());
        symbol.structured_demangle(&mut out, &DemangleOptions::new().no_return_type()).ok()?;
        out.0.strip_prefix("typeinfo name for ").map(without_empty_packs)
    };
    let parts: Option<Vec<String>> = name.split('/').map(of_type).collect();
    parts.map(|parts| parts.join("/"))
}

/// Whether the name is one that compilers make of all of a function's surroundings, and so the fullest.
pub(crate) fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z") || name.starts_with("_R")
}

fn readable(linkage_name: &str, language: Language) -> String {
    let name = without_clone_suffixes(without_version(linkage_name));
    let readable = rust_name(name)
        .or_else(|| cpp_name(name))
        .or_else(|| fortran_module_name(name))
        .or_else(|| fortran_external_name(name, language))
        .unwrap_or_else(|| name.to_owned());
    bounded(readable)
}

/// Removes the version of a library's symbol: `clock_gettime@@GLIBC_2.17`.
fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(base, _)| if base.is_empty() { name } else { base })
}

/// Removes what optimisers append to the copies they make of a function: they are one function to the
/// reader. `._omp_fn.0` stays: an outlined parallel region is a place of its own.
fn without_clone_suffixes(name: &str) -> &str {
    const CLONES: [&str; 6] = ["isra", "constprop", "part", "cold", "lto_priv", "llvm"];
    let mut name = name;
    while let Some((rest, last)) = name.rsplit_once('.') {
        let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_hexdigit());
        let tag = if is_number { rest.rsplit_once('.').map_or("", |(_, tag)| tag) } else { last };
        if rest.is_empty() {
            break;
        }
        if CLONES.contains(&tag) {
            name = if is_number { rest.rsplit_once('.').map_or(rest, |(base, _)| base) } else { rest };
        } else if last.bytes().all(|byte| byte.is_ascii_digit()) && !tag.starts_with("_omp_fn") && is_number {
            // `inner.0`: a function contained in another one, or a second static one of that name.
            name = rest;
        } else {
            break;
        }
    }
    name
}

fn rust_name(name: &str) -> Option<String> {
    // `{:#}` leaves the hash out.
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut out = Bounded(String::new());
    fmt::write(&mut out, format_args!("{demangled:#}")).ok()?;
    Some(out.0)
}

fn cpp_name(name: &str) -> Option<String> {
    if !name.starts_with("_Z") || MAX_NAME_BYTES < name.len() {
        return None;
    }
    if let Some((kind, target)) = thunk(name) {
        return Some(format!("{kind} to {}", cpp_name(&format!("_Z{target}"))?));
    }
    demangled(name).or_else(|| demangled_without_signature(name))
}

fn demangled(name: &str) -> Option<String> {
    let symbol = Symbol::new(name).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options).ok()?;
    // What is left of the parameter list of a member function.
    let mut name = out.0.as_str();
    while let Some(rest) = [" const", " volatile", " &"].iter().find_map(|last| name.strip_suffix(last)) {
        name = rest;
    }
    (!name.is_empty()).then(|| without_empty_packs(name))
}

/// An empty pack among template arguments leaves its comma: `all<char, >`.
fn without_empty_packs(name: &str) -> String {
    let mut name = name.to_owned();
    for (before, after) in [(", , ", ", "), (", >", ">"), ("<, ", "<")] {
        while name.contains(before) {
            name = name.replace(before, after);
        }
    }
    name
}

/// The types of a signature, which we leave out anyway, are the hard part of a name: the demangler knows
/// no `enable_if` over `std` types, of which the standard library is full. So the shortest beginning that
/// is a whole name is demangled instead; a name that needs more tries than a few is not of that kind.
fn demangled_without_signature(name: &str) -> Option<String> {
    const MAX_TRIES: usize = 100;
    let ends = name.match_indices('E').map(|(at, end)| at + end.len()).take(MAX_TRIES);
    ends.filter_map(|end| name.get(..end)).find_map(|whole| demangled(&format!("{whole}v")))
}

/// `_ZTv0_n24_N1a1fEv`, which moves `this` and goes on to `a::f`: what it is, and what it leads to.
fn thunk(name: &str) -> Option<(&'static str, &str)> {
    if let Some(rest) = name.strip_prefix("_ZTh") {
        return Some(("non-virtual thunk", rest.split_once('_')?.1));
    }
    let (_, rest) = name.strip_prefix("_ZTv")?.split_once('_')?;
    Some(("virtual thunk", rest.split_once('_')?.1))
}

/// gfortran: `__mod_MOD_sub`, and `__mod.submod_SMOD_sub`-like names of submodules.
fn fortran_module_name(name: &str) -> Option<String> {
    let inside = name.strip_prefix("__")?;
    let (module, procedure) = inside.split_once("_MOD_").or_else(|| inside.split_once("_SMOD_"))?;
    let is_module = module.starts_with(|c: char| c.is_ascii_alphabetic());
    (is_module && !procedure.is_empty()).then(|| format!("{}::{procedure}", module.replace('.', "::")))
}

/// External procedures: `solve_` → `solve`. Without debug information only names that cannot be much else
/// are touched: one trailing underscore, nothing that a Fortran compiler would have made lower case.
fn fortran_external_name(name: &str, language: Language) -> Option<String> {
    let base = name.strip_suffix('_')?;
    let fits = match language {
        Language::Fortran => !base.is_empty(),
        Language::Other => false,
        Language::Unknown => {
            base.starts_with(|c: char| c.is_ascii_lowercase())
                && !base.ends_with('_')
                && base.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        }
    };
    fits.then(|| base.to_owned())
}

fn bounded(mut name: String) -> String {
    if MAX_NAME_BYTES < name.len() {
        name.truncate(name.floor_char_boundary(MAX_NAME_BYTES));
        name.push('…');
    }
    name
}

/// A string that refuses to grow beyond [`MAX_NAME_BYTES`], which ends the demangling.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if MAX_NAME_BYTES < self.0.len() {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(linkage_name: &str, language: Language, expected: &str) {
        assert_eq!(readable(linkage_name, language), expected);
    }

    #[test]
    fn cpp_names_lose_parameters_and_keep_template_arguments() {
        check("_ZN4halo6Solver4stepEid", Language::Unknown, "halo::Solver::step");
        check("_Z5twiceIiET_S0_", Language::Other, "twice<int>");
        check("_ZZ4mainENKUlvE_clEv", Language::Other, "main::{lambda()#1}::operator()");
        check("_ZN12_GLOBAL__N_14workEv", Language::Other, "(anonymous namespace)::work");
    }

    /// Names as GCC 12 gives them (`typeid(T).name()`), and what `c++filt -t` says of them, but for the spaces of old.
    #[test]
    fn types_have_names_and_other_text_has_none() {
        let check =
            |name: &str, expected: &str| assert_eq!(type_name(name).as_deref().unwrap_or("-"), expected);
        check("Z4mainEUliE_", "main::{lambda(int)#1}");
        check("Z4mainEUliE0_", "main::{lambda(int)#2}");
        check("5Scale", "Scale");
        check("N3app4FillIdEE", "app::Fill<double>");
        check(
            "N3app4FillISt6vectorIiSaIiEEE3TagE",
            "app::Fill<std::vector<int, std::allocator<int> > >::Tag",
        );
        check("N3app12_GLOBAL__N_16HiddenE", "app::(anonymous namespace)::Hidden");
        check("ZN3app3runIdEEvT_EUliRdE_", "app::run<double>(double)::{lambda(int, double&)#1}");
        check("ZN6Solver4stepEvEUliE_", "Solver::step()::{lambda(int)#1}");
        check("5Scale/N3app4FillIdEE", "Scale/app::Fill<double>");
        // What somebody calls a kernel by.
        for name in [
            "",
            "fill",
            "x",
            "d",
            "Zebra",
            "Newton",
            "3D",
            "3d stencil",
            "5Scaled",
            "Kokkos::ViewFill-1D",
            "5Scale/x",
        ] {
            check(name, "-");
        }
        check(&"N".repeat(100_000), "-");
        check(&"NP".repeat(2000), "-");
    }

    #[test]
    fn cpp_names_are_found_before_signatures_that_cannot_be_read() {
        // std::swap<double> and std::__fill_a1<double*, double> as GCC 12 writes them.
        let swap = "_ZSt4swapIdENSt9enable_ifIXsrSt6__and_IJSt6__not_ISt15__is_tuple_likeIT_EESt21is_move_cons\
                    tructibleIS4_ESt18is_move_assignableIS4_EEE5valueEvE4typeERS4_SE_";
        check(swap, Language::Other, "std::swap<double>");
        let fill = "_ZSt9__fill_a1IPddEN9__gnu_cxx11__enable_ifIXsrSt11__is_scalarIT0_E7__valueEvE6__typeET_S8_\
                    RKS4_";
        check(fill, Language::Other, "std::__fill_a1<double*, double>");
    }

    #[test]
    fn cpp_names_of_empty_packs_and_of_thunks() {
        check("_ZN1a3allIA39_cJEEEvRKiDpOT0_", Language::Unknown, "a::all<char [39]>");
        check("_ZN1a3allIJEJEiJEEEvv", Language::Unknown, "a::all<int>");
        check("_ZTv0_n24_N1a4PairD0Ev", Language::Unknown, "virtual thunk to a::Pair::~Pair");
        check("_ZThn16_N1a4Pair3runEv", Language::Unknown, "non-virtual thunk to a::Pair::run");
        check("_ZThn16", Language::Unknown, "_ZThn16");
    }

    #[test]
    fn rust_names_lose_their_hash() {
        check("_ZN4core3fmt5write17h0123456789abcdefE", Language::Other, "core::fmt::write");
        check("_RNvCs1234_7mycrate3foo", Language::Unknown, "mycrate::foo");
    }

    #[test]
    fn fortran_names_become_what_the_source_says() {
        check("__heat_MOD_step", Language::Unknown, "heat::step");
        check("ext_", Language::Fortran, "ext");
        check("pdgemm_", Language::Unknown, "pdgemm");
        check("inner.0", Language::Unknown, "inner");
    }

    #[test]
    fn names_of_other_languages_are_left_alone() {
        check("trailing_", Language::Other, "trailing_");
        check("Trailing_", Language::Unknown, "Trailing_");
        check("__libc_start_main", Language::Unknown, "__libc_start_main");
        check("_", Language::Fortran, "_");
        check("", Language::Unknown, "");
        check("_Z", Language::Unknown, "_Z");
        check(".plt", Language::Unknown, ".plt");
    }

    #[test]
    fn copies_made_by_the_optimiser_keep_the_functions_name() {
        check("work.isra.0.cold", Language::Other, "work");
        check("work.constprop.12", Language::Other, "work");
        check("clock_gettime@@GLIBC_2.17", Language::Unknown, "clock_gettime");
        check("_ZN4halo6Solver4stepEid.part.0", Language::Other, "halo::Solver::step");
        check("main._omp_fn.0", Language::Other, "main._omp_fn.0");
    }

    #[test]
    fn exploding_names_are_cut_short() {
        // Each substitution doubles the type before it.
        let bomb =
            format!("_Z1fI{}E", (0..60).fold("1aIiiE".to_owned(), |inner, _| format!("1bI{inner}S_E")));
        assert!(readable(&bomb, Language::Other).len() <= 2 * MAX_NAME_BYTES + bomb.len());
        assert!(readable(&"x".repeat(100_000), Language::Other).len() < 2 * MAX_NAME_BYTES);
    }
}
