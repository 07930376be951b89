//! Content and transfer codings undone: gzip, deflate, brotli, zstd, several in a row.
//!
//! Input goes through the libraries in blocks of one length, so what comes out does not depend on
//! how the connection was read, not even in front of an error. For a stream of events a block is
//! a byte: an event is known as soon as it can be, and has its place on the wire.
//!
//! For zstd that is the C library: the one in Rust gives nothing before a window, of megabytes, is
//! full, and events would not appear.
//!
//! Senders err: bytes that prove to be none of their coding before any came out are given as they
//! are, and bytes behind the end of a coding are left out.

use super::Head;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

/// How much may come out of all codings of a body: more is a bomb.
pub(super) const MAX_DECODED: u64 = 256 << 20;

/// How much more may come out of a stream of events, which need not end, for each byte of it.
/// Deflate hardly reaches as much.
const PER_BYTE: u64 = 1024;

/// How many bytes of a body are decoded at once.
const BLOCK: usize = 64 << 10;

/// More codings than that in a row are a bomb.
const MAX_STAGES: usize = 4;

/// How much of its input a stage keeps while nothing comes out; a block of zstd is no longer.
const MAX_HELD: usize = 256 << 10;

/// The largest window of zstd as a content coding (RFC 9659), 8 MiB.
const ZSTD_WINDOW: u32 = 23;

/// Whether a coding leaves a body as it is. `none` is no registered coding; some servers send it.
pub(super) fn is_plain(name: &str) -> bool {
    let plain = ["identity", "none"];
    plain.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// The first coding of the body behind `head` that is not undone here.
pub fn unknown(head: &Head) -> Option<&str> {
    let mut names = head.list("content-encoding");
    names.find(|name| !is_plain(name) && Coding::named(name).is_none())
}

/// The input is not of the coding, or a bomb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// Where decoded bytes go.
type Out<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Broken>;

/// The codings of one body.
pub(super) struct Codings {
    /// Outermost first.
    stages: Vec<Stage>,
    /// How much may come out of all stages.
    budget: u64,
    /// What is not decoded yet, less than a block.
    waiting: Vec<u8>,
}

impl Codings {
    /// Undoes the codings with these names, in the order in which the sender applied them; `None`
    /// where there is nothing to undo. What is inside of an unknown one is left as it is.
    pub(super) fn new(names: &[&str]) -> Option<Self> {
        let known = names.iter().rev().map_while(|name| Coding::named(name));
        let stages: Vec<Stage> = known.take(MAX_STAGES + 1).map(Stage::new).collect();
        (1..=MAX_STAGES).contains(&stages.len()).then_some(Self {
            stages,
            budget: MAX_DECODED,
            waiting: Vec::new(),
        })
    }

    /// Decodes the next bytes of a body. To be called no more after it failed.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Broken> {
        while !bytes.is_empty() {
            let room = BLOCK - self.waiting.len();
            let (now, rest) = bytes.split_at(bytes.len().min(room));
            self.waiting.extend_from_slice(now);
            if self.waiting.len() == BLOCK {
                self.finish(out)?;
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Decodes the next byte of a stream of events, whose output may grow with its input.
    pub(super) fn push_byte(&mut self, byte: u8, out: &mut dyn FnMut(&[u8])) -> Result<(), Broken> {
        self.budget += PER_BYTE;
        feed(&mut self.stages, &[byte], &mut self.budget, out)
    }

    /// Decodes what waits for the rest of its block.
    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&[u8])) -> Result<(), Broken> {
        let waiting = std::mem::take(&mut self.waiting);
        feed(&mut self.stages, &waiting, &mut self.budget, out)
    }
}

/// Decodes `input` by all of `stages`.
fn feed(
    stages: &mut [Stage],
    input: &[u8],
    budget: &mut u64,
    out: &mut dyn FnMut(&[u8]),
) -> Result<(), Broken> {
    let Some((stage, inner)) = stages.split_first_mut() else {
        out(input);
        return Ok(());
    };
    stage.feed(input, &mut |decoded| {
        *budget = budget.checked_sub(decoded.len() as u64).ok_or(Broken)?;
        feed(inner, decoded, budget, out)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Self::Gzip,
            "deflate" => Self::Deflate,
            "br" => Self::Brotli,
            "zstd" => Self::Zstd,
            _ => return None,
        })
    }

    fn engine(self) -> Engine {
        match self {
            Self::Gzip => Engine::Inflate(Decompress::new_gzip(15)),
            Self::Deflate => Engine::Inflate(Decompress::new(true)),
            Self::Brotli => {
                let (bytes, words, codes) =
                    <(StandardAlloc, StandardAlloc, StandardAlloc)>::default();
                Engine::Brotli(Box::new(BrotliState::new_strict(bytes, words, codes)))
            }
            Self::Zstd => {
                let mut context = DCtx::create();
                let limited = context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW));
                debug_assert!(limited.is_ok(), "zstd knows windows of 8 MiB");
                Engine::Zstd(context)
            }
        }
    }
}

/// One coding undone.
struct Stage {
    coding: Coding,
    doing: Doing,
    /// What was read while nothing came out of a member; `None` once something did.
    held: Option<Vec<u8>>,
    buffer: Box<[u8]>,
}

enum Doing {
    /// The first member of gzip or frame of zstd, or all of another coding.
    First(Engine),
    /// Without the header of zlib, as many senders understood "deflate".
    RawDeflate(Engine),
    /// A member behind another, if it is one.
    Later(Engine),
    /// The bytes are not of this coding.
    Passing,
    /// What follows belongs to nothing.
    Ignoring,
}

impl Stage {
    fn new(coding: Coding) -> Self {
        Self {
            coding,
            doing: Doing::First(coding.engine()),
            held: Some(Vec::new()),
            buffer: vec![0; 8 << 10].into(),
        }
    }

    fn feed(&mut self, mut input: &[u8], out: Out) -> Result<(), Broken> {
        self.hold(input);
        loop {
            let engine = match &mut self.doing {
                Doing::First(engine) | Doing::RawDeflate(engine) | Doing::Later(engine) => engine,
                Doing::Passing => return out(input),
                Doing::Ignoring => return Ok(()),
            };
            let step = engine.step(input, &mut self.buffer);
            input = &input[step.read..];
            if step.written > 0 {
                self.held = None;
                out(&self.buffer[..step.written])?;
            }
            match step.then {
                Then::Goes => {}
                Then::Ended => self.member_ended(),
                Then::Broken => return self.give_up(out),
            }
            // Where the buffer was too short, more may come without any input.
            let stuck = step.read == 0 && step.written == 0;
            if stuck || (input.is_empty() && step.written < self.buffer.len()) {
                return Ok(());
            }
        }
    }

    fn hold(&mut self, input: &[u8]) {
        match &mut self.held {
            Some(held) if held.len() + input.len() <= MAX_HELD => held.extend_from_slice(input),
            held => *held = None,
        }
    }

    fn member_ended(&mut self) {
        self.doing = match self.coding {
            Coding::Gzip | Coding::Zstd => Doing::Later(self.coding.engine()),
            Coding::Deflate | Coding::Brotli => Doing::Ignoring,
        };
        self.held = Some(Vec::new());
    }

    /// Goes on with bytes that are not what they were taken for, if nothing came out of them yet.
    fn give_up(&mut self, out: Out) -> Result<(), Broken> {
        let held = self.held.replace(Vec::new()).ok_or(Broken)?;
        match (&self.doing, self.coding) {
            (Doing::Later(_), _) => self.doing = Doing::Ignoring,
            (Doing::First(_), Coding::Deflate) => {
                self.doing = Doing::RawDeflate(Engine::raw_deflate());
                self.feed(&held, out)?;
            }
            _ => {
                self.doing = Doing::Passing;
                out(&held)?;
            }
        }
        Ok(())
    }
}

/// A library that decodes.
pub(super) enum Engine {
    Inflate(Decompress),
    Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    Zstd(DCtx<'static>),
}

/// What an [`Engine`] did.
pub(super) struct Step {
    pub(super) read: usize,
    pub(super) written: usize,
    pub(super) then: Then,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Goes,
    Ended,
    Broken,
}

impl Engine {
    /// Raw deflate, without header and checksum.
    pub(super) fn raw_deflate() -> Self {
        Self::Inflate(Decompress::new(false))
    }

    /// Reads some of `input` and fills `output` with what comes out of it.
    pub(super) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Inflate(inflate) => {
                let (read, written) = (inflate.total_in(), inflate.total_out());
                let then = match inflate.decompress(input, output, FlushDecompress::Sync) {
                    Ok(Status::Ok | Status::BufError) => Then::Goes,
                    Ok(Status::StreamEnd) => Then::Ended,
                    Err(_) => Then::Broken,
                };
                let since = |now: u64, before| usize::try_from(now - before).unwrap_or(usize::MAX);
                Step {
                    read: since(inflate.total_in(), read),
                    written: since(inflate.total_out(), written),
                    then,
                }
            }
            Self::Brotli(state) => {
                let (mut read, mut written, mut total) = (0, 0, 0);
                let (mut left, mut room) = (input.len(), output.len());
                let result = BrotliDecompressStream(
                    &mut left,
                    &mut read,
                    input,
                    &mut room,
                    &mut written,
                    output,
                    &mut total,
                    state,
                );
                let then = match result {
                    BrotliResult::ResultSuccess => Then::Ended,
                    BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => Then::Goes,
                    BrotliResult::ResultFailure => Then::Broken,
                };
                Step {
                    read,
                    written,
                    then,
                }
            }
            Self::Zstd(context) => {
                let mut from = InBuffer::around(input);
                let mut to = OutBuffer::around(output);
                let then = match context.decompress_stream(&mut to, &mut from) {
                    Ok(0) => Then::Ended,
                    Ok(_) => Then::Goes,
                    Err(_) => Then::Broken,
                };
                Step {
                    read: from.pos(),
                    written: to.pos(),
                    then,
                }
            }
        }
    }
}
