//! The five systems end to end, through HTTP: each file is the story of one of them, and covers every pattern, operation and consequence
//! that its document asks for. Every story is told twice: on the embedded engine, and on a remote backend through the AWS SDK.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

/// Makes tests of stories: functions that are given a world with their design.
macro_rules! stories {
    ($design:literal: $($story:ident,)*) => {
        mod embedded {
            $(#[test]
            fn $story() {
                super::$story(&super::World::of($design));
            })*
        }

        mod remote {
            $(#[test]
            fn $story() {
                super::$story(&super::World::remote($design));
            })*
        }
    };
}

mod bad_input;
mod cost;
mod kefir;
mod stak_inbox;
mod story_hub;
mod story_nodes;
mod wavy_blog;
mod world;
