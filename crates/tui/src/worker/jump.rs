//! Where the next row of a kind is.

use super::diff::same_call;
use super::search::row_of;
use super::{Answer as Answers, Job, Progress, Source};
use crate::app::menu::JumpTo;
use mcpreel_lint::Severity;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_store::story::{Kinship, Told};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::item::{FindingNote, ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Flag, Subject};

/// How long a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

#[derive(Clone, Debug)]
pub struct Ask {
    pub generation: u64,
    pub to: Target,
    pub way: Way,
    pub from: Option<ItemKey>,
    /// What the rows are and which of them are shown.
    pub question: Question,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The next row of this kind; after the last one comes the first.
    Kind(JumpTo),
    /// The next row that is shown: a step of the time cursor. After the last one comes none.
    Step,
    /// The next row that fits this too: where playing stops.
    Stop(Query),
}

#[derive(Debug)]
pub struct Answer {
    pub ask: Ask,
    pub found: Found,
    /// Of a jump to a finding: the worst in that row.
    pub worst: Option<FindingNote>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    At(ItemKey),
    /// This row, from the other end on.
    Wrapped(ItemKey),
    /// Only this row, which the filter hides.
    Hidden(ItemKey),
    Nothing,
    /// The row that the cursor is on belongs to no call.
    NoCall,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Jumping {
            ask: self,
            stage: Stage::Begin,
        })
    }
}

struct Jumping {
    ask: Ask,
    stage: Stage,
}

/// Where it is looked for, one after the other.
enum Stage {
    Begin,
    Onward(Query, Scan),
    Wrapped(Query, Scan),
    Hidden(Scan),
    Done,
}

impl Job for Jumping {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let found = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Begin => self.begin(source)?,
            Stage::Onward(wanted, mut scan) => match Self::look(source, &mut scan)? {
                Looked::NotYet => {
                    self.stage = Stage::Onward(wanted, scan);
                    None
                }
                Looked::At(key) => Some(Found::At(key)),
                Looked::Nothing => self.other_end(source, wanted),
            },
            Stage::Wrapped(wanted, mut scan) => match Self::look(source, &mut scan)? {
                Looked::NotYet => {
                    self.stage = Stage::Wrapped(wanted, scan);
                    None
                }
                Looked::At(key) => Some(Found::Wrapped(key)),
                Looked::Nothing => self.among_hidden(source, wanted),
            },
            Stage::Hidden(mut scan) => match Self::look(source, &mut scan)? {
                Looked::NotYet => {
                    self.stage = Stage::Hidden(scan);
                    None
                }
                Looked::At(key) => Some(Found::Hidden(key)),
                Looked::Nothing => Some(Found::Nothing),
            },
            Stage::Done => return Ok(Progress::Done),
        };
        let Some(found) = found else {
            return Ok(Progress::More);
        };
        answers.push(Answers::Jump(Answer {
            ask: self.ask.clone(),
            found,
            worst: self.worst(source, found)?,
        }));
        Ok(Progress::Done)
    }
}

enum Looked {
    At(ItemKey),
    NotYet,
    Nothing,
}

impl Jumping {
    fn begin(&mut self, source: &Source<'_>) -> Result<Option<Found>, ReadError> {
        let wanted = match &self.ask.to {
            Target::Kind(JumpTo::Related) => return self.related(source).map(Some),
            Target::Kind(JumpTo::SameCall) => match self.call(source)? {
                Some(exchange) => same_call(&exchange),
                None => return Ok(Some(Found::NoCall)),
            },
            Target::Kind(kind) => query_of(*kind),
            Target::Step => Query::default(),
            Target::Stop(query) => query.clone(),
        };
        let scan = self.scan(
            source,
            both(&self.ask.question.query, &wanted),
            self.ask.from,
        );
        self.stage = Stage::Onward(wanted, scan);
        Ok(None)
    }

    fn scan(&self, source: &Source<'_>, query: Query, from: Option<ItemKey>) -> Scan {
        let question = Question {
            query,
            ..self.ask.question.clone()
        };
        Scan::new(&question, self.ask.way, from, source.context())
    }

    fn look(source: &Source<'_>, scan: &mut Scan) -> Result<Looked, ReadError> {
        let limit = Limit {
            hits: 1,
            nanos: STEP_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        Ok(match (step.hits.first(), step.done) {
            (Some(hit), _) => Looked::At(hit.key),
            (None, true) => Looked::Nothing,
            (None, false) => Looked::NotYet,
        })
    }

    fn other_end(&mut self, source: &Source<'_>, wanted: Query) -> Option<Found> {
        if !matches!(self.ask.to, Target::Kind(_)) {
            return Some(Found::Nothing);
        }
        let scan = self.scan(source, both(&self.ask.question.query, &wanted), None);
        self.stage = Stage::Wrapped(wanted, scan);
        None
    }

    fn among_hidden(&mut self, source: &Source<'_>, wanted: Query) -> Option<Found> {
        if self.ask.question.query.expr.is_none() {
            return Some(Found::Nothing);
        }
        self.stage = Stage::Hidden(self.scan(source, wanted, None));
        None
    }

    /// The worst finding in the row that was found, if a finding was looked for.
    fn worst(&self, source: &Source<'_>, found: Found) -> Result<Option<FindingNote>, ReadError> {
        let (Target::Kind(JumpTo::Finding), Found::At(key) | Found::Wrapped(key)) =
            (&self.ask.to, found)
        else {
            return Ok(None);
        };
        let Question { lens, until, .. } = &self.ask.question;
        let mut items = source.recording.items(*lens, &[key], *until)?;
        let findings = items.pop().map_or_else(Vec::new, |item| item.findings);
        let severity = |finding: &FindingNote| Severity::parse(&finding.severity);
        Ok(findings.into_iter().rev().max_by_key(severity))
    }

    /// The exchange that the row under the cursor is, or belongs to.
    fn call(&self, source: &Source<'_>) -> Result<Option<Exchange>, ReadError> {
        let Some(from) = self.ask.from else {
            return Ok(None);
        };
        let Question { lens, until, .. } = &self.ask.question;
        let items = source.recording.items(*lens, &[from], *until)?;
        Ok(items.first().and_then(|item| item.exchange().cloned()))
    }

    /// The next row that belongs to the same call: requests the other way, other rounds, log
    /// messages, lines in between.
    fn related(&self, source: &Source<'_>) -> Result<Found, ReadError> {
        let Some(exchange) = self.call(source)? else {
            return Ok(Found::NoCall);
        };
        // The story of a child is told by the call in which it was asked.
        let of = exchange.parent.unwrap_or(exchange.id);
        let Some(story) = source.recording.story(of)? else {
            return Ok(Found::NoCall);
        };
        let Question { lens, until, .. } = self.ask.question.clone();
        let mut rows = vec![];
        let (seq, part) = story.exchange.request;
        rows.push(ItemKey::of_part(seq, part));
        for entry in &story.entries {
            let is_family = match &entry.what {
                Told::Message { of, .. } => lens == Lens::Wire || !matches!(of, Kinship::Own),
                Told::Line { .. } | Told::Event(_) => true,
                Told::Finding(_) => false,
            };
            if is_family && until.is_none_or(|until| entry.key.seq <= until) {
                rows.push(match entry.what {
                    Told::Message { .. } if lens == Lens::Exchanges => {
                        row_of(source.recording, lens, entry.key.seq, None)?
                    }
                    _ => entry.key,
                });
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let from = self.ask.from.unwrap_or_default();
        let after = rows.iter().find(|key| **key > from);
        Ok(match (after, rows.first()) {
            (Some(key), _) => Found::At(*key),
            (None, Some(first)) if *first != from => Found::Wrapped(*first),
            _ => Found::Nothing,
        })
    }
}

fn query_of(kind: JumpTo) -> Query {
    let is = Expr::Is;
    let expr = match kind {
        JumpTo::Open => is(Flag::Open),
        JumpTo::Slow => is(Flag::Slow),
        JumpTo::Failure => is(Flag::Failed),
        JumpTo::Finding => Expr::Has(Subject::Field(Field::Finding)),
        JumpTo::Mark => Expr::Or(vec![is(Flag::Marked), is(Flag::Noted)]),
        // These two are not found by what stands in a row alone.
        JumpTo::Related | JumpTo::SameCall => return Query::default(),
    };
    Query { expr: Some(expr) }
}

fn both(a: &Query, b: &Query) -> Query {
    let expr = match (a.expr.clone(), b.expr.clone()) {
        (Some(a), Some(b)) => Some(Expr::And(vec![a, b])),
        (a, b) => a.or(b),
    };
    Query { expr }
}
