//! Going over a recording, frame range by frame range.

use super::column::Source;
use super::compile::{Compiler, Tests};
use super::{Context, Hit, Question, Step, Way};
use crate::indexer::derive::{Deriver, Text};
use crate::indexer::write::Writer;
use crate::reader::{ReadError, Recording};
use crate::schema;
use crate::schema::{from_sql, to_sql};
use mcpreel_trace::clock::{Deadline, Moment};
use mcpreel_trace::frame::{Carried, FrameHead, Seq, StreamId};
use mcpreel_trace::item::{ItemKey, ItemKind, Lens};
use mcpreel_trace::query::Query;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// Frames of the first range: about as many as a screen may need.
const FIRST_RANGE: u64 = 512;

/// The same where bytes of messages are read, which may be long.
const FIRST_OF_BODIES: u64 = 32;

/// Frames of the smallest and of the largest range. Smaller ones cost more in statements than in
/// rows, unless their bytes are read; larger ones gain nothing.
const LEAST: u64 = 64;
const MOST: u64 = 1 << 19;

/// The time that a range should take, nanoseconds: steps cannot be shorter than that, nor end more
/// exactly.
const RANGE_NS: u64 = 1_500_000;

/// The index of the few rows of [`Source::Alone`] that have a name.
const NAMED_ALONE: &str = "message_alone_named WHERE m.name IS NOT NULL AND";

const NEWEST: &str = "SELECT frames, (SELECT coalesce(max(id), 0) FROM event) FROM recording";

/// The rows of a range of frames, the address that is reached when all of them were taken, and
/// whether nothing comes after it.
type Looked = (Vec<Hit>, ItemKey, bool);

/// Goes over a recording in steps and finds the rows that fit.
///
/// It may go on after it was done: a scan from the oldest then finds what has come since.
#[derive(Debug)]
pub struct Scan {
    filter: Filter,
    until: Option<Seq>,
    way: Way,
    at: Option<ItemKey>,
    range: u64,
}

/// A filter as SQL.
#[derive(Debug)]
pub(super) struct Filter {
    /// The query for the rows of each source, and its values.
    queries: Vec<(String, Vec<Value>)>,
    tests: Tests,
    reads_bodies: bool,
}

impl Filter {
    pub fn new(question: &Question, context: Context) -> Self {
        let mut compiler = Compiler::new(&question.query, context);
        let query = |source: &Source| {
            let (condition, values) = compiler.condition(*source);
            let (columns, rows) = (source.columns(), source.range());
            let mut sql = format!("SELECT {columns} FROM {rows} AND {condition}");
            if compiler.needs_name() {
                sql = sql.replace("message_alone WHERE", NAMED_ALONE);
            }
            (sql, values)
        };
        Self {
            queries: Source::of(question.lens).iter().map(query).collect(),
            reads_bodies: compiler.reads_bodies(),
            tests: compiler.finish(),
        }
    }

    pub fn install(&self, conn: &Connection) -> rusqlite::Result<()> {
        self.tests.install(conn)
    }

    /// The rows in the frames `lo..=hi` that fit, in no order.
    pub fn rows(&self, conn: &Connection, (lo, hi): (u64, u64)) -> rusqlite::Result<Vec<Hit>> {
        let range = [to_sql(lo), to_sql(hi)].map(Value::from);
        let mut found = Vec::new();
        for (sql, values) in &self.queries {
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query(params_from_iter(range.iter().chain(values)))?;
            while let Some(row) = rows.next()? {
                found.push(hit(row)?);
            }
        }
        Ok(found)
    }
}

/// [`Source::columns`].
fn hit(row: &Row<'_>) -> rusqlite::Result<Hit> {
    let seq = Seq(row.get(0).map(from_sql)?);
    let nth = row.get(1).map(from_sql)?;
    // An unknown word is damage, and shown as what it is: a message of no known kind.
    let kind = ItemKind::parse(row.get_ref(2)?.as_str()?).unwrap_or(ItemKind::Other);
    let key = match kind {
        ItemKind::Event => ItemKey::of_event(seq, nth),
        _ => ItemKey::of_part(seq, u32::try_from(nth).unwrap_or(u32::MAX)),
    };
    let fold = row.get_ref(3)?.as_str_or_null()?.map(fold_of);
    Ok(Hit { key, kind, fold })
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

/// The address of the last thing in a recording.
fn last_key(conn: &Connection, until: Option<Seq>) -> rusqlite::Result<ItemKey> {
    let mut statement = conn.prepare_cached(NEWEST)?;
    statement.query_row([], |row| {
        let frames = Seq(row.get(0).map(from_sql)?);
        let seq = until.map_or(frames, |until| frames.min(until));
        // Of the last frame everything is on record, of the events after it perhaps not.
        let event = row.get(1).map(from_sql)?;
        Ok(ItemKey::of_event(seq, event))
    })
}

impl Scan {
    /// A scan for `question` that begins after `from`, or at the end of the recording where its
    /// [`Way`] begins.
    pub fn new(question: &Question, way: Way, from: Option<ItemKey>, context: Context) -> Self {
        let filter = Filter::new(question, context);
        Self {
            range: if filter.reads_bodies {
                FIRST_OF_BODIES
            } else {
                FIRST_RANGE
            },
            filter,
            until: question.until,
            way,
            at: from,
        }
    }

    /// Goes on until `hits` rows were found, at least one, or soon after the deadline. At least
    /// one range of frames is looked at.
    pub fn step(
        &mut self,
        recording: &Recording,
        hits: usize,
        deadline: Deadline,
    ) -> Result<Step, ReadError> {
        let most = hits.max(1);
        let mut step = Step::default();
        recording.read(|conn| self.filter.install(conn))?;
        while step.hits.len() < most && !step.done {
            let began = deadline.clock.now();
            let held = recording.hold()?;
            let range = self.look(recording)?;
            drop(held);
            let took = deadline.clock.now().ns_since(began);
            let Some((mut found, end, is_last)) = range else {
                step.done = true;
                break;
            };
            let room = most - step.hits.len();
            let is_full = found.len() > room;
            found.truncate(room);
            step.hits.append(&mut found);
            self.adapt(took, is_full);
            if is_full {
                self.at = step.hits.last().map(|hit| hit.key);
                break;
            }
            (self.at, step.done) = (Some(end), is_last);
            // The next range would take as long.
            if deadline.left_ns() <= took {
                break;
            }
        }
        step.looked_at = self.at;
        Ok(step)
    }

    /// Rows lie about as close as before, so the next range should take [`RANGE_NS`]; but it does
    /// not grow much at once, in case they do not.
    fn adapt(&mut self, took: u64, is_full: bool) {
        let range = match took {
            _ if is_full => self.range / 2,
            0..=RANGE_NS => {
                let fitting = self.range.saturating_mul(RANGE_NS) / took.max(1);
                fitting.min(self.range.saturating_mul(2))
            }
            _ => self.range.saturating_mul(RANGE_NS) / took,
        };
        let least = if self.filter.reads_bodies { 1 } else { LEAST };
        self.range = range.clamp(least, MOST);
    }

    /// Looks at the next range of frames; `None` if there is nothing to look at.
    fn look(&mut self, recording: &Recording) -> Result<Option<Looked>, ReadError> {
        let last = recording.read(|conn| last_key(conn, self.until))?;
        let Some((lo, hi)) = self.next(last) else {
            self.at = self.at.or(Some(last));
            return Ok(None);
        };
        let mut hits = recording.read(|conn| self.filter.rows(conn, (lo, hi)))?;
        hits.retain(|hit| self.is_ahead(hit.key));
        hits.sort_unstable_by_key(|hit| hit.key);
        let (end, is_last) = match self.way {
            Way::Newest => {
                hits.reverse();
                (ItemKey::of_part(Seq(lo), 0), lo == 0)
            }
            Way::Oldest if hi == last.seq.0 => (last, true),
            Way::Oldest => (ItemKey::of_part(Seq(hi), u32::MAX), false),
        };
        Ok(Some((hits, end, is_last)))
    }

    /// The frames that are looked at next, both included; `None` if there are none.
    fn next(&self, end: ItemKey) -> Option<(u64, u64)> {
        let last = end.seq.0;
        let more = self.range - 1;
        if self.way == Way::Newest {
            let hi = match self.at {
                Some(at) if at.nth == 0 => at.seq.0.checked_sub(1)?,
                Some(at) => at.seq.0,
                None => last,
            };
            let hi = hi.min(last);
            return Some((hi.saturating_sub(more), hi));
        }
        let lo = match self.at {
            Some(at) if at >= end => return None,
            Some(at) if at.nth == u32::MAX => at.seq.0 + 1,
            Some(at) => at.seq.0,
            None => 0,
        };
        Some((lo, last.min(lo.saturating_add(more))))
    }

    fn is_ahead(&self, key: ItemKey) -> bool {
        self.at.is_none_or(|at| match self.way {
            Way::Newest => key < at,
            Way::Oldest => key > at,
        })
    }
}

// Filters of a request that is on no record: the condition on an exchange, over a recording in
// memory that has only this one.

const CLEAR: &str = "DELETE FROM frame; DELETE FROM message; DELETE FROM line;
    DELETE FROM exchange; DELETE FROM finding";

/// Whether requests fit a filter.
#[derive(Debug)]
pub struct LiveFilter {
    filter: Filter,
    conn: Connection,
}

impl LiveFilter {
    pub fn new(query: &Query) -> rusqlite::Result<Self> {
        let question = Question::new(Lens::Exchanges, query.clone());
        let context = Context {
            end: Moment(0),
            slow_ns: u64::MAX,
        };
        let filter = Filter::new(&question, context);
        let mut conn = Connection::open_in_memory()?;
        let transaction = conn.transaction()?;
        schema::migrate(&transaction)?;
        transaction.commit()?;
        filter.install(&conn)?;
        Ok(Self { filter, conn })
    }

    /// Whether a request of the client that has no answer yet fits, sent at `now`.
    pub fn fits(&self, bytes: &[u8], now: Moment) -> rusqlite::Result<bool> {
        self.conn.execute_batch(CLEAR)?;
        let head = FrameHead {
            seq: Seq(1),
            stream: StreamId::C2S,
            offset: 0,
            t_first: now,
            t_last: now,
            size: bytes.len() as u64,
            carried: Carried::default(),
        };
        let mut writer = Writer::prepare(&self.conn)?;
        writer.frame(&head, &bytes, None)?;
        let mut deriver = Deriver::default();
        deriver.frame(&head, Text::Whole(bytes));
        deriver.flush(&mut writer)?;
        Ok(!self.filter.rows(&self.conn, (1, 1))?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::selecting::filters;

    /// Otherwise every range would cost as much as the whole recording.
    #[test]
    fn no_filter_looks_at_more_than_the_frames_of_its_range() {
        let mut conn = Connection::open_in_memory().unwrap();
        let transaction = conn.transaction().unwrap();
        schema::migrate(&transaction).unwrap();
        transaction.commit().unwrap();
        let filters = filters().map(|(text, _)| text);
        for text in filters.chain(["method=tools/call status=lost", "method=ping OR method=a"]) {
            let query = Query::parse(text).unwrap();
            for lens in [Lens::Exchanges, Lens::Wire] {
                let question = Question::new(lens, query.clone());
                let context = Context {
                    end: Moment(0),
                    slow_ns: 1,
                };
                let filter = Filter::new(&question, context);
                filter.install(&conn).unwrap();
                for ((sql, values), source) in filter.queries.iter().zip(Source::of(lens)) {
                    let plan = format!("EXPLAIN QUERY PLAN {sql}");
                    let mut plan = conn.prepare(&plan).unwrap();
                    let range = [1, 9].map(Value::from);
                    let range = params_from_iter(range.iter().chain(values));
                    let steps = plan
                        .query_map(range, |row| row.get::<_, String>(3))
                        .unwrap();
                    let steps: Vec<_> = steps.map(Result::unwrap).collect();
                    let row = format!("SEARCH {} ", &source.columns()[..1]);
                    for step in &steps {
                        let is_ranged = !step.starts_with(&row) || step.contains(">? AND ");
                        let is_scan = step.starts_with("SCAN");
                        assert!(is_ranged && !is_scan, "{text} {lens:?}: {steps:#?}");
                    }
                }
            }
        }
    }
}
