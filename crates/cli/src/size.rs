//! Sizes and durabilities as people write them on a command line.

use std::time::Duration;

use engine::Durability;

/// Reads `64MB`, `1.5GiB`, `4096`: powers of 1024, as memory is counted.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let split = text.find(|character: char| character.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(format!("`{unit}` is not a unit; use KB, MB or GB")),
    };
    let number: u64 =
        number.trim().parse().map_err(|_| "a size is a whole number and a unit, such as 256MB".to_owned())?;
    number.checked_shl(shift).filter(|bytes| bytes >> shift == number).ok_or_else(|| "too large".to_owned())
}

/// Reads `5s`, `15m`, `24h`, `30d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).ok().filter(|duration| !duration.is_zero());
    duration.ok_or_else(|| "a duration is a number and a unit, such as 5s, 15m, 24h or 30d".to_owned())
}

/// Reads `sync`, `interval=100` or `none`.
pub(crate) fn parse_durability(text: &str) -> Result<Durability, String> {
    match text {
        "sync" => Ok(Durability::Sync),
        "none" => Ok(Durability::None),
        _ => text
            .strip_prefix("interval=")
            .and_then(|milliseconds| milliseconds.parse().ok())
            .filter(|milliseconds| *milliseconds > 0)
            .map(|milliseconds| Durability::Interval(Duration::from_millis(milliseconds)))
            .ok_or_else(|| "use sync, interval=MILLISECONDS or none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("64MB"), Ok(64 << 20));
        assert_eq!(parse_size("2gib"), Ok(2 << 30));
        assert!(parse_size("12 parsecs").is_err());
        assert!(parse_size("MB").is_err());
        assert!(parse_size("99999999999999GB").is_err());
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_duration("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_duration("30d"), Ok(Duration::from_hours(30 * 24)));
        assert!(parse_duration("5").is_err());
        assert!(parse_duration("0s").is_err());
    }

    #[test]
    fn durabilities_are_read() {
        assert_eq!(parse_durability("sync"), Ok(Durability::Sync));
        assert_eq!(parse_durability("interval=50"), Ok(Durability::Interval(Duration::from_millis(50))));
        assert!(parse_durability("interval=0").is_err());
        assert!(parse_durability("always").is_err());
    }
}
