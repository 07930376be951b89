//! Progress: its tokens, its values, and when it comes.

use crate::finding::{Finding, Findings};
use crate::quote;
use crate::remembered::Remembered;
use crate::rule::{Rule, Severity};
use crate::section::PROGRESS;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Number, Value};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::{Body, Notification, Outcome, Response, Subject};
use std::cmp::Ordering;

pub(super) static NOT_INCREASING: Rule = Rule::error(
    "progress-not-increasing",
    "progress that is not more than before",
)
.why("A host that draws a progress bar, or that waits for as long as there is progress, sees work that stands still or runs backwards.")
.fix("Count up with every progress notification of a request, also where the total is not known.")
.of(PROGRESS);

pub(super) static AFTER_RESPONSE: Rule = Rule::error(
    "progress-after-response",
    "progress for a request that was already answered",
)
.why("The client has forgotten the token by then, and some clients report an error for a token that they do not know.")
.fix("Send the last progress before the response, and wait until it is written.")
.of(PROGRESS)
.milder_where(Severity::Warning, "it comes within 5 ms of the response");

pub(super) static TOKEN_TYPE: Rule = Rule::error(
    "progress-token-type",
    "a progress token that is neither a string nor an integer",
)
.why("The other side may refuse the whole message, or never match the progress to its request.")
.fix("Use a string or an integer as the progress token, for example the id of the request.")
.of(PROGRESS);

pub(super) static EXCEEDS_TOTAL: Rule =
    Rule::note("progress-exceeds-total", "progress of more than its total")
        .why("A progress bar that is drawn from these numbers ends beyond its end.")
        .fix("Raise the total along with the progress, or leave it out where it is not known.")
        .of(PROGRESS);

/// Requests whose progress is remembered. Without a limit a server that reports progress for many
/// would be kept in memory; of those that were forgotten nothing is said.
const REMEMBERED: usize = 2048;

/// Bytes of a number that is remembered. Numbers of real peers are far shorter, one on the wire can
/// be as long as a line.
const NUMBER_BYTES: usize = 64;

/// A server that writes from several threads may let its last progress be overtaken by the
/// response: so close after it that is no more than careless.
const REORDERED_NS: u64 = 5_000_000;

/// What is remembered of progress.
#[derive(Debug)]
pub(super) struct Progress {
    latest: Remembered<ExchangeId, Latest>,
    /// Requests with a token that were answered, but not by a task: when and where.
    answered: Remembered<ExchangeId, (Moment, Seq)>,
}

/// The latest progress of one request.
#[derive(Debug)]
struct Latest {
    frame: Seq,
    value: Box<str>,
    /// Whether it was told that the total was exceeded.
    exceeded: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            latest: Remembered::new(REMEMBERED),
            answered: Remembered::new(REMEMBERED),
        }
    }
}

impl Progress {
    pub(super) fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
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
