//! Update expressions: each clause once, in any order.

use std::sync::Arc;

use super::{CLAUSES, Parser};
use crate::error::Fault;
use crate::token::TokenKind;
use crate::tree::{ActionTree, AssignedTree, Clause, Comparator, OperandTree, UpdateTree};

impl Parser<'_> {
    pub(super) fn whole_update(&mut self) -> Result<UpdateTree, Fault> {
        let mut actions: Vec<ActionTree> = Vec::new();
        while self.peek() != TokenKind::End || actions.is_empty() {
            let Some((_, clause)) = CLAUSES.into_iter().find(|(word, _)| self.is_keyword(word)) else {
                return self.syntax_error();
            };
            self.advance();
            if actions.iter().any(|action| action.clause() == clause) {
                self.noted.clause.get_or_insert(Fault::ClauseTwice(clause));
            }
            self.clause(clause, &mut actions)?;
        }
        Ok(UpdateTree { actions })
    }

    /// The actions of a clause, separated by commas.
    fn clause(&mut self, clause: Clause, actions: &mut Vec<ActionTree>) -> Result<(), Fault> {
        loop {
            let path = self.path()?;
            actions.push(match clause {
                Clause::Set => self.set(path)?,
                Clause::Remove => ActionTree::Remove(path),
                Clause::Add => ActionTree::Add(path, self.value()?),
                Clause::Delete => ActionTree::Delete(path, self.value()?),
            });
            if self.peek() != TokenKind::Comma {
                return Ok(());
            }
            self.advance();
        }
    }

    fn value(&mut self) -> Result<Arc<str>, Fault> {
        let name = Arc::from(self.peek_text());
        self.expect(TokenKind::ValuePlaceholder)?;
        Ok(name)
    }

    fn set(&mut self, path: crate::tree::PathTree) -> Result<ActionTree, Fault> {
        self.expect(TokenKind::Compare(Comparator::Eq))?;
        self.count_operator();
        Ok(ActionTree::Set(path, self.assigned()?))
    }

    /// An operand, or two of them added or subtracted; there is no third.
    fn assigned(&mut self) -> Result<AssignedTree, Fault> {
        let left =
            if self.peek() == TokenKind::Open { self.assigned_group()? } else { self.operand_of_set()? };
        let join = match self.peek() {
            TokenKind::Plus => AssignedTree::Plus,
            TokenKind::Minus => AssignedTree::Minus,
            _ => return Ok(left),
        };
        let AssignedTree::Operand(left) = left else { return self.syntax_error() };
        self.count_operator();
        self.advance();
        Ok(join(left, self.operand()?))
    }

    fn assigned_group(&mut self) -> Result<AssignedTree, Fault> {
        let redundant = self.open_group()?;
        let inner = self.assigned()?;
        self.close_group(redundant)?;
        Ok(inner)
    }

    fn operand_of_set(&mut self) -> Result<AssignedTree, Fault> {
        let operand: OperandTree = self.operand()?;
        Ok(AssignedTree::Operand(operand))
    }
}
