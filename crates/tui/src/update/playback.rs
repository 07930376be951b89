//! The time cursor, the pause and the state panel.

use super::selection;
use super::selection::moved;
use crate::action::Action;
use crate::app::playback::Pane;
use crate::app::{App, Focus, Session};
use crate::effect::Effects;
use crate::view::playback as view;
use crate::worker::{Ask, playback};
use mcpreel_trace::frame::Seq;

/// How often the state of a live recording is asked for again, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let session = app.session.as_deref_mut()?;
    match action {
        Action::TimeCursor => Some(switch(app)),
        Action::StepForward => Some(step(app, true)),
        Action::StepBack => Some(step(app, false)),
        Action::Pause => Some(pause(app)),
        Action::StatePane => Some(pane(app)),
        Action::Close if session.playback.pane.is_some() => Some(pane(app)),
        Action::Close if session.playback.is_on() && session.focus == Focus::Main => {
            Some(switch(app))
        }
        action => scroll(app, action),
    }
}

/// While the state has the keys, motions scroll it.
fn scroll(app: &mut App, action: Action) -> Option<Effects> {
    let (lines, shown) = view::extent(app)?;
    let session = app.session.as_deref_mut()?;
    if session.focus != Focus::Detail {
        return None;
    }
    let pane = session.playback.pane.as_mut()?;
    let tops = lines.saturating_sub(shown) + 1;
    // A wider screen may have left it below what is the last one now.
    pane.top = moved(action, pane.top.min(tops - 1), tops, shown)?;
    Some(vec![])
}

/// Time cursor on at the selected row, or off.
fn switch(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    if session.playback.cursor.is_some() {
        return put(app, None);
    }
    let selected = selection::place(session);
    match (selected, last(session)) {
        // Events before the first frame stand at no frame.
        (Some(key), Some(_)) => put(app, Some(key.seq.max(Seq(1)))),
        (None, Some(last)) => put(app, Some(last)),
        (_, None) => {
            let text = "nothing is on record yet that the time cursor could stand on";
            app.notices.error(text, app.now);
            vec![]
        }
    }
}

fn last(session: &Session) -> Option<Seq> {
    let frames = session.vitals.as_deref()?.summary.frames;
    (frames > 0).then_some(Seq(frames))
}

/// Puts the time cursor on a frame, or takes it away: the list ends there.
fn put(app: &mut App, cursor: Option<Seq>) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    if session.playback.cursor == cursor {
        return vec![];
    }
    let selected = selection::place(session);
    session.playback.cursor = cursor;
    session.playback.t = None;
    session.list.until = session.playback.until();
    let mut effects = Effects::new();
    match (cursor, selected) {
        (Some(_), _) => session.list.follow(),
        (None, Some(key)) => effects = selection::go_to(app, key),
        (None, None) => {}
    }
    effects.extend(ask(app));
    effects
}

/// Asks for the time of the cursor, and for the state where it is shown.
fn ask(app: &mut App) -> Effects {
    let (generation, now) = (app.next_generation(), app.now.ui_ns);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let Some(at) = session.until().or(last(session)) else {
        return vec![];
    };
    let playback = &mut session.playback;
    if let Some(pane) = &mut playback.pane {
        pane.asked = Some(at);
        pane.asked_ns = now;
    }
    playback.generation = generation;
    let state = playback.pane.is_some();
    vec![
        Ask::State(playback::Ask {
            generation,
            at,
            state,
        })
        .into(),
    ]
}

/// A frame later or earlier; with a filter the next row that it shows.
fn step(app: &mut App, forward: bool) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let (Some(at), Some(last)) = (session.playback.cursor, last(session)) else {
        return switch(app);
    };
    let to = match (selection::query(session).expr.is_some(), forward) {
        (true, forward) => session.list.index.beside(at, forward),
        (false, true) => Some(Seq(at.0 + 1)).filter(|to| *to <= last),
        (false, false) => Some(Seq(at.0.saturating_sub(1))).filter(|to| to.0 > 0),
    };
    if to.is_some() {
        return put(app, to);
    }
    let text = if forward {
        "that is the last one"
    } else {
        "that is the first one"
    };
    app.notices.success(text, app.now);
    vec![]
}

/// Freezes the list, or lets it go on.
fn pause(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.playback.paused = match session.playback.paused {
        Some(_) => None,
        None => last(session),
    };
    session.list.until = session.playback.until();
    if session.playback.cursor.is_none() && session.playback.pane.is_some() {
        return ask(app);
    }
    vec![]
}

/// Shows the state in place of the detail, or the detail again.
fn pane(app: &mut App) -> Effects {
    let size = app.size;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let alone = !crate::layout::shows_both(size, session);
    if session.playback.pane.take().is_some() {
        if alone {
            session.focus = Focus::Main;
        }
        return vec![];
    }
    session.playback.pane = Some(Pane::default());
    if alone {
        session.focus = Focus::Detail;
    }
    ask(app)
}

pub fn answer(app: &mut App, answer: playback::Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let playback = &mut session.playback;
    if answer.ask.generation != playback.generation {
        return vec![];
    }
    if playback.cursor == Some(answer.ask.at) {
        playback.t = answer.t;
    }
    if let (Some(pane), Some(state)) = (&mut playback.pane, answer.state) {
        pane.state = Some((answer.ask.at, state));
    }
    vec![]
}

/// Time has passed: the state of a live recording is asked for again.
pub fn tick(app: &mut App) -> Effects {
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let live = session.is_live() && session.until().is_none();
    let vitals = session.vitals.as_deref();
    let frames = vitals.map(|vitals| vitals.summary.frames);
    let pane = session.playback.pane.as_ref();
    let is_old = pane.is_some_and(|pane| match pane.asked {
        None => frames.is_some_and(|frames| frames > 0),
        Some(seq) => live && Some(seq.0) != frames && now.saturating_sub(pane.asked_ns) > AGAIN_NS,
    });
    if is_old { ask(app) } else { vec![] }
}
