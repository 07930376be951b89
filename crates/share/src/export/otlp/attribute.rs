//! Attributes: names with values.

use serde::Serialize;

/// Characters of a text off the wire: there is no end to what an error may say.
const LONGEST: usize = 4096;

#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<Attribute>);

#[derive(Clone, Debug, Serialize)]
struct Attribute {
    key: &'static str,
    value: Value,
}

/// Numbers of 64 bits are strings in OTLP/JSON.
#[derive(Clone, Debug, Serialize)]
enum Value {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "intValue")]
    Number(String),
    #[serde(rename = "doubleValue")]
    Decimal(f64),
    #[serde(rename = "arrayValue")]
    List { values: Vec<Value> },
}

impl Attributes {
    /// A text, cut where it is very long.
    pub fn text(&mut self, key: &'static str, text: &str) {
        self.push(key, Value::Text(cut(text)));
    }

    pub fn whole(&mut self, key: &'static str, text: String) {
        self.push(key, Value::Text(text));
    }

    pub fn some(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Several texts, if there are any.
    pub fn texts(&mut self, key: &'static str, texts: &[String]) {
        if !texts.is_empty() {
            let values = texts.iter().map(|text| Value::Text(cut(text)));
            let values = values.collect();
            self.push(key, Value::List { values });
        }
    }

    /// A number; one that no signed number holds is the largest of these.
    pub fn number(&mut self, key: &'static str, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.push(key, Value::Number(number.to_string()));
    }

    pub fn decimal(&mut self, key: &'static str, number: f64) {
        if number.is_finite() {
            self.push(key, Value::Decimal(number));
        }
    }

    fn push(&mut self, key: &'static str, value: Value) {
        self.0.push(Attribute { key, value });
    }
}

/// The beginning of a text, and that it goes on.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}
