//! From text to condition: tokens, then one function for each level of precedence (OR, AND, NOT, comparison).

use dynamo::Number;

use super::{At, Comparator, Condition, ConditionError, DEPTH_MAX, Operand, Path, PathStep};
use crate::template::Template;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(String),
    Symbol(&'static str),
}

/// The longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 12] = ["<>", "<=", ">=", "=", "<", ">", "(", ")", ",", ".", "[", "]"];

pub(super) fn parse(text: &str) -> Result<Condition, ConditionError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len() };
    let condition = parser.any_of(0)?;
    match parser.tokens.get(parser.next) {
        None => Ok(condition),
        Some((_, at)) => Err(wrong("nothing more is expected here", *at)),
    }
}

fn wrong(message: impl Into<String>, at: At) -> ConditionError {
    ConditionError { message: message.into(), at }
}

fn tokens(text: &str) -> Result<Vec<(Token, At)>, ConditionError> {
    let mut result = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, length) = token(c, rest, at)?;
        result.push((token, (at, at + length)));
        at += length;
    }
    Ok(result)
}

fn token(c: char, rest: &str, at: usize) -> Result<(Token, usize), ConditionError> {
    if c == '"' || c == '\'' {
        let inner = rest.get(1..).unwrap_or_default();
        let Some(length) = inner.find(c) else {
            return Err(wrong("this text is never closed", (at, at + rest.len())));
        };
        return Ok((Token::Text(inner.get(..length).unwrap_or_default().to_owned()), length + 2));
    }
    let number_follows = rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
    if c.is_ascii_digit() || (c == '-' && number_follows) {
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '.')))
            .map_or(rest.len(), |(at, _)| at);
        return Ok((Token::Number(rest.get(..length).unwrap_or_default().to_owned()), length));
    }
    if c.is_alphabetic() || matches!(c, '_' | '$' | '#' | ':') {
        let length = rest
            .char_indices()
            .skip(1)
            .find(|(_, c)| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$')))
            .map_or(rest.len(), |(at, _)| at);
        return Ok((Token::Word(rest.get(..length).unwrap_or_default().to_owned()), length));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None => Err(wrong(format!("`{c}` does not belong in a condition"), (at, at + c.len_utf8()))),
    }
}

struct Parser<'a> {
    tokens: &'a [(Token, At)],
    next: usize,
    end: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn here(&self) -> At {
        self.tokens.get(self.next).map_or((self.end, self.end), |(_, at)| *at)
    }

    fn before(&self) -> usize {
        self.next.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |(_, at)| at.1)
    }

    fn symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(found)) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ConditionError> {
        if self.symbol(symbol) {
            Ok(())
        } else {
            Err(wrong(format!("`{symbol}` is expected here"), self.here()))
        }
    }

    fn any_of(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        if depth > DEPTH_MAX {
            return Err(wrong("the condition is nested too deep", self.here()));
        }
        let mut list = vec![self.all_of(depth)?];
        while self.keyword("OR") {
            list.push(self.all_of(depth)?);
        }
        Ok(one_or(list, Condition::Or))
    }

    fn all_of(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        let mut list = vec![self.negated(depth)?];
        while self.keyword("AND") {
            list.push(self.negated(depth)?);
        }
        Ok(one_or(list, Condition::And))
    }

    fn negated(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        if depth > DEPTH_MAX {
            return Err(wrong("the condition is nested too deep", self.here()));
        }
        if self.keyword("NOT") {
            return Ok(Condition::Not(Box::new(self.negated(depth + 1)?)));
        }
        if self.symbol("(") {
            let inner = self.any_of(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        self.simple()
    }

    fn simple(&mut self) -> Result<Condition, ConditionError> {
        let from = self.here().0;
        if let Some(condition) = self.function(from)? {
            return Ok(condition);
        }
        let left = self.operand()?;
        if self.keyword("BETWEEN") {
            let low = self.operand()?;
            if !self.keyword("AND") {
                return Err(wrong("BETWEEN needs `AND` and a second bound", self.here()));
            }
            let high = self.operand()?;
            return Ok(Condition::Between(left, low, high, (from, self.before())));
        }
        if self.keyword("IN") {
            let list = self.list()?;
            return Ok(Condition::In(left, list, (from, self.before())));
        }
        let comparator = self.comparator()?;
        let right = self.operand()?;
        Ok(Condition::Compare(left, comparator, right, (from, self.before())))
    }

    fn list(&mut self) -> Result<Vec<Operand>, ConditionError> {
        self.expect("(")?;
        let mut list = vec![self.operand()?];
        while self.symbol(",") {
            list.push(self.operand()?);
        }
        self.expect(")")?;
        Ok(list)
    }

    fn comparator(&mut self) -> Result<Comparator, ConditionError> {
        use Comparator::*;
        for comparator in [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
            if self.symbol(comparator.symbol()) {
                return Ok(comparator);
            }
        }
        Err(wrong(
            "a comparison is expected here: `=`, `<>`, `<`, `<=`, `>`, `>=`, BETWEEN or IN",
            self.here(),
        ))
    }

    /// A function that is a condition by itself, if one stands here.
    fn function(&mut self, from: usize) -> Result<Option<Condition>, ConditionError> {
        let Some(Token::Word(name)) = self.peek().cloned() else { return Ok(None) };
        let opens = matches!(self.tokens.get(self.next + 1), Some((Token::Symbol("("), _)));
        if !opens || name == "size" {
            return Ok(None);
        }
        let at = self.here();
        self.next += 2;
        let condition = match name.as_str() {
            "attribute_exists" => Condition::Exists(self.path()?),
            "attribute_not_exists" => Condition::NotExists(self.path()?),
            "attribute_type" => {
                let (path, operand) = (self.path()?, self.second()?);
                Condition::HasType(path, operand, (from, self.before()))
            }
            "begins_with" => {
                let (left, right) = (self.operand()?, self.second()?);
                Condition::BeginsWith(left, right, (from, self.before() + 1))
            }
            "contains" => {
                let (left, right) = (self.operand()?, self.second()?);
                Condition::Contains(left, right, (from, self.before() + 1))
            }
            _ => return Err(wrong(format!("DynamoDB has no function `{name}`"), at)),
        };
        self.expect(")")?;
        Ok(Some(condition))
    }

    fn second(&mut self) -> Result<Operand, ConditionError> {
        self.expect(",")?;
        self.operand()
    }

    fn operand(&mut self) -> Result<Operand, ConditionError> {
        let at = self.here();
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.next += 1;
                let template = Template::parse(&text)
                    .map_err(|error| wrong(error.message, (at.0 + 1 + error.at.0, at.0 + 1 + error.at.1)))?;
                Ok(Operand::Text(template, at))
            }
            Some(Token::Number(text)) => {
                self.next += 1;
                let number =
                    Number::parse(&text).map_err(|_| wrong(format!("`{text}` is not a number"), at))?;
                Ok(Operand::Number(number, at))
            }
            Some(Token::Word(word)) if word == "true" || word == "false" => {
                self.next += 1;
                Ok(Operand::Boolean(word == "true", at))
            }
            Some(Token::Word(word)) if word == "null" => {
                self.next += 1;
                Ok(Operand::Null(at))
            }
            Some(Token::Word(word)) if word == "size" => self.size(),
            Some(Token::Word(_)) => Ok(Operand::Path(self.path()?)),
            _ => Err(wrong("an attribute or a value is expected here", at)),
        }
    }

    fn size(&mut self) -> Result<Operand, ConditionError> {
        if !matches!(self.tokens.get(self.next + 1), Some((Token::Symbol("("), _))) {
            return Ok(Operand::Path(self.path()?));
        }
        self.next += 2;
        let path = self.path()?;
        self.expect(")")?;
        Ok(Operand::Size(path))
    }

    fn path(&mut self) -> Result<Path, ConditionError> {
        let from = self.here().0;
        let mut steps = vec![PathStep::Name(self.name()?)];
        loop {
            if self.symbol(".") {
                steps.push(PathStep::Name(self.name()?));
            } else if self.symbol("[") {
                steps.push(PathStep::Index(self.index()?));
                self.expect("]")?;
            } else {
                return Ok(Path { steps, at: (from, self.before()) });
            }
        }
    }

    fn name(&mut self) -> Result<String, ConditionError> {
        let at = self.here();
        match self.peek().cloned() {
            Some(Token::Word(word)) if word.starts_with(':') => Err(wrong(
                format!("`{word}`: write the value itself; a parameter is a text with a slot, \"{{name}}\""),
                at,
            )),
            Some(Token::Word(word)) if word.starts_with('#') => Err(wrong(
                format!("`{word}`: write the attribute's name; reserved words need no `#` here"),
                at,
            )),
            Some(Token::Word(word)) => {
                self.next += 1;
                Ok(word)
            }
            _ => Err(wrong("the name of an attribute is expected here", at)),
        }
    }

    fn index(&mut self) -> Result<usize, ConditionError> {
        let at = self.here();
        match self.peek() {
            Some(Token::Number(text)) => {
                let index = text.parse().map_err(|_| wrong("a list index is a whole number", at))?;
                self.next += 1;
                Ok(index)
            }
            _ => Err(wrong("a list index is a whole number", at)),
        }
    }
}

fn one_or(mut list: Vec<Condition>, combine: fn(Vec<Condition>) -> Condition) -> Condition {
    match list.pop() {
        Some(only) if list.is_empty() => only,
        Some(final_one) => {
            list.push(final_one);
            combine(list)
        }
        None => combine(list),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn key_conditions_read_as_in_the_documents() {
        let text = r#"GSI1PK = "USER#{userId}" AND GSI1SK BETWEEN "DUE#{from}" AND "DUE#{to}""#;
        let condition = parse(text).unwrap();
        assert_eq!(condition.conjuncts().len(), 2);
        assert!(matches!(condition.conjuncts()[1], Condition::Between(..)));
        assert_eq!(condition.paths().len(), 2);
        assert_eq!(condition.templates().len(), 3);
    }

    #[test]
    fn precedence_is_or_and_not() {
        let condition = parse("a = 1 OR NOT b = 2 AND (c = 3 OR size(d) > 4)").unwrap();
        let Condition::Or(list) = condition else { panic!() };
        assert_eq!(list.len(), 2);
        assert!(matches!(&list[1], Condition::And(list) if list.len() == 2));
    }

    #[test]
    fn placeholders_are_answered_with_what_to_write_instead() {
        assert!(parse("PK = :pk").unwrap_err().message.contains("\"{name}\""));
        assert!(parse("#status = 1").unwrap_err().message.contains("reserved"));
    }

    #[test]
    fn depth_is_bounded() {
        assert!(parse(&format!("{}a = 1{}", "(".repeat(1000), ")".repeat(1000))).is_err());
        assert!(parse(&format!("{}a = 1", "NOT ".repeat(10_000))).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_a_condition_or_an_error(
            text in "\\PC{0,40}|([a-c]|=|<|\\(|\\)| AND | OR |NOT |\"x\"|1|,|\\.|begins_with\\(){0,12}"
        ) {
            if let Err(error) = parse(&text) {
                prop_assert!(error.at.0 <= text.len() && error.at.1 <= text.len() && text.is_char_boundary(error.at.0));
            }
        }
    }
}
