//! The exchanges among the facts: those that stand alike, failed, were cancelled, were made again.

use crate::reader::{ReadError, Recording};
use crate::schema::to_sql;
use mcpreel_lint::cause::facts::{Cancelled, Sample};
use mcpreel_lint::cause::failed_calls::Failed;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::message::Direction;

/// The first and as many of the last rows of a kind that are read. The first failure and what was
/// open last say most.
const EACH: u32 = 4;

/// Failures of each status among which those of one call are looked for.
const FAILURES: u32 = 500;

/// Exchanges that were answered last.
const LAST: u32 = 16;

const GROUPS: usize = 4;

const COUNT_OF_STATUS: &str = "SELECT count(*) FROM (SELECT 1 FROM exchange
    INDEXED BY exchange_not_ok WHERE status <> 'ok' AND status = ?1 LIMIT ?2)";

impl Recording {
    /// The exchanges that begin a session, in order.
    pub(super) fn opening(&self) -> Result<Vec<Exchange>, ReadError> {
        let first = "WHERE e.method = ?1 AND e.name IS NULL ORDER BY e.id LIMIT ?2";
        let mut opening: Vec<Exchange> = self.rows(first, ("initialize", EACH))?;
        opening.extend(self.rows::<Exchange>(first, ("server/discover", EACH))?);
        // Who only sends back what it is sent begins no session.
        opening.retain(|exchange| exchange.direction == Direction::ClientToServer);
        opening.sort_by_key(|exchange| exchange.id);
        Ok(opening)
    }

    /// The exchanges of one status: how many there are, and the first and the last of them.
    pub(super) fn sample(&self, status: Status) -> Result<Sample, ReadError> {
        let first = "WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = ?1 ORDER BY id LIMIT ?2) ORDER BY e.id";
        let last = "WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = ?1 ORDER BY id DESC LIMIT ?2) ORDER BY e.id";
        let (status, mut exchanges) = (status.as_str(), Vec::<Exchange>::new());
        for condition in [first, last] {
            let before = exchanges.last().map(|exchange| exchange.id);
            let page = self
                .rows::<Exchange>(condition, (status, EACH))?
                .into_iter();
            exchanges.extend(page.filter(|exchange| Some(exchange.id) > before));
        }
        let count = self.number(COUNT_OF_STATUS, (status, to_sql(Sample::COUNTED)))?;
        Ok(Sample { count, exchanges })
    }

    /// The exchanges that were answered last, a few, in the order of the answers.
    pub(super) fn last_answered(&self) -> Result<Vec<Exchange>, ReadError> {
        let last = "WHERE e.id IN (
                SELECT id FROM (SELECT id, response FROM exchange ORDER BY id DESC LIMIT ?1)
                WHERE response IS NOT NULL ORDER BY response DESC LIMIT ?2)
            ORDER BY e.response";
        self.rows(last, (super::LOOKED_THROUGH, LAST))
    }

    /// Calls that failed, by method and name, in the order of the first of each that was answered
    /// and says what is wrong. `total` is how many failed altogether.
    pub(super) fn failed(&self, total: u64) -> Result<Vec<Failed>, ReadError> {
        let of_status = "WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = ?1 ORDER BY id LIMIT ?2)";
        let mut failures = Vec::<Exchange>::new();
        for status in Status::ALL {
            if status.is_failure_of("") {
                failures.extend(self.rows::<Exchange>(of_status, (status.as_str(), FAILURES))?);
            }
        }
        failures.retain(Exchange::has_failed);
        failures.sort_by_key(|failure| failure.id);
        let is_whole = total <= u64::from(FAILURES);
        let leads = |one: &Exchange| matches!(one.status, Status::Error | Status::ToolError);
        let mut groups = Vec::new();
        while groups.len() < GROUPS
            && let Some(first) = failures.iter().find(|one| leads(one))
        {
            let (method, name) = (first.method.clone(), first.name.clone());
            let is_alike = |one: &Exchange| one.method == method && one.name == name;
            let (alike, others): (Vec<_>, _) = failures.into_iter().partition(is_alike);
            groups.extend(self.failed_alike(alike, is_whole)?);
            failures = others;
        }
        Ok(groups)
    }

    /// Calls of one method and name, with what was answered.
    fn failed_alike(
        &self,
        mut calls: Vec<Exchange>,
        is_whole: bool,
    ) -> Result<Option<Failed>, ReadError> {
        let is_all = is_whole && calls.len() <= Failed::COUNTED;
        calls.truncate(Failed::COUNTED);
        let Some(mut failed) = Failed::new(calls, is_all) else {
            return Ok(None);
        };
        for alike in &mut failed.ways {
            if let Some((seq, part)) = alike.exchange.response {
                let mut rows = self.messages_of_frame(seq)?.into_iter();
                let row = rows.find(|row| row.record.part == part);
                alike.answer = row.map(|row| row.record.summary).or(alike.answer.take());
            }
        }
        Ok(Some(failed))
    }

    /// The requests that were cancelled, in order.
    pub(super) fn cancelled(&self) -> Result<Vec<Cancelled>, ReadError> {
        let mut cancelled = Vec::new();
        for status in [Status::Cancelled, Status::Late] {
            for exchange in self.sample(status)?.exchanges {
                cancelled.push(self.one_cancelled(exchange)?);
            }
        }
        cancelled.sort_by_key(|one| one.exchange.id);
        Ok(cancelled)
    }

    /// The requests that were never answered, each with the same request that came later.
    pub(super) fn made_again(&self) -> Result<Vec<(Exchange, Exchange)>, ReadError> {
        let mut again = Vec::new();
        for status in [Status::Open, Status::Unanswered] {
            for exchange in self.sample(status)?.exchanges {
                let next = self.next_alike(&exchange)?;
                again.extend(next.map(|next| (exchange, next)));
            }
        }
        Ok(again)
    }

    fn one_cancelled(&self, exchange: Exchange) -> Result<Cancelled, ReadError> {
        let (request, part) = exchange.request;
        let mut asked = self.messages_of_frame(request)?.into_iter();
        let asked = asked.find(|row| row.record.part == part);
        let (mut t, mut said) = (None, None);
        if let Some(seq) = exchange.cancelled {
            let mut messages = self.messages_of_frame(seq)?.into_iter();
            let about = messages.find(|row| row.record.exchange == Some(exchange.id));
            said = about.map(|row| row.record.summary);
            t = self.head(seq)?.map(|head| head.t_last);
        }
        Ok(Cancelled {
            has_token: asked.is_some_and(|row| row.record.token.is_some()),
            again: self.next_alike(&exchange)?,
            said: said.unwrap_or_default(),
            t,
            exchange,
        })
    }

    /// The next request of the same method and name, if it asks for the same and, where the first
    /// was cancelled, came after that.
    fn next_alike(&self, exchange: &Exchange) -> Result<Option<Exchange>, ReadError> {
        let alike = (
            &*exchange.method,
            exchange.name.as_deref(),
            to_sql(exchange.id.0),
        );
        let next = "WHERE e.method = ?1 AND e.name IS ?2 AND e.id > ?3 ORDER BY e.id LIMIT 1";
        let next: Option<Exchange> = self.row(next, alike)?;
        let is_again = |next: &Exchange| {
            let later = exchange.cancelled.is_none_or(|seq| next.request.0 > seq);
            later && next.direction == exchange.direction && next.asked() == exchange.asked()
        };
        Ok(next.filter(is_again))
    }
}
