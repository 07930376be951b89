//! The time cursor moves by itself.

use super::{ask, at_end, put, switch};
use crate::app::playback::{Played, Playing, Stop};
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::update::jump;
use crate::worker::jump::{Answer, Found, Target};
use mcpreel_store::select::Way;
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;

/// Frames ahead under which more are asked for.
const FEW: usize = 200;

/// How often what is true now is asked for again in a live recording, nanoseconds.
const AGAIN_NS: u64 = 1_000_000_000;

/// The time cursor moves by itself from here on.
pub(super) fn play(app: &mut App, stop: Stop) -> Effects {
    let mut effects = vec![];
    let is_on = |app: &App| {
        let session = app.session.as_deref();
        session.is_some_and(|session| session.playback.is_on())
    };
    if !is_on(app) {
        effects = switch(app);
    }
    if !is_on(app) {
        return effects;
    }
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref_mut() else {
        return effects;
    };
    let from = session.playback.cursor;
    session.playback.playing = Some(Playing::new(now, stop.clone()));
    if let (Stop::Looking(query), Some(from)) = (stop, from) {
        let from = ItemKey::of_event(from, u64::MAX);
        effects.extend(jump::ask(app, Target::Stop(query), Way::Oldest, Some(from)));
    }
    effects.extend(ask(app, true));
    effects
}

/// `:play until FILTER`: plays until a row fits the filter.
pub fn play_until(app: &mut App, filter: &str) -> Effects {
    match Query::parse(filter) {
        Ok(query) if query.expr.is_none() => play(app, Stop::End),
        Ok(query) => play(app, Stop::Looking(query)),
        Err(error) => {
            let text = mcpreel_wire::text::escape(&error.to_string()).into_owned();
            app.notices.error(text, app.now);
            vec![]
        }
    }
}

/// Where the next row is that a step goes to, or that playing stops at.
pub fn found(app: &mut App, answer: &Answer) -> Effects {
    let key = match answer.found {
        Found::At(key) | Found::Wrapped(key) => Some(key),
        Found::Hidden(_) | Found::Nothing | Found::NoCall => None,
    };
    let now = app.now;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    match (&answer.ask.to, key) {
        (Target::Step, Some(key)) if session.playback.is_on() => put(app, Some(key.seq)),
        (Target::Step, None) => at_end(app, answer.ask.way),
        (Target::Stop(query), key) => {
            let Some(playing) = &mut session.playback.playing else {
                return vec![];
            };
            if playing.stop != Stop::Looking(query.clone()) {
                return vec![];
            }
            let Some(key) = key else {
                session.playback.playing = None;
                let text = format!("nothing after this fits {query}");
                app.notices.error(mcpreel_wire::text::escape(&text), now);
                return vec![];
            };
            playing.stop = Stop::At(key.seq);
            vec![]
        }
        _ => vec![],
    }
}

/// Whether the pane that tells the state is to be asked for anew.
fn has_old_pane(session: &Session, now: u64) -> bool {
    let live = session.is_live() && session.until().is_none();
    let vitals = session.vitals.as_deref();
    let frames = vitals.map(|vitals| vitals.summary.frames);
    let pane = session.playback.pane.as_ref();
    pane.is_some_and(|pane| match pane.asked {
        None => frames.is_some_and(|frames| frames > 0),
        Some(seq) => live && Some(seq.0) != frames && now.saturating_sub(pane.asked_ns) > AGAIN_NS,
    })
}

/// Time has passed: playing goes on.
pub fn tick(app: &mut App) -> Effects {
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let is_old = has_old_pane(session, now);
    let playback = &mut session.playback;
    let Some(playing) = &mut playback.playing else {
        return if is_old { ask(app, false) } else { vec![] };
    };
    let played = playing.advance(now);
    let at = playing.at.map(|(seq, _)| seq);
    let t = playing.at.map(|(_, t)| t);
    let more = playing.ahead.len() < FEW && !playing.asked && !playing.is_end;
    let end = match played {
        Played::On => None,
        Played::End => Some("played to the end"),
        Played::Match => Some("stopped: this fits"),
    };
    if let Some(text) = end {
        playback.playing = None;
        app.notices.success(text, app.now);
    }
    let mut effects = vec![];
    if at.is_some() {
        effects = put(app, at);
    }
    if let Some(session) = app.session.as_deref_mut() {
        session.playback.t = t.or(session.playback.t);
    }
    if more {
        effects.extend(ask(app, true));
    }
    effects
}

pub fn is_playing(app: &App) -> bool {
    let session = app.session.as_deref();
    session.is_some_and(|session| session.playback.playing.is_some())
}
