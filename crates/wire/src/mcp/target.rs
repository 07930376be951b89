//! Which tool, prompt, resource or task a call is about.

use crate::json::{Kind, Value};

/// The string in `params` that says what a call of `method` is about: a tool's or prompt's name, a
/// resource's URI, a task's id, a completion's reference. Methods not known here are asked for
/// the same members in turn.
pub fn target<'d>(method: &str, params: Value<'d>) -> Option<Value<'d>> {
    let members: &[&str] = match method {
        "initialize" | "logging/setLevel" | "sampling/createMessage" => &[],
        "tools/call" | "prompts/get" => &["name"],
        "completion/complete" => return reference(params),
        _ => &["uri", "name", "taskId", "elicitationId"],
    };
    let mut strings = members
        .iter()
        .filter_map(|member| params.get(member))
        .filter(|value| value.kind() == Kind::String);
    strings.next()
}

/// What a completion is asked for: the name of a prompt or the URI of a resource template.
fn reference(params: Value<'_>) -> Option<Value<'_>> {
    let reference = params.get("ref")?;
    reference.get("name").or_else(|| reference.get("uri"))
}
