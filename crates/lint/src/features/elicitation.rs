//! Forms: what they ask for, and what is filled in.

use super::{Asking, ELICIT_CONTENT_MISMATCH, ELICIT_SENSITIVE_FORM, asked_of_client, member};
use crate::Part;
use crate::quote::{self, expression, written};
use crate::tools::schema::{self, Checker};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::brief;
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::message::Body;
use regex::Regex;
use std::sync::LazyLock;

/// Schemas that are remembered until they are answered. What is filled into older forms is not
/// looked at.
const SCHEMAS: usize = 128;

/// Bytes of a schema that is remembered. Together with [`SCHEMAS`] it bounds the memory.
const SCHEMA_BYTES: usize = 16 * 1024;

/// Fields of a form that are looked at.
const FIELDS: usize = 256;

/// Findings in one form. Without a limit a form of a thousand fields would be a thousand.
const FEW: usize = 4;

/// The schemas of forms that wait for an answer, as JSON text.
#[derive(Debug, Default)]
pub(super) struct Forms(BoundedMap<Waiting, Box<[u8]>, SCHEMAS>);

/// The key by which the answer to a form is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    Exchange(ExchangeId),
    /// The answer comes with the request repeated: the digest of method, name, state and key.
    Round(u64),
}

impl Forms {
    pub fn part(&mut self, part: &Part<'_>) {
        let asked = asked_of_client(part, "elicitation/create");
        match part.message.body {
            Body::Response(_) => self.answered(part),
            Body::Request(_) => self.repeated(part),
            _ => {}
        }
        for asking in asked {
            sensitive_fields(part, &asking);
            let waiting = match &asking.key {
                None => part.exchange().map(Waiting::Exchange),
                Some(key) => {
                    let state = part.result().and_then(|result| result.get("requestState"));
                    Some(round(part, state, key))
                }
            };
            let schema = asking.params.get("requestedSchema");
            let schema = schema.filter(|schema| schema.raw().len() <= SCHEMA_BYTES);
            if let Some((waiting, schema)) = waiting.zip(schema) {
                self.0.insert(waiting, schema.raw().into());
            }
        }
    }

    fn answered(&mut self, part: &Part<'_>) {
        let exchange = part.exchange().map(Waiting::Exchange);
        let schema = exchange.and_then(|exchange| self.0.remove(&exchange));
        if let Some((schema, result)) = schema.zip(part.result()) {
            filled(part, &schema, result, vec![member("result")]);
        }
    }

    /// Answers that come with the request repeated.
    fn repeated(&mut self, part: &Part<'_>) {
        let responses = part.param("inputResponses");
        let responses = responses
            .into_iter()
            .flat_map(|responses| responses.members());
        for (key, response) in responses.take(FIELDS) {
            let key = key.as_str().unwrap_or_default();
            let waiting = round(part, part.param("requestState"), &key);
            if let Some(schema) = self.0.get(&waiting) {
                let place = ["params", "inputResponses", &key].map(member).into();
                filled(part, schema, response, place);
            }
        }
    }
}

fn round(part: &Part<'_>, state: Option<Value<'_>>, key: &str) -> Waiting {
    let state = state.and_then(|state| state.as_str()).unwrap_or_default();
    let (state, key) = (brief::text(&state), brief::text(key));
    let name = part.record.name.as_deref();
    Waiting::Round(digest((part.method(), name, &*state, &*key)))
}

/// Holds an accepted answer against the schema of its form.
fn filled(part: &Part<'_>, schema: &[u8], answer: Value<'_>, mut place: Vec<Step>) {
    let is_accepted = answer.get("action").is_some_and(|one| one.is_str("accept"));
    let content = answer
        .get("content")
        .filter(|content| is_accepted && content.is_object());
    let Some(content) = content else { return };
    place.push(member("content"));
    let checker = schema::read(schema).and_then(|it| Checker::new(it, part.revision(), true));
    let violations = checker.and_then(|checker| checker.check(content));
    for violation in violations.into_iter().flatten() {
        let path = place.iter().cloned().chain(violation.path);
        let path = written(path.collect());
        part.tell_at(&ELICIT_CONTENT_MISMATCH, path, violation.message);
    }
}

fn sensitive_fields(part: &Part<'_>, asking: &Asking<'_>) {
    let schema = asking.params.get("requestedSchema");
    let properties = schema.and_then(|schema| schema.get("properties"));
    let fields = properties
        .into_iter()
        .flat_map(|properties| properties.members());
    let names = fields.take(FIELDS).filter_map(|(name, field)| {
        let name = name.as_str()?;
        let title = field.get("title").and_then(|title| title.as_str());
        let is_one = is_sensitive(&name) || title.as_deref().is_some_and(is_sensitive);
        is_one.then_some(name)
    });
    for name in names.take(FEW) {
        let detail = format!("the field \"{}\"", quote::text(&name));
        let path = asking.path(["requestedSchema", "properties", &name].map(member));
        part.tell_at(&ELICIT_SENSITIVE_FORM, path, detail);
    }
}

/// Bytes of a name that are looked at.
const NAME: usize = 256;

/// Whether a field of this name or title seems to ask for something secret.
fn is_sensitive(name: &str) -> bool {
    static SECRET: LazyLock<Regex> = LazyLock::new(|| {
        let alone = "password|passwd|passphrase|passcode|secret|token|apikey|credentials?";
        let pairs = r"(?:api|private|access|secret)\s+key|pass\s+word";
        expression(&format!(r"\b(?:{alone}|{pairs})\b"))
    });
    SECRET.is_match(&words(name))
}

/// The words of a name in lower case: `apiKey`, `api_key` and `API key` have the same two.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut was_lower = false;
    for char in name.chars().take(NAME) {
        if char.is_uppercase() && was_lower || !char.is_alphanumeric() {
            words.push(' ');
        }
        words.extend(char.to_lowercase().filter(|_| char.is_alphanumeric()));
        was_lower = char.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_by_their_words() {
        for name in [
            "password",
            "userPassword",
            "API key",
            "api_key",
            "apiKey",
            "access-token",
            "Token",
            "client_secret",
            "Private Key",
            "GITHUB_TOKEN",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in [
            "maxTokens",
            "secretary",
            "key",
            "tokenizer",
            "passenger",
            "monkey",
            "apiVersion",
            "",
        ] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
