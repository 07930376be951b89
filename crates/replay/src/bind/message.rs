//! Where in messages the values stand that are bound.

use super::known::{Chosen, Slot};
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::methods::canonical;

/// What a message says that the server chose by the protocol, and where.
pub(super) struct Place<'d> {
    pub chosen: Chosen,
    pub value: Value<'d>,
}

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
    let mut add = |slot, scope, value: Option<_>| {
        places.extend(value.and_then(|value| place(slot, scope, value)));
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

/// A value of a kind that a server may choose there.
fn place<'d>(slot: Slot, scope: &str, value: Value<'d>) -> Option<Place<'d>> {
    let text = match (slot, value.kind()) {
        (Slot::Token, Kind::String | Kind::Number) => value.raw_text(),
        (_, Kind::String) => value.as_str().unwrap_or_default(),
        _ => return None,
    };
    let chosen = Chosen {
        slot,
        scope: scope.into(),
        value: text.into(),
    };
    Some(Place { chosen, value })
}

/// Those that an error -32042 asks for.
fn required_elicitations(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let list = || message.get("error")?.get("data")?.get("elicitations");
    list().into_iter().flat_map(|list| list.elements())
}

/// Gives every string below `value` to `visit`, with the names of the members on the way to it.
pub(super) fn each_string<'d, E>(
    value: Value<'d>,
    names: &mut Vec<Value<'d>>,
    visit: &mut impl FnMut(&[Value<'d>], Value<'d>) -> Result<(), E>,
) -> Result<(), E> {
    match value.kind() {
        Kind::String => visit(names, value),
        // A document has an end to its depth.
        Kind::Array => value
            .elements()
            .try_for_each(|element| each_string(element, names, visit)),
        Kind::Object => value.members().try_for_each(|(name, member)| {
            names.push(name);
            let visited = each_string(member, names, visit);
            names.pop();
            visited
        }),
        _ => Ok(()),
    }
}
