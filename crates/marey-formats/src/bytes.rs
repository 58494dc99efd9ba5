//! Reading numbers out of bytes, none of which are trusted.
//!
//! The one idea: each read says `None` where the bytes end, and nothing is allocated before its bytes are there.

/// In which order the bytes of a number stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

/// Bytes and a place in them.
#[derive(Clone, Debug)]
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    pub at: usize,
    pub order: Order,
}

impl<'a> Bytes<'a> {
    pub(crate) const fn new(bytes: &'a [u8], order: Order) -> Self {
        Self { bytes, at: 0, order }
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// How many are left.
    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        let four = *self.take(4)?.first_chunk()?;
        Some(match self.order {
            Order::Little => u32::from_le_bytes(four),
            Order::Big => u32::from_be_bytes(four),
        })
    }

    #[inline]
    pub(crate) fn u64(&mut self) -> Option<u64> {
        let eight = *self.take(8)?.first_chunk()?;
        Some(match self.order {
            Order::Little => u64::from_le_bytes(eight),
            Order::Big => u64::from_be_bytes(eight),
        })
    }

    /// A number of `len` bytes, 8 at most.
    #[inline]
    pub(crate) fn short(&mut self, len: usize) -> Option<u64> {
        let bytes = self.take(len)?;
        let mut eight = [0; 8];
        match self.order {
            Order::Little => {
                eight.get_mut(..len)?.copy_from_slice(bytes);
                Some(u64::from_le_bytes(eight))
            }
            Order::Big => {
                eight.get_mut(8_usize.checked_sub(len)?..)?.copy_from_slice(bytes);
                Some(u64::from_be_bytes(eight))
            }
        }
    }

    /// A text that ends with a zero byte.
    pub(crate) fn text(&mut self) -> Option<String> {
        let rest = self.bytes.get(self.at..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        self.at += len + 1;
        Some(String::from_utf8_lossy(rest.get(..len)?).into_owned())
    }
}
