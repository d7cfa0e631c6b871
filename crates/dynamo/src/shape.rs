//! Two macros with which the operations are written down: `shape!` for a structure of the API and `choices!` for an
//! enumeration. One line of a shape is a member: its Rust name and type, its name on the wire, its rules.
//!
//! Always true: members stand in the order in which DynamoDB reports violations of their rules, and are read, checked
//! and written by this one list.

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

        impl crate::json::HoldsFaults for $name {
            $(
                fn hold_fault(&mut self, reader: &mut crate::json::Reader<'_>, member: &'static str) {
                    if let Some(fault) = reader.take_fault(member) {
                        self.$faults.push(fault);
                    }
                }
            )?
        }

        #[allow(unused_variables, unused_mut, reason = "a shape may have no members")]
        impl crate::json::Wire for $name {
            fn class() -> String {
                concat!("com.amazonaws.dynamodb.v20120810.", stringify!($name)).to_owned()
            }

            fn read(
                reader: &mut crate::json::Reader<'_>,
                peek: jiter::Peek,
                place: crate::json::Place,
            ) -> Result<Self, crate::ApiError> {
                let mut shape = $name::default();
                let mut key = reader.structure(
                    peek,
                    place,
                    concat!("com.amazonaws.dynamodb.v20120810.", stringify!($name)),
                )?;
                while let Some(name) = key {
                    match name {
                        $($wire => {
                            shape.$field = reader.member()?;
                            crate::json::HoldsFaults::hold_fault(&mut shape, reader, $wire);
                        })*
                        _ => reader.skip()?,
                    }
                    key = reader.next_key()?;
                }
                Ok(shape)
            }

            fn write(&self, out: &mut Vec<u8>) {
                out.push(b'{');
                $(
                    if !crate::json::Wire::is_absent(&self.$field) {
                        crate::json::write_comma(out);
                        out.extend_from_slice(concat!("\"", $wire, "\":").as_bytes());
                        crate::json::Wire::write(&self.$field, out);
                    }
                )*
                out.push(b'}');
            }

            fn print(&self, text: &mut String) {
                let mut printer = crate::rules::StructurePrinter::new(stringify!($name), text);
                $(printer.member($wire, &self.$field);)*
                printer.end();
            }

            fn check(&self, path: &crate::rules::Path<'_>, violations: &mut crate::rules::Violations) {
                $(
                    violations.check(
                        &crate::rules::Path::Member(path, $wire),
                        &self.$field,
                        const { crate::rules::first(&[$($rules,)? crate::rules::NONE]) },
                    );
                )*
            }
        }
    };
}

/// Declares an enumeration of the API, in the order in which DynamoDB lists it in messages.
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

        impl crate::json::Listed for $name {
            const NAMES: &'static [&'static str] = &[$($wire,)*];

            fn wire_name(self) -> &'static str {
                self.name()
            }

            fn from_wire_name(name: &str) -> Option<Self> {
                $name::from_name(name)
            }
        }

        impl crate::json::Wire for $name {
            fn class() -> String {
                "java.lang.String".to_owned()
            }

            fn read(
                reader: &mut crate::json::Reader<'_>,
                peek: jiter::Peek,
                _: crate::json::Place,
            ) -> Result<Self, crate::ApiError> {
                $name::from_name(reader.text(peek)?).ok_or_else(|| {
                    crate::ApiError::new(
                        crate::ErrorKind::Serialization,
                        concat!("not one of ", stringify!($name)),
                    )
                })
            }

            fn write(&self, out: &mut Vec<u8>) {
                crate::json::write_text(self.name(), out);
            }

            fn print(&self, text: &mut String) {
                text.push_str(self.name());
            }
        }
    };
}
