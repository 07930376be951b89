//! What would be asked with one condition less.

use super::ast::{Expr, Query};

/// `query` with one of its conditions left out, each in turn: the one typed last first, because it
/// is the one that emptied the list. Without its only condition it fits everything; the empty
/// filter has no relaxations.
pub fn relaxations(query: &Query) -> Vec<Query> {
    let Some(expr) = &query.expr else {
        return Vec::new();
    };
    let mut conditions = Vec::new();
    flatten(expr, &mut conditions);
    let without = |left_out: usize| {
        let kept = conditions.iter().enumerate();
        let kept = kept.filter(|(at, _)| *at != left_out);
        Query::all_of(kept.map(|(_, expr)| (*expr).clone()))
    };
    (0..conditions.len()).rev().map(without).collect()
}

/// The conditions that have to hold together.
fn flatten<'e>(expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    match expr {
        Expr::And(all) => all.iter().for_each(|one| flatten(one, into)),
        other => into.push(other),
    }
}

impl Query {
    /// The filter that wants all of these, the empty one for none.
    pub fn all_of(conditions: impl IntoIterator<Item = Expr>) -> Self {
        let mut all: Vec<_> = conditions.into_iter().collect();
        let expr = if all.len() > 1 {
            Some(Expr::And(all))
        } else {
            all.pop()
        };
        Self { expr }
    }

    /// This filter and that one: what fits both.
    pub fn and(self, other: Self) -> Self {
        Self::all_of(self.expr.into_iter().chain(other.expr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relaxed(text: &str) -> Vec<String> {
        let query = Query::parse(text).unwrap();
        relaxations(&query).iter().map(Query::to_string).collect()
    }

    #[test]
    fn each_condition_is_left_out_once_the_last_first() {
        assert_eq!(relaxed("a (b c)"), ["a b", "a c", "b c"]);
        assert_eq!(relaxed("a (b OR c)"), ["a", "b OR c"]);
        assert_eq!(relaxed("a OR b"), [""]);
        assert_eq!(relaxed(""), [] as [&str; 0]);
    }

    #[test]
    fn two_filters_together_want_what_both_want() {
        let parse = |text| Query::parse(text).unwrap();
        assert_eq!(parse("a OR b").and(parse("c")), parse("(a OR b) c"));
        assert_eq!(parse("a").and(parse("")), parse("a"));
    }
}
