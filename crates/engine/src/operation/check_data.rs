//! CheckData: Monotable's own.

use dynamo::ApiError;
use dynamo::operation::{CheckData, CheckDataReply};

use crate::engine::Engine;
use crate::fault::Fault;

impl Engine {
    /// Tells how a check of everything that is stored is going; with `Start`, begins one unless one runs. Reads and writes go on.
    pub fn check_data(&self, request: &CheckData) -> Result<CheckDataReply, ApiError> {
        request.check_fields()?;
        let checker = &self.inner.checker;
        if request.start.unwrap_or_default() {
            checker.start(self.view(), self.inner.committer.store()).map_err(Fault::Store)?;
        }
        Ok(checker.describe())
    }
}
