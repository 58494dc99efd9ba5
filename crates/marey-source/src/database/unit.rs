//! One compilation unit: what its debug information says, entry by entry.
//!
//! The one idea: units know nothing of each other here, so they are read side by side; what refers to an entry, in its own
//! unit or in another, does so by where that entry lies in the file.

use std::ops::Range;

use gimli::{AttributeValue, DebuggingInformationEntry, DwAt, DwTag, EndianSlice, RunTimeEndian};
use rustc_hash::FxHashMap;

use super::facts::{Access, TypeKind};
use crate::dwarf::is_fortran;

/// What debug information is read from.
pub(crate) type Bytes<'d> = EndianSlice<'d, RunTimeEndian>;

/// Deeper than this nothing is nested that somebody wrote.
const MOST_DEPTH: usize = 1000;

/// Where an entry lies: in the file itself, behind it in one that a part of it was put into, or in the one that it shares with
/// others (the top bit).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(u64);

impl Key {
    /// Behind all offsets of the module itself lie those of shared files.
    pub(super) const SHARED: u64 = 1 << 63;

    fn new(offset: usize, from: u64) -> Self {
        Self((offset as u64).saturating_add(from))
    }
}

/// What an entry describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A namespace or a module.
    Namespace,
    /// A type that somebody made.
    Type(TypeKind),
    /// Another name of a type.
    Alias,
    /// A function.
    Function,
    /// A value in each object of a type, or in all.
    Field,
    /// A value of an enumeration.
    Value,
    /// That the type around it is derived.
    Base,
}

/// What is said of an entry by its mere presence.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) is_external: bool,
    pub(super) is_declaration: bool,
    pub(super) is_artificial: bool,
    pub(super) is_inline: bool,
    pub(super) is_virtual: bool,
}

/// An entry that is of use.
#[derive(Debug, Clone)]
pub(super) struct Entity<'d> {
    pub(super) key: Key,
    pub(super) what: What,
    /// The place of the entity that it lies in, among those of its unit.
    pub(super) scope: Option<u32>,
    pub(super) name: &'d [u8],
    pub(super) linkage: &'d [u8],
    /// The entry that says the rest: a declaration, or what it is a copy of.
    pub(super) origin: Option<Key>,
    /// The type of a field, of what is returned, or that a type is derived from.
    pub(super) of_type: Option<Key>,
    /// Number in the unit's table of files. What a definition does not say is as it is where it is declared, the line or
    /// the file alone, too.
    pub(super) file: Option<u32>,
    pub(super) line: Option<u32>,
    pub(super) bytes: Option<u64>,
    pub(super) access: Option<Access>,
    pub(super) marks: Marks,
    /// Its code.
    pub(super) ranges: Vec<Range<u64>>,
}

/// A call that was replaced by what it calls.
#[derive(Debug, Clone)]
pub(super) struct Inlined {
    /// The place of the function in its unit, or of the inlined call that it lies in.
    pub(super) around: Around,
    /// What was called.
    pub(super) callee: Option<Key>,
    pub(super) file: Option<u32>,
    pub(super) line: Option<u32>,
    pub(super) ranges: Vec<Range<u64>>,
    /// How many others lie around it.
    pub(super) depth: u32,
}

/// What code lies in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Around {
    Function(u32),
    Inlined(u32),
}

/// An entry that makes a type of another one, for names such as `const double *`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Derived<'d> {
    pub(super) tag: DwTag,
    pub(super) name: &'d [u8],
    pub(super) of: Option<Key>,
}

/// What a unit says.
pub(super) struct UnitFacts<'d> {
    /// Where the file begins that it lies in, among keys.
    from: u64,
    /// Whether it only names a file that is missing.
    pub(super) is_bare: bool,
    /// Where the unit begins; keys of its entries are larger.
    pub(super) base: Key,
    /// In the order of their keys.
    pub(super) entities: Vec<Entity<'d>>,
    pub(super) inlined: Vec<Inlined>,
    pub(super) derived: FxHashMap<Key, Derived<'d>>,
    /// Paths, by their numbers in the unit.
    pub(super) files: FxHashMap<u32, String>,
    /// Lines of the addresses that were asked for: place in the list of those, file, line.
    pub(super) lines: Vec<(u32, u32, u32)>,
    /// Whether code of it is left, if parts of it cannot be read.
    pub(super) error: Option<gimli::Error>,
    /// What is between `::` or `%` in names of it.
    pub(super) language: Option<gimli::DwLang>,
}

/// Reads a unit, and the lines of addresses, which are ascending.
pub(super) fn read<'d>(
    dwarf: &gimli::Dwarf<Bytes<'d>>,
    header: gimli::UnitHeader<Bytes<'d>>,
    from: u64,
    addresses: &[u64],
) -> UnitFacts<'d> {
    let mut facts = UnitFacts::new(header.debug_info_offset(), from);
    let done = dwarf.unit(header).and_then(|unit| {
        facts.is_bare = unit.dwo_id.is_some();
        let lined = (dwarf, &unit);
        Reader { dwarf, unit: &unit, lined, facts: &mut facts }.read(addresses)
    });
    facts.error = done.err();
    facts
}

/// Reads a unit that lies in a file of its own, in place of the one that names it and has its addresses and lines.
pub(super) fn read_part<'d>(
    (dwarf, unit): (&gimli::Dwarf<Bytes<'d>>, &mut gimli::Unit<Bytes<'d>>),
    lined: (&gimli::Dwarf<Bytes<'d>>, &gimli::Unit<Bytes<'d>>),
    from: u64,
    addresses: &[u64],
) -> UnitFacts<'d> {
    unit.copy_relocated_attributes(lined.1);
    let mut facts = UnitFacts::new(unit.header.debug_info_offset(), from);
    facts.error = Reader { dwarf, unit, lined, facts: &mut facts }.read(addresses).err();
    facts
}

impl UnitFacts<'_> {
    fn new(offset: Option<gimli::DebugInfoOffset>, from: u64) -> Self {
        Self {
            from,
            is_bare: false,
            base: Key::new(offset.map_or(0, |offset| offset.0), from),
            entities: Vec::new(),
            inlined: Vec::new(),
            derived: FxHashMap::default(),
            files: FxHashMap::default(),
            lines: Vec::new(),
            error: None,
            language: None,
        }
    }
}

struct Reader<'r, 'd> {
    dwarf: &'r gimli::Dwarf<Bytes<'d>>,
    unit: &'r gimli::Unit<Bytes<'d>>,
    /// Whose lines and files they are.
    lined: (&'r gimli::Dwarf<Bytes<'d>>, &'r gimli::Unit<Bytes<'d>>),
    facts: &'r mut UnitFacts<'d>,
}

/// What is open around an entry.
#[derive(Clone, Copy, Default)]
struct Open {
    entity: Option<u32>,
    code: Option<(Around, u32)>,
}

impl<'d> Reader<'_, 'd> {
    fn read(&mut self, addresses: &[u64]) -> gimli::Result<()> {
        self.entries()?;
        self.lines(addresses)?;
        self.files();
        Ok(())
    }

    fn entries(&mut self) -> gimli::Result<()> {
        let mut raw = self.unit.entries_raw(None)?;
        let mut entry = DebuggingInformationEntry::null();
        // By depth: what is around entries there.
        let mut open: Vec<Open> = vec![Open::default()];
        while !raw.is_empty() {
            if !raw.read_entry(&mut entry)? {
                continue;
            }
            let depth = usize::try_from(entry.depth()).unwrap_or(0).min(MOST_DEPTH);
            open.truncate(depth + 1);
            let around = open.last().copied().unwrap_or_default();
            let inside = self.entry(&entry, around)?;
            // What is not told apart is as deep as what is around it.
            open.resize(depth + 1, around);
            open.push(inside);
        }
        Ok(())
    }

    /// Takes an entry; what is then around those in it.
    fn entry(&mut self, entry: &DebuggingInformationEntry<Bytes<'d>>, around: Open) -> gimli::Result<Open> {
        let what = match entry.tag() {
            gimli::DW_TAG_compile_unit | gimli::DW_TAG_partial_unit => {
                if let Some(AttributeValue::Language(language)) = entry.attr_value(gimli::DW_AT_language) {
                    self.facts.language = Some(language);
                }
                return Ok(around);
            }
            gimli::DW_TAG_namespace | gimli::DW_TAG_module => What::Namespace,
            gimli::DW_TAG_class_type => What::Type(TypeKind::Class),
            gimli::DW_TAG_structure_type if self.facts.language.is_some_and(is_fortran) => {
                What::Type(TypeKind::Derived)
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_interface_type => What::Type(TypeKind::Struct),
            gimli::DW_TAG_union_type => What::Type(TypeKind::Union),
            gimli::DW_TAG_enumeration_type => What::Type(TypeKind::Enum),
            gimli::DW_TAG_typedef => What::Alias,
            gimli::DW_TAG_subprogram => What::Function,
            // Static fields are variables in a type since DWARF 5.
            gimli::DW_TAG_member => What::Field,
            gimli::DW_TAG_variable if self.is_in_type(around) => What::Field,
            gimli::DW_TAG_enumerator => What::Value,
            gimli::DW_TAG_inheritance => What::Base,
            gimli::DW_TAG_inlined_subroutine => return self.inlined(entry, around),
            tag if is_deriving(tag) => {
                let derived = Derived {
                    tag,
                    name: self.text(entry, gimli::DW_AT_name),
                    of: self.reference(entry, gimli::DW_AT_type),
                };
                self.facts.derived.insert(self.key(entry), derived);
                return Ok(around);
            }
            _ => return Ok(around),
        };
        let place = u32::try_from(self.facts.entities.len()).unwrap_or(u32::MAX);
        let entity = self.entity(entry, what, around)?;
        self.facts.entities.push(entity);
        Ok(match what {
            What::Function => Open { entity: Some(place), code: Some((Around::Function(place), 0)) },
            What::Namespace | What::Type(_) => Open { entity: Some(place), code: None },
            What::Alias | What::Field | What::Value | What::Base => around,
        })
    }

    fn entity(
        &self,
        entry: &DebuggingInformationEntry<Bytes<'d>>,
        what: What,
        around: Open,
    ) -> gimli::Result<Entity<'d>> {
        let flag = |name: DwAt| matches!(entry.attr_value(name), Some(AttributeValue::Flag(true)));
        let linkage = match self.text(entry, gimli::DW_AT_linkage_name) {
            [] => self.text(entry, gimli::DW_AT_MIPS_linkage_name),
            name => name,
        };
        let is_inline = match entry.attr_value(gimli::DW_AT_inline) {
            Some(AttributeValue::Inline(how)) => {
                how == gimli::DW_INL_declared_inlined || how == gimli::DW_INL_declared_not_inlined
            }
            _ => false,
        };
        let is_virtual = match entry.attr_value(gimli::DW_AT_virtuality) {
            Some(AttributeValue::Virtuality(how)) => how != gimli::DW_VIRTUALITY_none,
            _ => false,
        };
        let access = match entry.attr_value(gimli::DW_AT_accessibility) {
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_public)) => Some(Access::Public),
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_protected)) => Some(Access::Protected),
            Some(AttributeValue::Accessibility(gimli::DW_ACCESS_private)) => Some(Access::Private),
            _ => None,
        };
        let is_external = flag(gimli::DW_AT_external);
        Ok(Entity {
            key: self.key(entry),
            what,
            scope: around.entity,
            name: self.text(entry, gimli::DW_AT_name),
            linkage,
            origin: self
                .reference(entry, gimli::DW_AT_specification)
                .or_else(|| self.reference(entry, gimli::DW_AT_abstract_origin)),
            of_type: self.reference(entry, gimli::DW_AT_type),
            file: file(entry, gimli::DW_AT_decl_file),
            line: number(entry, gimli::DW_AT_decl_line),
            bytes: entry.attr_value(gimli::DW_AT_byte_size).and_then(|size| size.udata_value()),
            access,
            marks: Marks {
                is_external,
                is_declaration: flag(gimli::DW_AT_declaration),
                is_artificial: flag(gimli::DW_AT_artificial),
                is_inline,
                is_virtual,
            },
            ranges: if what == What::Function { self.ranges(entry)? } else { Vec::new() },
        })
    }

    fn inlined(&mut self, entry: &DebuggingInformationEntry<Bytes<'d>>, around: Open) -> gimli::Result<Open> {
        let Some((code, depth)) = around.code else { return Ok(around) };
        let place = u32::try_from(self.facts.inlined.len()).unwrap_or(u32::MAX);
        let inlined = Inlined {
            around: code,
            callee: self.reference(entry, gimli::DW_AT_abstract_origin),
            file: file(entry, gimli::DW_AT_call_file),
            line: number(entry, gimli::DW_AT_call_line),
            ranges: self.ranges(entry)?,
            depth: depth + 1,
        };
        self.facts.inlined.push(inlined);
        Ok(Open { code: Some((Around::Inlined(place), depth + 1)), ..around })
    }

    fn is_in_type(&self, around: Open) -> bool {
        let scope = around.entity.and_then(|place| self.facts.entities.get(place as usize));
        scope.is_some_and(|scope| matches!(scope.what, What::Type(_)))
    }

    fn key(&self, entry: &DebuggingInformationEntry<Bytes<'d>>) -> Key {
        self.key_of(entry.offset())
    }

    fn key_of(&self, offset: gimli::UnitOffset) -> Key {
        let offset = offset.to_debug_info_offset(&self.unit.header).map_or(0, |offset| offset.0);
        Key::new(offset, self.facts.from)
    }

    fn text(&self, entry: &DebuggingInformationEntry<Bytes<'d>>, name: DwAt) -> &'d [u8] {
        let value = entry.attr_value(name);
        let text = value.and_then(|value| self.dwarf.attr_string(self.unit, value).ok());
        text.map_or(&[], |text| text.slice())
    }

    fn reference(&self, entry: &DebuggingInformationEntry<Bytes<'d>>, name: DwAt) -> Option<Key> {
        match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some(self.key_of(offset)),
            AttributeValue::DebugInfoRef(offset) => Some(Key::new(offset.0, self.facts.from)),
            AttributeValue::DebugInfoRefSup(offset) => Some(Key::new(offset.0, Key::SHARED)),
            _ => None,
        }
    }

    fn ranges(&self, entry: &DebuggingInformationEntry<Bytes<'d>>) -> gimli::Result<Vec<Range<u64>>> {
        let mut found = Vec::new();
        let mut ranges = self.dwarf.die_ranges(self.unit, entry)?;
        while let Some(range) = ranges.next()? {
            // What the linker has dropped lies at 0.
            if range.begin != 0 && range.begin < range.end {
                found.push(range.begin..range.end);
            }
        }
        Ok(found)
    }

    /// Which line each address belongs to that lies in this unit.
    fn lines(&mut self, addresses: &[u64]) -> gimli::Result<()> {
        let Some(program) = self.lined.1.line_program.clone() else { return Ok(()) };
        if addresses.is_empty() {
            return Ok(());
        }
        let mut rows = program.rows();
        let mut before: Option<(u64, u32, u32)> = None;
        while let Some((_, row)) = rows.next_row()? {
            let at = row.address();
            if let Some((from, file, line)) = before
                && from != 0
                && from < at
            {
                let first = addresses.partition_point(|address| *address < from);
                let within = addresses[first..].iter().take_while(|address| **address < at);
                let numbers = (first..).zip(within).filter_map(|(place, _)| u32::try_from(place).ok());
                self.facts.lines.extend(numbers.map(|place| (place, file, line)));
            }
            let line = row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0));
            let file = u32::try_from(row.file_index()).unwrap_or(0);
            before = (!row.end_sequence()).then_some((at, file, line));
        }
        Ok(())
    }

    /// The paths of the files that are named.
    fn files(&mut self) {
        let places = self.facts.entities.iter().filter_map(|it| it.file);
        let calls = self.facts.inlined.iter().filter_map(|it| it.file);
        let lines = self.facts.lines.iter().map(|(_, file, _)| *file);
        let mut numbers: Vec<u32> = places.chain(calls).chain(lines).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if let Some(path) = path(self.lined.0, self.lined.1, number) {
                self.facts.files.insert(number, path);
            }
        }
    }
}

/// The path of a file that a unit numbers.
pub(crate) fn path<'d>(
    dwarf: &gimli::Dwarf<Bytes<'d>>,
    unit: &gimli::Unit<Bytes<'d>>,
    file: u32,
) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let entry = header.file(file.into())?;
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(String::from_utf8_lossy(text.slice()).into_owned())
    };
    let mut path = unit.comp_dir.map_or(String::new(), |dir| dir.to_string_lossy().into_owned());
    if let Some(directory) = entry.directory(header).and_then(text) {
        append(&mut path, &directory);
    }
    append(&mut path, &text(entry.path_name())?);
    Some(plain(&path))
}

/// The number of a file in the table of its unit.
fn file(entry: &DebuggingInformationEntry<Bytes<'_>>, name: DwAt) -> Option<u32> {
    match entry.attr_value(name)? {
        AttributeValue::FileIndex(file) => u32::try_from(file).ok(),
        _ => number(entry, name),
    }
}

fn number(entry: &DebuggingInformationEntry<Bytes<'_>>, name: DwAt) -> Option<u32> {
    u32::try_from(entry.attr_value(name)?.udata_value()?).ok()
}

/// A path behind another one, unless it stands alone.
fn append(path: &mut String, next: &str) {
    if next.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(next);
}

/// Without `.` and `..`, so that one file has one name. Links are not looked at: the files may lie elsewhere.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

fn is_deriving(tag: DwTag) -> bool {
    [
        gimli::DW_TAG_base_type,
        gimli::DW_TAG_pointer_type,
        gimli::DW_TAG_reference_type,
        gimli::DW_TAG_rvalue_reference_type,
        gimli::DW_TAG_const_type,
        gimli::DW_TAG_volatile_type,
        gimli::DW_TAG_restrict_type,
        gimli::DW_TAG_atomic_type,
        gimli::DW_TAG_array_type,
        gimli::DW_TAG_string_type,
        gimli::DW_TAG_subroutine_type,
        gimli::DW_TAG_ptr_to_member_type,
        gimli::DW_TAG_unspecified_type,
    ]
    .contains(&tag)
}

#[cfg(test)]
mod tests {
    use super::{append, plain};

    #[test]
    fn paths_of_files_are_put_together() {
        let mut path = "/build".to_owned();
        append(&mut path, "../src/./deep");
        append(&mut path, "main.c");
        assert_eq!(plain(&path), "/src/deep/main.c");
        append(&mut path, "/usr/include/stdio.h");
        assert_eq!(plain(&path), "/usr/include/stdio.h");
        assert_eq!(plain("../a//b/../c.f90"), "../a/c.f90");
        assert_eq!(plain("/../x"), "/x");
    }
}
