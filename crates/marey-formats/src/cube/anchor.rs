//! `anchor.xml`: what metrics, call paths and locations there are.
//!
//! The one idea: one pass from element to element; what an element belongs to is the one that is open around it. What is
//! kept is a short record for each thing, and numbers of rows are made from the order of call paths alone.
//!
//! Deliberately absent: descriptions, addresses of documentation, topologies.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::tau_profile::entity;

/// Bytes of XML that are read; an anchor of a million locations has a quarter of it.
const MOST: u64 = 512 << 20;
/// Bytes of one tag or text.
const LONGEST: usize = 16 << 20;
/// Elements within each other.
const DEEPEST: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Metric {
    pub id: u64,
    pub name: String,
    /// `EXCLUSIVE`, `INCLUSIVE`, or how it is derived.
    pub kind: String,
    pub values: String,
    pub unit: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    pub id: u64,
    pub name: String,
    pub paradigm: String,
    pub role: String,
    pub file: String,
    pub line: u32,
}

/// A node of the call tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cnode {
    pub parent: Option<u32>,
    pub region: u64,
}

/// Part of the machine.
#[derive(Clone, Debug, Default)]
struct Node {
    parent: Option<usize>,
    name: String,
    class: String,
}

/// A process or what is treated as one.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    node: Option<usize>,
    pub name: String,
    pub rank: Option<u32>,
    pub kind: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub id: u64,
    pub group: usize,
    pub name: String,
}

/// All that the anchor says.
#[derive(Clone, Debug, Default)]
pub(super) struct Anchor {
    pub attributes: Vec<(String, String)>,
    pub metrics: Vec<Metric>,
    pub regions: Vec<Region>,
    pub cnodes: Vec<Cnode>,
    nodes: Vec<Node>,
    pub groups: Vec<Group>,
    pub locations: Vec<Location>,
    /// Elements by kind, as [`super::KINDS`] names them.
    pub counts: BTreeMap<&'static str, u64>,
}

/// What an open element is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Cube,
    Metric,
    Region,
    Cnode(u32),
    Node(usize),
    Group,
    Location,
    Other,
}

impl Anchor {
    /// Reads it, compressed or not; what is damaged, if anything is.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(plain: impl Read) -> io::Result<(Self, Option<String>)> {
        let mut plain = BufReader::new(plain);
        let is_packed = plain.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let stream: Box<dyn Read + '_> =
            if is_packed { Box::new(MultiGzDecoder::new(plain)) } else { Box::new(plain) };
        let mut reader =
            Reader::from_reader(Limited { inner: BufReader::new(stream.take(MOST)), left: LONGEST });
        reader.config_mut().allow_dangling_amp = true;
        let (mut state, mut buffer) = (State::default(), Vec::new());
        let damage = loop {
            buffer.clear();
            reader.get_mut().left = LONGEST;
            let what = match reader.read_event_into(&mut buffer) {
                Ok(Event::Eof) if state.open.is_empty() && state.has_begun => break None,
                Ok(Event::Eof) => "it ends amid its elements".to_owned(),
                Ok(Event::Start(tag)) if state.open.len() < DEEPEST => {
                    state.begin(&tag);
                    continue;
                }
                Ok(Event::Start(_)) => "elements are too deep within each other".to_owned(),
                Ok(Event::Empty(tag)) => {
                    state.begin(&tag);
                    state.open.pop();
                    continue;
                }
                Ok(Event::Text(text)) => {
                    state.text += &*text;
                    continue;
                }
                Ok(Event::CData(text)) => {
                    state.text += &*text;
                    continue;
                }
                Ok(Event::GeneralRef(name)) => {
                    state.text += entity(&name);
                    continue;
                }
                Ok(Event::End(tag)) => {
                    state.end(tag.name().as_ref());
                    continue;
                }
                Ok(_) => continue,
                Err(quick_xml::Error::Io(error)) if !crate::input::is_of_content(&error) => {
                    return Err(io::Error::new(error.kind(), error.to_string()));
                }
                Err(error) => error.to_string(),
            };
            break Some(format!("anchor.xml: {what}, at byte {} of it", reader.buffer_position()));
        };
        Ok((state.anchor, damage))
    }

    /// The machine of a process: the part that is called a node, else the innermost one.
    pub(super) fn host(&self, group: &Group) -> &str {
        let innermost = group.node.map(|node| &self.nodes[node]);
        let mut found = innermost;
        while let Some(node) = found.filter(|node| node.class != "node") {
            found = node.parent.map(|parent| &self.nodes[parent]);
        }
        let name = found.or(innermost).map_or("", |node| node.name.as_str());
        name.strip_prefix("node ").unwrap_or(name)
    }
}

#[derive(Debug, Default)]
struct State {
    anchor: Anchor,
    open: Vec<Open>,
    text: String,
    has_begun: bool,
}

/// An attribute of a tag; empty where it has none.
fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.try_get_attribute(name).ok().flatten();
    let Some(value) = found.map(|it| it.value.into_owned()) else { return String::new() };
    quick_xml::escape::unescape(&value).map(std::borrow::Cow::into_owned).unwrap_or(value)
}

fn number(tag: &BytesStart<'_>, name: &str) -> u64 {
    attribute(tag, name).trim().parse().unwrap_or(u64::MAX)
}

/// Parts of the machine within each other.
const DEEPEST_MACHINE: usize = 100;

impl State {
    fn begin(&mut self, tag: &BytesStart<'_>) {
        self.text.clear();
        self.has_begun = true;
        let around = self.open.last().copied();
        let anchor = &mut self.anchor;
        let mut count = |kind| *anchor.counts.entry(kind).or_default() += 1;
        let name = tag.name();
        let open = match name.as_ref() {
            "cube" => Open::Cube,
            "attr" => {
                match around {
                    Some(Open::Cube) => {
                        count("attribute");
                        anchor.attributes.push((attribute(tag, "key"), attribute(tag, "value")));
                    }
                    _ => count("attribute of a part of the machine"),
                }
                Open::Other
            }
            "murl" => {
                count("mirror");
                Open::Other
            }
            "metric" => {
                anchor.metrics.push(Metric {
                    id: number(tag, "id"),
                    kind: attribute(tag, "type"),
                    ..Metric::default()
                });
                Open::Metric
            }
            "region" => {
                count("region");
                anchor.regions.push(Region {
                    id: number(tag, "id"),
                    file: attribute(tag, "mod"),
                    line: attribute(tag, "begin").parse().unwrap_or(0),
                    ..Region::default()
                });
                Open::Region
            }
            "cnode" => {
                count("call path");
                let parent = match around {
                    Some(Open::Cnode(parent)) => Some(parent),
                    _ => None,
                };
                let id = u32::try_from(anchor.cnodes.len()).unwrap_or(u32::MAX);
                anchor.cnodes.push(Cnode { parent, region: number(tag, "calleeId") });
                Open::Cnode(id)
            }
            "parameter" => {
                count("parameter of a call path");
                Open::Other
            }
            // Older versions have fixed names for parts of the machine.
            class @ ("systemtreenode" | "machine" | "node") if self.open.len() < DEEPEST_MACHINE => {
                count("part of the machine");
                let parent = match around {
                    Some(Open::Node(parent)) => Some(parent),
                    _ => None,
                };
                let class = class.to_owned();
                anchor.nodes.push(Node { parent, class, ..Node::default() });
                Open::Node(anchor.nodes.len() - 1)
            }
            "locationgroup" | "process" => {
                count("process");
                let node = match around {
                    Some(Open::Node(node)) => Some(node),
                    _ => None,
                };
                anchor.groups.push(Group { node, ..Group::default() });
                Open::Group
            }
            "location" | "thread" if !anchor.groups.is_empty() => {
                count("location");
                let id = attribute(tag, "Id").trim().parse().unwrap_or(u64::MAX);
                anchor.locations.push(Location { id, group: anchor.groups.len() - 1, ..Location::default() });
                Open::Location
            }
            "cart" => {
                count("topology");
                Open::Other
            }
            _ => Open::Other,
        };
        self.open.push(open);
    }

    fn end(&mut self, name: &str) {
        self.open.pop();
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        let anchor = &mut self.anchor;
        match (self.open.last(), name) {
            (Some(Open::Metric), _) => {
                // Where others are within it, it may not be the last; its own texts come before them.
                let Some(metric) = anchor.metrics.last_mut() else { return };
                match name {
                    "uniq_name" => text.clone_into(&mut metric.name),
                    "dtype" => text.clone_into(&mut metric.values),
                    "uom" => text.clone_into(&mut metric.unit),
                    _ => {}
                }
            }
            (Some(Open::Region), _) => {
                let Some(region) = anchor.regions.last_mut() else { return };
                match name {
                    "name" => text.clone_into(&mut region.name),
                    "paradigm" => text.clone_into(&mut region.paradigm),
                    "role" => text.clone_into(&mut region.role),
                    _ => {}
                }
            }
            (Some(Open::Node(node)), "name") => text.clone_into(&mut anchor.nodes[*node].name),
            (Some(Open::Node(node)), "class") => text.clone_into(&mut anchor.nodes[*node].class),
            (Some(Open::Group), _) => {
                let Some(group) = anchor.groups.last_mut() else { return };
                match name {
                    "name" => text.clone_into(&mut group.name),
                    "rank" => group.rank = text.parse().ok(),
                    "type" => text.clone_into(&mut group.kind),
                    _ => {}
                }
            }
            (Some(Open::Location), "name") => {
                if let Some(location) = anchor.locations.last_mut() {
                    text.clone_into(&mut location.name);
                }
            }
            _ => {}
        }
    }
}

/// A stream of which no tag and no text takes more memory than is left.
struct Limited<R> {
    inner: R,
    left: usize,
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.read(into)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a tag or text is too long"));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, used: usize) {
        self.left = self.left.saturating_sub(used);
        self.inner.consume(used);
    }
}
