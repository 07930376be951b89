//! Conditions in SQL: constant pieces and bound values.

use rusqlite::types::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Constant(bool),
    Leaf(Vec<Piece>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    /// It does not hold; where it is `NULL` it does not.
    Not(Box<Condition>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Sql(&'static str),
    Bound(Value),
}

impl Condition {
    pub fn sql(sql: &'static str) -> Self {
        Self::Leaf(vec![Piece::Sql(sql)])
    }

    /// `before`, a bound value, `after`.
    pub fn with(before: &[&'static str], value: impl Into<Value>, after: &'static str) -> Self {
        let mut pieces: Vec<_> = before.iter().map(|sql| Piece::Sql(sql)).collect();
        pieces.push(Piece::Bound(value.into()));
        pieces.push(Piece::Sql(after));
        Self::Leaf(pieces)
    }

    pub fn all(list: Vec<Self>) -> Self {
        Self::list(list, true)
    }

    pub fn any(list: Vec<Self>) -> Self {
        Self::list(list, false)
    }

    pub fn not(self) -> Self {
        match self {
            Self::Constant(holds) => Self::Constant(!holds),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// `neutral` is what an empty list is worth.
    fn list(mut list: Vec<Self>, neutral: bool) -> Self {
        if list.contains(&Self::Constant(!neutral)) {
            return Self::Constant(!neutral);
        }
        list.retain(|one| *one != Self::Constant(neutral));
        match list.len() {
            0 => Self::Constant(neutral),
            1 => list.remove(0),
            _ if neutral => Self::All(list),
            _ => Self::Any(list),
        }
    }

    /// Writes it to `sql`; its values go to `values`, of which the first is the parameter
    /// `first`.
    pub fn write(&self, sql: &mut String, values: &mut Vec<Value>, first: usize) {
        match self {
            Self::Constant(true) => sql.push('1'),
            Self::Constant(false) => sql.push('0'),
            Self::Leaf(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Sql(piece) => sql.push_str(piece),
                        Piece::Bound(value) => {
                            sql.push('?');
                            sql.push_str(&(first + values.len()).to_string());
                            values.push(value.clone());
                        }
                    }
                }
            }
            Self::All(list) => write_list(list, " AND ", sql, values, first),
            Self::Any(list) => write_list(list, " OR ", sql, values, first),
            Self::Not(inner) => {
                sql.push_str("NOT coalesce(");
                inner.write(sql, values, first);
                sql.push_str(", 0)");
            }
        }
    }
}

fn write_list(
    list: &[Condition],
    between: &'static str,
    sql: &mut String,
    values: &mut Vec<Value>,
    first: usize,
) {
    for (nth, condition) in list.iter().enumerate() {
        sql.push_str(if nth == 0 { "(" } else { between });
        condition.write(sql, values, first);
    }
    sql.push(')');
}

/// What is known about a condition that columns may not decide.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bounds {
    /// Holds for every row that fits, and perhaps for others.
    pub may: Condition,
    /// Holds only for rows that fit, perhaps not for all.
    pub sure: Condition,
}

impl Bounds {
    pub fn exact(condition: Condition) -> Self {
        Self {
            may: condition.clone(),
            sure: condition,
        }
    }

    pub fn constant(holds: bool) -> Self {
        Self::exact(Condition::Constant(holds))
    }

    /// Only a row for which `may` holds can fit.
    pub fn perhaps(may: Condition) -> Self {
        Self {
            may,
            sure: Condition::Constant(false),
        }
    }

    pub fn all(list: Vec<Self>) -> Self {
        let (may, sure) = list.into_iter().map(|one| (one.may, one.sure)).unzip();
        Self {
            may: Condition::all(may),
            sure: Condition::all(sure),
        }
    }

    pub fn any(list: Vec<Self>) -> Self {
        let (may, sure) = list.into_iter().map(|one| (one.may, one.sure)).unzip();
        Self {
            may: Condition::any(may),
            sure: Condition::any(sure),
        }
    }

    pub fn not(self) -> Self {
        Self {
            may: self.sure.not(),
            sure: self.may.not(),
        }
    }

    pub fn is_exact(&self) -> bool {
        self.may == self.sure
    }
}
