//! A trace for timeline viewers: the JSON of Chrome's trace events, which Perfetto reads.
//!
//! ```text
//! client  ▸ tools/call search   ├──────────┤   ├───┤
//!         ▸ tools/call plan          ├───────────────────┤
//!         ▸ notifications          ╵
//!         ▸ open requests      ▁▁▂▂▃▃▂▂▁▁
//! server  ▸ elicitation/create         ├──────┤
//!         ▸ notifications         ╵ ╵ ╵
//!         ▸ stderr                       ╵
//!         ▸ process          ╵                         ╵
//! ```
//!
//! A process is a side, and holds what that side sent: its requests as asynchronous slices, one
//! track per method and tool, which overlap without hindering each other; its notifications as
//! instants; of the server also stderr, what stood on its stdout and is no message, and what
//! happened to its process. Counters say how many requests were open and how many bytes went by.
//! Times are microseconds since the start of the recording, which stands in `otherData`; every
//! `args.seq` is the frame in the recording.

mod counter;
mod event;
mod flow;
mod names;

use super::{Excerpt, Export, WriteError, Written, end_of};
use crate::phrases;
use counter::Open;
use event::{Args, Event, Track};
use flow::Flow;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::Summary;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, escape, escape_bytes};
use names::{about, name_of};
use serde_json::json;
use std::io::{self, Write};

const PAGE: u32 = 1000;

/// Columns of a name: the rest would not be read.
const NAME: usize = 120;

/// Bytes of events that are written at once: an event is made of many small pieces.
const TOGETHER: usize = 64 * 1024;

/// Writes it as a trace; each part of the trace goes over the frames once.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let summary = excerpt.recording.summary()?;
    let trace = Trace {
        excerpt,
        end: Moment(summary.t_last_ns),
        out,
        text: Vec::new(),
        written: Written::default(),
    };
    trace.write(&summary, export.progress)
}

struct Trace<'r, W> {
    excerpt: Excerpt<'r>,
    end: Moment,
    out: &'r mut W,
    /// Events that are not written yet.
    text: Vec<u8>,
    written: Written,
}

impl<W: Write> Trace<'_, W> {
    fn write(
        mut self,
        summary: &Summary,
        progress: &mut dyn FnMut(Seq),
    ) -> Result<Written, WriteError> {
        let is_untimed = self.excerpt.recording.is_untimed()?;
        self.out
            .write_all(b"{\"displayTimeUnit\":\"ms\",\"otherData\":")?;
        serde_json::to_writer(&mut *self.out, &about(summary, is_untimed))
            .map_err(io::Error::from)?;
        self.out.write_all(b",\"traceEvents\":[\n")?;
        self.names(summary)?;
        let mut flow = Flow::new(self.excerpt, self.end);
        self.exchanges(&mut flow, progress)?;
        self.bytes(flow, progress)?;
        self.notices(progress)?;
        self.lines(progress)?;
        self.events()?;
        self.flush()?;
        // What comes last has no comma after it.
        let whole = json!({"ph": "M", "pid": 1, "tid": 0, "name": "process_labels",
            "args": {"labels": format!("mcpreel {}", summary.id)}});
        writeln!(self.out, "{whole}\n]}}")?;
        Ok(self.written)
    }

    fn push(&mut self, event: &Event<'_>) -> Result<(), WriteError> {
        serde_json::to_writer(&mut self.text, event).map_err(io::Error::from)?;
        self.text.extend_from_slice(b",\n");
        if self.text.len() >= TOGETHER {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }

    /// The requests. While a page of them is read, the frames up to the one before are counted.
    fn exchanges(
        &mut self,
        flow: &mut Flow<'_>,
        progress: &mut dyn FnMut(Seq),
    ) -> Result<(), WriteError> {
        let excerpt = self.excerpt;
        let mut open = Open::new(self.end);
        let left_out = excerpt.told_exchanges(&mut |exchange| {
            progress(exchange.request.0);
            flow.up_to(exchange.request.0)?;
            self.written.exchanges += 1;
            let end = end_of(excerpt.recording, exchange, self.end)?;
            // Of what was given up nobody knows how long it was open.
            if !exchange.is_listen() && exchange.status != Status::GivenUp {
                for sample in open.request(exchange.direction, exchange.t_request, end) {
                    self.push(&sample)?;
                }
            }
            self.exchange(exchange, end)
        })?;
        self.written.left_out = left_out;
        for sample in open.finish() {
            self.push(&sample)?;
        }
        Ok(())
    }

    fn exchange(&mut self, exchange: &Exchange, end: Moment) -> Result<(), WriteError> {
        let track = Track::requests(exchange.direction);
        let name = name_of(exchange);
        let id = format!("{:#x}", exchange.id.0);
        let within = match exchange.parent {
            Some(parent) => {
                let recording = self.excerpt.recording;
                recording.light_exchanges_of(&[parent], None)?
            }
            None => Vec::new(),
        };
        let asked = escape(exchange.asked());
        let answered = exchange.response.and_then(|_| exchange.answered());
        let answered = answered.map(escape);
        let args = Args {
            seq: Some(exchange.request.0.0),
            answer: exchange.response.map(|(seq, _)| seq.0),
            within: within.first().map(|parent| parent.request.0.0),
            status: Some(exchange.status.as_str()),
            code: exchange.code.as_deref().map(escape),
            summary: Some(asked),
            answered,
            id: Some(escape(exchange.rpc_id.json())),
            bytes: Some(exchange.request_size),
            answer_bytes: exchange.response.map(|_| exchange.response_size),
            progress: (exchange.progress_count > 0).then_some(exchange.progress_count),
            ..Args::default()
        };
        self.push(&Event::begin(track, exchange.t_request, &name, &id, args))?;
        self.push(&Event::end(track, end.max(exchange.t_request), &name, &id))
    }

    fn bytes(
        &mut self,
        mut flow: Flow<'_>,
        progress: &mut dyn FnMut(Seq),
    ) -> Result<(), WriteError> {
        loop {
            let mut samples = flow.samples.drain(..);
            samples.try_for_each(|sample| self.push(&sample.event()))?;
            drop(samples);
            match flow.next()? {
                Some(seq) => progress(seq),
                None => break,
            }
        }
        self.written.frames = flow.frames;
        Ok(())
    }

    fn notices(&mut self, progress: &mut dyn FnMut(Seq)) -> Result<(), WriteError> {
        let excerpt = self.excerpt;
        excerpt.notices(progress, &mut |notice| self.notice(notice))
    }

    fn notice(&mut self, notice: &Notice) -> Result<(), WriteError> {
        let track = match notice.direction {
            Direction::ClientToServer => Track::CLIENT_NOTIFICATIONS,
            Direction::ServerToClient => Track::SERVER_NOTIFICATIONS,
        };
        let name = match (&notice.method, notice.kind) {
            (Some(method), MessageKind::Notification) => escape(method),
            // It fits nothing.
            _ => notice.kind.as_str().into(),
        };
        let args = Args {
            seq: Some(notice.seq.0),
            summary: Some(escape(&notice.summary)),
            bytes: Some(notice.size),
            ..Args::default()
        };
        self.push(&Event::instant(
            track,
            notice.t_last,
            &cut(&name, NAME),
            args,
        ))
    }

    /// stderr, and what is no message.
    fn lines(&mut self, progress: &mut dyn FnMut(Seq)) -> Result<(), WriteError> {
        let Excerpt {
            recording,
            selection,
            last,
            ..
        } = self.excerpt;
        let mut after = Seq(0);
        loop {
            let page = recording.lines(after, last, PAGE)?;
            let Some(end) = page.last() else {
                return Ok(());
            };
            after = end.seq;
            progress(end.seq);
            for line in page.iter().filter(|it| selection.has_frame(it.seq)) {
                let track = match line.stream {
                    StreamId::C2S => Track::CLIENT_NOISE,
                    StreamId::S2C => Track::SERVER_NOISE,
                    _ => Track::STDERR,
                };
                let said = escape_bytes(line.preview.trim_ascii_end());
                let args = Args {
                    seq: Some(line.seq.0),
                    summary: Some(said.as_ref().into()),
                    bytes: Some(line.size),
                    ..Args::default()
                };
                self.push(&Event::instant(track, line.t, &cut(&said, NAME), args))?;
            }
        }
    }

    fn events(&mut self) -> Result<(), WriteError> {
        let excerpt = self.excerpt;
        excerpt.events(&mut |row| {
            self.written.events += 1;
            let said = phrases::event(&row.event.kind);
            let args = Args {
                after: Some(row.event.after_seq.0),
                summary: Some(said.as_str().into()),
                ..Args::default()
            };
            let t = row.event.t;
            self.push(&Event::instant(Track::PROCESS, t, &cut(&said, NAME), args))
        })
    }
}

#[cfg(test)]
mod tests;
