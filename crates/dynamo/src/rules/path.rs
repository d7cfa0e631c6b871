//! Where a member stands in a request, as messages name it: `keySchema.1.member.keyType`.

use std::fmt::Write as _;

/// The place of a member, from the inside out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'a> {
    /// The request.
    Root,
    /// A member of a structure, by its name on the wire.
    Member(&'a Path<'a>, &'static str),
    /// An element of a list, counted from one.
    Index(&'a Path<'a>, usize),
    /// A value of a map.
    Key(&'a Path<'a>, &'a str),
}

impl Path<'_> {
    /// Appends the path; `plainly` with the names as they are on the wire.
    pub(crate) fn print(&self, plainly: bool, text: &mut String) {
        match self {
            Path::Root => {}
            Path::Member(parent, name) => {
                parent.print(plainly, text);
                if !matches!(parent, Path::Root) {
                    text.push('.');
                }
                if plainly {
                    text.push_str(name);
                } else {
                    push_lower_first(name, text);
                }
            }
            Path::Index(parent, index) => {
                parent.print(plainly, text);
                let _ = write!(text, ".{index}.member");
            }
            Path::Key(parent, key) => {
                parent.print(plainly, text);
                let _ = write!(text, ".{key}.member");
            }
        }
    }
}

/// Appends a name with a small first letter: the name of the Java field.
pub(super) fn push_lower_first(name: &str, text: &mut String) {
    let mut letters = name.chars();
    text.extend(letters.next().map(|first| first.to_ascii_lowercase()));
    text.push_str(letters.as_str());
}
