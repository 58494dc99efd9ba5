//! Prints the program database of an executable: `database FILE [functions|types|members|bases|calls]`.

use std::io::{BufWriter, Write};
use std::path::Path;

use marey_source::database::{Callee, Database, Place};
use marey_source::{ModuleRef, SymbolizerConfig};

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let path = Path::new(words.get(1).map_or("", String::as_str));
    let database = Database::of(&ModuleRef { path, build_id: None }, &SymbolizerConfig::system());
    let mut out = BufWriter::new(std::io::stdout().lock());
    let place = |place: Option<Place>| {
        place.map_or_else(String::new, |it| format!("{}:{}", database.path(it), it.line))
    };
    let name = |function: u32| database.text(database.functions[function as usize].name);
    match words.get(2).map(String::as_str) {
        Some("functions") => {
            for it in &database.functions {
                let linkage = database.text(it.linkage);
                writeln!(
                    out,
                    "{}\t{linkage}\t{}\t{:x?}\t{}",
                    database.text(it.name),
                    place(it.place),
                    it.entries,
                    it.code_bytes
                )?;
            }
        }
        Some("types") => {
            for it in &database.types {
                writeln!(
                    out,
                    "{:?}\t{}\t{}\t{:?}",
                    it.kind,
                    database.text(it.name),
                    place(it.place),
                    it.bytes
                )?;
            }
        }
        Some("members") => {
            for it in &database.members {
                let of = database.text(database.types[it.of as usize].name);
                let (name, of_type) = (database.text(it.name), database.text(it.type_name));
                let marks = (it.is_virtual, it.is_inline, it.function.is_some());
                writeln!(
                    out,
                    "{of}\t{name}\t{:?}\t{:?}\t{of_type}\t{marks:?}\t{}",
                    it.kind,
                    it.access,
                    place(it.place)
                )?;
            }
        }
        Some("bases") => {
            for it in &database.bases {
                let of = |number: u32| database.text(database.types[number as usize].name);
                writeln!(out, "{}\t{}\t{:?}\t{}", of(it.derived), of(it.base), it.access, it.is_virtual)?;
            }
        }
        Some("calls") => {
            for it in &database.calls {
                let callee = match it.callee {
                    Callee::Function(function) => name(function),
                    Callee::Named(text) => database.text(text),
                    Callee::Unknown => "?",
                };
                writeln!(
                    out,
                    "{}\t{:?}\t{callee}\t{}\t{}",
                    name(it.caller),
                    it.kind,
                    place(it.place),
                    it.times
                )?;
            }
        }
        _ => {
            writeln!(
                out,
                "{} files, {} functions, {} types, {} members, {} bases, {} calls",
                database.files.len(),
                database.functions.len(),
                database.types.len(),
                database.members.len(),
                database.bases.len(),
                database.calls.len()
            )?;
        }
    }
    for problem in &database.problems {
        writeln!(out, "problem: {problem}")?;
    }
    Ok(())
}
