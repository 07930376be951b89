//! The findings of a recording by rule, in pieces: there may be a million of them.

use super::reader::reader_rows::{number, optional};
use super::reader::{FindingRow, ReadError, Recording, Summary};
use super::schema::to_sql;
use super::story::FindingGroup;
use mcpreel_lint::process::overdue;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;

/// Open exchanges that are looked at for what is overdue; the oldest ones tell enough.
const OPEN: u32 = 200;

const GROUPS: &str = "SELECT rule, severity, count(*), min(frame), max(frame) FROM finding
    WHERE id > ?1 AND id <= ?2 GROUP BY rule, severity";

impl Recording {
    /// The number of the last finding; 0 if there is none.
    pub fn last_finding(&self) -> Result<u64, ReadError> {
        self.number("SELECT coalesce(max(id), 0) FROM finding", [])
    }

    /// The findings with numbers after `after` up to `to`, by rule and
    /// severity, in no order.
    pub fn finding_groups_between(
        &self,
        after: u64,
        to: u64,
    ) -> Result<Vec<FindingGroup>, ReadError> {
        let params = (to_sql(after), to_sql(to));
        self.list(GROUPS, params, |row| {
            Ok(FindingGroup {
                rule: row.get(0)?,
                severity: row.get(1)?,
                count: number(row, 2)?,
                first: optional(row, 3)?.map(Seq),
                last: optional(row, 4)?.map(Seq),
            })
        })
    }

    /// The first `limit` findings of `rule` with this severity.
    pub fn findings_of_group(
        &self,
        rule: &str,
        severity: &str,
        limit: u32,
    ) -> Result<Vec<FindingRow>, ReadError> {
        let of_rule = "WHERE rule = ?1 AND severity = ?2 ORDER BY id LIMIT ?3";
        self.rows(of_rule, (rule, severity, limit))
    }

    /// The request of the exchange that a finding is about; for a finding that is not on record its
    /// frame.
    pub fn request_of(&self, finding: &FindingRow) -> Result<Option<Seq>, ReadError> {
        match finding.exchange {
            Some(id) if finding.id > 0 => Ok(self.exchange(id)?.map(|exchange| exchange.request.0)),
            _ if finding.id == 0 => Ok(finding.frame),
            _ => Ok(None),
        }
    }

    /// The exchanges that are overdue at `now` in a live recording, and have not been found by its
    /// recorder yet: rules about time passing are judged there when something comes. The findings
    /// have the number 0, they are not on record.
    pub fn overdue(&self, summary: &Summary, now: Moment) -> Result<Vec<FindingRow>, ReadError> {
        let open = self.first_of(Status::Open, OPEN)?;
        let found = overdue(open.iter(), &summary.session, summary.slow_ns, now);
        let mut rows = Vec::new();
        for finding in found {
            let exchange = finding.exchange;
            let exchange = open.iter().find(|one| Some(one.id) == exchange);
            let rule = finding.rule.id;
            let told = if let Some(exchange) = exchange {
                self.findings_of_exchange(exchange)?
            } else {
                self.findings_of_group(rule, finding.severity.as_str(), 1)?
            };
            if told.iter().all(|told| &*told.rule != rule) {
                rows.push(FindingRow::from(finding));
            }
        }
        Ok(rows)
    }
}
