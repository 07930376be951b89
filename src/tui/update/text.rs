//! A text that is read.

use super::motion::moved;
use crate::tui::action::Action;
use crate::tui::app::{App, Overlay};
use crate::tui::effect::Effects;
use crate::tui::view::overlay;

/// Scrolls.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let (columns, page) = overlay::text_room(app);
    let Some(Overlay::Text(text)) = app.overlays.last_mut() else {
        return None;
    };
    let tops = text.wrapped(columns).len().saturating_sub(page) + 1;
    text.top = moved(action, text.top, tops, page)?;
    Some(vec![])
}
