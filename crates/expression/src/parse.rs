//! Text to tree, by recursive descent.
//!
//! Always true: the work and the stack are bounded by the 4,096 bytes of an expression. Parentheses around
//! parentheses, the only nesting that costs no operator, are found before parsing and stepped over without recursion;
//! any other nesting deeper than [`DEPTH_MAX`] breaks the limit on operators or is a syntax error.
//!
//! A syntax error is reported where it stands. Everything else that is wrong whatever the names and values are is
//! noted while parsing and reported at the end, in DynamoDB's order.

use std::sync::Arc;

use crate::error::{ExpressionError, ExpressionKind, Fault};
use crate::reserved::is_reserved;
use crate::token::{Token, TokenKind, tokens};
use crate::tree::{
    Call, Clause, ConditionTree, Element, Function, OperandTree, PathTree, ProjectionTree, UpdateTree,
};

mod condition;
mod update;

/// The longest expression, in bytes.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
/// The most operators in one expression.
const OPERATORS_MAX: usize = 300;
/// The most elements in a document path.
const PATH_ELEMENTS_MAX: usize = 32;
/// The highest list index.
const INDEX_MAX: usize = i32::MAX as usize;
/// The deepest nesting: an operator on every level, and a little for the operands at the bottom.
const DEPTH_MAX: usize = OPERATORS_MAX + 10;

/// Parses the text of a ConditionExpression, FilterExpression or KeyConditionExpression.
pub fn parse_condition(kind: ExpressionKind, text: &str) -> Result<ConditionTree, ExpressionError> {
    parse(kind, text, Parser::whole_condition)
}

/// Parses the text of an UpdateExpression.
pub fn parse_update(text: &str) -> Result<UpdateTree, ExpressionError> {
    parse(ExpressionKind::Update, text, Parser::whole_update)
}

/// Parses the text of a ProjectionExpression.
pub fn parse_projection(text: &str) -> Result<ProjectionTree, ExpressionError> {
    parse(ExpressionKind::Projection, text, Parser::whole_projection)
}

fn parse<'a, T>(
    kind: ExpressionKind,
    text: &'a str,
    whole: impl FnOnce(&mut Parser<'a>) -> Result<T, Fault>,
) -> Result<T, ExpressionError> {
    if text.is_empty() {
        return Err(Fault::Empty.of(kind));
    }
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err(Fault::TooLong(text.len()).of(kind));
    }
    let mut parser = Parser::new(kind, text);
    let tree = whole(&mut parser).map_err(|fault| fault.of(kind))?;
    parser.noted.report(kind).map_err(|fault| fault.of(kind))?;
    Ok(tree)
}

struct Parser<'a> {
    kind: ExpressionKind,
    text: &'a str,
    tokens: Vec<Token>,
    /// For each opening parenthesis the place of its closing one.
    closing: Vec<Option<usize>>,
    position: usize,
    depth: usize,
    noted: Noted,
}

/// What was found besides the syntax: the first of each sort.
#[derive(Default)]
struct Noted {
    redundant: bool,
    operators: usize,
    limit: Option<Fault>,
    function: Option<Fault>,
    misuse: Option<Fault>,
    reserved: Option<Fault>,
    clause: Option<Fault>,
}

impl Noted {
    fn report(self, kind: ExpressionKind) -> Result<(), Fault> {
        if self.redundant {
            return Err(Fault::RedundantParentheses);
        }
        if self.operators > OPERATORS_MAX {
            return Err(Fault::TooManyOperators(OPERATORS_MAX + 1));
        }
        let in_order = match kind {
            ExpressionKind::Update => [self.limit, self.reserved, self.function, self.misuse, self.clause],
            _ => [self.limit, self.function, self.misuse, self.reserved, self.clause],
        };
        in_order.into_iter().flatten().next().map_or(Ok(()), Err)
    }
}

impl<'a> Parser<'a> {
    fn new(kind: ExpressionKind, text: &'a str) -> Parser<'a> {
        let tokens = tokens(text);
        let closing = closing_parentheses(&tokens);
        Parser { kind, text, tokens, closing, position: 0, depth: 0, noted: Noted::default() }
    }

    fn peek(&self) -> TokenKind {
        self.tokens.get(self.position).map_or(TokenKind::End, |token| token.kind)
    }

    fn peek_text(&self) -> &'a str {
        self.tokens
            .get(self.position)
            .and_then(|token| self.text.get(token.start..token.end))
            .unwrap_or_default()
    }

    fn advance(&mut self) {
        self.position += 1;
    }

    /// The token at hand is not one that may stand here.
    fn syntax_error<T>(&self) -> Result<T, Fault> {
        self.syntax_error_at(self.position)
    }

    fn syntax_error_at<T>(&self, position: usize) -> Result<T, Fault> {
        let last = self.tokens.len().saturating_sub(1);
        let position = position.min(last);
        let place = |position: usize| {
            self.tokens.get(position.min(last)).map_or((0, 0), |token| (token.start, token.end))
        };
        let (start, end) = place(position);
        let token = if position == last { "<EOF>" } else { self.text.get(start..end).unwrap_or_default() };
        let (near_start, before_end) = place(position.saturating_sub(1));
        let near_end = match (position == last, position + 1 == last) {
            (true, _) => before_end,
            (_, true) => end,
            _ => place(position + 1).1,
        };
        let near = self.text.get(near_start..near_end).unwrap_or_default();
        Err(Fault::Syntax { token: token.to_owned(), near: near.to_owned() })
    }

    fn expect(&mut self, kind: TokenKind) -> Result<(), Fault> {
        if self.peek() != kind {
            return self.syntax_error();
        }
        self.advance();
        Ok(())
    }

    fn expect_end(&self) -> Result<(), Fault> {
        if self.peek() == TokenKind::End { Ok(()) } else { self.syntax_error() }
    }

    /// Goes one level down, or says why nothing can be that deep.
    fn descend(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            return Ok(());
        }
        let opened = self
            .tokens
            .iter()
            .zip(&self.closing)
            .any(|(token, closing)| token.kind == TokenKind::Open && closing.is_none());
        if opened {
            self.syntax_error_at(usize::MAX)
        } else {
            Err(Fault::TooManyOperators(OPERATORS_MAX + 1))
        }
    }

    /// At an opening parenthesis: steps past it and past redundant ones inside it; says how many were redundant.
    fn open_group(&mut self) -> Result<usize, Fault> {
        self.descend()?;
        let mut redundant = 0;
        while self.wraps_a_group(self.position + redundant) {
            redundant += 1;
        }
        self.noted.redundant |= redundant > 0;
        self.position += redundant + 1;
        Ok(redundant)
    }

    fn close_group(&mut self, redundant: usize) -> Result<(), Fault> {
        self.depth -= 1;
        for _ in 0..=redundant {
            self.expect(TokenKind::Close)?;
        }
        Ok(())
    }

    /// True when all that this parenthesis holds is another pair of parentheses.
    fn wraps_a_group(&self, open: usize) -> bool {
        let closing = |open: usize| self.closing.get(open).copied().flatten();
        let inner = self.tokens.get(open + 1).filter(|token| token.kind == TokenKind::Open);
        match (closing(open), inner.and_then(|_| closing(open + 1))) {
            (Some(outer), Some(inner)) => inner + 1 == outer,
            _ => false,
        }
    }

    /// True when the token at hand is this keyword, in any case.
    fn is_keyword(&self, word: &str) -> bool {
        self.peek() == TokenKind::Name && self.peek_text().eq_ignore_ascii_case(word)
    }

    /// The words that are not names in this kind of expression.
    fn is_any_keyword(&self) -> bool {
        let words: &[&str] = match self.kind {
            ExpressionKind::Projection => &[],
            ExpressionKind::Update => &["SET", "REMOVE", "ADD", "DELETE"],
            _ => &["AND", "OR", "NOT", "BETWEEN", "IN"],
        };
        words.iter().any(|word| self.is_keyword(word))
    }

    fn whole_projection(&mut self) -> Result<ProjectionTree, Fault> {
        let mut paths = vec![self.path()?];
        while self.peek() == TokenKind::Comma {
            self.advance();
            paths.push(self.path()?);
        }
        self.expect_end()?;
        Ok(ProjectionTree { paths })
    }

    fn path(&mut self) -> Result<PathTree, Fault> {
        let mut path = PathTree { elements: vec![self.name()?] };
        self.path_rest(&mut path)?;
        Ok(path)
    }

    /// A name or its placeholder.
    fn name(&mut self) -> Result<Element, Fault> {
        let text = self.peek_text();
        let element = match self.peek() {
            TokenKind::Name if !self.is_any_keyword() => {
                if is_reserved(text) {
                    self.noted.reserved.get_or_insert_with(|| Fault::ReservedWord(text.to_owned()));
                }
                Element::Name(Arc::from(text))
            }
            TokenKind::NamePlaceholder => Element::Placeholder(Arc::from(text)),
            _ => return self.syntax_error(),
        };
        self.advance();
        Ok(element)
    }

    /// The steps of a path after its first name.
    fn path_rest(&mut self, path: &mut PathTree) -> Result<(), Fault> {
        loop {
            match self.peek() {
                TokenKind::Dot => {
                    self.advance();
                    path.elements.push(self.name()?);
                }
                TokenKind::OpenBracket => {
                    self.advance();
                    path.elements.push(self.index()?);
                }
                _ => break,
            }
        }
        let levels = path.elements.len();
        if levels > PATH_ELEMENTS_MAX {
            self.noted.limit.get_or_insert(Fault::PathTooDeep(levels));
        }
        Ok(())
    }

    /// What stands between brackets, and the closing one.
    fn index(&mut self) -> Result<Element, Fault> {
        let text = self.peek_text();
        self.expect(TokenKind::Number)?;
        self.expect(TokenKind::CloseBracket)?;
        let index = text.parse().ok().filter(|index| *index <= INDEX_MAX);
        if index.is_none() {
            self.noted.limit.get_or_insert_with(|| Fault::IndexOutOfRange(text.to_owned()));
        }
        Ok(Element::Index(index.unwrap_or(0)))
    }

    /// A path, a value or a function, with or without parentheses.
    fn operand(&mut self) -> Result<OperandTree, Fault> {
        if self.peek() != TokenKind::Open {
            return self.plain_operand();
        }
        let redundant = self.open_group()?;
        let mut operand = self.operand()?;
        self.close_group(redundant)?;
        self.grouped_path_rest(&mut operand)?;
        Ok(operand)
    }

    /// A path in parentheses may go on behind them, though not in an update expression.
    fn grouped_path_rest(&mut self, operand: &mut OperandTree) -> Result<(), Fault> {
        match operand {
            OperandTree::Path(path) if self.kind != ExpressionKind::Update => self.path_rest(path),
            _ => Ok(()),
        }
    }

    fn plain_operand(&mut self) -> Result<OperandTree, Fault> {
        match self.peek() {
            TokenKind::ValuePlaceholder => {
                let name = Arc::from(self.peek_text());
                self.advance();
                Ok(OperandTree::Value(name))
            }
            TokenKind::Name if self.next_is_open() && !self.is_any_keyword() => {
                Ok(OperandTree::Call(self.call()?))
            }
            _ => Ok(OperandTree::Path(self.path()?)),
        }
    }

    fn next_is_open(&self) -> bool {
        self.tokens.get(self.position + 1).is_some_and(|token| token.kind == TokenKind::Open)
    }

    fn call(&mut self) -> Result<Call, Fault> {
        let function = self.function();
        self.advance();
        self.expect(TokenKind::Open)?;
        if self.depth >= DEPTH_MAX {
            return Err(self.too_many_calls(function));
        }
        self.depth += 1;
        let arguments = self.operands()?;
        self.depth -= 1;
        Ok(Call { function, arguments })
    }

    /// The function named by the token at hand. Where there is none that is noted, and the tree is of no use.
    fn function(&mut self) -> Function {
        let name = self.peek_text();
        let function = Function::from_name(name);
        let fault = match (function, self.kind) {
            (None, _) => Some(Fault::UnknownFunction(name.to_owned())),
            (Some(function), ExpressionKind::Update) if !function.is_for_updates() => {
                Some(Fault::NotInUpdates(function.name()))
            }
            (Some(function), kind) if function.is_for_updates() && kind != ExpressionKind::Update => {
                Some(Fault::NotInConditions(function.name()))
            }
            _ => None,
        };
        if self.noted.function.is_none() {
            self.noted.function = fault;
        }
        function.unwrap_or(Function::Size)
    }

    /// Functions nested this deep break a rule, though not one on their number: nothing takes the result of `size`,
    /// and no other function may stand in a function.
    fn too_many_calls(&mut self, function: Function) -> Fault {
        self.noted.function.take().unwrap_or(match function {
            Function::Size => {
                Fault::OperandType { operator: function.name(), operand: Some(dynamo::ValueType::N) }
            }
            other => Fault::Misused(other.name()),
        })
    }

    /// Operands separated by commas, and the closing parenthesis.
    fn operands(&mut self) -> Result<Vec<OperandTree>, Fault> {
        let mut operands = vec![self.nested_operand()?];
        while self.peek() == TokenKind::Comma {
            self.advance();
            operands.push(self.nested_operand()?);
        }
        self.expect(TokenKind::Close)?;
        Ok(operands)
    }

    /// An operand of a function or operator: of the functions only those that give a value may stand there.
    fn nested_operand(&mut self) -> Result<OperandTree, Fault> {
        let operand = self.operand()?;
        self.note_misuse(&operand);
        Ok(operand)
    }

    fn note_misuse(&mut self, operand: &OperandTree) {
        if let OperandTree::Call(call) = operand
            && !matches!(call.function, Function::Size | Function::IfNotExists)
        {
            self.noted.misuse.get_or_insert(Fault::Misused(call.function.name()));
        }
    }

    fn count_operator(&mut self) {
        self.noted.operators += 1;
    }
}

fn closing_parentheses(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closing = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (position, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => open.push(position),
            TokenKind::Close => {
                if let Some(place) = open.pop().and_then(|open: usize| closing.get_mut(open)) {
                    *place = Some(position);
                }
            }
            _ => {}
        }
    }
    closing
}

/// The clause that a keyword begins.
const CLAUSES: [(&str, Clause); 4] =
    [("SET", Clause::Set), ("REMOVE", Clause::Remove), ("ADD", Clause::Add), ("DELETE", Clause::Delete)];

/// What stands in parentheses may turn out to be a condition or a value.
enum Node {
    Condition(ConditionTree),
    Operand(OperandTree),
}

#[cfg(test)]
mod tests;
