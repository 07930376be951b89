//! One direction of a WebSocket (RFC 6455), with permessage-deflate (RFC 7692).
//!
//! Whether a sender masks is not judged. What breaks the framing (reserved bits and codes, a
//! fragment of no message, a control frame that is long or a fragment) is given as it is, with
//! all that follows.

use super::coding::{Engine, MAX_DECODED, Then};
use super::head::Head;
use super::piece::{Open, Out, Part, Raw, Read};
use crate::message::Direction;

/// The longest payload of a control frame.
const MAX_CONTROL: u64 = 125;

/// What a sender leaves out at the end of each compressed message.
const DEFLATE_TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

pub(super) struct WebSocket {
    deflate: Option<Deflate>,
    /// What is there of the header of a frame.
    header: Open,
    /// The frame whose payload is being read.
    frame: Option<Frame>,
    /// The message whose fragments are being read; control frames may stand between them.
    message: Option<(Open, Payload)>,
    control: Open,
    /// What follows where the framing is broken.
    rest: Option<Raw>,
}

/// How the payload of a message becomes its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payload {
    Plain,
    Compressed,
    /// Compressed with a context that is lost.
    Unreadable,
    /// The compressed bytes were broken; those before are kept.
    Broken,
}

impl WebSocket {
    /// The WebSocket of one direction behind the `head` of the response that switched to it.
    pub(super) fn new(head: &Head, direction: Direction) -> Self {
        Self {
            deflate: Deflate::negotiated(head, direction),
            header: Open::default(),
            frame: None,
            message: None,
            control: Open::default(),
            rest: None,
        }
    }

    pub(super) fn push(&mut self, mut read: Read, out: &mut Out) {
        while !read.bytes.is_empty() {
            if let Some(rest) = &mut self.rest {
                return rest.push(read, out);
            }
            let length = self.frame.as_ref().map_or(1, Frame::left);
            let length = usize::try_from(length)
                .map_or(read.bytes.len(), |length| length.min(read.bytes.len()));
            let (now, rest) = read.split_at(length);
            if self.frame.is_some() {
                self.take_payload(now);
            } else {
                self.header.take(now);
                self.begin_frame(out);
            }
            if self.frame.as_ref().is_some_and(|frame| frame.left() == 0) {
                self.end_frame(out);
            }
            read = rest;
        }
    }

    /// Gives what is not whole: the connection has ended, or bytes are missing.
    pub(super) fn end(&mut self, out: &mut Out) {
        if let Some((mut open, _)) = self.message.take() {
            open.give(Part::Other, out);
        }
        self.control.give(Part::Other, out);
        self.header.give(Part::Other, out);
        if let Some(rest) = &mut self.rest {
            rest.end(out);
        }
    }

    /// Begins a frame once its header is whole.
    fn begin_frame(&mut self, out: &mut Out) {
        let Some(frame) = Frame::parse(&self.header.bytes) else {
            return;
        };
        let header = std::mem::take(&mut self.header);
        if !self.expects(&frame) {
            self.end(out);
            let mut rest = Raw::default();
            if let Some(read) = header.as_read() {
                rest.push(read, out);
            }
            self.rest = Some(rest);
            return;
        }
        if frame.is_control() {
            self.control.reach_over(&header);
        } else {
            let deflate = &mut self.deflate;
            let begin = || (Open::default(), Payload::of(&frame, deflate.as_mut()));
            self.message.get_or_insert_with(begin).0.reach_over(&header);
        }
        self.frame = Some(frame);
    }

    /// Whether a frame may stand here.
    fn expects(&self, frame: &Frame) -> bool {
        let opcode = match frame.opcode() {
            0 => self.message.is_some(),
            1 | 2 => self.message.is_none(),
            8..=10 => frame.is_last() && frame.length <= MAX_CONTROL,
            _ => false,
        };
        let reserved = match frame.opcode() {
            1 | 2 if self.deflate.is_some() => frame.first & 0x30,
            _ => frame.first & 0x70,
        };
        opcode && reserved == 0 && frame.length >> 63 == 0
    }

    fn take_payload(&mut self, read: Read) {
        let Some(frame) = &mut self.frame else { return };
        let payload = frame.unmask(read.bytes);
        if frame.is_control() {
            self.control.reach(read.wire(), read.t);
            self.control.add(&payload);
        } else if let Some((open, how)) = &mut self.message {
            open.reach(read.wire(), read.t);
            match (*how, &mut self.deflate) {
                (Payload::Compressed, Some(deflate)) => *how = deflate.inflate(&payload, open),
                (Payload::Broken, _) => {}
                _ => open.add(&payload),
            }
        }
    }

    fn end_frame(&mut self, out: &mut Out) {
        let Some(frame) = self.frame.take() else {
            return;
        };
        if frame.is_control() {
            return self.control.give(Part::Control, out);
        }
        if !frame.is_last() {
            return;
        }
        if let Some((mut open, mut how)) = self.message.take() {
            if let (Payload::Compressed, Some(deflate)) = (how, &mut self.deflate) {
                how = deflate.inflate(&DEFLATE_TAIL, &mut open);
            }
            let readable = matches!(how, Payload::Plain | Payload::Compressed);
            open.give(if readable { Part::Message } else { Part::Other }, out);
        }
    }
}

impl Payload {
    /// How the payload of the message is to be read that begins with `frame`.
    fn of(frame: &Frame, deflate: Option<&mut Deflate>) -> Self {
        match deflate {
            Some(deflate) if frame.first & 0x40 != 0 => deflate.begin(),
            _ => Self::Plain,
        }
    }
}

/// The header of a frame, and how much of its payload was read.
struct Frame {
    /// Whether it is the last of its message, three reserved bits, and the opcode.
    first: u8,
    mask: [u8; 4],
    length: u64,
    read: u64,
}

impl Frame {
    /// The frame with this header; `None` where more of it is to come.
    fn parse(header: &[u8]) -> Option<Self> {
        let (&[first, second], rest) = header.split_first_chunk()?;
        let (length, rest) = match second & 0x7f {
            126 => rest
                .split_first_chunk()
                .map(|(length, rest)| (u16::from_be_bytes(*length).into(), rest))?,
            127 => rest
                .split_first_chunk()
                .map(|(length, rest)| (u64::from_be_bytes(*length), rest))?,
            length => (length.into(), rest),
        };
        let masked = second & 0x80 != 0;
        let mask = if masked { *rest.first_chunk()? } else { [0; 4] };
        Some(Self {
            first,
            mask,
            length,
            read: 0,
        })
    }

    fn is_last(&self) -> bool {
        self.first & 0x80 != 0
    }

    fn opcode(&self) -> u8 {
        self.first & 0x0f
    }

    fn is_control(&self) -> bool {
        self.opcode() >= 8
    }

    fn left(&self) -> u64 {
        self.length - self.read
    }

    fn unmask(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mask = self.mask.iter().cycle().skip((self.read % 4) as usize);
        self.read += bytes.len() as u64;
        bytes
            .iter()
            .zip(mask)
            .map(|(byte, mask)| byte ^ mask)
            .collect()
    }
}

/// The compression of one direction's messages.
struct Deflate {
    /// Whether a message may refer to those before.
    keeps_context: bool,
    /// `None` once the context is lost.
    engine: Option<Engine>,
    buffer: Box<[u8]>,
}

impl Deflate {
    /// As the server's answer says, if the extension is in it.
    fn negotiated(head: &Head, direction: Direction) -> Option<Self> {
        let forgets = match direction {
            Direction::ClientToServer => "client_no_context_takeover",
            Direction::ServerToClient => "server_no_context_takeover",
        };
        head.list("sec-websocket-extensions").find_map(|extension| {
            let mut words = extension.split(';').map(str::trim);
            let named = words.next()?.eq_ignore_ascii_case("permessage-deflate");
            named.then(|| Self {
                keeps_context: !words.any(|word| word.eq_ignore_ascii_case(forgets)),
                engine: Some(Engine::raw_deflate()),
                buffer: vec![0; 8 << 10].into(),
            })
        })
    }

    /// Begins a message, and says how it can be read.
    fn begin(&mut self) -> Payload {
        if !self.keeps_context {
            self.engine = Some(Engine::raw_deflate());
        }
        match self.engine {
            Some(_) => Payload::Compressed,
            None => Payload::Unreadable,
        }
    }

    /// Adds what the next bytes of a message become, and says how the message goes on.
    fn inflate(&mut self, bytes: &[u8], open: &mut Open) -> Payload {
        let mut input = bytes;
        while let Some(engine) = &mut self.engine {
            let step = engine.step(input, &mut self.buffer);
            input = &input[step.read..];
            open.add(&self.buffer[..step.written]);
            match step.then {
                Then::Goes => {}
                // A last block within a message, as RFC 7692, 7.2.3.5 allows it.
                Then::Ended => self.engine = Some(Engine::raw_deflate()),
                Then::Broken => self.engine = None,
            }
            if open.total > MAX_DECODED {
                open.total = MAX_DECODED;
                self.engine = None;
            }
            let stuck = step.read == 0 && step.written == 0;
            if stuck || (input.is_empty() && step.written < self.buffer.len()) {
                break;
            }
        }
        match self.engine {
            Some(_) => Payload::Compressed,
            None => Payload::Broken,
        }
    }
}
