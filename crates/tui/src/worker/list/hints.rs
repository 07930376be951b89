//! What helps with a filter: values seen of a field, and what would fit where nothing does.

use super::logged::Logged;
use crate::worker::{Answer, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Question, Scan, Values, Way};
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::ast::Field;
use mcpreel_trace::query::{Query, relaxations};

pub(super) const VALUES: usize = 50;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Rows that are counted of a relaxation; more are told as at least so many.
const COUNTED: u64 = 10_000;

/// Steps in which one relaxation is looked through.
const STEPS: u32 = 100;

const TRIED: usize = 8;

#[derive(Clone, Debug)]
pub enum Hints {
    Values(Field),
    /// Of the filters with one condition less the first that something fits.
    Relax {
        generation: u64,
        lens: Lens,
        query: Query,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub field: Field,
    /// The values, the most frequent first, with how often.
    pub values: Vec<(String, u64)>,
    /// Whether that is only at least so often: not everything was looked at, or not yet.
    pub at_least: bool,
}

#[derive(Debug)]
pub enum HintsAnswer {
    /// Values seen. Comes again as more is looked at.
    Values(Seen),
    /// What would fit, with how many rows, and whether that is only at least so many.
    Relaxed {
        generation: u64,
        fits: Option<(Query, u64, bool)>,
    },
}

impl Hints {
    pub(crate) fn job(self) -> Box<dyn Job> {
        match self {
            Self::Values(field) if Logged::has(field) => Box::new(Logged::new(field)),
            Self::Values(field) => Box::new(Counting {
                field,
                values: Values::new(field),
            }),
            Self::Relax {
                generation,
                lens,
                query,
            } => Box::new(Relaxing {
                generation,
                questions: relaxations(&query)
                    .into_iter()
                    .take(TRIED)
                    .map(|query| Question {
                        lens,
                        query,
                        until: None,
                    })
                    .rev()
                    .collect(),
                scan: None,
                counted: 0,
                steps: 0,
            }),
        }
    }
}

struct Counting {
    field: Field,
    values: Values,
}

impl Job for Counting {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let Some(values) = self.values.step(source.recording, VALUES)? else {
            return Ok(Progress::More);
        };
        answers.push(Answer::Hints(HintsAnswer::Values(Seen {
            field: self.field,
            values,
            at_least: false,
        })));
        Ok(Progress::Done)
    }
}

struct Relaxing {
    generation: u64,
    /// Those that are still to be tried, the nearest last.
    questions: Vec<Question>,
    scan: Option<Scan>,
    counted: u64,
    steps: u32,
}

impl Relaxing {
    fn tell(&self, fits: Option<(Query, u64, bool)>) -> Answer {
        Answer::Hints(HintsAnswer::Relaxed {
            generation: self.generation,
            fits,
        })
    }
}

impl Job for Relaxing {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let Some(question) = self.questions.last() else {
            answers.push(self.tell(None));
            return Ok(Progress::Done);
        };
        let scan = self
            .scan
            .get_or_insert_with(|| Scan::new(question, Way::Newest, None, source.context()));
        let limit = Limit {
            hits: 1024,
            nanos: STEP_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        self.counted += step.hits.len() as u64;
        self.steps += 1;
        let gives_up = self.counted >= COUNTED || self.steps >= STEPS;
        if !step.done && !gives_up {
            return Ok(Progress::More);
        }
        if self.counted > 0 {
            let fits = (question.query.clone(), self.counted, !step.done);
            answers.push(self.tell(Some(fits)));
            return Ok(Progress::Done);
        }
        self.questions.pop();
        self.scan = None;
        self.steps = 0;
        Ok(Progress::More)
    }
}
