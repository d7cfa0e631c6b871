//! The reader: JSON tokens, and DynamoDB's words for a token of the wrong type.

use jiter::{Jiter, JiterError, Peek};

use super::plain::{self, Plain};
use super::{Fault, ValueFault, Wire};
use crate::stored::Draft;
use crate::{ApiError, ErrorKind};

/// Where a value stands; DynamoDB names a wrong type differently in each place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A member of a structure.
    Member,
    /// An element of a list or map.
    Element,
}

/// Reads the tokens of a request.
#[derive(Debug)]
pub(crate) struct Reader<'j> {
    json: Jiter<'j>,
    /// What `json` began with.
    begun: &'j [u8],
    fault: Option<Fault>,
    /// Where items are written while they are read; kept, so that the items of one request share its room.
    draft: Draft,
}

/// Most items need no more room than this while they are read.
const DRAFT_BYTES: usize = 4096;

impl<'j> Reader<'j> {
    pub(crate) fn new(json: &'j [u8]) -> Reader<'j> {
        Reader { json: Jiter::new(json), begun: json, fault: None, draft: Draft::default() }
    }

    /// Reads a whole document of this shape.
    pub(crate) fn document<T: Wire>(json: &'j [u8]) -> Result<T, ApiError> {
        let mut reader = Reader::new(json);
        let peek = reader.peek()?;
        if peek != Peek::Object {
            return Err(malformed());
        }
        let shape = T::read(&mut reader, peek, Place::Member)?;
        reader.finish()?;
        Ok(shape)
    }

    pub(crate) fn finish(&mut self) -> Result<(), ApiError> {
        Ok(self.json.finish()?)
    }

    pub(crate) fn peek(&mut self) -> Result<Peek, ApiError> {
        known_start(self.json.peek()?)
    }

    /// Reads a member of a structure.
    pub(crate) fn member<T: Wire>(&mut self) -> Result<T, ApiError> {
        let peek = self.peek()?;
        T::read(self, peek, Place::Member)
    }

    /// The room in which an item is written while it is read.
    pub(crate) fn take_draft(&mut self) -> Draft {
        let mut draft = std::mem::take(&mut self.draft);
        draft.truncate(0);
        draft.reserve(self.rest().len().min(DRAFT_BYTES));
        draft
    }

    /// Keeps the room for the next item.
    pub(crate) fn give_draft_back(&mut self, draft: Draft) {
        self.draft = draft;
    }

    /// Reads the value that comes next if it is a plain one, and `take` takes it.
    pub(crate) fn plain<T>(&mut self, take: impl FnOnce(Plain<'j>) -> Option<T>) -> Option<T> {
        let rest = self.rest();
        let (value, length) = plain::value(rest)?;
        let taken = take(value)?;
        // The tokens that follow are read by one that begins behind the value: nothing in it remembers what was before.
        let json = std::mem::replace(&mut self.json, Jiter::new(&[]));
        self.begun = rest.get(length..).unwrap_or_default();
        self.json = Jiter::with_tape(self.begun, json.into_tape());
        Some(taken)
    }

    /// What has not been read yet.
    fn rest(&self) -> &'j [u8] {
        self.begun.get(self.json.current_index()..).unwrap_or_default()
    }

    /// Steps over a value.
    pub(crate) fn skip(&mut self) -> Result<(), ApiError> {
        Ok(self.json.next_skip()?)
    }

    pub(crate) fn null(&mut self) -> Result<(), ApiError> {
        Ok(self.json.known_null()?)
    }

    /// The next value as it stands in the text.
    pub(crate) fn raw(&mut self) -> Result<String, ApiError> {
        let start = self.json.current_index();
        self.json.next_skip()?;
        let text = self.json.slice_to_current(start);
        Ok(std::str::from_utf8(text).map_err(|_| malformed())?.trim().to_owned())
    }

    /// Enters the structure that comes next; the first key of it. `None` for an empty one, or null.
    pub(crate) fn structure(
        &mut self,
        peek: Peek,
        place: Place,
        class: &str,
    ) -> Result<Option<&str>, ApiError> {
        match (peek, place) {
            (Peek::Object, _) => Ok(self.json.known_object()?),
            (Peek::Null, _) => self.null().map(|()| None),
            (Peek::Array, _) => Err(wrong(format!("Unrecognized collection type class {class}"))),
            (_, Place::Member) => Err(wrong("Unexpected field type")),
            (_, Place::Element) => Err(wrong("Unexpected value type in payload")),
        }
    }

    /// Enters the map that comes next; the first key of it.
    pub(crate) fn map<T: Wire>(&mut self, peek: Peek, place: Place) -> Result<Option<&str>, ApiError> {
        match peek {
            Peek::Object => Ok(self.json.known_object()?),
            Peek::Null => self.null().map(|()| None),
            Peek::Array => Err(wrong(format!(
                "Unrecognized collection type java.util.Map<java.lang.String, {}>",
                T::class()
            ))),
            _ => Err(wrong_collection(place)),
        }
    }

    /// The next key of a structure or map.
    pub(crate) fn next_key(&mut self) -> Result<Option<&str>, ApiError> {
        Ok(self.json.next_key()?)
    }

    /// Enters the list that comes next; peeks at its first element.
    pub(crate) fn list(&mut self, peek: Peek, place: Place) -> Result<Option<Peek>, ApiError> {
        match peek {
            Peek::Array => self.json.known_array()?.map(known_start).transpose(),
            Peek::Null => self.null().map(|()| None),
            Peek::Object => Err(wrong("Start of structure or map found where not expected")),
            _ => Err(wrong_collection(place)),
        }
    }

    /// Peeks at the next element of a list.
    pub(crate) fn next_element(&mut self) -> Result<Option<Peek>, ApiError> {
        self.json.array_step()?.map(known_start).transpose()
    }

    pub(crate) fn text(&mut self, peek: Peek) -> Result<&str, ApiError> {
        match peek {
            Peek::String => Ok(self.json.known_str()?),
            Peek::Null => self.null().map(|()| ""),
            _ => Err(self.not_convertible(peek, "String")),
        }
    }

    pub(crate) fn boolean(&mut self, peek: Peek) -> Result<bool, ApiError> {
        match peek {
            Peek::True | Peek::False => Ok(self.json.known_bool(peek)?),
            Peek::Null => self.null().map(|()| false),
            // DynamoDB takes these texts for booleans.
            Peek::String => match self.json.known_str()?.to_ascii_uppercase().as_str() {
                "TRUE" | "1" | "YES" => Ok(true),
                "FALSE" | "0" | "NO" => Ok(false),
                _ => Err(wrong("Unexpected token received from parser")),
            },
            _ => Err(self.not_convertible(peek, "Boolean")),
        }
    }

    /// A whole number; a fraction is cut off, and what does not fit becomes the nearest that does.
    pub(crate) fn integer(&mut self, peek: Peek, class: &str) -> Result<i64, ApiError> {
        let text = self.number(peek, class)?;
        #[allow(clippy::cast_possible_truncation, reason = "`as` saturates")]
        let saturated = || text.parse::<f64>().map(|value| value.floor() as i64).map_err(|_| malformed());
        text.parse().or_else(|_| saturated())
    }

    pub(crate) fn float(&mut self, peek: Peek, class: &str) -> Result<f64, ApiError> {
        self.number(peek, class)?.parse().map_err(|_| malformed())
    }

    /// The text of a number.
    fn number(&mut self, peek: Peek, class: &str) -> Result<&str, ApiError> {
        match peek {
            Peek::Null => self.null().map(|()| "0"),
            _ if peek.is_num() => {
                std::str::from_utf8(self.json.known_number_bytes(peek)?).map_err(|_| malformed())
            }
            _ => Err(self.not_convertible(peek, class)),
        }
    }

    /// Base64 text.
    pub(crate) fn binary(&mut self, peek: Peek) -> Result<Vec<u8>, ApiError> {
        let mut bytes = Vec::new();
        self.binary_into(peek, &mut bytes)?;
        Ok(bytes)
    }

    /// Base64 text; its bytes are appended.
    pub(crate) fn binary_into(&mut self, peek: Peek, bytes: &mut Vec<u8>) -> Result<(), ApiError> {
        match peek {
            Peek::String => decode_base64(self.json.known_str()?, bytes),
            Peek::Null => self.null(),
            Peek::Array => Err(wrong("Unrecognized collection type class java.nio.ByteBuffer")),
            Peek::Object => Err(wrong("Start of structure or map found where not expected")),
            _ => Err(wrong("only base-64-encoded strings are convertible to bytes")),
        }
    }

    /// The error for a token that cannot become a scalar of this class.
    fn not_convertible(&mut self, peek: Peek, class: &str) -> ApiError {
        let token = match peek {
            Peek::Array => return wrong(format!("Unrecognized collection type class java.lang.{class}")),
            Peek::Object => return wrong("Start of structure or map found where not expected"),
            Peek::True => "TRUE_VALUE",
            Peek::False => "FALSE_VALUE",
            Peek::String => "STRING_VALUE",
            _ => match self.json.known_number_bytes(peek) {
                Ok(text) if text.iter().any(|byte| b".eE".contains(byte)) => "DECIMAL_VALUE",
                Ok(_) => "NUMBER_VALUE",
                Err(error) => return error.into(),
            },
        };
        wrong(format!("{token} cannot be converted to {class}"))
    }

    /// Writes down that the value just read is one that DynamoDB refuses; the first counts.
    pub(crate) fn fault(&mut self, kind: ValueFault) {
        self.fault.get_or_insert(Fault { member: "", key: None, index: None, kind });
    }

    /// Says at which key of a map the fault just found stands.
    pub(crate) fn place_fault_at_key<'k>(&mut self, key: impl FnOnce() -> &'k str) {
        if let Some(fault) = self.fault.as_mut().filter(|fault| fault.key.is_none()) {
            fault.key = Some(key().to_owned());
        }
    }

    /// Says at which element of a list the fault just found stands.
    pub(crate) fn place_fault_at_index(&mut self, index: usize) {
        if let Some(fault) = self.fault.as_mut().filter(|fault| fault.index.is_none()) {
            fault.index = Some(index);
        }
    }

    /// Takes the fault of the member just read.
    pub(crate) fn take_fault(&mut self, member: &'static str) -> Option<Fault> {
        self.fault.take().map(|fault| Fault { member, ..fault })
    }
}

impl From<JiterError> for ApiError {
    fn from(_: JiterError) -> ApiError {
        malformed()
    }
}

/// Refuses a byte with which no JSON value begins.
fn known_start(peek: Peek) -> Result<Peek, ApiError> {
    match peek {
        Peek::Null | Peek::True | Peek::False | Peek::String | Peek::Array | Peek::Object => Ok(peek),
        _ if peek.is_num() => Ok(peek),
        _ => Err(malformed()),
    }
}

/// DynamoDB says nothing about JSON that is none.
fn malformed() -> ApiError {
    ApiError::new(ErrorKind::Serialization, "")
}

fn wrong(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::Serialization, message)
}

/// A scalar where a list or map belongs.
fn wrong_collection(place: Place) -> ApiError {
    wrong(match place {
        Place::Member => "Unexpected field type",
        Place::Element => {
            "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class \
             java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and \
             java.lang.Class are in module java.base of loader 'bootstrap')"
        }
    })
}

fn decode_base64(text: &str, bytes: &mut Vec<u8>) -> Result<(), ApiError> {
    use base64::Engine as _;
    if !text.len().is_multiple_of(4) {
        let length = text.len();
        return Err(wrong(format!(
            "Base64 encoded length is expected a multiple of 4 bytes but found: {length}"
        )));
    }
    base64::engine::general_purpose::STANDARD
        .decode_vec(text, bytes)
        .map_err(|_| wrong("Invalid last non-pad Base64 character dectected"))
}
