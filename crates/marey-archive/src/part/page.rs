//! Pages with checksums.
//!
//! The one idea: one bit that a disk or a copy has turned makes another number, and nothing in a number tells. Parquet has a
//! place for a checksum in the header of each page (CRC-32 of its bytes as they are stored), which its readers compare, but the
//! library that we write with leaves it empty. So headers are written here.
//!
//! A header is a struct in Thrift's compact protocol: of each field how far its number is from that of the field before (4
//! bits) and its type (4 bits), then its value; whole numbers in zigzag, 7 bits a byte, the lowest first; a zero byte ends
//! the struct.
//!
//! What is deliberately absent: what our pages do not have, which are statistics of their own, levels and encryption.

use std::io::Write;

use parquet::basic::Encoding;
use parquet::column::page::{CompressedPage, Page, PageWriteSpec};
use parquet::errors::ParquetError;
use parquet::file::writer::TrackedWrite;

/// Writes a page and tells where it lies.
pub(super) fn write<W: Write + Send>(
    page: &CompressedPage,
    sink: &mut TrackedWrite<W>,
) -> Result<PageWriteSpec, ParquetError> {
    let begin = sink.bytes_written();
    let header = header(page)?;
    sink.write_all(&header)?;
    sink.write_all(page.data())?;
    let mut spec = PageWriteSpec::new();
    spec.page_type = page.page_type();
    spec.uncompressed_size = header.len() + page.uncompressed_size();
    spec.compressed_size = header.len() + page.compressed_size();
    spec.num_values = page.num_values();
    spec.offset = begin as u64;
    spec.bytes_written = (sink.bytes_written() - begin) as u64;
    Ok(spec)
}

fn header(page: &CompressedPage) -> Result<Vec<u8>, ParquetError> {
    let size = |size: usize| {
        i32::try_from(size).map_err(|_| ParquetError::General(format!("a page of {size} bytes is too large")))
    };
    let values = i32::try_from(page.num_values())
        .map_err(|_| ParquetError::General(format!("a page of {} values is too large", page.num_values())))?;
    let kind = match page.compressed_page() {
        Page::DataPage { .. } => 0,
        Page::DictionaryPage { .. } => 2,
        Page::DataPageV2 { .. } => 3,
    };
    let mut header = Struct::default();
    header.number(1, kind);
    header.number(2, size(page.uncompressed_size())?);
    header.number(3, size(page.compressed_size())?);
    header.number(4, crc32fast::hash(page.data()).cast_signed());
    match page.compressed_page() {
        Page::DataPage { encoding, def_level_encoding, rep_level_encoding, .. } => {
            let mut data = Struct::default();
            data.number(1, values);
            data.number(2, number(*encoding)?);
            data.number(3, number(*def_level_encoding)?);
            data.number(4, number(*rep_level_encoding)?);
            header.inner(5, data);
        }
        Page::DictionaryPage { encoding, .. } => {
            let mut dictionary = Struct::default();
            dictionary.number(1, values);
            dictionary.number(2, number(*encoding)?);
            header.inner(7, dictionary);
        }
        Page::DataPageV2 { .. } => {
            return Err(ParquetError::NYI("checksums of pages of the second version".to_owned()));
        }
    }
    Ok(header.ended())
}

/// What the format calls an encoding.
fn number(encoding: Encoding) -> Result<i32, ParquetError> {
    Ok(match encoding {
        Encoding::PLAIN => 0,
        Encoding::RLE => 3,
        Encoding::DELTA_BINARY_PACKED => 5,
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 6,
        Encoding::DELTA_BYTE_ARRAY => 7,
        Encoding::RLE_DICTIONARY => 8,
        Encoding::BYTE_STREAM_SPLIT => 9,
        other => return Err(ParquetError::NYI(format!("pages that are encoded as {other}"))),
    })
}

/// A struct in the making.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    /// The field that was written last.
    last: u8,
}

impl Struct {
    /// A field that is a whole number.
    fn number(&mut self, field: u8, value: i32) {
        const NUMBER: u8 = 5;
        self.begin(field, NUMBER);
        let mut rest = ((value << 1) ^ (value >> 31)).cast_unsigned();
        loop {
            let [septet, ..] = (rest & 0x7f).to_le_bytes();
            rest >>= 7;
            self.bytes.push(if rest == 0 { septet } else { septet | 0x80 });
            if rest == 0 {
                return;
            }
        }
    }

    /// A field that is a struct.
    fn inner(&mut self, field: u8, inner: Self) {
        const STRUCT: u8 = 12;
        self.begin(field, STRUCT);
        self.bytes.extend(inner.ended());
    }

    fn begin(&mut self, field: u8, kind: u8) {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }

    fn ended(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_header_says_what_the_page_is_and_has_its_checksum() {
        let page = Page::DataPage {
            // The text of which the checksum is known that every description of this CRC gives.
            buf: Bytes::from_static(b"123456789"),
            num_values: 300,
            encoding: Encoding::BYTE_STREAM_SPLIT,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let mut sink = TrackedWrite::new(Vec::new());
        let spec = write(&CompressedPage::new(page, 40), &mut sink).unwrap();
        let bytes = sink.into_inner().unwrap();
        // Numbers are in zigzag: 80 is 40, 18 the length of the text. The checksum is 0xcbf43926, as a signed number
        // -873 187 034: 1 746 374 067 in zigzag, by septets 33 1b 5e 40 06.
        let mut expected = vec![0x15, 0, 0x15, 80, 0x15, 18, 0x15, 0xb3, 0x9b, 0xde, 0xc0, 0x06];
        expected.extend([0x1c, 0x15, 0xd8, 0x04, 0x15, 18, 0x15, 6, 0x15, 6, 0, 0]);
        assert_eq!(bytes, [&expected[..], b"123456789"].concat());
        assert_eq!((spec.offset, spec.bytes_written), (0, bytes.len() as u64));
        assert_eq!((spec.compressed_size, spec.uncompressed_size), (expected.len() + 9, expected.len() + 40));
    }
}
