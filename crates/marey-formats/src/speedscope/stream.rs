//! What stands in a file, one thing at a time.
//!
//! The one idea: the parser hands each event and sample on as it comes to it, so a file need not fit into memory; what stood
//! before damage has been handed on by then.
//!
//! In memory are frames, heads of profiles, and weights of samples, for these stand apart from their stacks. All are bounded.

use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::input::{Input, is_of_content};
use crate::{Error, Progress};

pub(super) const EVENTED: &str = "evented";
pub(super) const SAMPLED: &str = "sampled";

const MOST_FRAMES: usize = 1 << 24;
const MOST_PROFILES: usize = 1 << 20;
/// Of all profiles together.
const MOST_WEIGHTS: usize = 1 << 27;
const DEEPEST: usize = 100_000;
const LONGEST_TEXT: usize = 16 << 20;
const MOST_OPEN: usize = 1000;

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Frame {
    pub name: Option<String>,
    pub file: Option<String>,
    pub line: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Event {
    #[serde(rename = "type")]
    pub kind: String,
    pub frame: u64,
    pub at: f64,
}

/// What a file says of a profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    pub kind: String,
    pub name: String,
    pub unit: String,
    pub start: f64,
    pub end: f64,
    pub weights: Vec<f64>,
}

/// What has to be known before events and samples can be.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    pub name: String,
    pub exporter: String,
    pub frames: Vec<Frame>,
    pub profiles: Vec<Head>,
    weights: usize,
}

/// Who is told of events and samples.
pub(super) trait Bodies {
    /// An event of a profile.
    fn event(&mut self, profile: usize, event: &Event) -> Result<(), Error>;
    /// A sample of a profile, by its number: frames from the outermost on.
    fn sample(&mut self, profile: usize, number: usize, stack: &[u64]) -> Result<(), Error>;
}

/// What is wanted.
pub(super) enum Pass<'a> {
    Heads(&'a mut Heads),
    Bodies(&'a mut dyn Bodies),
}

/// A file that is read once.
pub(super) struct Reader {
    input: Input,
    path: PathBuf,
}

struct State<'a> {
    pass: Pass<'a>,
    /// Profiles so far.
    profile: usize,
    error: Option<Error>,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self { input: Input::open(path)?, path: path.to_owned() })
    }

    pub(super) const fn len(&self) -> u64 {
        self.input.len()
    }

    /// Reads the file; what is damaged in it, if anything is.
    ///
    /// # Errors
    /// If it cannot be read, or who is told fails.
    pub(super) fn read(mut self, pass: Pass<'_>, progress: &dyn Progress) -> Result<Option<String>, Error> {
        let mut state = State { pass, profile: 0, error: None };
        let bounded = Bounded { input: &mut self.input, progress, text: None, is_escaped: false, depth: 0 };
        let mut parser =
            serde_json::Deserializer::from_reader(io::BufReader::with_capacity(64 << 10, bounded));
        let result = Top(&mut state).deserialize(&mut parser);
        if let Some(error) = state.error {
            return Err(error);
        }
        self.input.tell_all(progress);
        match result {
            Ok(()) => Ok(None),
            Err(error) if error.is_io() => {
                let source = io::Error::from(error);
                if is_of_content(&source) {
                    return Ok(Some(format!("{source}; nothing is read from there on")));
                }
                Err(Error::Read { path: self.path, source })
            }
            Err(error) => Ok(Some(format!("{error}; nothing is read from there on"))),
        }
    }
}

/// An object whose members are read one after the other.
macro_rules! object {
    ($seed:ident, $expected:literal, |$state:ident, $key:ident, $map:ident| $body:expr) => {
        struct $seed<'s, 'a>(&'s mut State<'a>);

        impl<'de> DeserializeSeed<'de> for $seed<'_, '_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_map(self)
            }
        }

        impl<'de> Visitor<'de> for $seed<'_, '_> {
            type Value = ();

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }

            fn visit_map<M: MapAccess<'de>>(self, mut $map: M) -> Result<(), M::Error> {
                let $state = self.0;
                while let Some($key) = $map.next_key::<String>()? {
                    $body
                }
                Ok(())
            }
        }
    };
}

object!(Top, "an object", |state, key, map| {
    match (key.as_str(), &mut state.pass) {
        ("shared", Pass::Heads(_)) => map.next_value_seed(Shared(state))?,
        ("profiles", _) => map.next_value_seed(Profiles(state))?,
        ("name", Pass::Heads(heads)) => heads.name = map.next_value::<Option<String>>()?.unwrap_or_default(),
        ("exporter", Pass::Heads(heads)) => {
            heads.exporter = map.next_value::<Option<String>>()?.unwrap_or_default();
        }
        _ => {
            map.next_value::<IgnoredAny>()?;
        }
    }
});

object!(Shared, "an object with frames", |state, key, map| {
    match (key.as_str(), &mut state.pass) {
        ("frames", Pass::Heads(heads)) => {
            let frames = &mut heads.frames;
            map.next_value_seed(each(|frame: Frame| {
                frames.push(frame);
                if frames.len() < MOST_FRAMES { Ok(()) } else { Err("too many frames") }
            }))?;
        }
        _ => {
            map.next_value::<IgnoredAny>()?;
        }
    }
});

object!(Profile, "an object that is a profile", |state, key, map| {
    let number = state.profile;
    match (key.as_str(), &mut state.pass) {
        ("events", Pass::Bodies(bodies)) => {
            let error = &mut state.error;
            map.next_value_seed(each(|event: Event| {
                bodies.event(number, &event).map_err(|it| kept(error, it))
            }))?;
        }
        ("samples", Pass::Bodies(bodies)) => {
            let (error, mut sample) = (&mut state.error, 0);
            map.next_value_seed(each(|stack: Stack| {
                sample += 1;
                bodies.sample(number, sample - 1, &stack.0).map_err(|it| kept(error, it))
            }))?;
        }
        (key, Pass::Heads(heads)) => {
            let weights = &mut heads.weights;
            let Some(head) = heads.profiles.last_mut() else { return Err(M::Error::custom("no profile")) };
            match key {
                "type" => head.kind = map.next_value()?,
                "name" => head.name = map.next_value::<Option<String>>()?.unwrap_or_default(),
                "unit" => head.unit = map.next_value()?,
                "startValue" => head.start = map.next_value::<Option<f64>>()?.unwrap_or_default(),
                "endValue" => head.end = map.next_value::<Option<f64>>()?.unwrap_or_default(),
                "weights" => map.next_value_seed(each(|weight: f64| {
                    head.weights.push(weight);
                    *weights += 1;
                    if *weights < MOST_WEIGHTS { Ok(()) } else { Err("too many weights") }
                }))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        _ => {
            map.next_value::<IgnoredAny>()?;
        }
    }
});

/// Keeps what cannot be told through the parser.
fn kept(place: &mut Option<Error>, error: Error) -> &'static str {
    *place = Some(error);
    "cannot go on"
}

/// All profiles.
struct Profiles<'s, 'a>(&'s mut State<'a>);

impl<'de> DeserializeSeed<'de> for Profiles<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Profiles<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of profiles")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let state = self.0;
        loop {
            if let Pass::Heads(heads) = &mut state.pass {
                heads.profiles.push(Head::default());
            }
            let next = list.next_element_seed(Profile(state))?;
            if next.is_none() {
                if let Pass::Heads(heads) = &mut state.pass {
                    heads.profiles.pop();
                }
                return Ok(());
            }
            state.profile += 1;
            if state.profile == MOST_PROFILES {
                return Err(S::Error::custom("too many profiles"));
            }
        }
    }
}

/// A list of which each element is handed on.
struct Each<T, F>(F, PhantomData<T>);

const fn each<T, F: FnMut(T) -> Result<(), &'static str>>(hand_on: F) -> Each<T, F> {
    Each(hand_on, PhantomData)
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), &'static str>> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T) -> Result<(), &'static str>> Visitor<'de> for Each<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(mut self, mut list: S) -> Result<(), S::Error> {
        while let Some(element) = list.next_element()? {
            (self.0)(element).map_err(S::Error::custom)?;
        }
        Ok(())
    }
}

/// Frames of a sample, as many as anybody could have.
struct Stack(Vec<u64>);

impl<'de> Deserialize<'de> for Stack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut frames = Vec::new();
        let hand_on = |frame: u64| {
            frames.push(frame);
            if frames.len() < DEEPEST { Ok(()) } else { Err("too deep a stack") }
        };
        each(hand_on).deserialize(deserializer)?;
        Ok(Self(frames))
    }
}

/// A file of which no text is longer than memory should be asked for.
struct Bounded<'a> {
    input: &'a mut Input,
    progress: &'a dyn Progress,
    /// Bytes of the text that is open.
    text: Option<usize>,
    is_escaped: bool,
    /// Lists and objects that are open, of which a parser keeps each, also of what it passes over.
    depth: usize,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(into)?;
        for byte in into.get(..len).unwrap_or_default() {
            self.depth = match (self.text, *byte) {
                (None, b'[' | b'{') => self.depth + 1,
                (None, b']' | b'}') => self.depth.saturating_sub(1),
                _ => self.depth,
            };
            if self.depth > MOST_OPEN {
                let what = "lists and objects are too deep within each other";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.text = match (self.text, *byte) {
                (None, b'"') => Some(0),
                (Some(_), b'"') if !self.is_escaped => None,
                (Some(LONGEST_TEXT), _) => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a text is too long"));
                }
                (text, _) => text.map(|len| len + 1),
            };
            self.is_escaped = *byte == b'\\' && !self.is_escaped && self.text.is_some();
        }
        self.input.tell(self.progress);
        Ok(len)
    }
}
