//! From a filter to conditions on columns.
//!
//! What a comparison means is said in [`query::eval`](mcpreel_trace::query::eval); a test holds random
//! filters against it. Everything that is not the same in SQL beyond doubt is left to it: it is
//! enough to know which rows cannot fit.

use super::column::{self, Column};
use super::condition::{Bounds, Condition, Piece};
use super::source::Source;
use super::test::{between, leaf, may_be, plain_json, same_json, text};
use crate::values::to_sql;
use mcpreel_trace::exchange::PROBE;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Context;
use mcpreel_trace::query::ast::{Expr, Field, Flag, Op, Query, Root, Subject, Type, Value};
use mcpreel_trace::query::eval::within;

/// `SQLite` takes expressions of some depth only. A filter with more terms than this is judged
/// row by row.
const MAX_TERMS: usize = 200;

/// What a filter is made ready for.
#[derive(Clone, Copy)]
pub(super) struct Compiler {
    pub source: Source,
    pub context: Context,
    pub until: Option<Seq>,
}

impl Compiler {
    /// What the columns say about the rows that fit `query`.
    pub fn query(self, query: &Query) -> Bounds {
        match &query.expr {
            None => Bounds::constant(true),
            Some(expr) if terms(expr) > MAX_TERMS => Bounds::perhaps(Condition::Constant(true)),
            Some(expr) => self.expr(expr),
        }
    }

    fn expr(self, expr: &Expr) -> Bounds {
        match expr {
            Expr::And(all) => Bounds::all(all.iter().map(|expr| self.expr(expr)).collect()),
            Expr::Or(any) => Bounds::any(any.iter().map(|expr| self.expr(expr)).collect()),
            Expr::Not(inner) => self.expr(inner).not(),
            Expr::Is(flag) => self.flag(*flag),
            Expr::Has(Subject::Field(field)) => self.has(*field),
            Expr::Has(Subject::Body(root, _)) => self.body(*root),
            Expr::Text(_) => Bounds::perhaps(Condition::Constant(true)),
            Expr::Compare { subject, op, value } => match op.denied() {
                Some(op) => self.compare(subject, op, value).not(),
                None => self.compare(subject, *op, value),
            },
        }
    }

    /// A condition on the bytes of the message at `root`.
    fn body(self, root: Root) -> Bounds {
        let is_answer = matches!(root, Root::Result | Root::Error | Root::Res);
        Bounds::perhaps(match self.source {
            Source::Event => Condition::Constant(false),
            Source::Line if is_answer => Condition::Constant(false),
            Source::Exchange if is_answer => Condition::sql("e.response IS NOT NULL"),
            _ => Condition::Constant(true),
        })
    }

    fn has(self, field: Field) -> Bounds {
        let there = |sql| Bounds::exact(leaf(&["(", sql, ") IS NOT NULL"]));
        match column::of(self.source, field) {
            Column::Absent => Bounds::constant(false),
            Column::Is(sql) => there(sql),
            Column::OnceAnswered(sql) => self.once_answered(there(sql)),
            Column::InBytes(_) if field == Field::Text => Bounds::constant(true),
            Column::InBytes(may) => Bounds::perhaps(may_be(may)),
            Column::Finding(_) => self.finding(&[Piece::Sql("1")]),
        }
    }

    fn compare(self, subject: &Subject, op: Op, value: &Value) -> Bounds {
        let field = match subject {
            Subject::Field(field) => *field,
            Subject::Body(root, _) => return self.body(*root),
        };
        let kind = field.kind_of_values();
        if field != Field::Text && !op.suits(kind) {
            return Bounds::constant(false);
        }
        match column::of(self.source, field) {
            Column::Absent => Bounds::constant(false),
            Column::Is(sql) => self.test(sql, kind, op, value),
            Column::OnceAnswered(sql) => self.once_answered(self.test(sql, kind, op, value)),
            Column::InBytes(may) => Bounds::perhaps(may_be(may)),
            Column::Finding(of) => match text(of, kind, op, value) {
                Some(pieces) => self.finding(&pieces),
                None => self.finding(&[Piece::Sql("1")]).or_less(),
            },
        }
    }

    fn test(self, sql: &'static str, kind: Type, op: Op, value: &Value) -> Bounds {
        let there = || Bounds::perhaps(leaf(&["(", sql, ") IS NOT NULL"]));
        match kind {
            Type::Text | Type::Words(_) => match text(sql, kind, op, value) {
                Some(pieces) => Bounds::exact(Condition::Leaf(pieces)),
                None => there(),
            },
            Type::Number | Type::Duration | Type::Size | Type::Time => {
                match within(op, value, self.context) {
                    Some(range) => Bounds::exact(between(sql, &range)),
                    None => Bounds::constant(false),
                }
            }
            Type::Id | Type::Json => match (op, plain_json(value, kind)) {
                (Op::Contains | Op::Equal, Some(json)) => same_json(sql, json, kind),
                _ => there(),
            },
        }
    }

    fn flag(self, flag: Flag) -> Bounds {
        let word = |field, word: &'static str| {
            let text = word.into();
            let quoted = false;
            self.compare(
                &Subject::Field(field),
                Op::Equal,
                &Value::Text { text, quoted },
            )
        };
        match flag {
            Flag::Failed => {
                let among = &["(", ") IN ('error', 'tool-error', 'lost', 'unanswered')"];
                let refused = [word(Field::Method, PROBE), word(Field::Status, "error")];
                let refused = Bounds::all(refused.into());
                Bounds::all(vec![self.column(Field::Status, among), refused.not()])
            }
            Flag::Open => word(Field::Status, "open"),
            Flag::Late => word(Field::Status, "late"),
            Flag::Slow => {
                let slow = Value::Number(to_sql(self.context.slow_ns));
                self.compare(&Subject::Field(Field::Latency), Op::More, &slow)
            }
            Flag::Batch => Bounds::perhaps(match column::may_be_batch(self.source) {
                Some(sql) => may_be(sql),
                None => Condition::Constant(false),
            }),
            Flag::Truncated => self.finding(&[Piece::Sql("1")]).or_less(),
            Flag::Marked => self.has(Field::Mark),
            Flag::Noted => self.has(Field::Note),
            Flag::Modern => word(Field::Era, "modern"),
            Flag::Legacy => word(Field::Era, "legacy"),
            Flag::Notification => word(Field::Kind, "notification"),
            Flag::Waiting => self.waiting(),
        }
    }

    /// `before` the field's expression and after it.
    fn column(self, field: Field, around: &[&'static str; 2]) -> Bounds {
        let [before, after] = *around;
        let test = |sql| Bounds::exact(leaf(&[before, sql, after]));
        match column::of(self.source, field) {
            Column::Is(sql) => test(sql),
            Column::OnceAnswered(sql) => self.once_answered(test(sql)),
            Column::InBytes(may) => Bounds::perhaps(may_be(may)),
            Column::Absent | Column::Finding(_) => Bounds::constant(false),
        }
    }

    /// Whether the server waits for its client is asked only where it may.
    fn waiting(self) -> Bounds {
        let may = match self.source {
            Source::Exchange => "(e.waited > 0 OR e.status = 'open')",
            Source::Message => {
                "(m.kind IN ('request', 'response') AND (e.waited > 0 OR e.status = 'open'))"
            }
            Source::Alone | Source::Own | Source::Line | Source::Event => {
                return Bounds::constant(false);
            }
            Source::Method | Source::Name | Source::Status => {
                return Bounds::perhaps(Condition::Constant(true));
            }
        };
        self.once_answered(Bounds::perhaps(Condition::sql(may)))
    }

    /// A condition that is right as soon as the exchange is answered.
    fn once_answered(self, bounds: Bounds) -> Bounds {
        let Some(until) = self.until else {
            return bounds;
        };
        let answered = Condition::with(&[column::ANSWERED_BY], to_sql(until.0), "");
        Bounds {
            may: Condition::any(vec![answered.clone().not(), bounds.may]),
            sure: Condition::all(vec![answered, bounds.sure]),
        }
    }

    /// A condition on one of the findings that point at the row. What was found when is not told
    /// by columns.
    fn finding(self, test: &[Piece]) -> Bounds {
        let mut pieces = Vec::new();
        for part in column::findings(self.source) {
            pieces.push(Piece::Sql(part));
            pieces.extend_from_slice(test);
        }
        pieces.push(Piece::Sql(column::END_OF_FINDINGS));
        let bounds = Bounds::exact(match self.source {
            Source::Event => Condition::Constant(false),
            Source::Method | Source::Name | Source::Status => {
                return Bounds::perhaps(Condition::Constant(true));
            }
            _ => Condition::Leaf(pieces),
        });
        match self.until {
            Some(_) => bounds.or_less(),
            None => bounds,
        }
    }
}

impl Bounds {
    fn or_less(self) -> Self {
        Self::perhaps(self.may)
    }
}

fn terms(expr: &Expr) -> usize {
    match expr {
        Expr::And(list) | Expr::Or(list) => list.iter().map(terms).sum(),
        Expr::Not(inner) => 1 + terms(inner),
        Expr::Is(_) | Expr::Has(_) | Expr::Compare { .. } | Expr::Text(_) => 1,
    }
}
