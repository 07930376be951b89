//! What an object on the wire is, from its members.

use super::{
    Body, Lines, Message, Meta, Notification, Outcome, Problem, Request, Response, Subject, id,
    text,
};
use crate::brief;
use crate::id::RequestId;
use crate::json::{Kind, Value};
use crate::mcp::{methods, summary, target};

/// The members of a message, the last one where a name repeats.
#[derive(Clone, Copy, Debug, Default)]
struct Fields<'d> {
    jsonrpc: Option<Value<'d>>,
    id: Option<Value<'d>>,
    method: Option<Value<'d>>,
    params: Option<Value<'d>>,
    result: Option<Value<'d>>,
    error: Option<Value<'d>>,
}

impl<'d> Fields<'d> {
    fn of(object: Value<'d>) -> Self {
        let mut fields = Self::default();
        for (key, value) in object.members() {
            let slot = match &*key.str_bytes() {
                b"jsonrpc" => &mut fields.jsonrpc,
                b"id" => &mut fields.id,
                b"method" => &mut fields.method,
                b"params" => &mut fields.params,
                b"result" => &mut fields.result,
                b"error" => &mut fields.error,
                _ => continue,
            };
            *slot = Some(value);
        }
        fields
    }

    fn holder(&self) -> Option<Value<'d>> {
        self.params.or(self.result)
    }
}

/// The message that `value` is, as part `part` of its frame. Its span and the offsets of its
/// problems count from the start of the text that `value` is read from.
pub(super) fn message(value: Value<'_>, part: u32, lines: Lines) -> Message {
    let mut message = Message {
        part,
        span: value.span(),
        body: Body::Invalid,
        meta: Meta::default(),
        summary: String::new(),
        problems: Vec::new(),
    };
    let problems = &mut message.problems;
    if !value.is_object() {
        let found = value.kind().as_str();
        problems.push(Problem::NotObject { found });
        message.summary = summary::raw(value);
        return message;
    }
    let fields = Fields::of(value);
    if !fields.jsonrpc.is_some_and(|version| version.is_str("2.0")) {
        problems.push(Problem::Version);
    }
    message.meta = super::meta(fields.holder());
    message.body = body(&fields, problems);
    if lines == Lines::OfAll || is_progress(&message.body) {
        message.summary = told(value, &fields, &message.body);
    }
    message
}

fn is_progress(body: &Body) -> bool {
    match body {
        Body::Notification(it) => matches!(it.subject, Subject::Progress { .. }),
        _ => false,
    }
}

/// The line of the message `value`, which is a `body`.
pub(super) fn line(value: Value<'_>, body: &Body) -> String {
    told(value, &Fields::of(value), body)
}

fn told(value: Value<'_>, fields: &Fields<'_>, body: &Body) -> String {
    match body {
        Body::Request(request) => summary::request(&request.method, fields.params),
        Body::Notification(it) => summary::notification(&it.method, fields.params),
        Body::Response(response) => summary::response(&response.outcome, fields.result),
        Body::Invalid => summary::raw(value),
    }
}

fn body(fields: &Fields<'_>, problems: &mut Vec<Problem>) -> Body {
    let outcome = fields.result.is_some() || fields.error.is_some();
    if let Some(method) = fields.method {
        let name = method.as_str();
        match name {
            None => problems.push(Problem::MethodNotString),
            Some(_) if outcome => problems.push(Problem::MethodAndResult),
            Some(_) => {}
        }
        // The other side answers where there is an id, though it cannot tell what is asked for.
        if name.is_some() || !outcome && fields.id.is_some() {
            let name = name.unwrap_or_else(|| method.raw_text());
            return call(&name, fields, problems);
        }
    }
    if outcome {
        return response(fields, problems);
    }
    if fields.method.is_none() {
        problems.push(Problem::Unclassifiable);
    }
    Body::Invalid
}

fn call(method: &str, fields: &Fields<'_>, problems: &mut Vec<Problem>) -> Body {
    let params = fields.params;
    if params.is_some_and(|params| !params.is_object()) {
        problems.push(Problem::ParamsNotObject);
    }
    let known = methods::find(method).map(|known| known.kind);
    let Some(id) = fields.id else {
        if known == Some(methods::Kind::Request) {
            problems.push(Problem::RequestWithoutId);
        }
        let subject = subject(method, params);
        let method = brief::text(method).into();
        return Body::Notification(Notification { method, subject });
    };
    if known == Some(methods::Kind::Notification) || method.starts_with("notifications/") {
        problems.push(Problem::NotificationWithId);
    }
    let id = RequestId::from_value(id);
    if id.is_null() {
        problems.push(Problem::IdNull);
    } else if !id.is_allowed() {
        problems.push(Problem::IdType);
    }
    Body::Request(request(id, method, params))
}

fn request(id: RequestId, method: &str, params: Option<Value<'_>>) -> Request {
    let retries = method != "tasks/update";
    Request {
        id,
        method: brief::text(method).into(),
        name: text(params.and_then(|params| target::target(method, params))),
        retry: params
            .filter(|_| retries)
            .and_then(|params| super::input_round(params, "inputResponses")),
        // What is asked about a task is no task itself, even where an SDK sends `task` along.
        task: params
            .filter(|_| !method.starts_with("tasks/"))
            .and_then(|params| params.get("task"))
            .is_some_and(|task| task.is_object()),
        identity: params
            .filter(|_| method == "initialize")
            .and_then(super::client),
    }
}

fn subject(method: &str, params: Option<Value<'_>>) -> Subject {
    let member = |key| params.and_then(|params| params.get(key));
    match methods::canonical(method) {
        "notifications/progress" => Subject::Progress {
            token: member("progressToken").and_then(id),
            progress: member("progress").and_then(|it| Some(it.number_text()?.into())),
        },
        "notifications/cancelled" => Subject::Cancelled {
            request_id: member("requestId").and_then(id),
            is_by_user: text(member("reason")).is_some_and(|reason| names_user(&reason)),
        },
        "notifications/message" => Subject::Log {
            level: text(member("level")),
            logger: text(member("logger")),
        },
        "notifications/tasks/status" | "notifications/tasks" => Subject::Task {
            id: text(member("taskId")),
            status: text(member("status")),
            outcome: params.and_then(carried_outcome),
        },
        other => Subject::Other {
            name: text(params.and_then(|params| target::target(other, params))),
        },
    }
}

/// Whether a reason says that the user cancelled: `The user changed their mind`, `cancelled by user`.
fn names_user(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    let words = reason.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !["", "the"].contains(word)).collect();
    let is_limit =
        words.iter().any(|word| word.starts_with("timeout")) || reason.contains("timed out");
    let begins = words.first() == Some(&"user");
    !is_limit && (begins || words.windows(2).any(|two| two == ["by", "user"]))
}

fn response(fields: &Fields<'_>, problems: &mut Vec<Problem>) -> Body {
    let id = fields.id.map(RequestId::from_value);
    match &id {
        None => problems.push(Problem::ResponseWithoutId),
        Some(id) if id.is_null() => problems.push(Problem::ResponseWithoutId),
        Some(id) if !id.is_allowed() => problems.push(Problem::IdType),
        Some(_) => {}
    }
    if fields.result.is_some() && fields.error.is_some() {
        problems.push(Problem::ResultAndError);
    }
    let outcome = match (fields.result, fields.error) {
        (Some(result), None) => result_outcome(result, problems),
        (Some(result), Some(error)) if error.is_null() && !result.is_null() => {
            result_outcome(result, problems)
        }
        (_, error) => error_outcome(error, problems),
    };
    Body::Response(Response { id, outcome })
}

fn error_outcome(error: Option<Value<'_>>, problems: &mut Vec<Problem>) -> Outcome {
    let code = error.and_then(|error| error.get("code"));
    let message = error.and_then(|error| error.get("message")?.as_str());
    if code.is_none() || message.is_none() {
        problems.push(Problem::ErrorShape);
    }
    let integer = |code: Value<'_>| code.number().is_some_and(|code| code.is_integer());
    if code.is_some_and(|code| !integer(code)) {
        problems.push(Problem::ErrorCode);
    }
    Outcome::Error {
        code: code.map(|code| brief::json(code).into()),
        message: message.map(Into::into),
    }
}

fn result_outcome(result: Value<'_>, problems: &mut Vec<Problem>) -> Outcome {
    if !result.is_object() {
        problems.push(Problem::ResultNotObject);
        return Outcome::Result { identity: None };
    }
    let kind = result.get("resultType").and_then(|kind| kind.as_str());
    if kind.as_deref() == Some("input_required") {
        let round = super::input_round(result, "inputRequests");
        return Outcome::InputRequired(round.unwrap_or_default());
    }
    if let Some(task) = task(result, kind.as_deref()) {
        return task;
    }
    if result.get("isError").and_then(|flag| flag.as_bool()) == Some(true) {
        return Outcome::ToolError;
    }
    Outcome::Result {
        identity: super::server(result),
    }
}

/// The task that a result names: `task.taskId`, or `taskId` beside a `status` or a result type
/// that says so.
fn task(result: Value<'_>, kind: Option<&str>) -> Option<Outcome> {
    let nested = result
        .get("task")
        .filter(|task| task.kind() == Kind::Object);
    let holder = nested.unwrap_or(result);
    let id = text(holder.get("taskId"))?;
    let status = text(holder.get("status"));
    let named = nested.is_some() || kind == Some("task") || status.is_some();
    named.then(|| Outcome::Task {
        id,
        status,
        outcome: carried_outcome(holder),
    })
}

/// What the `result` or `error` that a task carries says. What is wrong with their shape is not
/// looked at: they are no JSON-RPC members.
fn carried_outcome(task: Value<'_>) -> Option<Box<Outcome>> {
    let problems = &mut Vec::new();
    if let Some(error) = task.get("error").filter(Value::is_object) {
        return Some(Box::new(error_outcome(Some(error), problems)));
    }
    let result = task.get("result").filter(Value::is_object)?;
    let outcome = match result.get("isError").and_then(|flag| flag.as_bool()) {
        Some(true) => Outcome::ToolError,
        _ => Outcome::Result { identity: None },
    };
    Some(Box::new(outcome))
}
