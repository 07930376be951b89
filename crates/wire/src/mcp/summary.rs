//! Messages and exchanges in one line, for people.
//!
//! A line has at most 200 characters; what is longer ends in `…`. White space is collapsed, other
//! control characters are still there: whoever prints a line escapes it.

use super::mcp_line::{LINE_CHARS, Line};
use super::methods;
use super::target::target;
use crate::json::{Kind, Value};
use crate::message::{Identity, InputRound, Outcome};

/// What is left for the request where its outcome follows on the same line.
const REQUEST_CHARS: usize = LINE_CHARS * 3 / 5;

/// A request: its method and what it is about. `tools/call search_docs {q:"rust"}`.
pub fn request(method: &str, params: Option<Value<'_>>) -> String {
    let line = Line::new().words(method.chars());
    let Some(params) = params else {
        return line.finish();
    };
    let member = |key| params.get(key);
    let line = about(line, target(method, params));
    match method {
        "initialize" => {
            let client = |key| member("clientInfo")?.get(key);
            let line = about(about(line, client("name")), client("version"));
            after(" / ", line, member("protocolVersion"))
        }
        "tools/call" | "prompts/get" => match member("arguments") {
            Some(arguments) => line.text(" ").compact(arguments),
            None => line,
        },
        "completion/complete" => {
            let argument = |key| member("argument")?.get(key);
            after("=", about(line, argument("name")), argument("value"))
        }
        "logging/setLevel" => about(line, member("level")),
        "elicitation/create" => about(line, member("message")),
        "sampling/createMessage" => about(line, last_text(member("messages"))),
        _ => line,
    }
    .finish()
}

/// A notification. `progress 40/100 indexing`, `log warning db: slow`, `cancelled 7: too late`.
pub fn notification(method: &str, params: Option<Value<'_>>) -> String {
    let member = |key| params.and_then(|params| params.get(key));
    let method = methods::canonical(method);
    match method {
        "notifications/progress" => {
            let line = about(Line::new().text("progress"), member("progress"));
            about(after("/", line, member("total")), member("message"))
        }
        "notifications/message" => {
            let line = about(Line::new().text("log"), member("level"));
            let line = about(line, member("logger"));
            after(": ", line, member("data"))
        }
        "notifications/cancelled" => {
            let line = about(Line::new().text("cancelled"), member("requestId"));
            after(": ", line, member("reason"))
        }
        "notifications/tasks/status" | "notifications/tasks" => {
            let line = task(Line::new(), member("taskId"), member("status"));
            after(": ", line, member("statusMessage"))
        }
        other => {
            let short = other.strip_prefix("notifications/").unwrap_or(other);
            let target = params.and_then(|params| target(other, params));
            about(Line::new().words(short.chars()), target)
        }
    }
    .finish()
}

/// A response, by its outcome and its `result`. `14 tools`, `error -32602 Unknown tool`.
pub fn response(outcome: &Outcome, result: Option<Value<'_>>) -> String {
    match outcome {
        Outcome::Error { code, message } => error(code.as_deref(), message.as_deref()),
        Outcome::InputRequired(round) => input_required(round),
        Outcome::Task { .. } => {
            let holder = result.and_then(|result| result.get("task")).or(result);
            let member = |key| holder.and_then(|holder| holder.get(key));
            task(Line::new(), member("taskId"), member("status"))
        }
        Outcome::ToolError => {
            let line = Line::new().text("tool error");
            let content = result.and_then(|result| result.get("content"));
            let said = content.and_then(first_text);
            match said.and_then(traceback) {
                Some(fault) => line.text(": ").words(fault.chars()),
                None => after(": ", line, said),
            }
        }
        Outcome::Result {
            identity: Some(identity),
        } => server(identity),
        Outcome::Result { identity: None } => match result {
            Some(result) => payload(result),
            None => Line::new(),
        },
    }
    .finish()
}

/// The line of a response, for the line of its exchange.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    Result(&'a str),
    /// An error, a tool error, a question, a task.
    Other(&'a str),
}

impl<'a> Answer<'a> {
    /// The answer with this outcome, whose line is `summary`.
    pub fn new(outcome: &Outcome, summary: &'a str) -> Self {
        match outcome {
            Outcome::Result { .. } => Self::Result(summary),
            _ => Self::Other(summary),
        }
    }
}

/// An exchange: the request, and its outcome where that is what one wants to know.
/// `tools/list → 14 tools`, but `tools/call search_docs {q:"rust"}`.
pub fn exchange(method: &str, request: &str, answer: Option<Answer<'_>>) -> String {
    let (plain, response) = match answer {
        None => return request.to_owned(),
        Some(Answer::Result(summary)) => (true, summary),
        Some(Answer::Other(summary)) => (false, summary),
    };
    if !tells_answer(method, plain) {
        return request.to_owned();
    }
    // Who asked is known; who answered is the news.
    let request = if method == "initialize" && plain {
        method
    } else {
        request
    };
    let request = Line::with_limit(REQUEST_CHARS).text(request).finish();
    let line = Line::new().text(&request).text(" → ");
    line.text(response).finish()
}

/// A value that is no message, in short.
pub fn raw(value: Value<'_>) -> String {
    Line::new().compact(value).finish()
}

/// Whether the line of an exchange says anything of its answer; one that `is_plain` is a result, and
/// nothing went wrong.
pub fn tells_answer(method: &str, is_plain: bool) -> bool {
    !is_plain || tells_by_result(method)
}

/// Whether an exchange is told by its result rather than by its request.
fn tells_by_result(method: &str) -> bool {
    method.ends_with("/list")
        || matches!(
            method,
            "initialize" | "server/discover" | "elicitation/create" | "tasks/get"
        )
}

/// Adds a space and `value`, if there is one.
fn about(line: Line, value: Option<Value<'_>>) -> Line {
    after(" ", line, value)
}

/// Adds `separator` and `value`, if there is one.
fn after(separator: &str, line: Line, value: Option<Value<'_>>) -> Line {
    match value {
        Some(value) => line.text(separator).value(Some(value)),
        None => line,
    }
}

fn server(identity: &Identity) -> Line {
    let words = [identity.name.as_deref(), identity.version.as_deref()];
    let name = words.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let versions = match &identity.protocol_version {
        Some(version) => version.to_string(),
        None => identity.supported_versions.join(", "),
    };
    let parts = [name, versions].into_iter().filter(|part| !part.is_empty());
    let text = parts.collect::<Vec<_>>().join(" / ");
    Line::new().words(text.chars())
}

fn error(code: Option<&str>, message: Option<&str>) -> Line {
    let words = [code, message].into_iter().flatten();
    words.fold(Line::new().text("error"), |line, text| {
        line.text(" ").words(text.chars())
    })
}

fn input_required(round: &InputRound) -> Line {
    let line = Line::new().text("input required");
    let keys = round.keys.iter().enumerate();
    keys.fold(line, |line, (index, key)| {
        let separator = if index > 0 { ", " } else { ": " };
        line.text(separator).words(key.chars())
    })
}

fn task(line: Line, id: Option<Value<'_>>, status: Option<Value<'_>>) -> Line {
    let line = line.text("task ");
    let id = id.and_then(|id| id.as_str()).unwrap_or_default();
    about(line.words(short_id(&id).chars()), status)
}

/// The first group of a UUID, or the whole of any other id.
fn short_id(id: &str) -> &str {
    match id.split_once('-') {
        Some((first, _)) if id.len() == 36 && first.len() == 8 => first,
        _ => id,
    }
}

// What a result holds, in short: how many of what, or its first text.

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
fn payload(result: Value<'_>) -> Line {
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
fn first_text(content: Value<'_>) -> Option<Value<'_>> {
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

/// What went wrong, in the text of a tool that is a traceback of Python.
fn traceback(said: Value<'_>) -> Option<String> {
    let is_one = said.raw_text().starts_with("\"Traceback");
    let text = said.as_str().filter(|_| is_one)?;
    fault(&text)?.lines().next().map(str::to_owned)
}

/// What stands behind the last frame of a traceback of Python: the exception, in a line or more. `None` if
/// the text is none, or ends before.
pub fn fault(text: &str) -> Option<&str> {
    let frames = text.starts_with("Traceback (most recent call last)");
    let (_, last) = text.rsplit_once("\n  File ").filter(|_| frames)?;
    let mut ends = last.match_indices('\n').map(|(at, _)| &last[at + 1..]);
    ends.find(|rest| !rest.starts_with([' ', '\n']))
        .filter(|rest| !rest.is_empty())
}

/// The text of the last of a conversation's messages.
fn last_text(messages: Option<Value<'_>>) -> Option<Value<'_>> {
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

#[cfg(test)]
mod summary_tests;
