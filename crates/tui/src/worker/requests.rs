//! The question for exchanges alone, of all rows that fit a filter.

use mcpreel_store::select::Question;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};

/// Which exchanges fit `query`: in the list notifications and lines are rows
/// too.
pub fn requests(query: &Query) -> Question {
    let requests = Expr::Compare {
        subject: Subject::Field(Field::Kind),
        op: Op::Contains,
        value: Value::Text {
            text: "request".into(),
            quoted: false,
        },
    };
    let expr = match &query.expr {
        None => requests,
        Some(expr) => Expr::And(vec![requests, expr.clone()]),
    };
    Question {
        lens: Lens::Exchanges,
        query: Query { expr: Some(expr) },
        until: None,
    }
}
