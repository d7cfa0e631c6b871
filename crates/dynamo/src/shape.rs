//! Two macros with which the operations are written down: `shape!` for a structure of the API and `choices!` for an
//! enumeration. One line of a shape is a member: its Rust name and type, its name on the wire, its rules.
//!
//! Always true: members stand in the order in which DynamoDB reports violations of their rules.

/// Declares a structure of the API.
///
/// `with faults` adds the place where values that DynamoDB refuses after the field rules are remembered
/// (see [`crate::Faults`]).
macro_rules! shape {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(with $faults:ident)? {
            $($(#[$field_meta:meta])* $field:ident: $type:ty = $wire:literal $(=> $rules:expr)?,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(
                #[doc = concat!("`", $wire, "`.")]
                $(#[$field_meta])*
                pub $field: $type,
            )*
            $(
                #[doc(hidden)]
                pub $faults: crate::Faults,
            )?
        }
    };
}

/// Declares an enumeration of the API; in the order in which DynamoDB lists it in messages.
macro_rules! choices {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($variant:ident = $wire:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $wire, "`.")] $variant,)*
        }

        impl $name {
            /// The text on the wire.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $wire,)* }
            }

            /// The choice with this text.
            pub fn from_name(name: &str) -> Option<$name> {
                match name { $($wire => Some($name::$variant),)* _ => None }
            }
        }

        impl From<$name> for crate::operation::Choice<$name> {
            fn from(known: $name) -> Self {
                crate::operation::Choice::Known(known)
            }
        }
    };
}
