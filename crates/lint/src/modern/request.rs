//! What every request and result of the modern era must carry, log messages, caching hints.

use super::path;
use super::subscriptions::is_list;
use crate::{Finding, Findings, Once, Part, Revisions, Severity, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Number, Value};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::levels::LEVELS;
use mcpreel_wire::mcp::methods::TASKS_EXTENSION;
use mcpreel_wire::message::{Body, Era, Subject};

rules! {
    META_MISSING = error("modern-meta-missing",
        "a request does not say its version, or what the client can do")
        .why("A modern server knows nothing from earlier requests, and must refuse one that does not say this itself.")
        .fix("Let the client put the member that is named into `_meta` of every request.")
        .of(section::META)
        .only(Revisions::MODERN);

    CLIENT_INFO_MISSING = note("modern-client-info-missing",
        "a request does not say which client sends it")
        .why("Logs of the server cannot tell which client has asked.")
        .fix("Let the client put its name and version into `_meta` of every request, unless it is meant to stay unknown.")
        .of(section::META)
        .only(Revisions::MODERN);

    SERVER_INFO_MISSING = note("modern-server-info-missing",
        "a result does not say which server sends it")
        .why("Logs of the client cannot tell which server, or which version of it, has answered.")
        .fix("Let the server put its name and version into `_meta` of every result, unless it is meant to stay unknown.")
        .of(section::META)
        .only(Revisions::MODERN);

    TYPE_MISSING = error("modern-result-type-missing", "a result without `resultType`")
        .why("Without it a client cannot tell a final answer from a question, and takes it for the answer of an older server.")
        .fix("Let the server set `resultType`, `complete` for a final answer, in every result.")
        .of(section::RESULT_TYPE)
        .only(Revisions::MODERN)
        .milder_where(Severity::Warning, "the server has not shown that it knows the modern era");

    TYPE_UNKNOWN = error("modern-result-type-unknown",
        "a result of a type that the client cannot know")
        .why("Clients must treat a result of a type that they do not know as invalid, so the call fails.")
        .fix("Let the server answer with `complete` or `input_required`, and with others only where the request declares the extension that defines them.")
        .of(section::RESULT_TYPE)
        .only(Revisions::MODERN);

    MISSING = error("cache-hints-missing", "a cacheable result without `ttlMs` or `cacheScope`")
        .why("Clients have to ask again every time, or guess how long the answer holds and who may see it.")
        .fix("Let the server set `ttlMs`, 0 if the answer may change at any time, and `cacheScope`, `private` if in doubt.")
        .of(section::CACHING)
        .only(Revisions::MODERN);

    INVALID = error("cache-hints-invalid",
        "an invalid cache hint, or one that differs between pages")
        .why("Clients may drop the result, keep it for too long, or show it to somebody who must not see it.")
        .fix("Let the server set `ttlMs` to a whole number of milliseconds from 0 on, and `cacheScope` to `public` or `private`, the same on all pages of a list.")
        .of(section::CACHING)
        .only(Revisions::MODERN);

    NOT_REQUESTED = error("log-not-requested",
        "a log message although no open request asks for any")
        .why("Modern clients say with each request whether they want its log messages, and drop those that they did not ask for.")
        .fix("Let the server log to the client only while it works on a request with a log level, and to stderr otherwise.")
        .of(section::LOGGING)
        .only(Revisions::MODERN)
        .milder_where(Severity::Warning, "the last request that asked for some was answered less than a second before")
        .of_absence();

    BELOW_LEVEL = warning("log-below-level", "a log message below the level that was asked for")
        .why("The client has asked for less, and may be slowed down by messages that it throws away.")
        .fix("Let the server compare the level of a message with the one that was asked for before it sends it.")
        .of(section::LOGGING);
}

/// A request of the client by the modern revision.
pub(super) fn asked(part: &Part<'_>, once: &mut Once, findings: &mut Findings) {
    if part.value.is_none() {
        return;
    }
    let meta = part.param("_meta");
    let member = |key: &str| meta.and_then(|meta| meta.get(key));
    let has_version = member(keys::PROTOCOL_VERSION).is_some_and(|it| it.as_str().is_some());
    let has_capabilities = member(keys::CLIENT_CAPABILITIES).is_some_and(|it| it.is_object());
    let required = [
        (keys::PROTOCOL_VERSION, has_version),
        (keys::CLIENT_CAPABILITIES, has_capabilities),
    ];
    for (key, _) in required.iter().filter(|(_, has_it)| !has_it) {
        let detail = match member(key) {
            None => format!("no {key}"),
            Some(value) => format!("{key} is {}", value.kind().as_str()),
        };
        let finding = part.at(&META_MISSING, detail);
        findings.push(finding.path(path(&["params", "_meta", key])));
    }
    let is_named = member(keys::CLIENT_INFO).is_some_and(|info: Value<'_>| info.is_object());
    if !is_named && once.is_first(&CLIENT_INFO_MISSING) {
        let detail = format!("no {}", keys::CLIENT_INFO);
        findings.push(part.at(&CLIENT_INFO_MISSING, detail));
    }
}

// What every result must carry.

pub(super) fn answered(
    part: &Part<'_>,
    result: Value<'_>,
    is_proven: bool,
    once: &mut Once,
    findings: &mut Findings,
) {
    match result.get("resultType") {
        None => findings.push(type_missing(part, is_proven)),
        Some(kind) => type_known(part, kind, findings),
    }
    let info = result
        .get("_meta")
        .and_then(|meta| meta.get(keys::SERVER_INFO));
    if is_proven && info.is_none() && once.is_first(&SERVER_INFO_MISSING) {
        let detail = format!("no {}", keys::SERVER_INFO);
        findings.push(part.at(&SERVER_INFO_MISSING, detail));
    }
}

fn type_missing(part: &Part<'_>, is_proven: bool) -> Finding {
    let method = quote::text(part.method().unwrap_or_default());
    if is_proven {
        return part.at(&TYPE_MISSING, format!("result of {method}"));
    }
    let detail = format!("result of {method}; the server may be of the legacy era");
    part.at(&TYPE_MISSING, detail).as_bad_as(Severity::Warning)
}

fn type_known(part: &Part<'_>, kind: Value<'_>, findings: &mut Findings) {
    if kind.is_str("complete") || kind.is_str("input_required") {
        return;
    }
    let declared = part.client_capabilities();
    let is_declared = declared.has(&format!("extensions.{TASKS_EXTENSION}"));
    let shown = quote::text(&kind.raw_text());
    let is_unclear = !is_declared && !declared.is_whole();
    let detail = if kind.is_str("task") && is_unclear {
        return;
    } else if kind.is_str("task") {
        match (is_declared, part.method()) {
            (true, Some("tools/call")) => return,
            (true, method) => format!("{shown} for {}", quote::text(method.unwrap_or_default())),
            (false, _) => format!("{shown}, but the request does not declare {TASKS_EXTENSION}"),
        }
    } else if kind.as_str().is_some() && declared.has_unknown_extensions() {
        return;
    } else {
        shown
    };
    let finding = part.at(&TYPE_UNKNOWN, detail);
    findings.push(finding.path("result.resultType"));
}

// Log messages: whether somebody wants them, and from which level on. The level is that of
// `logging/setLevel` in the legacy era, and of the request itself in the modern one.

/// Requests with a level that are remembered. Beyond it nothing is said about log messages.
const OPEN: usize = 1024;

/// Messages of a request may come a little after its answer, this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

/// What the client wants to be told.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// Of the handshake's session, once the server has agreed to it.
    set: Option<usize>,
    /// Open requests with a level of their own, or that set one.
    open: BoundedMap<ExchangeId, usize, OPEN>,
    /// When the last of them was answered.
    last: Option<Moment>,
}

fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

impl Levels {
    /// A request of the client, of any era.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let level = match part.era() {
            Era::Legacy if part.method() == Some("logging/setLevel") => part.param("level"),
            Era::Legacy => return,
            // What was read by its outline only may ask for everything.
            Era::Modern if part.value.is_none() => {
                self.open.insert(exchange, 0);
                return;
            }
            Era::Modern => part
                .param("_meta")
                .and_then(|meta| meta.get(keys::LOG_LEVEL)),
        };
        if let Some(level) = level {
            let level = level.as_str().and_then(|level| rank(&level));
            self.open.insert(exchange, level.unwrap_or(0));
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>) {
        let asked = part.exchange().and_then(|id| self.open.remove(&id));
        let Some(level) = asked else { return };
        match part.era() {
            Era::Legacy if part.result().is_some() => self.set = Some(level),
            Era::Legacy => {}
            Era::Modern => self.last = Some(part.seen.head.t_last),
        }
    }

    /// A notification of the server: it may be a log message.
    pub(super) fn notification(&self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let Subject::Log { level, .. } = &notification.subject else {
            return;
        };
        if self.open.has_forgotten() {
            return;
        }
        let is_modern = part.seen.known.is_modern();
        let wanted = self.open.iter().map(|(_, level)| *level).min();
        let wanted = match (is_modern, wanted) {
            (true, None) => return findings.push(self.unwanted(part)),
            (true, wanted) => wanted,
            (false, pending) => self.set.map(|set| set.min(pending.unwrap_or(set))),
        };
        let Some(level) = level.as_deref() else {
            return;
        };
        if let (Some(rank), Some(wanted)) = (rank(level), wanted)
            && rank < wanted
        {
            let detail = format!("{level}, asked for {} and above", LEVELS[wanted]);
            findings.push(part.at(&BELOW_LEVEL, detail).path("params.level"));
        }
    }

    fn unwanted(&self, part: &Part<'_>) -> Finding {
        let since_ns = self
            .last
            .map(|t| part.seen.head.t_last.0.saturating_sub(t.0));
        let severity = match since_ns {
            Some(ns) if ns < GRACE_NS => Severity::Warning,
            _ => Severity::Error,
        };
        let finding = part.at(&NOT_REQUESTED, quote::text(&part.line()));
        finding.as_bad_as(severity)
    }
}

// What clients may keep: the hints of cacheable results.

/// Pages and requests for them that are remembered. Beyond it the oldest are no longer compared.
const PAGES: usize = 1024;

/// The scopes of pages, by the method and the cursor that leads to the next page.
#[derive(Debug, Default)]
pub(super) struct Pages {
    asked: BoundedMap<ExchangeId, u64, PAGES>,
    scopes: BoundedMap<u64, (Scope, Seq), PAGES>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Public,
    Private,
}

impl Scope {
    fn of(value: Value<'_>) -> Option<Self> {
        let all = [("public", Self::Public), ("private", Self::Private)];
        let found = all.into_iter().find(|(name, _)| value.is_str(name));
        found.map(|(_, scope)| scope)
    }
}

fn is_cacheable(method: &str) -> bool {
    matches!(method, "server/discover" | "resources/read") || is_list(method)
}

impl Pages {
    /// A request of the client: it may be for a later page.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| is_list(it)) else {
            return;
        };
        if let Some(cursor) = part.param("cursor")
            && let Some(exchange) = part.exchange()
        {
            let page = digest((method, cursor.str_bytes()));
            self.asked.insert(exchange, page);
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>, findings: &mut Findings) {
        let Some(method) = part.method().filter(|it| is_cacheable(it)) else {
            return;
        };
        let kind = result.get("resultType");
        if kind.is_some_and(|kind| !kind.is_str("complete")) {
            return;
        }
        let (ttl, scope) = (result.get("ttlMs"), result.get("cacheScope"));
        for (name, value, is_valid) in [
            ("ttlMs", ttl, ttl.is_some_and(is_time)),
            ("cacheScope", scope, scope.and_then(Scope::of).is_some()),
        ] {
            let finding = match value {
                None => part.at(&MISSING, format!("no {name}")),
                Some(value) if !is_valid => part.at(
                    &INVALID,
                    format!("{name} {}", quote::text(&value.raw_text())),
                ),
                Some(_) => continue,
            };
            findings.push(finding.path(format!("result.{name}")));
        }
        if let Some(scope) = scope.and_then(Scope::of) {
            self.page(part, method, result, scope, findings);
        }
    }

    /// Compares the scope of a page with that of the page before.
    fn page(
        &mut self,
        part: &Part<'_>,
        method: &str,
        result: Value<'_>,
        scope: Scope,
        findings: &mut Findings,
    ) {
        let asked = part.exchange().and_then(|id| self.asked.remove(&id));
        let before = asked.and_then(|page| self.scopes.get(&page));
        if let Some((other, frame)) = before
            && *other != scope
        {
            let detail = "cacheScope differs from that of the page before";
            let finding = part.at(&INVALID, detail).and(*frame);
            findings.push(finding.path("result.cacheScope"));
        }
        if let Some(next) = result.get("nextCursor") {
            let page = digest((method, next.str_bytes()));
            self.scopes.insert(page, (scope, part.seen.head.seq));
        }
    }
}

/// Whether it is a whole number that is not negative.
fn is_time(value: Value<'_>) -> bool {
    let is_negative = value
        .number_text()
        .is_some_and(|text| text.starts_with('-'));
    let number = value.number();
    let is_zero = number.as_ref().and_then(Number::to_i64) == Some(0);
    number.is_some_and(|number| number.is_integer()) && (!is_negative || is_zero)
}
