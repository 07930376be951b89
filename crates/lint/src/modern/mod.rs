//! Rules about the modern era: what every request and result must carry, input rounds,
//! subscriptions, caching.
//!
//! * `era`: messages that the modern era has no place for, and both eras on one process;
//! * `request`, `result`, `errors`: what each of them must carry;
//! * `rounds`: results that ask for input, and the retries that give it; `input_request`: what they
//!   ask for;
//! * `subscriptions`, `logging`: notifications that somebody must have asked for; `filter`: for
//!   which;
//! * `caching`, `lists`: what clients may keep, and whether it stays the same;
//! * `deprecated`: what will go away.
//!
//! A legacy server may answer modern requests by its own rules, without a handshake. It breaks no
//! rule of an era that it does not know: servers are judged here once they have shown that they
//! know it.

mod caching;
mod deprecated;
mod era;
mod errors;
mod filter;
mod input_request;
mod lists;
mod logging;
mod request;
mod result;
mod rounds;
mod subscriptions;

use super::family::{Context, Family};
use super::finding::Findings;
use super::once::Once;
use super::rule::Rule;
use super::seen::{Part, Seen};
use super::trail::written;
use mcpreel_trace::correlator::Observation;
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Era};

#[derive(Debug, Default)]
pub struct Modern {
    once: Once,
    /// The server has shown that it knows the modern era.
    is_proven: bool,
    eras: era::Eras,
    errors: errors::Errors,
    rounds: rounds::Rounds,
    streams: subscriptions::Streams,
    levels: logging::Levels,
    pages: caching::Pages,
    lists: lists::Lists,
    deprecated: deprecated::Deprecated,
}

impl Family for Modern {
    fn name(&self) -> &'static str {
        "modern"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &request::META_MISSING,
            &request::CLIENT_INFO_MISSING,
            &result::SERVER_INFO_MISSING,
            &result::TYPE_MISSING,
            &result::TYPE_UNKNOWN,
            &era::SERVER_REQUEST,
            &era::CLIENT_RESPONSE,
            &era::MIXED,
            &errors::VERSION_SHAPE,
            &errors::CAPABILITY_SHAPE,
            &errors::DISCOVER_MISSING,
            &rounds::EMPTY,
            &rounds::WRONG_METHOD,
            &input_request::REQUEST_KIND,
            &input_request::UNDECLARED,
            &rounds::STATE_NOT_ECHOED,
            &rounds::RESPONSE_KEY_UNKNOWN,
            &rounds::NOT_RETRIED,
            &caching::MISSING,
            &caching::INVALID,
            &subscriptions::ACK_MISSING,
            &subscriptions::ID_MISSING,
            &subscriptions::NOT_REQUESTED,
            &subscriptions::UNKNOWN,
            &logging::NOT_REQUESTED,
            &logging::BELOW_LEVEL,
            &lists::VARIES,
            &deprecated::FEATURE,
        ];
        RULES
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.lists.passed(context.now, findings);
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        self.is_proven |= seen.known.knows_modern;
        for part in seen.parts() {
            match (&part.message.body, part.direction()) {
                (Body::Request(_), Direction::ClientToServer) => self.asked(&part, findings),
                (Body::Response(_), Direction::ServerToClient) => self.answered(&part, findings),
                (Body::Notification(_), Direction::ServerToClient) => {
                    self.levels.notification(&part, findings);
                    self.streams.notification(&part, findings);
                    self.lists.notification(&part);
                    self.deprecated.notification(&part, findings);
                }
                (Body::Notification(_), Direction::ClientToServer) => {
                    self.streams.cancelled(&part);
                }
                (Body::Request(_), Direction::ServerToClient) => {
                    era::server_request(&part, findings);
                }
                (Body::Response(_), Direction::ClientToServer) => {
                    era::client_response(&part, findings);
                }
                (Body::Invalid, _) => {}
            }
        }
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        self.rounds.finish(findings);
    }
}

impl Modern {
    fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.eras.asked(part, findings);
        self.levels.asked(part);
        if part.revision() != Revision::V2026_07_28 {
            return;
        }
        request::asked(part, &mut self.once, findings);
        self.rounds.asked(part, findings);
        self.streams.asked(part);
        self.pages.asked(part);
        self.lists.asked(part);
        self.deprecated.asked(part, findings);
    }

    fn answered(&mut self, part: &Part<'_>, findings: &mut Findings) {
        self.levels.answered(part);
        if part.era() != Era::Modern || part.asked().is_none() {
            return;
        }
        self.streams.answered(part);
        self.errors.answered(part, findings);
        let Some(result) = part.result().filter(Value::is_object) else {
            return;
        };
        self.is_proven |= result.get("resultType").is_some();
        self.eras.served(part);
        result::answered(part, result, self.is_proven, &mut self.once, findings);
        if self.is_proven {
            self.errors.served(part, findings);
            self.rounds.answered(part, result, findings);
            self.pages.answered(part, result, findings);
            self.lists.answered(part, result, &self.streams, findings);
            self.deprecated.answered(part, result, findings);
        }
    }
}

fn path(members: &[&str]) -> Box<str> {
    let steps = members.iter().map(|name| Step::Member((*name).into()));
    written(steps.collect())
}

fn code(error: Value<'_>) -> Option<i64> {
    error.get("code")?.number()?.to_i64()
}
