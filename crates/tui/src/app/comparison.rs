//! Two recordings, call beside call.

mod rows;

use mcpreel_replay::compare::Class;
use mcpreel_replay::recorded::Bound;
use mcpreel_replay::report::{Account, Offer, Report};
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;
use std::sync::Arc;

/// Two recordings, call beside call.
#[derive(Debug)]
pub struct Comparison {
    /// Names the answer that belongs to it.
    pub generation: u64,
    pub stage: Stage,
    /// Whether what is the same is shown too.
    pub unfolded: bool,
    pub at: usize,
    /// The first row on the screen, as far as it was scrolled.
    pub top: usize,
    /// The call on the left that is opened as soon as it is compared: it was replayed alone.
    pub opens: Option<Seq>,
}

#[derive(Debug)]
pub enum Stage {
    Comparing(Far),
    Compared(Box<Compared>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    Asked,
    /// So many exchanges are read. How many are to be compared is known when all are.
    Read(usize),
    /// So many exchanges of so many are compared.
    Compared(usize, usize),
}

#[derive(Debug)]
pub struct Compared {
    /// The one to go by, and the other one.
    pub sides: [Side; 2],
    /// What differs, with what is worth a sentence.
    pub report: Report,
    /// Methods, each with its tool, prompt or resource. Escaped.
    pub calls: Vec<(Box<str>, Option<Box<str>>)>,
    /// All exchanges, in the order of the left side.
    pub pairs: Vec<Pair>,
    /// What the server chose on the left and what stands for it on the right, as far as it is known.
    pub bound: Arc<Bound>,
    /// What is said of the sessions as a whole: how much it matters, one sentence, escaped.
    pub said: Vec<(Option<Class>, Box<str>)>,
    /// Exchanges of the left side that were not to be replayed.
    pub left_out: u64,
    /// Why the call that was to be replayed was not made, where that is so: one sentence, escaped.
    pub not_made: Option<Box<str>>,
    pub counts: Counts,
    /// What is on the screen, in order.
    pub rows: Vec<Row>,
    /// The places in `rows` of what differs: all but noise, unless there is nothing else.
    pub changes: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls, offers and sentences about the whole of each class.
    pub of: [u64; Class::ALL.len()],
    pub same: u64,
    pub not_tried: u64,
}

#[derive(Clone, Debug)]
pub struct Side {
    pub path: PathBuf,
    /// The beginning of its id, escaped.
    pub short: String,
    /// What it is of and what made it, escaped.
    pub title: String,
}

/// An exchange of both sides, or of one.
#[derive(Debug)]
pub struct Pair {
    pub sides: [Option<Occurrence>; 2],
    /// Which call it is: a place in [`Compared::calls`].
    pub call: usize,
    /// The worst that differs; none where nothing does, or where it was not tried.
    pub class: Option<Class>,
    /// Whether that is said already, of what the server offers.
    pub is_listed: bool,
    /// What is said of it: a place in the accounts of [`Compared::report`].
    pub account: Option<usize>,
    /// What became of it, in a sentence, escaped.
    pub said: Option<Box<str>>,
}

/// How an exchange went on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The frame of its request, and its place in a batch.
    pub request: (Seq, u32),
    pub status: Status,
    pub latency_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    Head(Part),
    /// Something about the sessions as a whole.
    Said(usize),
    /// Something that the server offers.
    Offer(usize),
    Pair(usize),
    /// So many exchanges that are the same; of so many of them this is not quite true.
    Folded(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// How the sessions went as a whole.
    Session,
    Offers,
    Calls,
}

impl Comparison {
    /// A comparison that was asked for.
    pub fn new(generation: u64, opens: Option<Seq>) -> Self {
        Self {
            generation,
            stage: Stage::Comparing(Far::Asked),
            unfolded: false,
            at: 0,
            top: 0,
            opens,
        }
    }

    /// The row of the call that is this one on the left, if both sides have it; what is the same is
    /// unfolded where that hides it.
    pub fn row_of(&mut self, seq: Seq) -> Option<usize> {
        let Stage::Compared(compared) = &mut self.stage else {
            return None;
        };
        if let Some(at) = compared.row_of(seq) {
            return Some(at);
        }
        compared.fold(true);
        self.unfolded = true;
        compared.row_of(seq)
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
    fn is_listed(&self, row: Row) -> bool {
        let pair = match row {
            Row::Pair(at) => self.pairs.get(at),
            _ => None,
        };
        pair.is_some_and(|pair| pair.is_listed)
    }

    /// Method and tool, prompt or resource of a pair. Escaped.
    pub fn call(&self, pair: &Pair) -> (&str, Option<&str>) {
        let call = self.calls.get(pair.call);
        call.map_or(("", None), |(method, name)| (method, name.as_deref()))
    }

    fn row_of(&self, seq: Seq) -> Option<usize> {
        let is_it = |row: &Row| match (row, self.places(*row)) {
            (Row::Pair(_), [Some((left, _)), Some(_)]) => left == seq,
            _ => false,
        };
        self.rows.iter().position(is_it)
    }

    /// How much it matters what a row says.
    pub fn class(&self, row: Row) -> Option<Class> {
        match row {
            Row::Head(_) | Row::Folded(..) => None,
            Row::Said(at) => self.said.get(at)?.0,
            Row::Offer(at) => Some(self.report.offers.get(at)?.difference.class),
            Row::Pair(at) => self.pairs.get(at)?.class,
        }
    }

    /// What the row is about on both sides: where the request stands.
    pub fn places(&self, row: Row) -> [Option<(Seq, u32)>; 2] {
        match row {
            Row::Head(_) | Row::Folded(..) | Row::Said(_) => [None; 2],
            Row::Offer(at) => {
                let offer = self.report.offers.get(at);
                let seqs = offer.map_or([None; 2], |offer| [offer.left, offer.right]);
                seqs.map(|seq| seq.map(|seq| (seq, 0)))
            }
            Row::Pair(at) => {
                let sides = self.pairs.get(at).map_or([None; 2], |pair| pair.sides);
                sides.map(|side| side.map(|side| side.request))
            }
        }
    }

    /// What the row says more of, where there is more.
    pub fn account(&self, row: Row) -> Option<&Account> {
        match row {
            Row::Pair(at) => {
                let account = self.pairs.get(at)?.account?;
                self.report.accounts.get(account)
            }
            _ => None,
        }
    }

    /// What the server offers, where the row is about that.
    pub fn offer(&self, row: Row) -> Option<&Offer> {
        match row {
            Row::Offer(at) => self.report.offers.get(at),
            _ => None,
        }
    }
}

impl Pair {
    /// Whether nothing that matters is to be said of it.
    pub fn is_same(&self) -> bool {
        self.class.is_none_or(|class| class == Class::Noise) && self.said.is_none()
    }
}
