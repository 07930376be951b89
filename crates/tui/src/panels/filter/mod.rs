//! The filter of the rows.
//!
//! A line that is typed is a filter, may become one, or is none. The rows are asked with the last
//! good filter: a bad one keeps its text, says why, and changes nothing.

pub mod filter_draw;
pub mod typed;

use super::list::{self, Cursor};
use super::menu::{Entry, Menu};
use super::prompt::{self, Live, Prompt, remember};
use crate::action::Action;
use crate::app::{App, Session, Viewer};
use crate::effect::{Effect, Effects};
use crate::worker::job::Slot;
use crossterm::event::KeyCode;
use mcpreel_trace::item::Item;
use mcpreel_trace::query::ast::{Expr, Field, Flag};
use mcpreel_trace::query::{Query, relaxations, value_text};
use mcpreel_wire::text::escape;
use ratatui::layout::Position;
use tui_input::Input;
pub use typed::{Before, Filter, Relaxed, is, narrowed};
use typed::{Counting, Relaxing, Seen};

/// The label of the prompt, under which typed filters are remembered.
const LABEL: &str = "filter";

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Filter => Some(edit(app, session)),
        Action::FilterToggle => {
            session.filter.off ^= true;
            Some(list::begin(app, session))
        }
        Action::FilterLike => {
            let entries = session.list.selected_item().map(alike).unwrap_or_default();
            Some(if entries.is_empty() {
                app.say("this row has nothing to filter by")
            } else {
                app.push(Menu::new("filter rows with the same …", entries))
            })
        }
        Action::Failures => {
            let only = |query: &Query| narrowed(query, [Expr::Is(Flag::Failed)]);
            let query = session.filter.in_force();
            let vitals = session.vitals.as_deref();
            let is_none = vitals.is_some_and(|vitals| vitals.summary.failed == 0);
            // A live one may still fail.
            if is_none && !session.is_live() && only(query) != *query {
                return Some(app.refuse("there is no failure"));
            }
            let mut all = relaxations(query).into_iter();
            let query = match only(query) {
                failed if failed == *query => all.find(|one| only(one) != *one),
                failed => Some(failed),
            };
            let text = query.map_or_else(String::new, |query| query.to_string());
            Some(set(app, session, &text))
        }
        Action::Relax => {
            let filter = &session.filter;
            let query = match &filter.relaxed {
                Relaxed::Fits(query) => Some(query.clone()),
                _ => relaxations(filter.in_force()).into_iter().next(),
            };
            let text = query.map(|query| query.to_string());
            Some(text.map_or_else(Vec::new, |text| set(app, session, &text)))
        }
        Action::Cancel => list::stop(app, session),
        _ => None,
    }
}

/// The filter that fits where a field is exactly this.
pub fn exact(field: Field, value: &str) -> String {
    format!("{}={}", field.as_str(), value_text(field, value))
}

/// The filters that a row suggests.
fn alike(item: &Item) -> Vec<Entry> {
    let exact = |field, value: Option<&str>| value.map(|value| exact(field, value));
    let (method, name) = (item.method(), item.name());
    let (method, name) = (exact(Field::Method, method), exact(Field::Name, name));
    let both = method.clone().zip(name.clone());
    let both = both.map(|(method, name)| format!("{method} {name}"));
    let exchange = item.exchange();
    let status = exchange.map(|one| format!("status:{}", one.status.as_str()));
    let id = exchange.map(|one| format!("id:{}", one.rpc_id.json()));
    let task = exchange.and_then(|one| exact(Field::Task, one.task.as_deref()));
    let filters = [
        ('m', "method", method),
        ('n', "name", name),
        ('c', "call", both),
        ('s', "status", status),
        ('i', "id", id),
        ('t', "task", task),
        ('d', "kind", Some(format!("kind:{}", item.kind().as_str()))),
    ];
    let entry = |(letter, what, filter): (char, &str, Option<String>)| {
        let filter = filter?;
        let label = format!("{what:<8} {}", escape(&filter));
        let take = move |app: &mut App, session: &mut Session| set(app, session, &filter);
        Some(Entry::in_session(letter, label, take))
    };
    filters.into_iter().filter_map(entry).collect()
}

/// Opens the prompt with what was typed before.
fn edit(app: &mut App, session: &mut Session) -> Effects {
    let filter = &mut session.filter;
    filter.before = Some(filter.as_before());
    let summary = session.vitals.as_deref().map(|vitals| &vitals.summary);
    filter.popup.counts = summary.map(|summary| [summary.failed, summary.open]);
    filter.row_before = match session.list.cursor {
        Cursor::At(row) => Some(row),
        Cursor::End => None,
    };
    // Whatever is typed now is another condition.
    let space = if filter.text.is_empty() { "" } else { " " };
    let text = format!("{}{space}", filter.text);
    prompt(app, &text);
    look(app, session)
}

fn prompt(app: &mut App, text: &str) {
    let mut prompt = Prompt::new(LABEL, "", text, |viewer, text| {
        viewer.in_session(|app, session| done(app, session, text))
    });
    prompt.live = Live {
        changed: |viewer| viewer.in_session(changed),
        left: |viewer| viewer.in_session(left),
        press,
        click,
        filter: Some(filter_draw::draw_popup),
    };
    app.push(prompt);
}

/// Goes to another candidate, unless older lines are called back, or takes one.
fn press(viewer: &mut Viewer, key: KeyCode) -> Option<Effects> {
    let (app, session) = viewer.parts()?;
    let is_recalling = app.top::<Prompt>()?.is_recalling();
    let popup = &mut session.filter.popup;
    let last = popup.candidates.len().checked_sub(1);
    popup.at = match (key, popup.at) {
        (KeyCode::Tab, _) => return Some(take_candidate(app, session)),
        (KeyCode::Up, Some(at)) => at.checked_sub(1),
        (KeyCode::Down, Some(at)) => last.map(|last| last.min(at + 1)),
        (KeyCode::Down, None) if !is_recalling => Some(last.map(|_| 0)?),
        _ => return None,
    };
    Some(vec![])
}

/// The text of the filter and the byte at which the caret stands.
fn typed(app: &mut App) -> Option<(String, usize)> {
    let input = &app.top_mut::<Prompt>()?.input;
    let text = input.value().to_owned();
    let caret = text.char_indices().nth(input.cursor());
    let caret = caret.map_or(text.len(), |(at, _)| at);
    Some((text, caret))
}

/// Looks for candidates at the caret.
fn look(app: &mut App, session: &mut Session) -> Effects {
    let wants = typed(app).and_then(|(text, caret)| session.filter.popup.look(&text, caret));
    let ask = |field| app.questions.ask(Slot::Hints, Counting(field), seen);
    wants.map(ask).into_iter().collect()
}

/// The text of the filter has changed. It is in force as soon as it is a filter; while it is unfinished
/// the one before is: `status` was looked for until it became `status:`.
fn changed(app: &mut App, session: &mut Session) -> Effects {
    let Some((text, _)) = typed(app) else {
        return vec![];
    };
    let filter = &mut session.filter;
    let was = filter.in_force().clone();
    filter.take(&text);
    let error = filter.error.as_ref();
    let is_unfinished = error.is_some_and(|error| error.may_be_unfinished(&text));
    if let Some((_, query, off)) = filter.before.clone().filter(|_| is_unfinished) {
        filter.put(query, off);
    }
    let mut effects = vec![];
    if *filter.in_force() != was {
        // What was said of hidden rows holds no more.
        app.notices.dismiss();
        let row = filter.row_before;
        effects = list::begin(app, session);
        effects.extend(
            row.into_iter()
                .flat_map(|row| list::go_to(app, session, row)),
        );
    }
    effects.extend(look(app, session));
    effects
}

/// The filter is done. A candidate that was chosen is taken in first; what is no filter is typed on.
fn done(app: &mut App, session: &mut Session, text: &str) -> Effects {
    if session.filter.popup.at.is_some() {
        prompt(app, text);
        return take_candidate(app, session);
    }
    let effects = set(app, session, text.trim_end());
    if session.filter.error.is_some() {
        prompt(app, text);
        return look(app, session);
    }
    session.filter.before = None;
    effects
}

/// The filter was left without being done: the one before is in force again, with the cursor where it
/// was.
fn left(app: &mut App, session: &mut Session) -> Effects {
    let before = session.filter.before.take();
    let mut effects = before.map_or_else(Effects::new, |before| restore(app, session, &before));
    let row = session.filter.row_before.take();
    if let Some(row) = row.filter(|_| !effects.is_empty()) {
        effects.extend(list::go_to(app, session, row));
    }
    effects
}

/// Puts the filter of before in force.
pub fn restore(app: &mut App, session: &mut Session, (text, query, off): &Before) -> Effects {
    let filter = &mut session.filter;
    let was = filter.in_force().clone();
    filter.take(text);
    filter.put(query.clone(), *off);
    if *filter.in_force() == was {
        return vec![];
    }
    list::begin(app, session)
}

/// Puts the chosen or first candidate into the prompt.
fn take_candidate(app: &mut App, session: &mut Session) -> Effects {
    let completed = typed(app).and_then(|(text, _)| session.filter.popup.completed(&text));
    if let (Some((text, caret)), Some(prompt)) = (completed, app.top_mut::<Prompt>()) {
        let letters = text[..caret].chars().count();
        prompt.input = Input::new(text).with_cursor(letters);
    }
    changed(app, session)
}

/// A click while the filter is typed: takes the candidate there; beside all that belongs to the
/// filter it is done as it is.
fn click(viewer: &mut Viewer, at: Position) -> Effects {
    let Some((app, session)) = viewer.parts() else {
        return vec![];
    };
    match filter_draw::hit(app, session, at) {
        Some(None) => vec![],
        Some(candidate) => {
            session.filter.popup.at = candidate;
            take_candidate(app, session)
        }
        None => {
            session.filter.popup.at = None;
            prompt::done(viewer).unwrap_or_default()
        }
    }
}

pub fn set(app: &mut App, session: &mut Session, text: &str) -> Effects {
    remember(app, LABEL, text);
    if session.filter.take(text) {
        list::begin(app, session)
    } else {
        vec![]
    }
}

/// Values of a field have been counted.
fn seen(app: &mut App, session: &mut Session, (field, values): Seen) -> Effects {
    let popup = &mut session.filter.popup;
    let asked = popup.values.as_ref().map(|(asked, _)| *asked);
    if let Some((text, caret)) = typed(app).filter(|_| asked == Some(field)) {
        popup.values = Some((field, values));
        let at = popup.at;
        popup.look(&text, caret);
        popup.at = at.filter(|at| *at < popup.candidates.len());
    }
    vec![]
}

/// The nearest filter that something fits is known.
pub fn relaxed(_: &mut App, session: &mut Session, relaxed: Relaxed) -> Effects {
    if session.filter.relaxed == Relaxed::Asked {
        session.filter.relaxed = relaxed;
    }
    vec![]
}

/// Asks what would fit where nothing does, once it is known that nothing does.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let (scan, filter) = (&session.list.scan, &mut session.filter);
    let is_empty = session.list.index.is_empty() && scan.is_answered && scan.done;
    if !is_empty || !filter.is_on() {
        filter.relaxed = Relaxed::Unknown;
        return None;
    }
    let is_asked = filter.relaxed != Relaxed::Unknown;
    (!is_asked).then(|| {
        filter.relaxed = Relaxed::Asked;
        let job = Relaxing::new(session.lens, filter.in_force());
        app.questions.ask(Slot::Hints, job, relaxed)
    })
}
