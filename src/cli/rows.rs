//! The rows of a recording on stdout: lines with the same columns wherever they are shown, or JSON
//! objects, in which absent values are null, and ids and codes are as on the wire.
//!
//! ```text
//!    #      SINCE   LATENCY  STATUS      WHAT
//! 1187  12:04.318    842 ms  tool-error  → tools/call search_docs {q:"rust"}
//! ```

use super::exit::Failure;
use super::output::{Ink, Output};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_lint::Severity;
use mcpreel_share::export::all_rows;
use mcpreel_share::phrases::{self, phrases_network};
use mcpreel_share::redacting::masked;
use mcpreel_share::row::{RowView, Tone, arrow};
use mcpreel_store::reader::{FindingRow, MessageRow, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::http::{self, HttpExchange, Timing};
use mcpreel_trace::item::{Item, ItemKind, What};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{
    cut, cut_middle, duration, escape, escape_bytes, pad_end, pad_start, since, size,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Bytes of a line without messages that are quoted.
const QUOTED: usize = 200;

/// Bytes of such a line that are read, white space among them.
const READ: u64 = 1000;

/// Prints the rows of a recording.
pub struct Printer {
    pub out: Output,
    pub json: bool,
    /// Whether a JSON object says in its first member what kind of row it is.
    pub typed: bool,
    /// Whether lines have the columns of frames: STREAM and SIZE.
    pub of_frames: bool,
    /// Why calls of the session are lost.
    pub why_lost: Option<String>,
    /// The end of the recording; of a live one now. Until then what has no answer was waited for.
    /// None where nobody knows it.
    pub until: Option<Moment>,
    /// Digits of the longest number of a frame.
    digits: usize,
}

impl Printer {
    /// Prints to stdout; `last` is the highest number of a frame.
    pub fn stdout(json: bool, last: u64) -> Self {
        Self {
            out: Output::stream(),
            json,
            typed: true,
            of_frames: false,
            why_lost: None,
            until: None,
            digits: last.to_string().len().max(5),
        }
    }

    pub fn heading(&mut self) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        let columns = if self.of_frames {
            "STREAM     SIZE"
        } else {
            "   LATENCY  STATUS        "
        };
        let heading = format!("{:>1$}      SINCE  {columns}  WHAT", "#", self.digits);
        Ok(self.out.inked(Ink::Faint, &heading)?)
    }

    /// Prints a row of the list.
    pub fn item(&mut self, recording: &Recording, item: &Item) -> Result<(), Failure> {
        match &item.what {
            What::Exchange(exchange) => self.exchange(exchange, None, false),
            What::Event(event) => self.event(event),
            What::Http(http) if self.json => self.object("http", http_json(http)),
            What::Message { head, .. } | What::Line { head, .. } if self.of_frames => {
                let messages = recording.messages_of_frame(head.seq)?;
                self.frame(recording, head, None, &messages)
            }
            What::Message { record, head, .. } if self.json => {
                self.object(record.kind.as_str(), message_json(record, head.t_last))
            }
            What::Line { head, .. } if self.json => self.frame(recording, head, None, &[]),
            What::Line { head, preview } if head.carried.http == 0 => {
                self.line(&RowView::of_item(item), &quote(preview))
            }
            What::Http(_) | What::Line { .. } | What::Message { .. } => {
                let row = RowView::of_item(item);
                self.line(&row, &row.what(None))
            }
        }
    }

    /// Prints an exchange, in a line with its own time or `t`; `is_open`: because it has been open
    /// until then.
    pub fn exchange(
        &mut self,
        exchange: &Exchange,
        t: Option<Moment>,
        is_open: bool,
    ) -> Result<(), Failure> {
        if self.json {
            let kind = if is_open { "open" } else { "exchange" };
            return self.object(kind, exchange_json(exchange));
        }
        let mut row = RowView::of_exchange(exchange);
        row.t = t.unwrap_or(row.t);
        self.until = t.or(self.until);
        let mut what = row.what(self.why_lost.as_deref());
        if is_open {
            let open = duration(row.t.0.saturating_sub(exchange.t_request.0));
            what = format!("{}  for {open} now", escape(&exchange.summary));
        }
        self.line(&row, &what)
    }

    /// Prints an HTTP exchange as JSON, with what took how long.
    pub fn http(&mut self, http: &HttpExchange, timing: Timing) -> Result<(), Failure> {
        let mut members = http_json(http);
        members.0.push(("timing_ns", ours(json!(timing))));
        self.object("http", members)
    }

    /// Prints every frame.
    pub fn frames(&mut self, recording: &Recording) -> Result<(), Failure> {
        let mut after = Seq(0);
        loop {
            let page = recording.frames(after)?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            // To ask for those of each frame alone takes longer than to read them.
            let until = if self.json { after } else { last.seq };
            let messages = recording.messages(after, until)?;
            let mut messages = &messages[..];
            after = last.seq;
            for (head, raw) in &page {
                let is_own = |row: &MessageRow| row.record.frame <= head.seq;
                let (own, rest) = messages.split_at(messages.partition_point(is_own));
                self.frame(recording, head, raw.as_deref(), own)?;
                messages = rest;
            }
        }
    }

    /// Prints a frame with these messages; its bytes are read where they are not given.
    pub fn frame(
        &mut self,
        recording: &Recording,
        head: &FrameHead,
        raw: Option<&[u8]>,
        messages: &[MessageRow],
    ) -> Result<(), Failure> {
        if !self.json {
            let words = match raw {
                _ if !messages.is_empty() => summaries(messages),
                _ if head.carried.http > 0 => {
                    let read = recording.piece(head.seq, 0..READ)?;
                    escape(&phrases_network::part(head, &read)).into_owned()
                }
                Some(raw) => quote(raw),
                None => quote(&recording.piece(head.seq, 0..READ)?),
            };
            return self.line(&RowView::of_line(head, b""), &words);
        }
        let kind = match head.stream {
            StreamId::STDERR => "stderr",
            _ => "line",
        };
        match raw {
            Some(raw) => self.object(kind, frame_json(head, raw)),
            None => self.object(kind, frame_json(head, &recording.raw(head.seq)?)),
        }
    }

    pub fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if self.json {
            return self.object("event", event_json(event));
        }
        let row = RowView::of_event(event);
        self.line(&row, &row.summary)
    }

    /// Prints a finding; `request` is the number of the request that it is about.
    pub fn finding(&mut self, finding: &FindingRow, request: Option<u64>) -> Result<(), Failure> {
        if self.json {
            return Ok(self.out.json(&finding_json(finding, request))?);
        }
        let line = finding_line(finding, &self.out);
        Ok(self.out.line(&line)?)
    }

    fn object(&mut self, kind: &'static str, row: impl Serialize) -> Result<(), Failure> {
        let r#type = self.typed.then_some(kind);
        Ok(self.out.json(&Typed { r#type, row })?)
    }

    /// Prints a row that says `what`, which is escaped.
    fn line(&mut self, row: &RowView<'_>, what: &str) -> Result<(), Failure> {
        let (out, digits) = (&mut self.out, self.digits);
        let number = match row.kind {
            // An event has no number of its own.
            ItemKind::Event => String::new(),
            _ => row.seq.0.to_string(),
        };
        let (columns, used) = if self.of_frames {
            let stream = row.direction.map_or("stderr", Direction::as_str);
            let size = row.size.map_or_else(String::new, size);
            (format!("{stream:<6}  {}", pad_start(&size, 7)), 15)
        } else {
            let took = |it| phrases::took(it, self.until);
            let latency = row.exchange.and_then(took).unwrap_or_default();
            let status = out.paint(ink(row.tone), &pad_end(row.status, 14));
            (format!("{}  {status}", pad_start(&latency, 10)), 26)
        };
        let room = match out.columns() {
            Some(columns) => columns.saturating_sub(digits + used + 15),
            None => usize::MAX,
        };
        let what = fitting(row, what, room);
        let since = out.paint(Ink::Faint, &pad_start(&since(row.t.0), 9));
        Ok(out.line(&format!("{number:>digits$}  {since}  {columns}  {what}"))?)
    }
}

/// What happened, in so many columns; of a call that failed all, in some lines: the reason is at the end.
fn fitting(row: &RowView<'_>, what: &str, room: usize) -> String {
    let what = format!("{} {what}", row.arrow());
    match row.exchange {
        Some(exchange) if exchange.has_failed() => what,
        // The end of a URI says as much as its beginning.
        _ if row.is_uri() => cut_middle(&what, room),
        _ => cut(&what, room),
    }
}

pub fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Plain => Ink::Plain,
        Tone::Faint => Ink::Faint,
        Tone::Open | Tone::Warn => Ink::Warn,
        Tone::Bad => Ink::Bad,
    }
}

/// The way of what a stream carries; stderr has its name in the column before.
pub fn stream_arrow(stream: StreamId) -> &'static str {
    stream.messages().map_or("!", arrow)
}

/// The beginning of a line that is no message, escaped.
pub fn quote(raw: &[u8]) -> String {
    let raw = raw.trim_ascii_end();
    if raw.len() <= QUOTED {
        return escape_bytes(raw).into_owned();
    }
    // No character is cut in two.
    let is_inside = |at: &usize| raw[*at] & 0xC0 == 0x80;
    let end = (QUOTED - 3..=QUOTED).rfind(|at| !is_inside(at));
    format!("{}…", escape_bytes(&raw[..end.unwrap_or(QUOTED)]))
}

/// The summaries of a frame's messages, escaped.
pub fn summaries(messages: &[MessageRow]) -> String {
    let summaries = messages.iter().map(|row| escape(&row.record.summary));
    summaries.collect::<Vec<_>>().join(" · ")
}

/// A severity in its colour, in a column of its own.
pub fn severity(word: &str, out: &Output) -> String {
    let ink = match word.parse() {
        Ok(Severity::Error) => Ink::Bad,
        Ok(Severity::Warning) => Ink::Warn,
        Ok(Severity::Note) | Err(_) => Ink::Faint,
    };
    out.paint(ink, &pad_end(&escape(word), 7))
}

/// A finding on one line.
pub fn finding_line(finding: &FindingRow, out: &Output) -> String {
    let place = finding.frame.map(|seq| format!("#{}", seq.0));
    let path = finding.path.as_deref();
    let path = path.map(|path| out.paint(Ink::Faint, &format!("  {}", escape(path))));
    format!(
        "{}  {}  {}: {}{}",
        severity(&finding.severity, out),
        pad_start(&place.unwrap_or_default(), 6),
        out.paint(Ink::Strong, &escape(&finding.rule)),
        escape(&finding.detail),
        path.unwrap_or_default()
    )
}

/// Gives every finding to `show`, in order, with the seq of the request that it is about.
pub fn each_finding(
    recording: &Recording,
    mut show: impl FnMut(&FindingRow, Option<u64>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for finding in all_rows(0, |after| recording.findings(*after), |finding| finding.id) {
        let finding = finding?;
        let request = recording.request_of(&finding)?;
        show(&finding, request.map(|seq| seq.0))?;
    }
    Ok(())
}

/// A row with its type in front.
#[derive(Serialize)]
struct Typed<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    #[serde(flatten)]
    row: T,
}

/// A frame with its exact bytes: as text where they are UTF-8.
fn frame_json(head: &FrameHead, raw: &[u8]) -> Value {
    let mut frame = json!({
        "seq": head.seq.0,
        "stream": head.stream.as_str(),
        "direction": head.stream.messages().map(Direction::as_str),
        "t_first_ns": head.t_first.0,
        "t_last_ns": head.t_last.0,
        "size": head.size,
    });
    match std::str::from_utf8(raw) {
        Ok(text) => frame["text"] = text.into(),
        Err(_) => frame["base64"] = STANDARD.encode(raw).into(),
    }
    frame
}

/// A member of an object: in our words, or as it was on the wire.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Member {
    Ours(Value),
    Wire(Box<RawValue>),
}

/// JSON text as it is; what is no JSON after all (only a damaged recording has it), as a string.
fn as_on_the_wire(json: &str) -> Member {
    let raw = RawValue::from_string(json.to_owned());
    raw.map_or_else(|_| Member::Ours(json.into()), Member::Wire)
}

fn ours(value: impl Into<Value>) -> Member {
    Member::Ours(value.into())
}

pub struct Members(Vec<(&'static str, Member)>);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A request with its response.
fn exchange_json(exchange: &Exchange) -> Members {
    let code = exchange.code.as_deref().map(as_on_the_wire);
    Members(vec![
        ("direction", ours(exchange.direction.as_str())),
        ("method", ours(&*exchange.method)),
        ("name", ours(exchange.name.as_deref())),
        ("id", as_on_the_wire(exchange.rpc_id.json())),
        ("request", ours(exchange.request.0.0)),
        ("response", ours(exchange.response.map(|(seq, _)| seq.0))),
        ("t_request_ns", ours(exchange.t_request.0)),
        ("t_response_ns", ours(exchange.t_response.map(|t| t.0))),
        ("latency_ns", ours(exchange.latency_ns())),
        ("waited_ns", ours(exchange.waited_ns)),
        ("status", ours(exchange.status.as_str())),
        ("code", code.unwrap_or(ours(Value::Null))),
        ("era", ours(exchange.era.as_str())),
        ("summary", ours(&*exchange.summary)),
        ("conversation", ours(unless_zero(exchange.conversation))),
        ("http", ours(unless_zero(exchange.http))),
    ])
}

/// A number that is 0 where there is none.
fn unless_zero(number: u32) -> Option<u32> {
    Some(number).filter(|number| *number > 0)
}

/// A request of HTTP without a message, with its response.
pub fn http_json(http: &HttpExchange) -> Members {
    let time = |t: Option<Moment>| ours(t.map(|t| t.0));
    Members(vec![
        ("request", ours(http.request.0)),
        ("response", ours(http.response.map(|seq| seq.0))),
        ("connection", ours(http.connection)),
        ("conversation", ours(unless_zero(http.conversation))),
        ("method", ours(&*http.method)),
        ("target", ours(&*http.target)),
        ("status", ours(http.status)),
        ("content_type", ours(http.content_type.as_deref())),
        ("t_request_ns", ours(http.t_request.0)),
        ("t_sent_ns", ours(http.t_sent.0)),
        ("t_head_ns", time(http.t_head)),
        ("t_first_ns", time(http.t_first)),
        ("t_last_ns", time(http.t_last)),
        ("ended", ours(http.ended.map(http::End::as_str))),
        ("events", ours(http.events)),
    ])
}

/// A message that is neither the request nor the response of an exchange, and was complete at `t`.
fn message_json(record: &MessageRecord, t: Moment) -> Members {
    let id = record.rpc_id.as_ref().map(|id| as_on_the_wire(id.json()));
    Members(vec![
        ("seq", ours(record.frame.0)),
        ("direction", ours(record.direction.as_str())),
        ("t_ns", ours(t.0)),
        ("method", ours(record.method.as_deref())),
        ("name", ours(record.name.as_deref())),
        ("id", id.unwrap_or(ours(Value::Null))),
        ("summary", ours(&*record.summary)),
    ])
}

/// An event, its details behind the time.
fn event_json(event: &Event) -> Value {
    let place = json!({"t_ns": event.t.0, "after_seq": event.after_seq.0});
    let mut line = joined(place, serde_json::to_value(&event.kind).unwrap_or_default());
    // Streams have numbers on record and names in the output, as in frames.
    if let Some(stream) = line.get_mut("stream") {
        let number = stream
            .as_u64()
            .and_then(|number| u32::try_from(number).ok());
        *stream = number.map_or(Value::Null, |number| StreamId(number).as_str().into());
    }
    show_process(&mut line);
    line
}

/// The members of one object, then those of another.
pub fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(members), Value::Object(more)) = (one.as_object_mut(), other) {
        members.extend(more);
    }
    one
}

/// Shows facts about a process: those that are unknown, 0 or empty on record, are `null`, and command
/// lines are without what is secret in them.
pub fn show_process(context: &mut Value) {
    for place in ["/argv", "/host/command"] {
        if let Some(command) = context.pointer_mut(place)
            && let Ok(words) = serde_json::from_value::<Vec<String>>(command.clone())
        {
            *command = json!(masked(&words, [&*words]));
        }
    }
    for place in ["/pid", "/host/pid", "/host/name", "/mcpreel", "/wall_ns"] {
        if let Some(value) = context.pointer_mut(place)
            && (*value == json!(0) || *value == json!(""))
        {
            *value = Value::Null;
        }
    }
}

/// A finding; `request` is the seq of the request of its exchange.
pub fn finding_json(finding: &FindingRow, request: Option<u64>) -> Value {
    let mut line = json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "frame": finding.frame.map(|seq| seq.0),
        "request": request,
        "path": finding.path,
        "message": finding.detail,
    });
    if !finding.related.is_empty() {
        line["related"] = finding.related.iter().map(|seq| seq.0).collect();
    }
    line
}

/// A note on redaction as JSON; what is none is text.
pub fn redaction(note: Option<&str>) -> Option<Value> {
    note.map(|note| serde_json::from_str(note).unwrap_or_else(|_| note.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::id::RequestId;

    fn line(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("it is JSON")
    }

    #[test]
    fn an_exchange_keeps_the_text_of_its_id_and_code() {
        let id = RequestId::from_json("9007199254740993.0").expect("it is JSON");
        let exchange = Exchange {
            code: Some("\"E_QUOTA\"".into()),
            ..Exchange::begun(Direction::ClientToServer, id, "tools/call")
        };
        let line = line(&exchange_json(&exchange));
        assert!(line.contains(r#""id":9007199254740993.0,"#), "{line}");
        assert!(line.contains(r#""code":"E_QUOTA","#), "{line}");
    }
}
