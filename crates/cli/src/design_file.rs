//! Designs as commands are given them: a file, stdin as `-`, or the name of a design that is built in.

use std::io::Read;
use std::path::Path;

use design::{CheckedDesign, Source};

use crate::colour;
use crate::failure::Failure;

/// Far more than any design; what is larger is something else, given by mistake.
const BYTES_MAX: u64 = 1 << 20;

/// The designs that come with the program.
pub(crate) const BUILT_IN: [(&str, &str); 5] = [
    ("kefir", include_str!("../../../designs/kefir.toml")),
    ("stak-inbox", include_str!("../../../designs/stak-inbox.toml")),
    ("story-hub", include_str!("../../../designs/story-hub.toml")),
    ("story-nodes", include_str!("../../../designs/story-nodes.toml")),
    ("wavy-blog", include_str!("../../../designs/wavy-blog.toml")),
];

/// The text of a design: of a file, or of a design that is built in where there is no such file.
pub(crate) fn find(given: &str) -> Result<Source, Failure> {
    if !Path::new(given).exists()
        && let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == given)
    {
        return Ok(Source::new(format!("{name}.toml"), *text));
    }
    read(given)
}

/// The text of a file, or of stdin for `-`.
pub(crate) fn read(given: &str) -> Result<Source, Failure> {
    let failed = |error: std::io::Error| unreadable(given, &error);
    if given == "-" {
        return text(given, std::io::stdin()).map(|text| Source::new("stdin", text));
    }
    let path = Path::new(given);
    if path.is_dir() {
        return Err(Failure::with_help(
            format!("{given} is a directory"),
            "name the design file in it, or all of them: *.toml",
        )
        .into_misuse());
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    text(given, file).map(|text| Source::new(given, text))
}

fn text(given: &str, input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    input.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(given, &error))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::with_help(
            format!("{given} is larger than {} KB", BYTES_MAX >> 10),
            "a design is a TOML file of some kilobytes; is this one?",
        )
        .into_misuse());
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error
            .as_bytes()
            .iter()
            .take(error.utf8_error().valid_up_to())
            .filter(|b| **b == b'\n')
            .count();
        Failure::with_help(
            format!("{given} is not UTF-8: line {line} has other bytes"),
            "save it as UTF-8; a design is a TOML file",
        )
        .into_misuse()
    })
}

fn unreadable(given: &str, error: &std::io::Error) -> Failure {
    let sentence = format!("cannot read {given}: {error}");
    let names = BUILT_IN.map(|(name, _)| name);
    let help = match design::nearest(given, names) {
        Some(name) => format!("did you mean the built-in design `{name}`?"),
        None if error.kind() == std::io::ErrorKind::NotFound => {
            format!("a file, or a built-in design: {}", names.join(", "))
        }
        None => return Failure::new(sentence).into_misuse(),
    };
    Failure::with_help(sentence, help).into_misuse()
}

/// A design without errors. The errors of another are printed.
pub(crate) fn checked(given: &str) -> Result<CheckedDesign, Failure> {
    let source = find(given)?;
    let report = design::check(&source);
    report.design.ok_or_else(|| {
        let errors =
            report.findings.into_iter().filter(|finding| finding.severity() == design::Severity::Error);
        let errors = errors.collect::<Vec<_>>();
        eprint!("{}", colour::findings(&design::text(&source, &errors)));
        let count =
            if errors.len() == 1 { "an error".to_owned() } else { format!("{} errors", errors.len()) };
        Failure::with_help(
            format!("{} has {count}", source.name()),
            "`monotable check --explain CODE` says more about a finding",
        )
    })
}
