//! The fields of definitions as bytes: numbers, texts, and pairs, options and lists of them.
//!
//! The one idea: a field needs no length of its own, for its type says where it ends; and no list is
//! longer than the bytes that are left, so damage cannot make a reader allocate.

use crate::Triple;
use crate::spool::varint::{get, get_signed, get_text, put, put_bytes, put_signed};

/// A value that can stand in a definition.
pub(super) trait Field: Sized {
    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads one and moves `*at` behind it. `None` if none stands there.
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self>;
}

impl Field for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, *self);
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        get(bytes, at)
    }
}

impl Field for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, u64::from(*self));
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        get(bytes, at)?.try_into().ok()
    }
}

impl Field for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let found = bytes.get(*at).copied();
        *at += 1;
        found
    }
}

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        u8::get(bytes, at).map(|byte| byte != 0)
    }
}

impl Field for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_signed(out, *self);
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        get_signed(bytes, at)
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_bytes());
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        get_text(bytes, at)
    }
}

impl Field for Triple {
    fn put(&self, out: &mut Vec<u8>) {
        for value in [self.ticks, self.monotonic_ns, self.realtime_ns] {
            put(out, value);
        }
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        Some(Self { ticks: get(bytes, at)?, monotonic_ns: get(bytes, at)?, realtime_ns: get(bytes, at)? })
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        Some((A::get(bytes, at)?, B::get(bytes, at)?))
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        if bool::get(bytes, at)? { T::get(bytes, at).map(Some) } else { Some(None) }
    }
}

impl<T: Field> Field for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put(out, self.len() as u64);
        for value in self {
            value.put(out);
        }
    }
    fn get(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let len = usize::try_from(get(bytes, at)?).ok()?;
        // Every element takes a byte at least, so a count beyond the bytes that are left is a lie
        // and must not make us allocate for it.
        if len > bytes.len().saturating_sub(*at) {
            return None;
        }
        (0..len).map(|_| T::get(bytes, at)).collect()
    }
}
