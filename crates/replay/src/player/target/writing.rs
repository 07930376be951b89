//! What the server is sent: on record first, then written as it takes it.

use super::playing::Target;
use mcpreel_capture::tap::MAX_CHUNK;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;

impl Target<'_> {
    /// Puts bytes on record, and writes what the server takes of them.
    pub fn send(&mut self, bytes: &[u8], now: Moment) {
        if !self.pipes.is_open() {
            return;
        }
        for chunk in bytes.chunks(MAX_CHUNK) {
            self.tap.chunk(StreamId::C2S, now, chunk);
        }
        self.pipes.queue(bytes);
        self.write(now);
    }

    pub fn write(&mut self, now: Moment) {
        let waited = self.pipes.waiting();
        if self.pipes.write().is_err() {
            self.tap.event(EventKind::Undelivered {
                stream: StreamId::C2S,
                bytes: self.pipes.waiting() as u64,
            });
            self.pipes.close_input();
            self.tap.event(EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Reader,
            });
            self.director.input_refused(now);
        }
        let waits = self.pipes.waiting();
        if waits < waited {
            self.director.unread(0, now);
        }
        self.director.unread(waits as u64, now);
        match (waits, self.pipes.stalls) {
            (0, true) => self.gauge.end_write(&self.tap),
            (1.., false) => self.gauge.begin_write(now, waits),
            (1.., true) => self.gauge.left(waits),
            (0, false) => {}
        }
        self.pipes.stalls = waits > 0;
    }

    pub fn close_input(&mut self) {
        if self.pipes.is_open() {
            let waits = self.pipes.waiting();
            if waits > 0 {
                self.tap.event(EventKind::Undelivered {
                    stream: StreamId::C2S,
                    bytes: waits as u64,
                });
                self.gauge.end_write(&self.tap);
            }
            self.pipes.close_input();
            self.tap.event(EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer,
            });
        }
    }
}
