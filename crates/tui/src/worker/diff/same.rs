//! The calls that one is compared with.

use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};

/// What fits calls of the same method and name.
pub fn same_call(exchange: &Exchange) -> Query {
    let equal = |field, text: &str| Expr::Compare {
        subject: Subject::Field(field),
        op: Op::Equal,
        value: Value::Text {
            text: text.into(),
            quoted: true,
        },
    };
    let kind = Expr::Compare {
        subject: Subject::Field(Field::Kind),
        op: Op::Equal,
        value: Value::Text {
            text: "request".into(),
            quoted: false,
        },
    };
    let name = match exchange.name.as_deref() {
        Some(name) => equal(Field::Name, name),
        None => Expr::Not(Box::new(Expr::Has(Subject::Field(Field::Name)))),
    };
    Query {
        expr: Some(Expr::And(vec![
            kind,
            equal(Field::Method, &exchange.method),
            name,
        ])),
    }
}
