//! How much there is in a value of a schema.

use super::VALUE_SIZE;
use serde_json::Value;

/// How many values there are in `value`. As deep as texts are read.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(weight).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<u64>(),
        _ => 1,
    }
}

/// Bytes that a copy of `value` takes at most, about. As deep as texts are read.
pub(super) fn size(value: &Value) -> u64 {
    let inner = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(members) => {
            let members = members.iter();
            members.map(|(name, it)| name.len() as u64 + size(it)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    VALUE_SIZE + inner
}
