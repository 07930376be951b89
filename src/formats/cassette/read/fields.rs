//! The members of a line.

use crate::formats::cassette::keys::Keys;
use crate::protocol::json::{Document, Value};
use crate::trace::event::EventKind;

/// The members of a line.
#[derive(Debug, Default)]
pub(super) struct Fields<'d> {
    pub cassette: Option<Value<'d>>,
    pub n: Option<Value<'d>>,
    pub t: Option<Value<'d>>,
    pub t0: Option<Value<'d>>,
    pub d: Option<Value<'d>>,
    pub k: Option<Value<'d>>,
    pub raw: Option<Value<'d>>,
    pub b64: Option<Value<'d>>,
    pub text: Option<Value<'d>>,
    pub event: Option<Value<'d>>,
    pub unknown: Option<Keys>,
}

impl<'d> Fields<'d> {
    /// What the object `line` has; of several members of one name the last.
    pub fn of(line: Value<'d>) -> Self {
        let mut fields = Self {
            unknown: Keys::of(line),
            ..Self::default()
        };
        for (key, value) in line.members() {
            let field = match key.as_str().as_deref().unwrap_or_default() {
                "cassette" => &mut fields.cassette,
                "n" => &mut fields.n,
                "t" => &mut fields.t,
                "t0" => &mut fields.t0,
                "d" => &mut fields.d,
                "k" => &mut fields.k,
                "raw" => &mut fields.raw,
                "b64" => &mut fields.b64,
                "text" => &mut fields.text,
                "event" => &mut fields.event,
                // What is not known is kept; what is derived, the bytes say as well.
                _ => continue,
            };
            *field = Some(value);
        }
        fields
    }

    /// What kind of line it is.
    pub fn is(&self, kind: &str) -> bool {
        self.k.is_some_and(|k| k.is_str(kind))
    }

    /// The number of its frame.
    pub fn number(&self) -> Option<u64> {
        self.n?.number_text()?.parse().ok()
    }

    /// Its event, if this version knows it.
    pub fn event(&self) -> Option<EventKind> {
        serde_json::from_slice(self.event?.raw()).ok()
    }
}

/// The start event, if that is what `line` holds, and what else stands there.
pub(super) fn start(line: &[u8]) -> Option<(EventKind, Option<Keys>)> {
    let document = Document::parse(line).ok()?;
    let fields = Fields::of(document.root());
    let event = fields.event().filter(|_| fields.is("event"))?;
    matches!(event, EventKind::Start(_)).then_some((event, fields.unknown))
}
