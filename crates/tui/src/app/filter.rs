//! Which rows are shown.
//!
//! What is typed is a filter, may become one, or is none. The rows are asked with the last one
//! that was good: a bad one keeps its text, says why, and changes nothing.

use super::{App, Overlay, prompt::Purpose};
use crate::worker::list::Seen;
use mcpreel_trace::query::ast::{Field, Type};
use mcpreel_trace::query::{
    Completion, ErrorKind, Query, QueryError, complete, undecided, value_text,
};

const REMEMBERED: usize = 100;

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
    /// Filters that were used, the newest last.
    pub history: Vec<String>,
    /// Which of them is in the prompt.
    pub recalled: Option<usize>,
    pub popup: Popup,
    /// What would fit where nothing does.
    pub relaxed: Relaxed,
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
    /// It was asked, for the question of this generation.
    Asked(u64),
    /// This would, with so many rows; with `true` at least so many.
    Fits(Query, u64, bool),
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
            kind: ErrorKind::Incomplete,
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

    /// Remembers `text`, which was typed, as the newest.
    pub fn remember(&mut self, text: &str) {
        self.recalled = None;
        if text.trim().is_empty() {
            return;
        }
        self.history.retain(|older| older != text);
        self.history.push(text.to_owned());
        if self.history.len() > REMEMBERED {
            self.history.remove(0);
        }
    }

    /// Goes to an older filter (`by` below 0) or a newer one. Its text; empty past the newest.
    pub fn recall(&mut self, by: isize) -> Option<String> {
        let newest = self.history.len();
        let at = self.recalled.unwrap_or(newest).checked_add_signed(by)?;
        if at > newest || newest == 0 {
            return None;
        }
        self.recalled = (at < newest).then_some(at);
        Some(self.history.get(at).cloned().unwrap_or_default())
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
                at_least: true,
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
        let Some(Seen {
            field,
            values,
            at_least,
        }) = &self.values
        else {
            return;
        };
        let field = *field;
        let or_more = if *at_least { " or more" } else { "" };
        let fitting = values
            .iter()
            .filter(|(value, _)| value.to_lowercase().contains(&begins));
        for (value, count) in fitting {
            let seen = format!("{}{or_more}", mcpreel_wire::text::plural(*count, "time"));
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
    fn older_filters_come_back_and_each_is_remembered_once() {
        let mut filter = Filter::default();
        for text in ["is:failed", "is:open", "is:failed", "  "] {
            filter.take(text);
            filter.remember(text);
        }
        assert_eq!(filter.recall(-1).as_deref(), Some("is:failed"));
        assert_eq!(filter.recall(-1).as_deref(), Some("is:open"));
        assert_eq!(filter.recall(-1), None);
        assert_eq!(filter.recall(1).as_deref(), Some("is:failed"));
        assert_eq!(filter.recall(1).as_deref(), Some(""));
        assert_eq!(filter.recall(1), None);
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
        Seen {
            field,
            values,
            at_least: false,
        }
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
