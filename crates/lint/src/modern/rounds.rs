//! Input rounds: results that ask for input, and the retries that give it.
//!
//! A retry answers a result of the same method and name. Which one, its `requestState` says;
//! calls of one tool may run side by side, and a client may repeat a retry, so that a state is
//! wrong only where no such result has given it.

use super::path;
use crate::capability::missing_mode;
use crate::{Findings, Part, Revisions, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::message::{Body, InputRound};

rules! {
    EMPTY = error("mrtr-empty",
        "input is required, but the result says neither which nor what to repeat")
        .why("The client has nothing to ask its user for and nothing to send back, so the call cannot go on.")
        .fix("Let the server give `inputRequests`, `requestState`, or both.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN);

    WRONG_METHOD = error("mrtr-wrong-method",
        "a request is answered with `input_required` though its method does not allow that")
        .why("Clients look for questions only in the answers to tool calls, prompts and resources, and fail on this one.")
        .fix("Let the server answer this request at once, with a result or an error.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN);

    REQUEST_KIND = error("mrtr-request-kind", "an input request that is none of the three kinds")
        .why("No client can answer it, so the call cannot go on.")
        .fix("Let the server ask by `elicitation/create`, `sampling/createMessage` or `roots/list`.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN);

    UNDECLARED = error("mrtr-undeclared-capability",
        "an input request for something that the client has not declared")
        .why("The client cannot answer it, so the call cannot go on.")
        .fix("Let the server look at the capabilities in the request's `_meta` before it asks, and refuse with -32021 where it cannot do without.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN);

    STATE_NOT_ECHOED = error("mrtr-state-not-echoed",
        "a retry without the `requestState` that it was given, or with another one")
        .why("The server keeps everything it knows about the call in that state, and without it starts over or refuses.")
        .fix("Let the client send `requestState` back exactly as it came, and none where none came.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN)
        .of_absence();

    RESPONSE_KEY_UNKNOWN = warning("mrtr-response-key-unknown",
        "a retry answers what nobody has asked")
        .why("Servers ignore answers whose key they have not given, and will ask again.")
        .fix("Let the client use the keys of `inputRequests` as they are.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN)
        .of_absence();

    NOT_RETRIED = note("mrtr-not-retried",
        "a question of the server that the client has never answered")
        .why("The call was given up, by the user or by a client that does not know how to go on.")
        .fix("Nothing has to be done if that was meant; else check whether the client supports input rounds.")
        .of(section::INPUT_ROUNDS)
        .only(Revisions::MODERN)
        .at_end()
        .of_absence();
}

/// Rounds that are remembered. Beyond it nothing is said about retries.
const ROUNDS: usize = 256;

/// Keys of a round, and of a retry, that are looked at: a line could hold a million. What may lie
/// beyond is not judged.
const KEYS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Rounds(BoundedMap<ExchangeId, Round, ROUNDS>);

#[derive(Debug)]
struct Round {
    frame: Seq,
    /// Method and name of what was asked.
    call: u64,
    state: Option<u64>,
    keys: Vec<u64>,
    is_retried: bool,
}

impl Round {
    /// Whether the keys of a retry answer what was asked for here.
    fn fits(&self, keys: &[u64]) -> bool {
        keys.is_empty() == self.keys.is_empty() && keys.iter().all(|key| self.asks(*key))
    }

    fn asks(&self, key: u64) -> bool {
        self.keys.len() >= KEYS || self.keys.contains(&key)
    }
}

/// Method and name: what a retry has in common with the request before.
fn call(method: &str, name: Option<&str>) -> u64 {
    digest((method, name))
}

impl Rounds {
    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>, findings: &mut Findings) {
        let kind = result.get("resultType");
        if !kind.is_some_and(|kind| kind.is_str("input_required")) {
            return;
        }
        self.remember(part, result);
        let method = part.method().unwrap_or_default();
        if !matches!(method, "tools/call" | "prompts/get" | "resources/read") {
            let finding = part.at(&WRONG_METHOD, quote::text(method));
            findings.push(finding.path("result.resultType"));
        }
        if result.get("inputRequests").is_none() && result.get("requestState").is_none() {
            findings.push(part.at(&EMPTY, "no inputRequests, no requestState"));
        }
        let declared = part
            .request()
            .and_then(|asked| asked.capabilities.declared());
        for (path, request) in input_requests(result) {
            judge(part, &path, request, declared.as_ref(), findings);
        }
    }

    fn remember(&mut self, part: &Part<'_>, result: Value<'_>) {
        let (Some(exchange), Some(asked)) = (part.exchange(), part.request()) else {
            return;
        };
        let state = result.get("requestState").and_then(|it| it.as_str());
        let requests = result.get("inputRequests").into_iter();
        let keys = requests.flat_map(|it| it.members());
        let keys = keys.filter_map(|(key, _)| Some(digest(&*brief::text(&key.as_str()?))));
        let round = Round {
            frame: part.seen.head.seq,
            call: call(&asked.method, asked.name.as_deref()),
            state: state.map(|state| digest(&*brief::text(&state))),
            keys: keys.take(KEYS).collect(),
            is_retried: false,
        };
        self.0.insert(exchange, round);
    }

    /// A request of the client by the modern revision: it may be a retry.
    pub(super) fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        let Some(retry) = request.retry.as_ref().filter(|_| part.value.is_some()) else {
            return;
        };
        let call = call(&request.method, request.name.as_deref());
        let state = retry.state.as_deref().map(digest);
        let keys: Vec<_> = retry.keys.iter().take(KEYS).map(digest).collect();
        let rounds = self.0.iter().filter(|(_, round)| round.call == call);
        let rounds: Vec<_> = rounds.collect();
        let newest = rounds.iter().map(|(id, _)| **id).max();
        let same_state = rounds.iter().filter(|(_, round)| round.state == state);
        // Of those with the same state rather one whose keys fit, rather the newest.
        let rank = |(id, round): &(&ExchangeId, &Round)| (round.fits(&keys), **id);
        let meant = same_state.map(rank).max().map(|(_, id)| id);
        let is_asked = |key: &u64| rounds.iter().any(|(_, round)| round.asks(*key));
        let unknown = keys.iter().position(|key| !is_asked(key));
        let unknown = unknown.and_then(|at| retry.keys.get(at));
        if let Some(newest) = newest
            && !self.0.has_forgotten()
        {
            self.judge(
                part,
                retry,
                (meant, newest),
                unknown.map(|key| &**key),
                findings,
            );
        }
        let retried = meant.or(newest);
        if let Some(round) = retried.and_then(|id| self.0.get_mut(&id)) {
            round.is_retried = true;
        }
    }

    fn judge(
        &self,
        part: &Part<'_>,
        retry: &InputRound,
        (meant, newest): (Option<ExchangeId>, ExchangeId),
        unknown: Option<&str>,
        findings: &mut Findings,
    ) {
        let Some(round) = self.0.get(&meant.unwrap_or(newest)) else {
            return;
        };
        if meant.is_none() {
            let detail = match (&retry.state, round.state) {
                (None, _) => "no requestState, although one was given",
                (Some(_), None) => "a requestState, although none was given",
                (Some(_), Some(_)) => "another requestState than was given",
            };
            let finding = part.at(&STATE_NOT_ECHOED, detail).and(round.frame);
            findings.push(finding.path("params.requestState"));
        }
        if let Some(key) = unknown {
            let finding = part.at(&RESPONSE_KEY_UNKNOWN, quote::text(key));
            let path = path(&["params", "inputResponses", key]);
            findings.push(finding.and(round.frame).path(path));
        }
    }

    pub(super) fn finish(&self, findings: &mut Findings) {
        let waiting = self.0.iter().filter(|(_, round)| !round.is_retried);
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_by_key(|(id, _)| **id);
        for (id, round) in waiting {
            let finding = NOT_RETRIED.at(round.frame, "no retry until the end");
            findings.push(finding.about(Some(*id)));
        }
    }
}

// The input requests of a result: whether the client can answer them.

/// Input requests of a result that findings are made of: a line could hold a million.
const REPORTED: usize = 16;

/// The input requests of a result, each with its path.
pub(super) fn input_requests(result: Value<'_>) -> impl Iterator<Item = (Box<str>, Value<'_>)> {
    let requests = result.get("inputRequests");
    let is_asking = |kind: &Value<'_>| kind.is_str("input_required");
    let requests = requests.filter(|_| result.get("resultType").as_ref().is_some_and(is_asking));
    let members = requests.into_iter().flat_map(|it| it.members());
    members.take(REPORTED).map(|(key, request)| {
        let key = key.as_str().unwrap_or_default();
        (path(&["result", "inputRequests", &key]), request)
    })
}

/// Whether the client can answer it.
pub(super) fn judge(
    part: &Part<'_>,
    path: &str,
    request: Value<'_>,
    declared: Option<&Declared>,
    findings: &mut Findings,
) {
    let method = request.get("method");
    let known = ["elicitation/create", "sampling/createMessage", "roots/list"];
    let mut known = known.into_iter();
    let Some(method) = known.find(|known| method.is_some_and(|it| it.is_str(known))) else {
        let detail = match method {
            None => "no method".to_owned(),
            Some(method) => quote::text(&method.raw_text()),
        };
        findings.push(part.at(&REQUEST_KIND, detail).path(path));
        return;
    };
    let missing = declared.and_then(|declared| missing(method, request, declared));
    if let Some(missing) = missing {
        let finding = part.at(&UNDECLARED, format!("{method} without {missing}"));
        findings.push(finding.path(path));
    }
}

/// The capability that an input request needs and that was not declared.
fn missing(method: &str, request: Value<'_>, declared: &Declared) -> Option<&'static str> {
    let param = |name: &str| request.get("params").and_then(|params| params.get(name));
    let given = |name: &str| param(name).is_some_and(|value| !value.is_null());
    let lacks = |path: &'static str| (!declared.has(path)).then_some(path);
    if !declared.is_whole() {
        return None;
    }
    match method {
        "roots/list" => lacks("roots"),
        "sampling/createMessage" => {
            let tools = given("tools") || given("toolChoice");
            lacks("sampling").or_else(|| lacks("sampling.tools").filter(|_| tools))
        }
        _ => lacks("elicitation").or_else(|| missing_mode(param("mode"), declared)),
    }
}
