//! Places of values that the server chose.

use super::handle;
use super::known::{Chosen, Slot};
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::Direction;
use std::collections::hash_map::DefaultHasher;
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

/// The values in `message` that the server chose: it is one of, or an answer to one of, `method`.
pub(super) fn places<'d>(message: Value<'d>, method: &str, from: Direction) -> Vec<Place<'d>> {
    let params = message.get("params");
    let result = message.get("result");
    let mut places = Vec::new();
    let mut add = |slot, scope: &str, value: Option<Value<'d>>| {
        let text = value.and_then(|value| match slot {
            Slot::Token if value.kind() == Kind::Number => Some(value.raw_text()),
            Slot::Token => value.as_str().map(|_| value.raw_text()),
            _ => value.as_str(),
        });
        let place = text.zip(value);
        places.extend(place.map(|(text, value)| (Chosen::new(slot, scope, &text), value)));
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
        if from == Direction::ServerToClient && message.get("id").is_some() {
            let token = meta.and_then(|meta| meta.get(keys::PROGRESS_TOKEN));
            add(Slot::Token, "", token);
        }
    }
    if from == Direction::ClientToServer && canonical(method) == "notifications/progress" {
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
