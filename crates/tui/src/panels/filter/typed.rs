//! The filter that is typed and in force, the candidates for what may come next, and the jobs that
//! help with a filter.

use crate::panels::search::hits::Term;
use crate::worker::job::{Job, Progress, Source, Step};
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Type, Value};
use mcpreel_trace::query::{Query, QueryError, complete, relaxations, value_text};
use mcpreel_wire::text::plural;
use std::ops::Range;

/// The filter that fits everything.
static EVERYTHING: Query = Query { expr: None };

/// What is offered first where nothing is typed yet; the first ones are counted.
const OFFERS: [(&str, &str); 7] = [
    ("is:failed", "failures"),
    ("is:open", "open calls"),
    ("latency>1s", "slow calls"),
    ("tool:", "calls of one tool"),
    ("kind:request", "calls"),
    ("dir:s2c", "from the server"),
    ("kind:stderr", "lines of stderr"),
];

/// A filter as it was: its text, the last good one, whether it was off.
pub type Before = (String, Query, bool);

#[derive(Debug, Default)]
pub struct Filter {
    pub text: String,
    /// Why that is no filter, if it is none.
    pub error: Option<QueryError>,
    pub query: Query,
    /// Its words, which are marked where nothing is searched for.
    words: Vec<Term>,
    /// Whether everything is shown all the same.
    pub off: bool,
    /// The filter to go back to if what is typed is given up.
    pub before: Option<Before>,
    /// The row under the cursor before, unless that was the last one, whichever that is.
    pub row_before: Option<ItemKey>,
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
    /// How many have failed and how many are open, once that is known.
    pub counts: Option<[u64; 2]>,
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
    pub fn as_before(&self) -> Before {
        (self.text.clone(), self.query.clone(), self.off)
    }

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
        self.put(query, false);
        !is_same
    }

    pub fn put(&mut self, query: Query, off: bool) {
        let words = query.texts().filter_map(|text| Term::parse(text).ok());
        self.words = words.collect();
        (self.query, self.off) = (query, off);
    }

    /// The words that all rows have.
    pub fn words(&self) -> &[Term] {
        if self.off { &[] } else { &self.words }
    }
}

impl Popup {
    /// Looks at what may come next: the candidates of the language, then the values that were
    /// seen. The field whose values are to be asked for, if it is another one than before.
    pub fn look(&mut self, text: &str, caret: usize) -> Option<Field> {
        let completion = complete(text, caret);
        self.at = None;
        self.replace = completion.replace;
        let mut counts = self.counts.into_iter().flatten();
        let offers = OFFERS.into_iter().filter(|_| text.trim().is_empty());
        let offers = offers.map(|(text, help)| {
            let counted = |count| plural(count, help.trim_end_matches('s'));
            let told = counts.next().map_or_else(|| help.to_owned(), counted);
            (text.to_owned(), told)
        });
        let known = completion.candidates.into_iter();
        let known = known.map(|(text, help)| (text.to_owned(), help.to_owned()));
        self.candidates = offers.collect();
        for known in known {
            if !self.candidates.iter().any(|(text, _)| *text == known.0) {
                self.candidates.push(known);
            }
        }
        let typed = text.get(self.replace.clone()).unwrap_or_default();
        self.candidates.retain(|(text, _)| text != typed);
        let wants = completion.wants_values_of;
        if wants != self.values.as_ref().map(|(field, _)| *field) {
            self.values = wants.map(|field| (field, Vec::new()));
            return wants;
        }
        let (field, values) = self.values.as_ref()?;
        let typed = text.get(self.replace.clone()).unwrap_or_default();
        let begins = typed.trim_start_matches('"').to_lowercase();
        for (value, times) in values {
            let seen = plural(*times, "time");
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
    Question::new(Lens::Exchanges, narrowed(&requests, query.expr.clone()))
}

const VALUES: u32 = 50;

/// The time that a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

const TRIED: usize = 8;

/// A field and the values of it that were seen, the most frequent first, with how often.
pub type Seen = (Field, Vec<(String, u64)>);

/// Counts the values of a field.
pub struct Counting(pub Field);

impl Job for Counting {
    type Found = Seen;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let values = source.recording.values_of(self.0, VALUES)?;
        Ok((Progress::Done, Some((self.0, values))))
    }
}

/// Looks for the first filter with one condition less that something fits.
pub struct Relaxing {
    /// The filters that are still to be tried, the nearest last.
    questions: Vec<Question>,
    scan: Option<Scan>,
}

impl Relaxing {
    pub fn new(lens: Lens, query: &Query) -> Self {
        let relaxations = relaxations(query).into_iter().take(TRIED);
        let questions = relaxations.map(|query| Question::new(lens, query));
        Self {
            questions: questions.rev().collect(),
            scan: None,
        }
    }
}

impl Job for Relaxing {
    type Found = Relaxed;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let Some(question) = self.questions.last() else {
            return Ok((Progress::Done, Some(Relaxed::Nothing)));
        };
        let begin = || Scan::new(question, Way::Newest, None, source.context());
        let scan = self.scan.get_or_insert_with(begin);
        let step = scan.step(source.recording, 1, source.clock.deadline(STEP_NS))?;
        if !step.hits.is_empty() {
            let fits = Relaxed::Fits(question.query.clone());
            return Ok((Progress::Done, Some(fits)));
        }
        if step.done {
            self.scan = None;
            self.questions.pop();
        }
        Ok((Progress::More, None))
    }
}
