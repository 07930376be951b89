//! What stands in a span of that which was said.

use super::Bodies;
use super::attribute::Attributes;
use crate::protocol::json::Document;
use crate::protocol::message::{Body, Outcome, Subject, classify};
use crate::store::indexer::COLLECT_LIMIT;
use crate::store::notices::Notice;
use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::Exchange;
use crate::trace::frame::Seq;

/// What the error says that answered an exchange; empty where it is nothing, or too long to hold.
pub(super) fn error_message(
    recording: &Recording,
    exchange: &Exchange,
) -> Result<String, ReadError> {
    let Some(at) = exchange
        .response
        .filter(|_| is_short(exchange.response_size))
    else {
        return Ok(String::new());
    };
    let Some(bytes) = recording.message_bytes(at.0, at.1)? else {
        return Ok(String::new());
    };
    let said = classify(&bytes).messages.pop().map(|message| message.body);
    Ok(match said {
        Some(Body::Response(response)) => match response.outcome {
            Outcome::Error { message, .. } => message.unwrap_or_default().into(),
            _ => String::new(),
        },
        _ => String::new(),
    })
}

/// Adds the arguments and the result of an exchange, as the JSON that they are.
pub(super) fn add(
    recording: &Recording,
    exchange: &Exchange,
    attributes: &mut Attributes,
) -> Result<(), ReadError> {
    let is_call = &*exchange.method == "tools/call";
    let (asked, answered): (&[&str], _) = if is_call {
        (&["params", "arguments"], "gen_ai.tool.call.result")
    } else {
        (&["params"], "mcpreel.response.result")
    };
    let key = if is_call {
        "gen_ai.tool.call.arguments"
    } else {
        "mcpreel.request.params"
    };
    let request = (exchange.request, exchange.request_size);
    let response = exchange.response.map(|at| (at, exchange.response_size));
    let parts = [
        (Some(request), asked, key),
        (response, &["result"], answered),
        (response, &["error", "data"], "mcpreel.response.error_data"),
    ];
    for (message, path, key) in parts {
        let Some((at, size)) = message else {
            continue;
        };
        if is_short(size) {
            let text = member(recording, at, path)?;
            if let Some(text) = text {
                attributes.whole(key, text);
            }
        } else if path != ["error", "data"] {
            attributes.text(key, &format!("({size} bytes, too long for an attribute)"));
        }
    }
    Ok(())
}

/// The JSON at a path of members of the message at this place.
fn member(
    recording: &Recording,
    (seq, part): (Seq, u32),
    path: &[&str],
) -> Result<Option<String>, ReadError> {
    let bytes = recording.message_bytes(seq, part)?.unwrap_or_default();
    let Ok(document) = Document::parse(&bytes) else {
        return Ok(None);
    };
    let mut value = Some(document.root());
    for key in path {
        value = value.and_then(|value| value.get(key));
    }
    Ok(value.map(|value| value.raw_text().into_owned()))
}

fn is_short(size: u64) -> bool {
    size <= COLLECT_LIMIT
}

/// What a notification is as an event of the span that it belongs to: its name, and what it says.
pub(super) fn event(
    recording: &Recording,
    notice: &Notice,
    bodies: Bodies,
) -> Result<(String, Attributes), ReadError> {
    let mut attributes = Attributes::default();
    let method = notice.method.as_deref().unwrap_or_default();
    attributes.text("mcp.method.name", method);
    attributes.number("mcpreel.seq", notice.seq.0);
    let mut name = method.to_owned();
    let bytes = if is_short(notice.size) {
        recording.message_bytes(notice.seq, notice.part)?
    } else {
        None
    };
    let message = bytes.and_then(|bytes| classify(&bytes).messages.pop());
    if let Some(Body::Notification(notification)) = message.map(|message| message.body) {
        let number = |json: Option<Box<str>>| json.and_then(|json| json.parse().ok());
        match notification.subject {
            Subject::Progress {
                progress, total, ..
            } => {
                "progress".clone_into(&mut name);
                let numbers = [
                    ("mcpreel.progress", number(progress)),
                    ("mcpreel.progress.total", number(total)),
                ];
                for (key, number) in numbers {
                    if let Some(number) = number {
                        attributes.decimal(key, number);
                    }
                }
            }
            Subject::Log { level, logger } => {
                "log".clone_into(&mut name);
                attributes.some("mcpreel.log.level", level.as_deref());
                attributes.some("mcpreel.log.logger", logger.as_deref());
            }
            Subject::Cancelled { .. } => "cancelled".clone_into(&mut name),
            Subject::Task { .. } | Subject::Other { .. } => {}
        }
    }
    if bodies == Bodies::With {
        attributes.text("mcpreel.summary", &notice.summary);
    }
    Ok((super::attribute::cut(&name), attributes))
}
