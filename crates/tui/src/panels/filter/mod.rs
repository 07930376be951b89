//! Which rows are shown.
//!
//! What is typed is a filter, may become one, or is none. The rows are asked with the last one
//! that was good: a bad one keeps its text, says why, and changes nothing.

pub mod filter_draw;
pub mod filter_values;

use super::prompt::{History, Prompt, Purpose};
use crate::action::Action;
use crate::app::{App, Overlay, Session};
use crate::effect::Effects;
use crate::panels::menu::{Entry, Menu};
use crate::view::Hit;
use crate::widget::frame;
use crate::worker::Slot;
use filter_values::{Counting, Relaxing};
use mcpreel_store::select::Question;
use mcpreel_trace::item::{Item, Lens};
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Type, Value};
use mcpreel_trace::query::{
    Completion, Query, QueryError, complete, relaxations, undecided, value_text,
};

/// The filter that fits everything.
static EVERYTHING: Query = Query { expr: None };

#[derive(Debug, Default)]
pub struct Filter {
    pub text: String,
    /// Why that is no filter, if it is none.
    pub error: Option<QueryError>,
    pub query: Query,
    /// Whether everything is shown all the same.
    pub off: bool,
    /// What to go back to if what is typed is given up.
    pub before: Option<(String, Query, bool)>,
    pub history: History,
    pub popup: Popup,
    /// What would fit where nothing does.
    pub relaxed: Relaxed,
}

/// The values of a field that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub field: Field,
    /// The most frequent first, with how often.
    pub values: Vec<(String, u64)>,
}

/// What may come next at the caret.
#[derive(Debug, Default)]
pub struct Popup {
    /// The bytes of the text that a candidate replaces.
    pub replace: std::ops::Range<usize>,
    /// What may stand there, with what it means or how often it was seen.
    pub candidates: Vec<(String, String)>,
    /// The one that was chosen with the arrows.
    pub at: Option<usize>,
    /// The first one on the screen, where the wheel has left it; none: the chosen one is seen.
    pub wheel: Option<usize>,
    /// The field whose values were asked for, and those that were seen.
    pub values: Option<Seen>,
}

/// What would fit where nothing does.
#[derive(Debug, Default, PartialEq)]
pub enum Relaxed {
    #[default]
    Unknown,
    Asked,
    Fits(Query),
    /// No filter with one condition less does.
    Nothing,
}

impl Filter {
    /// The filter that the rows are asked with.
    pub fn in_force(&self) -> &Query {
        if self.off { &EVERYTHING } else { &self.query }
    }

    /// Whether anything may be hidden.
    pub fn is_on(&self) -> bool {
        self.in_force().expr.is_some()
    }

    /// Takes in what is being typed: a word that may still become the name of a field is not
    /// searched for. Whether other rows fit now.
    pub fn take_unfinished(&mut self, text: &str) -> bool {
        let Some(at) = undecided(text) else {
            return self.take(text);
        };
        text.clone_into(&mut self.text);
        self.error = Some(QueryError {
            at,
            message: "a name that goes on, or with Enter a word to look for".to_owned(),
            nearest: None,
        });
        false
    }

    /// Takes in what was typed. Whether other rows fit now.
    pub fn take(&mut self, text: &str) -> bool {
        text.clone_into(&mut self.text);
        match Query::parse(text) {
            Ok(query) => {
                self.error = None;
                let same = query == *self.in_force();
                self.query = query;
                self.off = false;
                !same
            }
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

impl Popup {
    /// Looks at what may come next. The field whose values are to be asked for, if it is another
    /// one than before.
    pub fn look(&mut self, text: &str, caret: usize) -> Option<Field> {
        let completion = complete(text, caret);
        (self.at, self.wheel) = (None, None);
        let wants = completion.wants_values_of;
        let known = self.values.as_ref().map(|seen| seen.field);
        if wants != known {
            self.values = wants.map(|field| Seen {
                field,
                values: Vec::new(),
            });
        }
        self.fill(text, &completion);
        wants.filter(|_| wants != known)
    }

    /// The candidates of the language, then the values that were seen.
    fn fill(&mut self, text: &str, completion: &Completion) {
        self.replace = completion.replace.clone();
        let known = completion.candidates.iter();
        self.candidates = known
            .map(|one| (one.text.clone(), one.help.clone()))
            .collect();
        let typed = text.get(self.replace.clone()).unwrap_or_default();
        let begins = typed.trim_start_matches('"').to_lowercase();
        let Some(Seen { field, values }) = &self.values else {
            return;
        };
        let field = *field;
        let fitting = values
            .iter()
            .filter(|(value, _)| value.to_lowercase().contains(&begins));
        for (value, count) in fitting {
            let seen = mcpreel_wire::text::plural(*count, "time");
            let text = value_text(field, value);
            let known = self.candidates.iter_mut().find(|(word, _)| *word == text);
            match known {
                Some((_, help)) if help.is_empty() => *help = seen,
                Some((_, help)) => *help = format!("{seen}: {help}"),
                // All words of a fixed list are there already, but for those that do not fit.
                None if matches!(field.kind_of_values(), Type::Words(_)) => {}
                None => self.candidates.push((text, seen)),
            }
        }
    }

    pub fn seen(&mut self, seen: Seen, text: &str, caret: usize) {
        let asked = self.values.as_ref();
        if asked.is_some_and(|asked| asked.field == seen.field) {
            self.values = Some(seen);
            let at = self.at;
            self.fill(text, &complete(text, caret));
            self.at = at.filter(|at| *at < self.candidates.len());
        }
    }

    /// The text with the chosen or first candidate in it, and where the caret is then.
    pub fn completed(&self, text: &str) -> Option<(String, usize)> {
        let (candidate, _) = self.candidates.get(self.at.unwrap_or(0))?;
        let (head, tail) = (
            text.get(..self.replace.start)?,
            text.get(self.replace.end..)?,
        );
        let caret = head.len() + candidate.len();
        Some((format!("{head}{candidate}{tail}"), caret))
    }
}

/// Whether the filter is being typed.
pub fn is_edited(app: &App) -> bool {
    matches!(app.overlays.last(), Some(Overlay::Prompt(prompt)) if prompt.purpose == Purpose::Filter)
}

pub fn offer(app: &mut App, session: &mut Session) -> Effects {
    let item = session.list.selected_item();
    let entries = item.map(alike).unwrap_or_default();
    if entries.is_empty() {
        app.notices
            .success("nothing of this row can be filtered by", app.now);
        return vec![];
    }
    let menu = Menu::new("filter rows with the same …", entries);
    app.overlays.push(Overlay::Menu(menu));
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

/// The conditions that all have to hold; none of a filter that everything fits.
pub fn conditions(query: &Query) -> Vec<Expr> {
    match query.expr.clone() {
        None => Vec::new(),
        Some(Expr::And(all)) => all,
        Some(expr) => vec![expr],
    }
}

/// The filter that fits where all of these hold.
pub fn all_of(mut all: Vec<Expr>) -> Query {
    let expr = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expr::And(all)),
    };
    Query { expr }
}

/// The exchanges that fit `query`: in the list notifications and lines are rows too.
pub fn requests(query: &Query) -> Question {
    let requests = Expr::Compare {
        subject: Subject::Field(Field::Kind),
        op: Op::Contains,
        value: Value::Text {
            text: "request".into(),
            quoted: false,
        },
    };
    let expr = match &query.expr {
        None => requests,
        Some(expr) => Expr::And(vec![requests, expr.clone()]),
    };
    Question {
        lens: Lens::Exchanges,
        query: Query { expr: Some(expr) },
        until: None,
    }
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
    app.overlays.push(Overlay::Prompt(prompt));
    look(app, session)
}

/// The text of the filter and the byte at which the caret stands.
fn typed(app: &App) -> Option<(String, usize)> {
    let Some(Overlay::Prompt(prompt)) = app.overlays.last() else {
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
    let ask = |field| app.questions.ask(Slot::Hints, Counting::new(field));
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
        app.overlays
            .push(Overlay::Prompt(Prompt::new(Purpose::Filter, "")));
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
            match app.overlays.pop() {
                Some(Overlay::Prompt(prompt)) => done(app, session, prompt.input.value()),
                _ => vec![],
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
    let Some(Overlay::Prompt(prompt)) = app.overlays.last_mut() else {
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
fn seen(app: &mut App, session: &mut Session, field: Field, values: Vec<(String, u64)>) -> Effects {
    if let Some((text, caret)) = typed(app) {
        let seen = Seen { field, values };
        session.filter.popup.seen(seen, &text, caret);
    }
    vec![]
}

/// It is known what would fit where nothing does.
fn relaxed(session: &mut Session, relaxed: Relaxed) -> Effects {
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
    vec![app.questions.ask(Slot::Hints, job)]
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
    use super::*;

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
