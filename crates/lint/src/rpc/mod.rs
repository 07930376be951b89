//! Rules about JSON-RPC: the shape of messages, their ids and the names of their methods.
//!
//! * `problem`: what was seen when a message was read, as findings;
//! * `members`: members that no message has, and results that must have none;
//! * `dialect`: names of methods that peers use in place of the protocol's.

mod dialect;
mod members;
mod problem;
mod rules;

use super::family::Family;
use super::finding::Findings;
use super::rule::Rule;
use super::seen::{Part, Seen};
use mcpreel_wire::message::{Body, Direction, Message, Problem};

/// The family of JSON-RPC rules. It remembers how many messages of each side could not be read
/// by the other: each of them excuses one response without an id.
#[derive(Debug, Default)]
pub struct Rpc {
    unreadable_c2s: u64,
    unreadable_s2c: u64,
}

impl Family for Rpc {
    fn name(&self) -> &'static str {
        "JSON-RPC"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &rules::VERSION,
            &rules::UNCLASSIFIABLE,
            &rules::METHOD_NOT_STRING,
            &rules::METHOD_AND_RESULT,
            &rules::PARAMS_NOT_OBJECT,
            &rules::RESULT_AND_ERROR,
            &rules::RESULT_NOT_OBJECT,
            &rules::ERROR_SHAPE,
            &rules::ERROR_CODE,
            &rules::UNKNOWN_MEMBER,
            &rules::ID_NULL,
            &rules::ID_TYPE,
            &rules::REQUEST_WITHOUT_ID,
            &rules::NOTIFICATION_WITH_ID,
            &rules::RESPONSE_MISSING_ID,
            &rules::PING_RESULT,
            &rules::DIALECT_METHOD,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let Some(direction) = seen.head.stream.messages() else {
            return;
        };
        if !seen.content.problems.iter().all(is_readable) {
            *self.unreadable(direction) += 1;
        }
        for part in seen.parts() {
            self.problems(&part, findings);
            members::look(&part, findings);
            findings.extend(dialect::look(&part));
            if !part.message.problems.iter().all(is_readable) {
                *self.unreadable(direction) += 1;
            }
        }
    }
}

impl Rpc {
    fn unreadable(&mut self, direction: Direction) -> &mut u64 {
        match direction {
            Direction::ClientToServer => &mut self.unreadable_c2s,
            Direction::ServerToClient => &mut self.unreadable_s2c,
        }
    }

    fn problems(&mut self, part: &Part<'_>, findings: &mut Findings) {
        for problem in &part.message.problems {
            if *problem == Problem::ResponseWithoutId && self.is_excused(part.direction()) {
                continue;
            }
            findings.extend(problem::finding(problem, part));
        }
    }

    /// Whether the other side has sent something unreadable that a response without an id in
    /// this direction may be the answer to; each excuses one.
    fn is_excused(&mut self, direction: Direction) -> bool {
        let unreadable = self.unreadable(direction.reverse());
        let is_excused = *unreadable > 0;
        *unreadable -= u64::from(is_excused);
        is_excused
    }
}

/// Whether a peer that meets the problem can still tell the id of the message.
fn is_readable(problem: &Problem) -> bool {
    !matches!(
        problem,
        Problem::NotJson { .. }
            | Problem::TooDeep { .. }
            | Problem::Truncated
            | Problem::InvalidUtf8 { .. }
            | Problem::NotObject { .. }
            | Problem::EmptyBatch
            | Problem::Unclassifiable
            | Problem::MethodNotString
            | Problem::IdNull
            | Problem::IdType
            | Problem::RequestWithoutId
    )
}

/// What a message is, in a few words: `request tools/call, id 7`.
pub(super) fn describe(message: &Message, batch: bool) -> String {
    use super::quote::text;
    let what = match &message.body {
        Body::Request(request) => {
            let (method, id) = (text(&request.method), text(request.id.json()));
            format!("request {method}, id {id}")
        }
        Body::Notification(notification) => {
            format!("notification {}", text(&notification.method))
        }
        Body::Response(response) => match &response.id {
            Some(id) => format!("response, id {}", text(id.json())),
            None => "response without id".to_owned(),
        },
        Body::Invalid => "no message".to_owned(),
    };
    if batch {
        format!("{what} (part {} of the batch)", message.part)
    } else {
        what
    }
}
