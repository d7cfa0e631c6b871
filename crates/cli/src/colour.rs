//! Colour, on a terminal only: severities, places and underlines stand out.

use std::io::IsTerminal;

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[34m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";

/// Whether what is printed to stdout may be coloured.
pub(crate) fn is_wanted() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Findings in colour, if somebody sees it. The text is the same otherwise.
pub(crate) fn findings(text: &str) -> String {
    if is_wanted() { painted(text) } else { text.to_owned() }
}

fn painted(text: &str) -> String {
    let mut colour = RED;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with("error[") {
            colour = RED;
        } else if line.starts_with("warning[") {
            colour = YELLOW;
        }
        out.push_str(&painted_line(line, colour));
    }
    out
}

fn painted_line(line: &str, colour: &str) -> String {
    let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
    if let Some((head, sentence)) = content.split_once("]: ").filter(|_| !content.starts_with(' ')) {
        return format!("{colour}{head}]{PLAIN}{BOLD}: {sentence}{PLAIN}{end}");
    }
    if let Some(place) = content.strip_prefix("  --> ") {
        return format!("{BLUE}  -->{PLAIN} {place}{end}");
    }
    if let Some(help) = content.strip_prefix("  help:") {
        return format!("{BOLD}  help:{PLAIN}{help}{end}");
    }
    match content.split_once(" | ") {
        Some((gutter, rest)) if gutter.trim().is_empty() => {
            format!("{BLUE}{gutter} |{PLAIN} {colour}{rest}{PLAIN}{end}")
        }
        Some((gutter, rest)) => format!("{BLUE}{gutter} |{PLAIN} {rest}{end}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_adds_nothing_but_colour() {
        let text =
            "warning[D031]: a sentence\n  --> a.toml:1:2\n  1 | key = 1\n    | ^^^ here\n  help: do it\n\n";
        let mut plain = painted(text);
        assert!(plain.contains("\x1b[1;33m^^^ here"));
        for code in [RED, YELLOW, BLUE, BOLD, PLAIN] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, text);
    }
}
