//! A trace for timeline viewers: the JSON of Chrome's trace events, which Perfetto reads.
//!
//! ```text
//! client  ▸ tools/call search   ├──────────┤   ├───┤
//!         ▸ tools/call plan          ├───────────────────┤
//!         ▸ notifications          ╵
//! server  ▸ elicitation/create         ├──────┤
//!         ▸ notifications         ╵ ╵ ╵
//!         ▸ stderr                       ╵
//!         ▸ process          ╵                         ╵
//! ```
//!
//! A process is a side, and holds what that side sent: its requests as asynchronous slices, one
//! track per method and tool, which overlap without hindering each other; its notifications as
//! instants; of the server also stderr, what stood on its stdout and is no message, and what
//! happened to its process; of both what HTTP carries beside messages. Times are microseconds since the start of the recording, which stands
//! in `otherData`; every `args.seq` is the frame in the recording.

use super::{
    Excerpt, Export, ExportError, Progress, Written, all_rows, end_of, span_name, without_nulls,
};
use crate::phrases::{self, when};
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::Summary;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, escape, escape_bytes};
use serde_json::{Value, json};
use std::io::{self, Write};

const PAGE: u32 = 1000;

/// Columns of a name: the rest would not be read.
const NAME: usize = 120;

const CLIENT: u8 = 1;
const SERVER: u8 = 2;

const REQUESTS: Thread = (1, "requests");
const NOTIFICATIONS: Thread = (2, "notifications");
const NO_MESSAGE: Thread = (3, "no message");
const STDERR: Thread = (4, "stderr");
const PROCESS: Thread = (5, "process");
const HTTP: Thread = (6, "http");

/// A thread of the trace: its number and its name.
type Thread = (u8, &'static str);

pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    let summary = excerpt.recording.summary()?;
    let trace = Trace {
        excerpt,
        end: Moment(summary.t_last_ns),
        out,
        written: Written::default(),
    };
    trace.write(&summary, export.progress)
}

struct Trace<'r, W> {
    excerpt: Excerpt<'r>,
    end: Moment,
    out: &'r mut W,
    written: Written,
}

impl<W: Write> Trace<'_, W> {
    fn write(
        mut self,
        summary: &Summary,
        progress: &mut Progress<'_>,
    ) -> Result<Written, ExportError> {
        let about = json!({
            "recording": summary.id,
            "name": escape(&summary.name),
            "started": (summary.wall_ns > 0).then(|| when::rfc3339(summary.wall_ns)),
            "times": self.excerpt.recording.is_untimed()?.then_some(phrases::UNTIMED),
            "protocol": summary.session.version().map(escape),
            "tool": format!("mcpreel {}", env!("CARGO_PKG_VERSION")),
        });
        writeln!(
            self.out,
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":["
        )?;
        self.names(summary)?;
        let excerpt = self.excerpt;
        self.written.left_out = excerpt.exchanges(&mut |exchange| {
            progress(exchange.request.0)?;
            self.written.exchanges += 1;
            self.exchange(exchange)
        })?;
        excerpt.notices(progress, &mut |notice| self.notice(notice))?;
        self.lines(progress)?;
        for row in excerpt.events() {
            let event = row?.event;
            self.written.events += 1;
            let text = phrases::event(&event.kind);
            let args = json!({"after": event.after_seq.0, "summary": text});
            self.instant((SERVER, PROCESS), event.t, &text, &args)?;
        }
        // What comes last has no comma after it.
        let last = json!({"ph": "M", "pid": CLIENT, "tid": 0, "name": "process_labels",
            "args": {"labels": format!("mcpreel {}", summary.id)}});
        writeln!(self.out, "{last}\n]}}")?;
        Ok(self.written)
    }

    fn push(&mut self, event: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, event)?;
        self.out.write_all(b",\n")
    }

    /// The names of processes and threads.
    fn names(&mut self, summary: &Summary) -> io::Result<()> {
        let session = &summary.session;
        let client = phrases::peer(&session.client).unwrap_or_default();
        let server = phrases::peer(&session.server);
        let server = server.unwrap_or_else(|| escape(&summary.name).into_owned());
        for (pid, name) in [
            (CLIENT, format!("client {client}")),
            (SERVER, format!("server {server}")),
        ] {
            let name = cut(name.trim_end(), NAME);
            let args = json!({"name": name});
            self.push(
                &json!({"ph": "M", "pid": pid, "tid": 0, "name": "process_name",
                "args": args}),
            )?;
            let both = [REQUESTS, NOTIFICATIONS, NO_MESSAGE];
            let both = both
                .into_iter()
                .chain(summary.context.url.is_some().then_some(HTTP));
            let of_server = [STDERR, PROCESS].into_iter().filter(|_| pid == SERVER);
            for (tid, name) in both.chain(of_server) {
                let args = json!({"name": name});
                self.push(
                    &json!({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name",
                    "args": args}),
                )?;
            }
        }
        Ok(())
    }

    fn exchange(&mut self, exchange: &Exchange) -> Result<(), ExportError> {
        let recording = self.excerpt.recording;
        let end = end_of(exchange, self.end).max(exchange.t_request);
        let within = match exchange.parent {
            Some(parent) => recording.exchanges_of(&[parent])?,
            None => Vec::new(),
        };
        let answered = exchange.response.and_then(|_| exchange.answered());
        let args = without_nulls(json!({
            "seq": exchange.request.0.0,
            "answer": exchange.response.map(|(seq, _)| seq.0),
            "in": within.first().map(|parent| parent.request.0.0),
            "status": exchange.status.as_str(),
            "code": exchange.code.as_deref().map(escape),
            "summary": escape(exchange.asked()),
            "answered": answered.map(escape),
            "id": escape(exchange.rpc_id.json()),
            "bytes": exchange.request_size,
            "answer_bytes": exchange.response.map(|_| exchange.response_size),
            "progress": (exchange.progress_count > 0).then_some(exchange.progress_count),
        }));
        let name = span_name(&exchange.method, exchange.name.as_deref());
        let name = cut(&escape(&name), NAME);
        for (ph, t, args) in [("b", exchange.t_request, args), ("e", end, json!({}))] {
            self.push(&json!({
                "ph": ph, "pid": side(exchange.direction), "tid": REQUESTS.0, "ts": micros(t),
                "cat": "request", "name": name, "id": format!("{:#x}", exchange.id.0), "args": args,
            }))?;
        }
        Ok(())
    }

    fn instant(
        &mut self,
        (pid, (tid, cat)): (u8, Thread),
        t: Moment,
        name: &str,
        args: &Value,
    ) -> Result<(), ExportError> {
        Ok(self.push(&json!({
            "ph": "i", "pid": pid, "tid": tid, "ts": micros(t), "cat": cat,
            "name": cut(name, NAME), "s": "t", "args": args,
        }))?)
    }

    fn notice(&mut self, notice: &Notice) -> Result<(), ExportError> {
        let name = match (&notice.method, notice.kind) {
            (Some(method), MessageKind::Notification) => escape(method),
            // It fits nothing.
            _ => notice.kind.as_str().into(),
        };
        let args = json!({"seq": notice.seq.0, "summary": escape(&notice.summary),
            "bytes": notice.size});
        let track = (side(notice.direction), NOTIFICATIONS);
        self.instant(track, notice.t_last, &name, &args)
    }

    /// stderr, and what is no message.
    fn lines(&mut self, progress: &mut Progress<'_>) -> Result<(), ExportError> {
        let excerpt = self.excerpt;
        let page = |after: &Seq| excerpt.recording.lines(*after, excerpt.last, PAGE);
        for line in all_rows(Seq(0), page, |line| line.seq) {
            let line = line?;
            progress(line.seq)?;
            if !excerpt.selection.has_frame(line.seq) {
                continue;
            }
            let is_carried = line.stream.connection().is_some();
            let thread = if is_carried { HTTP } else { NO_MESSAGE };
            let track = match line.stream.messages() {
                Some(direction) => (side(direction), thread),
                None => (SERVER, STDERR),
            };
            // Of a head its first line.
            let end = line
                .preview
                .iter()
                .position(|byte| is_carried && *byte == b'\r');
            let text = &line.preview[..end.unwrap_or(line.preview.len())];
            let text = escape_bytes(text.trim_ascii_end());
            let args = json!({"seq": line.seq.0, "summary": text, "bytes": line.size});
            self.instant(track, line.t, &text, &args)?;
        }
        Ok(())
    }
}

/// The process that is the sender.
fn side(direction: Direction) -> u8 {
    match direction {
        Direction::ClientToServer => CLIENT,
        Direction::ServerToClient => SERVER,
    }
}

/// Exact for recordings of up to a month.
#[expect(
    clippy::cast_precision_loss,
    reason = "beyond a month it is the last nanosecond that is lost"
)]
fn micros(t: Moment) -> f64 {
    t.0 as f64 / 1000.0
}

#[cfg(test)]
mod perfetto_tests;
