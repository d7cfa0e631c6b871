//! Timestamps as texts: ISO 8601 in UTC, and back.

/// Days from 1970-01-01 to a date, and back, are Howard Hinnant's `days_from_civil` and `civil_from_days`.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// `2024-01-15T10:30:00.000Z`
pub fn iso_milliseconds(milliseconds: i64) -> String {
    let (days, rest) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    let (year, month, day) = date_of(days);
    let (seconds, fraction) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if !(0..=9999).contains(&year) {
        return format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z");
    }
    // Every write has times in it: digit by digit they cost a tenth of what formatting does.
    let mut text = String::with_capacity(24);
    let parts = [
        (year, 1_000, '-'),
        (month, 10, '-'),
        (day, 10, 'T'),
        (hour, 10, ':'),
        (minute, 10, ':'),
        (second, 10, '.'),
        (fraction, 100, 'Z'),
    ];
    for (number, first, after) in parts {
        let mut place = first;
        while place > 0 {
            let digit = u8::try_from(number / place % 10).unwrap_or(0);
            text.push(char::from(b'0' + digit));
            place /= 10;
        }
        text.push(after);
    }
    text
}

/// The milliseconds since 1970 of a timestamp in UTC, with or without milliseconds.
pub fn milliseconds_of(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z')?;
    if let Some(parts) = in_full(text.as_bytes()) {
        return milliseconds(parts, text.get(20..).unwrap_or_default());
    }
    // No signs: a number may have one, a part of a time may not.
    text.bytes().all(|byte| byte.is_ascii_digit() || b"-T:.".contains(&byte)).then_some(())?;
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut clock = clock.splitn(3, ':').map(str::parse::<i64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    milliseconds([year, month, day, hour, minute, second], fraction)
}

/// The numbers of a timestamp in which each has all its digits, which nearly all are: `2024-01-15T10:30:00`, with or without a fraction.
fn in_full(text: &[u8]) -> Option<[i64; 6]> {
    let number = |from: usize, to: usize| {
        text.get(from..to)?
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
    };
    let is = |place: usize, byte: u8| text.get(place) == Some(&byte);
    let is_divided = is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':');
    if !is_divided || !(text.len() == 19 || (text.len() > 20 && is(19, b'.'))) {
        return None;
    }
    Some([number(0, 4)?, number(5, 7)?, number(8, 10)?, number(11, 13)?, number(14, 16)?, number(17, 19)?])
}

/// The milliseconds of a day and a time on it, if there are such.
fn milliseconds([year, month, day, hour, minute, second]: [i64; 6], fraction: &str) -> Option<i64> {
    let in_range = (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let on_clock = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    // A day that its month does not have would come back as another.
    let days = days_of(year, month, day);
    if !in_range || !on_clock || fraction.len() > 9 || date_of(days) != (year, month, day) {
        return None;
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digit = |place: usize| fraction.as_bytes().get(place).map_or(0, |byte| i64::from(byte - b'0'));
    let fraction = digit(0) * 100 + digit(1) * 10 + digit(2);
    Some(days * 86_400_000 + (hour * 3_600 + minute * 60 + second) * 1_000 + fraction)
}

/// The seconds of a lifetime such as `90d`, `12h`, `30m` or `45s`.
pub(super) fn lifetime_seconds(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let count = text.get(..text.len() - unit.len_utf8())?.parse::<i64>().ok().filter(|count| *count >= 0)?;
    let seconds = match unit {
        'd' => 86_400,
        'h' => 3_600,
        'm' => 60,
        's' => 1,
        _ => return None,
    };
    count.checked_mul(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timestamps_are_iso_8601() {
        assert_eq!(iso_milliseconds(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_milliseconds(1_705_314_600_123), "2024-01-15T10:30:00.123Z");
        assert_eq!(milliseconds_of("2024-02-29T00:00:00Z"), Some(1_709_164_800_000));
        assert_eq!(milliseconds_of("2024-01-15"), None);
        assert_eq!(milliseconds_of("2024-+1-15T10:30:00.000Z"), None);
        assert_eq!(milliseconds_of("2023-02-29T00:00:00Z"), None);
        assert_eq!(milliseconds_of("4774-09-31T23:09:05.984Z"), None);
        assert_eq!(lifetime_seconds("90d"), Some(7_776_000));
        assert_eq!(lifetime_seconds("soon"), None);
    }

    proptest! {
        #[test]
        fn timestamps_round_trip(milliseconds in 0_i64..253_402_300_800_000) {
            prop_assert_eq!(milliseconds_of(&iso_milliseconds(milliseconds)), Some(milliseconds));
        }

        #[test]
        fn any_text_is_a_timestamp_or_none(text in "\\PC{0,30}") {
            let _ = (milliseconds_of(&text), lifetime_seconds(&text));
        }
    }
}
