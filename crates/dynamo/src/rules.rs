//! The rules that members of a request obey, and the one checker that walks them.
//!
//! The words of every message about a required member, a length, a range, a pattern or an enumeration are here only.
//! DynamoDB collects violations in the order of the members and reports up to ten of them in one message. A table name
//! it cannot read stops it early: that is reported before all others, and alone.
//!
//! Path of a violation: member of a shape -> [`Rule`] -> [`Violations`] -> one ValidationException.

mod path;
mod tables;

pub(crate) use path::Path;
pub(crate) use tables::*;

use crate::ApiError;
use crate::json::{Look, Wire};

/// What a member must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Present.
    Required,
    /// Present; otherwise this message is reported alone.
    Demanded(&'static str),
    /// A text of at least so many characters, or a list or map of at least so many elements.
    LengthAtLeast(usize),
    /// A text of at most so many characters, or a list or map of at most so many elements.
    LengthAtMost(usize),
    /// A number of at least this.
    AtLeast(i64),
    /// A number of at most this.
    AtMost(i64),
    /// A text of the characters that names are made of.
    Name,
    /// The name of a table, or its ARN; otherwise only this is reported.
    Table,
    /// The name of a table to make; otherwise only this is reported.
    NewTable,
    /// The name of a table of 3 to 255 characters, or its ARN; otherwise this message is reported alone.
    TableLength(&'static str),
    /// Every key of the map is the name of a table, or its ARN; reported for the map as a whole.
    TableKeys,
    /// Every list in the map has this many elements at least and at most; reported for the map as a whole.
    ValueLengths(usize, usize),
    /// Another rule, reported in the newer words: without the value, and with the member's name as it is written.
    Plainly(&'static Rule),
}

/// The shortest name of a new table.
const TABLE_NAME_LENGTH_MIN: usize = 3;
/// The longest table name.
const TABLE_NAME_LENGTH_MAX: usize = 255;
const NAME_PATTERN: &str = "[a-zA-Z0-9_.-]+";
const VIOLATIONS_MAX: usize = 10;

/// The violations found so far.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    /// A message that stands by itself, without the envelope.
    alone: Option<&'static str>,
    /// Violations that stop DynamoDB early.
    early: Vec<String>,
    list: Vec<String>,
}

/// Checks every rule of a request.
pub(crate) fn check<T: Wire>(request: &T) -> Result<(), ApiError> {
    let mut violations = Violations::default();
    request.check(&Path::Root, &mut violations);
    violations.into_result()
}

impl Violations {
    /// Checks a member against its rules, then what is inside it.
    pub(crate) fn check<T: Wire>(&mut self, path: &Path<'_>, member: &T, rules: &[Rule]) {
        let look = member.look();
        for rule in rules {
            self.check_rule(path, member, look, *rule, false);
        }
        if let Look::Unlisted(names) = look {
            let names = names.join(", ");
            self.report(path, member, &format!("Member must satisfy enum value set: [{names}]"), false);
        }
        member.check(path, self);
    }

    fn check_rule<T: Wire>(
        &mut self,
        path: &Path<'_>,
        member: &T,
        look: Look<'_>,
        rule: Rule,
        plainly: bool,
    ) {
        let constraint = match (rule, look) {
            (Rule::Plainly(rule), _) => return self.check_rule(path, member, look, *rule, true),
            (Rule::Demanded(message), Look::Absent) => return self.report_alone(message),
            (Rule::TableLength(message), Look::Text(text)) if !is_table_length(text) => {
                return self.report_alone(message);
            }
            (Rule::Required, Look::Absent) => "Member must not be null".to_owned(),
            (Rule::LengthAtLeast(least), _) if length(look).is_some_and(|length| length < least) => {
                at_least_long(least)
            }
            (Rule::LengthAtMost(most), _) if length(look).is_some_and(|length| length > most) => {
                at_most_long(most)
            }
            (Rule::AtLeast(least), Look::Integer(value)) if value < least => {
                format!("Member must have value greater than or equal to {least}")
            }
            (Rule::AtMost(most), Look::Integer(value)) if value > most => {
                format!("Member must have value less than or equal to {most}")
            }
            (Rule::Name, Look::Text(text)) if !is_name(text) => pattern(),
            // The names of almost all requests.
            (Rule::Table, Look::Text(text))
                if (1..=TABLE_NAME_LENGTH_MAX).contains(&text.len()) && is_name(text) =>
            {
                return;
            }
            (Rule::Table, Look::Text(text)) => {
                return self.report_early(path, member, table_name_constraints(text));
            }
            (Rule::NewTable, Look::Text(text)) => {
                return self.report_early(path, member, new_table_name_constraints(text));
            }
            (Rule::TableKeys, _) if has_wrong_table_key(member) => format!(
                "Map keys must satisfy constraint: [{}, {}, {}]",
                at_most_long(TABLE_NAME_LENGTH_MAX),
                at_least_long(TABLE_NAME_LENGTH_MIN),
                pattern()
            ),
            (Rule::ValueLengths(least, most), _) if has_wrong_value_length(member, least, most) => format!(
                "Map value must satisfy constraint: [{}, {}]",
                at_most_long(most),
                at_least_long(least)
            ),
            _ => return,
        };
        self.report(path, member, &constraint, plainly);
    }

    fn report<T: Wire>(&mut self, path: &Path<'_>, member: &T, constraint: &str, plainly: bool) {
        if self.list.len() < VIOLATIONS_MAX {
            self.list.push(violation(path, member, constraint, plainly));
        }
    }

    fn report_early<T: Wire>(
        &mut self,
        path: &Path<'_>,
        member: &T,
        constraints: impl Iterator<Item = String>,
    ) {
        self.early.extend(constraints.map(|constraint| violation(path, member, &constraint, false)));
    }

    fn report_alone(&mut self, message: &'static str) {
        self.alone.get_or_insert(message);
    }

    fn into_result(self) -> Result<(), ApiError> {
        if let Some(message) = self.alone {
            return Err(ApiError::validation(message));
        }
        let list = if self.early.is_empty() { self.list } else { self.early };
        let plural = match list.len() {
            0 => return Ok(()),
            1 => "",
            _ => "s",
        };
        let text = list.join("; ");
        Err(ApiError::validation(format!("{} validation error{plural} detected: {text}", list.len())))
    }
}

/// One violation in DynamoDB's words.
fn violation<T: Wire>(path: &Path<'_>, member: &T, constraint: &str, plainly: bool) -> String {
    let mut text = String::from("Value ");
    match (plainly, member.is_absent()) {
        (true, _) => {}
        (false, true) => text.push_str("null "),
        (false, false) => {
            text.push('\'');
            member.print(&mut text);
            text.push_str("' ");
        }
    }
    text.push_str("at '");
    path.print(plainly, &mut text);
    text.push_str("' failed to satisfy constraint: ");
    text.push_str(constraint);
    text
}

fn at_least_long(least: usize) -> String {
    format!("Member must have length greater than or equal to {least}")
}

fn at_most_long(most: usize) -> String {
    format!("Member must have length less than or equal to {most}")
}

fn pattern() -> String {
    format!("Member must satisfy regular expression pattern: {NAME_PATTERN}")
}

fn length(look: Look<'_>) -> Option<usize> {
    match look {
        // Java counts UTF-16 units.
        Look::Text(text) if !text.is_ascii() => Some(text.encode_utf16().count()),
        Look::Text(text) => Some(text.len()),
        Look::Count(count) => Some(count),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn is_arn(text: &str) -> bool {
    text.starts_with("arn:")
}

fn is_table_length(text: &str) -> bool {
    is_arn(text) || (TABLE_NAME_LENGTH_MIN..=TABLE_NAME_LENGTH_MAX).contains(&text.chars().count())
}

/// What a table name breaks; an empty one is not held against the pattern as well.
fn table_name_constraints(text: &str) -> impl Iterator<Item = String> {
    let empty = text.is_empty().then(|| at_least_long(1));
    let odd = (!text.is_empty() && !is_arn(text) && !is_name(text)).then(pattern);
    let long = (!is_arn(text) && text.chars().count() > TABLE_NAME_LENGTH_MAX)
        .then(|| at_most_long(TABLE_NAME_LENGTH_MAX));
    [empty, odd, long].into_iter().flatten()
}

fn new_table_name_constraints(text: &str) -> impl Iterator<Item = String> {
    let odd = (!is_name(text)).then(pattern);
    let count = text.chars().count();
    let short = (count < TABLE_NAME_LENGTH_MIN).then(|| at_least_long(TABLE_NAME_LENGTH_MIN));
    let long = (count > TABLE_NAME_LENGTH_MAX).then(|| at_most_long(TABLE_NAME_LENGTH_MAX));
    [odd, short, long].into_iter().flatten()
}

fn has_wrong_table_key<T: Wire>(map: &T) -> bool {
    let mut wrong = false;
    map.each(&mut |key, _| {
        wrong |= key.is_some_and(|key| {
            key.len() < TABLE_NAME_LENGTH_MIN || table_name_constraints(key).next().is_some()
        });
    });
    wrong
}

fn has_wrong_value_length<T: Wire>(map: &T, least: usize, most: usize) -> bool {
    let mut wrong = false;
    map.each(&mut |_, look| {
        wrong |= length(look).is_some_and(|length| !(least..=most).contains(&length));
    });
    wrong
}

/// Prints a structure as DynamoDB names it in messages: `KeySchemaElement(attributeName=a, keyType=HASH)`.
#[derive(Debug)]
pub(crate) struct StructurePrinter<'a> {
    text: &'a mut String,
    separator: &'static str,
}

impl<'a> StructurePrinter<'a> {
    pub(crate) fn new(name: &str, text: &'a mut String) -> StructurePrinter<'a> {
        text.push_str(name);
        StructurePrinter { text, separator: "(" }
    }

    pub(crate) fn member<T: Wire>(&mut self, name: &str, member: &T) {
        self.text.push_str(self.separator);
        path::push_lower_first(name, self.text);
        self.text.push('=');
        member.print(self.text);
        self.separator = ", ";
    }

    pub(crate) fn end(self) {
        self.text.push_str(if self.separator == "(" { "()" } else { ")" });
    }
}
