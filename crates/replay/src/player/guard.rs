//! Which tools may be called: those that say that they only read, and those that the user names.
//!
//! What goes out is judged, not what the recording says that it is: it may be a stranger's, and a
//! server may take for a call what others do not. For the same reason only this user's own recordings
//! say what a tool does; of any other the server that is driven has to say it.

use super::script::LONGEST;
use mcpreel_share::export::all_rows;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// Bytes of tool names that are put on record with a replay, whose first record has to hold them.
/// Calls of tools that are left out are refused.
const MOST_NAMES: usize = 8 * 1024;

/// Tools whose hints are kept. A server that lists more is hostile, and its tools are refused.
const MOST_TOOLS: usize = 100_000;

/// Whether tools only read, by their names.
type Hints = HashMap<Box<str>, bool>;

/// Says which tools may be called.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whether every tool may be called.
    all: bool,
    /// Tools that the user allowed by name.
    named: HashSet<Box<str>>,
    /// Whether the word of the recording counts.
    is_own: bool,
    /// By the latest lists in the recording.
    recorded: Hints,
    /// By what the server says now, once it has said something.
    live: Option<Hints>,
}

impl Guard {
    /// Knows what the recorded server said of its tools; the latest list counts. `is_own` if this user
    /// made the recording.
    pub fn from_recording(recording: &Recording, is_own: bool) -> Result<Self, ReadError> {
        let mut guard = Self {
            is_own,
            ..Self::default()
        };
        // The lists of the recording that this one was made from came before its own.
        let read_only = recording.summary()?.context.read_only_tools;
        let read_only = read_only.into_iter().map(|tool| (tool.into(), true));
        guard.recorded.extend(read_only);
        each_tool_list(recording, |result| learn(&mut guard.recorded, result))?;
        Ok(guard)
    }

    /// Takes in what the live server said of its tools in `replay`, the recording of a replay of it.
    pub fn learn_live(&mut self, replay: &Recording) -> Result<(), ReadError> {
        each_tool_list(replay, |result| self.live_list(result))
    }

    /// Takes a live result of `tools/list` in.
    pub fn live_list(&mut self, result: Value<'_>) {
        learn(self.live.get_or_insert_default(), result);
    }

    /// The tools whose recorded calls are not allowed, with the number of those calls. Names are
    /// as on the wire.
    pub fn refused_calls(
        &self,
        recording: &Recording,
        until: Option<Seq>,
        wanted: &mut dyn FnMut(&Exchange) -> bool,
    ) -> Result<BTreeMap<Box<str>, u64>, ReadError> {
        let mut counts = BTreeMap::new();
        // All exchanges: a frequent method is found sooner among all than by its name.
        recording.each_exchange(|exchange| {
            let is_past = until.is_some_and(|until| exchange.request.0 > until);
            let tool = exchange.name.as_deref().unwrap_or_default();
            let is_call = exchange.method == "tools/call" && !is_past;
            if is_call && !self.allows(tool) && wanted(&exchange) {
                *counts.entry(tool.into()).or_default() += 1;
            }
        })?;
        Ok(counts)
    }

    /// The names of tools that are called in `recording` and are known to only read, sorted.
    pub fn read_only_tools(&self, recording: &Recording) -> Result<Vec<String>, ReadError> {
        let live = self.live.iter().flatten().map(|(tool, _)| tool);
        let tools = self.recorded.keys().chain(live);
        let reading: BTreeSet<_> = tools.filter(|tool| self.only_reads(tool)).collect();
        let (mut names, mut left) = (Vec::new(), MOST_NAMES);
        for tool in reading {
            if tool.len() <= left && recording.has_exchange_with("tools/call", tool)? {
                left -= tool.len();
                names.push(tool.to_string());
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

    pub fn allows(&self, tool: &str) -> bool {
        self.all || self.named.contains(tool) || self.only_reads(tool)
    }

    /// Whether only a recording of somebody else says of this tool that it only reads.
    pub fn is_claimed(&self, tool: &str) -> bool {
        self.recorded.get(tool) == Some(&true) && !self.is_own && self.live.is_none()
    }

    /// Why a tool may not be called, escaped; `None` where it may.
    pub fn refusal(&self, tool: &str) -> Option<String> {
        let why = match &self.live {
            _ if self.allows(tool) => return None,
            _ if self.is_claimed(tool) => {
                "only reads by a recording that is not your own; the server has not said so"
            }
            Some(live) if !live.contains_key(tool) => {
                "is not among the tools that the server has listed"
            }
            None if !self.recorded.contains_key(tool) => {
                "is in no list of tools on record: nothing says that it only reads"
            }
            _ => "does not say that it only reads",
        };
        Some(format!("{} {why}", escape(tool)))
    }

    /// The hints of the live server count more than the recorded ones: the live one is driven.
    fn only_reads(&self, tool: &str) -> bool {
        let live = self.live.as_ref().and_then(|live| live.get(tool));
        let recorded = || self.recorded.get(tool).filter(|_| self.is_own);
        live.or_else(recorded) == Some(&true)
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

fn learn(hints: &mut Hints, result: Value<'_>) {
    let tools = result.get("tools");
    for tool in tools.into_iter().flat_map(|tools| tools.elements()) {
        let Some(name) = tool.get("name").and_then(|name| name.as_str()) else {
            continue;
        };
        let hint = || tool.get("annotations")?.get("readOnlyHint")?.as_bool();
        if hints.len() < MOST_TOOLS || hints.contains_key(&*name) {
            hints.insert(name.into(), hint() == Some(true));
        }
    }
}

/// Gives `visit` the result of every `tools/list` in `recording`.
fn each_tool_list(
    recording: &Recording,
    mut visit: impl FnMut(Value<'_>),
) -> Result<(), ReadError> {
    let page = |after: &_| recording.exchanges_with("tools/list", *after, PAGE);
    for exchange in all_rows(ExchangeId(0), page, |one| one.id) {
        let exchange = exchange?;
        if exchange.response_size <= LONGEST
            && let Some((seq, part)) = exchange.response
            && let Some(bytes) = recording.message_bytes(seq, part)?
            && let Ok(document) = Document::parse(&bytes)
            && let Some(result) = document.root().get("result")
        {
            visit(result);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    const READS: &str = r#","annotations":{"readOnlyHint":true}"#;

    /// Tools with their other members, as a list of the recording (0) or of the server (1).
    fn list(guard: &mut Guard, side: usize, tools: &[(&str, &str)]) {
        let tools = tools.iter();
        let tools: Vec<_> = tools
            .map(|(name, annotations)| format!(r#"{{"name":"{name}"{annotations}}}"#))
            .collect();
        let text = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
        let document = Document::parse(text.as_bytes()).unwrap();
        match side {
            0 => learn(&mut guard.recorded, document.root()),
            _ => guard.live_list(document.root()),
        }
    }

    fn guard(is_own: bool, tools: &[(&str, &str)]) -> Guard {
        let mut guard = Guard {
            is_own,
            ..Guard::default()
        };
        list(&mut guard, 0, tools);
        guard
    }

    #[test]
    fn only_a_tool_that_says_that_it_reads_may_be_called() {
        let silent = "says-nothing does not say that it only reads";
        let mut guard = guard(
            true,
            &[
                ("reads", READS),
                ("writes", r#","annotations":{"readOnlyHint":false}"#),
                ("says-nothing", ""),
                (
                    "says-it-wrongly",
                    r#","annotations":{"readOnlyHint":"true"}"#,
                ),
            ],
        );
        for (tool, why) in [
            ("reads", None),
            ("writes", Some("writes does not say")),
            ("says-nothing", Some(silent)),
            ("says-it-wrongly", Some("says-it-wrongly does not say")),
            ("unknown", Some("unknown is in no list of tools on record")),
        ] {
            let refusal = guard.refusal(tool);
            assert_eq!(refusal.is_some(), why.is_some(), "{tool}");
            let refusal = refusal.unwrap_or_default();
            assert!(refusal.starts_with(why.unwrap_or_default()), "{refusal}");
        }
        guard.allow("writes");
        assert!(guard.allows("writes"));
        guard.allow_all();
        assert!(guard.allows("unknown"));
    }

    #[test]
    fn a_call_is_refused_wherever_a_server_may_read_one() {
        let mut guard = guard(true, &[("reads", READS), ("writes", "")]);
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
    fn only_an_own_recording_says_what_a_tool_does_and_the_server_counts_more() {
        let tools = [("one", READS), ("other", "")];
        let mut strange = guard(false, &tools);
        strange.recorded.insert("third".into(), true);
        let why = strange.refusal("one").unwrap();
        assert!(why.contains("a recording that is not your own"), "{why}");
        assert!(strange.is_claimed("third") && !strange.is_claimed("other"));
        list(&mut strange, 1, &tools);
        assert!(strange.allows("one") && !strange.allows("other") && !strange.allows("third"));
        let why = strange.refusal("third").unwrap();
        assert!(why.contains("not among the tools"), "{why}");

        let mut own = guard(true, &tools);
        assert!(own.allows("one") && !own.allows("other"));
        list(&mut own, 1, &[("one", ""), ("other", READS)]);
        assert!(!own.allows("one") && own.allows("other"));
    }
}
