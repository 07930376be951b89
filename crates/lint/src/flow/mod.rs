//! Rules about what flows between requests and responses: progress, the cancel of a task, pages of
//! lists, floods of notifications.
//!
//! * `progress`: tokens and values of progress, and when it comes;
//! * `tasks`: requests that a task has answered are not cancelled like others;
//! * `pages`: cursors, and walks from page to page;
//! * `flood`: how many notifications come within a second.

mod pages;

use super::section::{CANCELLATION, PROGRESS};
use crate::{
    Context, Family, Finding, Findings, FrameContext, Part, Revisions, Rule, Severity, quote,
};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Number, Value};
use mcpreel_wire::mcp::{Revision, keys};
use mcpreel_wire::message::{Body, Direction, Notification, Outcome, Response, Subject};
use std::cmp::Ordering;
use std::collections::VecDeque;

rules! {
    NOT_INCREASING = error("progress-not-increasing", "progress that is not more than before")
        .why("A host that draws a progress bar, or that waits for as long as there is progress, sees work that stands still or runs backwards.")
        .fix("Count up with every progress notification of a request, also where the total is not known.")
        .of(PROGRESS);

    AFTER_RESPONSE = error("progress-after-response",
        "progress for a request that was already answered")
        .why("The client has forgotten the token by then, and some clients report an error for a token that they do not know.")
        .fix("Send the last progress before the response, and wait until it is written.")
        .of(PROGRESS)
        .milder_where(Severity::Warning, "it comes within 5 ms of the response");

    TOKEN_TYPE = error("progress-token-type",
        "a progress token that is neither a string nor an integer")
        .why("The other side may refuse the whole message, or never match the progress to its request.")
        .fix("Use a string or an integer as the progress token, for example the id of the request.")
        .of(PROGRESS);

    EXCEEDS_TOTAL = note("progress-exceeds-total", "progress of more than its total")
        .why("A progress bar that is drawn from these numbers ends beyond its end.")
        .fix("Raise the total along with the progress, or leave it out where it is not known.")
        .of(PROGRESS);

    CANCEL_TASK_REQUEST = error("cancel-task-request",
        "a request that asks for a task is cancelled like one that does not")
        .why("The task goes on and keeps its result, because only `tasks/cancel` ends a task.")
        .fix("Send `tasks/cancel` with the id of the task instead of `notifications/cancelled`.")
        .of(CANCELLATION)
        .only(Revisions::between( Revision::V2025_11_25, Revision::V2025_11_25, ))
        .milder_where(Severity::Warning, "its task had no id yet");

    FLOOD_NOTIFICATIONS = warning("flood-notifications",
        "more than 1000 notifications within a second")
        .why("The other side has to read every one of them before it sees the next response, so that calls time out behind the flood.")
        .fix("Limit the rate of progress and log messages, and put several into one.")
        .of(PROGRESS);
}

#[derive(Debug, Default)]
pub struct Flow {
    progress: Progress,
    tasks: Tasks,
    pages: pages::Pages,
    flood: Flood,
}

impl Family for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        [RULES, pages::RULES].concat()
    }

    fn frame(&mut self, seen: &FrameContext<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            self.progress.part(&part, findings);
            self.tasks.part(&part, findings);
            self.pages.part(&part, findings);
            self.flood.part(&part, findings);
        }
    }

    fn event(&mut self, event: &Event, _: &Context<'_>, _: &mut Findings) {
        if let EventKind::Gap { .. } = event.kind {
            self.pages.gap();
        }
    }

    fn finish(&mut self, _: &[Observation], _: &Context<'_>, findings: &mut Findings) {
        self.pages.finish(findings);
    }
}

// How many notifications come within a second.

/// Notifications of one side within a second that are no flood.
const MOST: usize = 1000;

/// Fewer than so many within a second are the end of a flood.
const CALM: usize = 500;

const SECOND_NS: u64 = 1_000_000_000;

/// When the latest notifications of both sides came.
#[derive(Debug, Default)]
struct Flood {
    of_client: Rate,
    of_server: Rate,
}

#[derive(Debug, Default)]
struct Rate {
    /// Those of the last second, [`MOST`] at most.
    latest: VecDeque<Moment>,
    is_flood: bool,
}

impl Flood {
    fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let (rate, who) = match part.direction() {
            Direction::ClientToServer => (&mut self.of_client, "client"),
            Direction::ServerToClient => (&mut self.of_server, "server"),
        };
        if rate.exceeded_at(part.seen.head.t_last) {
            let method = quote::text(&notification.method);
            let detail = format!("from the {who}, the last one {method}");
            findings.push(part.at(&FLOOD_NOTIFICATIONS, detail));
        }
    }
}

impl Rate {
    /// Takes one more in; whether a flood has begun with it.
    fn exceeded_at(&mut self, t: Moment) -> bool {
        let is_old = |then: &Moment| t.0.saturating_sub(then.0) >= SECOND_NS;
        while self.latest.front().is_some_and(is_old) {
            self.latest.pop_front();
        }
        self.is_flood &= self.latest.len() >= CALM;
        let exceeded = self.latest.len() == MOST;
        if exceeded {
            self.latest.pop_front();
        }
        self.latest.push_back(t);
        let begins = exceeded && !self.is_flood;
        self.is_flood |= exceeded;
        begins
    }
}

// Requests that a task answers are cancelled by `tasks/cancel`.

/// Requests that are remembered after a task has answered them. Without a limit a client that asks
/// for nothing but tasks would be kept in memory; what was forgotten is not judged.
const REMEMBERED: usize = 1024;

/// The requests that were answered by a task, with the frame that says so.
#[derive(Debug, Default)]
struct Tasks(BoundedMap<ExchangeId, Seq, REMEMBERED>);

impl Tasks {
    fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        match &part.message.body {
            Body::Response(response) if matches!(response.outcome, Outcome::Task { .. }) => {
                if let Some((exchange, asked)) = part.exchange().zip(part.asked())
                    && asked.task
                {
                    self.0.insert(exchange, part.seen.head.seq);
                }
            }
            Body::Notification(notification) => {
                if let Subject::Cancelled { .. } = notification.subject {
                    self.cancelled(part, findings);
                }
            }
            _ => {}
        }
    }

    fn cancelled(&self, part: &Part<'_>, findings: &mut Findings) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        if let Some(answer) = self.0.get(&exchange) {
            let finding = part.at(&CANCEL_TASK_REQUEST, "its task goes on");
            findings.push(finding.and(*answer));
        } else if let Some(asked) = part.asked().filter(|asked| asked.task) {
            // Before the answer names the task nobody can cancel it by its id.
            let finding = part.at(&CANCEL_TASK_REQUEST, "before its task had an id");
            findings.push(finding.as_bad_as(Severity::Warning).and(asked.frame));
        }
    }
}

// Progress: its tokens, its values, and when it comes.

/// Requests whose progress is remembered. Without a limit a server that reports progress for many
/// would be kept in memory; of those that were forgotten nothing is said.
const TOKENS: usize = 2048;

/// Bytes of a number that is remembered. Numbers of real peers are far shorter, one on the wire can
/// be as long as a line.
const NUMBER_BYTES: usize = 64;

/// A server that writes from several threads may let its last progress be overtaken by the
/// response: so close after it that is no more than careless.
const REORDERED_NS: u64 = 5_000_000;

/// What is remembered of progress.
#[derive(Debug, Default)]
struct Progress {
    latest: BoundedMap<ExchangeId, Latest, TOKENS>,
    /// Requests with a token that were answered, but not by a task: when and where.
    answered: BoundedMap<ExchangeId, (Moment, Seq), TOKENS>,
}

/// The latest progress of one request.
#[derive(Debug)]
struct Latest {
    frame: Seq,
    value: Box<str>,
    /// Whether it was told that the total was exceeded.
    exceeded: bool,
}

impl Progress {
    fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        match &part.message.body {
            Body::Request(_) => {
                let meta = || part.param("_meta")?.get(keys::PROGRESS_TOKEN);
                check_token(part, meta(), "params._meta.progressToken", findings);
            }
            Body::Response(response) => self.response(part, response),
            Body::Notification(Notification {
                subject:
                    Subject::Progress {
                        token,
                        progress,
                        total,
                    },
                ..
            }) => {
                let token_value = part.param("progressToken");
                check_token(part, token_value, "params.progressToken", findings);
                if token.is_some() {
                    self.progress(part, progress.as_deref(), total.as_deref(), findings);
                }
            }
            Body::Notification(_) | Body::Invalid => {}
        }
    }

    fn response(&mut self, part: &Part<'_>, response: &Response) {
        let (Some(exchange), Some(asked)) = (part.exchange(), part.asked()) else {
            return;
        };
        self.latest.remove(&exchange);
        // A task goes on, and so does its progress.
        let is_task = matches!(response.outcome, Outcome::Task { .. });
        if asked.token.is_some() && !is_task {
            let head = part.seen.head;
            self.answered.insert(exchange, (head.t_last, head.seq));
        }
    }

    fn progress(
        &mut self,
        part: &Part<'_>,
        value: Option<&str>,
        total: Option<&str>,
        findings: &mut Findings,
    ) {
        // Without an exchange the token is unknown, which another rule says.
        let Some(exchange) = part.exchange() else {
            return;
        };
        if let Some(answered) = self.answered.get(&exchange) {
            after_response(part, *answered, findings);
            return;
        }
        let Some(value) = value.filter(|value| value.len() <= NUMBER_BYTES) else {
            self.latest.remove(&exchange);
            return;
        };
        let latest = self.latest.get(&exchange);
        if let Some(latest) = latest {
            findings.extend(not_increasing(part, value, latest));
        }
        let exceeded = latest.is_some_and(|latest| latest.exceeded);
        let total = total.filter(|total| compare(value, total) == Some(Ordering::Greater));
        if let (Some(total), false) = (total, exceeded) {
            let detail = format!("{value} of {total}");
            findings.push(part.at(&EXCEEDS_TOTAL, detail).path("params.progress"));
        }
        let latest = Latest {
            frame: part.seen.head.seq,
            value: value.into(),
            exceeded: exceeded || total.is_some(),
        };
        match self.latest.get_mut(&exchange) {
            Some(known) => *known = latest,
            None => self.latest.insert(exchange, latest),
        }
    }
}

fn not_increasing(part: &Part<'_>, value: &str, latest: &Latest) -> Option<Finding> {
    let order = compare(value, &latest.value)?;
    order.is_le().then(|| {
        let detail = format!("{value} after {}", latest.value);
        let finding = part.at(&NOT_INCREASING, detail).path("params.progress");
        finding.and(latest.frame)
    })
}

fn after_response(part: &Part<'_>, (t, frame): (Moment, Seq), findings: &mut Findings) {
    let head = part.seen.head;
    // The messages of a batch have no order.
    if head.seq == frame {
        return;
    }
    let after_ns = head.t_first.0.saturating_sub(t.0);
    let detail = format!("{} ms after the response", after_ns / 1_000_000);
    let finding = part.at(&AFTER_RESPONSE, detail).and(frame);
    findings.push(match after_ns {
        0..=REORDERED_NS => finding.as_bad_as(Severity::Warning),
        _ => finding,
    });
}

fn check_token(
    part: &Part<'_>,
    token: Option<Value<'_>>,
    path: &'static str,
    findings: &mut Findings,
) {
    let Some(token) = token else {
        return;
    };
    if !RequestId::from_value(token).is_allowed() {
        let (kind, text) = (token.kind().as_str(), quote::bytes(token.raw()));
        findings.push(part.at(&TOKEN_TYPE, format!("{kind}: {text}")).path(path));
    }
}

/// How two numbers stand to each other, exactly; `None` where one of them is too long to look at.
fn compare(one: &str, other: &str) -> Option<Ordering> {
    // Nearly all of them are small.
    if let (Ok(one), Ok(other)) = (one.parse::<u64>(), other.parse::<u64>()) {
        return Some(one.cmp(&other));
    }
    if one.len().max(other.len()) > NUMBER_BYTES {
        return None;
    }
    Number::parse(one)?.partial_cmp(&Number::parse(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_their_exact_value() {
        for (one, other, order) in [
            ("1", "1.0", Ordering::Equal),
            ("9007199254740993", "9007199254740992", Ordering::Greater),
            ("0.30000000000000004", "0.3", Ordering::Greater),
            ("-1", "0", Ordering::Less),
            ("1e400", "1e399", Ordering::Greater),
        ] {
            assert_eq!(compare(one, other), Some(order), "{one} and {other}");
        }
        assert_eq!(compare(&"9".repeat(100), "1.5"), None);
    }
}
