//! Rules about what flows between requests and responses: progress, the cancel of a task, pages of
//! lists, floods of notifications.

use super::section::{CANCELLATION, PAGINATION, PROGRESS};
use crate::{
    Context, Family, Finding, Findings, FrameContext, Part, Revisions, Rule, Severity, quote,
};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Kind, Number, Value};
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

    CURSOR_UNKNOWN = warning("page-cursor-unknown", "a cursor that no page of this list has named")
        .why("A cursor means something only to the server that issued it in this session, so that the page is another one than expected, or none.")
        .fix("Send a cursor exactly as the `nextCursor` of the page before, and begin without one.")
        .of(PAGINATION)
        .only(Revisions::LEGACY)
        .of_absence();

    CURSOR_LOOP = warning("page-cursor-loop",
        "the next page is one that was already asked for on the way")
        .why("A client that follows `nextCursor` to the end never comes to an end.")
        .fix("Leave `nextCursor` out on the last page, and let each page name a later one.")
        .of(PAGINATION);

    EMPTY_CURSOR_IGNORED = note("page-empty-cursor-ignored",
        "the client did not ask for the page after an empty `nextCursor`")
        .why("An empty cursor is a cursor like any other, so that the client may lack a part of the list.")
        .fix("Let the client end only where `nextCursor` is missing, and let the server not name an empty one.")
        .of(PAGINATION)
        .only(Revisions::MODERN)
        .at_end();

    INVALID_CURSOR_CODE = warning("page-invalid-cursor-code",
        "a cursor that was never issued is refused with another code than -32602")
        .why("The client cannot tell that it has to begin again without a cursor from a server that failed.")
        .fix("Answer a cursor that cannot be read with -32602 (Invalid params).")
        .of(PAGINATION);

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
    pages: Pages,
    flood: Flood,
}

impl Family for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        RULES.to_vec()
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
                if let Some((exchange, asked)) = part.exchange().zip(part.request())
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
        } else if let Some(asked) = part.request().filter(|asked| asked.task) {
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
        let (Some(exchange), Some(asked)) = (part.exchange(), part.request()) else {
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
    let Some(token) = token else { return };
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

// Lists in pages: cursors that nobody issued, walks that come back to where they were, the empty
// cursor.
//
// A cursor may be as long as a line, so only a hash of it is remembered, with that of the cursor
// whose page named it: the way back from page to page.

/// Cursors that are remembered. Without a limit a client that walks lists all day would be kept in
/// memory; once one was forgotten no cursor is called unknown.
const ISSUED: usize = 4096;

/// Pages that are looked back for a loop. A longer loop is not noticed; without a limit each page of
/// a long walk would cost more than the one before.
const LOOKED_BACK: usize = 256;

/// Requests for a page that are remembered until their answer; beyond it nothing is said of the
/// oldest.
const ASKED: usize = 256;

/// Methods whose answers are pages.
const PAGED: [&str; 5] = [
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "tasks/list",
];

/// Codes that say something about the request as a whole, before its cursor was looked at.
const BEFORE_THE_CURSOR: [&str; 6] = ["-32700", "-32600", "-32601", "-32020", "-32021", "-32022"];

/// A list: which method, and who is asked.
type List = (Direction, usize);

type Cursor = (List, u64);

/// What is remembered of cursors and pages.
#[derive(Debug, Default)]
struct Pages {
    issued: BoundedMap<Cursor, Issued, ISSUED>,
    asked: BoundedMap<ExchangeId, Page, ASKED>,
    /// Whether a cursor may have been issued that was not seen.
    is_incomplete: bool,
    empty: Vec<Empty>,
}

/// A cursor that a page has named.
#[derive(Debug)]
struct Issued {
    /// The cursor that this page was asked for with.
    before: Option<Cursor>,
    frame: Seq,
    /// Whether it was told that it leads back.
    is_loop: bool,
}

#[derive(Debug)]
struct Page {
    cursor: Option<Cursor>,
    is_known: bool,
}

/// A page that ended with the empty cursor.
#[derive(Debug)]
struct Empty {
    list: List,
    frame: Seq,
    exchange: Option<ExchangeId>,
    /// Whether its client has asked for something else since.
    went_on: bool,
}

impl Pages {
    /// Bytes are missing: they may have held a page.
    fn gap(&mut self) {
        self.is_incomplete = true;
    }

    fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        match &part.message.body {
            Body::Request(_) => {
                for empty in &mut self.empty {
                    empty.went_on |= empty.list.0 == part.direction();
                }
                self.request(part, findings);
            }
            Body::Response(response) => {
                if let Some(list) = list_of(part, part.direction().reverse()) {
                    self.response(part, list, response, findings);
                }
            }
            Body::Notification(_) | Body::Invalid => {}
        }
    }

    fn finish(&mut self, findings: &mut Findings) {
        for empty in self.empty.drain(..).filter(|empty| empty.went_on) {
            let finding = EMPTY_CURSOR_IGNORED
                .at(empty.frame, "nextCursor is \"\"")
                .about(empty.exchange)
                .path("result.nextCursor");
            findings.push(finding);
        }
    }

    fn request(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some((list, exchange)) = list_of(part, part.direction()).zip(part.exchange()) else {
            return;
        };
        let text = string(part.param("cursor"));
        let cursor = text.map(|text| (list, digest(text.str_bytes())));
        let is_known = cursor.is_none_or(|cursor| self.issued.contains(&cursor));
        let page = Page { cursor, is_known };
        self.asked.insert(exchange, page);
        let Some(text) = text else { return };
        if text.string_bytes() == Some(b"") {
            self.empty.retain(|empty| empty.list != list);
        }
        if !is_known && !self.may_have_been_issued() {
            let detail = quote::bytes(text.raw());
            findings.push(part.at(&CURSOR_UNKNOWN, detail).path("params.cursor"));
        }
    }

    fn response(
        &mut self,
        part: &Part<'_>,
        list: List,
        response: &Response,
        findings: &mut Findings,
    ) {
        let Some(page) = part.exchange().and_then(|id| self.asked.remove(&id)) else {
            return;
        };
        if let Outcome::Error { code, .. } = &response.outcome {
            self.refused(part, &page, code.as_deref(), findings);
            return;
        }
        let Some(result) = part.result() else {
            // A page of which only the outline was read.
            self.is_incomplete = true;
            return;
        };
        let Some(next) = string(result.get("nextCursor")) else {
            return;
        };
        let cursor = (list, digest(next.str_bytes()));
        if let Some(seen) = self.leads_back(&page, cursor) {
            if !std::mem::replace(&mut seen.is_loop, true) {
                let frame = seen.frame;
                let finding = part.at(&CURSOR_LOOP, quote::bytes(next.raw()));
                findings.push(finding.path("result.nextCursor").and(frame));
            }
            return;
        }
        self.issued(part, &page, cursor);
        let is_empty = next.string_bytes() == Some(b"");
        if is_empty && part.revision() >= Revision::V2026_07_28 {
            self.ended_empty(part, list);
        }
    }

    /// Remembers a cursor that leads on from a page.
    fn issued(&mut self, part: &Part<'_>, page: &Page, cursor: Cursor) {
        let issued = Issued {
            before: page.cursor,
            frame: part.seen.head.seq,
            is_loop: self.issued.get(&cursor).is_some_and(|seen| seen.is_loop),
        };
        self.issued.insert(cursor, issued);
    }

    /// Remembers that the last page of a list so far ended with the empty cursor.
    fn ended_empty(&mut self, part: &Part<'_>, list: List) {
        self.empty.retain(|empty| empty.list != list);
        self.empty.push(Empty {
            list,
            frame: part.seen.head.seq,
            exchange: part.exchange(),
            went_on: false,
        });
    }

    /// The cursor, if the page was come to by way of it.
    fn leads_back(&mut self, page: &Page, cursor: Cursor) -> Option<&mut Issued> {
        let mut at = page.cursor;
        for _ in 0..LOOKED_BACK {
            if at? == cursor {
                return self.issued.get_mut(&cursor);
            }
            at = self.issued.get(&at?)?.before;
        }
        None
    }

    fn refused(&self, part: &Part<'_>, page: &Page, code: Option<&str>, findings: &mut Findings) {
        let code = code.unwrap_or("missing");
        let is_about_cursor = !BEFORE_THE_CURSOR.contains(&code);
        if !page.is_known && !self.may_have_been_issued() && is_about_cursor && code != "-32602" {
            let detail = format!("code {}", quote::text(code));
            findings.push(part.at(&INVALID_CURSOR_CODE, detail).path("error.code"));
        }
    }

    fn may_have_been_issued(&self) -> bool {
        self.is_incomplete || self.issued.has_forgotten()
    }
}

/// The list that a message of `direction` asks for, or that answers it.
fn list_of(part: &Part<'_>, direction: Direction) -> Option<List> {
    let method = part.method().filter(|method| method.ends_with("/list"))?;
    let at = PAGED.iter().position(|paged| *paged == method)?;
    Some((direction, at))
}

fn string(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| value.kind() == Kind::String)
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
