use super::*;
use proptest::prelude::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

fn encoded(number: Number) -> Vec<u8> {
    let mut bytes = Vec::new();
    number.encode(&mut bytes);
    bytes
}

#[test]
fn text_is_canonical() {
    for (text, canonical) in [
        ("0", "0"),
        ("-0", "0"),
        ("0.000", "0"),
        ("1e3", "1000"),
        ("+1000.00", "1000"),
        ("0001", "1"),
        ("-12.50", "-12.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1E-3", "0.001"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("1.2345678901234567890123456789012345678", "1.2345678901234567890123456789012345678"),
        (
            "100000000000000000000000000000000000000000000000000",
            "100000000000000000000000000000000000000000000000000",
        ),
    ] {
        assert_eq!(number(text).to_string(), canonical, "{text}");
    }
    assert_eq!(number("1e125").to_string().len(), 126);
    assert_eq!(number("1e-130").to_string().len(), 132);
}

#[test]
fn what_is_not_a_number_is_refused_for_its_reason() {
    use NumberError::*;
    for text in [
        "", "-", "+", ".", "e5", "1e", "1e+", "1 ", " 1", "1_000", "0x10", "NaN", "Infinity", "1.2.3", "--1",
        "1e1.5", "١",
    ] {
        assert_eq!(Number::parse(text), Err(NotANumber), "{text:?}");
    }
    assert_eq!(Number::parse("123456789012345678901234567890123456789"), Err(TooManyDigits));
    assert_eq!(Number::parse("1.00000000000000000000000000000000000001"), Err(TooManyDigits));
    assert_eq!(Number::parse("1e126"), Err(TooLarge));
    assert_eq!(Number::parse("-1e999999999999999999"), Err(TooLarge));
    assert_eq!(Number::parse("-1e99999999999999999999"), Err(NotANumber), "an exponent beyond 64 bits");
    assert_eq!(Number::parse("1e-131"), Err(TooSmall));
    assert_eq!(Number::parse("0e125"), Ok(Number::ZERO));
    assert_eq!(Number::parse("0e126"), Err(TooLarge), "zero is written with exponents that numbers have");
    assert_eq!(Number::parse("0e-131"), Err(TooSmall));
    assert!(Number::parse("9.9999999999999999999999999999999999999e125").is_ok());
}

#[test]
fn sums_that_need_more_than_38_digits_are_refused() {
    use NumberError::*;
    assert_eq!(number("1e125").plus(number("1e-130")), Err(TooManyDigits));
    assert_eq!(number("1e38").plus(number("1")), Err(TooManyDigits));
    assert_eq!(number("1e38").minus(number("1")).unwrap().to_string(), "9".repeat(38));
    assert_eq!(
        number("1e37").plus(number("1")).unwrap().to_string(),
        "10000000000000000000000000000000000001"
    );
    assert_eq!(number("9e125").plus(number("9e125")), Err(TooLarge));
    assert_eq!(number("1.1e-130").minus(number("1e-130")), Err(TooSmall));
    assert_eq!(number("5").minus(number("5")), Ok(Number::ZERO));
}

#[test]
fn sizes_count_pairs_of_digits_aligned_to_the_point() {
    for (text, size) in [
        ("0", 1),
        ("1", 2),
        ("10", 2),
        ("100", 2),
        ("12", 2),
        ("1.2", 3),
        ("123", 3),
        ("-1", 3),
        ("0.01", 2),
        ("0.1", 2),
        ("1234", 3),
    ] {
        assert_eq!(number(text).size_bytes(), size, "{text}");
    }
    assert_eq!(number(&"9".repeat(38)).size_bytes(), 20);
}

#[test]
fn whole_numbers_convert() {
    assert_eq!(number("1e3").to_i64(), Some(1000));
    assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("1.5").to_i64(), None);
    assert_eq!(number("-1.5").truncated_to_i64(), Some(-1));
    assert_eq!(number("1e-100").truncated_to_i64(), Some(0));
}

/// A slow, obviously correct decimal: sign and digits of a fixed point with 180 decimals.
mod slow {
    use std::cmp::Ordering;

    pub(super) const DECIMALS: usize = 180;
    const WIDTH: usize = DECIMALS + 140;

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(super) struct Decimal {
        negative: bool,
        digits: Vec<u8>,
    }

    impl Decimal {
        pub(super) fn new(text: &str) -> Decimal {
            let (negative, rest) = match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
            let mut digits = vec![0; WIDTH - DECIMALS - whole.len()];
            digits.extend(whole.bytes().map(|byte| byte - b'0'));
            digits.extend(fraction.bytes().map(|byte| byte - b'0'));
            digits.resize(WIDTH, 0);
            let negative = negative && digits.iter().any(|digit| *digit != 0);
            Decimal { negative, digits }
        }

        pub(super) fn add(&self, other: &Decimal) -> Decimal {
            if self.negative == other.negative {
                return Decimal { negative: self.negative, digits: add(&self.digits, &other.digits) };
            }
            let (large, small) = if self.digits >= other.digits { (self, other) } else { (other, self) };
            let digits = subtract(&large.digits, &small.digits);
            let negative = large.negative && digits.iter().any(|digit| *digit != 0);
            Decimal { negative, digits }
        }

        pub(super) fn significant_digits(&self) -> usize {
            let first = self.digits.iter().position(|digit| *digit != 0);
            let last = self.digits.iter().rposition(|digit| *digit != 0);
            first.zip(last).map_or(0, |(first, last)| last - first + 1)
        }

        pub(super) fn cmp(&self, other: &Decimal) -> Ordering {
            match (self.negative, other.negative) {
                (false, false) => self.digits.cmp(&other.digits),
                (true, true) => other.digits.cmp(&self.digits),
                (mine, theirs) => theirs.cmp(&mine),
            }
        }
    }

    fn add(left: &[u8], right: &[u8]) -> Vec<u8> {
        let mut sum = vec![0; left.len()];
        let mut carry = 0;
        for index in (0..left.len()).rev() {
            let value = left[index] + right[index] + carry;
            sum[index] = value % 10;
            carry = value / 10;
        }
        sum
    }

    fn subtract(large: &[u8], small: &[u8]) -> Vec<u8> {
        let mut difference = vec![0; large.len()];
        let mut borrow = 0;
        for index in (0..large.len()).rev() {
            let value = 10 + large[index] - small[index] - borrow;
            difference[index] = value % 10;
            borrow = 1 - value / 10;
        }
        difference
    }
}

/// Texts of valid numbers, dense around the places where digits and limits meet.
fn number_text() -> impl Strategy<Value = String> {
    let digits = prop_oneof!["[0-9]{1,5}", "[0-9]{30,38}", "[1-9]0{0,36}[1-9]", "9{1,38}"];
    let exponent = prop_oneof![Just(0), -5..5, -40..40, -168..126];
    (any::<bool>(), digits, exponent)
        .prop_map(|(negative, digits, exponent)| {
            format!("{}{digits}e{exponent}", if negative { "-" } else { "" })
        })
        .prop_filter("within range", |text| Number::parse(text).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn addition_equals_the_slow_decimal(left in number_text(), right in number_text()) {
        let (left, right) = (number(&left), number(&right));
        let slow = slow::Decimal::new(&left.to_string()).add(&slow::Decimal::new(&right.to_string()));
        match left.plus(right) {
            Ok(sum) => prop_assert_eq!(slow::Decimal::new(&sum.to_string()), slow),
            Err(NumberError::TooManyDigits) => prop_assert!(slow.significant_digits() > 38),
            Err(error) => prop_assert!(matches!(error, NumberError::TooLarge | NumberError::TooSmall)),
        }
    }

    #[test]
    fn order_equals_the_slow_decimal(left in number_text(), right in number_text()) {
        let (left, right) = (number(&left), number(&right));
        let slow = slow::Decimal::new(&left.to_string()).cmp(&slow::Decimal::new(&right.to_string()));
        prop_assert_eq!(left.cmp(&right), slow);
        prop_assert_eq!(encoded(left).cmp(&encoded(right)), slow);
    }

    #[test]
    fn text_and_bytes_round_trip(text in number_text()) {
        let number = number(&text);
        prop_assert_eq!(Number::parse(&number.to_string()), Ok(number));
        let mut bytes = encoded(number);
        prop_assert!(bytes.len() <= ENCODED_BYTES_MAX);
        let length = bytes.len();
        bytes.extend([7, 7, 7]);
        prop_assert_eq!(Number::decode(&bytes), Some((number, length)));
        prop_assert_eq!(number.size_bytes(), if length == 1 { 1 } else { length - 2 + usize::from(number.is_negative()) });
    }

    #[test]
    fn decoding_foreign_bytes_never_panics_and_never_invents(bytes in proptest::collection::vec(any::<u8>(), 0..30)) {
        if let Some((number, length)) = Number::decode(&bytes) {
            let canonical = encoded(number);
            // Padding digits may differ, but never the value: reading the canonical bytes again gives the same number.
            prop_assert!(length <= bytes.len());
            prop_assert_eq!(Number::decode(&canonical), Some((number, canonical.len())));
        }
    }

    #[test]
    fn parsing_never_panics(text in "\\PC{0,40}|[-+0-9.eE]{0,60}") {
        let _ = Number::parse(&text);
    }
}
