//! Integers of one to nine bytes whose first byte tells the length.
//!
//! The count of trailing zeros of the first byte is the number of bytes that follow (0–7); a zero
//! first byte is followed by eight whole bytes. So a value is written by one shift and one store
//! and read by one load and one shift, without a loop or a branch on its size — LEB128 needs both.

/// The largest value that takes at most seven bytes, so that it and an opcode fit one 8-byte store.
pub const MAX_SHORT: u64 = (1 << 49) - 1;

/// Number of bytes of `value` as [`encode_short`] writes it: 1–7 for values up to [`MAX_SHORT`].
#[inline(always)]
pub const fn short_len(value: u64) -> u32 {
    // Significant bits divided by seven, rounded up: exact for 1..=63 bits.
    let bits = 64 - (value | 1).leading_zeros();
    ((bits + 6) * 37) >> 8
}

/// The word whose low `len` bytes are the encoding of `value`, for values up to [`MAX_SHORT`].
#[inline(always)]
pub const fn encode_short(value: u64, len: u32) -> u64 {
    (value << len) | (1 << (len - 1))
}

/// The same word and its length for values that are mostly below 128: these take a branch, which is foreseen, instead
/// of finding out how long they are.
#[inline(always)]
pub const fn encode_near(value: u64) -> (u64, u32) {
    if value < 1 << 7 {
        return (value << 1 | 1, 1);
    }
    core::hint::cold_path();
    let len = short_len(value);
    (encode_short(value, len), len)
}

/// Appends `value`, any of 64 bits.
pub fn put(out: &mut Vec<u8>, value: u64) {
    if value < 1 << 56 {
        let len = short_len(value);
        let word = if len == 8 { (value << 8) | 0x80 } else { encode_short(value, len) };
        out.extend_from_slice(&word.to_le_bytes()[..len as usize]);
    } else {
        put_wide(out, value);
    }
}

/// Appends `value` in nine bytes, so that any other can take its place.
pub fn put_wide(out: &mut Vec<u8>, value: u64) {
    out.push(0);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a signed `value`, small ones of either sign in few bytes.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, zigzag(value));
}

/// Maps small integers of either sign to small unsigned ones.
#[inline(always)]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// Reads one value at `*at` and moves `*at` behind it; `None` if the bytes end before it does.
#[inline(always)]
pub fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let tail = bytes.get(*at..)?;
    if let Some(eight) = tail.first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let zeros = word.trailing_zeros();
        if zeros < 8 {
            let len = zeros + 1;
            *at += len as usize;
            // Of the loaded word only the low `len` bytes belong to this value.
            return Some((word << (64 - 8 * len)) >> (64 - 7 * len));
        }
    }
    get_slowly(tail, at)
}

/// The last bytes of a buffer, and nine-byte values.
#[cold]
fn get_slowly(tail: &[u8], at: &mut usize) -> Option<u64> {
    let first = *tail.first()?;
    let len = first.trailing_zeros() as usize + 1;
    let mut eight = [0; 8];
    let (value, used) = if first == 0 {
        (u64::from_le_bytes(*tail.get(1..)?.first_chunk::<8>()?), 9)
    } else {
        eight[..len].copy_from_slice(tail.get(..len)?);
        (u64::from_le_bytes(eight) >> len, len)
    };
    *at += used;
    Some(value)
}

/// Reads a signed value written by [`put_signed`].
#[inline(always)]
pub fn get_signed(bytes: &[u8], at: &mut usize) -> Option<i64> {
    get(bytes, at).map(unzigzag)
}

/// Appends a length and then the bytes.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what [`put_bytes`] wrote, without copying.
pub fn get_bytes<'a>(bytes: &'a [u8], at: &mut usize) -> Option<&'a [u8]> {
    let len = usize::try_from(get(bytes, at)?).ok()?;
    let end = at.checked_add(len)?;
    let found = bytes.get(*at..end)?;
    *at = end;
    Some(found)
}

/// Reads what [`put_bytes`] wrote as text; bytes that are not UTF-8 are replaced, never lost.
pub fn get_text(bytes: &[u8], at: &mut usize) -> Option<String> {
    get_bytes(bytes, at).map(|found| String::from_utf8_lossy(found).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length boundary, and its neighbours, comes back as it went in.
    #[test]
    fn every_length_comes_back() {
        let mut values = vec![0, 1, u64::MAX, u64::MAX - 1];
        for bits in 1..64 {
            values.extend([(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
        }
        let mut out = Vec::new();
        for &value in &values {
            put(&mut out, value);
        }
        let mut at = 0;
        for &value in &values {
            assert_eq!(get(&out, &mut at), Some(value), "{value:#x}");
        }
        assert_eq!(at, out.len());
        assert_eq!(get(&out, &mut at), None);
    }

    #[test]
    fn lengths_are_as_documented() {
        for (value, len) in
            [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (MAX_SHORT, 7), (MAX_SHORT + 1, 8)]
        {
            let mut out = Vec::new();
            put(&mut out, value);
            assert_eq!(out.len(), len, "{value}");
            if value <= MAX_SHORT {
                let len = short_len(value);
                assert_eq!(encode_near(value), (encode_short(value, len), len), "{value}");
            }
        }
    }

    #[test]
    fn a_cut_value_is_none() {
        let mut out = Vec::new();
        put(&mut out, u64::MAX);
        for len in 0..out.len() {
            assert_eq!(get(&out[..len], &mut 0), None);
        }
    }

    #[test]
    fn signed_values_come_back() {
        for value in [0, -1, 1, i64::MIN, i64::MAX, -12_345] {
            let mut out = Vec::new();
            put_signed(&mut out, value);
            assert_eq!(get_signed(&out, &mut 0), Some(value));
        }
    }
}
