//! Required members of requests and results of the modern era, log messages, caching hints.

use super::path;
use crate::{Once, Part, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;
use mcpreel_wire::mcp::levels::LEVELS;
use mcpreel_wire::mcp::methods::{self, TASKS_EXTENSION};
use mcpreel_wire::message::{Body, Era, Subject};

rules! {
    META_MISSING = error("modern-meta-missing").of_modern(section::META)
        .finds("a request does not say its version, or what the client can do")
        .why("A modern server knows nothing from earlier requests, and must refuse one that does not say this itself.")
        .fix("Let the client put the member that is named into `_meta` of every request.");

    CLIENT_INFO_MISSING = note("modern-client-info-missing").of_modern(section::META)
        .finds("a request does not say which client sends it")
        .why("Logs of the server cannot tell which client has asked.")
        .fix("Let the client put its name and version into `_meta` of every request, unless it is meant to stay unknown.");

    SERVER_INFO_MISSING = note("modern-server-info-missing").of_modern(section::META)
        .finds("a result does not say which server sends it")
        .why("Logs of the client cannot tell which server, or which version of it, has answered.")
        .fix("Let the server put its name and version into `_meta` of every result, unless it is meant to stay unknown.");

    TYPE_MISSING = error("modern-result-type-missing").of_modern(section::RESULT_TYPE)
        .finds("a result without `resultType`")
        .why("Without it a client cannot tell a final answer from a question, and takes it for the answer of an older server.")
        .fix("Let the server set `resultType`, `complete` for a final answer, in every result.");

    TYPE_UNKNOWN = error("modern-result-type-unknown").of_modern(section::RESULT_TYPE)
        .finds("a result of a type that the client cannot know")
        .why("Clients must treat a result of a type that they do not know as invalid, so the call fails.")
        .fix("Let the server answer with `complete` or `input_required`, and with others only where the request declares the extension that defines them.");

    MISSING = error("cache-hints-missing").of_modern(section::CACHING)
        .finds("a cacheable result without `ttlMs` or `cacheScope`")
        .why("Clients have to ask again every time, or guess how long the answer holds and who may see it.")
        .fix("Let the server set `ttlMs`, 0 if the answer may change at any time, and `cacheScope`, `private` if in doubt.");

    INVALID = error("cache-hints-invalid").of_modern(section::CACHING)
        .finds("an invalid cache hint")
        .why("Clients may drop the result, keep it for too long, or show it to the wrong user.")
        .fix("Let the server set `ttlMs` to a whole number of milliseconds from 0 on, and `cacheScope` to `public` or `private`, the same for all pages of a list.");

    NOT_REQUESTED = error("log-not-requested").of_modern(section::LOGGING)
        .of_absence()
        .finds("a log message although no open request asks for any")
        .why("Modern clients say with each request whether they want its log messages, and drop those that they did not ask for.")
        .fix("Let the server log to the client only while it works on a request with a log level, and to stderr otherwise.");

    BELOW_LEVEL = warning("log-below-level").of(section::LOGGING)
        .finds("a log message below the level that was asked for")
        .why("The client has asked for less, and may be slowed down by messages that it throws away.")
        .fix("Let the server compare the level of a message with the one that was asked for before it sends it.");
}

/// A request of the client by the modern revision.
pub(super) fn asked(part: &Part<'_>, once: &mut Once) {
    if part.value.is_none() {
        return;
    }
    let meta = part.param("_meta");
    let member = |key: &str| meta.and_then(|meta| meta.get(key));
    let has_version = member(keys::PROTOCOL_VERSION).is_some_and(|it| it.as_str().is_some());
    let has_capabilities = member(keys::CLIENT_CAPABILITIES).is_some_and(|it| it.is_object());
    for (key, has_it) in [
        (keys::PROTOCOL_VERSION, has_version),
        (keys::CLIENT_CAPABILITIES, has_capabilities),
    ] {
        let detail = match member(key) {
            _ if has_it => continue,
            None => format!("no {key}"),
            Some(value) => format!("{key} is {}", value.kind().as_str()),
        };
        part.tell_at(&META_MISSING, path(&["params", "_meta", key]), detail);
    }
    let is_named = member(keys::CLIENT_INFO).is_some_and(|info| info.is_object());
    if !is_named && once.is_first(&CLIENT_INFO_MISSING) {
        part.tell(&CLIENT_INFO_MISSING, format!("no {}", keys::CLIENT_INFO));
    }
}

/// Tells what a result lacks that every result must have.
pub(super) fn answered(part: &Part<'_>, result: Value<'_>, is_proven: bool, once: &mut Once) {
    match result.get("resultType") {
        None if is_proven => {
            let method = quote::text(part.method().unwrap_or_default());
            part.tell(&TYPE_MISSING, format!("result of {method}"));
        }
        None => {}
        Some(kind) => known_type(part, kind),
    }
    let meta = result.get("_meta");
    let is_named = meta.is_some_and(|meta| meta.get(keys::SERVER_INFO).is_some());
    if is_proven && !is_named && once.is_first(&SERVER_INFO_MISSING) {
        part.tell(&SERVER_INFO_MISSING, format!("no {}", keys::SERVER_INFO));
    }
}

fn known_type(part: &Part<'_>, kind: Value<'_>) {
    let declared = part.client_capabilities();
    let has_tasks = declared.has(&format!("extensions.{TASKS_EXTENSION}"));
    let shown = quote::text(&kind.raw_text());
    let detail = match kind.as_str().as_deref() {
        Some("complete" | "input_required") => return,
        Some("task") if has_tasks => match part.method() {
            Some("tools/call") => return,
            method => format!("{shown} for {}", quote::text(method.unwrap_or_default())),
        },
        Some("task") if !declared.is_whole() => return,
        Some("task") => format!("{shown}, but the request does not declare {TASKS_EXTENSION}"),
        Some(_) if declared.has_unknown_extensions() => return,
        _ => shown,
    };
    part.tell_at(&TYPE_UNKNOWN, "result.resultType", detail);
}

// Log messages: whether somebody wants them, and from which level on. The level is that of
// `logging/setLevel` in the legacy era, and of the request itself in the modern one.

/// Requests with a level that are remembered. Beyond it nothing is said about log messages.
const OPEN: usize = 1024;

/// Messages of a request may come a little after its answer, this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

/// The log messages that the client wants.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// The level of the handshake's session, once the server has agreed to it.
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
        let level = match part.era() {
            Era::Legacy if part.method() == Some("logging/setLevel") => part.param("level"),
            Era::Legacy => None,
            Era::Modern => part
                .param("_meta")
                .and_then(|meta| meta.get(keys::LOG_LEVEL)),
        };
        // A request that was read by its outline only may ask for everything.
        let is_blind = part.era() == Era::Modern && part.value.is_none();
        if let Some(exchange) = part.exchange().filter(|_| is_blind || level.is_some()) {
            let level = level.and_then(|level| rank(&level.as_str()?));
            self.open.insert(exchange, level.unwrap_or(0));
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>) {
        let asked = part.exchange().and_then(|id| self.open.remove(&id));
        match (asked, part.era()) {
            (Some(level), Era::Legacy) if part.result().is_some() => self.set = Some(level),
            (Some(_), Era::Modern) => self.last = Some(part.seen.head.t_last),
            _ => {}
        }
    }

    /// A notification of the server: it may be a log message.
    pub(super) fn notification(&self, part: &Part<'_>) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let Subject::Log { level, .. } = &notification.subject else {
            return;
        };
        if self.open.has_forgotten() {
            return;
        }
        let asked = self.open.iter().map(|(_, level)| *level).min();
        let is_modern = part.seen.known.is_modern();
        if is_modern && asked.is_none() {
            let t = part.seen.head.t_last;
            if self.last.is_none_or(|last| t.ns_since(last) >= GRACE_NS) {
                part.tell(&NOT_REQUESTED, quote::text(&part.line()));
            }
            return;
        }
        let wanted = match self.set {
            _ if is_modern => asked,
            set => set.map(|set| set.min(asked.unwrap_or(set))),
        };
        let level = level.as_deref().unwrap_or_default();
        if let Some((rank, wanted)) = rank(level).zip(wanted)
            && rank < wanted
        {
            let detail = format!("{level}, asked for {} and above", LEVELS[wanted]);
            part.tell_at(&BELOW_LEVEL, "params.level", detail);
        }
    }
}

// What clients may keep: the hints of cacheable results.

/// The scopes of pages, by the list and the cursor that leads to the next page: whether each is public.
pub(super) type Scopes = BoundedMap<(&'static str, u64), bool, 64>;

pub(super) fn cached(part: &Part<'_>, result: Value<'_>, scopes: &mut Scopes) {
    let Some(method) = part.method() else { return };
    let is_cacheable = matches!(method, "server/discover" | "resources/read")
        || methods::list_of(method).is_some_and(|list| !list.filter.is_empty());
    let kind = result.get("resultType");
    if !is_cacheable || kind.is_some_and(|kind| !kind.is_str("complete")) {
        return;
    }
    let (ttl, scope) = (result.get("ttlMs"), result.get("cacheScope"));
    let is_scope = |scope: Value<'_>| scope.is_str("public") || scope.is_str("private");
    for (name, value, is_valid) in [
        ("ttlMs", ttl, ttl.is_some_and(is_time)),
        ("cacheScope", scope, scope.is_some_and(is_scope)),
    ] {
        let (rule, detail) = match value {
            _ if is_valid => continue,
            None => (&MISSING, format!("no {name}")),
            Some(value) => (
                &INVALID,
                format!("{name} {}", quote::text(&value.raw_text())),
            ),
        };
        part.tell_at(rule, format!("result.{name}"), detail);
    }
    if scope.is_some_and(is_scope) {
        same_scope(part, result, scopes);
    }
}

/// All pages of a list have one scope.
fn same_scope(part: &Part<'_>, result: Value<'_>, scopes: &mut Scopes) {
    let scope = result.get("cacheScope");
    let is_public = scope.is_some_and(|scope| scope.is_str("public"));
    let Some(asked) = part.request().and_then(|request| request.list) else {
        return;
    };
    let before = asked
        .cursor
        .and_then(|cursor| scopes.get(&(asked.list.method, cursor)));
    if before.is_some_and(|before| *before != is_public) {
        let [this, before] = if is_public {
            ["public", "private"]
        } else {
            ["private", "public"]
        };
        let detail = format!("cacheScope {this}, on the page before {before}");
        part.tell_at(&INVALID, "result.cacheScope", detail);
    }
    if let Some(next) = result.get("nextCursor").filter(|next| !next.is_null()) {
        scopes.insert((asked.list.method, digest(next.str_bytes())), is_public);
    }
}

/// Whether it is a whole number that is not negative.
fn is_time(value: Value<'_>) -> bool {
    let number = value
        .number_text()
        .and_then(|text| text.parse::<f64>().ok());
    number.is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}
