//! A request with room for numbers: what differs between two requests of a workload is a few digits, and writing them in their places
//! costs the client next to nothing.
//!
//! A mark like `<n*50+3/20:8>` stands for eight digits: the number of the operation, times fifty, and three, divided by twenty; each step
//! in its turn, without precedence. Digits are always as many, so the length of a request is known beforehand.

/// A request with room for the digits of a number.
#[derive(Clone)]
pub struct Template {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
}

/// Where digits go, and how they are made of the number.
#[derive(Clone)]
struct Slot {
    end: usize,
    digits: usize,
    steps: Vec<(u8, u64)>,
}

impl Slot {
    fn value(&self, number: u64) -> u64 {
        self.steps.iter().fold(number, |value, (step, with)| match step {
            b'*' => value * with,
            b'+' => value + with,
            b'/' => value / with,
            _ => value % with,
        })
    }
}

impl Template {
    /// A request whose head and body have marks; the head is given without its last line.
    pub fn new(head: &str, body: &str) -> Template {
        let body = Template::parse(body);
        let mut request = Template::parse(&format!("{head}content-length: {}\r\n\r\n", body.bytes.len()));
        let before = request.bytes.len();
        request.bytes.extend(body.bytes);
        let moved = body.slots.into_iter().map(|slot| Slot { end: slot.end + before, ..slot });
        request.slots.extend(moved);
        request
    }

    fn parse(text: &str) -> Template {
        let (mut bytes, mut slots) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(start) = rest.find("<n") {
            let end = start + rest[start..].find('>').expect("a mark has an end");
            bytes.extend_from_slice(&rest.as_bytes()[..start]);
            let (steps, digits) = rest[start + 2..end].split_once(':').expect("a mark says how many digits");
            let digits = digits.parse().expect("how many digits");
            bytes.extend(std::iter::repeat_n(b'0', digits));
            slots.push(Slot { end: bytes.len(), digits, steps: steps_of(steps) });
            rest = &rest[end + 1..];
        }
        bytes.extend_from_slice(rest.as_bytes());
        Template { bytes, slots }
    }

    /// The request about this number. It is written over the last one.
    pub fn request(&mut self, number: u64) -> &[u8] {
        for slot in &self.slots {
            let mut rest = slot.value(number);
            for place in self.bytes[slot.end - slot.digits..slot.end].iter_mut().rev() {
                *place = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
        &self.bytes
    }
}

fn steps_of(mut text: &str) -> Vec<(u8, u64)> {
    let mut steps = Vec::new();
    while let Some(step) = text.bytes().next() {
        let end = text[1..].find(['*', '+', '/', '%']).map_or(text.len(), |end| end + 1);
        steps.push((step, text[1..end].parse().expect("a number in a mark")));
        text = &text[end..];
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::Template;

    #[test]
    fn marks_become_digits_and_the_length_is_that_of_the_digits() {
        let mut template = Template::new("GET /<n:3> HTTP/1.1\r\n", "USER#<n*50+3/20:8> and <n%10:1>");
        let text = |request: &[u8]| String::from_utf8(request.to_vec()).expect("text");
        assert_eq!(
            text(template.request(12)),
            "GET /012 HTTP/1.1\r\ncontent-length: 19\r\n\r\nUSER#00000030 and 2"
        );
        assert!(text(template.request(1_234)).ends_with("USER#00003085 and 4"));
    }
}
