//! Frames, read as the viewer reads them.

use marey_serve::{Opened, answer};
use serde_json::Value;

/// A frame.
pub(super) struct Decoded {
    pub(super) kind: String,
    pub(super) head: Value,
    columns: Vec<Value>,
    bytes: Vec<u8>,
}

/// Asks, and reads the answer.
pub(super) fn ask(run: &Opened<'_>, request: &Value) -> Decoded {
    decoded(answer(run, request.to_string().as_bytes()))
}

pub(super) fn decoded(bytes: Vec<u8>) -> Decoded {
    let len = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&bytes[4..4 + len]).unwrap();
    let columns = head["columns"].as_array().unwrap().clone();
    for column in &columns {
        assert_eq!(column["at"].as_u64().unwrap() % 8, 0, "{column}");
    }
    Decoded { kind: head["kind"].as_str().unwrap().to_owned(), head: head["head"].clone(), columns, bytes }
}

impl Decoded {
    fn column<const N: usize>(&self, name: &str, r#type: &str) -> Vec<[u8; N]> {
        let column = self.columns.iter().find(|column| column["name"] == name).unwrap();
        assert_eq!(column["type"], r#type);
        let number = |field: &str| usize::try_from(column[field].as_u64().unwrap()).unwrap();
        let (at, length) = (number("at"), number("length"));
        self.bytes[at..at + length * N].chunks_exact(N).map(|value| value.try_into().unwrap()).collect()
    }

    pub(super) fn u32(&self, name: &str) -> Vec<u32> {
        self.column(name, "u32").into_iter().map(u32::from_le_bytes).collect()
    }

    pub(super) fn f64(&self, name: &str) -> Vec<f64> {
        self.column(name, "f64").into_iter().map(f64::from_le_bytes).collect()
    }

    pub(super) fn f32(&self, name: &str) -> Vec<f32> {
        self.column(name, "f32").into_iter().map(f32::from_le_bytes).collect()
    }
}
