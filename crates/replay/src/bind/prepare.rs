//! A recorded message, made ready to be sent.

use super::known::{Chosen, Slot};
use super::places::{Place, each_string, places};
use super::{About, Binder, Round, handle};
use crate::diff::Half;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Edits, Path, Step, Value};
use mcpreel_wire::message::Direction;
use std::borrow::Cow;

/// The role of a message of the client.
#[derive(Clone, Copy, Debug)]
pub enum Role<'a> {
    Request {
        method: &'a str,
        name: Option<&'a str>,
        /// The input round of which it is the retry.
        round: Option<&'a Round>,
    },
    Notification(&'a str),
    /// The answer to a request of the server that has this id now: JSON text.
    Answer(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Redacted values in it are not known: the names of their placeholders.
    Redacted(Vec<Box<str>>),
    /// The message needs a value that did not come: the reason.
    Unreached(Box<str>),
}

/// The values that a message lacks.
#[derive(Default)]
struct Lacking {
    redacted: Vec<Box<str>>,
    unreached: Option<Box<str>>,
}

impl Binder {
    /// The bytes to send for the frame `seq`, whose recorded bytes are `raw`: `raw` itself where
    /// nothing in it changes.
    pub fn prepare<'t>(
        &mut self,
        seq: Seq,
        raw: &'t [u8],
        role: Role<'_>,
    ) -> Result<Cow<'t, [u8]>, Fault> {
        let Ok(document) = Document::parse(raw) else {
            // What is no JSON goes out as it is, unless something in it is redacted.
            let (_, redacted) = self.secrets.fill(&String::from_utf8_lossy(raw));
            return if redacted.is_empty() {
                Ok(Cow::Borrowed(raw))
            } else {
                Err(Fault::Redacted(redacted))
            };
        };
        let (message, mut edits) = (document.root(), Edits::default());
        let (method, name) = match role {
            Role::Request {
                method,
                name,
                round,
            } => {
                if let Some(round) = round {
                    round.answer(message, &mut edits);
                }
                for (path, json) in self.edits.get(&seq).into_iter().flatten() {
                    put(message, path, json, &mut edits);
                }
                self.edit_request(message, &mut edits);
                (method, name)
            }
            Role::Notification(method) => {
                self.edit_notification(message, method, &mut edits);
                (method, None)
            }
            Role::Answer(id) => {
                if let Some(recorded) = message.get("id") {
                    edits.replace(recorded, id);
                }
                ("", None)
            }
        };
        self.edit_values(message, About { seq, method, name }, &mut edits)?;
        Ok(edits.apply(raw))
    }

    /// Replaces values that the server chose, redacted values and roots.
    fn edit_values(
        &mut self,
        message: Value<'_>,
        about: About<'_>,
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let mut edited = Vec::new();
        let ruled = self.ruled(message, about, Half::Request).into_iter();
        let ruled = ruled.map(|(rule, value)| (Chosen::by_rule(rule, value), value));
        for place in ruled.chain(places(message, about.method, Direction::ClientToServer)) {
            let span = place.1.span();
            if !edited.contains(&span) && self.edit_chosen(&place, edits)? {
                edited.push(span);
            }
        }
        let mut lacking = Lacking::default();
        for half in ["params", "result", "error"] {
            if let Some(value) = message.get(half) {
                each_string(value, &mut Vec::new(), &mut |names, value| {
                    if !edited.contains(&value.span()) {
                        self.edit_string(value, names, edits, &mut lacking);
                    }
                });
            }
        }
        match lacking.unreached {
            Some(what) => Err(Fault::Unreached(what)),
            None if lacking.redacted.is_empty() => Ok(()),
            None => Err(Fault::Redacted(lacking.redacted)),
        }
    }

    /// Changes a text of a message that the server did not choose as a whole by the protocol;
    /// `names` are those of the members on the way to it.
    fn edit_string(
        &mut self,
        value: Value<'_>,
        names: &[Value<'_>],
        edits: &mut Edits,
        lacking: &mut Lacking,
    ) {
        let recorded = value.as_str().unwrap_or_default();
        let (filled, redacted) = self.secrets.fill(&recorded);
        lacking.redacted.extend(redacted);
        // What is called is no handle, whatever it looks like, and a state belongs to its round.
        let is_name = matches!(names, [only] if only.is_str("name") || only.is_str("requestState"));
        let is_free = is_name || self.known.is_empty();
        let text = if is_free { "" } else { &filled };
        let bound = handle::replaced(text, |part| match self.known.send(part)? {
            Ok(live) => Some(live.to_owned()),
            Err(what) => {
                lacking.unreached.get_or_insert_with(|| what.into());
                None
            }
        });
        let now = self.rewrites.apply(bound.as_deref().unwrap_or(&filled));
        if *now != *recorded {
            edits.replace_string(value, &now);
        }
    }

    /// Whether it is known what the server chose there.
    fn edit_chosen(&self, (chosen, value): &Place<'_>, edits: &mut Edits) -> Result<bool, Fault> {
        let live = match self.known.chosen(chosen) {
            None => return Ok(false),
            Some(Err(missing)) => return Err(Fault::Unreached(missing.into())),
            Some(Ok(live)) => live,
        };
        match chosen.slot {
            Slot::Rule(_) | Slot::Token => edits.replace(*value, live),
            _ if value.is_str(live) => {}
            _ => edits.replace_string(*value, live),
        }
        Ok(true)
    }
}

/// Puts a value at a path: in place of what is there, or as a new member.
fn put(message: Value<'_>, path: &Path, json: &str, edits: &mut Edits) {
    if let Some(value) = path.first(message) {
        edits.replace(value, json);
        return;
    }
    if let Some((Step::Member(name), above)) = path.steps().split_last()
        && let Some(parent) = Path::new(above.to_vec()).first(message)
    {
        edits.insert(parent, name, json);
    }
}
