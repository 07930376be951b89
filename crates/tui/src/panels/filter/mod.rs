//! Which rows are shown.
//!
//! What is typed is a filter, may become one, or is none. The rows are asked with the last one
//! that was good: a bad one keeps its text, says why, and changes nothing.

pub mod filter_draw;
pub mod filter_values;
pub mod typed;

use super::prompt::{Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::layout::Hit;
use crate::panels::menu::{Entry, Menu};
use crate::widget::frame;
use crate::worker::job::Slot;
use filter_values::{Counting, Relaxing};
use mcpreel_trace::item::Item;
use mcpreel_trace::query::ast::Field;
use mcpreel_trace::query::{relaxations, value_text};
use typed::Seen;
pub use typed::{Filter, Relaxed, all_of, conditions};

pub fn offer(app: &mut App, session: &mut Session) -> Effects {
    let item = session.list.selected_item();
    let entries = item.map(alike).unwrap_or_default();
    if entries.is_empty() {
        app.notices
            .success("nothing of this row can be filtered by", app.now);
        return vec![];
    }
    let menu = Menu::new("filter rows with the same …", entries);
    app.push(menu);
    vec![]
}

/// The filters that a row suggests.
fn alike(item: &Item) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut offer = |letter, what: &str, filter: String| {
        let label = format!("{what:<8} {}", mcpreel_wire::text::escape(&filter));
        entries.push(Entry::in_session(letter, label, move |app, session| {
            set(app, session, &filter)
        }));
    };
    let exact =
        |field: Field, value: &str| format!("{}={}", field.as_str(), value_text(field, value));
    if let Some(method) = item.method() {
        offer('m', "method", exact(Field::Method, method));
    }
    if let Some(name) = item.name() {
        offer('n', "name", exact(Field::Name, name));
    }
    if let (Some(method), Some(name)) = (item.method(), item.name()) {
        let filter = format!(
            "{} {}",
            exact(Field::Method, method),
            exact(Field::Name, name)
        );
        offer('c', "call", filter);
    }
    if let Some(exchange) = item.exchange() {
        offer(
            's',
            "status",
            format!("status:{}", exchange.status.as_str()),
        );
        offer('i', "id", format!("id:{}", exchange.rpc_id.json()));
        if let Some(task) = &exchange.task {
            offer('t', "task", exact(Field::Task, task));
        }
        let (first, last) = (exchange.request.0.0, exchange.response);
        if let Some((last, _)) = last {
            offer('r', "time", format!("seq:{first}..{}", last.0));
        }
    }
    offer('d', "kind", format!("kind:{}", item.kind().as_str()));
    entries
}

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Filter => Some(edit(app, session)),
        Action::FilterToggle => {
            let filter = &mut session.filter;
            filter.off = !filter.off;
            Some(super::list::begin(app, session))
        }
        Action::FilterLike => Some(offer(app, session)),
        Action::Relax => Some(relax(app, session)),
        Action::Cancel => super::list::stop(app, session),
        _ => None,
    }
}

/// Opens the prompt with what was typed before.
fn edit(app: &mut App, session: &mut Session) -> Effects {
    let filter = &mut session.filter;
    filter.before = Some((filter.text.clone(), filter.query.clone(), filter.off));
    filter.history.leave();
    let prompt = Prompt::new(Purpose::Filter, &filter.text);
    app.push(prompt);
    look(app, session)
}

/// The text of the filter and the byte at which the caret stands.
fn typed(app: &App) -> Option<(String, usize)> {
    let Some(prompt) = app.top::<Prompt>() else {
        return None;
    };
    let text = prompt.input.value().to_owned();
    let caret = text.char_indices().nth(prompt.input.cursor());
    let caret = caret.map_or(text.len(), |(at, _)| at);
    Some((text, caret))
}

fn look(app: &mut App, session: &mut Session) -> Effects {
    let Some((text, caret)) = typed(app) else {
        return vec![];
    };
    let wants = session.filter.popup.look(&text, caret);
    let ask = |field| app.questions.ask(Slot::Hints, Counting::new(field), seen);
    wants.map(ask).into_iter().collect()
}

/// The text of the filter has changed.
pub fn changed(app: &mut App, session: &mut Session) -> Effects {
    let mut effects = apply(app, session);
    effects.extend(look(app, session));
    effects
}

/// What is typed is in force as soon as it is a filter.
fn apply(app: &mut App, session: &mut Session) -> Effects {
    let Some((text, _)) = typed(app) else {
        return vec![];
    };
    let differs = session.filter.take_unfinished(&text);
    if differs {
        super::list::begin(app, session)
    } else {
        vec![]
    }
}

/// The filter is done. A candidate that was chosen is taken in first.
pub fn done(app: &mut App, session: &mut Session, text: &str) -> Effects {
    let popup = &session.filter.popup;
    if let (Some(_), Some((text, caret))) = (popup.at, popup.completed(text)) {
        app.push(Prompt::new(Purpose::Filter, ""));
        return put(app, session, &text, caret);
    }
    session.filter.before = None;
    set(app, session, text)
}

/// The filter was left without being done: the one before is in force again.
pub fn left(app: &mut App, session: &mut Session) -> Effects {
    let filter = &mut session.filter;
    let Some((text, query, off)) = filter.before.take() else {
        return vec![];
    };
    let was = filter.in_force().clone();
    filter.take(&text);
    filter.query = query;
    filter.off = off;
    if *filter.in_force() == was {
        return vec![];
    }
    super::list::begin(app, session)
}

/// Another candidate, an older filter, or a newer one.
pub fn step(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let filter = &mut session.filter;
    let popup = &mut filter.popup;
    popup.wheel = None;
    let is_recalling = filter.history.is_recalling();
    match (popup.at, by) {
        (Some(0), ..0) => popup.at = None,
        (Some(at), _) => {
            let last = popup.candidates.len().saturating_sub(1);
            popup.at = Some(at.saturating_add_signed(by).min(last));
        }
        (None, 1..) if !is_recalling && !popup.candidates.is_empty() => popup.at = Some(0),
        (None, _) => {
            let Some(text) = filter.history.recall(by) else {
                return vec![];
            };
            let caret = text.len();
            return put(app, session, &text, caret);
        }
    }
    vec![]
}

pub fn take_candidate(app: &mut App, session: &mut Session) -> Effects {
    let Some((text, _)) = typed(app) else {
        return vec![];
    };
    match session.filter.popup.completed(&text) {
        Some((text, caret)) => put(app, session, &text, caret),
        None => vec![],
    }
}

/// A click on a cell of the screen while the filter is typed: takes the candidate there; beside
/// all that belongs to the filter it is done as it is.
pub fn click(app: &mut App, session: &mut Session, cell: (u16, u16)) -> Effects {
    match filter_draw::hit(app, session, cell) {
        Hit::Inside => vec![],
        Hit::Entry(at) => {
            session.filter.popup.at = Some(at);
            take_candidate(app, session)
        }
        Hit::Outside => {
            session.filter.popup.at = None;
            match app.pop::<Prompt>() {
                Some(prompt) => done(app, session, prompt.input.value()),
                None => vec![],
            }
        }
    }
}

/// The wheel was turned by so many rows over the candidates.
pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let (top, page) = filter_draw::candidates(app, session);
    let popup = &mut session.filter.popup;
    popup.wheel = Some(frame::turned(top, by, popup.candidates.len(), page));
    vec![]
}

/// Puts a text into the prompt, with the caret at this byte.
fn put(app: &mut App, session: &mut Session, text: &str, caret: usize) -> Effects {
    let Some(prompt) = app.top_mut::<Prompt>() else {
        return vec![];
    };
    let letters = text
        .get(..caret)
        .map_or(text.len(), |head| head.chars().count());
    prompt.input = tui_input::Input::new(text.to_owned()).with_cursor(letters);
    changed(app, session)
}

pub fn set(app: &mut App, session: &mut Session, text: &str) -> Effects {
    let filter = &mut session.filter;
    let differs = filter.take(text);
    filter.history.remember(text);
    if differs {
        super::list::begin(app, session)
    } else {
        vec![]
    }
}

/// Values of a field have been counted.
fn seen(app: &mut App, session: &mut Session, seen: Seen) -> Effects {
    if let Some((text, caret)) = typed(app) {
        session.filter.popup.seen(seen, &text, caret);
    }
    vec![]
}

/// It is known what would fit where nothing does.
fn relaxed(_: &mut App, session: &mut Session, relaxed: Relaxed) -> Effects {
    if session.filter.relaxed == Relaxed::Asked {
        session.filter.relaxed = relaxed;
    }
    vec![]
}

/// Asks what would fit where nothing does, once it is known that nothing does.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    let (scan, filter) = (&session.list.scan, &mut session.filter);
    let is_empty = session.list.index.is_empty() && scan.is_answered && scan.done;
    if !is_empty || !filter.is_on() {
        filter.relaxed = Relaxed::Unknown;
        return vec![];
    }
    if filter.relaxed != Relaxed::Unknown {
        return vec![];
    }
    filter.relaxed = Relaxed::Asked;
    let job = Relaxing::new(session.lens, filter.in_force());
    vec![app.questions.ask(Slot::Hints, job, relaxed)]
}

/// Takes out the condition that hides everything, or the last one.
fn relax(app: &mut App, session: &mut Session) -> Effects {
    let filter = &session.filter;
    let query = match &filter.relaxed {
        Relaxed::Fits(query) => Some(query.clone()),
        _ => relaxations(filter.in_force()).into_iter().next(),
    };
    query.map_or_else(Vec::new, |query| set(app, session, &query.to_string()))
}

#[cfg(test)]
mod tests {
    use super::typed::Popup;
    use super::*;
    use mcpreel_trace::query::Query;

    #[test]
    fn a_bad_filter_keeps_its_text_and_leaves_the_last_good_one_in_force() {
        let mut filter = Filter::default();
        assert!(filter.take("is:failed"));
        assert!(!filter.take("is:failed metod:x"));
        assert_eq!(filter.text, "is:failed metod:x");
        assert_eq!(*filter.in_force(), Query::parse("is:failed").expect("good"));
        let error = filter.error.clone().expect("there is no such field");
        assert_eq!(error.nearest.as_deref(), Some("method"));
        assert!(filter.take(""));
        assert!(!filter.is_on());
    }

    #[test]
    fn a_candidate_takes_the_place_of_what_was_typed_of_it() {
        let mut popup = Popup::default();
        popup.look("is:open meth", 12);
        let (text, caret) = popup.completed("is:open meth").expect("method begins so");
        assert!(text.starts_with("is:open method"), "{text}");
        assert_eq!(caret, text.len());
    }

    fn of(field: Field, values: Vec<(String, u64)>) -> Seen {
        Seen { field, values }
    }

    #[test]
    fn values_that_were_seen_are_offered_with_how_often() {
        let mut popup = Popup::default();
        assert_eq!(popup.look("tool:se", 7), Some(Field::Tool));
        assert_eq!(popup.look("tool:sea", 8), None);
        let seen = vec![("search docs".to_owned(), 12), ("list".to_owned(), 3)];
        popup.seen(of(Field::Tool, seen), "tool:sea", 8);
        let (text, help) = popup.candidates.last().expect("it was seen");
        assert_eq!(
            (text.as_str(), help.as_str()),
            ("\"search docs\"", "12 times")
        );
    }

    #[test]
    fn words_of_a_list_say_how_often_they_were_seen_and_stay_the_same_words() {
        let mut popup = Popup::default();
        assert_eq!(popup.look("status:", 7), Some(Field::Status));
        let words = popup.candidates.len();
        let seen = vec![("lost".to_owned(), 2), ("no such".to_owned(), 1)];
        popup.seen(of(Field::Status, seen), "status:", 7);
        assert_eq!(popup.candidates.len(), words);
        let lost = popup.candidates.iter().find(|(text, _)| text == "lost");
        let (_, help) = lost.expect("it is a status");
        assert!(help.starts_with("2 times: the answering side"), "{help}");
    }
}
