//! One event, read but not understood.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::value::Text;

/// An event's members; the last one counts of those that have the same name.
#[derive(Debug, Default)]
pub(super) struct Event<'a> {
    pub phase: Option<&'a RawValue>,
    pub name: Option<&'a RawValue>,
    pub category: Option<&'a RawValue>,
    pub time: Option<&'a RawValue>,
    pub duration: Option<&'a RawValue>,
    pub thread_duration: Option<&'a RawValue>,
    pub process: Option<&'a RawValue>,
    pub thread: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    pub id2: Option<&'a RawValue>,
    pub scope: Option<&'a RawValue>,
    pub binding: Option<&'a RawValue>,
    pub arguments: Option<&'a RawValue>,
    /// All others.
    pub others: Vec<(Text<'a>, &'a RawValue)>,
}

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of;
        impl<'de> Visitor<'de> for Of {
            type Value = Event<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut event = Event::default();
                while let Some((name, value)) = map.next_entry::<Text<'_>, &RawValue>()? {
                    let member = match name.0.as_ref() {
                        "ph" => &mut event.phase,
                        "name" => &mut event.name,
                        "cat" => &mut event.category,
                        "ts" => &mut event.time,
                        "dur" => &mut event.duration,
                        "tdur" => &mut event.thread_duration,
                        "pid" => &mut event.process,
                        "tid" => &mut event.thread,
                        "id" => &mut event.id,
                        "id2" => &mut event.id2,
                        "scope" => &mut event.scope,
                        "bp" => &mut event.binding,
                        "args" => &mut event.arguments,
                        _ => {
                            event.others.push((name, value));
                            continue;
                        }
                    };
                    *member = Some(value);
                }
                Ok(event)
            }
        }
        from.deserialize_map(Of)
    }
}

/// The members of an object, as they are written.
#[derive(Debug, Default)]
pub(super) struct Members<'a>(pub Vec<(Text<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of;
        impl<'de> Visitor<'de> for Of {
            type Value = Members<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Of)
    }
}
