//! What lies on top, whatever it is.

use crate::action::Action;
use crate::app::App;
use crate::effect::Effects;

/// Closes it, if something lies on top.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Close | Action::Back if !app.overlays.is_empty() => {
            app.overlays.pop();
            Some(vec![])
        }
        _ => None,
    }
}
