//! Streams as clients see them: labels, shards and sequence numbers.
//!
//! A stream has one shard for all its life. A record's sequence number is the engine's own number written with 21 digits, so numbers
//! compare as texts and as numbers alike.

/// What the engine's number is added to, so that every sequence number has 21 digits and none starts with a zero.
const SEQUENCE_BASE: u128 = 100_000_000_000_000_000_000;

/// The label of a stream: when it was made, such as `2026-01-02T03:04:05.678`.
pub(crate) fn stream_label(created_milliseconds: i64) -> String {
    let days = created_milliseconds.div_euclid(DAY_MILLISECONDS);
    let in_day = created_milliseconds.rem_euclid(DAY_MILLISECONDS);
    let (year, month, day) = date_of(days);
    let (seconds, milliseconds) = (in_day / 1000, in_day % 1000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
}

const DAY_MILLISECONDS: i64 = 24 * 60 * 60 * 1000;

/// Year, month and day of a day since 1970. Counts in years that begin in March, so that a leap day is the last of its year, and
/// in eras of 400 years, which all have the same number of days.
fn date_of(days_since_1970: i64) -> (i64, i64, i64) {
    const DAYS_PER_ERA: i64 = 146_097;
    const DAYS_FROM_YEAR_0_TO_1970: i64 = 719_468;
    let days = days_since_1970 + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// The sequence number of a record, as clients see it.
pub(crate) fn sequence_text(sequence: u64) -> String {
    (SEQUENCE_BASE + u128::from(sequence)).to_string()
}

/// The engine's number of a sequence number; `None` for a text that [`sequence_text`] does not give.
pub(crate) fn parse_sequence(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u128 = text.parse().ok()?;
    u64::try_from(number.checked_sub(SEQUENCE_BASE)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_dates() {
        assert_eq!(stream_label(0), "1970-01-01T00:00:00.000");
        assert_eq!(stream_label(951_782_400_000), "2000-02-29T00:00:00.000");
        assert_eq!(stream_label(1_767_323_045_678), "2026-01-02T03:04:05.678");
        assert_eq!(stream_label(4_107_542_400_000), "2100-03-01T00:00:00.000");
    }

    #[test]
    fn sequence_numbers_keep_their_order_and_come_back() {
        let mut last = String::new();
        for sequence in [0, 1, 9, 10, 1 << 20, u64::MAX - 1, u64::MAX] {
            let text = sequence_text(sequence);
            assert_eq!(text.len(), 21);
            assert!(last < text);
            assert_eq!(parse_sequence(&text), Some(sequence));
            last = text;
        }
        for wrong in ["", "1", "-1", "x", "99999999999999999999", "118446744073709551616"] {
            assert_eq!(parse_sequence(wrong), None, "{wrong}");
        }
    }
}
