//! Exchanges whose line for people is not made yet: it is read from the bytes of their messages,
//! which takes longer than all the rest.

use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::summary::{self as line, Answer};
use mcpreel_wire::message::Classifier;
use rusqlite::Row;
use std::ops::Range;

/// The bytes of longer messages are not kept until then: those have a line on record, unless
/// somebody else has written it.
const SHORT: usize = 4096;

/// A page of them. The bytes of all messages stand in one place: small pieces of memory that go from
/// thread to thread would have to be given back to the other one.
#[derive(Debug, Default)]
pub struct UnsaidPage {
    pub rows: Vec<Unsaid>,
    bytes: Vec<u8>,
}

/// An exchange, and what its line is made of.
#[derive(Debug)]
pub struct Unsaid {
    pub exchange: Exchange,
    pub until: Option<Seq>,
    pub request: Words,
    /// What the answer says, if it counts and the line says anything of it.
    pub answer: Option<Words>,
}

#[derive(Debug)]
pub enum Words {
    /// In a line; none where there is no message.
    Line(Option<Box<str>>),
    /// In its bytes, which stand there among those of all.
    Bytes(Range<usize>),
}

impl Words {
    /// [`summary_columns`](super::summary_columns), of which the first is at `at`; adds its bytes to
    /// those of all.
    pub fn of(row: &Row<'_>, at: usize, bytes: &mut Vec<u8>) -> rusqlite::Result<Self> {
        let text = row.get_ref(at + 1)?.as_blob_or_null()?;
        let Some(text) = text.filter(|text| text.len() <= SHORT) else {
            return Ok(Self::Line(super::summary(row, at)?));
        };
        let start = bytes.len();
        bytes.extend_from_slice(text);
        Ok(Self::Bytes(start..bytes.len()))
    }

    fn line(&self, bytes: &[u8], classifier: &mut Classifier) -> Option<Box<str>> {
        match self {
            Self::Line(line) => line.clone(),
            Self::Bytes(place) => super::summary_by(classifier, &bytes[place.clone()]),
        }
    }
}

impl Unsaid {
    /// With its line, of which these are the bytes.
    pub fn said(self, bytes: &[u8]) -> Exchange {
        let line = self.line(bytes, &mut Classifier::default());
        self.with(line)
    }

    fn with(self, line: String) -> Exchange {
        let exchange = Exchange {
            summary: line.into(),
            ..self.exchange
        };
        match self.until {
            Some(until) => exchange.at(until),
            None => exchange,
        }
    }

    /// The line for people; only of its request where it was not answered yet.
    fn line(&self, bytes: &[u8], classifier: &mut Classifier) -> String {
        let exchange = &self.exchange;
        let request = self.request.line(bytes, classifier).unwrap_or_default();
        let answer = self.answer.as_ref();
        let answer = answer.and_then(|answer| answer.line(bytes, classifier));
        let answer = answer.as_deref().map(|answer| {
            if is_plain(exchange) {
                Answer::Result(answer)
            } else {
                Answer::Other(answer)
            }
        });
        line::exchange(&exchange.method, &request, answer)
    }
}

/// Whether the line says anything of the answer: mostly it does not, and then that is not read.
pub(super) fn tells_answer(exchange: &Exchange) -> bool {
    line::tells_answer(&exchange.method, is_plain(exchange))
}

/// Whether it was answered by a result, and nothing went wrong.
fn is_plain(exchange: &Exchange) -> bool {
    matches!(exchange.status, Status::Ok | Status::Late) && exchange.code.is_none()
}

impl UnsaidPage {
    /// Adds a row: [`exchange_columns`](super::exchange_columns).
    pub fn push(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.rows.push(super::unsaid(row, &mut self.bytes)?);
        Ok(())
    }

    pub fn said(self) -> Vec<Exchange> {
        let Self { rows, bytes } = self;
        let mut classifier = Classifier::default();
        let said = rows.into_iter().map(|unsaid| {
            let line = unsaid.line(&bytes, &mut classifier);
            unsaid.with(line)
        });
        said.collect()
    }
}
