//! Values of log messages that were seen: they stand in bodies only, so the newest of these are
//! read, step by step.

use super::{HintsAnswer, Seen};
use crate::worker::{Answer, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_wire::json::Document;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Log messages that are read: older ones hardly have other values, and nobody should wait.
const READ: usize = 5_000;

const APART: usize = 1_000;

const SIZE: u64 = 64 * 1024;

/// Longer values are none that somebody filters by.
const LENGTH: usize = 200;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Counts the values of `level` or `logger`.
pub(super) struct Logged {
    field: Field,
    scan: Option<Scan>,
    seen: BTreeMap<String, u64>,
    read: usize,
    /// Whether something was not looked at.
    skipped: bool,
}

impl Logged {
    /// Whether the values of the field stand in log messages only.
    pub fn has(field: Field) -> bool {
        matches!(field, Field::Level | Field::Logger)
    }

    pub fn new(field: Field) -> Self {
        Self {
            field,
            scan: None,
            seen: BTreeMap::new(),
            read: 0,
            skipped: false,
        }
    }

    fn look(&mut self, source: &Source<'_>, key: ItemKey) -> Result<(), ReadError> {
        self.read += 1;
        let head = source.recording.head(key.seq)?;
        if head.is_none_or(|head| head.size > SIZE) {
            self.skipped = true;
            return Ok(());
        }
        let bytes = source.recording.message_bytes(key.seq, key.nth)?;
        let value = bytes.and_then(|bytes| value(&bytes, self.field.as_str()));
        let Some(value) = value else {
            return Ok(());
        };
        if self.seen.len() < APART || self.seen.contains_key(&value) {
            *self.seen.entry(value).or_default() += 1;
        } else {
            self.skipped = true;
        }
        Ok(())
    }

    /// What was seen, the most frequent first.
    fn answer(&self, is_done: bool) -> Answer {
        let seen = self.seen.iter();
        let mut values: Vec<_> = seen.map(|(value, count)| (value.clone(), *count)).collect();
        values.sort_by_key(|(_, count)| Reverse(*count));
        values.truncate(super::hints::VALUES);
        Answer::Hints(HintsAnswer::Values(Seen {
            field: self.field,
            values,
            at_least: !is_done || self.skipped,
        }))
    }
}

impl Job for Logged {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let begin = || Scan::new(&question(), Way::Newest, None, source.context());
        let mut scan = self.scan.take().unwrap_or_else(begin);
        let limit = Limit {
            hits: 128.min(READ - self.read),
            nanos: STEP_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        for hit in &step.hits {
            self.look(source, hit.key)?;
        }
        self.scan = Some(scan);
        answers.push(self.answer(step.done));
        Ok(if step.done || self.read >= READ {
            Progress::Done
        } else {
            Progress::More
        })
    }
}

fn question() -> Question {
    let method = Expr::Compare {
        subject: Subject::Field(Field::Method),
        op: Op::Equal,
        value: Value::Text {
            text: "notifications/message".into(),
            quoted: true,
        },
    };
    Question {
        lens: Lens::Wire,
        query: Query { expr: Some(method) },
        until: None,
    }
}

/// The value of this parameter of a log message.
fn value(message: &[u8], name: &str) -> Option<String> {
    let document = Document::parse(message).ok()?;
    let value = document.root().get("params")?.get(name)?;
    let value = value.as_str()?;
    (value.len() <= LENGTH).then(|| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_text_of_the_parameters_that_somebody_could_type() {
        let logger = |json: &str| value(json.as_bytes(), "logger");
        let said =
            r#"{"method":"notifications/message","params":{"logger":"poll","level":"info"}}"#;
        assert_eq!(logger(said).as_deref(), Some("poll"));
        for none in [r#"{"params":{"logger":7}}"#, r#"{"logger":"x"}"#, "no JSON"] {
            assert_eq!(logger(none), None, "{none}");
        }
        let long = format!(r#"{{"params":{{"logger":"{}"}}}}"#, "x".repeat(LENGTH + 1));
        assert_eq!(logger(&long), None);
    }
}
