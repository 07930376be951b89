//! A filter as text that reads back as the same filter.

use super::ast::{Expr, Op, Query, Subject, Type, Value};
use super::parse;
use super::parse::{DURATIONS, SIZES};
use mcpreel_wire::json::{Path, Step};
use std::fmt::{self, Display, Formatter};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.expr.iter().try_for_each(|expr| expr.fmt(f))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::And(all) => list(f, all, " ", |one| matches!(one, Self::And(_) | Self::Or(_))),
            Self::Or(any) => list(f, any, " OR ", |one| matches!(one, Self::Or(_))),
            Self::Not(inner) => match **inner {
                Self::And(_) | Self::Or(_) | Self::Not(_) => write!(f, "-({inner})"),
                _ => write!(f, "-{inner}"),
            },
            Self::Is(flag) => write!(f, "is:{}", flag.as_str()),
            Self::Has(subject) => write!(f, "has:{subject}"),
            Self::Compare { subject, op, value } => {
                write!(f, "{subject}{}", op.as_str())?;
                write_value(f, subject.kind_of_values(), *op, value)
            }
            Self::Text(text) if parse::is_bare_text(text) => f.write_str(text),
            Self::Text(text) => f.write_str(&in_quotes(text)),
        }
    }
}

fn list(
    f: &mut Formatter<'_>,
    items: &[Expr],
    between: &str,
    wrapped: fn(&Expr) -> bool,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        if wrapped(item) {
            write!(f, "({item})")?;
        } else {
            item.fmt(f)?;
        }
    }
    Ok(())
}

impl Display for Subject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (root, path) = match self {
            Self::Field(field) => return f.write_str(field.as_str()),
            Self::Header(name) => {
                let path = Path::new(vec![Step::Member(name.clone())]);
                ("header", path.to_string())
            }
            Self::Body(root, path) => (root.as_str(), path.to_string()),
        };
        let dot = !path.is_empty() && !path.starts_with('[');
        write!(f, "{root}{}{path}", if dot { "." } else { "" })
    }
}

fn write_value(f: &mut Formatter<'_>, kind: Type, op: Op, value: &Value) -> fmt::Result {
    match value {
        // `text://x` would be a URL, and `name::x` a path.
        Value::Text { text, .. }
            if op == Op::Contains && (text.starts_with("//") || text.starts_with(':')) =>
        {
            f.write_str(&in_quotes(text))
        }
        Value::Text { text, quoted } if *quoted || !is_bare_value(text) => {
            f.write_str(&in_quotes(text))
        }
        Value::Text { text, .. } | Value::Json(text) => f.write_str(text),
        // A number with a unit would stand for all that are written so.
        Value::Number(number) if op == Op::Contains => base(f, kind, *number),
        Value::Number(number) => amount(f, kind, *number),
        Value::Range(range) => {
            amount(f, kind, *range.start())?;
            f.write_str("..")?;
            amount(f, kind, *range.end())
        }
        Value::Ago(nanos) => {
            let nanos = i64::try_from(*nanos).unwrap_or(i64::MAX);
            f.write_str("-")?;
            amount(f, Type::Duration, nanos)
        }
    }
}

/// Whether a value can stand without quotes: it is read to its end, balanced parentheses included.
fn is_bare_value(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['=', '\''])
        && super::parse::value(text) == (text.len(), false)
}

/// `text` as a string of the language.
pub(super) fn in_quotes(text: &str) -> String {
    let mut quoted = text.replace('\\', "\\\\");
    for (char, escape) in [('"', "\\\""), ('\n', "\\n"), ('\r', "\\r"), ('\t', "\\t")] {
        quoted = quoted.replace(char, escape);
    }
    format!("\"{quoted}\"")
}

/// A number in the unit that it is counted in.
fn base(f: &mut Formatter<'_>, kind: Type, number: i64) -> fmt::Result {
    let unit = match kind {
        Type::Duration | Type::Time => "ns",
        Type::Size => "B",
        _ => "",
    };
    write!(f, "{number}{unit}")
}

/// A number in the largest unit in which it is whole.
fn amount(f: &mut Formatter<'_>, kind: Type, number: i64) -> fmt::Result {
    let units = match kind {
        Type::Duration => DURATIONS,
        Type::Size => SIZES,
        Type::Time => return moment(f, number),
        _ => return write!(f, "{number}"),
    };
    let is_whole = |(_, worth): &&(&str, i64)| number != 0 && number % worth == 0;
    match units.iter().find(is_whole) {
        Some((unit, worth)) => write!(f, "{}{unit}", number / worth),
        None => base(f, kind, number),
    }
}

fn moment(f: &mut Formatter<'_>, nanos: i64) -> fmt::Result {
    let (seconds, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        write!(f, "{hours}:")?;
    }
    write!(f, "{minutes:02}:{seconds:02}")?;
    if part > 0 {
        let digits = format!("{part:09}");
        write!(f, ".{}", digits.trim_end_matches('0'))?;
    }
    Ok(())
}

#[cfg(test)]
mod print_tests;
