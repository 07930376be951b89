//! Jobs that help with a filter: the values of a field that were seen, and the nearest filter that
//! something fits.

use super::typed::Relaxed;
use crate::worker::job::{Job, Progress, Source, Step};
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::ast::Field;
use mcpreel_trace::query::{Query, relaxations};

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
        let question = |query| Question {
            lens,
            query,
            until: None,
        };
        Self {
            questions: relaxations.map(question).rev().collect(),
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
