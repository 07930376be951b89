//! A recorded message, made ready to be sent.

use super::known::Slot;
use super::places::{From, Place, each_string, places};
use super::{About, Binder, Round, handle};
use mcpreel_redact::token;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Edits, Path, Step, Value, parse_into};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::sync::LazyLock;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Built once: to build it takes as long as to search a message.
static TRACEPARENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("traceparent"));

/// A message of a frame that is to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// Its place in a batch, 0 where there is none.
    pub part: u32,
    pub role: Role<'a>,
}

/// What a message of the client is.
#[derive(Clone, Copy, Debug)]
pub enum Role<'a> {
    Request {
        method: &'a str,
        name: Option<&'a str>,
        /// What it answers, where it is the retry of an input round.
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
    /// It needs something that did not come: what.
    Unreached(Box<str>),
}

impl Binder {
    /// The bytes to send for the frame `seq`, whose recorded bytes are `raw`: `raw` itself where
    /// nothing in it changes.
    pub fn prepare<'t>(
        &mut self,
        seq: Seq,
        raw: &'t [u8],
        parts: &[Outgoing<'_>],
    ) -> Result<Cow<'t, [u8]>, Fault> {
        if !self.may_change(seq, raw, parts) {
            return Ok(Cow::Borrowed(raw));
        }
        let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
        let mut nodes = std::mem::take(&mut self.nodes);
        let changed = match parse_into(text, &mut nodes) {
            Ok(root) => self.edit(seq, root, parts).map(|edits| edits.apply(text)),
            Err(_) => not_json(text),
        };
        self.nodes = nodes;
        Ok(match changed? {
            Cow::Borrowed(_) => Cow::Borrowed(raw),
            Cow::Owned(changed) if text.len() < raw.len() => {
                Cow::Owned([BYTE_ORDER_MARK, &changed].concat())
            }
            Cow::Owned(changed) => Cow::Owned(changed),
        })
    }

    fn may_change(&self, seq: Seq, raw: &[u8], parts: &[Outgoing<'_>]) -> bool {
        let by_part = |part: &Outgoing<'_>| {
            !matches!(
                part.role,
                Role::Request { round: None, .. } | Role::Notification(_)
            )
        };
        self.fresh_ids
            || self.protocol.is_some()
            || !self.known.is_empty()
            || !self.rewrites.is_empty()
            || self.edits.contains_key(&seq)
            || parts.iter().any(by_part)
            || token::may_be_in(raw)
            || (self.span_seed.is_some() && TRACEPARENT.find(raw).is_some())
    }

    fn edit(&mut self, seq: Seq, root: Value<'_>, parts: &[Outgoing<'_>]) -> Result<Edits, Fault> {
        let mut edits = Edits::default();
        for part in parts {
            let message = if root.is_object() {
                Some(root)
            } else {
                root.index(part.part as usize)
            };
            if let Some(message) = message {
                self.edit_message(seq, message, part.role, &mut edits)?;
            }
        }
        Ok(edits)
    }

    fn edit_message(
        &mut self,
        seq: Seq,
        message: Value<'_>,
        role: Role<'_>,
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let (method, name) = match role {
            Role::Request {
                method,
                name,
                round,
            } => {
                if let Some(round) = round {
                    round.answer(message, edits);
                }
                for (path, json) in self.edits.get(&seq).into_iter().flatten() {
                    put(message, path, json, edits);
                }
                self.edit_request(message, edits);
                (method, name)
            }
            Role::Notification(method) => {
                self.edit_notification(message, method, edits);
                (method, None)
            }
            Role::Answer(id) => {
                if let Some(recorded) = message.get("id") {
                    edits.replace(recorded, id);
                }
                ("", None)
            }
        };
        self.edit_values(message, About { seq, method, name }, edits)
    }

    /// What the server chose, what was redacted, and where the roots are.
    fn edit_values(
        &mut self,
        message: Value<'_>,
        about: About<'_>,
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let mut edited = Vec::new();
        for place in self.chosen(message, about) {
            if self.edit_chosen(&place, edits)? {
                edited.push(place.value.span());
            }
        }
        let (mut redacted, mut unreached) = (Vec::new(), None);
        for value in ["params", "result", "error"].map(|half| message.get(half)) {
            let Some(value) = value else { continue };
            each_string(value, &mut Vec::new(), &mut |names, value| {
                if edited.contains(&value.span()) {
                    return;
                }
                match self.edit_string(value, names, edits) {
                    Err(Fault::Redacted(names)) => redacted.extend(names),
                    Err(Fault::Unreached(what)) => drop(unreached.get_or_insert(what)),
                    Ok(()) => {}
                }
            });
        }
        match unreached {
            Some(what) => Err(Fault::Unreached(what)),
            None if redacted.is_empty() => Ok(()),
            None => Err(Fault::Redacted(redacted)),
        }
    }

    /// The values that rules, and those that the protocol says the server chooses.
    fn chosen<'d>(&self, message: Value<'d>, about: About<'_>) -> Vec<Place<'d>> {
        let mut chosen = self.ruled(message, about);
        let ruled = chosen.len();
        for place in places(message, about.method, From::Client) {
            let is_same = |other: &Place<'_>| other.value.span() == place.value.span();
            if !chosen[..ruled].iter().any(is_same) {
                chosen.push(place);
            }
        }
        chosen
    }

    /// Whether it is known what the server chose there.
    fn edit_chosen(&mut self, place: &Place<'_>, edits: &mut Edits) -> Result<bool, Fault> {
        match (self.known.chosen(&place.chosen), place.chosen.slot) {
            (None, _) => return Ok(false),
            (Some(Ok(live)), Slot::Token) => edits.replace(place.value, live),
            (Some(Ok(live)), Slot::Rule(at)) => {
                if live != place.value.raw_text() {
                    edits.replace(place.value, live);
                    self.fired.extend(self.binds.get(at).map(|(id, _)| *id));
                }
            }
            (Some(Ok(live)), _) => {
                if live != &*place.chosen.value {
                    edits.replace_string(place.value, live);
                }
            }
            (Some(Err(missing)), _) => return Err(Fault::Unreached(missing.into())),
        }
        Ok(true)
    }
}

/// A line that is no JSON goes out as it is, unless something in it is redacted.
fn not_json(line: &[u8]) -> Result<Cow<'_, [u8]>, Fault> {
    let text = String::from_utf8_lossy(line);
    let names: Vec<Box<str>> = token::placeholders(&text).map(Into::into).collect();
    if names.is_empty() {
        Ok(Cow::Borrowed(line))
    } else {
        Err(Fault::Redacted(names))
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

impl Binder {
    /// Changes a text of a message that the server did not choose as a whole by the protocol;
    /// `names` are those of the members on the way to it.
    fn edit_string(
        &mut self,
        value: Value<'_>,
        names: &[Value<'_>],
        edits: &mut Edits,
    ) -> Result<(), Fault> {
        let recorded = value.as_str().unwrap_or_default();
        let filled = self.secrets.fill(&recorded).map_err(Fault::Redacted)?;
        // What is called is no handle, whatever it looks like, and a state belongs to its round.
        let is_name = matches!(names, [only] if only.is_str("name") || only.is_str("requestState"));
        let mut missing = None;
        let live = |part: &str| match self.known.send(part)? {
            Ok((live, rule)) => {
                let rule = rule.and_then(|at| self.binds.get(at));
                self.fired.extend(rule.map(|(id, _)| *id));
                Some(live.to_owned())
            }
            Err(what) => {
                missing = Some(what.into());
                None
            }
        };
        let bound = if is_name {
            None
        } else {
            handle::replaced(&filled, live)
        };
        if let Some(missing) = missing {
            return Err(Fault::Unreached(missing));
        }
        let now = self.rewrites.apply(bound.as_deref().unwrap_or(&filled));
        if *now != *recorded {
            edits.replace_string(value, &now);
        }
        Ok(())
    }
}
