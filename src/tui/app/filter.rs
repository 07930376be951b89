//! Which rows are shown.

use super::{App, Overlay, prompt::Purpose};

/// Which rows are shown.
#[derive(Debug, Default)]
pub struct Filter {}

/// Whether the filter is being typed.
#[must_use]
pub fn is_edited(app: &App) -> bool {
    matches!(app.overlays.last(), Some(Overlay::Prompt(prompt)) if prompt.purpose == Purpose::Filter)
}
