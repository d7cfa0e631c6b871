//! Files of items: one on each line, as DynamoDB's export to S3 writes them (`{"Item":{...}}`), plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use dynamo::{ApiError, Item, StoredItem};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;

/// Every gzip file begins with them.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// Opens a file for reading, or stdin for `-`; `count` hears how many bytes were read, before they are inflated.
pub(crate) fn open(path: &Path, count: impl Fn(u64) + 'static) -> io::Result<Box<dyn BufRead>> {
    let input: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let mut counted = BufReader::with_capacity(256 << 10, Counted { input, count });
    if counted.fill_buf()?.starts_with(&GZIP) {
        Ok(Box::new(BufReader::with_capacity(256 << 10, MultiGzDecoder::new(counted))))
    } else {
        Ok(Box::new(counted))
    }
}

struct Counted<F> {
    input: Box<dyn Read>,
    count: F,
}

impl<F: Fn(u64)> Read for Counted<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        (self.count)(count as u64);
        Ok(count)
    }
}

/// The form of a line in an export.
#[derive(serde::Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow, rename = "Item")]
    item: &'a serde_json::value::RawValue,
}

/// Reads a line: an item, in DynamoDB's JSON, by itself or as the member `Item`.
pub(crate) fn read(line: &str) -> Result<Item, ApiError> {
    // An item with an attribute of the name Item is a map from types to values, such as {"S":"x"}, there.
    match serde_json::from_str::<Wrapped<'_>>(line) {
        Ok(wrapped) if !is_value(wrapped.item.get()) => dynamo::read_item(wrapped.item.get().as_bytes()),
        _ => dynamo::read_item(line.as_bytes()),
    }
}

/// Whether this is one attribute value and not an item: an object whose one member is the name of a type.
fn is_value(json: &str) -> bool {
    const TYPES: [&str; 10] = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"];
    let Ok(members) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(json) else {
        return false;
    };
    match members.iter().next() {
        Some((name, value)) if members.len() == 1 && TYPES.contains(&name.as_str()) => {
            // {"S":{"S":"x"}} is an item whose attribute is called S.
            !(value.is_object() && name != "M")
        }
        _ => false,
    }
}

/// A file of items while it is written. It has its name only once it is whole.
pub(crate) struct Lines {
    output: Output,
    /// Where it is written, and the name that it gets.
    names: Option<(PathBuf, PathBuf)>,
    line: Vec<u8>,
}

enum Output {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(GzEncoder<BufWriter<Box<dyn Write>>>),
}

impl Lines {
    /// Writes to a file, compressed if its name ends in `.gz`; or to stdout.
    pub(crate) fn create(path: Option<&Path>) -> io::Result<Lines> {
        let Some(path) = path else {
            return Ok(Lines {
                output: Output::Plain(BufWriter::new(Box::new(io::stdout()))),
                names: None,
                line: Vec::new(),
            });
        };
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file: BufWriter<Box<dyn Write>> =
            BufWriter::with_capacity(256 << 10, Box::new(File::create(&part)?));
        let output = if path.extension().is_some_and(|end| end == "gz") {
            Output::Gzip(GzEncoder::new(file, Compression::default()))
        } else {
            Output::Plain(file)
        };
        Ok(Lines { output, names: Some((part, path.to_owned())), line: Vec::new() })
    }

    /// Writes an item.
    pub(crate) fn write(&mut self, item: &StoredItem) -> io::Result<()> {
        self.line.clear();
        dynamo::write_export_line(item, &mut self.line);
        match &mut self.output {
            Output::Plain(output) => output.write_all(&self.line),
            Output::Gzip(output) => output.write_all(&self.line),
        }
    }

    /// Ends the file and gives it its name.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.output {
            Output::Plain(mut output) => output.flush()?,
            Output::Gzip(output) => output.finish()?.flush()?,
        }
        match self.names {
            Some((part, path)) => std::fs::rename(part, path),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_item_by_itself_or_a_member() {
        let plain = read(r#"{"pk":{"S":"a"}}"#).unwrap();
        assert_eq!(read(r#"{"Item":{"pk":{"S":"a"}}}"#).unwrap(), plain);
        assert!(read(r#"{"Item":{"S":"a"}}"#).unwrap().contains_key("Item"));
        assert!(read(r#"{"Item":{"S":{"S":"a"}}}"#).unwrap().contains_key("S"));
        assert!(read(r#"{"Item":{"M":{"S":{"S":"a"}}}}"#).unwrap().contains_key("Item"));
        assert!(read("not json").is_err());
        assert!(read(r#"{"pk":"a"}"#).is_err());
    }
}
