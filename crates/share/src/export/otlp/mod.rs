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

mod attributes;
mod ids;
mod span;

use super::{Excerpt, Export, ExportError, Progress, Written, end_of, span_name};
use crate::phrases;
use attributes::{Attributes, add_bodies, error_message, event_of};
use ids::{Context, Ids};
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{EventRow, ReadError, Said, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use serde_json::Value;
use span::{CLIENT, Failure, INTERNAL, Lines, Span, event, link};
use std::io::Write;

/// Events of one span, as many as the software development kits keep; of more the number is said.
const EVENTS: u32 = 128;

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
    let times = Times::of(&summary, recording.is_untimed()?);
    let trace = Trace {
        excerpt,
        bodies,
        ids: Ids::new(recording, &summary)?,
        has_logs: recording.has_logs_in_exchanges()?,
        lines: Lines::new(&summary, times, out),
        times,
        summary: &summary,
        unpaired: 0,
        written: Written::default(),
    };
    trace.write(export.progress)
}

struct Trace<'r, W: Write> {
    excerpt: Excerpt<'r>,
    bodies: Bodies,
    summary: &'r Summary,
    times: Times,
    ids: Ids<'r>,
    /// Whether any exchange has notifications besides its progress and its cancel.
    has_logs: bool,
    lines: Lines<'r, W>,
    /// Messages that are no notifications and belong to no exchange.
    unpaired: u64,
    written: Written,
}

impl<W: Write> Trace<'_, W> {
    fn write(mut self, progress: &mut Progress<'_>) -> Result<Written, ExportError> {
        let (excerpt, bodies) = (self.excerpt, self.bodies);
        let mut span = |exchange: &Exchange, said: Option<&Said>| {
            progress(exchange.request.0)?;
            self.written.exchanges += 1;
            let span = self.exchange(exchange, said)?;
            self.lines.push(exchange.direction, &span)
        };
        let left_out = match bodies {
            Bodies::Without => excerpt.exchanges(&mut |exchange| span(exchange, None)),
            Bodies::With => {
                excerpt.said_exchanges(&mut |exchange, said| span(exchange, Some(said)))
            }
        };
        self.written.left_out = left_out?;
        self.notices(progress)?;
        let session = self.session()?;
        self.lines.push(Direction::ClientToServer, &session)?;
        self.lines.finish()?;
        Ok(self.written)
    }

    /// Nanoseconds since the Unix epoch; where the start is not known, since the start.
    fn wall(&self, t: Moment) -> Option<u64> {
        let wall = self.summary.wall_ns.saturating_add(t.0);
        (self.times != Times::Unknown).then_some(wall)
    }

    fn end(&self) -> Moment {
        Moment(self.summary.t_last_ns)
    }

    fn exchange(&self, exchange: &Exchange, said: Option<&Said>) -> Result<Span, ExportError> {
        let context = self.ids.context(exchange)?;
        let end = end_of(self.excerpt.recording, exchange, self.end())?;
        let (events, dropped) = self.events_of(exchange)?;
        let failure = self.failure(exchange)?;
        let mut attributes = self.about(&exchange.method, exchange.name.as_deref());
        attributes.text("jsonrpc.request.id", &plain(exchange.rpc_id.json()));
        if let Some(failure) = &failure {
            attributes.text("error.type", &failure.kind);
        }
        if let Some(code) = exchange.code.as_deref() {
            attributes.text("rpc.response.status_code", &plain(code));
        }
        attributes.text("mcpreel.status", exchange.status.as_str());
        attributes.number("mcpreel.seq", exchange.request.0.0);
        if let Some((seq, _)) = exchange.response {
            attributes.number("mcpreel.response.seq", seq.0);
        }
        if let Some(said) = said {
            add_bodies(exchange, said, &mut attributes);
        }
        Ok(Span {
            kind: CLIENT,
            name: span_name(&exchange.method, exchange.name.as_deref()),
            links: self.links(exchange, &context),
            id: self.ids.span(exchange.request),
            context,
            start: self.wall(exchange.t_request),
            end: self.wall(end.max(exchange.t_request)),
            attributes,
            events,
            dropped,
            failure,
        })
    }

    /// Spans that have to do with it and are not above it.
    fn links(&self, exchange: &Exchange, context: &Context) -> Vec<Value> {
        let mut links = Vec::new();
        if context.is_remote {
            links.push(link(&self.ids.session()));
        }
        links.extend(self.ids.first_round(exchange).map(|first| link(&first)));
        links
    }

    fn about(&self, method: &str, name: Option<&str>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("mcp.method.name", method);
        match (method, name) {
            ("tools/call", name) => {
                attributes.text("gen_ai.operation.name", "execute_tool");
                attributes.some("gen_ai.tool.name", name);
            }
            ("prompts/get", name) => attributes.some("gen_ai.prompt.name", name),
            (_, name) if has_uri(method) => attributes.some("mcp.resource.uri", name),
            _ => {}
        }
        let version = self.summary.session.version();
        attributes.some("mcp.protocol.version", version);
        if self.summary.transport == "stdio" {
            attributes.text("network.transport", "pipe");
        }
        attributes
    }

    fn failure(&self, exchange: &Exchange) -> Result<Option<Failure>, ReadError> {
        let recording = self.excerpt.recording;
        if let Some(code) = exchange.code.as_deref() {
            let message = error_message(recording, exchange)?;
            return Ok(Some(Failure::new(plain(code), message)));
        }
        let end = self.summary.session.phase.end();
        Ok(match exchange.status {
            Status::Error => Some(Failure::new("error", error_message(recording, exchange)?)),
            Status::ToolError => Some(Failure::new("tool_error", "")),
            Status::Lost => {
                let why = phrases::lost(exchange, end).unwrap_or_default();
                Some(Failure::new("lost", why))
            }
            Status::Unanswered => Some(Failure::new("unanswered", "")),
            _ => None,
        })
    }

    /// Progress, log messages, the cancel; and how many there was no room for.
    fn events_of(&self, exchange: &Exchange) -> Result<(Vec<Value>, u64), ReadError> {
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
            dropped = all - u64::from(EVENTS);
        }
        let shown = notices.iter().take(EVENTS as usize);
        let events = shown.map(|notice| {
            let (name, attributes) = event_of(recording, notice, self.bodies)?;
            Ok(event(&name, self.wall(notice.t_last), &attributes))
        });
        Ok((events.collect::<Result<_, ReadError>>()?, dropped))
    }

    /// Notifications that belong to no exchange.
    fn notices(&mut self, progress: &mut Progress<'_>) -> Result<(), ExportError> {
        let excerpt = self.excerpt;
        excerpt.notices(progress, &mut |notice| {
            match (notice.kind, notice.method.as_deref()) {
                _ if notice.exchange.is_some() => {}
                (MessageKind::Notification, Some(method)) => {
                    let span = self.notice(notice, method)?;
                    self.lines.push(notice.direction, &span)?;
                }
                _ => self.unpaired += 1,
            }
            Ok(())
        })
    }

    fn notice(&self, notice: &Notice, method: &str) -> Result<Span, ExportError> {
        let context = self.ids.of_notice(notice)?;
        let mut attributes = self.about(method, notice.name.as_deref());
        attributes.number("mcpreel.seq", notice.seq.0);
        if self.bodies == Bodies::With {
            attributes.text("mcpreel.summary", &notice.summary);
        }
        Ok(Span {
            kind: CLIENT,
            name: method.to_owned(),
            id: self.ids.span((notice.seq, notice.part)),
            context,
            start: self.wall(notice.t_first),
            end: self.wall(notice.t_last),
            attributes,
            ..Span::default()
        })
    }

    /// The session as a whole, with what happened to its process.
    fn session(&mut self) -> Result<Span, ExportError> {
        let summary = self.summary;
        let mut events = Vec::new();
        let mut dropped = 0;
        let excerpt = self.excerpt;
        excerpt.events(&mut |row| {
            self.written.events += 1;
            if events.len() < EVENTS as usize {
                events.push(self.process(row));
            } else {
                dropped += 1;
            }
            Ok::<_, ReadError>(())
        })?;
        let failure = summary.session.phase.end().and_then(failure_of);
        Ok(Span {
            kind: INTERNAL,
            name: "mcp.session".to_owned(),
            id: self.ids.session().span,
            context: self.ids.root(),
            start: self.wall(Moment(0)),
            end: self.wall(self.end()),
            attributes: self.about_session(failure.as_ref()),
            events,
            dropped,
            failure,
            ..Span::default()
        })
    }

    fn about_session(&self, failure: Option<&Failure>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("mcpreel.recording", &self.summary.id);
        attributes.some("mcp.protocol.version", self.summary.session.version());
        attributes.number("mcpreel.frames", self.summary.frames);
        if self.unpaired > 0 {
            attributes.number("mcpreel.unpaired", self.unpaired);
        }
        if let Some(failure) = failure {
            attributes.text("error.type", &failure.kind);
        }
        attributes
    }

    fn process(&self, row: &EventRow) -> Value {
        let mut attributes = Attributes::default();
        attributes.text("mcpreel.event", &phrases::event(&row.event.kind));
        event("process", self.wall(row.event.t), &attributes)
    }
}

fn failure_of(end: &End) -> Option<Failure> {
    let is_bad = !matches!(end, End::Exited { code: 0 } | End::Unknown);
    is_bad.then(|| Failure::new(phrases::end_short(end), phrases::end(end)))
}

fn has_uri(method: &str) -> bool {
    matches!(
        method,
        "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "notifications/resources/updated"
    )
}

/// The text of a JSON string, or of whatever else it is.
fn plain(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

/// The kind of times that a recording has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Known,
    /// Times count from the start, which has no date.
    SinceStart,
    Unknown,
}

impl Times {
    fn of(summary: &Summary, is_untimed: bool) -> Self {
        match summary.wall_ns {
            _ if is_untimed => Self::Unknown,
            0 => Self::SinceStart,
            _ => Self::Known,
        }
    }

    /// A warning about these times, for readers of the trace.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Known => None,
            Self::SinceStart => Some("no date is on record: times count from the start"),
            Self::Unknown => Some("not on record"),
        }
    }
}

#[cfg(test)]
mod otlp_tests;
