//! The params of a request as texts by which requests are told apart. Pure.

use crate::diff::key::{self, Level, Terms};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Side};
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::message::{Body, classify};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Params that a server has handed out. Ours are the recorded ones, to the letter, so that another
/// value is another request.
pub const HANDED_OUT: [&str; 4] = ["cursor", "taskId", "requestState", "elicitationId"];

/// The texts that stand for the params of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// In canonical form, without `_meta`.
    pub exact: String,
    /// The same without values that no two runs share, and without what rules take away.
    pub normalised: String,
}

impl Texts {
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

    /// The texts of a recorded request; `None` where `message` is no request.
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

/// The same number for the same method and text, within one process.
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

/// A live request, as it is matched.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub method: Box<str>,
    pub name: Option<Box<str>>,
    pub texts: Texts,
    pub exact: u64,
    pub normalised: u64,
}

impl Wanted {
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

    /// The digest of method and name.
    pub fn name_digest(&self) -> u64 {
        digest(&self.method, self.name.as_deref().unwrap_or_default())
    }

    pub fn method_digest(&self) -> u64 {
        digest(&self.method, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_were_handed_out_have_to_come_back_as_they_were() {
        let texts = |params: &str| {
            let document = Document::parse(params.as_bytes()).unwrap();
            let about = ("tasks/get", None);
            Texts::new(about, Some(document.root()), &Rules::default(), Side::Left)
        };
        let (one, other) = (texts(r#"{"taskId":"a-1"}"#), texts(r#"{"taskId":"a-2"}"#));
        assert_ne!(one.normalised, other.normalised);
        let at = |time: &str| texts(&format!("{{\"taskId\":1,\"since\":\"{time}\"}}"));
        let (one, other) = (at("2026-11-20T15:17:03Z"), at("2026-11-21T09:00:00Z"));
        assert_ne!(one.exact, other.exact);
        assert_eq!(one.normalised, other.normalised);
    }
}
