//! Forms: what they ask for, and what is filled in.

use super::asked::{self, Asking};
use super::{form, rules};
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::seen::Part;
use crate::shape::place::Place;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_wire::brief;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Body;
use std::sync::Arc;

/// Schemas that are remembered until they are answered. What is filled into older forms is not
/// looked at.
const SCHEMAS: usize = 128;
/// Bytes of a schema that is remembered. Together with [`SCHEMAS`] it bounds the memory.
const SCHEMA_BYTES: usize = 16 * 1024;

/// Findings in one filled form. Without a limit a form of a thousand fields would be a thousand.
const FEW: usize = 4;

/// The schemas of forms that wait for an answer, as JSON text.
#[derive(Debug)]
pub(super) struct Forms {
    open: Remembered<Waiting, Box<str>>,
}

/// What the answer to a form is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    Exchange(ExchangeId),
    /// It comes with the request repeated: method, name, state and key are the same.
    Round(Arc<str>),
}

impl Default for Forms {
    fn default() -> Self {
        Self {
            open: Remembered::new(SCHEMAS),
        }
    }
}

impl Forms {
    pub fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        asked::each(part, "elicitation/create", &mut |asking| {
            sensitive_fields(part, &asking, findings);
            self.remember(part, &asking);
        });
        match part.message.body {
            Body::Response(_) => self.answered(part, findings),
            Body::Request(_) => self.repeated(part, findings),
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

    fn answered(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        let Some(schema) = self.open.remove(&Waiting::Exchange(exchange)) else {
            return;
        };
        if let Some(result) = part.result() {
            held(part, &schema, result, &Place::top("result"), findings);
        }
    }

    /// Answers that come with the request repeated.
    fn repeated(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(responses) = part.param("inputResponses") else {
            return;
        };
        let params = Place::top("params");
        let all = params.member("inputResponses");
        for (key, response) in responses.members().take(form::FIELDS) {
            let waiting = round(part, part.param("requestState"), key);
            let schema = waiting.and_then(|waiting| self.open.get(&waiting));
            if let Some(schema) = schema {
                held(part, schema, response, &all.named(key), findings);
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
fn held(
    part: &Part<'_>,
    schema: &str,
    answer: Value<'_>,
    place: &Place<'_>,
    findings: &mut Findings,
) {
    let is_accepted = answer.get("action").is_some_and(|one| one.is_str("accept"));
    let content = answer.get("content").filter(Value::is_object);
    let (true, Some(content), Ok(schema)) =
        (is_accepted, content, Document::parse(schema.as_bytes()))
    else {
        return;
    };
    let mut told = 0;
    form::check(
        schema.root(),
        content,
        &place.member("content"),
        &mut |place, detail| {
            told += 1;
            if told <= FEW {
                let finding = part.at(&rules::ELICIT_CONTENT_MISMATCH, detail);
                findings.push(finding.path(place.path()));
            }
        },
    );
}

fn sensitive_fields(part: &Part<'_>, asking: &Asking<'_, '_>, findings: &mut Findings) {
    let schema = asking.params.get("requestedSchema");
    let Some(properties) = schema.and_then(|schema| schema.get("properties")) else {
        return;
    };
    let schema = asking.place.member("requestedSchema");
    let place = schema.member("properties");
    let mut told = 0;
    for (name, field) in properties.members().take(form::FIELDS) {
        let title = field.get("title").and_then(|title| title.as_str());
        let name_text = name.as_str().unwrap_or_default();
        let is_sensitive =
            form::is_sensitive(&name_text) || title.as_deref().is_some_and(form::is_sensitive);
        if is_sensitive && told < FEW {
            told += 1;
            let detail = format!("the field \"{}\"", quote::text(&name_text));
            let finding = part.at(&rules::ELICIT_SENSITIVE_FORM, detail);
            findings.push(finding.path(place.named(name).path()));
        }
    }
}
