//! What people wrote on frames.

use super::{PAGE_ROWS, ReadError, Recording};
use crate::reader::rows::number;
use crate::values::to_sql;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Annotation;

const ANNOTATIONS: &str = "SELECT frame, mark, note FROM annotation WHERE frame > ?1
    ORDER BY frame LIMIT ?2";

impl Recording {
    /// A page of marks and notes on frames after `after`.
    pub fn annotations(&self, after: Seq) -> Result<Vec<(Seq, Annotation)>, ReadError> {
        self.list(ANNOTATIONS, (to_sql(after.0), PAGE_ROWS), |row| {
            let annotation = Annotation {
                mark: row.get(1)?,
                note: row.get(2)?,
            };
            Ok((Seq(number(row, 0)?), annotation))
        })
    }
}
