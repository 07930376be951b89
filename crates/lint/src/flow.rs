//! Rules about what flows between requests and responses: progress, pages of lists, floods of
//! notifications.

use super::section::{PAGINATION, PROGRESS};
use crate::{Context, Family, ListRequest, Part, quote};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::keys;
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

    CURSOR_UNKNOWN = warning("page-cursor-unknown").of_legacy(PAGINATION).of_absence()
        .finds("a cursor that no page of this list has named")
        .why("A cursor means something only to the server that issued it in this session, so that the page is another one than expected, or none.")
        .fix("Send a cursor exactly as the `nextCursor` of the page before, and begin without one.");

    CURSOR_LOOP = warning("page-cursor-loop").of(PAGINATION)
        .finds("the next page is one that was already asked for on the way")
        .why("A client that follows `nextCursor` to the end never comes to an end.")
        .fix("Leave `nextCursor` out on the last page, and let each page name a later one.");

    FLOOD_NOTIFICATIONS = warning("flood-notifications").of(PROGRESS)
        .finds("more than 1000 notifications within a second")
        .why("The other side has to read every one of them before it sees the next response, so that calls time out behind the flood.")
        .fix("Limit the rate of progress and log messages, and put several into one.");
}

#[derive(Debug, Default)]
pub struct Flow {
    progress: Progress,
    pages: Pages,
    floods: [Flood; 2],
}

impl Family for Flow {
    fn part(&mut self, part: &Part<'_>) {
        self.progress.part(part);
        self.pages.part(part);
        if let Body::Notification(notification) = &part.message.body {
            let of_server = part.direction() == Direction::ServerToClient;
            if self.floods[usize::from(of_server)].begins_at(part.seen.head.t_last) {
                let who = if of_server { "server" } else { "client" };
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
            // The messages of a batch have no order.
            if part.seen.head.seq != *frame {
                let after = duration(part.seen.head.t_first.ns_since(*t));
                let detail = format!("{after} after the response");
                part.push(part.at(&AFTER_RESPONSE, detail).and(*frame));
            }
            return;
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

fn check_token(part: &Part<'_>, token: Option<Value<'_>>, path: &'static str) {
    let is_wrong = |token: &Value<'_>| !RequestId::from_value(*token).is_allowed();
    if let Some(token) = token.filter(is_wrong) {
        let (kind, text) = (token.kind().as_str(), quote::bytes(token.raw()));
        part.tell_at(&TOKEN_TYPE, path, format!("{kind}: {text}"));
    }
}

// Lists in pages: cursors that nobody issued, walks that come back to where they were.

/// Cursors that are remembered. Without a limit a client that walks lists all day would be kept in
/// memory; once one was forgotten no cursor is called unknown.
const ISSUED: usize = 4096;

/// Pages that are looked back for a loop. A longer loop is not noticed; without a limit each page of
/// a long walk would cost more than the one before.
const LOOKED_BACK: usize = 256;

/// A list: who asks for it, and by which method.
type List = (Direction, &'static str);

/// A digest of a cursor, which may be as long as a line, of a list.
type Cursor = (List, u64);

#[derive(Debug, Default)]
struct Pages {
    issued: BoundedMap<Cursor, Issued, ISSUED>,
    /// Whether a cursor may have been issued that was not seen.
    is_incomplete: bool,
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

impl Pages {
    fn part(&mut self, part: &Part<'_>) {
        let asked = part.request().and_then(|asked| asked.list);
        match (&part.message.body, asked) {
            (Body::Request(_), Some(asked)) => self.request(part, asked),
            (Body::Response(_), Some(asked)) => self.response(part, asked),
            _ => {}
        }
    }

    fn request(&mut self, part: &Part<'_>, asked: ListRequest) {
        let list = (part.direction(), asked.list.method);
        let Some(text) = string(part.param("cursor")) else {
            return;
        };
        if self.is_unknown(asked.cursor.map(|cursor| (list, cursor))) {
            part.tell_at(&CURSOR_UNKNOWN, "params.cursor", quote::bytes(text.raw()));
        }
    }

    fn response(&mut self, part: &Part<'_>, asked: ListRequest) {
        let list = (part.direction().reverse(), asked.list.method);
        let before = asked.cursor.map(|cursor| (list, cursor));
        let Some(result) = part.result() else {
            // Of this page only the outline was read, or it is none.
            self.is_incomplete |= part.error().is_none();
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
