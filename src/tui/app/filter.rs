//! Which rows are shown.

use super::{App, Overlay, prompt::Purpose};
use crate::query::Query;

/// Which rows are shown.
#[derive(Debug, Default)]
pub struct Filter {
    /// The last good filter.
    pub query: Query,
}

impl Filter {
    /// The filter that the rows are asked with.
    #[must_use]
    pub fn in_force(&self) -> &Query {
        &self.query
    }
}

/// Whether the filter is being typed.
#[must_use]
pub fn is_edited(app: &App) -> bool {
    matches!(app.overlays.last(), Some(Overlay::Prompt(prompt)) if prompt.purpose == Purpose::Filter)
}
