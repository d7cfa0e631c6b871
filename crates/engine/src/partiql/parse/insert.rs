//! INSERT: a table and an item.

use dynamo::Item;

use super::{Parser, simple_path};
use crate::partiql::error::{Malformed, StatementError};
use crate::partiql::keyword::is_keyword;
use crate::partiql::token::Kind;
use crate::partiql::tree::Insert;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Insert, StatementError> {
        self.expect_word("INTO")?;
        let into = self.from().map_err(simple_path)?;
        if into.index.is_some() {
            self.note(StatementError::QualifiedInsert(into.place));
        }
        let item = self.inserted()?;
        if self.is_word("RETURNING") {
            self.returning()?;
            self.note(StatementError::InsertReturning);
        }
        Ok(Insert { into, item })
    }

    fn inserted(&mut self) -> Result<Item, StatementError> {
        if matches!(self.peek(), Some(Kind::Sign("{" | "<<" | "["))) {
            self.value()?;
            self.note(StatementError::Operation("InsertOp"));
            return Ok(Item::new());
        }
        if !self.eat_word("VALUE") {
            return Err(match self.peek() {
                Some(Kind::Word(word)) if is_keyword(word) => self.unexpected(),
                Some(Kind::Word(_) | Kind::Quoted(_)) => Malformed::Trailing.into(),
                _ => self.unexpected(),
            });
        }
        if self.is_sign("{") {
            return self.map(false);
        }
        let place = self.place();
        self.value()?;
        self.note(StatementError::ItemFormat(place));
        Ok(Item::new())
    }
}
