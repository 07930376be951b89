//! Where a text occurs.

use super::{Answer as Answers, Growth, Job, Progress, Slot, Source};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::search::{Pace, Pattern, Place, Search, SearchHit};
use mcpreel_store::select::Question;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};

/// How long a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Rows with a hit that are handed over. Whoever finds more has searched for too little.
const MOST: u64 = 20_000;

#[derive(Debug)]
pub enum Ask {
    Find(Find),
    /// What was asked before is of no interest any more.
    Stop,
}

/// What is searched for, and where.
#[derive(Debug)]
pub struct Find {
    pub generation: u64,
    pub pattern: Pattern,
    /// What the rows are, and which of them are shown.
    pub question: Question,
}

#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    /// Rows in which it was found, and whether the filter shows them.
    pub rows: Vec<(ItemKey, bool)>,
    pub hits: u64,
    /// Everything after this frame was looked at, summaries perhaps not.
    pub reached: Seq,
    /// Frames that are not looked at yet.
    pub left: u64,
    pub of: u64,
    /// Whether nothing more is looked at.
    pub end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Done,
    Full,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        match self {
            Self::Find(find) => Box::new(Searching {
                find,
                search: None,
                hits: 0,
                ended: false,
            }),
            Self::Stop => super::nothing(),
        }
    }
}

struct Searching {
    find: Find,
    search: Option<Search>,
    hits: u64,
    ended: bool,
}

impl Job for Searching {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let Some(search) = self.opened(source, answers) else {
            return Ok(Progress::Done);
        };
        let found = search.step(&Pace {
            nanos: STEP_NS,
            clock: source.clock,
        })?;
        let room = MOST.saturating_sub(self.hits);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let hits = &found.hits[..found.hits.len().min(room)];
        self.hits += hits.len() as u64;
        let full = self.hits >= MOST;
        let end = match (found.done, full) {
            (_, true) => Some(End::Full),
            (true, false) => Some(End::Done),
            (false, false) => None,
        };
        self.ended = full;
        answers.push(Answers::Search(Answer {
            generation: self.find.generation,
            rows: self.rows(source, hits)?,
            hits: hits.len() as u64,
            reached: found.reached,
            left: found.left,
            of: found.of,
            end,
        }));
        Ok(match end {
            Some(_) => Progress::Done,
            None => Progress::More,
        })
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        let Some(search) = &mut self.search else {
            return !self.ended;
        };
        if self.ended || growth.last <= growth.after {
            return false;
        }
        search.again(growth.after, growth.last);
        true
    }
}

impl Searching {
    /// The search; none where it cannot be begun, which is told.
    fn opened(&mut self, source: &Source<'_>, answers: &mut Vec<Answers>) -> Option<&mut Search> {
        if self.search.is_none() {
            match Search::new(source.path, &self.find.pattern, None) {
                Ok(search) => self.search = Some(search),
                Err(error) => {
                    let text = mcpreel_wire::text::escape(&error.to_string()).into_owned();
                    answers.push(Answers::Failed(Slot::Search, text));
                    self.ended = true;
                }
            }
        }
        self.search.as_mut()
    }

    /// The rows of these hits, and whether the filter shows them.
    fn rows(
        &self,
        source: &Source<'_>,
        hits: &[SearchHit],
    ) -> Result<Vec<(ItemKey, bool)>, ReadError> {
        let mut keys = Vec::with_capacity(hits.len());
        for hit in hits {
            let at = match &hit.place {
                Place::Bytes(range) => Some(range.start),
                Place::Summary => None,
            };
            keys.push(row_of(
                source.recording,
                self.find.question.lens,
                hit.seq,
                at,
            )?);
        }
        keys.sort_unstable();
        keys.dedup();
        if self.find.question.query.expr.is_none() {
            return Ok(keys.into_iter().map(|key| (key, true)).collect());
        }
        let context = source.context();
        let shown = source
            .recording
            .fitting(&self.find.question, context, &keys)?;
        let is_shown = |key| shown.binary_search(&key).is_ok();
        Ok(keys.into_iter().map(|key| (key, is_shown(key))).collect())
    }
}

/// The row in which the frame `seq` is shown, or the message in it that holds the byte `at`:
/// through the lens of exchanges that of its exchange, unless it is a row of its own.
pub(super) fn row_of(
    recording: &Recording,
    lens: Lens,
    seq: Seq,
    at: Option<u64>,
) -> Result<ItemKey, ReadError> {
    let messages = recording.messages_of_frame(seq)?;
    let holds = |span: &std::ops::Range<u64>| at.is_some_and(|at| span.contains(&at));
    let hit = messages.iter().find(|row| holds(&row.span));
    let Some(hit) = hit.or(messages.first()) else {
        return Ok(ItemKey::of_part(seq, 0));
    };
    let own = ItemKey::of_part(seq, hit.record.part);
    let is_folded = match hit.record.kind {
        MessageKind::Request | MessageKind::Response => true,
        MessageKind::Notification => matches!(
            hit.record.method.as_deref(),
            Some("notifications/progress" | "notifications/cancelled")
        ),
        MessageKind::Other => false,
    };
    let (Lens::Exchanges, Some(id), true) = (lens, hit.record.exchange, is_folded) else {
        return Ok(own);
    };
    let exchange = recording.exchange(id)?;
    Ok(exchange.map_or(own, |exchange| {
        let (seq, part) = exchange.request;
        ItemKey::of_part(seq, part)
    }))
}
