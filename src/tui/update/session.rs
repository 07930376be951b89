//! One recording as a whole: opened, followed, closed; which view and pane.

use crate::store::library::Standing;
use crate::trace::frame::Seq;
use crate::trace::item::Lens;
use crate::tui::action::Action;
use crate::tui::app::session::Opening;
use crate::tui::app::{App, Focus, Session, View};
use crate::tui::effect::{Effect, Effects};
use crate::tui::worker::{Ask, open};
use std::path::Path;

/// Opens the recording `path`, with the cursor on the frame `seq`.
pub fn open(app: &mut App, path: &Path, seq: Option<Seq>) -> Effects {
    let mut session = Session::new(path);
    session.list.go_to = seq;
    app.session = Some(Box::new(session));
    let path = Some(path.to_owned());
    let mut effects: Effects = vec![Ask::Open(open::Ask { path }).into()];
    effects.extend(super::list::begin(app));
    effects
}

/// The recording was closed.
#[must_use]
pub fn closed() -> Effects {
    vec![Effect::from(Ask::Open(open::Ask { path: None }))]
}

/// Does it, if it is about the recording as a whole.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let session = app.session.as_deref_mut()?;
    match action {
        Action::Exchanges => show(session, View::Exchanges),
        Action::Timeline => show(session, View::Timeline),
        Action::Stats => show(session, View::Stats),
        Action::Findings => show(session, View::Findings),
        Action::NextPane | Action::PreviousPane => {
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
            return Some(super::list::begin(app));
        }
        Action::Close if session.focus == Focus::Detail => session.focus = Focus::Main,
        _ => return None,
    }
    Some(vec![])
}

fn show(session: &mut Session, view: View) {
    session.view = view;
    session.focus = Focus::Main;
}

/// What is known about the recording has changed.
pub fn answer(app: &mut App, answer: open::Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.opening = match answer {
        open::Answer::Draining(done, of) => Opening::Draining(done, of),
        open::Answer::Deriving => Opening::Deriving,
        open::Answer::Waiting => Opening::Waiting,
        open::Answer::Unreadable(message) => Opening::Unreadable(message),
        open::Answer::Vitals(vitals) => {
            let was_live = session.is_live();
            session.vitals = Some(vitals);
            if was_live && !session.is_live() {
                told_end(app);
            }
            if let Some(session) = app.session.as_deref_mut() {
                session.opening = Opening::Open;
            }
            return vec![];
        }
    };
    vec![]
}

fn told_end(app: &mut App) {
    let vitals = app
        .session
        .as_deref()
        .and_then(|session| session.vitals.as_deref());
    let killed = vitals.is_some_and(|vitals| vitals.standing != Standing::Finished);
    let text = if killed {
        "the recorder has gone"
    } else {
        "the session has ended"
    };
    app.notices.success(text, app.now);
}
