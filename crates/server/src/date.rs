//! The dates of signatures: ISO 8601's basic format (`20150830T123600Z`) and the Date header's (`Sun, 30 Aug 2015 12:36:00 GMT`).

const DAY_SECONDS: i64 = 86_400;

/// A moment, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    /// Reads `20150830T123600Z`.
    pub(crate) fn parse_basic(text: &str) -> Option<Moment> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        if date.len() != 8 || time.len() != 6 {
            return None;
        }
        let day =
            days_from_civil(number(date.get(..4)?)?, number(date.get(4..6)?)?, number(date.get(6..)?)?)?;
        let seconds = seconds_of_day(time.get(..2)?, time.get(2..4)?, time.get(4..)?)?;
        Some(Moment(day * DAY_SECONDS + seconds))
    }

    /// Reads `Sun, 30 Aug 2015 12:36:00 GMT`.
    pub(crate) fn parse_http(text: &str) -> Option<Moment> {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (_weekday, rest) = text.split_once(", ")?;
        let mut parts = rest.split(' ');
        let day = number(parts.next()?)?;
        let name = parts.next()?;
        let month = MONTHS.iter().position(|month| *month == name)?;
        let year = number(parts.next()?)?;
        let mut clock = parts.next()?.split(':');
        let seconds = seconds_of_day(clock.next()?, clock.next()?, clock.next()?)?;
        let utc = matches!(parts.next()?, "GMT" | "UTC" | "+0000");
        let day = days_from_civil(year, i64::try_from(month).ok()? + 1, day)?;
        utc.then_some(Moment(day * DAY_SECONDS + seconds))
    }

    /// Writes `20150830T123600Z`.
    pub(crate) fn basic(self) -> String {
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY_SECONDS));
        let second = self.0.rem_euclid(DAY_SECONDS);
        format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60)
    }

    /// This moment, so many seconds later.
    pub(crate) fn plus(self, seconds: i64) -> Moment {
        Moment(self.0.saturating_add(seconds))
    }
}

fn number(digits: &str) -> Option<i64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn seconds_of_day(hour: &str, minute: &str, second: &str) -> Option<i64> {
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Days since 1970-01-01, counted in years that begin in March, so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let march_year = if month > 2 { year } else { year - 1 };
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_dates_are_read_and_written() {
        let moment = Moment::parse_basic("20150830T123600Z").unwrap();
        assert_eq!(moment, Moment(1_440_938_160));
        assert_eq!(moment.basic(), "20150830T123600Z");
        assert_eq!(Moment(0).basic(), "19700101T000000Z");
        assert_eq!(Moment::parse_basic("20240229T235959Z").unwrap().basic(), "20240229T235959Z");
    }

    #[test]
    fn every_day_of_four_centuries_round_trips() {
        for day in (0..146_097).step_by(13) {
            let moment = Moment(day * DAY_SECONDS + 1);
            assert_eq!(Moment::parse_basic(&moment.basic()), Some(moment));
        }
    }

    #[test]
    fn http_dates_are_read() {
        assert_eq!(Moment::parse_http("Sun, 30 Aug 2015 12:36:00 GMT"), Some(Moment(1_440_938_160)));
        assert_eq!(Moment::parse_http("Sun, 30 Aug 2015 12:36:00 CET"), None);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "201",
            "20150830",
            "20151330T123600Z",
            "20150830T253600Z",
            "2015083é123600Z",
            "+0150830T123600Z",
        ] {
            assert_eq!(Moment::parse_basic(text), None, "{text}");
        }
    }
}
