//! What is compared with, by the type of the field.

use super::units::{self, DURATIONS, Quantity, SIZES, quantity};
use crate::query::ast::{Op, Type, Value};
use crate::query::pattern;
use mcpreel_wire::json::Number;

/// Why a value is none of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Unfinished,
    Type,
    TooLarge,
    /// A range whose end lies before its start.
    Backwards,
    /// Something of its own, in words.
    Because(String),
    /// The same, and more typing may mend it.
    Unclosed(String),
}

pub(super) struct Raw {
    pub text: String,
    pub quoted: bool,
}

/// The value that `raw` is for a field of type `kind`, compared by `op`.
pub(super) fn read(kind: Type, op: Op, raw: &Raw) -> Result<Value, Wrong> {
    let text = raw.text.as_str();
    if op.is_match() {
        return pattern_text(text);
    }
    if text.is_empty() && !raw.quoted {
        return Err(Wrong::Unfinished);
    }
    match kind {
        Type::Text => Ok(plain(text, false)),
        Type::Words(words) => word(text, words),
        Type::Id => Ok(id(raw)),
        Type::Json => json(op, raw),
        Type::Number => amount(op, text, whole),
        Type::Duration => amount(op, text, |text| quantity(text, DURATIONS, None)),
        Type::Size => amount(op, text, |text| quantity(text, SIZES, Some(1))),
        Type::Time => time(op, text),
    }
}

fn plain(text: &str, quoted: bool) -> Value {
    Value::Text {
        text: text.into(),
        quoted,
    }
}

fn pattern_text(text: &str) -> Result<Value, Wrong> {
    match pattern::regex(text) {
        Ok(_) => Ok(plain(text, false)),
        Err(error) => {
            let reason = pattern::reason(&error);
            // Whatever is not closed yet may be; a repetition of nothing stays one.
            let open = !reason.contains("missing");
            let sentence = format!("the regular expression is not valid: {reason}");
            Err(if open {
                Wrong::Unclosed(sentence)
            } else {
                Wrong::Because(sentence)
            })
        }
    }
}

fn word(text: &str, words: &[&str]) -> Result<Value, Wrong> {
    let lower = text.to_ascii_lowercase();
    if words.contains(&lower.as_str()) {
        return Ok(plain(&lower, false));
    }
    if words.iter().any(|word| word.starts_with(&lower)) {
        Err(Wrong::Unfinished)
    } else {
        Err(Wrong::Type)
    }
}

fn id(raw: &Raw) -> Value {
    let bare = !raw.quoted && (raw.text == "null" || Number::parse(&raw.text).is_some());
    if bare {
        Value::Json(raw.text.as_str().into())
    } else {
        plain(&raw.text, raw.quoted)
    }
}

fn json(op: Op, raw: &Raw) -> Result<Value, Wrong> {
    let number = !raw.quoted && Number::parse(&raw.text).is_some();
    if number {
        return Ok(Value::Json(raw.text.as_str().into()));
    }
    let range = (!raw.quoted).then(|| raw.text.split_once("..")).flatten();
    if let Some((from, to)) = range
        && let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>())
    {
        return range_of(op, from, to);
    }
    if !op.is_order() {
        return Ok(plain(&raw.text, raw.quoted));
    }
    // `1.` and `-` may become `1.0` and `-0`.
    if Number::parse(&format!("{}0", raw.text)).is_some() {
        return Err(Wrong::Unfinished);
    }
    Err(Wrong::Because(format!(
        "`{}` asks for an order, which only numbers have, for example 5",
        op.as_str()
    )))
}

fn whole(text: &str) -> Result<Quantity, Wrong> {
    let number = quantity(text, &[], Some(1))?;
    if text.contains('.') {
        Err(Wrong::Type)
    } else {
        Ok(number)
    }
}

fn time(op: Op, text: &str) -> Result<Value, Wrong> {
    let Some(ago) = text.strip_prefix('-') else {
        return amount(op, text, units::moment);
    };
    if ago.contains("..") {
        return Err(Wrong::Because(
            "times before the end make no range; write time>=-5m time<=-1m".to_owned(),
        ));
    }
    let ago = quantity(ago, DURATIONS, None)?.value;
    if !op.is_order() {
        return Err(Wrong::Because(format!(
            "a time before the end needs an order; for what came since write time>{text}"
        )));
    }
    Ok(Value::Ago(ago.unsigned_abs()))
}

/// A number or a range of them. With `:` a number stands for all that are written so at its
/// precision.
fn amount(
    op: Op,
    text: &str,
    read: impl Fn(&str) -> Result<Quantity, Wrong>,
) -> Result<Value, Wrong> {
    if let Some((from, to)) = text.split_once("..") {
        return range_of(op, read(from).map_err(no_longer)?.value, read(to)?.value);
    }
    let Quantity { value, step } = read(text)?;
    if op == Op::Contains && step > 1 {
        return Ok(Value::Range(value..=value.saturating_add(step - 1)));
    }
    Ok(Value::Number(value))
}

/// Typing on at the end of a range does not mend its start.
fn no_longer(wrong: Wrong) -> Wrong {
    match wrong {
        Wrong::Unfinished => Wrong::Type,
        other => other,
    }
}

fn range_of(op: Op, from: i64, to: i64) -> Result<Value, Wrong> {
    if op.is_order() {
        return Err(Wrong::Because(format!(
            "`{}` takes one end, not a range",
            op.as_str()
        )));
    }
    if from > to {
        return Err(Wrong::Backwards);
    }
    Ok(Value::Range(from..=to))
}
