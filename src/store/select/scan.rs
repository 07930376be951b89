//! Going over a recording, frame range by frame range.

use super::source::Source;
use super::{Context, Hit, Limit, Question, Step, Way};
use crate::store::reader::{ReadError, Recording};
use crate::store::values::{from_sql, to_sql};
use crate::trace::frame::Seq;
use crate::trace::item::{ItemKey, ItemKind};
use rusqlite::{Connection, Row};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Frames of the first range: about as many as a screen may need.
const FIRST_RANGE: u64 = 512;

/// Frames of the smallest and of the largest range. Smaller ones cost more in statements than in
/// rows, larger ones gain nothing.
const RANGES: std::ops::RangeInclusive<u64> = 64..=1 << 19;

/// How long a range should take, nanoseconds: steps cannot be shorter than that.
const RANGE_NS: u64 = 4_000_000;

const NEWEST: &str = "SELECT frames, (SELECT coalesce(max(id), 0) FROM event),
    messages > 4 * exchanges FROM recording";

/// A row that may fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    hit: Hit,
    /// Whether it does fit, as far as columns can tell.
    sure: bool,
}

/// Goes over a recording in steps and finds the rows that fit.
///
/// It may go on after it was done: a scan from the oldest then finds what has come since.
#[derive(Debug)]
pub struct Scan {
    question: Question,
    way: Way,
    at: Option<ItemKey>,
    range: u64,
}

/// Where the recording ends, and what it is full of.
struct Extent {
    /// The address of the last thing in it.
    last: ItemKey,
    /// Whether most of its messages are rows of their own.
    dense: bool,
}

impl Extent {
    fn of(conn: &Connection, until: Option<Seq>) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached(NEWEST)?;
        statement.query_row([], |row| {
            let frames = Seq(row.get(0).map(from_sql)?);
            let seq = until.map_or(frames, |until| frames.min(until));
            // Of the last frame everything is on record, of the events after it perhaps not.
            let event = row.get(1).map(from_sql)?;
            Ok(Self {
                last: ItemKey::of_event(seq, event),
                dense: row.get(2)?,
            })
        })
    }
}

impl Scan {
    /// A scan for `question` that begins after `from`, or at the end of the recording where it
    /// [`Way`] begins.
    #[must_use]
    pub fn new(question: &Question, way: Way, from: Option<ItemKey>, _context: Context) -> Self {
        Self {
            question: question.clone(),
            way,
            at: from,
            range: FIRST_RANGE,
        }
    }

    /// Goes on within `limit`.
    pub fn step(&mut self, recording: &Recording, limit: &Limit) -> Result<Step, ReadError> {
        let began = limit.clock.now();
        let mut step = Step::default();
        loop {
            let range_began = limit.clock.now();
            let done =
                recording.in_one_read(|recording| self.range(recording, limit, &mut step))?;
            let now = limit.clock.now();
            self.adapt(now.0.saturating_sub(range_began.0));
            step.done = done;
            step.looked_at = self.at;
            let spent = now.0.saturating_sub(began.0) >= limit.nanos;
            if done || spent || step.hits.len() >= limit.hits {
                return Ok(step);
            }
        }
    }

    fn adapt(&mut self, took: u64) {
        let range = match took {
            ..RANGE_NS => self.range.saturating_mul(2),
            _ => self.range / 2,
        };
        self.range = range.clamp(*RANGES.start(), *RANGES.end());
    }

    /// Looks at the next range of frames. Returns whether there is no other one.
    fn range(
        &mut self,
        recording: &Recording,
        limit: &Limit,
        step: &mut Step,
    ) -> Result<bool, ReadError> {
        let extent = recording.read(|conn| Extent::of(conn, self.question.until))?;
        let Some((lo, hi)) = self.next(&extent) else {
            self.at = self.at.or(Some(extent.last));
            return Ok(true);
        };
        let mut found = Vec::new();
        for &source in Source::of(self.question.lens) {
            recording.read(|conn| candidates(conn, source, extent.dense, (lo, hi), &mut found))?;
        }
        found.retain(|candidate| self.is_ahead(candidate.hit.key));
        found.sort_unstable_by_key(|candidate| candidate.hit.key);
        if self.way == Way::Newest {
            found.reverse();
        }
        for candidate in found {
            if step.hits.len() >= limit.hits {
                return Ok(false);
            }
            self.at = Some(candidate.hit.key);
            if candidate.sure {
                step.hits.push(candidate.hit);
            }
        }
        self.at = Some(match self.way {
            Way::Newest => ItemKey::of_part(Seq(lo), 0),
            Way::Oldest if hi == extent.last.seq.0 => extent.last,
            Way::Oldest => ItemKey {
                seq: Seq(hi),
                nth: u32::MAX,
            },
        });
        Ok(match self.way {
            Way::Newest => lo == 0,
            Way::Oldest => hi == extent.last.seq.0,
        })
    }

    /// The frames that are looked at next, both included; `None` if there are none.
    fn next(&self, extent: &Extent) -> Option<(u64, u64)> {
        let last = extent.last.seq.0;
        let more = self.range - 1;
        match (self.way, self.at) {
            (Way::Newest, at) => {
                let hi = match at {
                    Some(at) if at.seq.0 == 0 && at.nth == 0 => return None,
                    Some(at) if at.nth == 0 => last.min(at.seq.0 - 1),
                    Some(at) => last.min(at.seq.0),
                    None => last,
                };
                Some((hi.saturating_sub(more), hi))
            }
            (Way::Oldest, Some(at)) if at >= extent.last => None,
            (Way::Oldest, at) => {
                let lo = match at {
                    Some(at) if at.nth == u32::MAX => at.seq.0 + 1,
                    Some(at) => at.seq.0,
                    None => 0,
                };
                Some((lo, last.min(lo.saturating_add(more))))
            }
        }
    }

    fn is_ahead(&self, key: ItemKey) -> bool {
        self.at.is_none_or(|at| match self.way {
            Way::Newest => key < at,
            Way::Oldest => key > at,
        })
    }
}

/// Adds the rows of `source` in the frames `lo..=hi` that may fit.
fn candidates(
    conn: &Connection,
    source: Source,
    dense: bool,
    (lo, hi): (u64, u64),
    found: &mut Vec<Candidate>,
) -> rusqlite::Result<()> {
    let sql = [source.head(), "1", source.range(dense)].concat();
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([to_sql(lo), to_sql(hi)])?;
    while let Some(row) = rows.next()? {
        found.push(candidate(row)?);
    }
    Ok(())
}

/// `seq, part or event, kind, what runs are folded by, sure`.
fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let seq = Seq(row.get(0).map(from_sql)?);
    let nth = row.get(1).map(from_sql)?;
    // An unknown word is damage, and shown as what it is: a message of no known kind.
    let kind = ItemKind::parse(row.get_ref(2)?.as_str()?).unwrap_or(ItemKind::Other);
    let key = match kind {
        ItemKind::Event => ItemKey::of_event(seq, nth),
        _ => ItemKey::of_part(seq, u32::try_from(nth).unwrap_or(u32::MAX)),
    };
    let fold = row.get_ref(3)?.as_str_or_null()?.map(fold_of);
    Ok(Candidate {
        hit: Hit { key, kind, fold },
        sure: row.get(4)?,
    })
}

/// Stands for a direction and method. The key is random, so that no recording can be made in
/// which two of them look the same.
fn fold_of(text: &str) -> u32 {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    let hash = KEY.get_or_init(RandomState::new).hash_one(text);
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let half = hash as u32;
    half
}
