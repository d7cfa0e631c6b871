//! The five systems end to end, through HTTP: each file is the story of one of them, and covers every pattern, operation and consequence
//! that its document asks for.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod bad_input;
mod cost;
mod kefir;
mod stak_inbox;
mod story_hub;
mod story_nodes;
mod wavy_blog;
mod world;
