//! What can be done everywhere.

use crate::action::Action;
use crate::app::text::Text;
use crate::app::text::{Notice, Weight};
use crate::app::{App, Overlay};
use crate::effect::{Effect, Effects};
use crate::panels::menu::{Choice, Entry, Menu};
use crate::theme::{Role, Theme};

/// Does it, if it is one of these.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let effects = match action {
        Action::Palette => crate::panels::palette::open(app),
        Action::Goto => crate::panels::palette::number(app),
        Action::Print => super::copy::print(app),
        Action::Help => crate::panels::help::open(app),
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
        Action::Theme => {
            app.overlays.push(Overlay::Menu(themes(app)));
            vec![]
        }
        Action::Messages => {
            app.overlays.push(Overlay::Text(messages(app)));
            vec![]
        }
        _ => return None,
    };
    Some(effects)
}

/// Back to the recordings; there it quits.
fn back(app: &mut App) -> Effects {
    if app.session.is_some() {
        return super::session::close(app);
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

fn themes(app: &App) -> Menu {
    let entries = Theme::ALL.into_iter().map(|theme| Entry {
        letter: theme.as_str().chars().next().unwrap_or(' '),
        label: theme.as_str().to_owned(),
        choice: Choice::Theme(theme),
    });
    let mut themes = Theme::ALL.into_iter();
    let at = themes.position(|theme| theme == app.settings.look.theme);
    Menu {
        at: at.unwrap_or(0),
        ..Menu::new("colours", entries.collect())
    }
}

pub fn theme(app: &mut App, theme: Theme) -> Effects {
    app.settings.look.theme = theme;
    vec![Effect::Remember]
}

fn messages(app: &App) -> Text {
    let start = app.now.wall_ns.saturating_sub(app.now.ui_ns);
    let line = |notice: &Notice| {
        let role = match notice.weight {
            Weight::Success => Role::Text,
            Weight::Error => Role::Bad,
        };
        let since = mcpreel_wire::text::since(notice.at.wall_ns.saturating_sub(start));
        vec![
            (Role::Faint, format!("{since:>10}  ")),
            (role, notice.text.clone()),
        ]
    };
    let lines: Vec<_> = app.notices.all().map(line).collect();
    if lines.is_empty() {
        return Text::plain("messages", ["nothing was said yet".to_owned()]);
    }
    Text {
        top: 0,
        title: "messages, since the viewer started".to_owned(),
        lines,
    }
}
