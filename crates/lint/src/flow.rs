//! Rules about what flows between requests and responses: progress, the cancel of a task, pages of
//! lists, floods of notifications.

use super::section::{CANCELLATION, PAGINATION, PROGRESS};
use crate::{Context, Family, Findings, ListRequest, Part, Revisions, quote};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::{Revision, keys};
use mcpreel_wire::message::{Body, Direction, Outcome, Response, Subject};
use mcpreel_wire::text::duration;

rules! {
    NOT_INCREASING = error("progress-not-increasing").of(PROGRESS)
        .finds("progress that is not more than before")
        .why("A host that draws a progress bar, or that waits for as long as there is progress, sees work that stands still or runs backwards.")
        .fix("Count up with every progress notification of a request, also where the total is not known.");

    AFTER_RESPONSE = error("progress-after-response").of(PROGRESS)
        .finds("progress for a request that was already answered")
        .why("The client has forgotten the token by then, and some clients report an error for a token that they do not know.")
        .fix("Send the last progress before the response, and wait until it is written.");

    TOKEN_TYPE = error("progress-token-type").of(PROGRESS)
        .finds("a progress token that is neither a string nor an integer")
        .why("The other side may refuse the whole message, or never match the progress to its request.")
        .fix("Use a string or an integer as the progress token, for example the id of the request.");

    CANCEL_TASK_REQUEST = error("cancel-task-request").of(CANCELLATION)
        .only(Revisions::between(Revision::V2025_11_25, Revision::V2025_11_25))
        .finds("a request that asks for a task is cancelled like one that does not")
        .why("The task goes on and keeps its result, because only `tasks/cancel` ends a task.")
        .fix("Send `tasks/cancel` with the id of the task instead of `notifications/cancelled`.");

    CURSOR_UNKNOWN = warning("page-cursor-unknown").of_legacy(PAGINATION).of_absence()
        .finds("a cursor that no page of this list has named")
        .why("A cursor means something only to the server that issued it in this session, so that the page is another one than expected, or none.")
        .fix("Send a cursor exactly as the `nextCursor` of the page before, and begin without one.");

    CURSOR_LOOP = warning("page-cursor-loop").of(PAGINATION)
        .finds("the next page is one that was already asked for on the way")
        .why("A client that follows `nextCursor` to the end never comes to an end.")
        .fix("Leave `nextCursor` out on the last page, and let each page name a later one.");

    EMPTY_CURSOR_IGNORED = note("page-empty-cursor-ignored").of_modern(PAGINATION).at_end()
        .finds("the client did not ask for the page after an empty `nextCursor`")
        .why("An empty cursor is a cursor like any other, so that the client may lack a part of the list.")
        .fix("Let the client end only where `nextCursor` is missing, and let the server not name an empty one.");

    INVALID_CURSOR_CODE = warning("page-invalid-cursor-code").of(PAGINATION)
        .finds("a cursor that was never issued is refused with another code than -32602")
        .why("The client cannot tell that it has to begin again without a cursor from a server that failed.")
        .fix("Answer a cursor that cannot be read with -32602 (Invalid params).");

    FLOOD_NOTIFICATIONS = warning("flood-notifications").of(PROGRESS)
        .finds("more than 1000 notifications within a second")
        .why("The other side has to read every one of them before it sees the next response, so that calls time out behind the flood.")
        .fix("Limit the rate of progress and log messages, and put several into one.");
}

#[derive(Debug, Default)]
pub struct Flow {
    progress: Progress,
    tasks: Tasks,
    pages: Pages,
    flood_of_client: Flood,
    flood_of_server: Flood,
}

impl Family for Flow {
    fn part(&mut self, part: &Part<'_>) {
        self.progress.part(part);
        self.tasks.part(part);
        self.pages.part(part);
        if let Body::Notification(notification) = &part.message.body {
            let (flood, who) = match part.direction() {
                Direction::ClientToServer => (&mut self.flood_of_client, "client"),
                Direction::ServerToClient => (&mut self.flood_of_server, "server"),
            };
            if flood.begins_at(part.seen.head.t_last) {
                let method = quote::text(&notification.method);
                let detail = format!("from the {who}, the last one {method}");
                part.tell(&FLOOD_NOTIFICATIONS, detail);
            }
        }
    }

    fn event(&mut self, event: &Event, _: &Context<'_>) {
        // The bytes that are missing may have held a page.
        self.pages.is_incomplete |= matches!(event.kind, EventKind::Gap { .. });
    }

    fn finish(&mut self, _: &[Observation], context: &Context<'_>) {
        self.pages.finish(context.findings);
    }
}

/// Notifications of one side within a second that are no flood.
const MOST: u32 = 1000;

/// Fewer than so many within a second are the end of a flood.
const CALM: u32 = 500;

const SECOND_NS: u64 = 1_000_000_000;

/// Whether one side floods the other with notifications.
#[derive(Debug, Default)]
struct Flood {
    second: u64,
    /// The notifications of that second.
    count: u32,
    goes_on: bool,
}

impl Flood {
    /// Takes one more in; whether a flood has begun with it.
    fn begins_at(&mut self, t: Moment) -> bool {
        let second = t.0 / SECOND_NS;
        if second != self.second {
            self.goes_on &= self.count >= CALM && second == self.second + 1;
            (self.second, self.count) = (second, 0);
        }
        self.count += 1;
        self.count > MOST && !std::mem::replace(&mut self.goes_on, true)
    }
}

/// Requests that are remembered after a task has answered them. Without a limit a client that asks
/// for nothing but tasks would be kept in memory; what was forgotten is not judged.
const REMEMBERED: usize = 1024;

/// The requests that were answered by a task, with the frame that says so: they are cancelled by
/// `tasks/cancel`.
#[derive(Debug, Default)]
struct Tasks(BoundedMap<ExchangeId, Seq, REMEMBERED>);

impl Tasks {
    fn part(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let asked = part.request().filter(|asked| asked.task);
        match &part.message.body {
            Body::Response(response)
                if asked.is_some() && matches!(response.outcome, Outcome::Task { .. }) =>
            {
                self.0.insert(exchange, part.seen.head.seq);
            }
            Body::Notification(it) if matches!(it.subject, Subject::Cancelled { .. }) => {
                if let Some(answer) = self.0.get(&exchange) {
                    let finding = part.at(&CANCEL_TASK_REQUEST, "its task goes on");
                    part.push(finding.and(*answer));
                }
            }
            _ => {}
        }
    }
}

/// Requests whose progress is remembered. Without a limit a server that reports progress for many
/// would be kept in memory; of those that were forgotten nothing is said.
const TOKENS: usize = 2048;

/// Progress: its tokens, its values, and when it comes.
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
    value: f64,
}

impl Progress {
    fn part(&mut self, part: &Part<'_>) {
        match &part.message.body {
            Body::Request(_) => {
                let token = part
                    .param("_meta")
                    .and_then(|meta| meta.get(keys::PROGRESS_TOKEN));
                check_token(part, token, "params._meta.progressToken");
            }
            Body::Response(response) => self.response(part, response),
            Body::Notification(notification) => {
                if let Subject::Progress {
                    token, progress, ..
                } = &notification.subject
                {
                    check_token(part, part.param("progressToken"), "params.progressToken");
                    if token.is_some() {
                        self.progress(part, progress.as_deref());
                    }
                }
            }
            Body::Invalid => {}
        }
    }

    fn response(&mut self, part: &Part<'_>, response: &Response) {
        let Some((exchange, asked)) = part.exchange().zip(part.request()) else {
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

    fn progress(&mut self, part: &Part<'_>, value: Option<&str>) {
        // Without an exchange the token is unknown, which another rule says.
        let Some(exchange) = part.exchange() else {
            return;
        };
        if let Some((t, frame)) = self.answered.get(&exchange) {
            return after_response(part, *t, *frame);
        }
        let latest = self.latest.remove(&exchange);
        // As peers read numbers, most of which know no others.
        let Some(value) = value.and_then(|value| value.parse::<f64>().ok()) else {
            return;
        };
        if let Some(latest) = latest.filter(|latest| value <= latest.value) {
            let detail = format!("{value} after {}", latest.value);
            let finding = part.at(&NOT_INCREASING, detail).and(latest.frame);
            part.push(finding.path("params.progress"));
        }
        let latest = Latest {
            frame: part.seen.head.seq,
            value,
        };
        self.latest.insert(exchange, latest);
    }
}

fn after_response(part: &Part<'_>, t: Moment, frame: Seq) {
    let after = duration(part.seen.head.t_first.ns_since(t));
    let detail = format!("{after} after the response");
    // The messages of a batch have no order.
    if part.seen.head.seq != frame {
        part.push(part.at(&AFTER_RESPONSE, detail).and(frame));
    }
}

fn check_token(part: &Part<'_>, token: Option<Value<'_>>, path: &'static str) {
    let is_wrong = |token: &Value<'_>| !RequestId::from_value(*token).is_allowed();
    if let Some(token) = token.filter(is_wrong) {
        let (kind, text) = (token.kind().as_str(), quote::bytes(token.raw()));
        part.tell_at(&TOKEN_TYPE, path, format!("{kind}: {text}"));
    }
}

// Lists in pages: cursors that nobody issued, walks that come back to where they were, the empty
// cursor.

/// Cursors that are remembered. Without a limit a client that walks lists all day would be kept in
/// memory; once one was forgotten no cursor is called unknown.
const ISSUED: usize = 4096;

/// Pages that are looked back for a loop. A longer loop is not noticed; without a limit each page of
/// a long walk would cost more than the one before.
const LOOKED_BACK: usize = 256;

/// Codes that say something about the request as a whole, before its cursor was looked at.
const BEFORE_THE_CURSOR: [&str; 6] = ["-32700", "-32600", "-32601", "-32020", "-32021", "-32022"];

/// A list: who asks for it, and by which method.
type List = (Direction, &'static str);

/// A digest of a cursor, which may be as long as a line, of a list.
type Cursor = (List, u64);

#[derive(Debug, Default)]
struct Pages {
    issued: BoundedMap<Cursor, Issued, ISSUED>,
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
    fn part(&mut self, part: &Part<'_>) {
        let asked = part.request().and_then(|asked| asked.list);
        match (&part.message.body, asked) {
            (Body::Request(_), asked) => {
                for empty in &mut self.empty {
                    empty.went_on |= empty.list.0 == part.direction();
                }
                if let Some(asked) = asked {
                    self.request(part, asked);
                }
            }
            (Body::Response(response), Some(asked)) => self.response(part, asked, response),
            _ => {}
        }
    }

    fn finish(&mut self, findings: &Findings) {
        let ignored = self.empty.drain(..).filter(|empty| empty.went_on);
        findings.extend(ignored.map(|empty| {
            let finding = EMPTY_CURSOR_IGNORED.at(empty.frame, "nextCursor is \"\"");
            finding.about(empty.exchange).path("result.nextCursor")
        }));
    }

    fn request(&mut self, part: &Part<'_>, asked: ListRequest) {
        let list = (part.direction(), asked.list.method);
        let Some(text) = string(part.param("cursor")) else {
            return;
        };
        if text.string_bytes() == Some(b"") {
            self.empty.retain(|empty| empty.list != list);
        }
        if self.is_unknown(asked.cursor.map(|cursor| (list, cursor))) {
            part.tell_at(&CURSOR_UNKNOWN, "params.cursor", quote::bytes(text.raw()));
        }
    }

    fn response(&mut self, part: &Part<'_>, asked: ListRequest, response: &Response) {
        let list = (part.direction().reverse(), asked.list.method);
        let before = asked.cursor.map(|cursor| (list, cursor));
        if let Outcome::Error { code, .. } = &response.outcome {
            let code = code.as_deref().unwrap_or("missing");
            let is_about_cursor = !BEFORE_THE_CURSOR.contains(&code);
            if self.is_unknown(before) && is_about_cursor && code != "-32602" {
                let detail = format!("code {}", quote::text(code));
                part.tell_at(&INVALID_CURSOR_CODE, "error.code", detail);
            }
            return;
        }
        let Some(result) = part.result() else {
            // Of this page only the outline was read.
            self.is_incomplete = true;
            return;
        };
        let Some(next) = string(result.get("nextCursor")) else {
            return;
        };
        let cursor = (list, digest(next.str_bytes()));
        if let Some(seen) = self.leads_back(before, cursor) {
            if !std::mem::replace(&mut seen.is_loop, true) {
                let finding = part.at(&CURSOR_LOOP, quote::bytes(next.raw()));
                part.push(finding.path("result.nextCursor").and(seen.frame));
            }
            return;
        }
        let issued = Issued {
            before,
            frame: part.seen.head.seq,
            is_loop: self.issued.get(&cursor).is_some_and(|seen| seen.is_loop),
        };
        self.issued.insert(cursor, issued);
        if next.string_bytes() == Some(b"") && part.revision() >= Revision::V2026_07_28 {
            self.empty.retain(|empty| empty.list != list);
            self.empty.push(Empty {
                list,
                frame: part.seen.head.seq,
                exchange: part.exchange(),
                went_on: false,
            });
        }
    }

    /// The cursor, if the page that was asked for by `before` was come to by way of it.
    fn leads_back(&mut self, before: Option<Cursor>, cursor: Cursor) -> Option<&mut Issued> {
        let mut at = before;
        for _ in 0..LOOKED_BACK {
            if at? == cursor {
                return self.issued.get_mut(&cursor);
            }
            at = self.issued.get(&at?)?.before;
        }
        None
    }

    fn is_unknown(&self, cursor: Option<Cursor>) -> bool {
        let may_be_issued = self.is_incomplete || self.issued.has_forgotten();
        !may_be_issued && cursor.is_some_and(|cursor| !self.issued.contains(&cursor))
    }
}

fn string(value: Option<Value<'_>>) -> Option<Value<'_>> {
    value.filter(|value| value.kind() == Kind::String)
}
