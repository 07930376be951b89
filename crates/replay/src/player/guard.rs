//! Which tools may be called: those that say that they only read, and those that the user names.
//!
//! What goes out is judged, not what the recording says that it is: it may be a stranger's, and a
//! server may take for a call what others do not. For the same reason only this user's own recordings
//! say what a tool does; of any other the server that is driven has to say it.

use super::script::LONGEST;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Bytes of tool names that are put on record with a replay, whose first record has to hold them.
/// Calls of tools that are left out are refused.
const MOST_NAMES: usize = 8 * 1024;

/// Tools whose hints are kept. A server that lists more is hostile, and its tools are refused.
const MOST_TOOLS: usize = 100_000;

/// Says which tools may be called.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whether every tool may be called.
    all: bool,
    /// Tools that the user allowed by name.
    named: HashSet<Box<str>>,
    /// Whether the word of the recording counts.
    is_own: bool,
    /// Whether a tool only reads, by its latest list in the recording.
    recorded: HashMap<Box<str>, bool>,
    /// The same, by what the server says now.
    live: HashMap<Box<str>, bool>,
    /// Whether the server has said something.
    is_told: bool,
}

impl Guard {
    /// Allows nothing yet; `is_own` if this user made the recording that is played.
    pub fn new(is_own: bool) -> Self {
        Self {
            is_own,
            ..Self::default()
        }
    }

    /// Knows what the recorded server said of its tools; the latest list counts.
    pub fn from_recording(recording: &Recording, is_own: bool) -> Result<Self, ReadError> {
        let mut guard = Self::new(is_own);
        // The lists of the recording that this one was made from came before its own.
        for tool in &recording.summary()?.context.read_only_tools {
            guard.recorded_as_reading(tool);
        }
        each_tool_list(recording, |result| guard.recorded_list(result))?;
        Ok(guard)
    }

    /// Takes in what the live server said of its tools in `replay`, the recording of a replay of it.
    pub fn learn_live(&mut self, replay: &Recording) -> Result<(), ReadError> {
        each_tool_list(replay, |result| self.live_list(result))
    }

    /// The tools whose recorded calls are not allowed, with the number of those calls. Names are
    /// as on the wire.
    pub fn refused_calls(
        &self,
        recording: &Recording,
        until: Option<Seq>,
        wanted: &mut dyn FnMut(&Exchange) -> bool,
    ) -> Result<BTreeMap<Box<str>, u64>, ReadError> {
        let until = until.unwrap_or(Seq(u64::MAX));
        let (mut counts, mut after) = (BTreeMap::new(), ExchangeId(0));
        loop {
            // All exchanges: a frequent method is found sooner among all than by its name.
            let page = recording.exchanges(after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(counts);
            };
            after = last.id;
            for exchange in page.iter().filter(|one| one.method == "tools/call") {
                if exchange.request.0 > until {
                    return Ok(counts);
                }
                let tool = exchange.name.as_deref().unwrap_or_default();
                if !self.allows(tool) && wanted(exchange) {
                    *counts.entry(tool.into()).or_default() += 1;
                }
            }
        }
    }

    /// The names of tools that are called in `recording` and are known to only read, sorted.
    pub fn read_only_tools(&self, recording: &Recording) -> Result<Vec<String>, ReadError> {
        let mut tools: Vec<_> = self.reading().into_iter().collect();
        tools.sort_unstable();
        let (mut names, mut left) = (Vec::new(), MOST_NAMES);
        for tool in tools {
            if tool.len() <= left && recording.has_exchange_with("tools/call", tool)? {
                left -= tool.len();
                names.push(tool.to_owned());
            }
        }
        Ok(names)
    }

    pub fn allow_all(&mut self) {
        self.all = true;
    }

    pub fn allow(&mut self, name: impl Into<Box<str>>) {
        self.named.insert(name.into());
    }

    /// Takes a recorded result of `tools/list` in.
    pub fn recorded_list(&mut self, result: Value<'_>) {
        learn(&mut self.recorded, result);
    }

    /// A tool only reads: so said the recording from which this one was made.
    pub fn recorded_as_reading(&mut self, tool: &str) {
        add(&mut self.recorded, tool.into(), true);
    }

    /// The tools that only read, by a word that counts.
    pub fn reading(&self) -> HashSet<&str> {
        let tools = self.recorded.keys().chain(self.live.keys());
        let tools = tools.map(|tool| &**tool);
        tools.filter(|tool| self.only_reads(tool)).collect()
    }

    /// Takes a live result of `tools/list` in.
    pub fn live_list(&mut self, result: Value<'_>) {
        self.is_told = true;
        learn(&mut self.live, result);
    }

    pub fn allows(&self, tool: &str) -> bool {
        self.all || self.named.contains(tool) || self.only_reads(tool)
    }

    /// Whether only a recording of somebody else says of this tool that it only reads.
    pub fn is_claimed(&self, tool: &str) -> bool {
        let recorded = self.recorded.get(tool) == Some(&true);
        recorded && !self.is_own && !self.is_told
    }

    /// Why a tool may not be called, escaped; `None` where it may.
    pub fn refusal(&self, tool: &str) -> Option<String> {
        let why = if self.allows(tool) {
            return None;
        } else if self.is_claimed(tool) {
            "only reads by a recording that is not your own; the server has not said so"
        } else if self.is_told && !self.live.contains_key(tool) {
            "is not among the tools that the server has listed"
        } else if !self.is_told && !self.recorded.contains_key(tool) {
            "is in no list of tools on record: nothing says that it only reads"
        } else {
            "does not say that it only reads"
        };
        Some(format!("{} {why}", escape(tool)))
    }

    /// What the server says now counts more than what it said then: it is the one that is driven.
    fn only_reads(&self, tool: &str) -> bool {
        let recorded = || self.recorded.get(tool).filter(|_| self.is_own);
        self.live.get(tool).or_else(recorded) == Some(&true)
    }

    /// Why a line may not go out: for the tool that it calls, or since nobody can say what a server
    /// reads in it. Escaped; `None` where it may.
    pub fn refuses(&self, line: &[u8]) -> Option<String> {
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let text = text.trim_ascii_end();
        if self.all || text.is_empty() {
            return None;
        }
        // Some servers end lines at a carriage return.
        let read = (!text.contains(&b'\r')).then(|| Document::parse(text).ok());
        match read.flatten() {
            Some(document) => self.refuses_in(document.root()),
            None => Some("a line that cannot be read, and may call a tool".to_owned()),
        }
    }

    fn refuses_in(&self, message: Value<'_>) -> Option<String> {
        if let Some(why) = message.elements().find_map(|one| self.refuses_in(one)) {
            return Some(why);
        }
        if !named(message, "method").any(|method| method.is_str("tools/call")) {
            return None;
        }
        let tools = named(message, "params").flat_map(|params| named(params, "name"));
        let tools: Vec<_> = tools
            .map(|tool| tool.as_str().unwrap_or_default())
            .collect();
        match tools.as_slice() {
            [] => self.refusal(""),
            tools => tools.iter().find_map(|tool| self.refusal(tool)),
        }
    }
}

/// All members of this name, for some servers whatever its case.
fn named<'d>(object: Value<'d>, name: &'static str) -> impl Iterator<Item = Value<'d>> {
    let is_it = move |key: &Value<'d>| {
        key.as_str()
            .is_some_and(|key| folded(&key).eq(name.chars()))
    };
    let members = object.members().filter(move |(key, _)| is_it(key));
    members.map(|(_, value)| value)
}

/// Without case, as servers fold it that know of letters like `ſ` and the sign of kelvin.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
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

/// Gives `visit` the result of every `tools/list` in `recording`.
fn each_tool_list(
    recording: &Recording,
    mut visit: impl FnMut(Value<'_>),
) -> Result<(), ReadError> {
    let mut after = ExchangeId(0);
    loop {
        let page = recording.exchanges_with("tools/list", after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        let short = page.iter().filter(|one| one.response_size <= LONGEST);
        for (seq, part) in short.filter_map(|exchange| exchange.response) {
            let Some(bytes) = recording.message_bytes(seq, part)? else {
                continue;
            };
            if let Ok(document) = Document::parse(&bytes)
                && let Some(result) = document.root().get("result")
            {
                visit(result);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

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
        let mut guard = Guard::new(true);
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
    fn a_call_is_refused_wherever_a_server_may_read_one() {
        let mut guard = Guard::new(true);
        let text = list(&[("reads", READS), ("writes", "")]);
        guard.recorded_list(Document::parse(text.as_bytes()).unwrap().root());
        let call = |name: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#
            )
        };
        let (reads, writes) = (call(r#""reads""#), call(r#""writes""#));
        let pings = r#"{"jsonrpc":"2.0","method":"ping"},"#.repeat(5000);
        for line in [
            writes.clone(),
            writes.replace(r#""id":1,"#, ""),
            writes.replace(r#""id":1,"#, r#""id":null,"#),
            writes.replace("tools/call", r"tools\u002fcall"),
            writes.replace("method", "Method"),
            writes.replace("params", "param\u{17f}"),
            writes.replace("params", r#"params":{"name":"reads"},"PARAM\u017f"#),
            writes.replace(r#""method""#, r#""method":"ping","method""#),
            writes.replace(r#""name""#, r#""weight":NaN,"name""#),
            writes.replace(r#""name""#, r#""name":"reads","Name""#),
            call("7"),
            reads.replace(r#""name":"reads""#, ""),
            format!("[{pings}{writes}]"),
            format!("[[{writes}]]"),
            format!("\u{feff}{writes}"),
            format!(r#"{{"method":"ping","_meta":{}{writes}{}}}"#, '\r', '\r'),
            format!("x\r{writes}\r\n"),
        ] {
            assert!(guard.refuses(line.as_bytes()).is_some(), "{line}");
            guard.all = true;
            assert_eq!(guard.refuses(line.as_bytes()), None, "{line}");
            guard.all = false;
        }
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"method":["tools/call"]}}"#;
        let batch = format!("[{reads},{answer}]");
        for line in [
            &reads,
            answer,
            &batch,
            "",
            "\r\n",
            "7",
            &format!("{reads}\r\n"),
        ] {
            assert_eq!(guard.refuses(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn only_an_own_recording_says_what_a_tool_does() {
        let list = list(&[("one", READS), ("other", "")]);
        let list = Document::parse(list.as_bytes()).unwrap();
        let mut guard = Guard::new(false);
        guard.recorded_list(list.root());
        guard.recorded_as_reading("third");
        let why = guard.refusal("one").unwrap();
        assert!(why.contains("a recording that is not your own"), "{why}");
        assert!(guard.is_claimed("third") && !guard.is_claimed("other"));
        assert!(guard.reading().is_empty());
        guard.live_list(list.root());
        assert!(guard.allows("one") && !guard.allows("other") && !guard.allows("third"));
        let why = guard.refusal("third").unwrap();
        assert!(why.contains("not among the tools"), "{why}");
        assert_eq!(guard.reading(), HashSet::from(["one"]));
    }

    #[test]
    fn a_tool_of_which_nothing_is_on_record_is_not_said_to_be_silent() {
        let mut guard = Guard::new(true);
        let list = list(&[("silent", "")]);
        guard.recorded_list(Document::parse(list.as_bytes()).unwrap().root());
        for (tool, why) in [
            ("silent", "silent does not say that it only reads"),
            ("unknown", "unknown is in no list of tools on record"),
        ] {
            let refusal = guard.refusal(tool).unwrap();
            assert!(refusal.starts_with(why), "{refusal}");
        }
    }

    #[test]
    fn what_the_server_says_now_counts_more_than_what_it_said_then() {
        let mut guard = Guard::new(true);
        let then = list(&[("one", READS), ("other", "")]);
        guard.recorded_list(Document::parse(then.as_bytes()).unwrap().root());
        let now = list(&[("one", ""), ("other", READS)]);
        guard.live_list(Document::parse(now.as_bytes()).unwrap().root());
        assert!(!guard.allows("one"));
        assert!(guard.allows("other"));
    }
}
