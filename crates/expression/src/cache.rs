//! Trees by kind and text: an application sends the same few expressions a million times.
//!
//! Only what could be parsed is kept. The cache is bounded, so texts that come once do not fill the memory.

use std::sync::{Arc, LazyLock};

use quick_cache::sync::Cache;

use crate::error::{ExpressionError, ExpressionKind};
use crate::parse::{parse_condition, parse_projection, parse_update};
use crate::tree::{ConditionTree, ProjectionTree, UpdateTree};

/// How many trees of each sort are kept.
const TREES_MAX: usize = 4096;

type Trees<T> = LazyLock<Cache<(ExpressionKind, Arc<str>), Arc<T>>>;

static CONDITIONS: Trees<ConditionTree> = LazyLock::new(|| Cache::new(TREES_MAX));
static UPDATES: Trees<UpdateTree> = LazyLock::new(|| Cache::new(TREES_MAX));
static PROJECTIONS: Trees<ProjectionTree> = LazyLock::new(|| Cache::new(TREES_MAX));

/// The tree of a ConditionExpression, FilterExpression or KeyConditionExpression.
pub fn cached_condition(kind: ExpressionKind, text: &str) -> Result<Arc<ConditionTree>, ExpressionError> {
    cached(&CONDITIONS, kind, text, || parse_condition(kind, text))
}

/// The tree of an UpdateExpression.
pub fn cached_update(text: &str) -> Result<Arc<UpdateTree>, ExpressionError> {
    cached(&UPDATES, ExpressionKind::Update, text, || parse_update(text))
}

/// The tree of a ProjectionExpression.
pub fn cached_projection(text: &str) -> Result<Arc<ProjectionTree>, ExpressionError> {
    cached(&PROJECTIONS, ExpressionKind::Projection, text, || parse_projection(text))
}

fn cached<T>(
    trees: &Trees<T>,
    kind: ExpressionKind,
    text: &str,
    parse: impl FnOnce() -> Result<T, ExpressionError>,
) -> Result<Arc<T>, ExpressionError> {
    if let Some(tree) = trees.get(&Key(kind, text)) {
        return Ok(tree);
    }
    let tree = Arc::new(parse()?);
    trees.insert((kind, Arc::from(text)), tree.clone());
    Ok(tree)
}

/// A key that borrows its text, to look up without copying.
#[derive(Hash)]
struct Key<'a>(ExpressionKind, &'a str);

impl quick_cache::Equivalent<(ExpressionKind, Arc<str>)> for Key<'_> {
    fn equivalent(&self, key: &(ExpressionKind, Arc<str>)) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}
