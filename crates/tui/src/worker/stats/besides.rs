//! What is counted beside exchanges: notifications, and the tools that were listed.

use crate::worker::Source;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::stats::Stats;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Direction;
use std::collections::{BTreeMap, BTreeSet};

/// Frames whose notifications are counted at once.
const FRAMES: u64 = 5_000;

/// Answers to `tools/list` that are read: more pages than a server can mean.
const LISTS: u32 = 50;

/// Bytes of such an answer that are read.
const LIST_BYTES: u64 = 4 << 20;

/// Tools, and methods of notifications, that are told apart.
const NAMES: usize = 5_000;

/// Notifications by direction and method.
#[derive(Default)]
pub(super) struct Notifications {
    counts: BTreeMap<(Direction, Box<str>), u64>,
    /// The frames that were looked at.
    pub frames: Seq,
}

impl Notifications {
    /// Counts some more, up to the frame `last`. Whether that is all.
    pub fn step(&mut self, source: &Source<'_>, last: Seq) -> Result<bool, ReadError> {
        let to = Seq(last.0.min(self.frames.0 + FRAMES));
        for notified in source.recording.notified(self.frames, to)? {
            let key = (notified.direction, notified.method);
            if self.counts.len() < NAMES || self.counts.contains_key(&key) {
                *self.counts.entry(key).or_default() += notified.count;
            }
        }
        self.frames = to;
        Ok(to == last)
    }

    pub fn sorted(&self) -> Vec<(Direction, Box<str>, u64)> {
        let counts = self.counts.iter();
        let mut sorted: Vec<_> = counts
            .map(|((direction, method), count)| (*direction, method.clone(), *count))
            .collect();
        sorted.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
        sorted
    }
}

#[derive(Default)]
pub(super) struct Tools {
    names: BTreeSet<String>,
    /// Where the lists are that were read.
    lists: BTreeSet<(Seq, u32)>,
}

impl Tools {
    /// Reads one list that was not read yet. Whether there is no other one.
    pub fn step(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        let recording = source.recording;
        let lists = recording.answers_of("tools/list", None, LISTS)?;
        let Some(&(seq, part)) = lists.iter().find(|list| !self.lists.contains(list)) else {
            return Ok(true);
        };
        self.lists.insert((seq, part));
        let is_short = |size| size <= LIST_BYTES;
        if recording.head(seq)?.is_some_and(|head| is_short(head.size)) {
            let bytes = recording.message_bytes(seq, part)?.unwrap_or_default();
            for name in tool_names(&bytes) {
                if self.names.len() < NAMES {
                    self.names.insert(name);
                }
            }
        }
        Ok(false)
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Those that no call in `stats` names.
    pub fn never_called(&self, stats: &Stats) -> Vec<String> {
        let names = stats.tools.iter().filter_map(|row| row.name.as_deref());
        let called: BTreeSet<_> = names.collect();
        let never = |name: &&String| !called.contains(name.as_str());
        self.names.iter().filter(never).cloned().collect()
    }
}

/// The names in an answer to `tools/list`.
fn tool_names(bytes: &[u8]) -> Vec<String> {
    let Ok(document) = Document::parse(bytes) else {
        return Vec::new();
    };
    let tools = document.root().get("result");
    let Some(tools) = tools.and_then(|result| result.get("tools")) else {
        return Vec::new();
    };
    let name = |tool: Value<'_>| {
        let name = tool.get("name")?.as_str()?;
        Some(name.into_owned())
    };
    tools.elements().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_those_of_the_list_whatever_else_is_in_it() {
        let list = br#"{"id":1,"result":{"tools":[{"name":"a"},{"title":"x"},7,{"name":"b\n"}]}}"#;
        assert_eq!(tool_names(list), ["a", "b\n"]);
        assert_eq!(tool_names(b"no JSON"), Vec::<String>::new());
    }
}
