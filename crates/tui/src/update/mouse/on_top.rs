//! The mouse on what lies on top: a click on an entry takes it, one beside it closes it, the wheel
//! scrolls it. A line that is being typed is not given up by a click.

use super::is_double;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::panels::compare;
use crate::panels::filter::is_edited;
use crate::update::{menu, palette, text};
use ratatui::layout::Position;

pub(super) fn click(app: &mut App, at: Position) -> Effects {
    let cell = (at.x, at.y);
    match app.overlays.last() {
        Some(Overlay::Menu(_)) => menu::click(app, cell),
        Some(Overlay::Palette(_)) => palette::click(app, cell),
        Some(Overlay::Text(_)) => text::click(app, cell),
        Some(Overlay::Comparison(_)) => {
            let double = is_double(app, at);
            compare::click(app, cell, double)
        }
        Some(Overlay::Prompt(_)) if is_edited(app) => crate::panels::filter::click(app, cell),
        Some(Overlay::Prompt(_) | Overlay::Edit(_)) | None => vec![],
    }
}

/// The wheel was turned by so many rows, down if that is positive.
pub(super) fn wheel(app: &mut App, by: isize) -> Effects {
    match app.overlays.last() {
        Some(Overlay::Menu(_)) => menu::wheel(app, by),
        Some(Overlay::Palette(_)) => palette::wheel(app, by),
        Some(Overlay::Text(_)) => text::wheel(app, by),
        Some(Overlay::Comparison(_)) => compare::wheel(app, by),
        Some(Overlay::Prompt(_)) if is_edited(app) => crate::panels::filter::wheel(app, by),
        Some(Overlay::Prompt(_) | Overlay::Edit(_)) | None => vec![],
    }
}
