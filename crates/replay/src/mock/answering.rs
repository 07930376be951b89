//! Lines of the host: requests are answered as the recorded ones that they stand for, notifications
//! are triggers, answers go to the requests of the server.

use super::OnMiss;
use super::faults::Effect;
use super::index::{Entry, Index, Outcome, Trigger};
use super::matcher::{Near, Reason, Subject, Wanted};
use super::mock_report::Missed;
use super::server::{
    Action, Ended, INTERNAL_ERROR, Live, MOST_OPEN, STATE_PREFIX, Server, Then, error,
};
use crate::lines::Line;
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::PROBE;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{self, follow};
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::{Revision, keys, methods};
use mcpreel_wire::message::{
    Body, Content, InputRound, Lines, Message, Notification, Outcome as Answer, Problem, Request,
    Subject as About, classify,
};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::time::Duration;

const PARSE_ERROR: &str = "-32700";
const INVALID_REQUEST: &str = "-32600";
const METHOD_NOT_FOUND: &str = "-32601";
const INVALID_PARAMS: &str = "-32602";
const UNSUPPORTED_VERSION: &str = "-32022";

/// The request is not on record: in the range that implementations may use.
const NOT_ON_RECORD: &str = "-32000";

/// A live request that is being answered.
struct Asking<'a> {
    wanted: Wanted,
    live: Live,
    retry: Option<&'a InputRound>,
    now: Moment,
    /// The delay of the answer by a fault.
    delay: Duration,
}

/// The outcome of a request.
enum Found {
    /// The entry that answers, and whether it was used before.
    Entry(usize, bool),
    /// An answer of our own.
    Own(Vec<u8>),
    Nothing(Reason),
}

/// Lines.
impl Server {
    /// Takes a line of the host, its end included.
    pub fn line(&mut self, line: Line<'_>, now: Moment) {
        let Line::Whole(line) = line else {
            return self.invalid("the line is longer than is read");
        };
        let mut classifier = std::mem::take(&mut self.classifier);
        let (content, root) = classifier.read(line, Lines::OfProgress);
        self.content(&content, root, line, now);
        classifier.give_back();
        self.classifier = classifier;
    }

    fn content(
        &mut self,
        content: &Content,
        root: Option<json::Value<'_>>,
        line: &[u8],
        now: Moment,
    ) {
        let is_parse_error = |problem: &Problem| {
            matches!(problem, Problem::NotJson { .. } | Problem::TooDeep { .. })
        };
        match content.messages.as_slice() {
            _ if content.batch => self.invalid("batches are not served"),
            [message] => match &message.body {
                Body::Request(request) => {
                    let text = line.get(message.span.clone()).unwrap_or_default();
                    self.request(request, message, (text, root), now);
                }
                Body::Notification(notification) => self.notified(notification, now),
                Body::Response(response) => self.answered(response.id.as_ref(), now),
                Body::Invalid => self.invalid("neither a request nor a notification"),
            },
            _ if content.problems.iter().any(is_parse_error) => {
                self.tally.malformed += 1;
                self.say_own(error(None, PARSE_ERROR, "Parse error", None));
            }
            _ if content.problems.contains(&Problem::Blank) => {}
            _ => self.invalid("no request"),
        }
    }

    fn invalid(&mut self, why: &str) {
        self.tally.malformed += 1;
        let message = format!("Invalid Request: {why}");
        self.say_own(error(None, INVALID_REQUEST, &message, None));
    }

    fn notified(&mut self, notification: &Notification, now: Moment) {
        if let About::Cancelled {
            request_id: Some(id),
            ..
        } = &notification.subject
        {
            self.cancel(id);
        }
        let recorded = self.index.notices.get_mut(&notification.method);
        if let Some((number, at)) = recorded.and_then(VecDeque::pop_front) {
            self.play_after(Trigger::Notified(number), None, (now, at));
        }
    }
}

/// Requests.
impl Server {
    fn request(
        &mut self,
        request: &Request,
        message: &Message,
        (text, root): (&[u8], Option<json::Value<'_>>),
        now: Moment,
    ) {
        self.tally.requests += 1;
        let is_nameless = message.problems.contains(&Problem::MethodNotString);
        if is_nameless || !request.id.is_allowed() {
            return self
                .invalid("the id of a request is a string or a number, its method a string");
        }
        let refusal = |code, why| error(Some(&request.id), code, why, None);
        let Some(root) = root else {
            let why = "Invalid Request: nested too deeply";
            return self.say_own(refusal(INVALID_REQUEST, why));
        };
        if self.plays.len() >= MOST_OPEN {
            return self.say_own(refusal(INTERNAL_ERROR, "too many requests are open"));
        }
        let params = root.get("params");
        let identity = message.meta.identity.as_deref();
        let level = params.and_then(|params| follow(params, &["_meta", keys::LOG_LEVEL]));
        let modern = identity.is_some_and(|identity| identity.protocol_version.is_some());
        let live = Live {
            id: request.id.clone(),
            token: message.meta.progress_token.clone(),
            logs: !modern || level.is_some(),
        };
        if &*request.method == "initialize" {
            let identity = request.identity.as_deref();
            let capabilities = identity.and_then(|identity| identity.capabilities.as_deref());
            self.capabilities = Some(Declared::read(capabilities));
        }
        self.is_modern = modern || self.is_modern;
        let subject = Subject {
            method: request.method.clone(),
            name: request.name.clone(),
        };
        let mut faults = self.options.faults.iter();
        let fault = faults.find(|fault| fault.fits(text, now));
        let fault = fault.map(|fault| fault.effect.clone());
        let mut asking = Asking {
            wanted: Wanted::new(subject, params, &self.options.rules, Side::Right),
            live,
            retry: request.retry.as_ref(),
            now,
            delay: Duration::ZERO,
        };
        match fault {
            Some(Effect::Delay(delay)) => {
                self.tally.faults += 1;
                asking.delay = delay;
            }
            None => {}
            Some(effect) => return self.fail(effect, &asking),
        }
        match self.found(&asking) {
            Found::Entry(entry, repeats) => self.serve((entry, repeats), asking, None),
            Found::Own(answer) => self.play_own(answer, asking.delay, now),
            Found::Nothing(reason) => self.miss(asking, reason),
        }
    }

    /// A request goes wrong on purpose. The recorded request that it stands for counts as used.
    fn fail(&mut self, effect: Effect, asking: &Asking<'_>) {
        self.tally.faults += 1;
        if let Ok(found) = self.matcher.find(&self.index, &asking.wanted) {
            self.take_entry(found.entry);
        }
        match effect {
            Effect::Error { code, message } => {
                let error = error(Some(&asking.live.id), &code, &message, None);
                self.play_own(error, Duration::ZERO, asking.now);
            }
            Effect::Crash => self.act(Action::End(Ended::Crash)),
            Effect::Drop | Effect::Delay(_) => {}
        }
    }

    fn found(&mut self, asking: &Asking<'_>) -> Found {
        let (wanted, id) = (&asking.wanted, &asking.live.id);
        if let Some(retry) = asking.retry
            && let Some(found) = self.found_round(&wanted.subject, retry, id)
        {
            return found;
        }
        let found = self.matcher.find(&self.index, wanted);
        let is_exact = found.as_ref().is_ok_and(|found| !found.normalised);
        if &*wanted.subject.method == PROBE
            && !is_exact
            && let Some(own) = self.discovered(asking)
        {
            return Found::Own(own);
        }
        match found {
            Ok(found) => {
                self.tally.normalised += u64::from(found.normalised);
                Found::Entry(found.entry, found.repeats)
            }
            Err(_) if asking.retry.is_some_and(|retry| retry.state.is_some()) => unknown_state(id),
            Err(_) if self.is_answered_by_rote(&wanted.subject.method) => {
                let id = id.json();
                Found::Own(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into_bytes())
            }
            Err(reason) => match &*wanted.subject.method {
                // Hosts of both eras try these, and go on with the other one after this error.
                method @ (PROBE | "initialize") if reason == Reason::Method => {
                    let message = format!("Method not found: the recording has no {method}");
                    Found::Own(error(Some(id), METHOD_NOT_FOUND, &message, None))
                }
                _ => Found::Nothing(reason),
            },
        }
    }

    /// Whether a request that is not on record gets an empty result: hosts ping at any time, and set the level
    /// of log messages where the server has some.
    fn is_answered_by_rote(&self, method: &str) -> bool {
        let declared = self.index.session.server.capabilities.as_deref();
        let logs = || Declared::read(declared).has("logging");
        method == "ping" || method == "logging/setLevel" && logs()
    }

    /// The answer to a probe that is not on record, by what is known of a server of the newer era;
    /// `None` for another one.
    fn discovered(&self, asking: &Asking<'_>) -> Option<Vec<u8>> {
        let (session, id) = (&self.index.session, &asking.live.id);
        let mut spoken = session.versions_offered.clone();
        if spoken.is_empty() {
            let agreed = session.version_agreed.as_deref();
            let agreed = agreed
                .filter(|version| Revision::judging(version) >= Some(Revision::V2026_07_28))?;
            spoken.push(agreed.into());
        }
        let asked: Value = serde_json::from_str(&asking.wanted.exact).ok()?;
        let asked = asked.as_str();
        if let Some(version) = asked.filter(|asked| !spoken.iter().any(|it| it == asked)) {
            let data = json!({"supported": spoken, "requested": version});
            let message = format!("Unsupported protocol version: {version}");
            return Some(error(Some(id), UNSUPPORTED_VERSION, &message, Some(data)));
        }
        let server = &session.server;
        let capabilities = self.index.capabilities.iter();
        let capabilities: Map<_, _> = capabilities.map(|it| ((*it).into(), json!({}))).collect();
        let result = json!({
            "resultType": "complete",
            "supportedVersions": spoken,
            "capabilities": capabilities,
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": {keys::SERVER_INFO: {
                "name": server.name.as_deref().unwrap_or("mcpreel mock"),
                "version": server.version.as_deref().unwrap_or_default(),
            }},
        });
        let id = id.json();
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes())
    }

    /// What the retry of a round of input gets; `None` if no round of ours leads to it: the recorded
    /// client may have gone on from something that is not on record.
    fn found_round(
        &mut self,
        subject: &Subject,
        retry: &InputRound,
        id: &RequestId,
    ) -> Option<Found> {
        let ours = |state: &str| {
            let seq = state.strip_prefix(STATE_PREFIX)?;
            Some(seq.parse().ok().and_then(|seq| self.index.at(Seq(seq))))
        };
        let before = match &retry.state {
            Some(state) => ours(state)?,
            None => Some(self.rounds.take(&self.index, subject, &retry.keys)?),
        };
        let entry = before.map(|before| &self.index.entries[before]);
        let is_round = |entry: &Entry| entry.outcome == Outcome::Input && entry.subject == *subject;
        let Some(entry) = entry.filter(|entry| is_round(entry)) else {
            return Some(unknown_state(id));
        };
        Some(match entry.next_round {
            None => Found::Nothing(Reason::Round),
            Some(next) => match self.matcher.is_used(next) {
                true if self.options.once => Found::Nothing(Reason::Used),
                used => Found::Entry(next, used),
            },
        })
    }

    fn take_entry(&mut self, entry: usize) {
        if self.matcher.take(&self.index, entry) {
            let seq = self.index.entries[entry].request;
            self.tally.out_of_order.add(|| seq);
        }
    }

    /// Gives a request what the entry got.
    fn serve(&mut self, (entry, repeats): (usize, bool), asking: Asking<'_>, mark: Option<Near>) {
        self.take_entry(entry);
        self.tally.served += 1;
        self.tally.repeated += u64::from(repeats);
        let then = match self.index.entries[entry].outcome {
            Outcome::Answer | Outcome::Input => Then::Answer(entry, mark),
            Outcome::Death { .. } => Then::Die(entry),
            Outcome::Silence | Outcome::Stream => Then::Nothing,
            Outcome::Refused(status) => {
                let text = match status {
                    ..300 => format!("the recorded server sent HTTP {status} without an answer"),
                    _ => format!("the recorded server refused it with HTTP {status}"),
                };
                Then::Own(error(Some(&asking.live.id), NOT_ON_RECORD, &text, None))
            }
        };
        let then = (then, asking.delay);
        self.play_request((entry, repeats), asking.live, then, asking.now);
    }

    /// A request stands for nothing on record.
    fn miss(&mut self, asking: Asking<'_>, reason: Reason) {
        let (wanted, rules) = (&asking.wanted, &self.options.rules);
        let nearest = self.matcher.nearest(&self.index, wanted, rules, |entry| {
            let line = self.source.line(self.index.entries[entry].request).ok()?;
            Some(Wanted::recorded(&line, rules)?.exact)
        });
        let first = nearest.first();
        let missed = Missed {
            subject: wanted.subject.clone(),
            reason,
            nearest: first.map(|near| {
                let seq = self.index.entries[near.entry].request;
                (seq, near.clone())
            }),
        };
        if self.options.on_miss == OnMiss::Nearest
            && let Some(near) = first.cloned()
            && self.index.entries[near.entry].subject == wanted.subject
        {
            self.tally.near.add(|| missed);
            let repeats = self.matcher.is_used(near.entry);
            return self.serve((near.entry, repeats), asking, Some(near));
        }
        if self.options.on_miss != OnMiss::Hang {
            let error = self.not_on_record(&asking.live, &missed, &nearest);
            self.play_own(error, asking.delay, asking.now);
        }
        if self.options.on_miss == OnMiss::Exit {
            self.act(Action::End(Ended::Missed));
        }
        self.tally.missed.add(|| missed);
    }

    fn not_on_record(&self, live: &Live, missed: &Missed, nearest: &[Near]) -> Vec<u8> {
        let named: Vec<_> = nearest.iter().map(|near| self.named(near)).collect();
        let data = json!({
            "reason": missed.reason.as_str(),
            "nearest": named,
        });
        let message = missed.sentence(&self.index.recording);
        error(Some(&live.id), NOT_ON_RECORD, &message, Some(data))
    }
}

fn unknown_state(id: &RequestId) -> Found {
    let message = "this requestState was not given for this request";
    Found::Own(error(Some(id), INVALID_PARAMS, message, None))
}

/// Whether a client declared with `initialize` the capability that a request of the server needs.
pub(super) fn may_be_asked(
    declared: Option<&Declared>,
    method: &str,
    params: Option<json::Value<'_>>,
) -> bool {
    let known = methods::find(method);
    let Some(needed) = known.and_then(|method| method.uses().next()?.capability) else {
        return true;
    };
    let has = |name: &str| declared.is_some_and(|declared| declared.has(name));
    let by_url = || params?.get("mode")?.is_str("url").then_some(());
    match needed {
        "elicitation" if by_url().is_some() => has("elicitation.url"),
        // Nothing below it means forms.
        "elicitation" => has(needed) && (has("elicitation.form") || !has("elicitation.url")),
        _ => has(needed),
    }
}

/// Rounds that wait for their retry; the oldest are forgotten.
const WAITING: usize = 256;

/// Answers that asked for input without a `requestState`, the newest first: the entry, and the keys
/// of what was asked.
#[derive(Debug, Default)]
pub struct Rounds(VecDeque<(usize, Vec<CompactString>)>);

impl Rounds {
    /// The entry was answered by `line`, which asks for input.
    pub fn wait(&mut self, entry: usize, line: &[u8]) {
        let asked = classify(line).messages.pop();
        if let Some(Body::Response(response)) = asked.map(|message| message.body)
            && let Answer::InputRequired(round) = response.outcome
            && round.state.is_none()
        {
            self.0.truncate(WAITING - 1);
            self.0.push_front((entry, round.keys));
        }
    }

    /// The newest round about `subject` that asked for just what `keys` bring.
    pub fn take(
        &mut self,
        index: &Index,
        subject: &Subject,
        keys: &[CompactString],
    ) -> Option<usize> {
        let at = self.0.iter().position(|(entry, asked)| {
            index.entries[*entry].subject == *subject
                && keys.is_empty() == asked.is_empty()
                && keys.iter().all(|key| asked.contains(key))
        })?;
        self.0.remove(at).map(|(entry, _)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    fn asked(capabilities: &str, method: &str, params: &str) -> bool {
        let declared = Declared::read(Some(capabilities));
        let document = Document::parse(params.as_bytes()).unwrap();
        may_be_asked(Some(&declared), method, Some(document.root()))
    }

    #[test]
    fn only_what_was_declared_is_asked() {
        let (form, url) = ("{}", r#"{"mode":"url"}"#);
        let elicit = "elicitation/create";
        for (capabilities, method, params, may) in [
            ("{}", "ping", "{}", true),
            ("{}", "roots/list", "{}", false),
            (r#"{"roots":{}}"#, "roots/list", "{}", true),
            (r#"{"elicitation":{}}"#, elicit, form, true),
            (r#"{"elicitation":{}}"#, elicit, url, false),
            (r#"{"elicitation":{"url":{}}}"#, elicit, form, false),
            (r#"{"elicitation":{"url":{}}}"#, elicit, url, true),
            (
                r#"{"elicitation":{"url":{},"form":{}}}"#,
                elicit,
                form,
                true,
            ),
            (r#"{"sampling":{}}"#, "sampling/createMessage", "{}", true),
            ("{}", "vendor/ask", "{}", true),
        ] {
            let found = asked(capabilities, method, params);
            assert_eq!(found, may, "{capabilities} {method} {params}");
        }
        assert!(!may_be_asked(None, "roots/list", None));
    }
}
