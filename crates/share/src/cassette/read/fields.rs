//! The members of a line.

use crate::cassette::keys::{Keys, strange};
use mcpreel_trace::event::EventKind;
use mcpreel_wire::json::{Document, Value};

/// Keys of what the bytes of a line say as well: nobody reads them.
const DERIVED: [&str; 3] = ["m", "re", "in"];

#[derive(Debug, Default)]
pub(super) struct Fields<'d> {
    pub cassette: Option<Value<'d>>,
    pub n: Option<Value<'d>>,
    pub t: Option<Value<'d>>,
    pub t0: Option<Value<'d>>,
    pub d: Option<Value<'d>>,
    pub k: Option<Value<'d>>,
    pub seen: Option<Value<'d>>,
    pub raw: Option<Value<'d>>,
    pub b64: Option<Value<'d>>,
    pub text: Option<Value<'d>>,
    pub event: Option<Value<'d>>,
    pub unknown: Option<Keys>,
}

impl<'d> Fields<'d> {
    /// What the object `line` has; of several members of one name the last.
    pub fn of(line: Value<'d>) -> Self {
        let mut fields = Self::default();
        for (key, value) in line.members() {
            let name = key.as_str().unwrap_or_default();
            match fields.place(&name) {
                Some(place) => *place = Some(value),
                None if DERIVED.contains(&&*name) => {}
                None => fields.unknown.get_or_insert_default().add(key, value),
            }
        }
        fields
    }

    /// Where the value of a key is kept, if it is.
    fn place(&mut self, key: &str) -> Option<&mut Option<Value<'d>>> {
        Some(match key {
            "cassette" => &mut self.cassette,
            "n" => &mut self.n,
            "t" => &mut self.t,
            "t0" => &mut self.t0,
            "d" => &mut self.d,
            "k" => &mut self.k,
            "seen" => &mut self.seen,
            "raw" => &mut self.raw,
            "b64" => &mut self.b64,
            "text" => &mut self.text,
            "event" => &mut self.event,
            _ => return None,
        })
    }

    pub fn is(&self, kind: &str) -> bool {
        self.k.is_some_and(|k| k.is_str(kind))
    }

    pub fn number(&self) -> Option<u64> {
        self.n?.number_text()?.parse().ok()
    }

    /// Its event, if this version knows it.
    pub fn event(&self) -> Option<EventKind> {
        serde_json::from_slice(self.event?.raw()).ok()
    }
}

/// Whether this version knows the key.
pub(crate) fn is_known(key: &str) -> bool {
    DERIVED.contains(&key) || Fields::default().place(key).is_some()
}

/// What nobody knows of the line of the start event.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub keys: Option<Keys>,
    pub strange: Vec<String>,
}

/// The start event, if that is what `line` holds, and what else stands there.
pub(super) fn start(line: &[u8]) -> Option<(EventKind, Beside)> {
    let document = Document::parse(line).ok()?;
    let fields = Fields::of(document.root());
    let event = fields.event().filter(|_| fields.is("event"))?;
    let beside = Beside {
        strange: strange(&event, fields.event?),
        keys: fields.unknown,
    };
    matches!(event, EventKind::Start(_)).then_some((event, beside))
}
