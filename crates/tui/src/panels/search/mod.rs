//! The search: typed, walked, stopped; and the next failed exchange, or the one before.

pub mod hits;

use super::list::{self, Cursor};
use super::prompt::{Live, Prompt};
use super::selection;
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::{Effect, Effects};
use crate::panels::filter::{is, narrowed};
use crate::worker::Place;
use crate::worker::job::{Slot, Source};
use hits::{Before, Found, Nearest, Progress, Search, Searching, Term};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::ast::{Expr, Field, Flag, Op};
use mcpreel_wire::text::escape;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Search => {
            session.search.before = Some(Box::new(Before {
                view: session.view,
                place: selection::place(session),
                follows: session.list.follows(),
                search: None,
            }));
            Some(prompt(app, ""))
        }
        Action::SearchNext => Some(walk(app, session, true)),
        Action::SearchPrevious => Some(walk(app, session, false)),
        Action::Close => clear(app, session),
        Action::Cancel => {
            // What was found stays.
            let search = &mut session.search;
            let Progress::Scanning(left, _) = search.progress else {
                return None;
            };
            search.progress = Progress::Stopped(left);
            search.nearest = None;
            Some(vec![app.questions.stop(Slot::Search)])
        }
        Action::NextFailure => Some(find_failure(app, session, Way::Oldest)),
        Action::PreviousFailure => Some(find_failure(app, session, Way::Newest)),
        _ => None,
    }
}

fn prompt(app: &mut App, text: &str) -> Effects {
    let hint = "Enter keeps it, re: begins a regular expression, Esc goes back";
    let mut prompt = Prompt::new("search", hint, text, |viewer, text| {
        viewer.in_session(|app, session| done(app, session, text))
    });
    prompt.live = Live {
        changed: |viewer| {
            let prompt = viewer.app.top::<Prompt>();
            let text = prompt.map(|prompt| prompt.input.value().to_owned());
            let text = text.unwrap_or_default();
            viewer.in_session(|app, session| typed(app, session, &text))
        },
        left: |viewer| viewer.in_session(left),
        ..Live::default()
    };
    app.push(prompt)
}

/// The search is typed: the first hit from where it began is gone to. What is no expression yet
/// changes nothing.
fn typed(app: &mut App, session: &mut Session, text: &str) -> Effects {
    let term = Term::parse(text).ok().filter(|_| !text.is_empty());
    let Some(term) = term else {
        return vec![];
    };
    let Some(mut before) = session.search.before.take() else {
        return vec![];
    };
    let place = selection::place(session).unwrap_or_default();
    let from = before.place.unwrap_or_default();
    let old = std::mem::take(&mut session.search);
    before.search.get_or_insert(old);
    session.search = Search {
        term: Some(term),
        nearest: Some(Nearest { from, place }),
        before: Some(before),
        ..Search::default()
    };
    find(app, session).into_iter().collect()
}

/// The search was left while it was typed: all is as it was before.
fn left(app: &mut App, session: &mut Session) -> Effects {
    let Some(mut before) = session.search.before.take() else {
        return vec![];
    };
    let Some(search) = before.search.take() else {
        return vec![];
    };
    session.search = search;
    let mut effects = match find(app, session) {
        Some(again) => vec![again],
        None => vec![app.questions.stop(Slot::Search)],
    };
    match before.place.filter(|_| !before.follows) {
        Some(place) => effects.extend(list::go_to(app, session, place)),
        None => session.list.follow(),
    }
    session.view = before.view;
    effects
}

/// The term is kept. What was looked for while it was typed goes on.
fn done(app: &mut App, session: &mut Session, text: &str) -> Effects {
    session.search.before = None;
    let search = &session.search;
    let is_it = search.term.as_ref().is_some_and(|term| term.text == text);
    if !is_it {
        return begin(app, session, text);
    }
    // Nothing was found: that is said.
    let is_over = !matches!(search.progress, Progress::Scanning(..));
    if is_over && search.rows.is_empty() {
        return walk(app, session, true);
    }
    vec![]
}

/// The next row with a hit, or the one before.
fn walk(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let search = &session.search;
    let Some(term) = &search.term else {
        return app.refuse("no search yet: \\ searches");
    };
    let from = selection::place(session).unwrap_or_default();
    let Some((key, around)) = search.next(from, forward) else {
        let text = escape(&term.text);
        let text = match (search.progress, search.hidden.len()) {
            (Progress::Scanning(..), 0) => format!("no hit yet for {text}, still scanning"),
            (_, 0) => format!("{text} occurs nowhere"),
            (_, rows) => format!("{text} occurs only in {rows} rows that the filter hides"),
        };
        return app.refuse(text);
    };
    let (nth, of) = (search.rows.range(..=key).count(), search.rows.len());
    let end = match (around, forward) {
        (false, _) => "",
        (true, true) => ", wrapped to the first",
        (true, false) => ", wrapped to the last",
    };
    app.say(format!("match {nth} of {of}{end}"));
    selection::go_to(app, session, key)
}

/// Forgets what is searched for, if something is.
fn clear(app: &mut App, session: &mut Session) -> Option<Effects> {
    session.search.term.as_ref()?;
    session.search = Search::default();
    Some(vec![app.questions.stop(Slot::Search)])
}

/// The search is typed; nothing in it ends the search before.
fn begin(app: &mut App, session: &mut Session, text: &str) -> Effects {
    if text.is_empty() {
        return clear(app, session).unwrap_or_default();
    }
    match Term::parse(text) {
        Ok(term) => {
            let place = selection::place(session).unwrap_or_default();
            session.search = Search {
                term: Some(term),
                nearest: Some(Nearest { from: place, place }),
                ..Search::default()
            };
            find(app, session).into_iter().collect()
        }
        Err(error) => {
            app.refuse(error);
            // The text stays, to be mended.
            prompt(app, text)
        }
    }
}

fn find(app: &mut App, session: &mut Session) -> Option<Effect> {
    // The time cursor hides hits, it does not make them others.
    let question = selection::question(session);
    let search = &mut session.search;
    let pattern = search.term.as_ref()?.pattern.clone();
    search.rows.clear();
    search.hidden.clear();
    search.hits = 0;
    search.progress = Progress::Scanning(1, 1);
    search.scope = (question.lens, question.query.clone());
    let job = Searching::new(pattern, question);
    Some(app.questions.ask(Slot::Search, job, take))
}

/// Asks anew when other rows are shown than those that were asked for.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let (lens, query) = &session.search.scope;
    let is_same = *lens == session.lens && *query == *selection::query(session);
    if is_same { None } else { find(app, session) }
}

/// Takes in what was found, and goes to the hit that is nearest to where the search began as soon
/// as nothing is left between. Whoever has moved on meanwhile stays there.
fn take(app: &mut App, session: &mut Session, found: Result<Found, String>) -> Effects {
    let found = match found {
        Ok(found) => found,
        Err(error) => return app.refuse(error),
    };
    let place = selection::place(session).unwrap_or_default();
    let search = &mut session.search;
    let (shown, hidden): (Vec<_>, Vec<_>) = found.rows.into_iter().partition(|(_, shown)| *shown);
    search.rows.extend(shown.into_iter().map(|(key, _)| key));
    search.hidden.extend(hidden.into_iter().map(|(key, _)| key));
    search.hits += found.hits;
    search.progress = found.progress;
    let is_over = !matches!(search.progress, Progress::Scanning(..));
    let Some(Nearest { from, place: then }) = search.nearest.take_if(|nearest| {
        let is_known = is_over || found.reached < nearest.from.seq;
        nearest.place != place || is_known && (is_over || !search.rows.is_empty())
    }) else {
        return vec![];
    };
    let onward = search.rows.range(from..).next();
    let nearest = onward.or_else(|| search.rows.last()).copied();
    match nearest {
        _ if then != place => vec![],
        Some(key) => selection::go_to(app, session, key),
        // Nothing was found: that is said, once it is typed.
        None if session.search.before.is_some() => vec![],
        None => walk(app, session, true),
    }
}

fn find_failure(app: &mut App, session: &mut Session, way: Way) -> Effects {
    let from = selection::place(session);
    let shown = selection::question(session);
    let read = move |source: &Source<'_>, _: &Place<'_>| {
        find_row(source, way, from, &shown, Expr::Is(Flag::Failed))
    };
    let questions = &mut app.questions;
    vec![questions.read(Slot::Failure, session, read, failure_found)]
}

/// Puts the cursor of the list on the first failure, without one on the first call, unless it has
/// been moved by then.
pub fn first_call(app: &mut App, session: &mut Session) -> Effects {
    let shown = selection::question(session);
    let read = move |source: &Source<'_>, _: &Place<'_>| {
        let tools = is(Field::Method, Op::Equal, "tools/call");
        let request = is(Field::Kind, Op::Contains, "request");
        let first = |is_it| find_row(source, Way::Oldest, None, &shown, is_it);
        let wanted = [Expr::Is(Flag::Failed), tools, request].into_iter();
        wanted
            .map(first)
            .find(|found| !matches!(found, Ok(None)))
            .unwrap_or(Ok(None))
    };
    let found = |app: &mut App, session: &mut Session, found: FoundRow| {
        // Without a call the last row tells most: the end.
        match (found, session.list.cursor) {
            (Some((.., key)), Cursor::End) if !session.list.is_moved => {
                list::go_to(app, session, key)
            }
            _ => vec![],
        }
    };
    vec![app.questions.read(Slot::Failure, session, read, found)]
}

/// The direction, whether the search went on from the other end, and the row.
type FoundRow = Option<(Way, bool, ItemKey)>;

/// The next of the rows of `shown` for which `is_it` holds.
fn find_row(
    source: &Source<'_>,
    way: Way,
    from: Option<ItemKey>,
    shown: &Question,
    is_it: Expr,
) -> Result<FoundRow, ReadError> {
    let question = Question {
        query: narrowed(&shown.query, [is_it]),
        ..shown.clone()
    };
    // From the cursor to the end, then from the other end.
    for (is_wrapped, from) in [(false, from), (true, None)] {
        let mut found = None;
        let scan = Scan::new(&question, way, from, source.context());
        source.each_hit(scan, |key| {
            found = Some((way, is_wrapped, key));
            Ok(false)
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn failure_found(app: &mut App, session: &mut Session, found: FoundRow) -> Effects {
    let Some((way, is_wrapped, key)) = found else {
        return app.refuse(if session.filter.is_on() {
            "nothing that fits the filter failed"
        } else {
            "there is no failure"
        });
    };
    if is_wrapped {
        app.say(match way {
            Way::Oldest => "no failure below: this is the first",
            Way::Newest => "no failure above: this is the last",
        });
    }
    selection::go_to(app, session, key)
}
