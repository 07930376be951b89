//! The words of a row for the columns of the list.

use crate::theme::{Glyph, Role};
use mcpreel_lint::Severity;
use mcpreel_share::row::{RowView, Tone};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::item::{Item, ItemKind, What};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, width};

/// The words of a row, escaped.
#[derive(Clone, Debug)]
pub struct Cells {
    pub role: Role,
    /// The tool, else the method without `notifications/`, or the kind of a row that has none.
    pub name: String,
    /// Why it failed.
    pub reason: Option<String>,
    /// What it was asked, or what it says.
    pub about: String,
    /// Whether the end of the words says as much as their beginning.
    pub is_uri: bool,
    /// The progress of an open call.
    pub progress: Option<String>,
    pub size: Option<u64>,
    /// From request to answer, nanoseconds; without an answer for as long as it was waited for.
    pub latency_ns: Option<u64>,
    pub is_in_vain: bool,
    pub status: Option<(Glyph, Role, &'static str)>,
    pub finding: Option<Severity>,
}

impl Cells {
    /// The words of `item` at the moment `now`; `run`: how many such notifications the row stands
    /// for.
    pub fn of(item: &Item, run: u32, now: Moment) -> Self {
        let row = RowView::of_item(item);
        let exchange = match &item.what {
            What::Exchange(exchange) => Some(exchange),
            _ => None,
        };
        let is_http = matches!(item.what, What::Http(_));
        let has_status = exchange.is_some() || is_http || row.kind == ItemKind::Response;
        let (glyph, role) = sign(row.tone);
        let unanswered = exchange.filter(|_| row.latency_ns.is_none());
        let in_vain_ns = unanswered.and_then(|exchange| exchange.unanswered_ns(now));
        let open = exchange.filter(|exchange| exchange.status == Status::Open);
        let progress = open.and_then(|exchange| exchange.progress.as_deref());
        let reason = reason(item);
        let (name, about) = name_and_about(item, &row, reason.is_some());
        let times = if run > 1 {
            format!("×{run}  ")
        } else {
            String::new()
        };
        let waited = exchange.map_or_else(String::new, |exchange| waited(exchange));
        Self {
            role: self::role(item),
            name,
            reason,
            about: format!("{times}{}{about}{waited}", row.aside()),
            is_uri: row.is_uri(),
            progress: progress.map(|progress| escape(progress).into_owned()),
            size: row.size,
            latency_ns: row.latency_ns.or(in_vain_ns),
            is_in_vain: in_vain_ns.is_some(),
            status: has_status.then_some((glyph, role, row.status)),
            finding: row.finding,
        }
    }
}

/// The name of a row, and what it was asked or says. Of a tool its name says more than the method, which
/// all calls have in common.
fn name_and_about(item: &Item, row: &RowView<'_>, has_reason: bool) -> (String, String) {
    let method = match (row.method, row.kind) {
        (Some(method), _) => short(method),
        (None, ItemKind::Stderr | ItemKind::Event | ItemKind::Http) => row.status,
        (None, ItemKind::Other) => "not JSON-RPC",
        (None, _) => &orphan(item),
    };
    let failed = item.exchange().filter(|_| has_reason);
    let summary = failed.map_or(&*row.summary, Exchange::asked);
    let about = about(summary, row.method);
    let tool = match row.kind {
        ItemKind::Response => item
            .exchange()
            .and_then(|it| Some((it.name.as_deref()?, about))),
        _ => row
            .name
            .and_then(|name| Some((name, about.strip_prefix(name)?))),
    };
    let tool = tool.filter(|_| row.method == Some("tools/call"));
    let (name, about) = tool.unwrap_or((method, about));
    (escape(name).into(), escape(about.trim_start()).into())
}

/// `  (after 250 ms waiting for the client)`; nothing where the server has not waited.
fn waited(exchange: &Exchange) -> String {
    if exchange.waited_ns == 0 {
        return String::new();
    }
    let when = if exchange.is_retry() { "after " } else { "" };
    let waited = duration(exchange.waited_ns);
    format!("  ({when}{waited} waiting for the client)")
}

/// The name of an answer that fits no request.
fn orphan(item: &Item) -> String {
    let What::Message { record, .. } = &item.what else {
        return String::new();
    };
    let is_unknown = item
        .findings
        .iter()
        .any(|one| &*one.rule == "response-unknown-id");
    let what = if is_unknown {
        "unknown id"
    } else {
        "answer to id"
    };
    let id = record.rpc_id.as_ref().map_or("null", |id| id.json());
    format!("{what} {id}")
}

/// Why the call of a row failed, escaped.
fn reason(item: &Item) -> Option<String> {
    let What::Exchange(exchange) = &item.what else {
        return None;
    };
    let told = exchange.answered().filter(|_| exchange.has_failed())?;
    let told = told.strip_prefix("tool error: ").unwrap_or(told);
    Some(escape(told).into_owned())
}

/// A reason in so many columns. What comes before the first value in it is cut so far that the value is
/// seen, where nothing of it would be: many reasons begin alike.
pub fn told(reason: &str, columns: usize) -> String {
    let is_of_value = |letter: char| letter.is_ascii_digit() || "/\"`".contains(letter);
    let value = reason.find(is_of_value).unwrap_or(reason.len());
    let word = reason[..value].rfind(' ').map_or(0, |at| at + 1);
    let (begin, rest) = reason.split_at(if value < reason.len() { word } else { value });
    let least = columns / 3;
    if width(reason) <= columns || width(begin) + VALUE <= columns || least < VALUE / 2 {
        return reason.to_owned();
    }
    let value = rest.split(' ').next().unwrap_or_default();
    let room = columns.saturating_sub(width(value) + 1).max(least);
    format!("{}{rest}", cut(begin, room))
}

/// Columns of a value from which on it is told from others.
const VALUE: usize = 8;

/// The colour of a row.
fn role(item: &Item) -> Role {
    let is_slow = |exchange: &Exchange| exchange.latency_ns() > Some(DEFAULT_SLOW_NS);
    // Progress and log messages belong to a call, and have not failed with it.
    let is_call = matches!(item.kind(), ItemKind::Request | ItemKind::Response);
    match (item.kind(), item.exchange().filter(|_| is_call)) {
        (_, Some(exchange)) if exchange.has_failed() => Role::Bad,
        (_, Some(exchange)) if exchange.status == Status::Open => Role::Open,
        (_, Some(exchange)) if is_slow(exchange) => Role::Warn,
        (ItemKind::Request, _) if item.direction() == Some(Direction::ServerToClient) => {
            Role::FromServer
        }
        (ItemKind::Request | ItemKind::Response, _) => Role::Text,
        (ItemKind::Notification, _) => Role::Notification,
        (ItemKind::Stderr, _) => Role::Stderr,
        (ItemKind::Event | ItemKind::Http, _) => Role::Event,
        (ItemKind::Other, _) => Role::Warn,
    }
}

/// A summary without the method, which has a column of its own, and without the arrow before an
/// outcome with nothing in front.
fn about<'s>(summary: &'s str, method: Option<&str>) -> &'s str {
    let strip = |method| summary.strip_prefix(method);
    let rest = method.and_then(|method| strip(method).or_else(|| strip(short(method))));
    let rest = rest.unwrap_or(summary).trim_start();
    rest.strip_prefix("→ ").unwrap_or(rest)
}

fn short(method: &str) -> &str {
    method.strip_prefix("notifications/").unwrap_or(method)
}

/// The sign and colour of the status of an exchange.
pub fn sign(tone: Tone) -> (Glyph, Role) {
    match tone {
        Tone::Bad => (Glyph::Failed, Role::Bad),
        Tone::Open => (Glyph::Running, Role::Open),
        Tone::Warn => (Glyph::Warning, Role::Warn),
        Tone::Plain | Tone::Faint => (Glyph::Ok, Role::Good),
    }
}
