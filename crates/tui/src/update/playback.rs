//! The time cursor and the pause.

mod playing;

pub use playing::{found, is_playing, play_until, tick};

use super::{jump, list, selection};
use crate::action::Action;
use crate::app::playback::{Pane, Stop};
use crate::app::{App, Focus, Session};
use crate::effect::Effects;
use crate::update::motion::moved;
use crate::view::playback as view;
use crate::worker::jump::Target;
use crate::worker::{Ask, playback};
use mcpreel_store::select::Way;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let session = app.session.as_deref_mut()?;
    match action {
        Action::TimeCursor => Some(switch(app)),
        Action::StepForward => Some(step(app, Way::Oldest)),
        Action::StepBack => Some(step(app, Way::Newest)),
        Action::Play if session.playback.playing.is_some() => {
            session.playback.playing = None;
            Some(vec![])
        }
        Action::Play => Some(playing::play(app, Stop::End)),
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
    session.playback.playing = None;
    if session.playback.cursor.is_some() {
        return put(app, None);
    }
    let selected = selection::place(session);
    match (selected, last(session)) {
        // What happened before the first frame stands at no frame.
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

/// Puts the time cursor on a frame, or takes it away: everything on the screen is asked anew.
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
    if cursor.is_some() {
        // What comes last is what happens: the rows of the list end where the cursor stands.
        session.list.follow();
    }
    let mut effects = list::begin(app);
    if let (None, Some(key)) = (cursor, selected) {
        effects.extend(selection::go_to(app, key));
    }
    effects.extend(ask(app, false));
    effects
}

/// Asks for the time of the cursor, what was true then where that is shown, and for the frames
/// ahead.
fn ask(app: &mut App, ahead: bool) -> Effects {
    let (generation, now) = (app.next_generation(), app.now.ui_ns);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let at = session.until().or(last(session));
    let Some(at) = at else {
        return vec![];
    };
    let playback = &mut session.playback;
    if let Some(pane) = &mut playback.pane {
        pane.asked = Some(at);
        pane.asked_ns = now;
    }
    let playing = playback.playing.as_mut().filter(|playing| {
        // A question takes the place of the one before it.
        ahead || playing.asked
    });
    let after = playing.map(|playing| {
        playing.asked = true;
        playing.ahead.back().map_or(at, |(seq, _)| *seq)
    });
    playback.generation = generation;
    vec![
        Ask::State(playback::Ask {
            generation,
            at,
            state: playback.pane.is_some(),
            ahead: after,
        })
        .into(),
    ]
}

/// A frame later or earlier; with a filter the next row that it shows.
fn step(app: &mut App, way: Way) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.playback.playing = None;
    let (Some(at), Some(last)) = (session.playback.cursor, last(session)) else {
        return switch(app);
    };
    if selection::query(session).expr.is_some() {
        // Whatever belongs to the frame itself was passed, or is what is left.
        let from = match way {
            Way::Oldest => ItemKey::of_event(at, u64::MAX),
            Way::Newest => ItemKey::of_part(at, 0),
        };
        return jump::ask(app, Target::Step, way, Some(from));
    }
    let to = match way {
        Way::Oldest => at.0.saturating_add(1).min(last.0),
        Way::Newest => at.0.saturating_sub(1).max(1),
    };
    if Seq(to) == at {
        return at_end(app, way);
    }
    put(app, Some(Seq(to)))
}

fn at_end(app: &mut App, way: Way) -> Effects {
    let text = match way {
        Way::Oldest => "that is the last one",
        Way::Newest => "that is the first one",
    };
    app.notices.success(text, app.now);
    vec![]
}

/// Freezes the picture, or lets it go on.
fn pause(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.playback.paused = match session.playback.paused {
        Some(_) => None,
        None => last(session),
    };
    if session.playback.cursor.is_some() {
        return vec![];
    }
    let mut effects = list::begin(app);
    if pane_is_open(app) {
        effects.extend(ask(app, false));
    }
    effects
}

fn pane_is_open(app: &App) -> bool {
    let session = app.session.as_deref();
    session.is_some_and(|session| session.playback.pane.is_some())
}

/// Shows what was true then in place of the detail, or the detail again.
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
    ask(app, false)
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
    if let (Some(playing), Some(_)) = (&mut playback.playing, answer.ask.ahead) {
        playing.asked = false;
        playing.is_end = answer.ahead.is_empty();
        playing.ahead.extend(answer.ahead);
        if playing.at.is_none() {
            playing.at = answer.t.map(|t| (answer.ask.at, t));
        }
    }
    vec![]
}
