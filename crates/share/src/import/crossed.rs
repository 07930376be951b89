//! Answers that stand before what they answer.
//!
//! Who notes a message after having passed it on may be overtaken: the answer to it is noted
//! first, some millionths of a second before the question. Read like that, the answer would answer
//! nothing, and the question would stay without one. So an answer to something that nobody has
//! asked yet is held back, and what follows it, until the question comes; then the lines of the
//! question's side go first. The order of the lines of one side is never changed.

use mcpreel_trace::frame::StreamId;
use mcpreel_wire::message::{Body, Direction, classify};
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Lines that are held back at most: an answer that answers nothing must not hold up a session.
const MOST_HELD: usize = 16;

/// For how long one is held back, in the time of the log. Nobody is overtaken by more.
const LONGEST_NS: u64 = 100_000_000;

/// Questions that are remembered. In a longer log nothing is held back any more.
const MOST_ASKED: usize = 1_000_000;

/// A line of some session on one side, and when.
pub(super) trait Line {
    fn session(&self) -> &str;
    fn stream(&self) -> StreamId;
    /// Wall clock, where it has a time.
    fn wall_ns(&self) -> Option<u64>;
    fn bytes(&self) -> &[u8];
}

/// Puts answers behind their questions.
#[derive(Debug)]
pub(super) struct Crossed<L> {
    /// Which sessions asked what, either way.
    asked: HashSet<u64>,
    /// The first one is an answer without a question.
    held: VecDeque<L>,
    /// The questions that the first one answers.
    wanted: Vec<u64>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Next<L> {
    pub line: L,
    /// Whether it is an answer that stood before its question.
    pub is_moved: bool,
}

impl<L: Line> Crossed<L> {
    pub fn new() -> Self {
        Self {
            asked: HashSet::new(),
            held: VecDeque::new(),
            wanted: Vec::new(),
        }
    }

    /// Takes a line, and gives what may be said now to `say`, in order.
    pub fn take(&mut self, line: L, say: &mut dyn FnMut(Next<L>)) {
        let Some(first) = self.held.front() else {
            return self.admit(line, say);
        };
        let (asks, _) = keys(&line);
        let since = line.wall_ns().zip(first.wall_ns());
        let is_late = since.is_some_and(|(now, then)| now.saturating_sub(then) > LONGEST_NS);
        if asks.iter().any(|asked| self.wanted.contains(asked)) && !is_late {
            self.settle(line, say);
        } else {
            self.held.push_back(line);
            if is_late || self.held.len() == MOST_HELD {
                self.release(say);
            }
        }
    }

    pub fn finish(&mut self, say: &mut dyn FnMut(Next<L>)) {
        while !self.held.is_empty() {
            self.release(say);
        }
    }

    /// A line where nothing is held back: said, or the first one to be held.
    fn admit(&mut self, line: L, say: &mut dyn FnMut(Next<L>)) {
        let (_, answers) = keys(&line);
        let is_new = |answered: &u64| !self.asked.contains(answered);
        if self.asked.len() < MOST_ASKED && answers.iter().any(is_new) {
            self.wanted = answers;
            self.held.push_back(line);
        } else {
            self.say(line, false, say);
        }
    }

    /// The question has come: what its side said goes first, then the answer, then the rest.
    fn settle(&mut self, question: L, say: &mut dyn FnMut(Next<L>)) {
        let mut held = std::mem::take(&mut self.held);
        let answer = held.pop_front();
        let is_of_it =
            |line: &L| line.stream() == question.stream() && line.session() == question.session();
        let (first, rest): (Vec<L>, Vec<L>) = held.into_iter().partition(is_of_it);
        for line in first.into_iter().chain([question]) {
            self.say(line, false, say);
        }
        if let Some(line) = answer {
            self.say(line, true, say);
        }
        for line in rest {
            self.take(line, say);
        }
    }

    /// The question does not come: the answer is said as it stands, and what follows looked at.
    fn release(&mut self, say: &mut dyn FnMut(Next<L>)) {
        let mut held = std::mem::take(&mut self.held);
        if let Some(line) = held.pop_front() {
            self.say(line, false, say);
        }
        for line in held {
            self.take(line, say);
        }
    }

    /// Says a line, and remembers what it asks.
    fn say(&mut self, line: L, is_moved: bool, say: &mut dyn FnMut(Next<L>)) {
        if self.asked.len() < MOST_ASKED {
            self.asked.extend(keys(&line).0);
        }
        say(Next { line, is_moved });
    }
}

/// What a line asks, and what it answers.
fn keys(line: &impl Line) -> (Vec<u64>, Vec<u64>) {
    let Some(direction) = direction(line.stream()) else {
        return (Vec::new(), Vec::new());
    };
    let (mut asks, mut answers) = (Vec::new(), Vec::new());
    for message in classify(line.bytes()).messages {
        let (id, asked_by, keys) = match &message.body {
            Body::Request(request) => (Some(&request.id), direction, &mut asks),
            Body::Response(response) => (response.id.as_ref(), direction.reverse(), &mut answers),
            Body::Notification(_) | Body::Invalid => continue,
        };
        let Some(id) = id else { continue };
        let mut hasher = DefaultHasher::new();
        line.session().hash(&mut hasher);
        (asked_by == Direction::ClientToServer).hash(&mut hasher);
        id.hash(&mut hasher);
        keys.push(hasher.finish());
    }
    (asks, answers)
}

fn direction(stream: StreamId) -> Option<Direction> {
    match stream {
        StreamId::C2S => Some(Direction::ClientToServer),
        StreamId::S2C => Some(Direction::ServerToClient),
        _ => None,
    }
}
