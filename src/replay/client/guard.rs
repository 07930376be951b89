//! Which tools may be called: those that say that they only read, and those that the user names.

use crate::protocol::json::Value;
use std::collections::{HashMap, HashSet};

/// Tools whose hints are kept. A server that lists more is hostile, and its tools are refused.
const MOST_TOOLS: usize = 100_000;

/// Says which tools may be called.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whether every tool may be called.
    all: bool,
    /// Tools that the user allowed by name.
    named: HashSet<Box<str>>,
    /// Whether a tool only reads, by its latest list in the recording.
    recorded: HashMap<Box<str>, bool>,
    /// The same, by what the server says now.
    live: HashMap<Box<str>, bool>,
}

impl Guard {
    /// Allows every tool.
    pub fn allow_all(&mut self) {
        self.all = true;
    }

    /// Allows a tool.
    pub fn allow(&mut self, name: impl Into<Box<str>>) {
        self.named.insert(name.into());
    }

    /// Takes a recorded result of `tools/list` in.
    pub fn recorded_list(&mut self, result: Value<'_>) {
        learn(&mut self.recorded, result);
    }

    /// A tool only reads: so said the recording from which this one was made.
    pub fn recorded_reading(&mut self, tool: &str) {
        add(&mut self.recorded, tool.into(), true);
    }

    /// Whether a tool only reads, as the recording says.
    #[must_use]
    pub fn is_recorded_reading(&self, tool: &str) -> bool {
        self.recorded.get(tool).copied() == Some(true)
    }

    /// Takes a live result of `tools/list` in.
    pub fn live_list(&mut self, result: Value<'_>) {
        learn(&mut self.live, result);
    }

    /// Whether a tool may be called. What the server says now counts more than what it said then:
    /// it is the one that is driven.
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        let reads = || self.live.get(tool).or_else(|| self.recorded.get(tool));
        self.all || self.named.contains(tool) || reads().copied() == Some(true)
    }
}

fn learn(hints: &mut HashMap<Box<str>, bool>, result: Value<'_>) {
    let tools = result.get("tools");
    for tool in tools.into_iter().flat_map(|tools| tools.elements()) {
        let Some(name) = tool.get("name").and_then(|name| name.as_str()) else {
            continue;
        };
        let hint = || tool.get("annotations")?.get("readOnlyHint")?.as_bool();
        add(hints, name.into(), hint() == Some(true));
    }
}

fn add(hints: &mut HashMap<Box<str>, bool>, name: Box<str>, reads: bool) {
    if hints.len() < MOST_TOOLS || hints.contains_key(&name) {
        hints.insert(name, reads);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::Document;

    fn list(tools: &[(&str, &str)]) -> String {
        let tools: Vec<_> = tools
            .iter()
            .map(|(name, annotations)| format!(r#"{{"name":"{name}"{annotations}}}"#))
            .collect();
        format!(r#"{{"tools":[{}]}}"#, tools.join(","))
    }

    const READS: &str = r#","annotations":{"readOnlyHint":true}"#;

    #[test]
    fn only_a_tool_that_says_that_it_reads_may_be_called() {
        let mut guard = Guard::default();
        let text = list(&[
            ("reads", READS),
            ("writes", r#","annotations":{"readOnlyHint":false}"#),
            ("says-nothing", ""),
            (
                "says-it-wrongly",
                r#","annotations":{"readOnlyHint":"true"}"#,
            ),
        ]);
        guard.recorded_list(Document::parse(text.as_bytes()).unwrap().root());
        let allowed = |guard: &Guard, names: &[&str]| -> Vec<bool> {
            names.iter().map(|name| guard.allows(name)).collect()
        };
        let names = [
            "reads",
            "writes",
            "says-nothing",
            "says-it-wrongly",
            "unknown",
        ];
        assert_eq!(allowed(&guard, &names), [true, false, false, false, false]);
        guard.allow("writes");
        assert!(guard.allows("writes"));
        guard.allow_all();
        assert!(guard.allows("unknown"));
    }

    #[test]
    fn what_the_server_says_now_counts_more_than_what_it_said_then() {
        let mut guard = Guard::default();
        let then = list(&[("one", READS), ("other", "")]);
        guard.recorded_list(Document::parse(then.as_bytes()).unwrap().root());
        let now = list(&[("one", ""), ("other", READS)]);
        guard.live_list(Document::parse(now.as_bytes()).unwrap().root());
        assert!(!guard.allows("one"));
        assert!(guard.allows("other"));
    }
}
