//! Random filters, as trees and as texts.

use super::dice::Dice;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Flag, Op, Root, Subject, Type, Value};
use mcpreel_wire::json::{Path, Step};
use serde::Deserialize;
use std::sync::LazyLock;

/// Words that look like something else and such that are just words, and regular expressions.
#[derive(Deserialize)]
struct Texts {
    words: Vec<String>,
    patterns: Vec<String>,
}

static TEXTS: LazyLock<Texts> =
    LazyLock::new(|| serde_json::from_str(include_str!("words.json")).expect("it is JSON"));

fn word(dice: &mut Dice) -> &'static str {
    &TEXTS.words[dice.length_below(TEXTS.words.len())]
}

/// Pieces that texts are mutated with.
const PIECES: &[&str] = &[
    "(", ")", "\"", "\\", "-", ":", "=", "!=", "<", "<=", ">", "~", "!~", "..", " ", " OR ",
    " AND ", "NOT ", "is:", "has:", "latency", "params.", "[", "]", "*", "5", "ms", "é", "\u{0}",
    "//", "12:04", "-5m",
];

fn one<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    from[dice.length_below(from.len())]
}

fn number(dice: &mut Dice) -> i64 {
    let bits = dice.below(62);
    i64::try_from(dice.below(1 << bits)).expect("it has 62 bits at most")
}

/// A filter that [`Query::parse`] could have made.
pub fn query(dice: &mut Dice) -> Query {
    let expr = (dice.below(20) > 0).then(|| expr(dice, 4));
    Query { expr }
}

fn expr(dice: &mut Dice, depth: u64) -> Expr {
    match dice.below(if depth == 0 { 8 } else { 12 }) {
        0 => Expr::Is(one(dice, Flag::ALL)),
        1 => Expr::Has(subject(dice)),
        2 => Expr::Text(word(dice).into()),
        3..8 => compare(dice),
        8 => Expr::Not(Box::new(expr(dice, depth - 1))),
        9 | 10 => Expr::And(list(dice, depth - 1)),
        _ => Expr::Or(list(dice, depth - 1)),
    }
}

fn list(dice: &mut Dice, depth: u64) -> Vec<Expr> {
    (0..2 + dice.below(3)).map(|_| expr(dice, depth)).collect()
}

fn subject(dice: &mut Dice) -> Subject {
    if dice.below(3) > 0 {
        return Subject::Field(one(dice, Field::ALL));
    }
    if dice.below(5) == 0 {
        return Subject::Header(word(dice).to_ascii_lowercase().into());
    }
    let known = ["arguments", "q", "n", "content", "type", "name", "text"];
    let steps = (0..dice.below(4)).map(|_| match dice.below(5) {
        0 => Step::Every,
        1 => Step::Element(dice.length_below(3)),
        2 => Step::Member(word(dice).into()),
        _ => Step::Member(one(dice, &known).into()),
    });
    let path = Path::new(steps.collect());
    Subject::Body(one(dice, Root::ALL), path)
}

fn compare(dice: &mut Dice) -> Expr {
    let subject = subject(dice);
    let kind = subject.kind_of_values();
    let ops: Vec<_> = kind.ops().collect();
    let op = one(dice, &ops);
    let value = value(dice, kind, op);
    Expr::Compare { subject, op, value }
}

fn text(text: &str, quoted: bool) -> Value {
    Value::Text {
        text: text.into(),
        quoted,
    }
}

fn range(dice: &mut Dice) -> Value {
    let (a, b) = (number(dice), number(dice));
    Value::Range(a.min(b)..=a.max(b))
}

fn value(dice: &mut Dice, kind: Type, op: Op) -> Value {
    if op.is_match() {
        return text(
            &TEXTS.patterns[dice.length_below(TEXTS.patterns.len())],
            false,
        );
    }
    match kind {
        Type::Text => text(word(dice), false),
        Type::Words(words) => text(one(dice, words), false),
        Type::Id if dice.below(4) == 0 => Value::Json("null".into()),
        Type::Id if dice.below(2) == 0 => json_number(dice),
        Type::Json if op.is_order() => json_number(dice),
        Type::Json if dice.below(4) == 0 => range(dice),
        Type::Json if dice.below(3) == 0 => json_number(dice),
        Type::Id | Type::Json if dice.below(2) == 0 => {
            text(one(dice, &["abc", "true", "é", "a..b"]), false)
        }
        Type::Id | Type::Json => text(word(dice), true),
        Type::Time if op.is_order() && dice.below(2) == 0 => {
            Value::Ago(number(dice).unsigned_abs())
        }
        Type::Number | Type::Duration | Type::Size | Type::Time => match dice.below(2) {
            0 if !op.is_order() => range(dice),
            _ => Value::Number(number(dice)),
        },
    }
}

fn json_number(dice: &mut Dice) -> Value {
    let texts = [
        "7",
        "-1",
        "1.0",
        "0",
        "1e400",
        "9007199254740993",
        "-32602",
        "2.5",
    ];
    Value::Json(one(dice, &texts).into())
}

/// A text that was a filter once.
pub fn mutated(dice: &mut Dice) -> String {
    let mut text: Vec<char> = query(dice).to_string().chars().take(300).collect();
    for _ in 0..dice.below(4) {
        let at = dice.length_below(text.len() + 1);
        let to = text.len().min(at + dice.length_below(6));
        match dice.below(3) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..to)),
            _ => drop(text.splice(at..at, one(dice, PIECES).chars())),
        }
    }
    text.into_iter().collect()
}
