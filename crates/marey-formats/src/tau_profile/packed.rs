//! `.ppk`: numbers and names as Java writes them, the highest byte first.

use std::io::{self, Read};
use std::path::Path;

use super::convert::{Convert, Row, UserEvent};
use crate::input::{Input, is_of_content};
use crate::{Error, Progress};

/// The newest version that is known, which may be read as well as older ones.
const NEWEST: u32 = 2;
/// Bytes of a name.
type Length = u16;

/// Why reading ended.
enum Stop {
    /// The bytes end, or make no sense.
    Damage(&'static str),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

struct Packed<'a> {
    input: Input,
    path: &'a Path,
    at: u64,
}

impl Packed<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Stop> {
        match self.input.read_exact(bytes) {
            Ok(()) => {
                self.at += bytes.len() as u64;
                Ok(())
            }
            Err(error) if is_of_content(&error) || error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(Stop::Damage("the file ends, or cannot be unpacked further"))
            }
            Err(source) => Err(Stop::Failed(Error::Read { path: self.path.to_owned(), source })),
        }
    }

    fn u32(&mut self) -> Result<u32, Stop> {
        self.bytes().map(u32::from_be_bytes)
    }

    fn f64(&mut self) -> Result<f64, Stop> {
        self.bytes().map(f64::from_be_bytes)
    }

    fn text(&mut self) -> Result<String, Stop> {
        let len = Length::from_be_bytes(self.bytes()?);
        let mut bytes = vec![0; len.into()];
        self.fill(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A number of things that are named each.
    fn texts(&mut self) -> Result<Vec<String>, Stop> {
        let number = self.u32()?;
        // No memory before its bytes are there.
        let mut texts = Vec::new();
        for _ in 0..number {
            texts.push(self.text()?);
        }
        Ok(texts)
    }
}

/// Reads a packed profile.
pub(super) fn read(file: &Path, convert: &mut Convert, progress: &dyn Progress) -> Result<(), Error> {
    let input = Input::open(file)?;
    progress.begin(input.len());
    let mut packed = Packed { input, path: file, at: 0 };
    match read_all(&mut packed, convert, progress) {
        Ok(()) => {}
        Err(Stop::Damage(what)) => {
            convert.profile.trouble(format!("{what}, at byte {}", packed.at));
        }
        Err(Stop::Failed(error)) => return Err(error),
    }
    packed.input.tell_all(progress);
    Ok(())
}

fn read_all(packed: &mut Packed<'_>, convert: &mut Convert, progress: &dyn Progress) -> Result<(), Stop> {
    packed.bytes::<6>()?;
    let (version, compatible) = (packed.u32()?, packed.u32()?);
    if compatible > NEWEST {
        return Err(Stop::Damage("a newer version of the format, which cannot be read"));
    }
    if version >= 2 {
        packed.u32()?;
        // Those of the trial as a whole, and those that its threads have in common.
        let mut facts = Vec::new();
        for _ in 0..2 {
            for _ in 0..packed.u32()? {
                facts.push((packed.text()?, packed.text()?));
            }
        }
        let n_threads = packed.u32()?;
        for place in 0..n_threads {
            let who = who(packed)?;
            if place == 0 {
                facts.iter().try_for_each(|(name, value)| convert.fact(who, name, value))?;
            }
            for _ in 0..packed.u32()? {
                let (name, value) = (packed.text()?, packed.text()?);
                convert.fact(who, &name, &value)?;
            }
        }
    }
    let metrics = packed.texts()?;
    convert.metrics(&metrics);
    let groups = packed.texts()?;
    let mut functions = Vec::new();
    for _ in 0..packed.u32()? {
        let name = packed.text()?;
        let mut of = Vec::new();
        for _ in 0..packed.u32()? {
            let group = packed.u32()? as usize;
            of.push(groups.get(group).map_or("", String::as_str));
        }
        functions.push((name, of.join(" | ")));
    }
    let user_events = packed.texts()?;
    for _ in 0..packed.u32()? {
        let who = who(packed)?;
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); metrics.len()];
        for _ in 0..packed.u32()? {
            let function = packed.u32()? as usize;
            let calls = packed.f64()?;
            packed.f64()?;
            for rows in &mut rows {
                let (exclusive, inclusive) = (packed.f64()?, packed.f64()?);
                let Some((name, groups)) = functions.get(function) else { continue };
                let (name, groups) = (name.clone(), groups.clone());
                rows.push(Row { name, groups, calls, exclusive, inclusive });
            }
        }
        for (metric, rows) in metrics.iter().zip(&rows) {
            convert.rows(who, metric, rows)?;
        }
        for _ in 0..packed.u32()? {
            let (id, number) = (packed.u32()? as usize, packed.u32()?);
            let (least, greatest, mean, squares) =
                (packed.f64()?, packed.f64()?, packed.f64()?, packed.f64()?);
            let name = user_events.get(id).map_or("", |name| name.trim()).to_owned();
            let event = UserEvent { name, number: number.into(), least, greatest, mean, squares };
            convert.user_event(who, &event)?;
        }
        packed.input.tell(progress);
    }
    Ok(())
}

fn who(packed: &mut Packed<'_>) -> Result<super::convert::Who, Stop> {
    Ok((packed.u32()?.into(), packed.u32()?.into(), packed.u32()?.into()))
}
