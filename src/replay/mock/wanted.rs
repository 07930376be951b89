//! What a request is matched by, recorded or live.

use crate::protocol::json::{Value, canonical};
use crate::replay::key::{self, digest};

/// The text that stands for the params of a request of `method`.
#[must_use]
pub fn text(method: &str, params: Option<Value<'_>>) -> String {
    if method == "initialize" {
        return "{}".to_owned();
    }
    if !is_list(method) {
        return key::exact(params);
    }
    let cursor = params.and_then(|params| params.get("cursor"));
    cursor.map_or_else(
        || "{}".to_owned(),
        |cursor| format!("{{\"cursor\":{}}}", canonical(cursor)),
    )
}

/// Whether requests of `method` can always be repeated.
#[must_use]
pub fn is_reusable(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover" | "ping") || is_list(method)
}

fn is_list(method: &str) -> bool {
    matches!(
        method,
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list"
    )
}

/// A digest of method and name.
#[must_use]
pub fn name(method: &str, name: Option<&str>) -> u64 {
    digest(method, name.unwrap_or_default())
}

/// What is known of a live request.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its method.
    pub method: Box<str>,
    /// Tool, prompt, URI.
    pub name: Option<Box<str>>,
    /// The text that stands for its params.
    pub text: String,
    /// Digest of method and text.
    pub exact: u64,
    /// Digest of method and normalised text.
    pub normalised: u64,
}

impl Wanted {
    /// What a request of `method` about `name` is matched by.
    #[must_use]
    pub fn new(method: &str, name: Option<&str>, params: Option<Value<'_>>) -> Self {
        let text = text(method, params);
        Self {
            method: method.into(),
            name: name.map(Into::into),
            exact: digest(method, &text),
            normalised: digest(method, &key::normalised(&text)),
            text,
        }
    }

    /// Digest of method and name.
    #[must_use]
    pub fn name_digest(&self) -> u64 {
        name(&self.method, self.name.as_deref())
    }

    /// Digest of the method.
    #[must_use]
    pub fn method_digest(&self) -> u64 {
        name(&self.method, None)
    }

    /// Whether it can always be repeated.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        is_reusable(&self.method)
    }
}
