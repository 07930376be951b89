//! Places of values that the server chose, and the messages that need each other because of them.

use super::handle;
use super::known::{Chosen, Slot};
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::methods::canonical;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};

/// Lists whose entries stand in any order: what stands at the same place is not the same thing.
pub(super) const LISTS: [&str; 4] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

/// A value in a message that the server chose.
pub(super) type Place<'d> = (Chosen, Value<'d>);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Client,
    Server,
}

/// The values in `message` that the server chose: it is one of, or an answer to one of, `method`.
pub(super) fn places<'d>(message: Value<'d>, method: &str, from: From) -> Vec<Place<'d>> {
    let params = message.get("params");
    let result = message.get("result");
    let mut places = Vec::new();
    let mut add = |slot, scope: &str, value: Option<Value<'d>>| {
        let text = value.and_then(|value| match slot {
            Slot::Token if value.kind() == Kind::Number => Some(value.raw_text()),
            Slot::Token => value.as_str().map(|_| value.raw_text()),
            _ => value.as_str(),
        });
        places.extend(text.zip(value).map(|(text, value)| {
            let (scope, text) = (scope.into(), text.into());
            let chosen = Chosen {
                slot,
                scope,
                value: text,
            };
            (chosen, value)
        }));
    };
    let cursor = |holder: Option<Value<'d>>, key| holder.and_then(|holder| holder.get(key));
    add(Slot::Cursor, method, cursor(params, "cursor"));
    add(Slot::Cursor, method, cursor(result, "nextCursor"));
    for holder in [params, result].into_iter().flatten() {
        let meta = holder.get("_meta");
        let related = meta.and_then(|meta| meta.get(keys::RELATED_TASK));
        let task = holder.get("task").filter(Value::is_object);
        for holder in [Some(holder), task, related].into_iter().flatten() {
            add(Slot::Task, "", holder.get("taskId"));
        }
        add(Slot::Elicitation, "", holder.get("elicitationId"));
        if from == From::Server && message.get("id").is_some() {
            let token = meta.and_then(|meta| meta.get(keys::PROGRESS_TOKEN));
            add(Slot::Token, "", token);
        }
    }
    if from == From::Client && canonical(method) == "notifications/progress" {
        let token = params.and_then(|params| params.get("progressToken"));
        add(Slot::Token, "", token);
    }
    for elicitation in required_elicitations(message) {
        add(Slot::Elicitation, "", elicitation.get("elicitationId"));
    }
    places
}

/// The elicitations that an error -32042 asks for.
fn required_elicitations(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let list = || message.get("error")?.get("data")?.get("elicitations");
    list().into_iter().flat_map(|list| list.elements())
}

/// Gives every string below `value` to `visit`, with the names of the members on the way to it.
pub(super) fn each_string<'d>(
    value: Value<'d>,
    names: &mut Vec<Value<'d>>,
    visit: &mut impl FnMut(&[Value<'d>], Value<'d>),
) {
    match value.kind() {
        Kind::String => visit(names, value),
        // A document has an end to its depth.
        Kind::Array => value
            .elements()
            .for_each(|element| each_string(element, names, visit)),
        Kind::Object => value.members().for_each(|(name, member)| {
            names.push(name);
            each_string(member, names, visit);
            names.pop();
        }),
        _ => {}
    }
}

/// Values of a kind that are remembered, each in a few bytes. Beyond it a need is not seen here;
/// whoever plays the messages still does not send what lacks a value.
const MOST_VALUES: usize = 1_000_000;

/// The values of a session, told in its order, and whose they are. An owner is whatever the caller
/// gives a number.
#[derive(Debug, Default)]
pub struct Trail {
    /// The latest owner of each value that the server chose by the protocol.
    chosen: HashMap<Chosen, usize>,
    handles: HashMap<u64, usize>,
    /// Texts that the client said before the server did: no handles.
    said: HashSet<u64>,
}

impl Trail {
    /// The server said `message` to `owner`; `None`: to nobody in particular.
    pub fn told(&mut self, message: Value<'_>, method: &str, owner: Option<usize>) {
        let Some(owner) = owner else { return };
        for (chosen, _) in places(message, method, From::Server) {
            if self.chosen.len() < MOST_VALUES || self.chosen.contains_key(&chosen) {
                self.chosen.insert(chosen, owner);
            }
        }
        if LISTS.contains(&method) {
            return;
        }
        for half in ["result", "error", "params"] {
            each_candidate(message.get(half), &mut |text| {
                if !self.said.contains(&text) && self.handles.len() < MOST_VALUES {
                    self.handles.entry(text).or_insert(owner);
                }
            });
        }
    }

    /// The client says `message`, which belongs to `owner`: who has to be there for it besides.
    pub fn says(&mut self, message: Value<'_>, method: &str, owner: usize) -> BTreeSet<usize> {
        let places = places(message, method, From::Client);
        let chosen = places.iter().filter_map(|(chosen, _)| self.chosen.get(chosen));
        let mut needs: BTreeSet<_> = chosen.copied().collect();
        each_candidate(message.get("params"), &mut |text| {
            if let Some(from) = self.handles.get(&text) {
                needs.insert(*from);
            } else if self.said.len() < MOST_VALUES {
                self.said.insert(text);
            }
        });
        needs.remove(&owner);
        needs
    }
}

/// Gives `visit` the hash of every text below `value` that may be a handle, and of such words in it.
pub fn each_candidate(value: Option<Value<'_>>, visit: &mut impl FnMut(u64)) {
    if let Some(value) = value {
        each_string(value, &mut Vec::new(), &mut |_, text| {
            let text = text.as_str().unwrap_or_default();
            handle::candidates(&text)
                .map(text_hash)
                .for_each(&mut *visit);
        });
    }
}

pub fn text_hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    /// Whom each message of the client needs, in a session of `OWNER says|told METHOD MESSAGE`.
    fn needs(session: &str) -> Vec<Vec<usize>> {
        let mut trail = Trail::default();
        let mut found = Vec::new();
        for line in session.trim().lines() {
            let parts: Vec<_> = line.trim().splitn(4, ' ').collect();
            let owner = parts[0].parse().unwrap();
            let document = Document::parse(parts[3].as_bytes()).unwrap();
            if parts[1] == "says" {
                let needs = trail.says(document.root(), parts[2], owner);
                found.push(needs.into_iter().collect());
            } else {
                trail.told(document.root(), parts[2], Some(owner));
            }
        }
        found
    }

    /// A call that repeats a handle has not made it; a text that the client chose is no handle.
    #[test]
    fn who_gives_a_handle_back_needs_the_call_that_made_it() {
        let session = r#"
            0 says tools/call {"params":{"name":"open"}}
            0 told tools/call {"result":{"content":[{"text":"opened h-4711aw9x2 for you"}]}}
            1 says tools/call {"params":{"arguments":{"handle":"h-4711aw9x2"}}}
            1 told tools/call {"result":{"content":[{"text":"h-4711aw9x2"}]}}
            2 says resources/read {"params":{"uri":"db://h-4711aw9x2","mine":"k-8832qx71z"}}
            2 told tools/call {"result":{"mine":"k-8832qx71z"}}
            3 says tools/call {"params":{"mine":"k-8832qx71z"}}"#;
        assert_eq!(needs(session), [vec![], vec![0], vec![0], vec![]]);
    }

    #[test]
    fn a_page_needs_the_page_before_it_and_a_poll_its_task() {
        let session = r#"
            0 says resources/list {"params":{}}
            0 told resources/list {"result":{"nextCursor":"2"}}
            1 says tools/call {"params":{"task":{}}}
            1 told tools/call {"result":{"task":{"taskId":"t"}}}
            2 says resources/list {"params":{"cursor":"2"}}
            3 says tools/list {"params":{"cursor":"2"}}
            4 says tasks/get {"params":{"taskId":"t"}}"#;
        assert_eq!(needs(session), [vec![], vec![], vec![0], vec![], vec![1]]);
    }
}
