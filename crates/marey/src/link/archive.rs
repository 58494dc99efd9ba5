//! A static library for the linker.
//!
//! The one idea: objects one behind the other, and before them a table of which of them defines what, so
//! that the linker takes those that a program asks for. (The format of `ar` as System V's linkers read it.)

/// The library of objects that define one name each.
pub(super) fn of<'a>(objects: impl Iterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let objects: Vec<(&str, Vec<u8>)> = objects.collect();
    let names_len: usize = objects.iter().map(|(name, _)| name.len() + 1).sum();
    let table_len = 4 + 4 * objects.len() + names_len;
    let mut at = MAGIC.len() + HEADER + table_len.next_multiple_of(2);
    let mut table = big_endian(objects.len()).to_vec();
    for (_, object) in &objects {
        table.extend(big_endian(at));
        at += HEADER + object.len().next_multiple_of(2);
    }
    for (name, _) in &objects {
        table.extend([name.as_bytes(), b"\0"].concat());
    }
    let mut archive = MAGIC.to_vec();
    append(&mut archive, "/", &table);
    for (number, (_, object)) in objects.iter().enumerate() {
        // Longer names would need a table of their own.
        append(&mut archive, &format!("{number}.o/"), object);
    }
    archive
}

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

fn big_endian(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("some hundred small objects").to_be_bytes()
}

/// Appends a member, without date or owner: same input, same bytes.
fn append(archive: &mut Vec<u8>, name: &str, content: &[u8]) {
    let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len());
    assert_eq!(header.len(), HEADER, "the name has at most 16 bytes");
    archive.extend(header.into_bytes());
    archive.extend(content);
    if !content.len().is_multiple_of(2) {
        archive.push(b'\n');
    }
}
