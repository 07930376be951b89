//! What is said of one exchange, and of one thing that a server offers.

use crate::compare::{Change, Class, Half};
use crate::judge::{List, Missing};
use crate::report::Trouble;
use mcpreel_trace::frame::Seq;

/// One difference between two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In the request or in the response.
    pub half: Half,
    /// Where in the message, in the grammar of paths; empty for the message itself. Escaped.
    pub path: Box<str>,
    pub class: Class,
    pub change: Change,
    /// What the left side has: JSON as on the wire, escaped, at most 256 bytes.
    pub left: Option<Box<str>>,
    pub right: Option<Box<str>>,
    /// What it means, where that takes a sentence: a property that is newly required. Escaped.
    pub note: Option<Box<str>>,
    /// The rule by which it would be passed over, as a rules file has it, in several lines.
    pub rule: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both sides have it, and they differ.
    Differs,
    /// Only the left side has it, or nothing could be compared with it.
    Missing(Missing),
    More,
    /// Something that belongs to no exchange, or to one of which nothing else is said.
    Remark(Remark),
}

/// Something that is said besides what two messages differ in: a server request that never came,
/// an end that was not clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The frame of the left side that it is about.
    pub left: Option<Seq>,
    pub right: Option<Seq>,
    /// The method that it is about; empty for none.
    pub method: Box<str>,
    pub name: Option<Box<str>>,
    pub class: Class,
    pub text: Box<str>,
    /// Whether it decides how the command ends.
    pub trouble: Option<Trouble>,
}

/// An exchange of which something is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The request's frame on the left.
    pub left: Option<Seq>,
    /// The request's frame on the right.
    pub right: Option<Seq>,
    pub method: Box<str>,
    /// Tool, prompt or resource, escaped.
    pub name: Option<Box<str>>,
    pub outcome: Outcome,
    /// The worst that was found, `None` where that is nothing.
    pub class: Option<Class>,
    pub differences: Vec<Difference>,
    pub more: u64,
}

/// A difference in what a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub list: List,
    /// The tool, prompt or resource; empty for the list itself. Escaped.
    pub name: Box<str>,
    /// The request for the list on the left, the first in which this was seen.
    pub left: Option<Seq>,
    /// The request for the list on the right.
    pub right: Option<Seq>,
    /// What differs; its note says what it means.
    pub difference: Difference,
    /// How often it was seen: a list may be asked for again and again.
    pub times: u64,
}
