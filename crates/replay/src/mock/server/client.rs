//! What the live client has said about itself.

use mcpreel_wire::json::{Value, follow};
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::levels::LEVELS;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::Identity;
use std::collections::BTreeSet;

/// Resources that are subscribed to at most: a host may subscribe in a loop.
const MOST_SUBSCRIBED: usize = 10_000;

/// Bytes of an `initialize` request that are kept for a server behind us.
const MOST_KEPT: usize = 1 << 20;

/// How far the handshake has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    Starting,
    Initializing,
    /// `notifications/initialized` has come, or a request of the modern era.
    Ready,
}

#[derive(Debug, Default)]
pub struct Client {
    pub phase: Phase,
    /// What it declared with `initialize`.
    capabilities: Option<Declared>,
    pub initialize: Option<Vec<u8>>,
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
    pub fn initializes(&mut self, identity: Option<&Identity>, message: &[u8]) {
        let capabilities = identity.and_then(|identity| identity.capabilities.as_deref());
        self.capabilities = Some(Declared::read(capabilities));
        self.initialize = (message.len() <= MOST_KEPT).then(|| message.to_vec());
        if self.phase == Phase::Starting {
            self.phase = Phase::Initializing;
        }
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
        client.initializes(Some(&identity), b"{}");
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
