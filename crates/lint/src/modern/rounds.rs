//! Input rounds: results that ask for input, and the retries that give it.
//!
//! A retry answers a result of the same method and name. Which one, its `requestState` says;
//! calls of one tool may run side by side, and a client may repeat a retry, so that a state is
//! wrong only where no such result has given it.

use super::path;
use crate::capability::missing_mode;
use crate::{Findings, Part, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::message::Body;

rules! {
    EMPTY = error("mrtr-empty").of_modern(section::INPUT_ROUNDS)
        .finds("input is required, but the result says neither which nor what to repeat")
        .why("The client has nothing to ask its user for and nothing to send back, so the call cannot go on.")
        .fix("Let the server give `inputRequests`, `requestState`, or both.");

    WRONG_METHOD = error("mrtr-wrong-method").of_modern(section::INPUT_ROUNDS)
        .finds("a request is answered with `input_required` though its method does not allow that")
        .why("Clients look for questions only in the answers to tool calls, prompts and resources, and fail on this one.")
        .fix("Let the server answer this request at once, with a result or an error.");

    REQUEST_KIND = error("mrtr-request-kind").of_modern(section::INPUT_ROUNDS)
        .finds("an input request that is none of the three kinds")
        .why("No client can answer it, so the call cannot go on.")
        .fix("Let the server ask by `elicitation/create`, `sampling/createMessage` or `roots/list`.");

    UNDECLARED = error("mrtr-undeclared-capability").of_modern(section::INPUT_ROUNDS)
        .finds("an input request for something that the client has not declared")
        .why("The client cannot answer it, so the call cannot go on.")
        .fix("Let the server look at the capabilities in the request's `_meta` before it asks, and refuse with -32021 where it cannot do without.");

    STATE_NOT_ECHOED = error("mrtr-state-not-echoed").of_modern(section::INPUT_ROUNDS).of_absence()
        .finds("a retry without the `requestState` that it was given, or with another one")
        .why("The server keeps everything it knows about the call in that state, and without it starts over or refuses.")
        .fix("Let the client send `requestState` back exactly as it came, and none where none came.");

    RESPONSE_KEY_UNKNOWN = warning("mrtr-response-key-unknown").of_modern(section::INPUT_ROUNDS)
        .of_absence()
        .finds("a retry answers what the server has not asked")
        .why("Servers ignore answers whose key they have not given, and will ask again.")
        .fix("Let the client use the keys of `inputRequests` as they are.");

    NOT_RETRIED = note("mrtr-not-retried").of_modern(section::INPUT_ROUNDS).at_end().of_absence()
        .finds("a question of the server that the client has never answered")
        .why("The call was given up, by the user or by a client that does not know how to go on.")
        .fix("Nothing has to be done if that was meant; else check whether the client supports input rounds.");
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
    /// Method and name of the request, which a retry has in common with it.
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

impl Rounds {
    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>) {
        let kind = result.get("resultType");
        let Some(asked) = part.request() else { return };
        if !kind.is_some_and(|kind| kind.is_str("input_required")) {
            return;
        }
        let state = result.get("requestState");
        let requests = result.get("inputRequests");
        if let Some(exchange) = part.exchange() {
            let text = |value: Value<'_>| Some(digest(&*brief::text(&value.as_str()?)));
            let keys = requests.iter().flat_map(Value::members);
            let keys = keys.filter_map(|(key, _)| text(key)).take(KEYS);
            let round = Round {
                frame: part.seen.head.seq,
                call: digest((&*asked.method, asked.name.as_deref())),
                state: state.and_then(text),
                keys: keys.collect(),
                is_retried: false,
            };
            self.0.insert(exchange, round);
        }
        if !matches!(
            &*asked.method,
            "tools/call" | "prompts/get" | "resources/read"
        ) {
            let detail = quote::text(&asked.method);
            part.tell_at(&WRONG_METHOD, "result.resultType", detail);
        }
        if requests.is_none() && state.is_none() {
            part.tell(&EMPTY, "no inputRequests, no requestState");
        }
        let declared = asked.capabilities.declared();
        for (path, request) in input_requests(result) {
            judge(part, &path, request, declared.as_ref());
        }
    }

    /// A request of the client by the modern revision: it may be a retry.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        let Some(retry) = request.retry.as_ref().filter(|_| part.value.is_some()) else {
            return;
        };
        let call = digest((&*request.method, request.name.as_deref()));
        let state = retry.state.as_deref().map(digest);
        let keys: Vec<_> = retry.keys.iter().take(KEYS).map(digest).collect();
        let rounds = self.0.iter().filter(|(_, round)| round.call == call);
        let rounds: Vec<_> = rounds.collect();
        // Of those with the same state rather one whose keys fit, rather one that waits, rather the
        // newest.
        let same_state = rounds.iter().filter(|(_, round)| round.state == state);
        let meant =
            same_state.max_by_key(|(id, round)| (round.fits(&keys), !round.is_retried, **id));
        let newest = rounds.iter().max_by_key(|(id, _)| **id);
        let Some((id, round)) = meant.or(newest).copied() else {
            return;
        };
        if !self.0.has_forgotten() {
            if meant.is_none() {
                let detail = match (&retry.state, round.state) {
                    (None, _) => "no requestState, although one was given",
                    (Some(_), None) => "a requestState, although none was given",
                    (Some(_), Some(_)) => "another requestState than was given",
                };
                let finding = part.at(&STATE_NOT_ECHOED, detail).and(round.frame);
                part.push(finding.path("params.requestState"));
            }
            let is_asked = |key: &u64| rounds.iter().any(|(_, round)| round.asks(*key));
            let unknown = keys.iter().position(|key| !is_asked(key));
            if let Some(key) = unknown.and_then(|at| retry.keys.get(at)) {
                let finding = part.at(&RESPONSE_KEY_UNKNOWN, quote::text(key));
                let path = path(&["params", "inputResponses", key]);
                part.push(finding.and(round.frame).path(path));
            }
        }
        let id = *id;
        if let Some(round) = self.0.get_mut(&id) {
            round.is_retried = true;
        }
    }

    pub(super) fn finish(&self, findings: &Findings) {
        let waiting = self.0.iter().filter(|(_, round)| !round.is_retried);
        let mut waiting: Vec<_> = waiting.collect();
        waiting.sort_by_key(|(id, _)| **id);
        findings.extend(waiting.into_iter().map(|(id, round)| {
            let finding = NOT_RETRIED.at(round.frame, "no retry until the end");
            finding.about(Some(*id))
        }));
    }
}

/// Input requests of a result that findings are made of: a line could hold a million.
const REPORTED: usize = 16;

/// The input requests of a result, each with its path.
pub(super) fn input_requests(result: Value<'_>) -> impl Iterator<Item = (Box<str>, Value<'_>)> {
    let kind = result.get("resultType");
    let is_asking = kind.is_some_and(|kind| kind.is_str("input_required"));
    let requests = result.get("inputRequests").filter(|_| is_asking);
    let members = requests.into_iter().flat_map(|it| it.members());
    members.take(REPORTED).map(|(key, request)| {
        let key = key.as_str().unwrap_or_default();
        (path(&["result", "inputRequests", &key]), request)
    })
}

/// Tells where the client cannot answer an input request.
fn judge(part: &Part<'_>, path: &str, request: Value<'_>, declared: Option<&Declared>) {
    let method = request.get("method");
    let name = method.as_ref().and_then(Value::as_str);
    let param = |name: &str| request.get("params").and_then(|params| params.get(name));
    let given = |name: &str| param(name).is_some_and(|value| !value.is_null());
    let declared = declared.filter(|declared| declared.is_whole());
    let lacks = |path: &'static str| {
        let declared = declared.filter(|declared| !declared.has(path));
        declared.map(|_| path)
    };
    let missing = match name.as_deref() {
        Some("roots/list") => lacks("roots"),
        Some("sampling/createMessage") => {
            let tools = given("tools") || given("toolChoice");
            lacks("sampling").or_else(|| lacks("sampling.tools").filter(|_| tools))
        }
        Some("elicitation/create") => {
            lacks("elicitation").or_else(|| missing_mode(param("mode"), declared?))
        }
        _ => {
            let detail = method.map(|method| quote::text(&method.raw_text()));
            let detail = detail.unwrap_or_else(|| "no method".to_owned());
            return part.tell_at(&REQUEST_KIND, path, detail);
        }
    };
    if let Some((missing, method)) = missing.zip(name) {
        part.tell_at(&UNDECLARED, path, format!("{method} without {missing}"));
    }
}
