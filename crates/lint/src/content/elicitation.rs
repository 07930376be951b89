//! Forms: what they ask for, and what is filled in.

use super::Asking;
use crate::Part;
use crate::quote::{self, Trail};
use crate::shape::check::found;
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::brief;
use mcpreel_wire::json::{Document, Kind, Number, Value};
use mcpreel_wire::message::Body;
use std::cmp::Ordering;
use std::sync::Arc;

/// Schemas that are remembered until they are answered. What is filled into older forms is not
/// looked at.
const SCHEMAS: usize = 128;
/// Bytes of a schema that is remembered. Together with [`SCHEMAS`] it bounds the memory.
const SCHEMA_BYTES: usize = 16 * 1024;

/// Findings in one filled form. Without a limit a form of a thousand fields would be a thousand.
const FEW: usize = 4;

/// The schemas of forms that wait for an answer, as JSON text.
#[derive(Debug, Default)]
pub(super) struct Forms {
    open: BoundedMap<Waiting, Box<str>, SCHEMAS>,
}

/// What the answer to a form is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    Exchange(ExchangeId),
    /// It comes with the request repeated: method, name, state and key are the same.
    Round(Arc<str>),
}

impl Forms {
    pub fn part(&mut self, part: &Part<'_>) {
        super::each(part, "elicitation/create", &mut |asking| {
            sensitive_fields(part, &asking);
            self.remember(part, &asking);
        });
        match part.message.body {
            Body::Response(_) => self.answered(part),
            Body::Request(_) => self.repeated(part),
            _ => {}
        }
    }

    fn remember(&mut self, part: &Part<'_>, asking: &Asking<'_, '_>) {
        let Some(schema) = asking.params.get("requestedSchema") else {
            return;
        };
        let waiting = match asking.key {
            None => part.exchange().map(Waiting::Exchange),
            Some(key) => {
                let state = part.result().and_then(|result| result.get("requestState"));
                round(part, state, key)
            }
        };
        if let Some(waiting) = waiting
            && schema.raw().len() <= SCHEMA_BYTES
        {
            self.open.insert(waiting, schema.raw_text().into());
        }
    }

    fn answered(&mut self, part: &Part<'_>) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let Some(schema) = self.open.remove(&Waiting::Exchange(exchange)) else {
            return;
        };
        if let Some(result) = part.result() {
            held(part, &schema, result, &Trail::Member(&Trail::Top, "result"));
        }
    }

    /// Answers that come with the request repeated.
    fn repeated(&mut self, part: &Part<'_>) {
        let Some(responses) = part.param("inputResponses") else {
            return;
        };
        let params = Trail::Member(&Trail::Top, "params");
        let all = Trail::Member(&params, "inputResponses");
        for (key, response) in responses.members().take(FIELDS) {
            let waiting = round(part, part.param("requestState"), key);
            let schema = waiting.and_then(|waiting| self.open.get(&waiting));
            if let Some(schema) = schema {
                held(part, schema, response, &Trail::Named(&all, key));
            }
        }
    }
}

fn round(part: &Part<'_>, state: Option<Value<'_>>, key: Value<'_>) -> Option<Waiting> {
    let state = state.and_then(|state| state.as_str()).unwrap_or_default();
    let key = key.as_str()?;
    let (state, key) = (brief::text(&state), brief::text(&key));
    let method = part.method()?;
    let name = part.record.name.as_deref().unwrap_or_default();
    Some(Waiting::Round(
        format!("{method}\n{name}\n{state}\n{key}").into(),
    ))
}

/// Holds an accepted answer against the schema of its form.
fn held(part: &Part<'_>, schema: &str, answer: Value<'_>, place: &Trail<'_>) {
    let is_accepted = answer.get("action").is_some_and(|one| one.is_str("accept"));
    let content = answer.get("content").filter(Value::is_object);
    let (true, Some(content), Ok(schema)) =
        (is_accepted, content, Document::parse(schema.as_bytes()))
    else {
        return;
    };
    let mut told = 0;
    check(
        schema.root(),
        content,
        &Trail::Member(place, "content"),
        &mut |place, detail| {
            told += 1;
            if told <= FEW {
                part.tell_at(&super::ELICIT_CONTENT_MISMATCH, place.path(), detail);
            }
        },
    );
}

fn sensitive_fields(part: &Part<'_>, asking: &Asking<'_, '_>) {
    let schema = asking.params.get("requestedSchema");
    let Some(properties) = schema.and_then(|schema| schema.get("properties")) else {
        return;
    };
    let schema = Trail::Member(asking.place, "requestedSchema");
    let place = Trail::Member(&schema, "properties");
    let mut told = 0;
    for (name, field) in properties.members().take(FIELDS) {
        let title = field.get("title").and_then(|title| title.as_str());
        let name_text = name.as_str().unwrap_or_default();
        let is_sensitive = is_sensitive(&name_text) || title.as_deref().is_some_and(is_sensitive);
        if is_sensitive && told < FEW {
            told += 1;
            let detail = format!("the field \"{}\"", quote::text(&name_text));
            part.tell_at(
                &super::ELICIT_SENSITIVE_FORM,
                Trail::Named(&place, name).path(),
                detail,
            );
        }
    }
}

// The flat schemas of forms (Elicitation, Requested schema): what fits them, and which fields ask
// for secrets.

/// Fields of a form, and choices of a field, that are looked at. Without a limit every field of
/// the answer would be looked up among any number of fields of the schema.
pub(super) const FIELDS: usize = 256;

/// Who is told what does not fit, and where.
type Tell<'t> = dyn FnMut(&Trail<'_>, String) + 't;

/// Holds what was filled in against the schema of the form. What is not known of a schema, like
/// patterns and formats, is not looked at.
pub(super) fn check(schema: Value<'_>, content: Value<'_>, place: &Trail<'_>, tell: &mut Tell<'_>) {
    let required = schema.get("required").into_iter();
    for name in required.flat_map(|names| names.elements()).take(FIELDS) {
        let is_there = |name: &str| content.get(name).is_some();
        if name.as_str().is_some_and(|name| !is_there(&name)) {
            tell(&Trail::Named(place, name), "is missing".to_owned());
        }
    }
    let Some(properties) = schema.get("properties") else {
        return;
    };
    for (name, value) in content.members().take(FIELDS) {
        let mut fields = properties.members().take(FIELDS);
        let same = |other: Value<'_>| other.str_bytes() == name.str_bytes();
        if let Some((_, field)) = fields.find(|(other, _)| same(*other)) {
            one(field, value, &Trail::Named(place, name), tell);
        }
    }
}

fn one(field: Value<'_>, value: Value<'_>, place: &Trail<'_>, tell: &mut Tell<'_>) {
    let Some(wanted) = field.get("type").and_then(|wanted| wanted.as_str()) else {
        return;
    };
    let is_integer = || value.number().is_some_and(|number| number.is_integer());
    let fits = match &*wanted {
        "string" => value.kind() == Kind::String,
        "boolean" => value.kind() == Kind::Bool,
        "number" => value.kind() == Kind::Number,
        "integer" => is_integer(),
        "array" => value.kind() == Kind::Array,
        _ => return,
    };
    if !fits {
        let wanted = quote::text(&wanted);
        tell(place, format!("expected {wanted}, found {}", found(value)));
        return;
    }
    match value.kind() {
        Kind::String => string(field, value, place, tell),
        Kind::Number => number(field, value, place, tell),
        Kind::Array => array(field, value, place, tell),
        _ => {}
    }
}

fn string(field: Value<'_>, value: Value<'_>, place: &Trail<'_>, tell: &mut Tell<'_>) {
    let choices = field.get("enum").or_else(|| field.get("oneOf"));
    if choices.is_some_and(|choices| !is_among(value, choices)) {
        tell(place, format!("{} is none of the choices", found(value)));
    }
    let length = value.chars().count();
    size(
        field,
        ["minLength", "maxLength"],
        length,
        "characters",
        place,
        tell,
    );
}

fn array(field: Value<'_>, value: Value<'_>, place: &Trail<'_>, tell: &mut Tell<'_>) {
    let items = field.get("items");
    let choices = items.and_then(|items| items.get("enum").or_else(|| items.get("anyOf")));
    for (index, element) in value.elements().take(FIELDS).enumerate() {
        if choices.is_some_and(|choices| !is_among(element, choices)) {
            let detail = format!("{} is none of the choices", found(element));
            tell(&Trail::Element(place, index), detail);
        }
    }
    let length = value.elements().count();
    size(
        field,
        ["minItems", "maxItems"],
        length,
        "choices",
        place,
        tell,
    );
}

fn number(field: Value<'_>, value: Value<'_>, place: &Trail<'_>, tell: &mut Tell<'_>) {
    let Some(value) = value.number() else { return };
    let order = |limit: &str| value.partial_cmp(&field.get(limit)?.number()?);
    if order("minimum") == Some(Ordering::Less) {
        tell(place, format!("{value} is below the minimum"));
    }
    if order("maximum") == Some(Ordering::Greater) {
        tell(place, format!("{value} is above the maximum"));
    }
}

fn size(
    field: Value<'_>,
    [least, most]: [&str; 2],
    length: usize,
    noun: &str,
    place: &Trail<'_>,
    tell: &mut Tell<'_>,
) {
    let length_number = Number::parse(&length.to_string());
    let order = |limit: &str| {
        length_number
            .as_ref()?
            .partial_cmp(&field.get(limit)?.number()?)
    };
    if order(least) == Some(Ordering::Less) || order(most) == Some(Ordering::Greater) {
        tell(place, format!("{length} {noun} are too few or too many"));
    }
}

/// Whether a value is one of the choices: strings, or objects whose `const` is one.
fn is_among(value: Value<'_>, choices: Value<'_>) -> bool {
    let mut choices = choices.elements();
    let is_it = |choice: Value<'_>| {
        let choice = choice.get("const").unwrap_or(choice);
        choice.kind() == value.kind() && choice.str_bytes() == value.str_bytes()
    };
    // Of more choices than are looked at, it may be one of the others.
    choices.by_ref().take(FIELDS).any(is_it) || choices.next().is_some()
}

/// Words that ask for something secret, where they stand alone in a name.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "credential",
    "credentials",
];
/// Pairs of words that do so together.
const SECRET_PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("private", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("pass", "word"),
];
/// Bytes of a name that are looked at.
const NAME: usize = 256;

/// Whether a field of this name or title seems to ask for something secret.
pub(super) fn is_sensitive(name: &str) -> bool {
    let words = words(name);
    words.iter().any(|word| SECRETS.contains(&&**word))
        || words.windows(2).any(|pair| {
            let is_it = |(first, second): &(&str, &str)| pair[0] == *first && pair[1] == *second;
            SECRET_PAIRS.iter().any(is_it)
        })
}

/// The words of a name in lower case: `apiKey`, `api_key` and `API key` have the same two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars().take(NAME) {
        let starts = char.is_uppercase() && was_lower;
        if !char.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| char.is_alphanumeric()) {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
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
