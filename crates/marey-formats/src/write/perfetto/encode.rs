//! Protobuf: fields one behind the other.

/// A message on its way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A number without fixed size.
    pub(super) fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    /// Eight bytes: an identifier, or the bits of a real number.
    pub(super) fn fixed(&mut self, field: u32, bits: u64) {
        self.varint(u64::from(field) << 3 | 1);
        self.0.extend(bits.to_le_bytes());
    }

    pub(super) fn text(&mut self, field: u32, text: &str) {
        self.block(field, text.as_bytes());
    }

    pub(super) fn message(&mut self, field: u32, message: &Self) {
        self.block(field, &message.0);
    }

    /// The fields of another message.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    fn block(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_documentation() {
        // 150 in field 1 is `08 96 01`, "testing" in field 2 begins with `12 07`.
        let mut fields = Fields::default();
        fields.number(1, 150);
        fields.text(2, "testing");
        assert_eq!(fields.bytes(), b"\x08\x96\x01\x12\x07testing");
        let mut fields = Fields::default();
        fields.number(60, u64::MAX);
        assert_eq!(fields.bytes(), b"\xe0\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    }
}
