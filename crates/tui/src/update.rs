//! What a message changes.
//!
//! A key is looked up in the [keymap](crate::keymap) and becomes an [`Action`]; an action is
//! offered to whatever has the keys, from the inside out, until somebody takes it: what lies on
//! top, the pane, the recording, the viewer as a whole. Each of them is a file here with
//! `perform(&mut App, Action) -> Option<Effects>`: `None` says that it is somebody else's.

use super::action::Action;
use super::app::{App, Focus, Overlay, View};
use super::effect::{Effects, Msg};
use super::keymap::Key;
use super::panels::library::Listing;
use super::panels::session::Opening;
use super::panels::{
    self, compare, export, findings, library, menu, notes, palette, replay, state, stats, story,
    timeline,
};
use super::worker::Answer;
use std::time::Duration;

/// Changes the state by what happened, and says what is to be done.
pub fn update(app: &mut App, msg: Msg) -> Effects {
    let mut effects = match msg {
        Msg::Key(key) => press(app, key),
        Msg::Mouse(event) => panels::mouse::update(app, event),
        Msg::Paste(text) => panels::prompt::paste(app, &text),
        Msg::Resize(columns, rows) => {
            app.size = (columns, rows);
            Effects::new()
        }
        Msg::Tick(now) => {
            app.now = now;
            tick(app)
        }
        Msg::Leave(_) => vec![super::effect::Effect::Quit],
        Msg::Answer(answer) => take(app, *answer),
    };
    // What the screen shows may have moved: rows that it lacks are asked for.
    effects.extend(panels::list::wanted(app));
    effects.extend(panels::detail::wanted(app));
    effects.extend(timeline::wanted(app));
    effects.extend(stats::wanted(app));
    effects.extend(findings::wanted(app));
    effects.extend(panels::search::wanted(app));
    effects
}

/// Does what an action says, where the keys are now.
pub fn perform(app: &mut App, action: Action) -> Effects {
    offered(app, action).unwrap_or_default()
}

/// Does what an action says, where the keys are now; `None` if nobody there takes it.
pub fn offered(app: &mut App, action: Action) -> Option<Effects> {
    let mut chain = chain(app).into_iter();
    chain.find_map(|who| who(app, action))
}

type Perform = fn(&mut App, Action) -> Option<Effects>;

/// Who is offered an action where the recordings are listed.
const IN_LIBRARY: [Perform; 4] = [
    library::perform,
    compare::perform_in_library,
    replay::perform_in_library,
    export::perform_in_library,
];

/// Who is offered what the pane of a recording does not take.
const IN_SESSION: [Perform; 10] = [
    panels::filter::perform,
    panels::copy::perform,
    panels::search::perform,
    notes::perform,
    panels::failures::perform,
    story::perform,
    compare::perform_in_session,
    replay::perform_in_session,
    export::perform_in_session,
    panels::session::perform,
];

/// Who is offered what nobody else takes.
const EVERYWHERE: [Perform; 4] = [
    replay::perform,
    export::perform,
    close_overlay,
    panels::session::perform_everywhere,
];

/// Who is offered an action, the innermost first.
fn chain(app: &App) -> Vec<Perform> {
    let mut chain: Vec<Perform> = Vec::new();
    match (app.overlays.last(), app.session.as_deref()) {
        (Some(Overlay::Text(_)), _) => chain.push(super::panels::text::perform),
        (Some(Overlay::Menu(_)), _) => chain.push(menu::perform),
        (Some(Overlay::Comparison(_)), _) => chain.push(compare::perform),
        (Some(Overlay::Prompt(_) | Overlay::Palette(_) | Overlay::Edit(_)), _) => {}
        (None, None) => chain.extend(IN_LIBRARY),
        (None, Some(session)) => {
            chain.push(state::perform);
            chain.push(match (session.focus, session.view) {
                (Focus::Detail, _) => panels::detail::perform,
                (Focus::Main, View::Exchanges) => panels::list::perform,
                (Focus::Main, View::Timeline) => timeline::perform,
                (Focus::Main, View::Stats) => stats::perform,
                (Focus::Main, View::Findings) => findings::perform,
            });
            chain.extend(IN_SESSION);
        }
    }
    chain.extend(EVERYWHERE);
    chain
}

/// Closes what lies on top.
fn close_overlay(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Close | Action::Back if !app.overlays.is_empty() => {
            app.overlays.pop();
            Some(vec![])
        }
        _ => None,
    }
}

fn press(app: &mut App, key: Key) -> Effects {
    let action = app.settings.keymap.action(&app.contexts(), key);
    if action != Some(Action::Cancel) {
        app.quit_armed = false;
    }
    match (app.overlays.last(), action) {
        (Some(Overlay::Prompt(_)), _) => panels::prompt::press(app, key),
        (Some(Overlay::Palette(_)), _) => palette::press(app, key),
        (Some(Overlay::Edit(_)), _) => replay::press(app, key),
        (Some(Overlay::Menu(_)), None) => menu::press(app, key),
        (_, Some(action)) => perform(app, action),
        (_, None) => Effects::new(),
    }
}

fn tick(app: &mut App) -> Effects {
    let mut effects = library::tick(app);
    effects.extend(state::tick(app));
    effects
}

/// How often what counts up is drawn anew.
const TICK: Duration = Duration::from_millis(250);

/// Without motion, what counts up is drawn anew with whatever else changes, and this often: times
/// on the screen are never older.
const STILL: Duration = Duration::from_secs(5);

/// How long the screen may stay as it is while nothing happens; `None` where nothing on it changes
/// by itself: counts up or fades.
pub fn patience(app: &App) -> Option<Duration> {
    let session = app.session.as_deref();
    let is_live = session.is_none_or(super::app::Session::is_live);
    let counting = if app.settings.motion { TICK } else { STILL };
    (is_live || app.notices.fades(app.now)).then_some(counting)
}

/// Whether there is nothing yet that a key could mean: what the screen is for was asked for, and
/// no row has come.
pub fn is_early(app: &App) -> bool {
    if !app.overlays.is_empty() {
        return false;
    }
    let Some(session) = app.session.as_deref() else {
        return app.library.listing == Listing::Asked;
    };
    let scan = &session.list.scan;
    match session.opening {
        Opening::Asked => true,
        Opening::Open => scan.from.is_none() && scan.is_running(),
        _ => false,
    }
}

/// Gives an answer to whom it is for.
fn take(app: &mut App, answer: Answer) -> Effects {
    match answer {
        Answer::Apply(apply) => apply(app),
        Answer::Found(found) if app.questions.is_latest(found.slot, found.number) => {
            (found.apply)(app)
        }
        Answer::Found(_) => Effects::new(),
        Answer::Library(answer) => library::answer(app, answer),
        Answer::Note(answer) => notes::noted(app, answer),
        Answer::Beside(answer) => compare::answer(app, answer),
        Answer::Replay(answer) => replay::answer(app, answer),
        Answer::Export(answer) => export::answer(app, answer),
        Answer::Failed(message) => {
            app.notices.error(message, app.now);
            Effects::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Session, Settings};
    use crate::effect::Now;
    use mcpreel_store::library::Library;
    use std::path::Path;

    fn app(motion: bool) -> App {
        let settings = Settings {
            motion,
            ..Settings::default()
        };
        let folder = Library::new(Path::new("/nowhere").to_owned());
        App::new(&folder, settings, (100, 30), Now::default())
    }

    fn finished(motion: bool) -> App {
        let mut app = app(motion);
        app.session = Some(Box::new(Session::new(Path::new("/nowhere/a"))));
        app
    }

    #[test]
    fn without_motion_times_stand_for_seconds() {
        assert!(patience(&app(true)).is_some_and(|wait| wait < Duration::from_secs(1)));
        assert!(patience(&app(false)).is_some_and(|wait| wait >= Duration::from_secs(5)));
    }

    #[test]
    fn a_finished_recording_is_drawn_anew_only_while_a_message_fades() {
        for motion in [true, false] {
            let mut app = finished(motion);
            assert_eq!(patience(&app), None);
            app.notices.success("done", app.now);
            assert!(patience(&app).is_some());
        }
    }
}
