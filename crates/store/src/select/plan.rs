//! The rows of a source in a range of frames, with what columns tell of them.

use super::compile::Compiler;
use super::condition::Condition;
use super::source::Source;
use super::{Context, Hit, Question};
use crate::values::{from_sql, to_sql};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, ItemKind};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// The first parameter that a condition may use: before it stand those of the range.
pub(super) const FIRST_VALUE: usize = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub hit: Hit,
    /// Whether it does fit, as far as columns can tell.
    pub sure: bool,
}

/// How the rows of a source are asked for.
#[derive(Debug)]
pub(super) struct Plan {
    pub source: Source,
    /// Where most messages are rows of their own, and where not.
    dense: String,
    sparse: String,
    values: Vec<Value>,
}

impl Plan {
    /// `None` if no row of `source` can fit.
    pub fn new(source: Source, question: &Question, context: Context) -> Option<Self> {
        let compiler = Compiler {
            source,
            context,
            until: question.until,
        };
        let bounds = compiler.query(&question.query);
        if bounds.may == Condition::Constant(false) {
            return None;
        }
        let mut values = Vec::new();
        let mut head = source.head().to_owned();
        if bounds.is_exact() {
            head.push('1');
        } else {
            head.push_str("coalesce(");
            bounds.sure.write(&mut head, &mut values, FIRST_VALUE);
            head.push_str(", 0)");
        }
        let mut condition = String::from(" AND ");
        bounds.may.write(&mut condition, &mut values, FIRST_VALUE);
        Some(Self {
            source,
            dense: [&head, source.range(true), &condition].concat(),
            sparse: [&head, source.range(false), &condition].concat(),
            values,
        })
    }

    /// Adds the rows in the frames `lo..=hi` that may fit.
    pub fn run(
        &self,
        conn: &Connection,
        dense: bool,
        (lo, hi): (u64, u64),
        found: &mut Vec<Candidate>,
    ) -> rusqlite::Result<()> {
        let sql = if dense { &self.dense } else { &self.sparse };
        let mut statement = conn.prepare_cached(sql)?;
        let range = [to_sql(lo), to_sql(hi)].map(Value::from);
        let mut rows = statement.query(params_from_iter(range.iter().chain(&self.values)))?;
        while let Some(row) = rows.next()? {
            found.push(candidate(row)?);
        }
        Ok(())
    }
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
