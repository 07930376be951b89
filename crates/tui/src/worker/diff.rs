//! What differs between two exchanges.

mod same;
mod text;

pub use same::same_call;

use super::{Answer as Answers, Job, Progress, Source};
use crate::app::diff::{Compared, Far, Part};
use mcpreel_replay::compare::{Half, Side, Terms, compare_by};
use mcpreel_replay::recorded::Bound;
use mcpreel_replay::rules::{Rules, files};
use mcpreel_share::phrases::sentence;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use text::text_of;

/// How long one look for the call before may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

#[derive(Clone, Debug)]
pub struct Ask {
    pub generation: u64,
    pub lens: Lens,
    /// One of them; none for the call of the same method and name before the other.
    pub left: Option<ItemKey>,
    pub right: ItemKey,
}

#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub found: Found,
}

#[derive(Debug)]
pub enum Found {
    Not(Far),
    Compared(Box<Compared>),
    /// Nothing to compare: why, one sentence.
    Nothing(String),
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Comparing {
            ask: self,
            stage: Stage::Begin,
            by: By::default(),
        })
    }
}

struct Comparing {
    ask: Ask,
    stage: Stage,
    by: By,
}

/// How far it is: one of these per step, so that others are answered in between.
enum Stage {
    Begin,
    /// Looking for the call before, from this frame back.
    Looking(Box<Exchange>, Box<Scan>, Seq),
    Requests(Box<[Exchange; 2]>),
    Responses(Box<[Exchange; 2]>, Part),
    Done,
}

impl Job for Comparing {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        let next = match stage {
            Stage::Begin => match By::beside(source.recording.path(), Arc::default()) {
                Ok(by) => {
                    self.by = by;
                    self.begin(source)?
                }
                Err(why) => Err(why),
            },
            Stage::Looking(right, scan, from) => self.look(source, right, scan, from)?,
            Stage::Requests(both) => {
                let part = self.part(source, &both, Half::Request)?;
                Ok(Stage::Responses(both, part))
            }
            Stage::Responses(both, request) => {
                let response = self.part(source, &both, Half::Response)?;
                let [left, right] = *both;
                let compared = Compared::new(left, right, request, response);
                return Ok(self.tell(Found::Compared(Box::new(compared)), answers));
            }
            Stage::Done => return Ok(Progress::Done),
        };
        match next {
            Ok(stage) => {
                if let Some(far) = stage.far() {
                    self.tell(Found::Not(far), answers);
                }
                self.stage = stage;
                Ok(Progress::More)
            }
            Err(reason) => Ok(self.tell(Found::Nothing(reason), answers)),
        }
    }
}

impl Stage {
    fn far(&self) -> Option<Far> {
        match self {
            Self::Looking(_, _, seq) => Some(Far::Looking(*seq)),
            Self::Requests(_) => Some(Far::Comparing(Half::Request)),
            Self::Responses(..) => Some(Far::Comparing(Half::Response)),
            Self::Begin | Self::Done => None,
        }
    }
}

/// The next stage, or why there is none.
type Next = Result<Stage, String>;

impl Comparing {
    fn tell(&self, found: Found, answers: &mut Vec<Answers>) -> Progress {
        answers.push(Answers::Diff(Answer {
            generation: self.ask.generation,
            found,
        }));
        Progress::Done
    }

    fn begin(&self, source: &Source<'_>) -> Result<Next, ReadError> {
        let Some(right) = self.exchange(source, self.ask.right)? else {
            let seq = self.ask.right.seq.0;
            return Ok(Err(format!(
                "#{seq} belongs to no call that could be compared"
            )));
        };
        let Some(left) = self.ask.left else {
            let question = Question {
                lens: Lens::Exchanges,
                query: same_call(&right),
                until: None,
            };
            let (seq, part) = right.request;
            let from = Some(ItemKey::of_part(seq, part));
            let scan = Scan::new(&question, Way::Newest, from, source.context());
            return Ok(Ok(Stage::Looking(Box::new(right), Box::new(scan), seq)));
        };
        Ok(match self.exchange(source, left)? {
            Some(left) if left.id == right.id => Err("these are one and the same call".to_owned()),
            Some(left) => Ok(Stage::Requests(Box::new([left, right]))),
            None => Err(format!(
                "#{} belongs to no call that could be compared",
                left.seq.0
            )),
        })
    }

    fn look(
        &self,
        source: &Source<'_>,
        right: Box<Exchange>,
        mut scan: Box<Scan>,
        from: Seq,
    ) -> Result<Next, ReadError> {
        let limit = Limit {
            hits: 1,
            nanos: STEP_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        if let Some(hit) = step.hits.first() {
            let left = exchange_at(source.recording, hit.key)?;
            return Ok(match left {
                Some(left) => Ok(Stage::Requests(Box::new([left, *right]))),
                None => Err("the call before is not there any more".to_owned()),
            });
        }
        if !step.done {
            let seq = step.looked_at.map_or(from, |key| key.seq);
            return Ok(Ok(Stage::Looking(right, scan, seq)));
        }
        let seq = right.request.0.0;
        let name = right.name.as_deref().unwrap_or_default();
        let what = format!("{} {name}", right.method);
        Ok(Err(format!(
            "#{seq} is the first {}; select two rows with Space to compare them",
            mcpreel_wire::text::escape(what.trim_end())
        )))
    }

    /// The exchange that the row `key` is, or belongs to.
    fn exchange(&self, source: &Source<'_>, key: ItemKey) -> Result<Option<Exchange>, ReadError> {
        let items = source.recording.items(self.ask.lens, &[key], None)?;
        let exchange = items.first().and_then(|item| item.exchange());
        let Some((seq, part)) = exchange.map(|exchange| exchange.request) else {
            return Ok(None);
        };
        exchange_at(source.recording, ItemKey::of_part(seq, part))
    }

    fn part(
        &self,
        source: &Source<'_>,
        both: &[Exchange; 2],
        half: Half,
    ) -> Result<Part, ReadError> {
        let [left, right] = both.each_ref().map(|exchange| One {
            recording: source.recording,
            wall_ns: source.summary.wall_ns,
            exchange,
        });
        part([&left, &right], half, &self.by)
    }
}

/// One of two exchanges, and where it is.
pub(super) struct One<'r> {
    pub recording: &'r Recording,
    /// When that began, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    pub exchange: &'r Exchange,
}

impl One<'_> {
    /// When one half of it was sent, nanoseconds since the Unix epoch.
    fn sent_ns(&self, half: Half) -> Option<u64> {
        let t = match half {
            Half::Request => Some(self.exchange.t_request),
            Half::Response => self.exchange.t_response,
        };
        let t = t.filter(|_| self.wall_ns > 0);
        t.map(|t| self.wall_ns.saturating_add(t.0))
    }
}

/// By what two exchanges are compared: the same as their recordings.
#[derive(Default)]
pub(super) struct By {
    rules: Rules,
    bound: Arc<Bound>,
}

impl By {
    /// The rules beside a recording, and what is bound in it and the other one, where they were
    /// compared; or why the rules cannot be used, one sentence.
    pub(super) fn beside(recording: &Path, bound: Arc<Bound>) -> Result<Self, String> {
        let (rules, _) = files::read(&[], recording).map_err(|error| sentence(&error))?;
        Ok(Self { rules, bound })
    }
}

/// Compares one half of two exchanges.
pub(super) fn part([left, right]: [&One<'_>; 2], half: Half, by: &By) -> Result<Part, ReadError> {
    let mut outline = false;
    let texts = [
        text_of([left, right], half, &mut outline)?,
        text_of([right, left], half, &mut outline)?,
    ];
    let redacted = texts.iter().flatten().map(|(_, values)| values).sum();
    let [then, now] = texts
        .each_ref()
        .map(|text| text.as_ref().map(|(text, _)| &**text));
    let then = then.map(|then| {
        if outline {
            Cow::Borrowed(then)
        } else {
            by.bound.as_now(left.exchange, half, then)
        }
    });
    let side = |one: &One<'_>, text| Side {
        text,
        wall_ns: one.sent_ns(half),
    };
    let exchange = left.exchange;
    let terms = Terms {
        scope: by.rules.scope(&exchange.method, exchange.name.as_deref()),
        ..Terms::default()
    };
    let sides = (side(left, then.as_deref()), side(right, now));
    Ok(Part {
        comparison: compare_by(&terms, half, sides.0, sides.1),
        outline,
        redacted,
        is_bound: matches!(then, Some(Cow::Owned(_))),
    })
}

/// The exchange of the row `key`.
pub(super) fn exchange_at(
    recording: &Recording,
    key: ItemKey,
) -> Result<Option<Exchange>, ReadError> {
    let items = recording.items(Lens::Exchanges, &[key], None)?;
    let item = items.into_iter().next();
    Ok(item.and_then(|item| item.exchange().cloned()))
}
