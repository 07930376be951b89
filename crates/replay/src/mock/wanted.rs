//! What a request is matched by, recorded or live.

use crate::key::{self, Level, Terms};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Side};
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::message::{Body, classify};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Params that a server has handed out. Ours are the recorded ones, to the letter, so that another
/// value is another request.
const HANDED_OUT: [&str; 4] = ["cursor", "taskId", "requestState", "elicitationId"];

/// The texts that stand for the params of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// As they are, `_meta` and spelling aside.
    pub exact: String,
    /// Without what no two runs share, and what rules take away.
    pub normalised: String,
}

impl Texts {
    /// Those of a request of `method` about `name`.
    pub fn new(
        (method, name): (&str, Option<&str>),
        params: Option<Value<'_>>,
        rules: &Rules,
        side: Side,
    ) -> Self {
        if method == "initialize" {
            return Self::same("{}".to_owned());
        }
        if is_list(method) {
            let cursor = params.and_then(|params| params.get("cursor"));
            return Self::same(cursor.map_or_else(
                || "{}".to_owned(),
                |cursor| format!("{{\"cursor\":{}}}", canonical(cursor)),
            ));
        }
        let (scope, rewrites) = (rules.scope(method, name), Rewrites::NONE);
        let terms = Terms {
            scope: &scope,
            side,
            rewrites: &rewrites,
            wall_ns: None,
        };
        let mut normalised = key::text(params, Level::Normalised, terms);
        for name in HANDED_OUT {
            if let Some(value) = params.and_then(|params| params.get(name)) {
                let _ = write!(normalised, " {name}={}", canonical(value));
            }
        }
        Self {
            exact: key::text(params, Level::Exact, terms),
            normalised,
        }
    }

    /// Those of a recorded request; `None` where it is none.
    pub fn of_recorded(message: &[u8], rules: &Rules) -> Option<Self> {
        let document = Document::parse(message).ok()?;
        let Body::Request(request) = classify(message).messages.pop()?.body else {
            return None;
        };
        let about = (&*request.method, request.name.as_deref());
        let params = document.root().get("params");
        Some(Self::new(about, params, rules, Side::Left))
    }

    fn same(text: String) -> Self {
        Self {
            normalised: text.clone(),
            exact: text,
        }
    }
}

/// The same number for the same method and text. It counts within a run only.
pub fn digest(method: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (method, text).hash(&mut hasher);
    hasher.finish()
}

/// Whether requests of `method` can always be repeated.
pub fn is_reusable(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover" | "ping") || is_list(method)
}

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list"
    )
}

/// Whether this path leads to a value that a server has handed out.
pub fn is_handed_out(path: &str) -> bool {
    let name = path.strip_prefix("params.");
    name.is_some_and(|name| HANDED_OUT.contains(&name))
}

pub fn name(method: &str, name: Option<&str>) -> u64 {
    digest(method, name.unwrap_or_default())
}

/// What is known of a live request.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub method: Box<str>,
    pub name: Option<Box<str>>,
    /// The texts that stand for its params.
    pub texts: Texts,
    pub exact: u64,
    /// Digest of method and normalised text.
    pub normalised: u64,
}

impl Wanted {
    /// What a request of `method` about `name` is matched by.
    pub fn new(method: &str, name: Option<&str>, params: Option<Value<'_>>, rules: &Rules) -> Self {
        let texts = Texts::new((method, name), params, rules, Side::Right);
        Self {
            method: method.into(),
            name: name.map(Into::into),
            exact: digest(method, &texts.exact),
            normalised: digest(method, &texts.normalised),
            texts,
        }
    }

    pub fn name_digest(&self) -> u64 {
        name(&self.method, self.name.as_deref())
    }

    pub fn method_digest(&self) -> u64 {
        name(&self.method, None)
    }

    /// Whether it can always be repeated.
    pub fn is_reusable(&self) -> bool {
        is_reusable(&self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(params: &str) -> Texts {
        let document = Document::parse(params.as_bytes()).unwrap();
        let about = ("tasks/get", None);
        Texts::new(about, Some(document.root()), &Rules::default(), Side::Left)
    }

    #[test]
    fn what_was_handed_out_has_to_come_back_as_it_was() {
        let (one, other) = (texts(r#"{"taskId":"a-1"}"#), texts(r#"{"taskId":"a-2"}"#));
        assert_ne!(one.normalised, other.normalised);
        let at = |time: &str| texts(&format!("{{\"taskId\":1,\"since\":\"{time}\"}}"));
        let (one, other) = (at("2026-11-20T15:17:03Z"), at("2026-11-21T09:00:00Z"));
        assert_ne!(one.exact, other.exact);
        assert_eq!(one.normalised, other.normalised);
    }
}
