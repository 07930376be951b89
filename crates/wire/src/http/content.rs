//! The body of one message: followed to its end, decoded, and given as one piece or as events.

use super::body::{BodyLength, Eaten, Follower};
use super::coding::{Broken, Codings, is_plain};
use super::events::{EventStream, Place};
use super::head::Head;
use super::piece::{Ended, Open, Out, Part, Raw, Read, give_end};

/// The longest trailers that are taken for some.
const MAX_TRAILERS: usize = 256 << 10;

pub(super) struct Content {
    follower: Follower,
    codings: Option<Codings>,
    /// Whether the rest cannot be decoded.
    broken: bool,
    kind: Kind,
    trailers: Open,
}

enum Kind {
    Body(Open),
    Events(EventStream),
    /// Behind missing bytes, what is left of the body.
    Rest(Raw),
    /// All of it was given.
    Over,
}

impl Content {
    /// The content behind `head`, whose body is `length` long.
    pub(super) fn new(head: &Head, length: BodyLength) -> Self {
        let events = head.status().is_some() && head.is_event_stream();
        let transfer = head.list("transfer-encoding");
        let names: Vec<&str> = head
            .list("content-encoding")
            .chain(transfer.filter(|name| !name.eq_ignore_ascii_case("chunked")))
            .filter(|name| !is_plain(name))
            .collect();
        Self {
            follower: Follower::new(length),
            codings: Codings::new(&names),
            broken: false,
            kind: if events {
                Kind::Events(EventStream::default())
            } else {
                Kind::Body(Open::default())
            },
            trailers: Open::default(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.follower.is_done()
    }

    /// Takes what belongs to the message and returns the rest; `Err` with the bytes from which on
    /// nothing can be told apart.
    pub(super) fn push<'a>(
        &mut self,
        mut read: Read<'a>,
        out: &mut Out,
    ) -> Result<Read<'a>, Read<'a>> {
        while !read.bytes.is_empty() && !self.is_done() {
            let eaten = self.follower.eat(read.bytes);
            let (Eaten::Content(length) | Eaten::Framing(length) | Eaten::Trailers(length)) = eaten
            else {
                self.close(Ended::Misframed, read.at, read.t, out);
                return Err(read);
            };
            let room = MAX_TRAILERS - self.trailers.bytes.len();
            if matches!(eaten, Eaten::Trailers(_)) && length > room {
                let (now, rest) = read.split_at(room);
                self.trailers.take(now);
                self.trailers.give(Part::Other, out);
                return Err(rest);
            }
            let (now, rest) = read.split_at(length);
            match eaten {
                Eaten::Content(_) => self.take(now, out),
                Eaten::Trailers(_) => self.trailers.take(now),
                _ => self.reach(now),
            }
            if self.follower.content_is_over() {
                self.close(Ended::Whole, rest.at, rest.t, out);
            }
            read = rest;
        }
        if self.is_done() {
            self.give_trailers(out);
        }
        Ok(read)
    }

    /// Leaves out missing bytes. Returns whether the message can still be followed.
    pub(super) fn skip(&mut self, at: u64, t: u64, bytes: u64, out: &mut Out) -> bool {
        self.close(Ended::Cut, at, t, out);
        self.give_trailers(out);
        self.kind = Kind::Rest(Raw::default());
        self.broken = false;
        self.follower.skip(bytes)
    }

    /// The connection has ended.
    pub(super) fn end(&mut self, at: u64, t: u64, out: &mut Out) {
        let closed = self.follower.is_until_close();
        let ended = if closed { Ended::Closed } else { Ended::Cut };
        self.close(ended, at, t, out);
        self.give_trailers(out);
    }

    /// Lines around chunks belong to a body, but not to the events in it.
    fn reach(&mut self, read: Read) {
        if let Kind::Body(open) = &mut self.kind {
            open.reach(read.wire(), read.t);
        }
    }

    fn take(&mut self, read: Read, out: &mut Out) {
        self.reach(read);
        match (&mut self.kind, &mut self.codings) {
            _ if self.broken => {}
            (Kind::Body(open), Some(codings)) => {
                self.broken = codings
                    .push(read.bytes, &mut |bytes| open.add(bytes))
                    .is_err();
            }
            (Kind::Body(open), None) => open.add(read.bytes),
            (Kind::Events(events), Some(codings)) => {
                self.broken = push_events(events, codings, read, out).is_err();
            }
            (Kind::Events(events), None) => events.push(read.bytes, Place::of(read, 1), out),
            (Kind::Rest(raw), _) => raw.push(read, out),
            (Kind::Over, _) => {}
        }
    }

    fn close(&mut self, ended: Ended, at: u64, t: u64, out: &mut Out) {
        if let (Kind::Body(open), Some(codings), false) =
            (&mut self.kind, &mut self.codings, self.broken)
        {
            self.broken = codings.finish(&mut |bytes| open.add(bytes)).is_err();
        }
        let ended = match ended {
            Ended::Misframed => ended,
            _ if self.broken => Ended::Cut,
            _ => ended,
        };
        match std::mem::replace(&mut self.kind, Kind::Over) {
            Kind::Body(mut open) if open.total > 0 => {
                open.give_with(Part::Body, None, Some(ended), out);
            }
            Kind::Body(_) => give_end(at, t, ended, out),
            Kind::Events(mut events) => {
                events.end(out);
                give_end(at, t, ended, out);
            }
            Kind::Rest(mut raw) => raw.end(out),
            Kind::Over => {}
        }
    }

    /// Gives the trailers, if there is more than the empty line that ends a chunked body.
    fn give_trailers(&mut self, out: &mut Out) {
        if matches!(&*self.trailers.bytes, b"\r\n" | b"\n" | b"\r") {
            self.trailers = Open::default();
        }
        self.trailers.give(Part::Other, out);
    }
}

fn push_events(
    events: &mut EventStream,
    codings: &mut Codings,
    mut read: Read,
    out: &mut Out,
) -> Result<(), Broken> {
    while let &[byte, ..] = read.bytes {
        let place = Place::of(read, 0);
        codings.push_byte(byte, &mut |bytes| events.push(bytes, place, out))?;
        read = read.split_at(1).1;
    }
    Ok(())
}
