//! What a row says under each field.
//!
//! | field | of an exchange | of a message (wire, or one that stands for itself) |
//! |---|---|---|
//! | `seq` | its request's frame | its frame; so of a line; of an event the last frame before it |
//! | `time` | the request was complete | its frame was complete; so of a line; of an event when it happened |
//! | `stream` `dir` | those of the request | its own; a line has a stream, and a direction unless it is stderr; an event neither |
//! | `method` `name` | its own | its own, of a response those of its exchange |
//! | `tool` `prompt` `uri` | `name`, where the method is `tools/call`, `prompts/get`, or one with `resources/` | likewise |
//! | `id` | the request's | its own |
//! | `status` `latency` `reqsize` `ressize` | its own; no `ressize` before the answer | requests and responses: those of the exchange; others none |
//! | `code` | its own | its own; a request or response has that of the exchange |
//! | `size` | request and response together | its frame's; so of a line |
//! | `era` | its own | its own |
//! | `level` `logger` | none | of `notifications/message`: as in `params` |
//! | `token` | what the request gave | what it gave or used |
//! | `trace` | the trace id in the request's `traceparent` | its own |
//! | `task` | its own | its own, else that of the exchange for requests and responses |
//! | `finding` `severity` | of the findings that point at the row | likewise, for all rows |
//! | `mark` `note` | what a person put on it | likewise, for all rows |
//! | `text` | always there | always there |
//!
//! Flags: `failed`, `open` and `late` follow the status; `slow` a latency above the limit; `modern`
//! and `legacy` the era; `notification` the kind; `truncated` has one of [`TRUNCATED`] among its
//! findings; `waiting` has waited, or waits now.

use super::{Bodies, Context};
use crate::correlator::{MessageKind, MessageRecord};
use crate::exchange::{Exchange, Status};
use crate::frame::{FrameHead, StreamId};
use crate::item::{Annotation, Item, ItemKind, What};
use crate::query::ast::{Field, Flag};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::{Direction, Era, Message, classify};
use std::borrow::Cow;

/// The rules whose findings say that a line was not read as a whole.
pub const TRUNCATED: &[&str] = &[
    "frame-truncated",
    "frame-deep-nesting",
    "frame-outline-only",
    "batch-too-long",
];

pub(super) enum Found<'i> {
    Nothing,
    Text(Cow<'i, str>),
    Several(Vec<&'i str>),
    Number(i64),
    Id(Cow<'i, RequestId>),
    Json(&'i str),
}

/// Whether the row may not carry it.
pub(super) fn needs_bodies(field: Field) -> bool {
    matches!(
        field,
        Field::Level | Field::Logger | Field::Token | Field::Trace
    )
}

pub(super) fn find<'i>(item: &'i Item, field: Field, bodies: &mut dyn Bodies) -> Found<'i> {
    match field {
        Field::Seq => number(item.key.seq.0),
        Field::Time => number(item.t().0),
        Field::Stream => text(stream(item)),
        Field::Dir => text(item.direction().map(Direction::as_str)),
        Field::Kind => text(Some(item.kind().as_str())),
        Field::Method => text(item.method()),
        Field::Name => text(item.name()),
        Field::Tool => named(item, |method| method == "tools/call"),
        Field::Prompt => named(item, |method| method == "prompts/get"),
        Field::Uri => named(item, |method| {
            let method = method.strip_prefix("notifications/").unwrap_or(method);
            method.starts_with("resources/")
        }),
        Field::Era => text(era(item).map(Era::as_str)),
        Field::Size => size(item).map_or(Found::Nothing, number),
        Field::Status | Field::Latency | Field::ReqSize | Field::ResSize => {
            of_exchange(item, field)
        }
        Field::Code => code(item).map_or(Found::Nothing, Found::Json),
        Field::Task => text(task(item)),
        Field::Id => id(item).map_or(Found::Nothing, |id| Found::Id(Cow::Borrowed(id))),
        Field::Token => token(item, bodies).map_or(Found::Nothing, Found::Id),
        Field::Trace => trace(item, bodies).map_or(Found::Nothing, Found::Text),
        Field::Level => logged(item, "level", bodies),
        Field::Logger => logged(item, "logger", bodies),
        Field::Finding => several(item.findings.iter().map(|finding| &*finding.rule)),
        Field::Severity => several(item.findings.iter().map(|finding| &*finding.severity)),
        Field::Mark => text(annotation(item).and_then(|it| it.mark.as_deref())),
        Field::Note => text(annotation(item).and_then(|it| it.note.as_deref())),
        Field::Text => Found::Text("".into()),
    }
}

fn number(number: u64) -> Found<'static> {
    Found::Number(i64::try_from(number).unwrap_or(i64::MAX))
}

fn text(text: Option<&str>) -> Found<'_> {
    text.map_or(Found::Nothing, |text| Found::Text(text.into()))
}

fn several<'i>(texts: impl Iterator<Item = &'i str>) -> Found<'i> {
    let texts: Vec<_> = texts.collect();
    if texts.is_empty() {
        Found::Nothing
    } else {
        Found::Several(texts)
    }
}

fn annotation(item: &Item) -> Option<&Annotation> {
    item.annotation.as_ref()
}

fn head(item: &Item) -> Option<&FrameHead> {
    match &item.what {
        What::Message { head, .. } | What::Line { head, .. } => Some(head),
        What::Exchange(_) | What::Event(_) => None,
    }
}

fn record(item: &Item) -> Option<&MessageRecord> {
    match &item.what {
        What::Message { record, .. } => Some(record),
        _ => None,
    }
}

/// The exchange that the row is, or whose request or response it is.
fn exchange(item: &Item) -> Option<&Exchange> {
    let part = |record: &MessageRecord| {
        matches!(record.kind, MessageKind::Request | MessageKind::Response)
    };
    item.exchange().filter(|_| record(item).is_none_or(part))
}

fn stream(item: &Item) -> Option<&'static str> {
    if let Some(head) = head(item) {
        return Some(head.stream.as_str());
    }
    let way = item.direction()?;
    let mut streams = StreamId::STDIO.into_iter();
    streams
        .find(|stream| stream.messages() == Some(way))
        .map(StreamId::as_str)
}

fn named(item: &Item, is_so: fn(&str) -> bool) -> Found<'_> {
    text(item.name().filter(|_| item.method().is_some_and(is_so)))
}

fn era(item: &Item) -> Option<Era> {
    match &item.what {
        What::Exchange(exchange) => Some(exchange.era),
        What::Message { record, .. } => Some(record.era),
        What::Line { .. } | What::Event(_) => None,
    }
}

fn size(item: &Item) -> Option<u64> {
    match &item.what {
        What::Exchange(exchange) => {
            Some(exchange.request_size.saturating_add(exchange.response_size))
        }
        _ => head(item).map(|head| head.size),
    }
}

fn of_exchange(item: &Item, field: Field) -> Found<'_> {
    let Some(exchange) = exchange(item) else {
        return Found::Nothing;
    };
    let value = match field {
        Field::Status => return text(Some(exchange.status.as_str())),
        Field::Latency => exchange.latency_ns(),
        Field::ReqSize => Some(exchange.request_size),
        _ => exchange.response.map(|_| exchange.response_size),
    };
    value.map_or(Found::Nothing, number)
}

fn code(item: &Item) -> Option<&str> {
    let own = record(item).and_then(|record| record.code.as_deref());
    own.or_else(|| exchange(item)?.code.as_deref())
}

fn task(item: &Item) -> Option<&str> {
    let own = record(item).and_then(|record| record.task.as_deref());
    own.or_else(|| exchange(item)?.task.as_deref())
}

fn id(item: &Item) -> Option<&RequestId> {
    match &item.what {
        What::Exchange(exchange) => Some(&exchange.rpc_id),
        _ => record(item)?.rpc_id.as_ref(),
    }
}

fn token<'i>(item: &'i Item, bodies: &mut dyn Bodies) -> Option<Cow<'i, RequestId>> {
    match &item.what {
        What::Exchange(_) => Some(Cow::Owned(request(bodies)?.meta.progress_token?)),
        _ => Some(Cow::Borrowed(record(item)?.token.as_ref()?)),
    }
}

fn trace<'i>(item: &'i Item, bodies: &mut dyn Bodies) -> Option<Cow<'i, str>> {
    match &item.what {
        What::Exchange(_) => Some(request(bodies)?.meta.trace_id?.into_string().into()),
        _ => Some(record(item)?.trace_id.as_deref()?.into()),
    }
}

/// The request of an exchange, read as it was when it was recorded.
fn request(bodies: &mut dyn Bodies) -> Option<Message> {
    classify(&bodies.request()?).messages.into_iter().next()
}

/// A string in the params of a log message.
fn logged<'i>(item: &'i Item, member: &str, bodies: &mut dyn Bodies) -> Found<'i> {
    let method = record(item).and_then(|record| record.method.as_deref());
    if method.map(methods::canonical) != Some("notifications/message") {
        return Found::Nothing;
    }
    let Some(bytes) = bodies.request() else {
        return Found::Nothing;
    };
    let Ok(document) = Document::parse(&bytes) else {
        return Found::Nothing;
    };
    let value = document
        .root()
        .get("params")
        .and_then(|params| params.get(member));
    match value.and_then(|value| value.as_str()) {
        Some(value) => Found::Text(value.into_owned().into()),
        None => Found::Nothing,
    }
}

pub(super) fn is(item: &Item, flag: Flag, context: Context, bodies: &mut dyn Bodies) -> bool {
    let status = |fits: fn(Status) -> bool| exchange(item).is_some_and(|it| fits(it.status));
    match flag {
        Flag::Failed => exchange(item).is_some_and(Exchange::has_failed),
        Flag::Open => status(|status| status == Status::Open),
        Flag::Late => status(|status| status == Status::Late),
        Flag::Slow => {
            let latency = exchange(item).and_then(Exchange::latency_ns);
            latency.is_some_and(|latency| latency > context.slow_ns)
        }
        Flag::Batch => bodies.in_batch(),
        Flag::Truncated => {
            let mut rules = item.findings.iter().map(|finding| &*finding.rule);
            rules.any(|rule| TRUNCATED.contains(&rule))
        }
        Flag::Marked => annotation(item).is_some_and(|it| it.mark.is_some()),
        Flag::Noted => annotation(item).is_some_and(|it| it.note.is_some()),
        Flag::Modern => era(item) == Some(Era::Modern),
        Flag::Legacy => era(item) == Some(Era::Legacy),
        Flag::Notification => item.kind() == ItemKind::Notification,
        Flag::Waiting => exchange(item).is_some_and(|it| it.waited_ns > 0) || waits(item, bodies),
    }
}

fn waits(item: &Item, bodies: &mut dyn Bodies) -> bool {
    exchange(item).is_some_and(|it| it.status == Status::Open) && bodies.waits_now()
}

/// The texts of a row that people read.
pub(super) fn texts(item: &Item) -> impl Iterator<Item = &str> {
    let summary = match &item.what {
        What::Exchange(exchange) => Some(&*exchange.summary),
        What::Message { record, .. } => Some(&*record.summary),
        What::Line { .. } | What::Event(_) => None,
    };
    [summary, item.method(), item.name()].into_iter().flatten()
}

pub(super) fn event_json(item: &Item) -> Option<String> {
    match &item.what {
        What::Event(event) => Some(serde_json::to_string(&event.kind).unwrap_or_default()),
        _ => None,
    }
}
