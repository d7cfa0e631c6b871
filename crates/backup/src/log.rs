//! The log of commits at its destination: its head, and the parts that lead there.
//!
//! Always true: every part names the last position of the part before it, and the head the last position of all. So a part that is
//! missing is noticed, and told from a gap, where commits were made while nobody could take them.

use engine::LogPlace;
use serde::{Deserialize, Serialize};

use crate::BackupError;
use crate::destination::Destination;

/// A place in the log, as it is written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) position: u64,
    #[serde(with = "chain_text")]
    pub(crate) chain: u128,
}

impl From<LogPlace> for Place {
    fn from(place: LogPlace) -> Place {
        Place { position: place.position, chain: place.chain }
    }
}

impl From<Place> for LogPlace {
    fn from(place: Place) -> LogPlace {
        LogPlace { position: place.position, chain: place.chain }
    }
}

/// The end of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) database: String,
    pub(crate) end: Place,
    /// Every commit up to this moment is in the log.
    pub(crate) time_milliseconds: i64,
    /// The position from which on nothing is missing.
    pub(crate) whole_since: u64,
}

/// The name of the head of a log.
pub(crate) fn head_name(database: &str) -> String {
    format!("log/{database}/head")
}

/// The name of a part of a log. Positions have so many digits that names have the order of positions.
pub(crate) fn segment_name(database: &str, first: u64, last: u64) -> String {
    format!("log/{database}/{first:020}-{last:020}")
}

/// A part of a log, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Part {
    fn parse(name: &str) -> Option<Part> {
        let (first, last) = name.rsplit('/').next()?.split_once('-')?;
        let number = |text: &str| (text.len() == 20).then(|| text.parse().ok()).flatten();
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then(|| Part { name: name.to_owned(), first, last })
    }
}

impl Destination {
    /// The head of a log, if there is a log.
    pub(crate) fn head(&self, database: &str) -> Result<Option<Head>, BackupError> {
        let name = head_name(database);
        let Some((body, _)) = self.read(&name)? else { return Ok(None) };
        match serde_json::from_slice::<Head>(&body) {
            Ok(head) if head.database == database => Ok(Some(head)),
            _ => Err(BackupError::damaged(&name, "cannot be read")),
        }
    }

    pub(crate) fn write_head(&self, head: &Head) -> Result<(), BackupError> {
        let body = serde_json::to_vec_pretty(head).expect("texts and numbers only");
        self.write(&head_name(&head.database), &body)?;
        self.objects.settle()
    }

    /// The parts of a log, in order; also those after its head, which do not count yet.
    pub(crate) fn parts(&self, database: &str) -> Result<Vec<Part>, BackupError> {
        let listed = self.objects.list(&format!("log/{database}"))?;
        let mut parts: Vec<Part> = listed.iter().filter_map(|object| Part::parse(&object.name)).collect();
        parts.sort_by_key(|part| (part.first, part.last));
        Ok(parts)
    }
}

mod chain_text {
    //! 128 bits as text: JSON's numbers are smaller.

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(chain: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{chain:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
