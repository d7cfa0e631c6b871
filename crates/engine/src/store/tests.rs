//! What holds for every store, and what holds on disk only.

mod both;
mod disk;
