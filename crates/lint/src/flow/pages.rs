//! Lists in pages: cursors that nobody issued, walks that come back to where they were, the empty
//! cursor.
//!
//! A cursor may be as long as a line, so only a hash of it is remembered, with that of the cursor
//! whose page named it: the way back from page to page.

use crate::section::PAGINATION;
use crate::{Findings, Part, Revisions, quote};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::bounded::digest;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Outcome, Response};

rules! {
    CURSOR_UNKNOWN = warning("page-cursor-unknown", "a cursor that no page of this list has named")
        .why("A cursor means something only to the server that issued it in this session, so that the page is another one than expected, or none.")
        .fix("Send a cursor exactly as the `nextCursor` of the page before, and begin without one.")
        .of(PAGINATION)
        .only(Revisions::LEGACY);

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
}

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
pub(super) struct Pages {
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
    pub(super) fn gap(&mut self) {
        self.is_incomplete = true;
    }

    pub(super) fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
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

    pub(super) fn finish(&mut self, findings: &mut Findings) {
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
        let Some(text) = text else {
            return;
        };
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
