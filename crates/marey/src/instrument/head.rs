//! Why a function of C or C++ can have no guard, by the words before its body.
//!
//! The one idea: a guard is static data and a call, so it must not stand where the language demands a constant, where there
//! is no stack to come back to, or in what the recorder itself needs.

use marey_source::text::Language;

/// Words of the head of a function, without comments and texts.
pub(super) fn words(head: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || 0x80 <= byte;
    let mut words = Vec::new();
    let mut at = 0;
    while at < head.len() {
        let rest = &head[at..];
        at += if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
        } else if rest[0] == b'"' {
            let end = rest[1..].iter().position(|byte| *byte == b'"' || *byte == b'\n');
            end.map_or(rest.len(), |end| end + 2)
        } else if is_word(rest[0]) {
            let len = rest.iter().take_while(|byte| is_word(**byte)).count();
            words.push(&rest[..len]);
            len
        } else {
            1
        };
    }
    words
}

/// What the recorder calls itself, or is called through; it may do so while it holds a lock.
const NEEDED: [&str; 22] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "strlen",
    "dlsym",
    "dlopen",
    "_start",
    "__cyg_profile_func_enter",
    "__cyg_profile_func_exit",
];

/// Why what is compiled for a device has no guard.
pub(super) const DEVICE: &str = "it may run on another device";
/// Why what ends with a call that takes its place has no guard.
pub(super) const TAIL_CALL: &str = "musttail: nothing can be done behind its last call";

/// Whether a body has a call that must take the place of its function.
pub(super) fn has_tail_call(body: &[u8]) -> bool {
    let is = |word: &[u8]| {
        [&b"musttail"[..], b"must_tail"]
            .iter()
            .any(|it| word.windows(it.len()).any(|part| part.eq_ignore_ascii_case(it)))
    };
    body.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').any(is)
}

/// Why a body must begin with what it begins with.
pub(super) fn refusal_of_body(body: &[u8]) -> Option<&'static str> {
    if has_tail_call(body) {
        return Some(TAIL_CALL);
    }
    let mut rest = body.trim_ascii_start();
    loop {
        let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let directive = rest.strip_prefix(b"#").map(<[u8]>::trim_ascii_start).unwrap_or_default();
        let end = if rest.starts_with(b"//") || directive.starts_with(b"if") || directive.starts_with(b"el") {
            line
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |end| end + 4)
        } else {
            let must_be_first = rest.starts_with(b"__label__")
                || directive.starts_with(b"pragma")
                || rest.starts_with(b"_Pragma");
            return must_be_first.then_some("it begins with a label or a pragma that must be first");
        };
        rest = rest[end..].trim_ascii_start();
    }
}

/// Why there can be no guard, by words with what they stand for.
pub(super) fn refusal(language: Language, name: &str, words: &[&[u8]]) -> Option<&'static str> {
    let has = |word: &str| words.contains(&word.as_bytes());
    let has_in = |parts: &[&str]| {
        let is_one =
            |word: &&[u8]| parts.iter().any(|part| word.windows(part.len()).any(|it| it == part.as_bytes()));
        words.iter().any(is_one)
    };
    if has("constexpr") || has("consteval") || has_in(&["CONSTEXPR", "CONSTEVAL"]) {
        return Some("constexpr: it may run in the compiler");
    }
    if has("naked") || has("__naked__") {
        return Some("naked: it has no frame");
    }
    if has("no_instrument_function") || has("__no_instrument_function__") {
        return Some("no_instrument_function is written beside it");
    }
    let is_of_kokkos = |word: &&[u8]| word.starts_with(b"KOKKOS_") && word.ends_with(b"FUNCTION");
    let is_of_device = has("__global__") || has("__device__");
    if is_of_device || words.iter().any(is_of_kokkos) || has_in(&["DEVICE", "ALPAKA_FN", "__CUDA", "__HIP"]) {
        return Some(DEVICE);
    }
    let is_inline = has("inline") || has("__inline") || has("__inline__");
    if language == Language::C && is_inline && !has("static") {
        return Some("inline and not static: C allows it no static data");
    }
    let is_operator =
        |word: &str| name.rsplit("::").next().is_some_and(|last| last.replace(' ', "").starts_with(word));
    if NEEDED.contains(&name) || is_operator("operatornew") || is_operator("operatordelete") {
        return Some("the recorder needs it itself");
    }
    name.starts_with("marey_").then_some("it is of marey itself")
}
