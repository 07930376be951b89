//! What a result holds, in short: how many of what, or its first text.

use super::Line;
use crate::json::{Kind, Value};

/// Members of results that are lists, and what one element is called.
const LISTS: &[(&str, &str)] = &[
    ("tools", "tool"),
    ("resources", "resource"),
    ("resourceTemplates", "resource template"),
    ("prompts", "prompt"),
    ("roots", "root"),
    ("tasks", "task"),
    ("skills", "skill"),
];

/// A result that completes a request, told by its members: a response does not say what it
/// answers.
pub(super) fn payload(result: Value<'_>) -> Line {
    let line = Line::new();
    if !result.is_object() {
        return line.compact(result);
    }
    for (member, one) in LISTS {
        if let Some(list) = array(result, member) {
            let line = count(line, list, one);
            let more = result.get("nextCursor").is_some();
            return line.text(if more { ", more to come" } else { "" });
        }
    }
    if let Some(action) = result.get("action") {
        return line.value(Some(action));
    }
    if let Some(content) = result.get("content").or_else(|| result.get("contents")) {
        return block(line, content, result);
    }
    if let Some(messages) = array(result, "messages") {
        return match result.get("description") {
            Some(description) => line.value(Some(description)),
            None => count(line, messages, "message"),
        };
    }
    if let Some(values) = result
        .get("completion")
        .and_then(|one| array(one, "values"))
    {
        return count(line, values, "value");
    }
    other(line, result)
}

/// A result whose shape is not known: its members, without what is only about the protocol.
fn other(line: Line, result: Value<'_>) -> Line {
    let silent = |key: Value<'_>| key.is_str("_meta") || key.is_str("resultType");
    if result.members().all(|(key, _)| silent(key)) {
        return line.text("ok");
    }
    line.compact(result)
}

/// Content of a tool, a resource, or a model: its first text, or what it is instead.
fn block(line: Line, content: Value<'_>, result: Value<'_>) -> Line {
    if let Some(text) = first_text(content) {
        return line.value(Some(text));
    }
    let first = match content.kind() {
        Kind::Array => content.index(0),
        _ => Some(content),
    };
    let Some(first) = first else {
        return match result.get("structuredContent") {
            Some(structured) => line.compact(structured),
            None => line.text("empty"),
        };
    };
    let parts = ["type", "mimeType", "name", "uri"];
    let parts = parts.into_iter().filter_map(|part| first.get(part));
    parts.enumerate().fold(line, |line, (index, part)| {
        line.text(if index > 0 { " " } else { "" })
            .value(Some(part))
    })
}

/// The first `text` in a content block, or in an array of them, or of a resource in them.
pub(super) fn first_text(content: Value<'_>) -> Option<Value<'_>> {
    match content.kind() {
        Kind::String => Some(content),
        Kind::Object => content
            .get("text")
            .or_else(|| content.get("resource")?.get("text")),
        _ => content.elements().find_map(|block| match block.kind() {
            Kind::Object => first_text(block),
            _ => None,
        }),
    }
}

/// The text of the last of a conversation's messages.
pub(super) fn last_text(messages: Option<Value<'_>>) -> Option<Value<'_>> {
    first_text(messages?.elements().last()?.get("content")?)
}

fn array<'d>(object: Value<'d>, member: &str) -> Option<Value<'d>> {
    object
        .get(member)
        .filter(|value| value.kind() == Kind::Array)
}

/// `1 tool`, `14 tools`, or `32+ tools` where an outline lost the rest.
fn count(line: Line, list: Value<'_>, one: &str) -> Line {
    let count = list.elements().count();
    let shortened = list.elements().last().is_some_and(|last| last.is_str("…"));
    match (count, shortened) {
        (1, false) => line.text(&format!("1 {one}")),
        (_, false) => line.text(&format!("{count} {one}s")),
        (_, true) => line.text(&format!("{}+ {one}s", count - 1)),
    }
}
