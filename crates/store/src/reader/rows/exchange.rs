//! Rows of exchanges as values.

use super::column::{direction, era, number, optional, request_id, text, word};
use super::unsaid::{Unsaid, Words, tells_answer};
use crate::values::moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use rusqlite::Row;

/// The columns of [`exchange`], in its order, and where they stand. Of the answer of most exchanges
/// its line says nothing ([`tells_answer`]): the bytes of it are not even looked up.
macro_rules! exchange_columns {
    () => {
        concat!(
            exchange_columns!(own),
            ", ",
            summary_columns!("q"),
            ", ",
            summary_columns!(
                "p",
                "NOT (e.method = 'tools/call' AND e.status = 'ok' AND e.code IS NULL)"
            ),
            " FROM exchange e
            LEFT JOIN message q ON q.frame = e.request AND q.part = e.request_part
            LEFT JOIN message p ON p.frame = e.response AND p.part = e.response_part"
        )
    };
    // Without what the messages say, which takes longer than all the rest: those of [`light`].
    (light) => {
        concat!(exchange_columns!(own), " FROM exchange e")
    };
    (own) => {
        "e.id, e.direction, e.era, e.method, e.name, e.rpc_id, e.request, e.request_part,
        e.response, e.response_part, e.t_request, e.t_response, e.t_response_last, e.waited,
        e.status, e.code, e.parent, e.chain, e.task, e.cancelled, e.progress_count,
        e.progress, e.request_size, e.response_size"
    };
}
pub(crate) use exchange_columns;

pub fn exchange(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    exchange_at(row, None)
}

/// [`exchange_columns`], as it stood when `until` was the last frame.
pub fn exchange_at(row: &Row<'_>, until: Option<Seq>) -> rusqlite::Result<Exchange> {
    let mut bytes = Vec::new();
    Ok(unsaid_at(row, until, &mut bytes)?.said(&bytes))
}

/// [`exchange_columns`], whose line is not made yet; what it is made of is added to `bytes`.
pub(super) fn unsaid(row: &Row<'_>, bytes: &mut Vec<u8>) -> rusqlite::Result<Unsaid> {
    unsaid_at(row, None, bytes)
}

/// Those of [`exchange_columns`] that are `light`: its summary is empty.
pub fn light(row: &Row<'_>) -> rusqlite::Result<Exchange> {
    let status = word(row, 14, Status::parse)?;
    let time = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(moment));
    Ok(Exchange {
        id: ExchangeId(number(row, 0)?),
        direction: direction(row, 1)?,
        era: era(row, 2)?,
        method: text(row, 3)?.unwrap_or_default(),
        name: text(row, 4)?,
        rpc_id: request_id(row, 5)?.unwrap_or_else(|| RequestId::damaged("null")),
        request: (Seq(number(row, 6)?), row.get(7)?),
        response: optional(row, 8)?.map(Seq).zip(row.get(9)?),
        t_request: moment(row.get(10)?),
        t_response: time(11)?,
        t_response_last: time(12)?,
        waited_ns: number(row, 13)?,
        status,
        code: row.get(15)?,
        parent: optional(row, 16)?.map(ExchangeId),
        chain: optional(row, 17)?.map(ExchangeId),
        task: row.get(18)?,
        cancelled: optional(row, 19)?.map(Seq),
        progress_count: number(row, 20)?,
        progress: row.get(21)?,
        request_size: number(row, 22)?,
        response_size: number(row, 23)?,
        summary: Box::default(),
    })
}

/// The same, as it stood when `until` was the last frame.
pub fn light_at(row: &Row<'_>, until: Option<Seq>) -> rusqlite::Result<Exchange> {
    let exchange = light(row)?;
    Ok(match until {
        Some(until) => exchange.at(until),
        None => exchange,
    })
}

fn unsaid_at(row: &Row<'_>, until: Option<Seq>, bytes: &mut Vec<u8>) -> rusqlite::Result<Unsaid> {
    let exchange = light(row)?;
    let response = exchange.response.map(|(seq, _)| seq);
    let counts = response.is_none_or(|seq| until.is_none_or(|until| seq <= until));
    let is_told = counts && tells_answer(&exchange);
    Ok(Unsaid {
        exchange,
        until,
        request: Words::of(row, 24, bytes)?,
        answer: is_told.then(|| Words::of(row, 26, bytes)).transpose()?,
    })
}
