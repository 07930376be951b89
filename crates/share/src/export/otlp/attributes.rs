//! Attributes of spans and events, and what they take from messages.

use super::Bodies;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{ReadError, Recording, Said};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::{Body, Outcome, Subject, classify};
use serde::Serialize;
use serde_json::{Value, json};

/// Characters of a text off the wire: there is no end to what an error may say.
const LONGEST: usize = 4096;

/// Attributes as OTLP/JSON has them: `{"key": …, "value": {"stringValue": …}}`.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    /// A text, cut where it is very long.
    pub fn text(&mut self, key: &'static str, text: &str) {
        self.whole(key, &cut(text));
    }

    fn whole(&mut self, key: &'static str, text: &str) {
        self.push(key, json!({"stringValue": text}));
    }

    pub fn some(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Several texts, if there are any.
    pub fn texts(&mut self, key: &'static str, texts: &[String]) {
        if !texts.is_empty() {
            let values = texts.iter().map(|text| json!({"stringValue": cut(text)}));
            let values: Vec<_> = values.collect();
            self.push(key, json!({"arrayValue": {"values": values}}));
        }
    }

    /// A number; one that no signed number holds is the largest of these. Numbers of 64 bits are
    /// strings in OTLP/JSON.
    pub fn number(&mut self, key: &'static str, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.push(key, json!({"intValue": number.to_string()}));
    }

    fn decimal(&mut self, key: &'static str, number: f64) {
        if number.is_finite() {
            self.push(key, json!({"doubleValue": number}));
        }
    }

    fn push(&mut self, key: &'static str, value: Value) {
        let mut attribute = json!({"key": key});
        attribute["value"] = value;
        self.0.push(attribute);
    }
}

/// The beginning of a text, and that it goes on.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}

/// The message of the error that answered an exchange; empty without one, or where the answer is
/// too long to hold.
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
    let message = match classify(&bytes).messages.pop().map(|message| message.body) {
        Some(Body::Response(response)) => match response.outcome {
            Outcome::Error { message, .. } => message,
            _ => None,
        },
        _ => None,
    };
    Ok(message.unwrap_or_default().into())
}

/// Members of a message, each by its path and as the attribute that it is.
type Wanted<'p> = [(&'p [&'p str], &'static str)];

/// Adds the arguments and the result of an exchange, as the JSON that they are.
pub(super) fn add_bodies(exchange: &Exchange, said: &Said, attributes: &mut Attributes) {
    let is_call = &*exchange.method == "tools/call";
    let params: &[&str] = if is_call {
        &["params", "arguments"]
    } else {
        &["params"]
    };
    let [asked, result] = if is_call {
        ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"]
    } else {
        ["mcpreel.request.params", "mcpreel.response.result"]
    };
    let request = (said.request.as_deref(), exchange.request_size);
    members(request, &[(params, asked)], attributes);
    if exchange.response.is_none() {
        return;
    }
    let answered: &Wanted<'_> = &[
        (&["result"], result),
        (&["error", "data"], "mcpreel.response.error_data"),
    ];
    let response = (said.response.as_deref(), exchange.response_size);
    members(response, answered, attributes);
}

/// Adds what is `wanted` of this message, whose frame has so many bytes.
fn members((bytes, size): (Option<&[u8]>, u64), wanted: &Wanted<'_>, attributes: &mut Attributes) {
    if !is_short(size) {
        attributes.text(
            wanted[0].1,
            &format!("({size} bytes, too long for an attribute)"),
        );
        return;
    }
    let Ok(document) = Document::parse(bytes.unwrap_or_default()) else {
        return;
    };
    for (path, key) in wanted {
        let root = Some(document.root());
        let value = path.iter().fold(root, |value, name| value?.get(name));
        if let Some(value) = value {
            attributes.whole(key, &value.raw_text());
        }
    }
}

fn is_short(size: u64) -> bool {
    size <= COLLECT_LIMIT
}

/// A notification as an event of its span: the name, and the attributes.
pub(super) fn event_of(
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
        let known = about(notification.subject, &mut attributes);
        name = known.map_or(name, str::to_owned);
    }
    if bodies == Bodies::With {
        attributes.text("mcpreel.summary", &notice.summary);
    }
    Ok((cut(&name), attributes))
}

/// Adds what a notification is about; returns what its event is called, if not by its method.
fn about(subject: Subject, attributes: &mut Attributes) -> Option<&'static str> {
    let number = |json: Option<Box<str>>| json.and_then(|json| json.parse().ok());
    match subject {
        Subject::Progress {
            progress, total, ..
        } => {
            for (key, number) in [
                ("mcpreel.progress", number(progress)),
                ("mcpreel.progress.total", number(total)),
            ] {
                if let Some(number) = number {
                    attributes.decimal(key, number);
                }
            }
            Some("progress")
        }
        Subject::Log { level, logger } => {
            attributes.some("mcpreel.log.level", level.as_deref());
            attributes.some("mcpreel.log.logger", logger.as_deref());
            Some("log")
        }
        Subject::Cancelled { .. } => Some("cancelled"),
        Subject::Task { .. } | Subject::Other { .. } => None,
    }
}
