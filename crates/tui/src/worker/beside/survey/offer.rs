//! What could be replayed.

use mcpreel_replay::arguments::Arguments;
use mcpreel_replay::player::Command;
use mcpreel_share::phrases;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Ask {
    pub generation: u64,
    pub path: PathBuf,
    /// The request that the cursor is on, if it is on one.
    pub call: Option<(Seq, u32)>,
}

#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub offer: Box<Offer>,
}

#[derive(Debug)]
pub struct Offer {
    pub path: PathBuf,
    /// The beginning of its id, escaped.
    pub short: String,
    /// Whether it lies outside the folder of recordings: whoever made it chose what is started.
    pub is_stranger: bool,
    /// What is started; or why nothing can be, one sentence, escaped.
    pub command: Result<Command, String>,
    /// Where, escaped; none for the folder that the viewer was started in.
    pub dir: Option<String>,
    /// Where it was recorded, if that folder has gone. Escaped.
    pub gone: Option<String>,
    /// The last frame: what comes later is not replayed.
    pub last: Seq,
    /// The call that the cursor is on.
    pub call: Option<Call>,
    pub whole: Requests,
}

/// A call that can be replayed alone.
#[derive(Debug)]
pub struct Call {
    pub id: ExchangeId,
    /// The rounds of input that it belongs to.
    pub chain: Option<ExchangeId>,
    pub request: (Seq, u32),
    /// The last frame that belongs to it.
    pub until: Seq,
    pub title: String,
    /// What can be edited, or why nothing can.
    pub arguments: Result<Arguments, &'static str>,
    pub alone: Requests,
    /// It, and all that came before it.
    pub up_to: Requests,
}

#[derive(Clone, Debug, Default)]
pub struct Requests {
    pub count: u64,
    /// The first calls of tools that do not say that they only read: which, and what they say,
    /// escaped.
    pub changing: Vec<(Seq, String)>,
    pub changes: u64,
    /// Those among them whose tools say so, in a recording of somebody else.
    pub claimed: u64,
    /// Their tools, as on the wire, with how many calls there are.
    pub tools: BTreeMap<Box<str>, u64>,
    /// The others, escaped, with how many there are of each kind.
    pub others: BTreeMap<String, u64>,
    /// Those that are of none of these kinds.
    pub more: u64,
}

impl Offer {
    /// What is started, in words, escaped.
    pub fn starts(&self) -> Result<String, &str> {
        let command = self.command.as_ref().map_err(String::as_str)?;
        let words = command.words.iter();
        let words: Vec<_> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        Ok(phrases::command(&words))
    }
}

impl Requests {
    /// The tools that may change something.
    pub fn tools(&self) -> BTreeSet<Box<str>> {
        self.tools.keys().cloned().collect()
    }
}
