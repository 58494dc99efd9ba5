//! From the entries of all units to rows, each once.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Database;
use super::binary::Binary;
use super::calls::{Around as AroundCode, Piece, sections};
use super::code::{Filled, Leading, Target, cell_of_stub};
use super::facts::{
    Access, Base, Call, CallKind, Callee, Function, Member, MemberKind, Place, Text, Type, TypeKind,
};
use super::names::{Names, is_operator, kind, plain};
use super::unit::{Around, What};
use super::units::{At, Units};
use crate::module::fuller_name;
use crate::names::{Language, Names as Readable};
use crate::symbols::SymbolTable;
use crate::texts::Texts;

/// What makes two entries one function.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    /// A name that only one has.
    Linkage(Text),
    /// A name, and where it stands.
    Local(Text, Option<Place>),
}

/// Rows that are being made.
pub(super) struct Build<'b, 'd> {
    units: &'b Units<'d>,
    binary: &'b Binary,
    symbols: &'b SymbolTable,
    leading: &'b [Leading],
    /// Whose lines were asked for.
    addresses: &'b [u64],
    lines: FxHashMap<u64, Place>,
    names: Names<'b, 'd>,
    out: Database,
    files: FxHashMap<Text, u32>,
    functions: FxHashMap<Identity, u32>,
    /// By entity: the function that it is, once somebody asked.
    of_entity: Vec<Option<u32>>,
    types: FxHashMap<(Text, Option<Place>), u32>,
    /// By entity.
    type_of_entity: Vec<Option<u32>>,
    pieces: Vec<Piece>,
    calls: BTreeMap<(u32, Callee, CallKind, Option<Place>), u32>,
}

impl<'b, 'd> Build<'b, 'd> {
    pub(super) fn new(
        units: &'b Units<'d>,
        binary: &'b Binary,
        symbols: &'b SymbolTable,
        leading: &'b [Leading],
        addresses: &'b [u64],
    ) -> Self {
        let mut out = Database { texts: Texts::default(), ..Database::default() };
        // The empty text is the first.
        out.texts.add("");
        Self {
            units,
            binary,
            symbols,
            leading,
            addresses,
            lines: FxHashMap::default(),
            names: Names::new(units),
            out,
            files: FxHashMap::default(),
            functions: FxHashMap::default(),
            of_entity: vec![None; units.len()],
            types: FxHashMap::default(),
            type_of_entity: vec![None; units.len()],
            pieces: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    pub(super) fn finish(mut self) -> Database {
        self.lines = self.lines();
        self.types();
        self.functions_with_code();
        self.inlined();
        self.complete();
        self.symbols();
        self.members();
        self.bases();
        self.calls();
        self.out.calls = self
            .calls
            .into_iter()
            .map(|((caller, callee, kind, place), times)| Call { caller, callee, kind, place, times })
            .collect();
        self.out
    }

    fn file(&mut self, path: &str) -> u32 {
        let text = self.out.texts.add(path);
        *self.files.entry(text).or_insert_with(|| {
            self.out.files.push(text);
            number(self.out.files.len() - 1)
        })
    }

    fn place(&mut self, at: At) -> Option<Place> {
        let (path, line) = self.units.place(at)?;
        let file = self.file(path);
        Some(Place { file, line })
    }

    /// Types: what is only declared is the one that is defined elsewhere under its name.
    fn types(&mut self) {
        let units = self.units;
        let mut declared = Vec::new();
        let mut by_name: FxHashMap<Text, u32> = FxHashMap::default();
        for (at, entity) in units.all() {
            let Some(kind) = kind(entity) else { continue };
            let name = self.names.of(at, &mut self.out.texts);
            if entity.marks.is_declaration {
                declared.push((at, name));
                continue;
            }
            let place = self.place(at);
            let bytes = entity.bytes;
            let row = *self.types.entry((name, place)).or_insert_with(|| {
                self.out.types.push(Type { name, kind, place, bytes });
                number(self.out.types.len() - 1)
            });
            by_name.entry(name).or_insert(row);
            self.type_of_entity[at.idx()] = Some(row);
        }
        for (at, name) in declared {
            self.type_of_entity[at.idx()] = by_name.get(&name).copied();
        }
    }

    /// The function that an entity is.
    fn function(&mut self, at: At) -> u32 {
        if let Some(known) = self.of_entity[at.idx()] {
            return known;
        }
        let root = self.units.root(at);
        let name = self.names.of(root, &mut self.out.texts);
        let chain = || self.units.chain(at).map(|at| self.units.get(at));
        let linkage = chain().map(|entity| entity.linkage).find(|name| !name.is_empty()).unwrap_or_default();
        let linkage = self.out.texts.add(&String::from_utf8_lossy(linkage));
        let is_external = chain().any(|entity| entity.marks.is_external);
        let is_inline = chain().any(|entity| entity.marks.is_inline);
        let place = self.place(at);
        let scope = self.units.scope(root);
        let of = scope.and_then(|scope| self.type_of_entity[scope.idx()]);
        // What makes and ends an object compilers write several times, under names of their own.
        let is_of_type = scope.filter(|_| of.is_some()).is_some_and(|scope| {
            let (short, of) = (self.names.short(root), self.names.short(scope));
            short.starts_with('~') || plain(&short) == plain(&of)
        });
        let identity = match (is_external && linkage != Text(0), is_of_type) {
            (true, false) => Identity::Linkage(linkage),
            _ => Identity::Local(name, place),
        };
        let row = *self.functions.entry(identity).or_insert_with(|| {
            self.out.functions.push(Function {
                name,
                linkage,
                place,
                of,
                is_external,
                is_inline,
                entries: Vec::new(),
                code_bytes: 0,
            });
            number(self.out.functions.len() - 1)
        });
        self.of_entity[at.idx()] = Some(row);
        row
    }

    /// Names and places of functions of which debug information tells little: the symbol that begins where they do says
    /// more, and so does the first line of their code.
    fn complete(&mut self) {
        let mut readable = Readable::default();
        for row in &mut self.out.functions {
            let Some(entry) = row.entries.first() else { continue };
            row.place = row.place.or_else(|| self.lines.get(entry).copied());
            let Some(symbol) = self.symbols.find(*entry).filter(|_| row.linkage == Text(0)) else { continue };
            if let Some(fuller) = fuller_name(self.out.texts.get(row.name), symbol, &mut readable) {
                row.linkage = self.out.texts.add(symbol);
                row.name = self.out.texts.add(&fuller);
            }
        }
    }

    fn functions_with_code(&mut self) {
        let units = self.units;
        for (at, entity) in units.all() {
            let Some(first) = entity.ranges.first() else { continue };
            let function = self.function(at);
            let row = &mut self.out.functions[function as usize];
            if let Err(place) = row.entries.binary_search(&first.start) {
                row.entries.insert(place, first.start);
                row.code_bytes += entity.ranges.iter().map(|range| range.end - range.start).sum::<u64>();
            }
            self.pieces.extend(entity.ranges.iter().map(|range| Piece {
                begin: range.start,
                end: Reverse(range.end),
                depth: 0,
                function,
            }));
        }
    }

    fn inlined(&mut self) {
        let units = self.units;
        for (number, unit) in units.list.iter().enumerate() {
            let mut callees: Vec<Option<u32>> = Vec::with_capacity(unit.inlined.len());
            for it in &unit.inlined {
                let callee = it.callee.and_then(|key| units.find(key)).map(|at| self.function(at));
                callees.push(callee);
                let caller = match it.around {
                    Around::Function(place) => Some(self.function(units.at(number, place))),
                    Around::Inlined(place) => callees.get(place as usize).copied().flatten(),
                };
                let Some(callee) = callee else { continue };
                self.pieces.extend(it.ranges.iter().map(|range| Piece {
                    begin: range.start,
                    end: Reverse(range.end),
                    depth: it.depth,
                    function: callee,
                }));
                let path = it.file.and_then(|file| units.path(number, file));
                let file = path.map(|path| self.file(path));
                let place = file.map(|file| Place { file, line: it.line.unwrap_or(0) });
                if let Some(caller) = caller {
                    *self
                        .calls
                        .entry((caller, Callee::Function(callee), CallKind::Inlined, place))
                        .or_default() += 1;
                }
            }
        }
        self.pieces.sort_unstable();
    }

    /// Functions that only the table of symbols knows.
    fn symbols(&mut self) {
        let mut readable = Readable::default();
        let mut around = AroundCode::new(&self.pieces);
        let mut more = Vec::new();
        // Elsewhere debug information has told all functions that have lines of their own.
        let bare = self.units.list.iter().filter(|unit| unit.is_bare).flat_map(|unit| &unit.lines);
        let bare: FxHashSet<u64> =
            bare.filter_map(|(place, ..)| self.addresses.get(*place as usize).copied()).collect();
        for (range, name) in self.symbols.iter() {
            if around.at(range.start).is_some() {
                continue;
            }
            let linkage = self.out.texts.add(name);
            let name = self.out.texts.add(&readable.readable(name, Language::Unknown));
            let function = number(self.out.functions.len());
            self.out.functions.push(Function {
                name,
                linkage,
                place: self.lines.get(&range.start).filter(|_| bare.contains(&range.start)).copied(),
                of: None,
                is_external: false,
                is_inline: false,
                entries: vec![range.start],
                code_bytes: range.end - range.start,
            });
            more.push(Piece { begin: range.start, end: Reverse(range.end), depth: 0, function });
        }
        self.pieces.extend(more);
        self.pieces.sort_unstable();
    }

    fn members(&mut self) {
        let units = self.units;
        let mut known: FxHashMap<(u32, Text, Text, Option<Place>), usize> = FxHashMap::default();
        for (at, entity) in units.all() {
            let is_method = entity.what == What::Function && entity.origin.is_none();
            if !(is_method || matches!(entity.what, What::Field | What::Value)) || entity.marks.is_artificial
            {
                continue;
            }
            let Some(scope) = units.scope(at) else { continue };
            let (Some(of), Some(type_kind)) = (self.type_of_entity[scope.idx()], kind(units.get(scope)))
            else {
                continue;
            };
            let short = self.names.short(at);
            let type_name = plain(&self.names.short(scope)).to_owned();
            let name = self.out.texts.add(&short);
            let linkage = self.out.texts.add(&String::from_utf8_lossy(entity.linkage));
            let place = self.place(at);
            let usual = if type_kind == TypeKind::Class { Access::Private } else { Access::Public };
            let kind = match entity.what {
                What::Function if is_operator(&short) => MemberKind::Operator,
                What::Function if short.starts_with('~') => MemberKind::Destructor,
                What::Function if plain(&short) == type_name => MemberKind::Constructor,
                What::Function => MemberKind::Method,
                What::Value => MemberKind::Value,
                _ if entity.marks.is_external || entity.marks.is_declaration => MemberKind::StaticField,
                _ => MemberKind::Field,
            };
            let has_type = match kind {
                MemberKind::Value | MemberKind::Constructor | MemberKind::Destructor => false,
                MemberKind::Method | MemberKind::Operator => entity.of_type.is_some(),
                MemberKind::Field | MemberKind::StaticField => true,
            };
            let of_type = if has_type {
                self.names.of_type(entity.of_type, &mut self.out.texts)
            } else {
                String::new()
            };
            let type_name = self.out.texts.add(&of_type);
            let is_known = known.contains_key(&(of, name, linkage, place));
            if !is_known {
                known.insert((of, name, linkage, place), self.out.members.len());
                self.out.members.push(Member {
                    of,
                    name,
                    kind,
                    access: entity.access.unwrap_or(usual),
                    is_virtual: entity.marks.is_virtual,
                    is_inline: entity.marks.is_inline,
                    type_name,
                    place,
                    function: None,
                });
            }
        }
        // A definition, or an instance that was inlined, leads to the declaration that is the member.
        for (at, entity) in units.all() {
            let Some(function) = self.of_entity[at.idx()].filter(|_| entity.what == What::Function) else {
                continue;
            };
            let root = units.root(at);
            let Some(of) = units.scope(root).and_then(|scope| self.type_of_entity[scope.idx()]) else {
                continue;
            };
            let name = self.out.texts.add(&self.names.short(root));
            let linkage = self.out.texts.add(&String::from_utf8_lossy(units.get(root).linkage));
            let place = self.place(root);
            if let Some(member) = known.get(&(of, name, linkage, place)) {
                self.out.members[*member].function.get_or_insert(function);
            }
        }
    }

    fn bases(&mut self) {
        let units = self.units;
        for (at, entity) in units.all().filter(|(_, entity)| entity.what == What::Base) {
            let Some(scope) = units.scope(at) else { continue };
            let Some(derived) = self.type_of_entity[scope.idx()] else { continue };
            let base = entity.of_type.and_then(|key| self.unaliased(key));
            let Some(base) = base.and_then(|at| self.type_of_entity[at.idx()]) else { continue };
            let usual = match kind(units.get(scope)) {
                Some(TypeKind::Class) => Access::Private,
                _ => Access::Public,
            };
            self.out.bases.push(Base {
                derived,
                base,
                access: entity.access.unwrap_or(usual),
                is_virtual: entity.marks.is_virtual,
            });
        }
        self.out.bases.sort_unstable();
        self.out.bases.dedup();
    }

    /// The type that a name stands for.
    fn unaliased(&self, key: super::unit::Key) -> Option<At> {
        let mut at = self.units.find(key)?;
        for _ in 0..8 {
            let entity = self.units.get(at);
            if entity.what != What::Alias {
                return Some(at);
            }
            at = self.units.find(entity.of_type?)?;
        }
        None
    }

    /// Calls by instructions.
    fn calls(&mut self) {
        let sections = sections(self.binary);
        let entries = self.entries();
        let mut around = AroundCode::new(&self.pieces);
        // Stubs are met again and again.
        let mut stubs: FxHashMap<u64, Option<u64>> = FxHashMap::default();
        let mut found = Vec::new();
        for leading in self.leading {
            let place = self.lines.get(&leading.at).copied();
            let Some((outermost, caller)) = around.at(leading.at) else { continue };
            let cell = match leading.to {
                Target::Unknown => None,
                Target::Cell(cell) => Some(cell),
                Target::Address(address) => {
                    *stubs.entry(address).or_insert_with(|| match entries.get(&address) {
                        None => cell_of_stub(&sections, address),
                        Some(_) => None,
                    })
                }
            };
            let filled = cell.and_then(|cell| self.binary.cells.get(&cell));
            let callee = match (leading.to, filled) {
                (_, Some(Filled::Named(name))) => Callee::Named(self.out.texts.add(name)),
                (_, Some(&Filled::Address(address))) | (Target::Address(address), None) => {
                    match entries.get(&address) {
                        Some(function) => Callee::Function(*function),
                        None => Callee::Unknown,
                    }
                }
                (Target::Cell(_) | Target::Unknown, None) => Callee::Unknown,
            };
            // A jump to nowhere that is known, or back to the function itself, is no call.
            let is_own = callee == Callee::Function(outermost);
            if leading.is_jump && (callee == Callee::Unknown || is_own) {
                continue;
            }
            found.push((caller, callee, CallKind::Called, place));
        }
        for call in found {
            *self.calls.entry(call).or_default() += 1;
        }
    }

    /// Functions by the addresses that they begin at.
    fn entries(&self) -> FxHashMap<u64, u32> {
        let rows = (0..).zip(&self.out.functions);
        rows.flat_map(|(row, function)| function.entries.iter().map(move |entry| (*entry, row))).collect()
    }

    /// The lines of the addresses that were asked for.
    fn lines(&mut self) -> FxHashMap<u64, Place> {
        let units = self.units;
        let mut places = FxHashMap::default();
        for (number, unit) in units.list.iter().enumerate() {
            for (place, file, line) in &unit.lines {
                let address = self.addresses.get(*place as usize).copied();
                if let Some((path, address)) = units.path(number, *file).zip(address) {
                    let file = self.file(path);
                    places.insert(address, Place { file, line: *line });
                }
            }
        }
        places
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
