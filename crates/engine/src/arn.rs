//! Names of resources: `arn:aws:dynamodb:{region}:{account}:table/{name}`, of a table, its indexes, streams, backups and exports.
//!
//! A table can be named by its ARN wherever it can be named. Region and account of such a name are not compared: whoever can
//! reach this database means a table in it.

use std::fmt;

use crate::options::Options;

/// The name of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arn<'a> {
    pub(crate) region: &'a str,
    pub(crate) account: &'a str,
    pub(crate) resource: Resource<'a>,
}

/// What an ARN of this service names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource<'a> {
    /// A table.
    Table(&'a str),
    /// An index of a table.
    Index(&'a str, &'a str),
    /// A stream of a table, by its label.
    Stream(&'a str, &'a str),
    /// A backup of a table, by its id.
    Backup(&'a str, &'a str),
    /// An export of a table, by its id.
    Export(&'a str, &'a str),
}

impl<'a> Arn<'a> {
    /// The ARN of a resource of this database.
    pub(crate) fn new(options: &'a Options, resource: Resource<'a>) -> Arn<'a> {
        Arn { region: &options.region, account: &options.account, resource }
    }

    /// Reads an ARN of this service; `None` for any other text.
    pub(crate) fn parse(text: &'a str) -> Option<Arn<'a>> {
        let mut parts = text.strip_prefix("arn:")?.splitn(5, ':');
        let (_partition, service) = (parts.next()?, parts.next()?);
        let (region, account, resource) = (parts.next()?, parts.next()?, parts.next()?);
        if service != "dynamodb" {
            return None;
        }
        Some(Arn { region, account, resource: Resource::parse(resource)? })
    }
}

impl<'a> Resource<'a> {
    fn parse(text: &'a str) -> Option<Resource<'a>> {
        let mut parts = text.splitn(4, '/');
        let (kind, table) = (parts.next()?, parts.next()?);
        if kind != "table" || table.is_empty() {
            return None;
        }
        match (parts.next(), parts.next()) {
            (None, None) => Some(Resource::Table(table)),
            (Some("index"), Some(index)) => Some(Resource::Index(table, index)),
            (Some("stream"), Some(label)) => Some(Resource::Stream(table, label)),
            (Some("backup"), Some(id)) => Some(Resource::Backup(table, id)),
            (Some("export"), Some(id)) => Some(Resource::Export(table, id)),
            _ => None,
        }
    }

    /// The table that it is, or belongs to.
    pub(crate) fn table(self) -> &'a str {
        match self {
            Resource::Table(table)
            | Resource::Index(table, _)
            | Resource::Stream(table, _)
            | Resource::Backup(table, _)
            | Resource::Export(table, _) => table,
        }
    }
}

impl fmt::Display for Arn<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arn { region, account, resource } = self;
        write!(formatter, "arn:aws:dynamodb:{region}:{account}:table/{}", resource.table())?;
        match resource {
            Resource::Table(_) => Ok(()),
            Resource::Index(_, index) => write!(formatter, "/index/{index}"),
            Resource::Stream(_, label) => write!(formatter, "/stream/{label}"),
            Resource::Backup(_, id) => write!(formatter, "/backup/{id}"),
            Resource::Export(_, id) => write!(formatter, "/export/{id}"),
        }
    }
}

/// The table's name, where a request names the table by its name or its ARN.
pub(crate) fn table_name(text: &str) -> &str {
    match Arn::parse(text) {
        Some(Arn { resource: Resource::Table(name), .. }) => name,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arns_round_trip() {
        let options = Options::default();
        for resource in [
            Resource::Table("Orders"),
            Resource::Index("Orders", "byDay"),
            Resource::Stream("Orders", "2026-01-02T03:04:05.678"),
            Resource::Backup("Orders", "01770000000000-0a1b2c3d"),
            Resource::Export("Orders", "01770000000000-0a1b2c3d"),
        ] {
            let text = Arn::new(&options, resource).to_string();
            assert_eq!(Arn::parse(&text).map(|arn| arn.resource), Some(resource), "{text}");
        }
    }

    #[test]
    fn a_table_is_named_by_name_or_arn() {
        assert_eq!(table_name("Orders"), "Orders");
        assert_eq!(table_name("arn:aws:dynamodb:eu-west-1:123456789012:table/Orders"), "Orders");
        assert_eq!(table_name("arn:aws-cn:dynamodb:cn-north-1:123456789012:table/Orders"), "Orders");
        assert_eq!(
            table_name("arn:aws:dynamodb:eu-west-1:1:table/O/index/i"),
            "arn:aws:dynamodb:eu-west-1:1:table/O/index/i"
        );
        assert_eq!(table_name("arn:aws:s3:::bucket"), "arn:aws:s3:::bucket");
    }
}
