//! Recorded bytes with live ids.

use super::play::{Answer, Live, Play};
use super::rounds::state_of;
use super::{Action, Server, client, own};
use crate::mock::index::{Act, Outcome, Trigger};
use crate::mock::nearest::MARK;
use crate::mock::reel::{Reel, Said};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::{Document, Edit, Value, edit, follow};
use mcpreel_wire::mcp::keys;

const ID: &[&str] = &["id"];
const TOKEN: &[&str] = &["params", keys::PROGRESS_TOKEN];
const REQUEST_ID: &[&str] = &["params", "requestId"];
const ON_STREAM: &[&str] = &["params", "_meta", keys::SUBSCRIPTION_ID];
const STREAM_ENDS: &[&str] = &["result", "_meta", keys::SUBSCRIPTION_ID];
const STATE: &[&str] = &["result", "requestState"];

impl<R: Reel> Server<R> {
    /// Takes a step whose bytes are there.
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
                if let Some(live) = live(entry) {
                    self.say_on_stream(act, said, &live);
                }
            }
            Act::Ask(ask) => self.ask((number, play), ask, said),
            Act::Withdraw(ask) => self.withdraw(play, ask, said),
            Act::Heard(_) => {}
        }
    }

    fn say_on_stream(&mut self, act: Act, said: Said, live: &Live) {
        let id = live.id.json();
        match act {
            Act::StreamEnds(entry) => {
                self.live.remove(&entry);
                self.say(
                    said,
                    &[Edit::Replace(ID, id), Edit::Replace(STREAM_ENDS, id)],
                );
            }
            Act::StreamCancelled(entry) => {
                self.live.remove(&entry);
                self.say(
                    said,
                    &[Edit::Replace(REQUEST_ID, id), Edit::Replace(ON_STREAM, id)],
                );
            }
            _ => self.say(said, &[Edit::Replace(ON_STREAM, id)]),
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
        let level = with(&said.message, client::level_of_log);
        let wanted = match asked {
            Some(live) if live.modern => {
                let least = live.level;
                least.is_some_and(|least| level.is_none_or(|level| level >= least))
            }
            // In the modern era whoever asks says so.
            None if !self.index.legacy => false,
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
            Err(error) => {
                self.unreadable(&error);
                let code = own::INTERNAL_ERROR.to_string();
                let message = "the recorded answer cannot be read";
                let error = own::error(Some(&live.id), &code, message, None);
                return self.respond(Said::own(error), answer.batch);
            }
        };
        let entry = *self.index.entry(answer.entry);
        let state = format!("\"{}\"", state_of(entry.request));
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
        self.respond(said, answer.batch);
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

    /// Writes a response; of a batch once nothing of it is left.
    pub(super) fn respond(&mut self, said: Said, batch: Option<u64>) {
        let Some(batch) = batch else {
            return self.write(said);
        };
        // The recorded server may have answered one by one.
        let together = said.in_batch.then(|| said.message.clone());
        if together.is_none() {
            self.write(said);
        }
        if let Some(line) = self.batches.settle(batch, together) {
            self.act(Action::Write(line));
        }
    }

    pub(super) fn say_nothing(&mut self, batch: Option<u64>) {
        let line = batch.and_then(|batch| self.batches.settle(batch, None));
        if let Some(line) = line {
            self.act(Action::Write(line));
        }
    }
}

/// What `look` finds in a message; nothing where that is no JSON.
pub fn with<T>(message: &[u8], look: impl FnOnce(Value<'_>) -> Option<T>) -> Option<T> {
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
