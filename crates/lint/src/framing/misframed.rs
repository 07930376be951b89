//! Messages that are framed wrongly: one fault each, told by one finding.
//!
//! Whoever prints a message over several lines, or with headers before it, breaks a rule with each
//! of these lines: none is JSON, some are empty, some end with CR LF. What was found in such a line
//! is held back until it is known what the line belongs to. If it is a piece of a message, only
//! that is told; if not, everything is.

use super::{EMBEDDED_NEWLINE, Headers, STDERR_JSONRPC};
use crate::rpc::describe;
use crate::{Context, Finding, FrameContext, Rule};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::{Body, Content, Direction, Problem, classify};
use memchr::memmem;
use std::collections::VecDeque;

/// Findings that are held back of one message. Beyond that they are told as they come: without a
/// limit a bracket that is never closed would keep those of a whole session in memory.
const HELD: usize = 10_000;

/// Rules whose findings do not follow from how a message is framed.
const ON_THEIR_OWN: [&Rule; 3] = [&super::INVALID_UTF8, &super::BOM, &super::OVERSIZED];

#[derive(Debug, Default)]
pub(crate) struct Misframed {
    c2s: Lines,
    s2c: Lines,
}

/// The lines of one direction since one that opened brackets, none of them a message.
///
/// ```text
///  {                      opens: no JSON text by itself, and more brackets open than close
///    "jsonrpc": "2.0",    kept while brackets stay open and no line is a message
///    …
///  }                      closes: the lines together are one message, or nothing is said
/// ```
#[derive(Debug, Default)]
struct Lines {
    headers: Headers,
    held: Vec<Finding>,
    text: Vec<u8>,
    depth: usize,
    count: usize,
    first: Vec<Seq>,
}

impl Misframed {
    /// Takes out of the findings of a frame what follows from how a message is framed; adds that,
    /// and what was held back and turned out to be no part of a message.
    pub(crate) fn apply(&mut self, seen: &FrameContext<'_>, findings: &mut Vec<Finding>) {
        match seen.head.stream.messages() {
            Some(Direction::ClientToServer) => self.c2s.look(seen, findings),
            Some(Direction::ServerToClient) => self.s2c.look(seen, findings),
            None => {}
        }
    }

    /// The findings that are still held back at the end.
    pub(crate) fn finish(&mut self) -> Vec<Finding> {
        let mut held = std::mem::take(&mut self.c2s.held);
        held.append(&mut self.s2c.held);
        held
    }

    /// The number of bytes that are kept, and of findings that are held back.
    #[cfg(test)]
    pub(super) fn kept(&self) -> (usize, usize) {
        let lines = [&self.c2s, &self.s2c];
        let bytes = lines.iter().map(|lines| lines.text.len()).sum();
        (bytes, lines.iter().map(|lines| lines.held.len()).sum())
    }
}

/// Bytes of lines that are kept to be read together. Without a limit an opening bracket that is
/// never closed would keep the rest of the session in memory.
const KEPT: usize = 256 << 10;

/// The frames that a finding names are a few; of more it says how many.
const NAMED: usize = 8;

impl Lines {
    fn look(&mut self, seen: &FrameContext<'_>, findings: &mut Vec<Finding>) {
        if let Some(told) = self.headers.look(seen) {
            self.clear();
            drop(follows(seen, findings));
            self.tell(findings);
            findings.extend(told);
            return;
        }
        let is_last = seen.content.problems.contains(&Problem::Truncated);
        let begins = opens(seen);
        if is_message(seen.content) || begins && is_last || !begins && self.count == 0 {
            self.clear();
            return self.tell(findings);
        }
        if begins {
            self.clear();
            self.tell(findings);
        }
        self.add(seen);
        if self.depth > 0 && (is_last || self.text.len() > KEPT) {
            self.clear();
            return self.tell(findings);
        }
        let message = (self.depth == 0).then(|| self.message(seen));
        match message {
            None => self.hold(seen, findings),
            Some(None) => self.tell(findings),
            Some(Some(finding)) => {
                drop(follows(seen, findings));
                self.held.clear();
                findings.push(finding);
            }
        }
    }

    /// Holds back what was found in this line.
    fn hold(&mut self, seen: &FrameContext<'_>, findings: &mut Vec<Finding>) {
        let follows = follows(seen, findings).into_iter();
        // It is judged by the revision of its line, whenever it is told.
        self.held.extend(follows.map(|finding| {
            let revision = finding.revision.unwrap_or_else(|| seen.revision());
            finding.judged_by(revision)
        }));
        if self.held.len() > HELD {
            findings.append(&mut self.held);
        }
    }

    /// Tells what was held back, before what was found later.
    fn tell(&mut self, findings: &mut Vec<Finding>) {
        findings.splice(0..0, self.held.drain(..));
    }

    /// Forgets the lines that may be one message.
    fn clear(&mut self) {
        (self.depth, self.count) = (0, 0);
        self.text.clear();
        self.first.clear();
    }

    fn add(&mut self, seen: &FrameContext<'_>) {
        let room = (KEPT + 1).saturating_sub(self.text.len());
        let kept = seen.raw.get(..room).unwrap_or(seen.raw);
        self.text.extend_from_slice(kept);
        self.depth = depth(kept, self.depth);
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(seen.head.seq);
        }
    }

    /// The finding that the lines are one message, if they are; forgets the lines.
    fn message(&mut self, seen: &FrameContext<'_>) -> Option<Finding> {
        let content = classify(&self.text);
        let message = content.messages.first().filter(|_| is_message(&content));
        let finding = message.map(|message| {
            let what = describe(message, content.batch);
            let detail = format!("{} lines together are one: {what}", self.count);
            let others = self.first.iter().filter(|seq| **seq != seen.head.seq);
            let finding = EMBEDDED_NEWLINE.at(seen.head.seq, detail);
            others.fold(finding, |finding, seq| finding.and(*seq))
        });
        self.clear();
        finding
    }
}

/// Takes out what follows from how a message is framed of which the line is a part.
fn follows(seen: &FrameContext<'_>, findings: &mut Vec<Finding>) -> Vec<Finding> {
    let is_of_line = |finding: &mut Finding| {
        finding.frame == Some(seen.head.seq) && !ON_THEIR_OWN.contains(&finding.rule)
    };
    findings.extract_if(.., is_of_line).collect()
}

/// Whether some part of the line is a request, a notification or a response.
pub(super) fn is_message(content: &Content) -> bool {
    let mut messages = content.messages.iter();
    messages.any(|message| !matches!(message.body, Body::Invalid))
}

/// Whether a line on stdout may have been written on stderr, where both are one: it is no message, nor the
/// beginning of one that never ends.
pub(crate) fn may_be_of_stderr(seen: &FrameContext<'_>) -> bool {
    let is_cut = seen.content.problems.contains(&Problem::Truncated);
    let is_begun = is_cut && seen.raw.first() == Some(&b'{');
    seen.head.stream == StreamId::S2C && !is_begun && !is_message(seen.content)
}

/// Whether the line opens an object at its very beginning that it does not close.
fn opens(seen: &FrameContext<'_>) -> bool {
    let mut problems = seen.content.problems.iter();
    let is_broken = problems.any(|it| matches!(it, Problem::NotJson { .. }));
    is_broken && seen.raw.first() == Some(&b'{') && depth(seen.raw, 0) > 0
}

/// Counts the brackets that are open after `line`, where `before` were open before it. No string goes
/// on over the end of a line.
fn depth(line: &[u8], before: usize) -> usize {
    let (mut depth, mut in_string, mut escaped) = (before, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

// Answers of the server that went to stderr, where no client reads them.

/// Answers that are held. Without a limit all would be kept; more are not told.
const REMEMBERED: usize = 64;

/// A response on stderr may be so far ahead of its twin on stdout, nanoseconds.
const AHEAD_NS: u64 = 1_000_000_000;

/// A server may write answers to stderr by mistake, or log its traffic there: then the requests are
/// answered on stdout as well.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    /// Answers to requests that are open, when they came, and what is told if they stay open.
    held: VecDeque<(ExchangeId, Moment, Finding)>,
    logs_traffic: bool,
}

impl Stderr {
    pub(super) fn line(&mut self, head: &FrameHead, raw: &[u8], context: &Context<'_>) {
        let is_whole = raw.len() as u64 == head.size;
        let may_be_one = is_whole && raw.starts_with(b"{") && !self.logs_traffic;
        if !may_be_one || memmem::find(raw, b"\"jsonrpc\"").is_none() {
            return;
        }
        let line = classify(raw);
        let message = line.messages.first();
        let Some((message, Body::Response(response))) = message.map(|it| (it, &it.body)) else {
            return;
        };
        let is_asked = |id| {
            let exchange = context.correlator.exchange(id);
            exchange.is_some_and(|it| Some(&it.rpc_id) == response.id.as_ref())
        };
        match context.known.open().find(|(id, _)| is_asked(*id)) {
            Some((exchange, _)) if self.held.len() < REMEMBERED => {
                let finding = STDERR_JSONRPC.at(head.seq, describe(message, false));
                self.held.push_back((exchange, head.t_last, finding));
            }
            Some(_) => {}
            None => self.logs_traffic = true,
        }
    }

    /// Tells what was held for long enough, or at the end all, where the request is still open.
    pub(super) fn passed(&mut self, context: &Context<'_>, is_over: bool) {
        let is_due =
            |(_, t, _): &mut (_, Moment, _)| is_over || context.now.ns_since(*t) >= AHEAD_NS;
        while let Some((exchange, _, finding)) = self.held.pop_front_if(is_due) {
            self.logs_traffic |= context.known.open_request(exchange).is_none();
            if !self.logs_traffic {
                context.findings.push(finding);
            }
        }
    }
}
