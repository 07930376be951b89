//! The filter that is typed and in force, and the candidates for what may come next.

use mcpreel_store::select::Question;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Type, Value};
use mcpreel_trace::query::{Query, QueryError, complete, value_text};
use mcpreel_wire::text::plural;
use std::ops::Range;

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
    /// The filter to go back to if what is typed is given up.
    pub before: Option<(String, Query, bool)>,
    pub popup: Popup,
    /// The nearest filter that something fits, where nothing fits this one.
    pub relaxed: Relaxed,
}

/// The candidates for the text at the caret.
#[derive(Debug, Default)]
pub struct Popup {
    /// The bytes of the text that a candidate replaces.
    pub replace: Range<usize>,
    /// The texts of the candidates, with their meaning or how often they were seen.
    pub candidates: Vec<(String, String)>,
    /// The candidate that was chosen with the arrows.
    pub at: Option<usize>,
    /// The field whose values were asked for, and those that were seen, the most frequent first.
    pub values: Option<(Field, Vec<(String, u64)>)>,
}

/// The nearest filter that something fits, where nothing fits the one in force.
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

    /// Takes in what was typed. Whether other rows fit now.
    pub fn take(&mut self, text: &str) -> bool {
        text.clone_into(&mut self.text);
        let parsed = Query::parse(text);
        self.error = parsed.as_ref().err().cloned();
        let Ok(query) = parsed else {
            return false;
        };
        let is_same = query == *self.in_force();
        self.query = query;
        self.off = false;
        !is_same
    }
}

impl Popup {
    /// Looks at what may come next: the candidates of the language, then the values that were
    /// seen. The field whose values are to be asked for, if it is another one than before.
    pub fn look(&mut self, text: &str, caret: usize) -> Option<Field> {
        let completion = complete(text, caret);
        self.at = None;
        self.replace = completion.replace;
        let known = completion.candidates.into_iter();
        self.candidates = known.map(|one| (one.text, one.help)).collect();
        let wants = completion.wants_values_of;
        if wants != self.values.as_ref().map(|(field, _)| *field) {
            self.values = wants.map(|field| (field, Vec::new()));
            return wants;
        }
        let (field, values) = self.values.as_ref()?;
        let typed = text.get(self.replace.clone()).unwrap_or_default();
        let begins = typed.trim_start_matches('"').to_lowercase();
        for (value, count) in values {
            let seen = plural(*count, "time");
            let text = value_text(*field, value);
            let known = self.candidates.iter_mut().find(|(word, _)| *word == text);
            match known {
                Some((_, help)) if help.is_empty() => *help = seen,
                Some((_, help)) => *help = format!("{seen}: {help}"),
                // All words of a fixed list are there already, but for those that do not fit.
                None if matches!(field.kind_of_values(), Type::Words(_)) => {}
                None if value.to_lowercase().contains(&begins) => {
                    self.candidates.push((text, seen));
                }
                None => {}
            }
        }
        None
    }

    /// The text with the chosen or first candidate in it, and where the caret is then.
    pub fn completed(&self, text: &str) -> Option<(String, usize)> {
        let (candidate, _) = self.candidates.get(self.at.unwrap_or(0))?;
        let head = text.get(..self.replace.start)?;
        let tail = text.get(self.replace.end..)?;
        let caret = head.len() + candidate.len();
        Some((format!("{head}{candidate}{tail}"), caret))
    }
}

/// The condition that a field is this text; with [`Op::Contains`] a word of a fixed list.
pub fn is(field: Field, op: Op, text: &str) -> Expr {
    Expr::Compare {
        subject: Subject::Field(field),
        op,
        value: Value::Text {
            text: text.into(),
            quoted: false,
        },
    }
}

/// The filter with these conditions besides its own.
pub fn narrowed(query: &Query, conditions: impl IntoIterator<Item = Expr>) -> Query {
    let mut all = match query.expr.clone() {
        None => Vec::new(),
        Some(Expr::And(all)) => all,
        Some(expr) => vec![expr],
    };
    for condition in conditions {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
    let expr = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expr::And(all)),
    };
    Query { expr }
}

/// The exchanges that fit `query`: in the list notifications and lines are rows too.
pub fn requests(query: &Query) -> Question {
    let requests = Query::parse("kind:request").unwrap_or_default();
    Question {
        lens: Lens::Exchanges,
        query: narrowed(&requests, query.expr.clone()),
        until: None,
    }
}
