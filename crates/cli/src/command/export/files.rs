//! What was found, as files: one table of comma-separated values for each entity, in a directory or a zip archive.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use csv::{Terminator, WriterBuilder};
use dynamo::Value;
use service::Exported;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Writes a file for each entity into a directory.
pub(super) fn write_directory(directory: &Path, found: &[Exported]) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for group in found {
        let mut file = File::create(directory.join(file_name(group)))?;
        write_table(group, &mut file)?;
        file.flush()?;
    }
    Ok(())
}

/// Writes a zip archive with a file for each entity. The same items make the same archive: no time is in it.
pub(super) fn write_zip(path: &Path, found: &[Exported]) -> io::Result<()> {
    let mut archive = ZipWriter::new(File::create(path)?);
    for group in found {
        archive.start_file(file_name(group), SimpleFileOptions::default())?;
        write_table(group, &mut archive)?;
    }
    archive.finish()?;
    Ok(())
}

fn file_name(group: &Exported) -> String {
    format!("{}.csv", group.entity)
}

/// A line of names, then a line for each item. Maps, lists and sets are JSON within their cell; what an item lacks is empty.
fn write_table(group: &Exported, out: impl Write) -> io::Result<()> {
    let mut table = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    table.write_record(&group.attributes)?;
    for item in &group.items {
        table
            .write_record(group.attributes.iter().map(|name| item.get(name).map(cell).unwrap_or_default()))?;
    }
    table.flush()
}

fn cell(value: &Value) -> String {
    match value {
        Value::S(text) => text.clone(),
        other => service::value_json(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Exported {
        let item = dynamo::Item::from([
            ("a".to_owned(), Value::from("say \"hi\", twice")),
            ("b".to_owned(), Value::L(vec![Value::from(1), Value::from("x")])),
        ]);
        let attributes = ["a", "b", "c"].map(str::to_owned).into();
        Exported { entity: "E".to_owned(), attributes, items: vec![item] }
    }

    const TABLE: &str = "a,b,c\r\n\"say \"\"hi\"\", twice\",\"[1,\"\"x\"\"]\",\r\n";

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let directory = tempfile::tempdir().unwrap();
        write_directory(directory.path(), &[group()]).unwrap();
        assert_eq!(std::fs::read_to_string(directory.path().join("E.csv")).unwrap(), TABLE);
    }

    #[test]
    fn an_archive_holds_the_same_tables() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("all.zip");
        write_zip(&path, &[group()]).unwrap();
        let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
        let text = io::read_to_string(archive.by_name("E.csv").unwrap()).unwrap();
        assert_eq!(text, TABLE);
    }
}
