//! Progress bars, on a terminal only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for so many things; without a number, a count.
pub(crate) fn bar(count: Option<u64>, what: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(count, ProgressDrawTarget::stderr());
    let template = match count {
        Some(_) => format!("{{bar:40}} {{percent}}% {{pos}}/{{len}} {what} {{per_sec}} {{eta}}"),
        None => format!("{{spinner}} {{pos}} {what} {{per_sec}}"),
    };
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}
