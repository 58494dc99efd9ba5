//! Rust's ways to read and write: whole files, buffers, places, copies.
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;

fn main() -> std::io::Result<()> {
    fs::write("whole", vec![b'w'; 123_456])?;
    println!("{}", fs::read("whole")?.len());
    let mut lines = BufWriter::new(File::create("lines")?);
    for number in 0..5000 {
        writeln!(lines, "line {number}")?;
    }
    lines.into_inner()?.sync_all()?;
    println!("{}", BufReader::new(File::open("lines")?).lines().count());
    let mut both = OpenOptions::new().read(true).write(true).create(true).truncate(true).open("both")?;
    both.write_all(&[1; 1000])?;
    both.seek(SeekFrom::Start(10))?;
    let mut some = [0; 100];
    both.read_exact(&mut some)?;
    both.write_all_at(&some, 5000)?;
    both.read_exact_at(&mut some, 50)?;
    let mut twin = both.try_clone()?;
    twin.write_all(&[2; 30])?;
    both.write_all(&[3; 40])?;
    both.set_len(4000)?;
    both.sync_data()?;
    println!("{} {}", fs::copy("whole", "copy")?, File::open("none").is_err());
    let mut more = OpenOptions::new().append(true).open("lines")?;
    more.write_all(b"more")
}
