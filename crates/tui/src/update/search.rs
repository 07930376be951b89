//! What is searched for.

use super::selection;
use crate::action::Action;
use crate::app::prompt::{Prompt, Purpose};
use crate::app::search::{Progress, REGEX, Term};
use crate::app::{App, Overlay, Session};
use crate::effect::Effects;
use crate::worker::Ask;
use crate::worker::search::{self, End, Find};
use mcpreel_store::select::Question;
use mcpreel_trace::frame::Seq;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Search => {
            let prompt = Prompt::new(Purpose::Search, "");
            app.overlays.push(Overlay::Prompt(prompt));
            Some(vec![])
        }
        Action::SearchNext => Some(walk(app, true)),
        Action::SearchPrevious => Some(walk(app, false)),
        Action::Close => clear(app),
        Action::Cancel => stop(app),
        _ => None,
    }
}

/// The next hit, or the one before.
fn walk(app: &mut App, forward: bool) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let search = &session.search;
    let Some(term) = &search.term else {
        app.notices
            .error("nothing is searched for; / searches", app.now);
        return vec![];
    };
    let from = selection::place(session);
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
    selection::go_to(app, key)
}

/// Forgets what is searched for, if something is.
fn clear(app: &mut App) -> Option<Effects> {
    let session = app.session.as_deref_mut()?;
    session.search.term.as_ref()?;
    session.search.clear();
    mark(session);
    Some(vec![Ask::Search(search::Ask::Stop).into()])
}

/// Stops looking, if it still looks; what was found stays.
fn stop(app: &mut App) -> Option<Effects> {
    let search = &mut app.session.as_deref_mut()?.search;
    let Progress::Scanning(left, _) = search.progress else {
        return None;
    };
    search.progress = Progress::Stopped(left);
    search.nearest = None;
    Some(vec![Ask::Search(search::Ask::Stop).into()])
}

pub fn answer(app: &mut App, answer: search::Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let search = &mut session.search;
    if search.generation != answer.generation || matches!(search.progress, Progress::Stopped(_)) {
        return vec![];
    }
    search.rows.extend(answer.rows);
    search.hits += answer.hits;
    search.progress = match answer.end {
        None => Progress::Scanning(answer.left, answer.of),
        Some(End::Done) => Progress::Done,
        Some(End::Full) => Progress::Full(answer.left),
    };
    go_nearest(app, answer.reached)
}

/// Goes to the hit that is nearest to where the search began, as soon as that is known: nothing
/// is left between. Whoever has moved on meanwhile stays there.
fn go_nearest(app: &mut App, reached: Seq) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let Some(from) = session.search.nearest else {
        return vec![];
    };
    if selection::place(session).unwrap_or_default() != from {
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
            return walk(app, true);
        }
        return vec![];
    };
    search.nearest = None;
    selection::go_to(app, key)
}

/// The search is done; nothing in it ends the search before.
pub fn done(app: &mut App, text: &str) -> Effects {
    if text.is_empty() {
        return clear(app).unwrap_or_default();
    }
    let term = match Term::parse(text) {
        Ok(term) => term,
        Err(error) => {
            app.notices.error(error, app.now);
            // The text stays, to be mended.
            let prompt = Prompt::new(Purpose::Search, text);
            app.overlays.push(Overlay::Prompt(prompt));
            return vec![];
        }
    };
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let from = selection::place(session).unwrap_or_default();
    session.search.clear();
    session.search.remember(text);
    session.search.term = Some(term);
    session.search.nearest = Some(from);
    mark(session);
    find(app)
}

fn mark(session: &mut Session) {
    if let Some(shown) = session.detail.shown.as_deref_mut() {
        shown.mark(|bytes| session.search.places(bytes));
    }
}

fn find(app: &mut App) -> Effects {
    let generation = app.next_generation();
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let question = scope(session);
    let search = &mut session.search;
    let Some(pattern) = search.term.as_ref().map(|term| term.pattern.clone()) else {
        return vec![];
    };
    search.rows.clear();
    search.hits = 0;
    search.generation = generation;
    search.progress = Progress::Scanning(1, 1);
    search.scope = (question.lens, question.query.clone());
    let find = Find {
        generation,
        pattern,
        question,
    };
    vec![Ask::Search(search::Ask::Find(find)).into()]
}

/// The rows of the list. The time cursor hides hits, it does not make them others.
fn scope(session: &Session) -> Question {
    Question {
        until: None,
        ..selection::question(session)
    }
}

/// Asks anew when other rows are shown than those that were asked for.
pub fn wanted(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    if session.search.term.is_none() {
        return vec![];
    }
    let question = scope(session);
    if session.search.scope == (question.lens, question.query) {
        return vec![];
    }
    find(app)
}

/// The search was left without being done.
pub fn left(app: &mut App) -> Effects {
    if let Some(session) = app.session.as_deref_mut() {
        session.search.recalled = None;
    }
    vec![]
}

/// An older search, or a newer one.
pub fn step(app: &mut App, by: isize) -> Effects {
    let (Some(session), Some(Overlay::Prompt(prompt))) =
        (app.session.as_deref_mut(), app.overlays.last_mut())
    else {
        return vec![];
    };
    let search = &mut session.search;
    // Up, which is negative, goes to what is older.
    let at = match (search.recalled, by) {
        (None, ..0) => Some(0),
        (Some(at), ..0) => Some((at + 1).min(search.history.len().saturating_sub(1))),
        (Some(at), _) => at.checked_sub(1),
        (None, _) => None,
    };
    let text = at.and_then(|at| search.history.iter().rev().nth(at).cloned());
    search.recalled = at.filter(|_| text.is_some());
    prompt.input = tui_input::Input::new(text.unwrap_or_default());
    vec![]
}

/// Literal text, or a regular expression: that is `re:` before it.
pub fn switch(app: &mut App) -> Effects {
    if let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() {
        let text = prompt.input.value();
        let text = match text.strip_prefix(REGEX) {
            Some(literal) => literal.to_owned(),
            None => format!("{REGEX}{text}"),
        };
        prompt.input = tui_input::Input::new(text);
    }
    vec![]
}
