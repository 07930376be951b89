//! Filters taken apart and put together again.

use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::Expr;

/// The conditions that all have to hold; none of a filter that everything fits.
pub fn conditions(query: &Query) -> Vec<Expr> {
    match query.expr.clone() {
        None => Vec::new(),
        Some(Expr::And(all)) => all,
        Some(expr) => vec![expr],
    }
}

/// The filter that fits where all of these hold.
pub fn all_of(mut all: Vec<Expr>) -> Query {
    let expr = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expr::And(all)),
    };
    Query { expr }
}
