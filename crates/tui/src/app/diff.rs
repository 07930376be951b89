//! Two exchanges side by side.

use crate::worker::diff::Ask;
use mcpreel_replay::compare::{Class, Comparison, Half, Row};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

#[derive(Debug)]
pub struct Diff {
    /// Names the answer that belongs to it.
    pub generation: u64,
    /// What was asked of the reader, where both calls are of the recording that is open.
    pub asked: Option<Ask>,
    pub stage: Stage,
    /// Whether what is equal is shown too.
    pub unfolded: bool,
    pub at: usize,
    /// The first row on the screen, as far as it was scrolled.
    pub top: usize,
}

#[derive(Debug)]
pub enum Stage {
    Comparing(Far),
    Compared(Box<Compared>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    Asked,
    /// It looks for the call before, and has come back to this frame.
    Looking(Seq),
    /// It compares the requests, or the responses.
    Comparing(Half),
}

#[derive(Debug)]
pub struct Compared {
    /// The earlier one, or the one that was selected first.
    pub left: Exchange,
    pub right: Exchange,
    /// The recordings that they are of; none where they are of the one that is open.
    pub of: Option<[Of; 2]>,
    pub request: Part,
    pub response: Part,
    /// What is on the screen, in order.
    pub rows: Vec<DiffRow>,
    /// The places in `rows` of the differences that are walked: all but noise, unless there is
    /// nothing else.
    pub changes: Vec<usize>,
}

/// The recording that an exchange is of.
#[derive(Clone, Debug)]
pub struct Of {
    pub path: PathBuf,
    /// The beginning of its id, escaped.
    pub short: String,
}

/// The comparison of two messages.
#[derive(Debug, Default)]
pub struct Part {
    pub comparison: Comparison,
    /// Whether a message was so long that only its outline was compared.
    pub outline: bool,
    /// Values that are redacted in one message, which is the other one but for that.
    pub redacted: u64,
    /// Whether the left message is compared as the right side would say it: with what the server
    /// chose there.
    pub is_bound: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffRow {
    /// `request` or `response`, with what was found in it.
    Head(Half),
    Row(Half, Row),
}

impl Diff {
    /// A comparison that was asked for.
    pub fn new(generation: u64) -> Self {
        Self {
            generation,
            asked: None,
            stage: Stage::Comparing(Far::Asked),
            unfolded: false,
            at: 0,
            top: 0,
        }
    }

    /// The comparison, if it is there.
    pub fn compared(&self) -> Option<&Compared> {
        match &self.stage {
            Stage::Comparing(_) => None,
            Stage::Compared(compared) => Some(compared),
        }
    }
}

impl Compared {
    /// Two exchanges with what differs between their messages, equal parts folded.
    pub fn new(left: Exchange, right: Exchange, request: Part, response: Part) -> Self {
        let mut compared = Self {
            left,
            right,
            of: None,
            request,
            response,
            rows: Vec::new(),
            changes: Vec::new(),
        };
        compared.fold(false);
        compared
    }

    /// Shows what is equal, or folds it.
    pub fn fold(&mut self, unfolded: bool) {
        let (mut rows, mut changes, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        for half in [Half::Request, Half::Response] {
            rows.push(DiffRow::Head(half));
            let comparison = &self.part(half).comparison;
            for row in comparison.rows(unfolded).rows {
                match comparison.class(row) {
                    None => {}
                    Some(Class::Noise) => noise.push(rows.len()),
                    Some(_) => changes.push(rows.len()),
                }
                // That a message is an object need not be said.
                if !comparison.is_root_within(row) {
                    rows.push(DiffRow::Row(half, row));
                }
            }
        }
        self.rows = rows;
        self.changes = if changes.is_empty() { noise } else { changes };
    }

    pub fn part(&self, half: Half) -> &Part {
        match half {
            Half::Request => &self.request,
            Half::Response => &self.response,
        }
    }

    /// How many differences of a class there are, in both halves.
    pub fn count(&self, class: Class) -> usize {
        self.request.comparison.count(class) + self.response.comparison.count(class)
    }
}
