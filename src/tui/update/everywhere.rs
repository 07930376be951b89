//! What can be done everywhere.

use crate::tui::action::Action;
use crate::tui::app::{App, Overlay, palette::Palette};
use crate::tui::effect::{Effect, Effects};

/// Does it, if it is one of these.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let effects = match action {
        Action::Palette => {
            app.overlays.push(Overlay::Palette(Palette::default()));
            vec![]
        }
        Action::Cancel => cancel(app),
        Action::Quit => vec![Effect::Quit],
        Action::Back => back(app),
        Action::Close => {
            app.notices.dismiss(app.now);
            vec![]
        }
        Action::Suspend => vec![Effect::Suspend],
        Action::Repaint => vec![Effect::Repaint],
        Action::Mouse => {
            app.settings.mouse = !app.settings.mouse;
            let word = if app.settings.mouse {
                "on"
            } else {
                "off: the terminal selects text"
            };
            app.notices.success(format!("mouse {word}"), app.now);
            vec![Effect::Mouse(app.settings.mouse), Effect::Remember]
        }
        _ => return None,
    };
    Some(effects)
}

/// Back to the recordings; there it quits.
fn back(app: &mut App) -> Effects {
    if app.session.take().is_some() {
        return super::session::closed(app);
    }
    vec![Effect::Quit]
}

/// With nothing to stop, once more quits.
fn cancel(app: &mut App) -> Effects {
    if app.quit_armed {
        return vec![Effect::Quit];
    }
    app.quit_armed = true;
    app.notices.success("Ctrl-C again quits", app.now);
    vec![]
}
