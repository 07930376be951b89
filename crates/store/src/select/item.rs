//! Whole rows, for a viewport.

use super::scan::Filter;
use super::{Context, Question};
use crate::reader::{EventRow, FindingRow, ReadError, Recording};
use crate::schema::to_sql;
use mcpreel_trace::item::{Annotation, FindingNote, Item, ItemKey, Lens, What};

impl Recording {
    /// The rows at `keys`, in their order, with findings and annotation. An address at which
    /// nothing stands is left out.
    pub fn items(&self, lens: Lens, keys: &[ItemKey]) -> Result<Vec<Item>, ReadError> {
        let items = keys.iter().map(|&key| self.item(lens, key));
        items.filter_map(Result::transpose).collect()
    }

    /// Selects the rows at `keys` that fit `question`, in the order of `keys`: for rows that have
    /// changed.
    pub fn fitting(
        &self,
        question: &Question,
        context: Context,
        keys: &[ItemKey],
    ) -> Result<Vec<ItemKey>, ReadError> {
        let filter = Filter::new(question, context);
        self.read(|conn| {
            filter.install(conn)?;
            let mut fitting = Vec::new();
            for &key in keys {
                let rows = filter.rows(conn, (key.seq.0, key.seq.0))?;
                fitting.extend(rows.iter().any(|hit| hit.key == key).then_some(key));
            }
            Ok(fitting)
        })
    }

    fn item(&self, lens: Lens, key: ItemKey) -> Result<Option<Item>, ReadError> {
        let Some(what) = self.what(lens, key)? else {
            return Ok(None);
        };
        let annotation = "SELECT mark, note FROM annotation WHERE frame = ?1";
        let annotation = match what {
            What::Event(_) => None,
            _ => self.one(annotation, [to_sql(key.seq.0)], |row| {
                let (mark, note) = (row.get(0)?, row.get(1)?);
                Ok(Annotation { mark, note })
            })?,
        };
        Ok(Some(Item {
            key,
            findings: self.finding_notes(key, &what)?,
            annotation,
            what,
        }))
    }

    /// Reads the row at `key`; `None` if there is none.
    fn what(&self, lens: Lens, key: ItemKey) -> Result<Option<What>, ReadError> {
        if let Some(id) = key.event_id() {
            let row: Option<EventRow> = self.row("WHERE id = ?1", [to_sql(id)])?;
            return Ok(row.map(|row| What::Event(Box::new(row.event))));
        }
        if lens == Lens::Exchanges
            && let Some(exchange) = self.exchange_at(key)?
        {
            return Ok(Some(What::Exchange(Box::new(exchange))));
        }
        if lens == Lens::Exchanges
            && let Some(http) = self.http_alone(key.seq)?
        {
            return Ok(Some(What::Http(Box::new(http))));
        }
        let Some(head) = self.head(key.seq)? else {
            return Ok(None);
        };
        let Some(row) = self.message(key.seq, key.nth)? else {
            let preview = self.preview(key)?.filter(|_| key.nth == 0);
            return Ok(preview.map(|preview| What::Line { head, preview }));
        };
        let exchange = row.record.exchange.map(|id| self.exchange(id));
        Ok(Some(What::Message {
            record: Box::new(row.record),
            head,
            exchange: exchange.transpose()?.flatten().map(Box::new),
        }))
    }

    /// The first bytes of a line without a message; `None` if the frame is none.
    fn preview(&self, key: ItemKey) -> Result<Option<Box<[u8]>>, ReadError> {
        let preview =
            "SELECT coalesce(substr(f.raw, 1, ?2), x'') FROM line l JOIN frame f ON f.seq = l.frame
            WHERE l.frame = ?1";
        let params = (to_sql(key.seq.0), to_sql(Item::PREVIEW as u64));
        self.one(preview, params, |row| row.get(0))
    }

    /// The findings that point at a row: of an exchange those at it or at one of its frames as a
    /// whole; of a message those at its frame, and not at another exchange in it.
    fn finding_notes(&self, key: ItemKey, what: &What) -> Result<Vec<FindingNote>, ReadError> {
        let of_message = "WHERE frame = ?1 AND (exchange IS NULL OR ?2 IS NULL OR exchange = ?2)
            ORDER BY id";
        let findings = match what {
            What::Exchange(exchange) => self.findings_of_exchange(exchange)?,
            What::Event(_) => Vec::new(),
            What::Http(_) | What::Message { .. } | What::Line { .. } => {
                let exchange = match what {
                    What::Message { record, .. } => record.exchange.map(|id| to_sql(id.0)),
                    _ => None,
                };
                self.rows::<FindingRow>(of_message, (to_sql(key.seq.0), exchange))?
            }
        };
        let notes = findings.into_iter().map(|finding| FindingNote {
            rule: finding.rule,
            severity: finding.severity,
        });
        Ok(notes.collect())
    }
}
