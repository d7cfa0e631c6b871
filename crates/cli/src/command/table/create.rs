//! `monotable table create`: a table from a few arguments, or from the JSON that the AWS CLI takes.

use std::path::PathBuf;

use clap::Args;
use dynamo::operation::{
    AttributeDefinition, BillingMode, Choice, CreateTable, GlobalSecondaryIndex, KeyRole, KeySchemaElement,
    Projection, ProjectionType, StreamSpecification, StreamViewType, TimeToLiveSpecification,
    UpdateTimeToLive,
};
use dynamo::{KeyType, Operation};

use crate::database::Place;
use crate::failure::Failure;
use crate::output;

/// Creates a table.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Create {
    /// The table.
    #[arg(required_unless_present = "from")]
    table: Option<String>,
    /// The partition key and its type: S, N or B.
    #[arg(long, value_name = "NAME:TYPE", value_parser = parse_key, required_unless_present = "from")]
    partition_key: Option<Key>,
    /// The sort key and its type.
    #[arg(long, value_name = "NAME:TYPE", value_parser = parse_key)]
    sort_key: Option<Key>,
    /// A global index: its name, its partition key and, if it has one, its sort key.
    #[arg(long, value_name = "INDEX=KEY:TYPE,KEY:TYPE", value_parser = parse_index)]
    index: Vec<Index>,
    /// What the stream of changes shows.
    #[arg(long, value_name = "VIEW", value_parser = parse_view)]
    stream: Option<StreamViewType>,
    /// The attribute that tells when an item expires, in seconds since 1970.
    #[arg(long, value_name = "NAME")]
    ttl: Option<String>,
    /// A file with the request as the AWS CLI takes it in --cli-input-json.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["partition_key", "sort_key", "index", "stream"])]
    from: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

const EXAMPLES: &str = "\
Examples:
  monotable table create Orders --partition-key pk:S --sort-key sk:S --data ./data
  monotable table create Orders --partition-key pk:S --sort-key sk:S \\
      --index GSI1=GSI1PK:S,GSI1SK:S --stream NEW_AND_OLD_IMAGES --ttl expires --endpoint-url http://127.0.0.1:8000
  monotable table create --from create-table.json --data ./data";

/// A key attribute and its type.
#[derive(Clone, Debug)]
struct Key {
    name: String,
    kind: KeyType,
}

#[derive(Clone, Debug)]
struct Index {
    name: String,
    keys: Vec<Key>,
}

fn parse_key(text: &str) -> Result<Key, String> {
    let (name, kind) = text.rsplit_once(':').ok_or("a key is NAME:TYPE, such as pk:S")?;
    let kind = KeyType::from_name(kind).ok_or("the type of a key is S, N or B")?;
    Ok(Key { name: name.to_owned(), kind })
}

fn parse_index(text: &str) -> Result<Index, String> {
    let (name, keys) = text.split_once('=').ok_or("an index is NAME=KEY:TYPE,KEY:TYPE")?;
    let keys = keys.split(',').map(parse_key).collect::<Result<Vec<_>, _>>()?;
    if keys.len() > 2 {
        return Err("for an index with more than two keys use --from".to_owned());
    }
    Ok(Index { name: name.to_owned(), keys })
}

fn parse_view(text: &str) -> Result<StreamViewType, String> {
    StreamViewType::from_name(text)
        .ok_or_else(|| "use KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES".to_owned())
}

impl Create {
    pub(super) fn run(self) -> Result<(), Failure> {
        let request = self.request()?;
        let name = request.table_name.clone().unwrap_or_default();
        let database = self.place.open_or_make()?;
        database.run(request)?;
        if let Some(attribute) = self.ttl {
            let specification =
                TimeToLiveSpecification { enabled: Some(true), attribute_name: Some(attribute) };
            database.run(UpdateTimeToLive {
                table_name: Some(name.clone()),
                time_to_live_specification: Some(specification),
            })?;
        }
        database.finish()?;
        output::line(&format!("created {name}"))
    }

    fn request(&self) -> Result<CreateTable, Failure> {
        let Some(path) = &self.from else { return Ok(self.described()) };
        let text = std::fs::read(path)
            .map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))?;
        match Operation::parse("CreateTable", &text)? {
            Operation::CreateTable(request) => {
                let table_name = self.table.clone().or(request.table_name);
                Ok(CreateTable { table_name, ..request })
            }
            _ => Err(Failure::new("the file does not describe a table")),
        }
    }

    fn described(&self) -> CreateTable {
        let keys: Vec<&Key> = self.partition_key.iter().chain(&self.sort_key).collect();
        let mut definitions: Vec<AttributeDefinition> = Vec::new();
        for key in keys.iter().copied().chain(self.index.iter().flat_map(|index| &index.keys)) {
            if !definitions.iter().any(|known| known.attribute_name.as_ref() == Some(&key.name)) {
                definitions.push(AttributeDefinition {
                    attribute_name: Some(key.name.clone()),
                    attribute_type: Some(Choice::Known(key.kind)),
                });
            }
        }
        let indexes: Vec<_> = self.index.iter().map(global_index).collect();
        CreateTable {
            table_name: self.table.clone(),
            attribute_definitions: Some(definitions),
            key_schema: Some(key_schema(keys.into_iter())),
            billing_mode: Some(Choice::Known(BillingMode::PayPerRequest)),
            global_secondary_indexes: (!indexes.is_empty()).then_some(indexes),
            stream_specification: self.stream.map(|view| StreamSpecification {
                stream_enabled: Some(true),
                stream_view_type: Some(Choice::Known(view)),
            }),
            ..CreateTable::default()
        }
    }
}

fn global_index(index: &Index) -> GlobalSecondaryIndex {
    GlobalSecondaryIndex {
        index_name: Some(index.name.clone()),
        key_schema: Some(key_schema(index.keys.iter())),
        projection: Some(Projection {
            projection_type: Some(Choice::Known(ProjectionType::All)),
            non_key_attributes: None,
        }),
        ..GlobalSecondaryIndex::default()
    }
}

fn key_schema<'a>(keys: impl Iterator<Item = &'a Key>) -> Vec<KeySchemaElement> {
    keys.zip([KeyRole::Hash, KeyRole::Range])
        .map(|(key, role)| KeySchemaElement {
            attribute_name: Some(key.name.clone()),
            key_type: Some(Choice::Known(role)),
        })
        .collect()
}
