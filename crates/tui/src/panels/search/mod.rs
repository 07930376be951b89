//! The search: typed, walked, stopped.

pub mod hits;

use super::prompt::{Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::job::Slot;
use hits::{Found, Progress, REGEX, Searching, Term};
use mcpreel_store::select::Question;
use mcpreel_trace::frame::Seq;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Search => {
            let prompt = Prompt::new(Purpose::Search, "");
            app.push(prompt);
            Some(vec![])
        }
        Action::SearchNext => Some(walk(app, session, true)),
        Action::SearchPrevious => Some(walk(app, session, false)),
        Action::Close => clear(app, session),
        Action::Cancel => stop(app, session),
        _ => None,
    }
}

/// The next hit, or the one before.
fn walk(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let search = &session.search;
    let Some(term) = &search.term else {
        app.notices
            .error("nothing is searched for; / searches", app.now);
        return vec![];
    };
    let from = super::selection::place(session);
    let onward = search.next(from, forward);
    let Some(key) = onward.or_else(|| search.next(None, forward)) else {
        let text = mcpreel_wire::text::escape(&term.text).into_owned();
        let text = match (search.progress, search.rows.len()) {
            (Progress::Scanning(..), 0) => format!("no hit yet for {text}, still scanning"),
            (_, 0) => format!("{text} occurs nowhere"),
            (_, rows) => format!("{text} occurs only in {rows} rows that the filter hides"),
        };
        app.notices.error(text, app.now);
        return vec![];
    };
    let (place, of) = search.place(key);
    let mut text = format!("row {place} of {of} with a hit");
    if onward.is_none() {
        text.push_str(if forward {
            ", from the top"
        } else {
            ", from the end"
        });
    }
    match search.hidden() {
        0 => {}
        hidden => text = format!("{text}, {hidden} more hidden by the filter"),
    }
    app.notices.success(text, app.now);
    super::selection::go_to(app, session, key)
}

/// Forgets what is searched for, if something is.
fn clear(app: &mut App, session: &mut Session) -> Option<Effects> {
    session.search.term.as_ref()?;
    session.search.clear();
    mark(session);
    Some(vec![app.questions.stop(Slot::Search)])
}

/// Stops looking, if it still looks; what was found stays.
fn stop(app: &mut App, session: &mut Session) -> Option<Effects> {
    let search = &mut session.search;
    let Progress::Scanning(left, _) = search.progress else {
        return None;
    };
    search.progress = Progress::Stopped(left);
    search.nearest = None;
    Some(vec![app.questions.stop(Slot::Search)])
}

/// A step of the search is over.
fn found(app: &mut App, session: &mut Session, found: Result<Found, String>) -> Effects {
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            app.notices.error(why, app.now);
            return vec![];
        }
    };
    let search = &mut session.search;
    search.rows.extend(found.rows);
    search.hits += found.hits;
    search.progress = found.progress;
    go_nearest(app, session, found.reached)
}

/// Goes to the hit that is nearest to where the search began, as soon as that is known: nothing
/// is left between. Whoever has moved on meanwhile stays there.
fn go_nearest(app: &mut App, session: &mut Session, reached: Seq) -> Effects {
    let Some(from) = session.search.nearest else {
        return vec![];
    };
    if super::selection::place(session).unwrap_or_default() != from {
        session.search.nearest = None;
        return vec![];
    }
    let search = &mut session.search;
    let ended = !matches!(search.progress, Progress::Scanning(..));
    if !ended && reached >= from.seq {
        return vec![];
    }
    let here = search.rows.get(&from).is_some_and(|shown| *shown);
    let onward = here
        .then_some(from)
        .or_else(|| search.next(Some(from), true));
    let Some(key) = onward.or_else(|| search.next(Some(from), false)) else {
        if ended {
            search.nearest = None;
            return walk(app, session, true);
        }
        return vec![];
    };
    search.nearest = None;
    super::selection::go_to(app, session, key)
}

/// The search is done; nothing in it ends the search before.
pub fn done(app: &mut App, session: &mut Session, text: &str) -> Effects {
    if text.is_empty() {
        return clear(app, session).unwrap_or_default();
    }
    let term = match Term::parse(text) {
        Ok(term) => term,
        Err(error) => {
            app.notices.error(error, app.now);
            // The text stays, to be mended.
            let prompt = Prompt::new(Purpose::Search, text);
            app.push(prompt);
            return vec![];
        }
    };
    let from = super::selection::place(session).unwrap_or_default();
    session.search.clear();
    session.search.history.remember(text);
    session.search.term = Some(term);
    session.search.nearest = Some(from);
    mark(session);
    find(app, session)
}

fn mark(session: &mut Session) {
    if let Some(shown) = session.detail.shown.as_deref_mut() {
        shown.mark(|bytes| session.search.places(bytes));
    }
}

fn find(app: &mut App, session: &mut Session) -> Effects {
    let question = scope(session);
    let search = &mut session.search;
    let Some(pattern) = search.term.as_ref().map(|term| term.pattern.clone()) else {
        return vec![];
    };
    search.rows.clear();
    search.hits = 0;
    search.progress = Progress::Scanning(1, 1);
    search.scope = (question.lens, question.query.clone());
    let job = Searching::new(pattern, question);
    vec![app.questions.ask(Slot::Search, job, found)]
}

/// The rows of the list. The time cursor hides hits, it does not make them others.
fn scope(session: &Session) -> Question {
    Question {
        until: None,
        ..super::selection::question(session)
    }
}

/// Asks anew when other rows are shown than those that were asked for.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    if session.search.term.is_none() {
        return vec![];
    }
    let question = scope(session);
    if session.search.scope == (question.lens, question.query) {
        return vec![];
    }
    find(app, session)
}

/// The search was left without being done.
pub fn left(session: &mut Session) {
    session.search.history.leave();
}

/// An older search, or a newer one.
pub fn step(app: &mut App, session: &mut Session, by: isize) -> Effects {
    if let Some(prompt) = app.top_mut::<Prompt>()
        && let Some(text) = session.search.history.recall(by)
    {
        prompt.input = tui_input::Input::new(text);
    }
    vec![]
}

/// Literal text, or a regular expression: that is `re:` before it.
pub fn switch(app: &mut App) -> Effects {
    if let Some(prompt) = app.top_mut::<Prompt>() {
        let text = prompt.input.value();
        let text = match text.strip_prefix(REGEX) {
            Some(literal) => literal.to_owned(),
            None => format!("{REGEX}{text}"),
        };
        prompt.input = tui_input::Input::new(text);
    }
    vec![]
}
