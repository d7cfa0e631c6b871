//! Conditions: `OR` of `AND` of `NOT` of comparisons.

use super::{Node, Parser};
use crate::error::Fault;
use crate::token::TokenKind;
use crate::tree::{ConditionTree, Function, OperandTree};

/// The most values that IN may list.
const IN_OPERANDS_MAX: usize = 100;

impl Parser<'_> {
    pub(super) fn whole_condition(&mut self) -> Result<ConditionTree, Fault> {
        let node = self.node()?;
        let condition = self.condition(node)?;
        self.expect_end()?;
        Ok(condition)
    }

    /// Conditions joined with AND and OR, or a lone operand.
    fn node(&mut self) -> Result<Node, Fault> {
        let mut any = Vec::new();
        let mut all = Vec::new();
        loop {
            let node = self.negated()?;
            let (and, or) = (self.is_keyword("AND"), self.is_keyword("OR"));
            if !and && !or && any.is_empty() && all.is_empty() {
                return Ok(node);
            }
            all.push(self.condition(node)?);
            if !and {
                any.push(joined(std::mem::take(&mut all), ConditionTree::All));
            }
            if !and && !or {
                return Ok(Node::Condition(joined(any, ConditionTree::Any)));
            }
            self.count_operator();
            self.advance();
        }
    }

    fn negated(&mut self) -> Result<Node, Fault> {
        let mut negations = 0;
        while self.is_keyword("NOT") {
            negations += 1;
            self.count_operator();
            self.advance();
        }
        let mut node = self.comparison()?;
        for _ in 0..negations {
            node = Node::Condition(ConditionTree::Not(Box::new(self.condition(node)?)));
        }
        Ok(node)
    }

    fn comparison(&mut self) -> Result<Node, Fault> {
        let left = match self.group_or_operand()? {
            Node::Operand(operand) => operand,
            condition @ Node::Condition(_) => return Ok(condition),
        };
        let condition = match self.peek() {
            TokenKind::Compare(comparator) => {
                self.operator(&left);
                ConditionTree::Compare(comparator, left, self.nested_operand()?)
            }
            _ if self.is_keyword("BETWEEN") => self.between(left)?,
            _ if self.is_keyword("IN") => self.is_in(left)?,
            _ => return Ok(Node::Operand(left)),
        };
        Ok(Node::Condition(condition))
    }

    /// Steps over the operator after its first operand.
    fn operator(&mut self, left: &OperandTree) {
        self.note_misuse(left);
        self.count_operator();
        self.advance();
    }

    fn between(&mut self, value: OperandTree) -> Result<ConditionTree, Fault> {
        self.operator(&value);
        let low = self.nested_operand()?;
        if !self.is_keyword("AND") {
            return self.syntax_error();
        }
        self.advance();
        Ok(ConditionTree::Between(value, low, self.nested_operand()?))
    }

    fn is_in(&mut self, value: OperandTree) -> Result<ConditionTree, Fault> {
        self.operator(&value);
        self.expect(TokenKind::Open)?;
        let list = self.operands()?;
        if list.len() > IN_OPERANDS_MAX {
            self.noted.limit.get_or_insert(Fault::TooManyOperands(list.len()));
        }
        Ok(ConditionTree::In(value, list))
    }

    fn group_or_operand(&mut self) -> Result<Node, Fault> {
        if self.peek() != TokenKind::Open {
            return Ok(Node::Operand(self.plain_operand()?));
        }
        let redundant = self.open_group()?;
        let mut node = self.node()?;
        self.close_group(redundant)?;
        if let Node::Operand(operand) = &mut node {
            self.grouped_path_rest(operand)?;
        }
        Ok(node)
    }

    /// The node as a condition. A path or value is none: the token behind it should have been an operator.
    fn condition(&mut self, node: Node) -> Result<ConditionTree, Fault> {
        match node {
            Node::Condition(condition) => Ok(condition),
            Node::Operand(OperandTree::Call(call)) => {
                if call.function == Function::Size {
                    self.noted.misuse.get_or_insert(Fault::Misused(call.function.name()));
                }
                Ok(ConditionTree::Call(call))
            }
            Node::Operand(_) => self.syntax_error(),
        }
    }
}

/// One condition as it is, more than one joined.
fn joined(mut parts: Vec<ConditionTree>, join: fn(Vec<ConditionTree>) -> ConditionTree) -> ConditionTree {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            join(parts)
        }
        None => join(parts),
    }
}
