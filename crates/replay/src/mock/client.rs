//! What the live client has said that the mock's answers depend on. Pure.

use super::index::Index;
use super::matcher::Subject;
use compact_str::CompactString;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::{Body, Identity, Outcome, classify};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub struct Client {
    /// Whether it has made a request of the modern era.
    is_modern: bool,
    /// The capabilities that the client declared with `initialize`.
    capabilities: Option<Declared>,
}

impl Client {
    pub fn initializes(&mut self, identity: Option<&Identity>) {
        let capabilities = identity.and_then(|identity| identity.capabilities.as_deref());
        self.capabilities = Some(Declared::read(capabilities));
    }

    pub fn asks_modern(&mut self) {
        self.is_modern = true;
    }

    /// Whether it goes without a handshake.
    pub fn is_modern(&self) -> bool {
        self.is_modern && self.capabilities.is_none()
    }

    /// Whether it declared the capability that a request of the server needs.
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

/// Rounds that wait for their retry; the oldest are forgotten.
const WAITING: usize = 256;

/// Answers that asked for input without a `requestState`, the newest first: the entry, and the keys
/// of what was asked.
#[derive(Debug, Default)]
pub struct Rounds(VecDeque<(usize, Vec<CompactString>)>);

impl Rounds {
    /// The entry was answered by `line`, which asks for input.
    pub fn wait(&mut self, entry: usize, line: &[u8]) {
        let asked = classify(line).messages.pop();
        if let Some(Body::Response(response)) = asked.map(|message| message.body)
            && let Outcome::InputRequired(round) = response.outcome
            && round.state.is_none()
        {
            self.0.truncate(WAITING - 1);
            self.0.push_front((entry, round.keys));
        }
    }

    /// The newest round about `subject` that asked for just what `keys` bring.
    pub fn take(
        &mut self,
        index: &Index,
        subject: &Subject,
        keys: &[CompactString],
    ) -> Option<usize> {
        let at = self.0.iter().position(|(entry, asked)| {
            index.entries[*entry].subject == *subject
                && keys.is_empty() == asked.is_empty()
                && keys.iter().all(|key| asked.contains(key))
        })?;
        self.0.remove(at).map(|(entry, _)| entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    fn asked(capabilities: &str, method: &str, params: &str) -> bool {
        let mut client = Client::default();
        client.initializes(Some(&Identity {
            capabilities: Some(capabilities.into()),
            ..Identity::default()
        }));
        let document = Document::parse(params.as_bytes()).unwrap();
        client.may_be_asked(method, Some(document.root()))
    }

    #[test]
    fn only_what_was_declared_is_asked() {
        let (form, url) = ("{}", r#"{"mode":"url"}"#);
        let elicit = "elicitation/create";
        for (capabilities, method, params, may) in [
            ("{}", "ping", "{}", true),
            ("{}", "roots/list", "{}", false),
            (r#"{"roots":{}}"#, "roots/list", "{}", true),
            (r#"{"elicitation":{}}"#, elicit, form, true),
            (r#"{"elicitation":{}}"#, elicit, url, false),
            (r#"{"elicitation":{"url":{}}}"#, elicit, form, false),
            (r#"{"elicitation":{"url":{}}}"#, elicit, url, true),
            (
                r#"{"elicitation":{"url":{},"form":{}}}"#,
                elicit,
                form,
                true,
            ),
            (r#"{"sampling":{}}"#, "sampling/createMessage", "{}", true),
            ("{}", "vendor/ask", "{}", true),
        ] {
            let found = asked(capabilities, method, params);
            assert_eq!(found, may, "{capabilities} {method} {params}");
        }
        assert!(!Client::default().may_be_asked("roots/list", None));
    }
}
