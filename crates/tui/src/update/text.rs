//! A text that is read.

use super::motion::moved;
use crate::action::Action;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::view::overlay;
use crate::widget::scroll;

pub fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    if !overlay::is_on_text(app, cell) {
        app.overlays.pop();
    }
    vec![]
}

/// The wheel was turned by so many rows.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let (columns, page) = overlay::text_room(app);
    if let Some(Overlay::Text(text)) = app.overlays.last_mut() {
        let rows = text.wrapped(columns).len();
        text.top = scroll::turned(text.top, by, rows, page);
    }
    vec![]
}

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let (columns, page) = overlay::text_room(app);
    let Some(Overlay::Text(text)) = app.overlays.last_mut() else {
        return None;
    };
    let tops = text.wrapped(columns).len().saturating_sub(page) + 1;
    text.top = moved(action, text.top, tops, page)?;
    Some(vec![])
}
