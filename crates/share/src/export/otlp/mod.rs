//! A trace in OTLP/JSON, by the OpenTelemetry semantic conventions for MCP.
//!
//! ```text
//! mcp.session ├────────────────────────────────────────────┤   resource: the client
//!   initialize    ├──┤
//!   tools/call plan    ├──────────────────────┤  CLIENT, parent: the session
//!     elicitation/create     ├────────┤           resource: the server, CLIENT, parent: the call
//!   notifications/initialized    ╵
//! ```
//!
//! A request is a span of whoever sent it, whose resource it stands under: kind CLIENT, timed on
//! the wire from its last byte to the last byte of its answer. Requests of the server have the
//! roles reversed, and stand under the call during which they came. Where a request carries a valid
//! `_meta.traceparent`, that is its parent, and the session is linked to it; else its parent is the
//! session, a span too. Progress, log messages and cancels are events of their span; notifications
//! that belong to no request are spans without length. stderr is no trace, and not in it.
//!
//! Ids follow from the id of the recording and the frame, so that a recording has the same trace
//! however often it is exported. Arguments and results, and what log messages say, are left out
//! unless they are asked for ([`Bodies`]).
//!
//! Of a session that came without a date its resources say so (`mcpreel.time`), and times count from
//! its start; of one that came without times spans have none.
//!
//! A line is one `TracesData`, as in files of the Collector; a short session has one line, which
//! can be posted as it is.

mod ids;
mod network;
mod span;

use super::{Excerpt, Export, ExportError, Progress, Written, end_of, span_name};
use crate::phrases;
use ids::Ids;
use mcpreel_lint::cause::facts::without_status;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{ReadError, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::Direction;
use span::{Attributes, CLIENT, Event, INTERNAL, Lines, Link, Span, cut};
use std::io::Write;

/// Events of one span, as many as the software development kits keep; of more the number is said.
const EVENTS: u32 = 128;

/// Exchanges whose messages are read together: some milliseconds.
const TOGETHER: usize = 20;

/// Whether what was said is written besides that it was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bodies {
    /// Only methods, names, ids, codes and times.
    #[default]
    Without,
    /// Arguments, results and texts too.
    With,
}

pub fn write(export: Export<'_, impl Write>, bodies: Bodies) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    let is_untimed = recording.is_untimed()?;
    let note = match summary.wall_ns {
        _ if is_untimed => Some("not on record"),
        0 => Some("no date is on record: times count from the start"),
        _ => None,
    };
    let trace = Trace {
        excerpt,
        bodies,
        ids: Ids::new(recording, &summary)?,
        has_logs: recording.has_logs_in_exchanges()?,
        is_untimed,
        summary: &summary,
    };
    trace.write(&mut Lines::new(&summary, note, out), export.progress)
}

struct Trace<'r> {
    excerpt: Excerpt<'r>,
    bodies: Bodies,
    summary: &'r Summary,
    is_untimed: bool,
    ids: Ids<'r>,
    /// Whether any exchange has notifications besides its progress and its cancel.
    has_logs: bool,
}

impl Trace<'_> {
    fn write(
        &self,
        lines: &mut Lines<'_, impl Write>,
        progress: &mut Progress<'_>,
    ) -> Result<Written, ExportError> {
        let (excerpt, mut written) = (self.excerpt, Written::default());
        written.left_out = excerpt.exchange_pages(&mut |page| {
            for exchanges in page.chunks(TOGETHER) {
                // To ask for each message alone takes longer than to read it. Whoever reads the
                // trace slowly must not keep the file held.
                let held = excerpt.recording.hold()?;
                let spans = exchanges.iter().map(|exchange| self.exchange(exchange));
                let spans = spans.collect::<Result<Vec<_>, _>>()?;
                drop(held);
                for (exchange, span) in exchanges.iter().zip(&spans) {
                    progress(exchange.request.0)?;
                    written.exchanges += 1;
                    lines.push(exchange.direction, span)?;
                }
            }
            Ok::<_, ExportError>(())
        })?;
        // Messages that are no notifications and belong to no exchange.
        let mut unpaired = 0;
        excerpt.notices(progress, &mut |notice| {
            match (notice.kind, notice.method.as_deref()) {
                _ if notice.exchange.is_some() => {}
                (MessageKind::Notification, Some(method)) => {
                    lines.push(notice.direction, &self.notice(notice, method)?)?;
                }
                _ => unpaired += 1,
            }
            Ok(())
        })?;
        let mut session = self.session(unpaired);
        for row in excerpt.events() {
            let event = row?.event;
            written.events += 1;
            if session.events.len() == EVENTS as usize {
                session.dropped_events_count += 1;
                continue;
            }
            let mut attributes = Attributes::default();
            attributes.text("mcpreel.event", &phrases::event(&event.kind));
            session.events.push(Event {
                time_unix_nano: self.wall(event.t),
                name: "process".to_owned(),
                attributes,
            });
        }
        lines.push(Direction::ClientToServer, &session)?;
        lines.finish()?;
        Ok(written)
    }

    /// Nanoseconds since the Unix epoch; where the start is not known, since the start.
    fn wall(&self, t: Moment) -> Option<String> {
        let wall = self.summary.wall_ns.saturating_add(t.0);
        (!self.is_untimed).then(|| wall.to_string())
    }

    fn exchange(&self, exchange: &Exchange) -> Result<Span, ExportError> {
        let last = Moment(self.summary.t_last_ns);
        let end = end_of(exchange, last);
        let failure = self.failure(exchange);
        let (parent, is_remote) = self.ids.parent(exchange)?;
        let session = is_remote.then(|| self.ids.session.clone());
        let first_round = self.ids.first_round(exchange)?;
        let mut attributes = self.about(&exchange.method, exchange.name.as_deref());
        attributes.text("jsonrpc.request.id", &plain(exchange.rpc_id.json()));
        attributes.some("error.type", failure.as_ref().map(|(kind, _)| &**kind));
        // The code of one that HTTP refused is the status, which is no code of JSON-RPC.
        let code = exchange.code.as_deref().map(plain);
        let code = code.filter(|_| !is_refused_by_http(exchange));
        attributes.some("rpc.response.status_code", code.as_deref());
        attributes.text("mcpreel.status", exchange.status.as_str());
        attributes.number("mcpreel.seq", exchange.request.0.0);
        if let Some((seq, _)) = exchange.response {
            attributes.number("mcpreel.response.seq", seq.0);
        }
        self.add_network(exchange, &mut attributes)?;
        if self.bodies == Bodies::With {
            self.add_bodies(exchange, &mut attributes)?;
        }
        let (events, dropped_events_count) = self.events_of(exchange)?;
        let times = (exchange.t_request, end.max(exchange.t_request));
        let name = span_name(&exchange.method, exchange.name.as_deref());
        Ok(Span {
            attributes,
            events,
            dropped_events_count,
            links: session.into_iter().chain(first_round).collect(),
            status: span::Status::of(failure),
            ..self.span(parent, exchange.request, &name, times)
        })
    }

    fn span(
        &self,
        parent: Link,
        message: (Seq, u32),
        name: &str,
        (start, end): (Moment, Moment),
    ) -> Span {
        Span {
            trace_id: parent.trace_id,
            id: self.ids.span(message),
            parent_span_id: Some(parent.span_id),
            name: cut(name),
            kind: CLIENT,
            start_time_unix_nano: self.wall(start),
            end_time_unix_nano: self.wall(end),
            ..Span::default()
        }
    }

    fn about(&self, method: &str, name: Option<&str>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("mcp.method.name", method);
        match method {
            "tools/call" => {
                attributes.text("gen_ai.operation.name", "execute_tool");
                attributes.some("gen_ai.tool.name", name);
            }
            "prompts/get" => attributes.some("gen_ai.prompt.name", name),
            "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "notifications/resources/updated" => attributes.some("mcp.resource.uri", name),
            _ => {}
        }
        let version = self.summary.session.version();
        attributes.some("mcp.protocol.version", version);
        let is_stdio = self.summary.transport == "stdio";
        attributes.text("network.transport", if is_stdio { "pipe" } else { "tcp" });
        attributes
    }

    /// The kind of an exchange's failure, and what is said of it.
    fn failure(&self, exchange: &Exchange) -> Option<(String, String)> {
        let kind = match (exchange.code.as_deref(), exchange.status) {
            (_, Status::Probe) => return None,
            (Some(code), _) => plain(code),
            (None, Status::Error) => "error".to_owned(),
            (None, Status::ToolError) => "tool_error".to_owned(),
            (None, Status::Lost) => "lost".to_owned(),
            (None, Status::Unanswered) => "unanswered".to_owned(),
            _ => return None,
        };
        let is_http = is_refused_by_http(exchange);
        let is_error = exchange.code.is_some() || exchange.status == Status::Error;
        // What a task was created with is no reason why it failed.
        let said = exchange
            .answered()
            .filter(|said| is_error && (said.starts_with("error") || is_http));
        let said = said.map(|said| without_status(said, exchange.code.as_deref()).to_owned());
        let why = phrases::why_lost(self.summary);
        let lost = || phrases::lost(exchange, why.as_deref()).map(String::from);
        let message = said.or_else(lost);
        Some((kind, message.unwrap_or_default()))
    }

    /// Adds the arguments and the result of an exchange, as the JSON that they are.
    fn add_bodies(
        &self,
        exchange: &Exchange,
        attributes: &mut Attributes,
    ) -> Result<(), ReadError> {
        let [asked, result] = if &*exchange.method == "tools/call" {
            [
                (&["params", "arguments"][..], "gen_ai.tool.call.arguments"),
                (&["result"], "gen_ai.tool.call.result"),
            ]
        } else {
            [
                (&["params"][..], "mcpreel.request.params"),
                (&["result"], "mcpreel.response.result"),
            ]
        };
        let error = (&["error", "data"][..], "mcpreel.response.error_data");
        let request = (Some(exchange.request), exchange.request_size, &[asked][..]);
        let paths = &[result, error][..];
        let response = (exchange.response, exchange.response_size, paths);
        for (place, size, members) in [request, response] {
            let Some((seq, part)) = place else {
                continue;
            };
            if size > COLLECT_LIMIT {
                let long = format!("({size} bytes, too long for an attribute)");
                attributes.whole(members[0].1, long);
                continue;
            }
            let bytes = self.excerpt.recording.message_bytes(seq, part)?;
            let Ok(document) = Document::parse(bytes.as_deref().unwrap_or_default()) else {
                continue;
            };
            for (path, key) in members {
                let root = Some(document.root());
                if let Some(value) = path.iter().fold(root, |value, name| value?.get(name)) {
                    attributes.whole(key, value.raw_text().into_owned());
                }
            }
        }
        Ok(())
    }

    /// Progress, log messages, the cancel; and how many there was no room for.
    fn events_of(&self, exchange: &Exchange) -> Result<(Vec<Event>, u32), ReadError> {
        if !self.has_logs && exchange.progress_count == 0 && exchange.cancelled.is_none() {
            return Ok((Vec::new(), 0));
        }
        let Excerpt {
            recording, last, ..
        } = self.excerpt;
        let notices = recording.notices_of(exchange.id, last, EVENTS + 1)?;
        let mut dropped = 0;
        if notices.len() > EVENTS as usize {
            let all = recording.notices_count(exchange.id, last)?;
            dropped = u32::try_from(all).unwrap_or(u32::MAX) - EVENTS;
        }
        let events = notices.iter().take(EVENTS as usize);
        Ok((events.map(|notice| self.event(notice)).collect(), dropped))
    }

    /// A notification as an event of its span.
    fn event(&self, notice: &Notice) -> Event {
        let mut attributes = Attributes::default();
        let method = notice.method.as_deref().unwrap_or_default();
        attributes.text("mcp.method.name", method);
        attributes.number("mcpreel.seq", notice.seq.0);
        if self.bodies == Bodies::With {
            attributes.text("mcpreel.summary", &notice.summary);
        }
        let name = match method {
            "notifications/progress" => "progress",
            "notifications/message" => "log",
            "notifications/cancelled" => "cancelled",
            other => other,
        };
        Event {
            time_unix_nano: self.wall(notice.t_last),
            name: cut(name),
            attributes,
        }
    }

    fn notice(&self, notice: &Notice, method: &str) -> Result<Span, ExportError> {
        let parent = self.ids.parent_of_notice(notice)?;
        let mut attributes = self.about(method, notice.name.as_deref());
        attributes.number("mcpreel.seq", notice.seq.0);
        if self.bodies == Bodies::With {
            attributes.text("mcpreel.summary", &notice.summary);
        }
        let (place, times) = ((notice.seq, notice.part), (notice.t_first, notice.t_last));
        Ok(Span {
            attributes,
            ..self.span(parent, place, method, times)
        })
    }

    /// The session as a whole.
    fn session(&self, unpaired: u64) -> Span {
        let summary = self.summary;
        let failure = summary.session.phase.end().and_then(|end| {
            let is_bad = !matches!(end, End::Exited { code: 0 } | End::Unknown);
            is_bad.then(|| (phrases::end_short(end, &summary.context), phrases::end(end)))
        });
        let mut attributes = Attributes::default();
        attributes.text("mcpreel.recording", &summary.id);
        attributes.some("mcp.protocol.version", summary.session.version());
        attributes.number("mcpreel.frames", summary.frames);
        if unpaired > 0 {
            attributes.number("mcpreel.unpaired", unpaired);
        }
        attributes.some("error.type", failure.as_ref().map(|(kind, _)| &**kind));
        Span {
            trace_id: self.ids.session.trace_id.clone(),
            id: self.ids.session.span_id.clone(),
            name: "mcp.session".to_owned(),
            kind: INTERNAL,
            start_time_unix_nano: self.wall(Moment(0)),
            end_time_unix_nano: self.wall(Moment(summary.t_last_ns)),
            attributes,
            status: span::Status::of(failure),
            ..Span::default()
        }
    }
}

/// Whether the code of an exchange is a status of HTTP.
fn is_refused_by_http(exchange: &Exchange) -> bool {
    let is_refused = matches!(exchange.status, Status::HttpError | Status::Probe);
    is_refused && exchange.response.is_none()
}

/// The text of a JSON string, or of whatever else it is.
fn plain(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod otlp_tests;
