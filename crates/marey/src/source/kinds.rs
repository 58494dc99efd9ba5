//! What kinds of things are called, in tables and in JSON alike.

use marey_source::database::{Access, MemberKind, TypeKind};
use marey_source::text::{self, BaseKind, CallKind, FunctionKind, LoopKind, Model, Reference, SymbolEnd};

pub(super) fn kind(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Class => "class",
        TypeKind::Struct => "struct",
        TypeKind::Union => "union",
        TypeKind::Enum => "enum",
        TypeKind::Derived => "derived type",
    }
}

pub(super) fn written_kind(kind: text::TypeKind) -> &'static str {
    match kind {
        text::TypeKind::Class => "class",
        text::TypeKind::Struct => "struct",
        text::TypeKind::Union => "union",
        text::TypeKind::Enum => "enum",
        text::TypeKind::Trait => "trait",
        text::TypeKind::Derived => "derived type",
        text::TypeKind::Interface => "interface",
    }
}

pub(super) fn member_kind(kind: MemberKind) -> &'static str {
    match kind {
        MemberKind::Field => "field",
        MemberKind::StaticField => "static field",
        MemberKind::Value => "value",
        MemberKind::Method => "method",
        MemberKind::Operator => "operator",
        MemberKind::Constructor => "constructor",
        MemberKind::Destructor => "destructor",
    }
}

pub(super) fn access(access: Access) -> &'static str {
    match access {
        Access::Public => "public",
        Access::Protected => "protected",
        Access::Private => "private",
    }
}

pub(super) fn base_kind(kind: BaseKind) -> &'static str {
    match kind {
        BaseKind::Derived => "base",
        BaseKind::Implements => "implements",
    }
}

pub(super) fn function_kind(kind: FunctionKind) -> &'static str {
    match kind {
        FunctionKind::Function => "function",
        FunctionKind::Method => "method",
        FunctionKind::Constructor => "constructor",
        FunctionKind::Destructor => "destructor",
        FunctionKind::Subroutine => "subroutine",
        FunctionKind::Program => "program",
    }
}

pub(super) fn loop_kind(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::For => "for",
        LoopKind::ForEach => "for each",
        LoopKind::While => "while",
        LoopKind::DoWhile => "do while",
        LoopKind::Do => "do",
        LoopKind::DoConcurrent => "do concurrent",
        LoopKind::Endless => "endless",
        LoopKind::Forall => "forall",
        LoopKind::Where => "where",
        LoopKind::Iterator => "iterator",
    }
}

pub(super) fn call_kind(kind: CallKind) -> &'static str {
    match kind {
        CallKind::Direct => "by name",
        CallKind::Member => "by member",
        CallKind::Macro => "by macro",
        CallKind::Unknown => "by expression",
    }
}

pub(super) fn model(model: Model) -> &'static str {
    match model {
        Model::OpenMp => "OpenMP",
        Model::OpenAcc => "OpenACC",
        Model::Mpi => "MPI",
        Model::Shmem => "SHMEM",
        Model::Coarray => "coarray",
        Model::Pthread => "pthread",
        Model::Thread => "thread",
        Model::Std => "execution policy",
        Model::Rayon => "rayon",
        Model::Tokio => "tokio",
        Model::Tbb => "TBB",
        Model::Kokkos => "Kokkos",
    }
}

/// What a reference to another image does.
pub(super) fn does(reference: &Reference) -> &'static str {
    match (reference.reads, reference.writes) {
        (true, false) => "read",
        (false, true) => "write",
        _ => "either",
    }
}

/// What an expression of a reference says; `marey_analyze::SymbolEnd` has the same names.
pub(super) fn symbol_end(end: SymbolEnd) -> &'static str {
    match end {
        SymbolEnd::Subscript => marey_analyze::SymbolEnd::Subscript.name(),
        SymbolEnd::Lower => marey_analyze::SymbolEnd::Lower.name(),
        SymbolEnd::Upper => marey_analyze::SymbolEnd::Upper.name(),
        SymbolEnd::Step => marey_analyze::SymbolEnd::Step.name(),
        SymbolEnd::Image => marey_analyze::SymbolEnd::Image.name(),
    }
}
