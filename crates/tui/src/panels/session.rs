//! The open recording: opened, followed, closed; its view and its pane.

use super::menu::{Entry, Menu};
use super::{filter, list, search, selection};
use crate::action::Action;
use crate::app::{App, Focus, Session, View, Viewer};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::notice::{Notice, Weight};
use crate::theme::{Role, Theme};
use crate::widget::pager::Text;
use crate::worker::{Opening, Vitals};
use mcpreel_lint::cause::Cause;
use mcpreel_store::library::Standing;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use std::path::Path;

// What can be done everywhere.

/// Does what is possible wherever the keys are.
pub fn perform_everywhere(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    let effects = match action {
        Action::Palette => super::palette::open(viewer),
        Action::Print => super::copy::print(app, viewer.session.as_deref()),
        Action::Help => super::help::open(viewer),
        Action::Cancel => cancel(app),
        Action::Back if viewer.session.take().is_some() => vec![app.questions.open(None)],
        Action::Back | Action::Quit => vec![Effect::Quit],
        Action::Close => {
            app.notices.dismiss();
            vec![]
        }
        Action::Suspend => vec![Effect::Suspend],
        Action::Repaint => vec![Effect::Repaint],
        Action::Mouse => {
            app.settings.mouse = !app.settings.mouse;
            app.say(if app.settings.mouse {
                "mouse on"
            } else {
                "mouse off: the terminal selects text"
            });
            vec![Effect::Mouse(app.settings.mouse), Effect::Remember]
        }
        Action::Theme => app.push(themes(app)),
        Action::Messages => app.push(messages(app)),
        _ => return None,
    };
    Some(effects)
}

/// With nothing to stop, once more quits.
fn cancel(app: &mut App) -> Effects {
    if app.quit_armed {
        return vec![Effect::Quit];
    }
    app.quit_armed = true;
    app.say("Ctrl-C again quits")
}

fn themes(app: &App) -> Menu {
    let entries = Theme::ALL.into_iter().map(|theme| {
        let letter = theme.as_str().chars().next().unwrap_or(' ');
        Entry::new(letter, theme.as_str(), move |viewer| {
            let settings = &mut viewer.app.settings;
            settings.look.theme = theme;
            settings.chosen_theme = Some(theme);
            vec![Effect::Remember]
        })
    });
    let mut themes = Theme::ALL.into_iter();
    let at = themes.position(|theme| theme == app.settings.look.theme);
    Menu {
        at: at.unwrap_or(0),
        ..Menu::new("colours", entries.collect())
    }
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
    let lines = app.notices.all.iter().map(line).collect();
    Text::new("messages, since the viewer started", lines)
}

// One recording as a whole: opened, followed, closed; which view and pane.

/// The step of the divider, percent.
const STEP: u16 = 5;

/// Opens the recording `path`, with the cursor on the frame `seq`.
pub fn open(viewer: &mut Viewer, path: &Path, seq: Option<Seq>) -> Effects {
    let app = &mut viewer.app;
    let mut session = Session::new(path);
    session.list.go_to = seq;
    let session = viewer.session.insert(Box::new(session));
    let mut effects = vec![app.questions.open(Some(path.to_owned()))];
    effects.extend(list::begin(app, session));
    effects
}

/// Changes the view, the pane or the lens.
pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Exchanges if session.lens == Lens::Wire => {
            show(session, View::Exchanges);
            return perform(app, session, Action::Wire);
        }
        Action::Exchanges => show(session, View::Exchanges),
        Action::Timeline => show(session, View::Timeline),
        Action::Stats => show(session, View::Stats),
        Action::Findings => show(session, View::Findings),
        Action::Server => show(session, View::Server),
        Action::NextPane | Action::PreviousPane => {
            // A key may come before the first rows do.
            let is_coming = session.view == View::Exchanges && session.list.scan.is_running();
            let is_empty = !is_coming && selection::selected(session).is_none();
            if is_empty && session.focus == Focus::Main && session.playback.pane.is_none() {
                return Some(app.refuse("there is no other pane here"));
            }
            session.focus = match session.focus {
                Focus::Main => Focus::Detail,
                Focus::Detail => Focus::Main,
            };
        }
        Action::Zoom => session.zoom = !session.zoom,
        Action::Wire => {
            session.lens = match session.lens {
                Lens::Exchanges => Lens::Wire,
                Lens::Wire => Lens::Exchanges,
            };
            session.view = View::Exchanges;
            return Some(list::begin(app, session));
        }
        Action::ListSmaller => return Some(divide(app, session, false)),
        Action::ListLarger => return Some(divide(app, session, true)),
        Action::Unselect => session.list.to_compare.clear(),
        Action::Close if session.back.is_some() => {
            let (view, before, row) = session.back.take()?;
            show(session, view);
            let mut effects = filter::restore(app, session, &before);
            if let Some((lens, key)) = row {
                session.focus = Focus::Detail;
                effects.extend(list::go_through(app, session, lens, key));
            }
            return Some(effects);
        }
        Action::Close if session.focus == Focus::Detail => session.focus = Focus::Main,
        Action::Close if session.view != View::Exchanges => show(session, View::Exchanges),
        _ => return None,
    }
    Some(vec![])
}

/// Moves the divider between list and detail a step.
fn divide(app: &mut App, session: &mut Session, larger: bool) -> Effects {
    if !layout::shows_both(app.size, session) {
        return app.refuse("list and detail do not share the screen here");
    }
    let at = app.settings.divider;
    let to = if larger { at + STEP } else { at - STEP };
    app.settings.divider = to.clamp(20, 80);
    vec![Effect::Remember]
}

fn show(session: &mut Session, view: View) {
    session.view = view;
    session.back = None;
    session.focus = Focus::Main;
}

/// The recording is open, has grown, or has ended.
pub fn grown(app: &mut App, session: &mut Session, vitals: Box<Vitals>) -> Effects {
    let (was_live, is_first) = (session.is_live(), session.vitals.is_none());
    let (is_anew, standing) = (vitals.is_anew, vitals.standing);
    session.has_past = !super::why::past(&vitals).is_empty();
    session.vitals = Some(vitals);
    session.opening = Opening::Open;
    let has_ended = was_live && !session.is_live();
    if has_ended {
        app.say(match (standing, trouble(session)) {
            (Standing::Finished, Some(_)) => "the session has ended; W says what went wrong",
            (Standing::Finished, None) => "the session has ended",
            _ => "the recorder is gone",
        });
    }
    // Rows that were not there when their frames were looked at are nowhere else found.
    let mut effects = Effects::new();
    if is_anew {
        effects.extend(list::begin(app, session));
    }
    let list = &session.list;
    let is_untouched = list.go_to.is_none() && !list.is_moved;
    let opens_ended = is_first && !session.is_live() && is_untouched;
    let ends_badly = has_ended && session.list.follows() && trouble(session).is_some();
    if opens_ended || ends_badly {
        effects.extend(start(app, session));
    }
    effects
}

/// What went wrong, if anything did.
fn trouble(session: &Session) -> Option<&Cause> {
    let cause = session.vitals.as_ref()?.causes.first()?;
    cause.is_trouble().then_some(cause)
}

/// Goes to what the first cause of a recording that is over is about; without one to the first
/// call.
fn start(app: &mut App, session: &mut Session) -> Effects {
    let evidence = trouble(session).map(|cause| cause.evidence.iter());
    let view = session.view;
    let effects = match evidence.and_then(|mut all| all.find_map(|one| one.place.frame())) {
        Some(seq) => list::goto(session, seq),
        None => search::first_call(app, session),
    };
    // The user may have chosen another view meanwhile.
    session.view = view;
    effects
}
