//! The five systems end to end, through HTTP: each file is the story of one of them, and covers every pattern, operation and consequence
//! that its document asks for. Every story is told on the embedded engine, on a remote backend through the
//! AWS SDK (a server of ours), and, with `scripts/test-dynamodb-local`, on Amazon's DynamoDB Local.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

/// Makes tests of stories: functions that are given a world with their design. Not told on DynamoDB Local are stories that need
/// its clock, and the one with a long list: the version that can be installed takes 10 actions in a transaction instead of 100, and what else of it
/// stands in the way is not known.
macro_rules! stories {
    ($design:literal: $($story:ident,)* $(; not on DynamoDB Local: $($timed:ident,)*)?) => {
        mod embedded {
            $(#[test]
            fn $story() {
                super::$story(&super::World::of($design));
            })*
            $($(#[test]
            fn $timed() {
                super::$timed(&super::World::of($design));
            })*)?
        }

        mod remote {
            $(#[test]
            fn $story() {
                super::$story(&super::World::remote($design));
            })*
            $($(#[test]
            fn $timed() {
                super::$timed(&super::World::remote($design));
            })*)?
        }

        mod dynamodb_local {
            $(#[test]
            #[ignore = "needs Amazon's DynamoDB Local: scripts/test-dynamodb-local"]
            fn $story() {
                super::$story(&super::World::dynamodb_local($design));
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
