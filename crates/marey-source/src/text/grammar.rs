//! The grammars: how each language is parsed, and which nodes of its trees say something.
//!
//! The one idea: most nodes of a tree are punctuation and operands; a table by the number of the kind passes them over, so
//! that only the others are compared by name.

use std::sync::OnceLock;

use tree_sitter::{Language as TreeSitter, Node};

use super::language::Language;
use super::walk::Walk;
use super::{c_family, fortran, rust};

/// A language as far as a walk must know it.
pub(super) struct Grammar {
    pub(super) language: TreeSitter,
    /// By the number of a kind of node: whether it says something.
    tells: Vec<bool>,
    /// Takes what a node says.
    pub(super) enter: fn(&mut Walk<'_>, Node<'_>),
}

impl Grammar {
    fn new(language: TreeSitter, kinds: &[&str], enter: fn(&mut Walk<'_>, Node<'_>)) -> Self {
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let tells =
            (0..count).map(|id| language.node_kind_for_id(id).is_some_and(|kind| kinds.contains(&kind)));
        let tells = tells.collect();
        Self { tells, language, enter }
    }

    /// Whether a node says something.
    pub(super) fn tells(&self, node: Node<'_>) -> bool {
        // A keyword may have the name of what it begins.
        self.tells.get(usize::from(node.kind_id())).copied().unwrap_or(false) && node.is_named()
    }

    /// The grammar of a language.
    pub(super) fn of(language: Language) -> &'static Self {
        static GRAMMARS: [OnceLock<Grammar>; 4] = [const { OnceLock::new() }; 4];
        match language {
            Language::C => GRAMMARS[0]
                .get_or_init(|| Self::new(tree_sitter_c::LANGUAGE.into(), c_family::KINDS, c_family::enter)),
            Language::Cpp => GRAMMARS[1].get_or_init(|| {
                Self::new(tree_sitter_cpp::LANGUAGE.into(), c_family::KINDS, c_family::enter)
            }),
            // Text in fixed form is given to it in free form.
            Language::Fortran | Language::FixedFortran => GRAMMARS[2].get_or_init(|| {
                Self::new(tree_sitter_fortran::LANGUAGE.into(), fortran::KINDS, fortran::enter)
            }),
            Language::Rust => GRAMMARS[3]
                .get_or_init(|| Self::new(tree_sitter_rust::LANGUAGE.into(), rust::KINDS, rust::enter)),
        }
    }
}
