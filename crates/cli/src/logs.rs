//! Where events go: stderr, as text or as JSON.

use std::io::IsTerminal;

use clap::ValueEnum;
use tracing::level_filters::LevelFilter;

/// How logs are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object on each line.
    Json,
}

/// Sends events of this level and above to stderr.
pub(crate) fn start(format: LogFormat, level: LevelFilter) {
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // It fails only where another was started, in tests; then that one stays.
    let _ = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
}
