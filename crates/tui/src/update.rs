//! The update: a message changes the state.
//!
//! A key is looked up in the [keymap](crate::keymap) and becomes an [`Action`]; an action is
//! offered to whatever has the keys, from the inside out, until somebody takes it: what lies on
//! top, the pane, the recording, the viewer as a whole. Each of them has a
//! `perform(…, Action) -> Option<Effects>`: `None` says that it is somebody else's.

use super::action::Action;
use super::app::{App, Focus, Session, View, Viewer};
use super::effect::{Effects, Msg};
use super::keymap::Key;
use super::panels::{
    self, compare, export, findings, library, notes, replay, server, state, stats, timeline, why,
};
use std::time::Duration;

/// Changes the state by what happened, and says what is to be done.
pub fn update(viewer: &mut Viewer, msg: Msg) -> Effects {
    let app = &mut viewer.app;
    let mut effects = match msg {
        Msg::Key(key) => press(viewer, key),
        Msg::Mouse(event) => panels::mouse::update(viewer, event),
        Msg::Paste(text) => {
            let paste = app.overlays.last().map(|top| top.handlers().paste);
            let pasted = paste.and_then(|paste| paste(viewer, &text));
            pasted.unwrap_or_default()
        }
        Msg::Resize(columns, rows) => {
            app.size = (columns, rows);
            Effects::new()
        }
        Msg::Tick(now) => {
            app.now = now;
            tick(viewer)
        }
        Msg::Leave(_) => vec![super::effect::Effect::Quit],
        Msg::Answer(answer) => answer.apply(viewer),
    };
    if let Some(action) = viewer.app.chosen.take() {
        effects.extend(do_chosen(viewer, action));
    }
    // What the screen shows may have moved: rows that it lacks are asked for.
    if let Some(session) = viewer.session.as_deref_mut() {
        let wanted = [
            panels::list::wanted,
            panels::list::wanted_order,
            panels::filter::wanted,
            panels::detail::wanted,
            timeline::wanted,
            stats::wanted,
            findings::wanted,
            server::wanted,
            panels::search::wanted,
        ];
        for wanted in wanted {
            effects.extend(wanted(&mut viewer.app, session));
        }
    }
    effects
}

/// Does what an action says, where the keys are now.
pub fn perform(viewer: &mut Viewer, action: Action) -> Effects {
    offered(viewer, action).unwrap_or_default()
}

/// Does what an action says, where the keys are now; `None` if nobody there takes it.
pub fn offered(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let Viewer { app, session } = viewer;
    let innermost = match (app.overlays.last(), session.as_deref_mut()) {
        (Some(top), _) => (top.handlers().perform)(viewer, action),
        (None, Some(session)) => in_session(app, session, action),
        (None, None) => in_library(viewer, action),
    };
    innermost.or_else(|| everywhere(viewer, action))
}

/// Offers an action to the panels of a recording, first to the pane that has the keys.
fn in_session(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let pane = match (session.focus, session.view) {
        (Focus::Detail, _) => panels::detail::perform,
        (Focus::Main, View::Exchanges) => panels::list::perform,
        (Focus::Main, View::Timeline) => timeline::perform,
        (Focus::Main, View::Stats) => stats::perform,
        (Focus::Main, View::Findings) => findings::perform,
        (Focus::Main, View::Server) => server::perform,
    };
    let panels = [
        state::perform,
        pane,
        panels::filter::perform,
        panels::copy::perform,
        panels::search::perform,
        notes::perform,
        why::perform,
        compare::perform_in_session,
        replay::perform_in_session,
        export::perform_in_session,
        panels::session::perform,
    ];
    let (view, before) = (session.view, session.filter.as_before());
    let mut panels = panels.iter();
    let done = panels.find_map(|perform| perform(app, session, action));
    if action == Action::Open && session.view != view {
        session.back = Some((view, before, None));
    }
    done
}

/// Offers an action to the list of recordings.
fn in_library(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    library::perform(viewer, action)
        .or_else(|| compare::perform_in_library(&mut viewer.app, action))
        .or_else(|| replay::perform_in_library(&mut viewer.app, action))
        .or_else(|| export::perform_in_library(&mut viewer.app, action))
}

/// Does what is possible wherever the keys are.
fn everywhere(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    panels::running::perform(app, action)
        .or_else(|| close_overlay(app, action))
        .or_else(|| panels::session::perform_everywhere(viewer, action))
}

/// Closes what lies on top.
fn close_overlay(app: &mut App, action: Action) -> Option<Effects> {
    let closes = matches!(action, Action::Close | Action::Back);
    let top = closes.then(|| app.overlays.pop()).flatten();
    top.map(|_| vec![])
}

fn press(viewer: &mut Viewer, key: Key) -> Effects {
    let contexts = viewer.contexts();
    let app = &mut viewer.app;
    app.notices.dismiss_seen(app.now);
    let action = app.settings.keymap.action(&contexts, key);
    if action != Some(Action::Cancel) {
        app.quit_armed = false;
    }
    let press = app.overlays.last().map(|top| top.handlers().press);
    let pressed = press.and_then(|press| press(viewer, key));
    pressed.unwrap_or_else(|| action.map_or_else(Effects::new, |action| perform(viewer, action)))
}

/// Does what was chosen in the palette, or says that it means nothing here.
fn do_chosen(viewer: &mut Viewer, action: Action) -> Effects {
    offered(viewer, action).unwrap_or_else(|| {
        let text = format!("{} does nothing here", action.row().name);
        viewer.app.refuse(text)
    })
}

fn tick(viewer: &mut Viewer) -> Effects {
    match viewer.session.as_deref_mut() {
        Some(session) => state::tick(&mut viewer.app, session),
        None => library::tick(&mut viewer.app),
    }
}

/// The time between two drawings while times count up.
const TICK: Duration = Duration::from_millis(250);

/// Without motion, what counts up is drawn anew with whatever else changes, and this often: times
/// on the screen are never older.
const STILL: Duration = Duration::from_secs(5);

/// The time for which the screen may stay as it is while nothing happens; `None` where nothing on it changes
/// by itself: counts up or fades.
pub fn patience(viewer: &Viewer) -> Option<Duration> {
    let app = &viewer.app;
    let session = viewer.session.as_deref();
    let is_live = session.is_none_or(super::app::Session::is_live);
    let counting = if app.settings.motion { TICK } else { STILL };
    (is_live || app.notices.fades(app.now)).then_some(counting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Session, Settings};
    use crate::effect::Now;
    use mcpreel_store::library::Library;
    use std::path::Path;

    fn viewer(motion: bool) -> Viewer {
        let settings = Settings {
            motion,
            ..Settings::default()
        };
        let folder = Library::new(Path::new("/nowhere").to_owned());
        Viewer::new(&folder, settings, (100, 30), Now::default())
    }

    fn finished(motion: bool) -> Viewer {
        let mut viewer = viewer(motion);
        viewer.session = Some(Box::new(Session::new(Path::new("/nowhere/a"))));
        viewer
    }

    #[test]
    fn a_finished_recording_is_drawn_anew_only_while_a_message_fades() {
        for motion in [true, false] {
            let mut viewer = finished(motion);
            assert_eq!(patience(&viewer), None);
            viewer.app.say("done");
            assert!(patience(&viewer).is_some());
        }
    }
}
