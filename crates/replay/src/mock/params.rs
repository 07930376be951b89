//! What a request asks for, as texts by which requests are told apart. Pure.

use crate::diff::key::{self, Level, Terms};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Side};
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::message::{Body, classify};
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Params that a server has handed out: another value is another request.
pub const HANDED_OUT: [&str; 4] = ["cursor", "taskId", "requestState", "elicitationId"];

/// A method and its tool, prompt or resource. Not escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub method: Box<str>,
    pub name: Option<Box<str>>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.method),
            None => f.write_str(&self.method),
        }
    }
}

impl Subject {
    /// Whether the request can always be repeated.
    pub fn is_reusable(&self) -> bool {
        matches!(&*self.method, "initialize" | "server/discover" | "ping") || is_list(&self.method)
    }
}

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list"
    )
}

#[derive(Clone, Debug)]
pub struct Wanted {
    pub subject: Subject,
    /// The params in canonical form, without `_meta`.
    pub exact: String,
    /// The same without values that no two runs share, and without what rules take away.
    pub normalised: String,
}

impl Wanted {
    /// A request that was recorded (the left side) or came live (the right one).
    pub fn new(subject: Subject, params: Option<Value<'_>>, rules: &Rules, side: Side) -> Self {
        let (exact, normalised) = match &*subject.method {
            "initialize" => ("{}".to_owned(), "{}".to_owned()),
            method if is_list(method) => {
                let cursor = params.and_then(|params| params.get("cursor"));
                let cursor = cursor.map(|cursor| format!("\"cursor\":{}", canonical(cursor)));
                let text = format!("{{{}}}", cursor.unwrap_or_default());
                (text.clone(), text)
            }
            method => {
                let (scope, rewrites) =
                    (rules.scope(method, subject.name.as_deref()), Rewrites::NONE);
                let terms = Terms {
                    scope: &scope,
                    side,
                    rewrites: &rewrites,
                    wall_ns: None,
                };
                let mut normalised = key::text(params, Level::Normalised, terms);
                for name in HANDED_OUT {
                    if let Some(value) = params.and_then(|params| params.get(name)) {
                        // Writing to a string does not fail.
                        let _ = write!(normalised, " {name}={}", canonical(value));
                    }
                }
                (key::text(params, Level::Exact, terms), normalised)
            }
        };
        Self {
            subject,
            exact,
            normalised,
        }
    }

    /// The recorded request on `line`; `None` where there is none.
    pub fn recorded(line: &[u8], rules: &Rules) -> Option<Self> {
        let document = Document::parse(line).ok()?;
        let Body::Request(request) = classify(line).messages.pop()?.body else {
            return None;
        };
        let subject = Subject {
            method: request.method,
            name: request.name,
        };
        let params = document.root().get("params");
        Some(Self::new(subject, params, rules, Side::Left))
    }

    /// Digests of the exact and the normalised text, the same within one process.
    pub fn digests(&self) -> [u64; 2] {
        [&self.exact, &self.normalised].map(|text| {
            let mut hasher = DefaultHasher::new();
            (&self.subject.method, text).hash(&mut hasher);
            hasher.finish()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_handed_out_have_to_come_back_as_they_were() {
        let texts = |params: &str| {
            let document = Document::parse(params.as_bytes()).unwrap();
            let subject = Subject {
                method: "tasks/get".into(),
                name: None,
            };
            Wanted::new(
                subject,
                Some(document.root()),
                &Rules::default(),
                Side::Left,
            )
        };
        let (one, other) = (texts(r#"{"taskId":"a-1"}"#), texts(r#"{"taskId":"a-2"}"#));
        assert_ne!(one.normalised, other.normalised);
        let at = |time: &str| texts(&format!("{{\"taskId\":1,\"since\":\"{time}\"}}"));
        let (one, other) = (at("2026-11-20T15:17:03Z"), at("2026-11-21T09:00:00Z"));
        assert_ne!(one.exact, other.exact);
        assert_eq!(one.normalised, other.normalised);
    }
}
