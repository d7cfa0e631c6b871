//! DynamoDB's number: up to 38 significant decimal digits, exact, between 1E-130 and 9.99…E+125.
//!
//! Always true: a [`Number`] is in canonical form (no trailing zero in its digits, one zero), so two
//! numbers are equal exactly when their fields are. Work is bounded whatever the exponent.
//!
//! Path of a number: text of a request -> [`Number::parse`] -> [`Number::encode`] -> stored bytes,
//! which compare as the numbers do -> [`Number::decode`] -> text of an answer.

use std::cmp::Ordering;
use std::fmt;

/// How many significant digits a number may have.
pub const DIGITS_MAX: u32 = 38;
/// The place of the first digit of the smallest number: 1E-130.
const PLACE_MIN: i32 = -130;
/// The place of the first digit of the largest number: 9.99…E+125.
const PLACE_MAX: i32 = 125;

/// A decimal number: `coefficient * 10^exponent`, negated if `negative`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    exponent: i16,
    coefficient: u128,
}

/// Why a text or a result is not a DynamoDB number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// The text is not a decimal number.
    NotANumber,
    /// More than 38 significant digits.
    TooManyDigits,
    /// Magnitude above 9.99…E+125.
    TooLarge,
    /// Magnitude below 1E-130 and not zero.
    TooSmall,
}

impl Number {
    /// Zero.
    pub const ZERO: Number = Number { negative: false, exponent: 0, coefficient: 0 };

    /// Reads decimal text: sign, digits, point, exponent.
    pub fn parse(text: &str) -> Result<Number, NumberError> {
        let (negative, digits) = split_sign(text.as_bytes());
        let mut reader = DigitReader::default();
        let mut rest = digits;
        while let [byte, tail @ ..] = rest {
            match byte {
                b'0'..=b'9' => reader.digit(byte - b'0')?,
                b'.' => reader.point()?,
                b'e' | b'E' => {
                    let exponent = parse_exponent(tail)?;
                    return reader.finish(negative, exponent);
                }
                _ => return Err(NumberError::NotANumber),
            }
            rest = tail;
        }
        reader.finish(negative, 0)
    }

    /// The canonical number with these parts, if it is within DynamoDB's limits.
    fn new(negative: bool, coefficient: u128, exponent: i64) -> Result<Number, NumberError> {
        if coefficient == 0 {
            return Ok(Number::ZERO);
        }
        let (coefficient, exponent) = without_trailing_zeros(coefficient, exponent);
        let digits = digit_count(coefficient);
        if digits > DIGITS_MAX {
            return Err(NumberError::TooManyDigits);
        }
        let place = exponent + i64::from(digits) - 1;
        if place > i64::from(PLACE_MAX) {
            return Err(NumberError::TooLarge);
        }
        if place < i64::from(PLACE_MIN) {
            return Err(NumberError::TooSmall);
        }
        let exponent = i16::try_from(exponent).map_err(|_| NumberError::TooSmall)?;
        Ok(Number { negative, exponent, coefficient })
    }

    /// The sum, if it is exact within 38 digits.
    pub fn plus(self, other: Number) -> Result<Number, NumberError> {
        if self.coefficient == 0 {
            return Ok(other);
        }
        if other.coefficient == 0 {
            return Ok(self);
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        // Both coefficients end in a digit that is not zero, so a gap of 39 places or more, or an aligned
        // coefficient beyond 128 bits, cannot give a sum of 38 digits.
        let gap = u32::from(high.exponent.abs_diff(low.exponent));
        let aligned = (gap <= DIGITS_MAX)
            .then(|| high.coefficient.checked_mul(power_of_ten(gap)))
            .flatten()
            .ok_or(NumberError::TooManyDigits)?;
        let exponent = i64::from(low.exponent);
        if high.negative == low.negative {
            let sum = aligned.checked_add(low.coefficient).ok_or(NumberError::TooManyDigits)?;
            return Number::new(high.negative, sum, exponent);
        }
        let negative = if aligned >= low.coefficient { high.negative } else { low.negative };
        Number::new(negative, aligned.abs_diff(low.coefficient), exponent)
    }

    /// The difference, if it is exact within 38 digits.
    pub fn minus(self, other: Number) -> Result<Number, NumberError> {
        self.plus(other.negated())
    }

    /// The same magnitude with the other sign.
    #[must_use]
    pub fn negated(self) -> Number {
        Number { negative: self.coefficient != 0 && !self.negative, ..self }
    }

    /// True for numbers below zero.
    pub fn is_negative(self) -> bool {
        self.negative
    }

    /// The number as a whole `i64`, if it is one.
    pub fn to_i64(self) -> Option<i64> {
        let exponent = u32::try_from(self.exponent).ok().filter(|exponent| *exponent <= DIGITS_MAX)?;
        let magnitude = self.coefficient.checked_mul(power_of_ten(exponent))?;
        let value = i128::try_from(magnitude).ok()?;
        i64::try_from(if self.negative { -value } else { value }).ok()
    }

    /// The number without its fraction as an `i64`, if it fits.
    pub fn truncated_to_i64(self) -> Option<i64> {
        if self.exponent >= 0 {
            return self.to_i64();
        }
        let cut = u32::from(self.exponent.unsigned_abs());
        let whole = if cut > DIGITS_MAX { 0 } else { self.coefficient / power_of_ten(cut) };
        let value = i128::try_from(whole).ok()?;
        i64::try_from(if self.negative { -value } else { value }).ok()
    }

    /// The bytes DynamoDB counts for a number: one for every two digits as they are aligned to the decimal point, one more,
    /// and one for a minus.
    pub fn size_bytes(self) -> usize {
        if self.coefficient == 0 {
            return 1;
        }
        let digits = digit_count(self.coefficient);
        let odd_places = (i32::from(self.exponent) + i32::try_from(digits).unwrap_or(0)).rem_euclid(2);
        let pairs = (digits as usize + usize::from(odd_places == 1)).div_ceil(2);
        1 + pairs + usize::from(self.negative)
    }
}

/// Whether the text is negative, and the text without its sign.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    }
}

/// Collects digits as they are read; zeros wait until a digit that is not zero needs them.
#[derive(Default)]
struct DigitReader {
    coefficient: u128,
    digits: u32,
    waiting_zeros: u64,
    after_point: u64,
    seen_digit: bool,
    seen_point: bool,
}

impl DigitReader {
    fn digit(&mut self, digit: u8) -> Result<(), NumberError> {
        self.seen_digit = true;
        self.after_point += u64::from(self.seen_point);
        if digit == 0 {
            self.waiting_zeros += u64::from(self.digits > 0);
            return Ok(());
        }
        let places = u32::try_from(self.waiting_zeros + 1).unwrap_or(u32::MAX);
        if places.saturating_add(self.digits) > DIGITS_MAX {
            return Err(NumberError::TooManyDigits);
        }
        self.coefficient = self.coefficient * power_of_ten(places) + u128::from(digit);
        self.digits += places;
        self.waiting_zeros = 0;
        Ok(())
    }

    fn point(&mut self) -> Result<(), NumberError> {
        if std::mem::replace(&mut self.seen_point, true) {
            return Err(NumberError::NotANumber);
        }
        Ok(())
    }

    fn finish(self, negative: bool, exponent: i64) -> Result<Number, NumberError> {
        if !self.seen_digit {
            return Err(NumberError::NotANumber);
        }
        let waiting = i64::try_from(self.waiting_zeros).unwrap_or(i64::MAX / 4);
        let after_point = i64::try_from(self.after_point).unwrap_or(i64::MAX / 4);
        let exponent = exponent.saturating_add(waiting).saturating_sub(after_point);
        // Zero has no magnitude, but the exponent that it is written with must be one that numbers have.
        if self.coefficient == 0 && exponent > i64::from(PLACE_MAX) {
            return Err(NumberError::TooLarge);
        }
        if self.coefficient == 0 && exponent < i64::from(PLACE_MIN) {
            return Err(NumberError::TooSmall);
        }
        Number::new(negative, self.coefficient, exponent)
    }
}

/// Reads what follows the `e`. An exponent beyond 64 bits makes no number; below that, far beyond any limit it stops growing.
fn parse_exponent(text: &[u8]) -> Result<i64, NumberError> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::NotANumber);
    }
    let read = |value: i64, digit: &u8| value.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    let magnitude = digits.iter().try_fold(0_i64, read).ok_or(NumberError::NotANumber)?.min(1 << 40);
    Ok(if negative { -magnitude } else { magnitude })
}

fn power_of_ten(exponent: u32) -> u128 {
    const POWERS: [u128; 39] = {
        let mut powers = [1_u128; 39];
        let mut index = 1;
        while index < powers.len() {
            #[allow(clippy::indexing_slicing, reason = "the loop stays below the length")]
            {
                powers[index] = powers[index - 1] * 10;
            }
            index += 1;
        }
        powers
    };
    *POWERS.get(exponent as usize).expect("callers ask for at most 10^38")
}

fn digit_count(coefficient: u128) -> u32 {
    match u64::try_from(coefficient) {
        Ok(0) => 0,
        Ok(small) => small.ilog10() + 1,
        Err(_) => coefficient.ilog10() + 1,
    }
}

fn without_trailing_zeros(mut coefficient: u128, mut exponent: i64) -> (u128, i64) {
    // Most numbers fit in 64 bits, where division is many times cheaper.
    if let Ok(mut small) = u64::try_from(coefficient) {
        while small.is_multiple_of(10) {
            small /= 10;
            exponent += 1;
        }
        return (u128::from(small), exponent);
    }
    while coefficient.is_multiple_of(10) {
        coefficient /= 10;
        exponent += 1;
    }
    (coefficient, exponent)
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self.sign(), other.sign()) {
            (1, 1) => self.cmp_magnitude(other),
            (-1, -1) => other.cmp_magnitude(self),
            (mine, theirs) => mine.cmp(&theirs),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Number {
    fn sign(self) -> i8 {
        match (self.coefficient, self.negative) {
            (0, _) => 0,
            (_, false) => 1,
            (_, true) => -1,
        }
    }

    fn cmp_magnitude(&self, other: &Number) -> Ordering {
        let (mine, theirs) = (digit_count(self.coefficient), digit_count(other.coefficient));
        let my_place = i64::from(self.exponent) + i64::from(mine);
        let their_place = i64::from(other.exponent) + i64::from(theirs);
        my_place.cmp(&their_place).then_with(|| {
            let longest = mine.max(theirs);
            let my_digits = self.coefficient * power_of_ten(longest - mine);
            my_digits.cmp(&(other.coefficient * power_of_ten(longest - theirs)))
        })
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        let (coefficient, exponent) = match value.unsigned_abs() {
            0 => return Number::ZERO,
            magnitude => without_trailing_zeros(u128::from(magnitude), 0),
        };
        let exponent = i16::try_from(exponent).expect("an i64 has at most 19 digits");
        Number { negative: value < 0, exponent, coefficient }
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Number {
        Number::from(i64::from(value))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(TEXT_BYTES);
        self.write_decimal(&mut text);
        formatter.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// Room for the text of most numbers.
const TEXT_BYTES: usize = 48;

impl Number {
    /// Appends plain decimal notation without an exponent, as DynamoDB returns numbers.
    pub fn write_decimal(self, text: &mut Vec<u8>) {
        let mut buffer = [0_u8; 39];
        let digits = decimal_digits(self.coefficient, &mut buffer);
        if self.negative {
            text.push(b'-');
        }
        let places = usize::from(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            text.extend_from_slice(digits);
            text.resize(text.len() + places, b'0');
        } else if let Some((whole, fraction)) = digits
            .len()
            .checked_sub(places)
            .filter(|whole| *whole > 0)
            .and_then(|whole| digits.split_at_checked(whole))
        {
            text.extend_from_slice(whole);
            text.push(b'.');
            text.extend_from_slice(fraction);
        } else {
            text.extend_from_slice(b"0.");
            text.resize(text.len() + places.saturating_sub(digits.len()), b'0');
            text.extend_from_slice(digits);
        }
    }
}

/// The decimal digits of a coefficient; `0` for zero.
fn decimal_digits(coefficient: u128, buffer: &mut [u8; 39]) -> &[u8] {
    let count = digit_count(coefficient).max(1) as usize;
    let used = buffer.get_mut(..count).unwrap_or_default();
    match u64::try_from(coefficient) {
        Ok(small) => fill_pairs(small, used, |rest| (rest % 10, rest / 10)),
        Err(_) => fill_pairs(coefficient, used, |rest| (rest % 10, rest / 10)),
    }
    for digit in used.iter_mut() {
        *digit += b'0';
    }
    used
}

/// First byte of an encoded number: these three sort as the signs do.
const NEGATIVE: u8 = 1;
const ZERO: u8 = 2;
const POSITIVE: u8 = 3;
/// Added to the exponent (base 100), so that it is never negative.
const EXPONENT_BIAS: i32 = 64;
/// Ends the digits of a positive number: below every digit (1 to 100).
const POSITIVE_END: u8 = 0;
/// Ends the digits of a negative number: above every inverted digit (1 to 100).
const NEGATIVE_END: u8 = 101;
/// The longest encoded number: sign, exponent, 20 pairs of digits, end.
pub const ENCODED_BYTES_MAX: usize = 23;

impl Number {
    /// Appends bytes that compare as the numbers do and end by themselves, so that anything may follow.
    ///
    /// Sign, exponent in base 100, then the digits in base 100 (each plus one, so that the end sorts before them);
    /// for negative numbers exponent and digits are inverted.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        if self.coefficient == 0 {
            bytes.push(ZERO);
            return;
        }
        let digits = digit_count(self.coefficient);
        let places = i32::from(self.exponent) + i32::try_from(digits).expect("at most 38 digits");
        let odd = places.rem_euclid(2) == 1;
        let hundreds = (places + i32::from(odd)).div_euclid(2);
        let biased = u8::try_from(hundreds + EXPONENT_BIAS)
            .expect("the exponent was checked when the number was made");
        let mut pairs = [0_u8; 20];
        let pairs = digit_pairs(self.coefficient, digits, odd, &mut pairs);
        if self.negative {
            bytes.extend([NEGATIVE, !biased]);
            bytes.extend(pairs.iter().map(|pair| 100 - pair));
            bytes.push(NEGATIVE_END);
        } else {
            bytes.extend([POSITIVE, biased]);
            bytes.extend(pairs.iter().map(|pair| pair + 1));
            bytes.push(POSITIVE_END);
        }
    }

    /// Reads a number from the front of `bytes`; also says how many bytes it took. `None` for bytes that
    /// [`Number::encode`] cannot have written.
    pub fn decode(bytes: &[u8]) -> Option<(Number, usize)> {
        let (sign, rest) = bytes.split_first()?;
        if *sign == ZERO {
            return Some((Number::ZERO, 1));
        }
        let negative = match *sign {
            NEGATIVE => true,
            POSITIVE => false,
            _ => return None,
        };
        let (exponent, rest) = rest.split_first()?;
        let biased = if negative { !*exponent } else { *exponent };
        let end = if negative { NEGATIVE_END } else { POSITIVE_END };
        let length = rest.iter().take(21).position(|byte| *byte == end)?;
        let pair = |byte: &u8| if negative { 100_u8.checked_sub(*byte) } else { byte.checked_sub(1) };
        let (last, front) = rest.get(..length)?.split_last()?;
        let mut coefficient = 0_u128;
        for byte in front {
            coefficient = coefficient.checked_mul(100)?.checked_add(u128::from(pair(byte)?))?;
        }
        // A last pair that ends in padding is taken as one digit: 38 digits and one of padding can pass 128 bits.
        let last = pair(last)?;
        let (shift, last, padding) =
            if last.is_multiple_of(10) { (10, last / 10, 1) } else { (100, last, 0) };
        coefficient = coefficient.checked_mul(shift)?.checked_add(u128::from(last))?;
        let pairs = i64::try_from(length).ok()?;
        let exponent = (i64::from(biased) - i64::from(EXPONENT_BIAS) - pairs) * 2 + padding;
        let number =
            Number::new(negative, coefficient, exponent).ok().filter(|number| number.coefficient != 0)?;
        Some((number, length + 3))
    }
}

/// An encoded number, borrowed: equal and ordered as the numbers are, without being decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberRef<'a> {
    bytes: &'a [u8],
}

impl<'a> NumberRef<'a> {
    /// Wraps bytes that [`Number::encode`] wrote.
    pub(crate) fn new(bytes: &'a [u8]) -> NumberRef<'a> {
        NumberRef { bytes }
    }

    /// The number; zero for damaged bytes.
    pub fn to_number(self) -> Number {
        Number::decode(self.bytes).map_or(Number::ZERO, |(number, _)| number)
    }

    /// The bytes DynamoDB counts for the number.
    pub fn size_bytes(self) -> usize {
        match self.bytes {
            [NEGATIVE, rest @ ..] => rest.len(),
            [POSITIVE, rest @ ..] => rest.len() - usize::from(!rest.is_empty()),
            _ => 1,
        }
    }
}

/// The digits in base 100 from the left; with an `odd` place the first pair has one digit.
fn digit_pairs(coefficient: u128, digits: u32, odd: bool, pairs: &mut [u8; 20]) -> &[u8] {
    let shifted = digits + u32::from(odd);
    let used = pairs.get_mut(..shifted.div_ceil(2) as usize).expect("38 digits are at most 20 pairs");
    let (last, front) = used.split_last_mut().expect("a number has a digit");
    // The last pair is split off first: 38 digits and one of padding can pass 128 bits.
    let rest = if shifted % 2 == 1 {
        *last = u8::try_from(coefficient % 10 * 10).expect("a digit times ten");
        coefficient / 10
    } else {
        *last = u8::try_from(coefficient % 100).expect("below 100");
        coefficient / 100
    };
    match u64::try_from(rest) {
        Ok(small) => fill_pairs(small, front, |rest| (rest % 100, rest / 100)),
        Err(_) => fill_pairs(rest, front, |rest| (rest % 100, rest / 100)),
    }
    used
}

/// Fills `pairs` (or single digits) from the right; generic because division of 64 bits is many times cheaper than of 128.
fn fill_pairs<N: Copy + TryInto<u8>>(mut rest: N, pairs: &mut [u8], split: impl Fn(N) -> (N, N)) {
    for pair in pairs.iter_mut().rev() {
        let (digits, left) = split(rest);
        *pair = digits.try_into().unwrap_or(0);
        rest = left;
    }
}

#[cfg(test)]
mod tests;
