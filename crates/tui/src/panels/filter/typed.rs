//! The filter that is typed and in force, and the candidates for what may come next.

use crate::panels::prompt::History;
use mcpreel_store::select::Question;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Type, Value};
use mcpreel_trace::query::{Completion, Query, QueryError, complete, undecided, value_text};

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
