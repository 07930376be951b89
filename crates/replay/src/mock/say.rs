//! What the host gets: recorded bytes with live ids, as far as the client wants to hear them; and
//! what the client has said that this depends on.

use super::index::{Act, Index, NONE, Outcome, Place, Trigger};
use super::matcher::{MARK, Reason, Wanted};
use super::play::{Answer, Live, Play};
use super::reel::Said;
use super::server::{Action, INTERNAL_ERROR, Server, error};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::{Document, Edit, Value, edit, follow};
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::levels::LEVELS;
use mcpreel_wire::mcp::{keys, methods};
use mcpreel_wire::message::{Body, Identity, InputRound, Outcome as Came, classify};
use std::collections::{BTreeSet, VecDeque};

const ID: &[&str] = &["id"];
const TOKEN: &[&str] = &["params", keys::PROGRESS_TOKEN];
const REQUEST_ID: &[&str] = &["params", "requestId"];
const ON_STREAM: &[&str] = &["params", "_meta", keys::SUBSCRIPTION_ID];
const STREAM_ENDS: &[&str] = &["result", "_meta", keys::SUBSCRIPTION_ID];
const STATE: &[&str] = &["result", "requestState"];

impl Server {
    /// Takes a step whose bytes are `said`.
    pub(super) fn perform(&mut self, (number, play): (u64, &mut Play), act: Act, said: Said) {
        let live = |entry| match play.trigger {
            Trigger::Asked(own) if own == entry => play.live.clone(),
            _ => self.live.get(&entry).cloned(),
        };
        match act {
            Act::Say | Act::Own(_) => self.write(said),
            Act::Stderr => self.act(Action::Stderr(said.line())),
            Act::Updated => self.say_updated(said),
            Act::Log(entry) => {
                let asked = live(entry).or_else(|| play.live.clone());
                self.say_log(said, asked.as_ref());
            }
            Act::Progress(entry) => {
                let token = live(entry).and_then(|live| live.token);
                if let Some(token) = token {
                    self.say(said, &[Edit::Replace(TOKEN, token.json())]);
                }
            }
            Act::OnStream(entry) | Act::StreamEnds(entry) | Act::StreamCancelled(entry) => {
                let Some(live) = live(entry) else { return };
                if !matches!(act, Act::OnStream(_)) {
                    self.live.remove(&entry);
                }
                let id = live.id.json();
                let places = [ID, REQUEST_ID, ON_STREAM, STREAM_ENDS];
                self.say(said, &places.map(|place| Edit::Replace(place, id)));
            }
            Act::Ask(ask) => self.ask((number, play), ask, said),
            Act::Withdraw(ask) => self.withdraw(play, ask, said),
            Act::Heard(_) => {}
        }
    }

    fn say_updated(&mut self, said: Said) {
        let uri = with(&said.message, |root| {
            Some(follow(root, &["params", "uri"])?.as_str()?.into_owned())
        });
        if uri.is_some_and(|uri| self.client.has_subscribed(&uri)) {
            self.write(said);
        }
    }

    /// A log message, if the client wants to hear it.
    fn say_log(&mut self, said: Said, asked: Option<&Live>) {
        let level = with(&said.message, level_of_log);
        let wanted = match asked {
            Some(live) if live.modern => {
                let least = live.level;
                least.is_some_and(|least| level.is_none_or(|level| level >= least))
            }
            // In the modern era each request asks for log messages.
            None if self.client.is_modern() => false,
            _ => self.client.wants_level(level),
        };
        if wanted {
            self.write(said);
        }
    }

    /// The recorded answer to a live request, and then what came after it.
    pub(super) fn say_answer(&mut self, answer: &Answer, live: Live, repeats: bool, now: Moment) {
        let said = match self.reel.said(answer.place) {
            Ok(said) => said,
            Err(unread) => {
                self.unreadable(&unread);
                let message = "the recorded answer cannot be read";
                let error = error(Some(&live.id), INTERNAL_ERROR, message, None);
                return self.write(Said::own(error));
            }
        };
        let entry = *self.index.entry(answer.entry);
        let state = format!("\"{STATE_PREFIX}{}\"", entry.request);
        let mut edits = vec![Edit::Replace(ID, live.id.json())];
        if entry.outcome == Outcome::Input {
            edits.push(Edit::ReplaceString(STATE, &state));
            self.rounds.wait(answer.entry, &self.index, &said.message);
        }
        let mut said = edited(said, &edits);
        if let Some(near) = &answer.mark
            && let Some(message) = marked(&said.message, &self.named(near).to_string())
        {
            said.message = message;
        }
        self.write(said);
        if !repeats {
            let trigger = Trigger::Answered(answer.entry);
            self.play_after(trigger, Some(live), Some(answer.place), now);
        }
    }

    /// Writes a message of the recording with live values in it.
    pub(super) fn say(&mut self, said: Said, edits: &[Edit<'_>]) {
        self.write(edited(said, edits));
    }

    pub(super) fn write(&mut self, said: Said) {
        self.act(Action::Write(said.line()));
    }
}

/// What `look` finds in a message; nothing where that is no JSON.
fn with<T>(message: &[u8], look: impl FnOnce(Value<'_>) -> Option<T>) -> Option<T> {
    let document = Document::parse(message).ok()?;
    look(document.root())
}

fn edited(said: Said, edits: &[Edit<'_>]) -> Said {
    match edit(&said.message, edits) {
        Some(message) => Said { message, ..said },
        None => said,
    }
}

/// An answer that says in its `_meta` that it is only the nearest; an error has no room for it.
fn marked(message: &[u8], mark: &str) -> Option<Vec<u8>> {
    let has_meta = with(message, |root| {
        let result = root.get("result").filter(Value::is_object)?;
        Some(result.get("_meta").map(|meta| meta.is_object()))
    })?;
    match has_meta {
        Some(true) => edit(message, &[Edit::Insert(&["result", "_meta"], MARK, mark)]),
        Some(false) => None,
        None => {
            let meta = format!("{{\"{MARK}\":{mark}}}");
            edit(message, &[Edit::Insert(&["result"], "_meta", &meta)])
        }
    }
}

/// Resources that are subscribed to at most: a host may subscribe in a loop.
const MOST_SUBSCRIBED: usize = 10_000;

/// How far the handshake has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Starting,
    Initializing,
    /// `notifications/initialized` has come, or a request of the modern era.
    Ready,
}

/// What the live client has said about itself.
#[derive(Debug, Default)]
pub struct Client {
    pub phase: Phase,
    /// What it declared with `initialize`.
    capabilities: Option<Declared>,
    /// The level of `logging/setLevel`.
    level: Option<usize>,
    subscribed: BTreeSet<Box<str>>,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Initializing => "initializing",
            Self::Ready => "ready",
        }
    }
}

impl Client {
    pub fn initializes(&mut self, identity: Option<&Identity>) {
        let capabilities = identity.and_then(|identity| identity.capabilities.as_deref());
        self.capabilities = Some(Declared::read(capabilities));
        if self.phase == Phase::Starting {
            self.phase = Phase::Initializing;
        }
    }

    /// Whether it goes without a handshake.
    fn is_modern(&self) -> bool {
        self.phase == Phase::Ready && self.capabilities.is_none()
    }

    /// A request has been served that changes what the client gets.
    pub fn was_served(&mut self, method: &str, params: Option<Value<'_>>) {
        let text = |name| Some(params?.get(name)?.as_str()?.into_owned());
        match method {
            "logging/setLevel" => self.level = text("level").and_then(|level| level_of(&level)),
            "resources/subscribe" if self.subscribed.len() < MOST_SUBSCRIBED => {
                self.subscribed.extend(text("uri").map(Into::into));
            }
            "resources/unsubscribe" => {
                text("uri").map(|uri| self.subscribed.remove(uri.as_str()));
            }
            _ => {}
        }
    }

    /// Whether it wants to hear of the resource.
    pub fn has_subscribed(&self, uri: &str) -> bool {
        self.subscribed.contains(uri)
    }

    /// Whether it wants log messages of this level, as far as it has said so.
    pub fn wants_level(&self, level: Option<usize>) -> bool {
        self.level
            .is_none_or(|least| level.is_none_or(|level| level >= least))
    }

    /// Whether the server may ask it this: whether it declared the capability.
    pub fn may_be_asked(&self, method: &str, params: Option<Value<'_>>) -> bool {
        let known = methods::find(method);
        let Some(needed) = known.and_then(|method| method.uses().next()?.capability) else {
            return true;
        };
        let Some(declared) = &self.capabilities else {
            return false;
        };
        let by_url = || params?.get("mode")?.is_str("url").then_some(());
        match needed {
            "elicitation" if by_url().is_some() => declared.has("elicitation.url"),
            // Nothing below it means forms.
            "elicitation" => {
                let only_url = declared.has("elicitation.url") && !declared.has("elicitation.form");
                declared.has(needed) && !only_url
            }
            _ => declared.has(needed),
        }
    }
}

/// The rank of a level; `None` for one that is not known.
pub fn level_of(level: &str) -> Option<usize> {
    LEVELS.iter().position(|known| *known == level)
}

/// The rank of the level of a log message.
pub fn level_of_log(message: Value<'_>) -> Option<usize> {
    level_of(&follow(message, &["params", "level"])?.as_str()?)
}

/// What our own `requestState` begins with; behind it stands which round it is of.
const STATE_PREFIX: &str = "mcpreel-mock:";

/// Rounds without a state that wait for their retry; the oldest are forgotten.
const WAITING: usize = 256;

/// Answers without a `requestState` that asked for input.
#[derive(Debug, Default)]
pub struct Rounds(VecDeque<Round>);

#[derive(Debug)]
struct Round {
    entry: u32,
    name: u64,
    keys: Vec<Box<str>>,
}

impl Rounds {
    /// The entry was answered by `message`, which asks for input.
    pub fn wait(&mut self, entry: u32, index: &Index, message: &[u8]) {
        let asked = classify(message).messages.pop();
        let Some(Body::Response(response)) = asked.map(|message| message.body) else {
            return;
        };
        let Came::InputRequired(round) = response.outcome else {
            return;
        };
        if round.state.is_some() {
            return;
        }
        self.0.truncate(WAITING - 1);
        self.0.push_front(Round {
            entry,
            name: index.entry(entry).name,
            keys: round.keys,
        });
    }

    /// The newest round about `name` that asked for just what `keys` bring.
    fn take(&mut self, name: u64, keys: &[Box<str>]) -> Option<u32> {
        let fits = |round: &Round| {
            round.name == name
                && keys.is_empty() == round.keys.is_empty()
                && keys.iter().all(|key| round.keys.contains(key))
        };
        let at = self.0.iter().position(fits)?;
        self.0.remove(at).map(|round| round.entry)
    }
}

/// What a request leads to that says that it is a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// This entry, and whether it was used before.
    To(u32, bool),
    Missed(Reason),
    /// It has a state that we did not give for this request.
    Unknown,
    /// It goes on from nothing that we said.
    Fresh,
}

impl Server {
    /// What a request leads to that says that it is a retry.
    pub(super) fn retried(&mut self, wanted: &Wanted, retry: &InputRound) -> Retry {
        let name = wanted.name_digest();
        let before = match retry.state.as_deref() {
            Some(state) => match self.round_of(state) {
                Some(entry) if self.index.entry(entry).name == name => entry,
                Some(_) => return Retry::Unknown,
                None if state.starts_with(STATE_PREFIX) => return Retry::Unknown,
                // The recorded client may have gone on from something that is not on record.
                None => return Retry::Fresh,
            },
            None => match self.rounds.take(name, &retry.keys) {
                Some(entry) => entry,
                None => return Retry::Fresh,
            },
        };
        let next = self.index.entry(before).next;
        if next == NONE {
            return Retry::Missed(Reason::Round);
        }
        let used = self.matcher.is_used(next);
        if used && self.options.once {
            return Retry::Missed(Reason::Used);
        }
        Retry::To(next, used)
    }

    /// The entry whose answer our `state` was in.
    fn round_of(&self, state: &str) -> Option<u32> {
        let place = Place::parse(state.strip_prefix(STATE_PREFIX)?)?;
        let entry = self.index.at(place)?;
        (self.index.entry(entry).outcome == Outcome::Input).then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    fn client(capabilities: &str) -> Client {
        let mut client = Client::default();
        let identity = Identity {
            capabilities: Some(capabilities.into()),
            ..Identity::default()
        };
        client.initializes(Some(&identity));
        client
    }

    fn asked(capabilities: &str, method: &str, params: &str) -> bool {
        let document = Document::parse(params.as_bytes()).unwrap();
        client(capabilities).may_be_asked(method, Some(document.root()))
    }

    #[test]
    fn only_what_was_declared_is_asked() {
        let (form, url) = ("{}", r#"{"mode":"url"}"#);
        for (capabilities, method, params, may) in [
            ("{}", "ping", "{}", true),
            ("{}", "roots/list", "{}", false),
            (r#"{"roots":{}}"#, "roots/list", "{}", true),
            (r#"{"elicitation":{}}"#, "elicitation/create", form, true),
            (r#"{"elicitation":{}}"#, "elicitation/create", url, false),
            (
                r#"{"elicitation":{"url":{}}}"#,
                "elicitation/create",
                form,
                false,
            ),
            (
                r#"{"elicitation":{"url":{}}}"#,
                "elicitation/create",
                url,
                true,
            ),
            (
                r#"{"elicitation":{"url":{},"form":{}}}"#,
                "elicitation/create",
                form,
                true,
            ),
            (r#"{"sampling":{}}"#, "sampling/createMessage", "{}", true),
            ("{}", "vendor/ask", "{}", true),
        ] {
            assert_eq!(
                asked(capabilities, method, params),
                may,
                "{capabilities} {method} {params}"
            );
        }
        assert!(!Client::default().may_be_asked("roots/list", None));
    }
}
