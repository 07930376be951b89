//! One recording as a whole: opened, followed, closed; which view and pane.

use crate::action::Action;
use crate::app::session::Opening;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::panels::list;
use crate::worker::{Answer, Ask, Slot, open};
use mcpreel_store::library::Standing;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;
use std::path::{Path, PathBuf};

/// How far a key moves the divider, percent.
const STEP: u16 = 5;

/// Opens the recording `path`, with the cursor on the frame `seq`.
pub fn open(app: &mut App, path: &Path, seq: Option<Seq>) -> Effects {
    let mut session = Session::new(path);
    session.arrange(app.settings.arrangement);
    if seq.is_some() {
        // A frame was asked for, and it is a row of the list.
        session.view = View::Exchanges;
    }
    session.list.go_to = seq;
    app.session = Some(Box::new(session));
    let mut effects = vec![ask(app, Some(path.to_owned()))];
    effects.extend(list::begin(app));
    effects
}

/// Has something else read. What the reader says until it has begun that is about what was read
/// before.
fn ask(app: &mut App, path: Option<PathBuf>) -> Effect {
    let generation = app.next_generation();
    app.questions.forget();
    if let Some(session) = app.session.as_deref_mut() {
        session.awaits = Some(generation);
    }
    Ask::Open(open::Ask { generation, path }).into()
}

/// The reader reads something else from here on: is it what is waited for?
pub fn begun(app: &mut App, answer: &Answer) {
    if let Some(session) = app.session.as_deref_mut()
        && let Answer::Open(open::Answer::Begun(generation)) = answer
    {
        session.awaits = session.awaits.filter(|awaited| awaited != generation);
    }
}

/// Whether an answer is about what was read before: it has been on its way for longer than the
/// recording is on the screen.
pub fn is_stale(app: &App, answer: &Answer) -> bool {
    let session = app.session.as_deref();
    session.is_some_and(|session| session.awaits.is_some())
        && !matches!(
            answer,
            Answer::Library(_)
                | Answer::Beside(_)
                | Answer::Replay(_)
                | Answer::Export(_)
                | Answer::Note(_)
                | Answer::Failed(Slot::Open, _)
        )
}

pub fn close(app: &mut App) -> Effects {
    app.session = None;
    vec![ask(app, None)]
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
            let mut effects = list::begin(app);
            effects.extend(remember(app));
            return Some(effects);
        }
        Action::ListSmaller => return Some(divide(app, false)),
        Action::ListLarger => return Some(divide(app, true)),
        Action::Follow => list::follow(app),
        Action::Unselect => session.list.chosen.clear(),
        Action::Close if session.focus == Focus::Detail => session.focus = Focus::Main,
        Action::Close if session.view != View::Exchanges => show(session, View::Exchanges),
        _ => return None,
    }
    Some(remember(app))
}

/// Keeps how the recording stands on the screen, if that was chosen anew.
pub fn remember(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let arrangement = session.arrangement();
    if app.settings.arrangement == arrangement {
        return vec![];
    }
    app.settings.arrangement = arrangement;
    vec![Effect::Remember]
}

/// Moves the divider between list and detail a step.
fn divide(app: &mut App, larger: bool) -> Effects {
    let both = |session: &Session| layout::shows_both(app.size, session);
    if !app.session.as_deref().is_some_and(both) {
        let text = "list and detail are not on the screen together";
        app.notices.error(text, app.now);
        return vec![];
    }
    let at = app.settings.divider;
    let to = if larger { at + STEP } else { at - STEP };
    app.settings.divider = to.clamp(20, 80);
    vec![Effect::Remember]
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
        open::Answer::Begun(_) => return vec![],
        open::Answer::Draining(done, of) => Opening::Draining(done, of),
        open::Answer::Deriving => Opening::Deriving,
        open::Answer::Waiting => Opening::Waiting,
        open::Answer::Unreadable(message) => Opening::Unreadable(message),
        open::Answer::Vitals(vitals) => {
            let was_live = session.is_live();
            let is_anew = vitals.is_anew;
            session.vitals = Some(vitals);
            session.opening = Opening::Open;
            if was_live && !session.is_live() {
                told_end(app);
            }
            // Rows that were not there when their frames were looked at are nowhere else found.
            return if is_anew { list::begin(app) } else { vec![] };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Settings;
    use crate::effect::Now;
    use mcpreel_store::library::Library;

    #[test]
    fn the_next_recording_stands_as_the_last_one_and_a_frame_shows_in_the_list() {
        let folder = Library::new("/nonexistent");
        let mut app = App::new(&folder, Settings::default(), (100, 30), Now::default());
        let path = Path::new("/nonexistent/x.reel");
        open(&mut app, path, None);
        for action in [
            Action::Wire,
            Action::Zoom,
            Action::TimeColumn,
            Action::Stats,
        ] {
            let effects = super::super::perform(&mut app, action);
            let kept = effects
                .iter()
                .any(|effect| matches!(effect, Effect::Remember));
            assert!(kept, "{action:?}");
        }
        let chosen = app.session.as_deref().map(Session::arrangement);
        open(&mut app, path, None);
        assert_eq!(app.session.as_deref().map(Session::arrangement), chosen);
        assert_eq!(Some(app.settings.remember().arrangement), chosen);
        open(&mut app, path, Some(Seq(7)));
        let view = app.session.as_deref().map(|session| session.view);
        assert_eq!(view, Some(View::Exchanges));
    }
}
