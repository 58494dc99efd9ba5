//! The way through a syntax tree, and what it lies in at each step.
//!
//! The one idea: a cursor goes over the tree without recursion, so no depth of nesting can use up the stack; whoever opens
//! a scope (a namespace, a type, a function, a loop) at a node has it closed when the cursor leaves that node. Languages
//! only say what a node means.
//!
//! It resolves no names: what a call or a base means is asked when all files are known.

use std::borrow::Cow;

use tree_sitter::{Node, Tree};

use super::facts::{
    Access, Base, Bytes, Call, CallKind, Construct, Function, Lines, Loop, LoopKind, Mark, MarkKind, Member,
    Model, Reference, Type, TypeKind,
};
use super::grammar::Grammar;
use super::references::{self, Found};
use super::subscripts::Variables;
use crate::texts::{Text, Texts};

/// Rows of one file. Numbers are those of this file; the file is 0.
#[derive(Default)]
pub(super) struct FileFacts {
    pub(super) texts: Texts,
    pub(super) functions: Vec<Function>,
    pub(super) types: Vec<Type>,
    pub(super) members: Vec<Member>,
    pub(super) bases: Vec<Base>,
    pub(super) loops: Vec<Loop>,
    pub(super) constructs: Vec<Construct>,
    pub(super) calls: Vec<Call>,
    /// Calls of Fortran that may be elements of arrays.
    pub(super) references: Vec<Call>,
    /// References to other images.
    pub(super) remote: Vec<Reference>,
    /// References that may be to arrays which some image asks another one for, until the file has been read.
    pub(super) elements: Vec<Found>,
    pub(super) marks: Vec<Mark>,
    pub(super) unclear: u32,
    pub(super) first_unclear: u32,
}

/// What a node lies in.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The full name of the innermost scope; empty outside of all.
    pub(super) scope: Text,
    /// The type whose members are here.
    pub(super) of: Option<u32>,
    pub(super) function: Option<u32>,
    /// The innermost loop.
    pub(super) within: Option<u32>,
    /// How members are accessible that do not say.
    pub(super) access: Access,
    /// Whose tasks are started by a `spawn` here.
    pub(super) tasks: Option<Model>,
    /// Whether this implements a trait.
    pub(super) is_of_trait: bool,
    /// Whether this is a pattern that code is made from, and no code.
    pub(super) is_pattern: bool,
    /// The first byte of the innermost `switch`.
    pub(super) switch: u32,
}

struct Open {
    depth: u32,
    context: Context,
}

/// A walk through the tree of a file.
pub(super) struct Walk<'t> {
    pub(super) text: &'t [u8],
    pub(super) out: FileFacts,
    open: Vec<Open>,
    depth: u32,
    /// A directive whose region is the next statement beside it.
    directive: Option<(u32, u32)>,
    /// What a language keeps between nodes beside each other: the depth at which it was seen.
    pub(super) marked: Option<u32>,
    /// A name that comes before what has it.
    pub(super) marked_name: Option<String>,
    /// Loops that are recognised before what they lie around: where that begins, and the line of the first word.
    pub(super) token_loops: rustc_hash::FxHashMap<usize, (LoopKind, u32)>,
    /// Names of arrays, by the scope that declares them.
    pub(super) arrays: rustc_hash::FxHashSet<(Text, Text)>,
    /// What changes in loops, by the loop, where anybody asks for it.
    pub(super) variables: rustc_hash::FxHashMap<u32, Variables>,
    /// And in procedures.
    pub(super) of_functions: rustc_hash::FxHashMap<Option<u32>, Variables>,
    /// The first byte of the statement that was entered last.
    pub(super) statement: usize,
    /// Names that procedures declare, and what those are worth that are constants.
    pub(super) constants: rustc_hash::FxHashMap<(Option<u32>, String), Option<i64>>,
    /// Whether references to other images may stand here.
    pub(super) has_images: bool,
    /// Where selectors of images end whose references have been told.
    pub(super) told_images: rustc_hash::FxHashSet<usize>,
}

/// Walks through a tree.
pub(super) fn walk(tree: &Tree, grammar: &Grammar, text: &[u8]) -> FileFacts {
    let mut walk = Walk::new(text);
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            walk.unclear(node);
        }
        if grammar.tells(node) {
            walk.end_directive(node);
            (grammar.enter)(&mut walk, node);
        } else if walk.directive.is_some() {
            walk.end_directive(node);
        }
        if cursor.goto_first_child() {
            walk.depth = walk.depth.saturating_add(1);
            continue;
        }
        loop {
            walk.leave();
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                references::finish(&mut walk);
                return walk.out;
            }
            walk.depth = walk.depth.saturating_sub(1);
        }
    }
}

impl<'t> Walk<'t> {
    fn new(text: &'t [u8]) -> Self {
        let mut out = FileFacts::default();
        // An empty text is number 0, which rows begin with.
        let scope = out.texts.add("");
        let context = Context {
            scope,
            of: None,
            function: None,
            within: None,
            access: Access::Public,
            tasks: None,
            is_of_trait: false,
            is_pattern: false,
            switch: 0,
        };
        let open = vec![Open { depth: 0, context }];
        Self {
            text,
            out,
            open,
            depth: 0,
            directive: None,
            marked: None,
            marked_name: None,
            token_loops: rustc_hash::FxHashMap::default(),
            arrays: rustc_hash::FxHashSet::default(),
            variables: rustc_hash::FxHashMap::default(),
            of_functions: rustc_hash::FxHashMap::default(),
            statement: 0,
            constants: rustc_hash::FxHashMap::default(),
            has_images: references::may_have_any(text),
            told_images: rustc_hash::FxHashSet::default(),
        }
    }

    /// What the node that is being visited lies in.
    pub(super) fn context(&self) -> Context {
        self.open.last().expect("the first is never closed").context
    }

    /// The context of what lies in the innermost scope, for who changes it on the way.
    pub(super) fn context_mut(&mut self) -> &mut Context {
        &mut self.open.last_mut().expect("the first is never closed").context
    }

    /// Opens a scope at the node that is being visited.
    pub(super) fn enter(&mut self, context: Context) {
        self.open.push(Open { depth: self.depth, context });
    }

    /// Contexts from the innermost outwards.
    pub(super) fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.open.iter().rev().map(|open| &open.context)
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth
    }

    fn leave(&mut self) {
        // The first has the depth of the root, and stays.
        while 1 < self.open.len() && self.open.last().is_some_and(|open| open.depth == self.depth) {
            self.open.pop();
        }
    }

    fn unclear(&mut self, node: Node<'_>) {
        self.out.unclear = self.out.unclear.saturating_add(1);
        if self.out.first_unclear == 0 {
            self.out.first_unclear = line(node);
        }
    }

    /// The text of a node.
    pub(super) fn str(&self, node: Node<'_>) -> Cow<'t, str> {
        String::from_utf8_lossy(self.bytes(node))
    }

    pub(super) fn bytes(&self, node: Node<'_>) -> &'t [u8] {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn add(&mut self, text: &str) -> Text {
        self.out.texts.add(text)
    }

    /// A name with the scopes that it lies in.
    pub(super) fn full(&mut self, name: &str) -> Text {
        let scope = self.context().scope;
        let around = self.out.texts.get(scope);
        let full = if around.is_empty() { name.to_owned() } else { format!("{around}::{name}") };
        self.out.texts.add(&full)
    }

    /// The lines of a node without the space behind it.
    pub(super) fn lines(&self, node: Node<'_>) -> Lines {
        let text = self.bytes(node);
        let behind = &text[text.trim_ascii_end().len()..];
        let empty = behind.iter().filter(|byte| **byte == b'\n').count();
        let last = row(node.end_position().row).saturating_sub(u32::try_from(empty).unwrap_or(0));
        Lines { first: line(node), last: last.max(line(node)) }
    }

    /// A function whose scope is open from here to the end of the node.
    pub(super) fn function(&mut self, name: Text, function: Function) -> u32 {
        let number = number(self.out.functions.len());
        self.out.functions.push(function);
        let outer = self.context();
        self.enter(Context {
            scope: name,
            function: Some(number),
            of: None,
            within: None,
            access: Access::Public,
            is_of_trait: false,
            ..outer
        });
        number
    }

    /// A type whose members are from here to the end of the node.
    pub(super) fn type_(&mut self, name: Text, kind: TypeKind, at: Node<'_>, node: Node<'_>) -> u32 {
        let number = number(self.out.types.len());
        let lines = self.lines(node);
        self.out.types.push(Type { name, kind, file: 0, line: line(at), lines });
        let access = if kind == TypeKind::Class { Access::Private } else { Access::Public };
        let outer = self.context();
        self.enter(Context { scope: name, of: Some(number), access, ..outer });
        number
    }

    /// A loop that lasts to the end of the node.
    pub(super) fn loop_(&mut self, kind: LoopKind, lines: Lines, bytes: Option<Bytes>) {
        let context = self.context();
        let number = number(self.out.loops.len());
        let outer = context.within.and_then(|outer| self.out.loops.get(outer as usize));
        let depth = outer.map_or(0, |outer| outer.depth).saturating_add(1);
        let parent = context.within;
        self.out.loops.push(Loop { kind, file: 0, lines, bytes, depth, parent, function: context.function });
        self.enter(Context { within: Some(number), ..context });
    }

    /// A call at a line.
    pub(super) fn call(&mut self, name: &str, kind: CallKind, line: u32) {
        let name = self.add(name);
        let context = self.context();
        let (caller, within) = (context.function, context.within);
        self.out.calls.push(Call { name, kind, file: 0, line, caller, within });
    }

    /// What must be known of a place by who puts code there.
    pub(super) fn mark(&mut self, kind: MarkKind, at: usize, line: u32) {
        self.out.marks.push(Mark { kind, file: 0, at: number(at), line });
    }

    /// A construct of a parallel programming model.
    pub(super) fn construct(&mut self, model: Model, text: &str, lines: Lines) {
        let text = self.add(text);
        let context = self.context();
        let (function, within) = (context.function, context.within);
        self.out.constructs.push(Construct { model, text, file: 0, lines, function, within });
    }

    /// Lets the last construct last to the end of the next statement beside the node that is being visited.
    pub(super) fn govern_next(&mut self) {
        let last = number(self.out.constructs.len()).checked_sub(1);
        self.directive = last.map(|last| (self.depth, last));
    }

    /// A node that comes behind a directive.
    fn end_directive(&mut self, node: Node<'_>) {
        let Some((depth, construct)) = self.directive else { return };
        if self.depth < depth {
            self.directive = None;
        } else if self.depth == depth && node.is_named() && !node.is_extra() && node.kind() != "preproc_call"
        {
            let last = self.lines(node).last;
            if let Some(construct) = self.out.constructs.get_mut(construct as usize) {
                construct.lines.last = last;
            }
            self.directive = None;
        }
    }
}

/// The bytes of a node.
pub(super) fn bytes_of(node: Node<'_>) -> Bytes {
    Bytes { first: number(node.start_byte()), end: number(node.end_byte()) }
}

/// The line that a node begins on.
pub(super) fn line(node: Node<'_>) -> u32 {
    row(node.start_position().row)
}

/// A row of tree-sitter as a line.
fn row(row: usize) -> u32 {
    number(row).saturating_add(1)
}

pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
