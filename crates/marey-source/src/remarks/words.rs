//! Reasons of compilers in plain words.
//!
//! The one idea: each says what of the loop is in the way, and what can be done about it where that is known. What is not
//! in the lists stays in the compiler's own words.

/// Of GCC: a part of its message, and what that means.
const GCC: &[(&str, &str)] = &[
    (
        "possible alias involving gather/scatter",
        "it may write an element that another iteration uses, by an index from memory",
    ),
    ("bad data dependence", "an iteration may need what another one writes"),
    ("complicated access pattern", "it goes through memory in steps that vectors do not follow"),
    ("bad data access", "it goes through memory in steps that vectors do not follow"),
    ("control flow in loop", "it has branches that do not become vector instructions"),
    ("latch block not empty", "it has branches that do not become vector instructions"),
    ("number of iterations cannot be computed", "the number of iterations is not known when it begins"),
    (
        "loop contains function calls or data references that cannot be analyzed",
        "it calls a function, or reaches memory in a way that the compiler cannot follow",
    ),
    ("data ref analysis failed", "it reaches memory in a way that the compiler cannot follow"),
    ("not suitable for gather", "it takes elements by an index from memory"),
    ("not suitable for scatter", "it writes elements by an index from memory"),
    ("statement clobbers memory", "a statement may write anywhere in memory"),
    ("statement can throw an exception", "a statement can throw an exception"),
    ("volatile", "it uses volatile memory"),
    ("no vectype for stmt", "there is no vector of one of its types"),
    ("unsupported data-type", "there is no vector of one of its types"),
    ("relevant stmt not supported", "the target has no vector instruction for one of its statements"),
    ("unsupported use in stmt", "a value is carried from one iteration to the next, and not as a sum"),
    ("value used after loop", "a value is carried from one iteration to the next, and not as a sum"),
    (
        "reduction: unsafe fp math optimization",
        "it adds up floating-point numbers, whose order must stay (-ffast-math, or -fassociative-math, lets it change)",
    ),
    ("multiple exits", "it has more than one exit"),
    ("more than one exit", "it has more than one exit"),
    ("multiple nested loops", "it has more than one loop within"),
    ("loop nest containing two or more consecutive inner loops", "it has more than one loop within"),
    ("not profitable", "the compiler expects nothing from it"),
    ("will never be profitable", "the compiler expects nothing from it"),
    ("bad loop form", "the compiler does not know its form"),
    ("loop form not understood", "the compiler does not know its form"),
    ("unsupported", "the target has no vector instruction for one of its statements"),
];

/// Of LLVM.
const LLVM: &[(&str, &str)] = &[
    (
        "cannot prove it is safe to reorder floating-point operations",
        "it adds up floating-point numbers, whose order must stay (Clang's -ffast-math, or -fassociative-math, lets it \
         change)",
    ),
    ("unsafe dependent memory operations", "an iteration may need what another one writes"),
    (
        "value that could not be identified as reduction",
        "a value is carried from one iteration to the next, or out of the loop, and not as a sum",
    ),
    ("call instruction cannot be vectorized", "it calls a function"),
    ("read with atomic ordering or volatile", "it uses volatile or atomic memory"),
    ("write with atomic ordering or volatile", "it uses volatile or atomic memory"),
    ("could not determine number of loop iterations", "the number of iterations is not known when it begins"),
    (
        "control flow cannot be substituted for a select",
        "it has branches that do not become vector instructions",
    ),
    (
        "control flow is not understood by vectorizer",
        "it has branches, or exits, that the compiler does not follow",
    ),
    ("loop contains a switch statement", "it has a switch"),
    ("cannot identify array bounds", "the compiler does not know where its arrays begin and end"),
    ("not beneficial", "the compiler expects nothing from it"),
    ("instruction cannot be vectorized", "the target has no vector instruction for one of its statements"),
    ("instruction return type cannot be vectorized", "there is no vector of one of its types"),
    ("early exit", "it can be left early"),
    ("cannot be vectorized", "one of its statements has no vector form"),
];

/// What GCC means; `None` = nobody has said it here yet.
pub(super) fn of_gcc(said: &str) -> Option<&'static str> {
    find(GCC, said)
}

/// What LLVM means.
pub(super) fn of_llvm(said: &str) -> Option<&'static str> {
    find(LLVM, said)
}

fn find(list: &'static [(&str, &str)], said: &str) -> Option<&'static str> {
    let said = said.to_ascii_lowercase();
    list.iter().find(|(part, _)| said.contains(part)).map(|(_, words)| *words)
}

/// Why a call was not inlined.
const INLINING: &[(&str, &str)] = &[
    (
        "function body not available",
        "its code is in another file or a library (link-time optimisation may help)",
    ),
    (
        "definition is unavailable",
        "its code is in another file or a library (link-time optimisation may help)",
    ),
    ("function not inlinable", "it is marked as not to be inlined, or cannot be"),
    ("noinline function attribute", "it is marked as not to be inlined"),
    ("should never be inlined", "it is marked as not to be inlined, or cannot be"),
    ("call is unlikely and code size would grow", "it is called seldom, the compiler expects"),
    ("recursive", "it calls itself"),
    ("growth limit reached", "the code would grow beyond a limit of the compiler"),
    ("too costly to inline", "it is longer than a limit of the compiler"),
    ("call is not hot", "it is called seldom, the compiler expects"),
    ("mismatched", "it is compiled with other options"),
];

/// What a compiler means by not inlining.
pub(super) fn of_inlining(said: &str) -> Option<&'static str> {
    find(INLINING, said)
}
