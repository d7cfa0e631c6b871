//! Values as a design gives them: literals, or texts with slots that are filled in later.

use dynamo::Value;

use crate::source::Placed;
use crate::template::Template;

/// A value that a design gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A value without slots.
    Value(Value),
    /// A text with slots. One plain slot and nothing else stands for a value of any type.
    Template(Template),
    /// A list in which something has slots.
    List(Vec<Placed<Given>>),
    /// A map in which something has slots.
    Map(Vec<GivenEntry>),
}

/// A name and the value given for it.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenEntry {
    /// The attribute, member or parameter; dots reach into maps where attributes are changed.
    pub name: Placed<String>,
    /// Its value.
    pub value: Placed<Given>,
}

impl Given {
    /// The templates in it, with their places.
    pub fn templates(&self, place: crate::Span) -> Vec<(&Template, crate::Span)> {
        match self {
            Given::Value(_) => Vec::new(),
            Given::Template(template) => vec![(template, place)],
            Given::List(list) => {
                list.iter().flat_map(|element| element.value.templates(element.span)).collect()
            }
            Given::Map(map) => {
                map.iter().flat_map(|entry| entry.value.value.templates(entry.value.span)).collect()
            }
        }
    }
}
