//! Moments as people write them.

use std::time::{Duration, UNIX_EPOCH};

/// A moment in milliseconds since the epoch, as `2026-11-16T05:00:00.000Z`.
pub fn time_text(milliseconds: i64) -> String {
    let since_epoch = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
    match UNIX_EPOCH.checked_add(since_epoch) {
        // Years beyond 9999 have no such text.
        Some(time) if milliseconds < 253_402_300_800_000 => {
            humantime::format_rfc3339_millis(time).to_string()
        }
        _ => format!("{milliseconds} ms"),
    }
}

/// Reads `2026-11-16T05:00:00Z`, with or without parts of a second. All of a whole second is meant: 05:00:00 is 05:00:00.999.
pub fn parse_time(text: &str) -> Result<i64, String> {
    let time = humantime::parse_rfc3339_weak(text)
        .map_err(|_| "a moment is written as 2026-11-16T05:00:00Z, in UTC".to_owned())?;
    let since_epoch = time.duration_since(UNIX_EPOCH).map_err(|_| "before 1970".to_owned())?;
    let milliseconds = i64::try_from(since_epoch.as_millis()).map_err(|_| "too far away".to_owned())?;
    Ok(if text.contains('.') { milliseconds } else { milliseconds + 999 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        assert_eq!(time_text(1_770_000_000_123), "2026-02-02T02:40:00.123Z");
        assert_eq!(parse_time("2026-02-02T02:40:00.123Z"), Ok(1_770_000_000_123));
        assert_eq!(parse_time("2026-02-02T02:40:00Z"), Ok(1_770_000_000_999));
        assert_eq!(parse_time("2026-02-02 02:40:00"), Ok(1_770_000_000_999));
        assert!(parse_time("yesterday").is_err());
        assert_eq!(time_text(i64::MAX), format!("{} ms", i64::MAX));
        assert_eq!(time_text(-1), "1970-01-01T00:00:00.000Z");
    }
}
