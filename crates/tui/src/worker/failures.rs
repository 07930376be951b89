//! Where the next failed exchange is.

use super::{Answer as Answers, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Flag};

/// How long a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

#[derive(Clone, Debug)]
pub struct Ask {
    pub generation: u64,
    pub way: Way,
    pub from: Option<ItemKey>,
    /// Which rows are shown.
    pub question: Question,
}

#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub way: Way,
    pub found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    At(ItemKey),
    /// This row, from the other end on.
    Wrapped(ItemKey),
    /// Only this row, which the filter hides.
    Hidden(ItemKey),
    Nothing,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Looking {
            ask: self,
            places: vec![Place::Hidden, Place::Wrapped, Place::Onward],
            scan: None,
        })
    }
}

struct Looking {
    ask: Ask,
    /// Where it is still looked for, the first place last.
    places: Vec<Place>,
    scan: Option<Scan>,
}

#[derive(Clone, Copy)]
enum Place {
    Onward,
    Wrapped,
    Hidden,
}

impl Looking {
    fn scan(&self, source: &Source<'_>, place: Place) -> Scan {
        let failed = Expr::Is(Flag::Failed);
        let expr = match (place, self.ask.question.query.expr.clone()) {
            (Place::Onward | Place::Wrapped, Some(shown)) => Expr::And(vec![shown, failed]),
            _ => failed,
        };
        let question = Question {
            query: Query { expr: Some(expr) },
            ..self.ask.question.clone()
        };
        let from = match place {
            Place::Onward => self.ask.from,
            Place::Wrapped | Place::Hidden => None,
        };
        Scan::new(&question, self.ask.way, from, source.context())
    }
}

impl Job for Looking {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let found = if let Some(place) = self.places.last().copied() {
            let mut scan = match self.scan.take() {
                Some(scan) => scan,
                None => self.scan(source, place),
            };
            let limit = Limit {
                hits: 1,
                nanos: STEP_NS,
                clock: source.clock,
            };
            let step = scan.step(source.recording, &limit)?;
            match (step.hits.first(), place) {
                (Some(hit), Place::Onward) => Found::At(hit.key),
                (Some(hit), Place::Wrapped) => Found::Wrapped(hit.key),
                (Some(hit), Place::Hidden) => Found::Hidden(hit.key),
                (None, _) => {
                    if step.done {
                        self.places.pop();
                    } else {
                        self.scan = Some(scan);
                    }
                    return Ok(Progress::More);
                }
            }
        } else {
            Found::Nothing
        };
        answers.push(Answers::Failure(Answer {
            generation: self.ask.generation,
            way: self.ask.way,
            found,
        }));
        Ok(Progress::Done)
    }
}
