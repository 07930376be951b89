//! `mcpreel stats`: latencies and failures per method and per tool.

use super::args::Stats as Args;
use super::exit::{Exit, Failure, Outcome};
use super::output::{Ink, Output};
use super::table::{Cell, Fit, Table};
use super::{filter, select};
use mcpreel_store::reader::Recording;
use mcpreel_trace::item::{Lens, What};
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::{Collector, Row, Stats};
use mcpreel_wire::text::{count, duration, escape, plural};
use serde::Serialize;

/// Prints them.
pub fn run(args: &Args) -> Outcome {
    let query = filter::parse(args.filter.query.as_deref())?;
    let (recording, _) = select::open(&args.recording, &args.folder)?;
    let stats = collect(&recording, query.as_ref())?;
    let mut out = Output::stdout();
    if args.json {
        for row in stats.methods.iter().chain(&stats.tools) {
            out.json(&Line::from(row))?;
        }
    } else {
        write(&stats, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

/// Of all exchanges, or of those that fit.
fn collect(recording: &Recording, query: Option<&Query>) -> Result<Stats, Failure> {
    let mut collector = Collector::default();
    match query {
        None => recording.each_exchange(|exchange| collector.add(&exchange))?,
        Some(query) => filter::each(recording, Lens::Exchanges, query, |item| {
            if let What::Exchange(exchange) = &item.what {
                collector.add(exchange);
            }
            Ok(())
        })?,
    }
    Ok(collector.stats([]))
}

/// A method, or a tool where `name` is set.
#[derive(Serialize)]
struct Line<'a> {
    direction: &'a str,
    method: &'a str,
    name: Option<&'a str>,
    count: u64,
    failed: u64,
    cancelled: u64,
    given_up: u64,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p95_ns: Option<u64>,
    p99_ns: Option<u64>,
    max_ns: Option<u64>,
    waited_ns: u64,
}

impl<'a> From<&'a Row> for Line<'a> {
    fn from(row: &'a Row) -> Self {
        Self {
            direction: row.direction,
            method: &row.method,
            name: row.name.as_deref(),
            count: row.count,
            failed: row.failed,
            cancelled: row.cancelled,
            given_up: row.given_up,
            p50_ns: row.latency.map(|latency| latency.p50_ns),
            p90_ns: row.latency.map(|latency| latency.p90_ns),
            p95_ns: row.latency.map(|latency| latency.p95_ns),
            p99_ns: row.latency.map(|latency| latency.p99_ns),
            max_ns: row.latency.map(|latency| latency.max_ns),
            waited_ns: row.waited_ns,
        }
    }
}

fn write(stats: &Stats, out: &mut Output) -> Result<(), Failure> {
    if stats.methods.is_empty() {
        return Ok(out.line("no exchanges")?);
    }
    let method = |row: &Row| {
        let arrow = if row.direction == "s2c" { "←" } else { "→" };
        format!("{arrow} {}", escape(&row.method))
    };
    table("METHOD", &stats.methods, method).write(out)?;
    if !stats.tools.is_empty() {
        out.line("")?;
        let tool = |row: &Row| escape(row.name.as_deref().unwrap_or_default()).into_owned();
        table("TOOL", &stats.tools, tool).write(out)?;
    }
    if stats.methods.iter().any(|row| row.waited_ns > 0) {
        let hint = "WAITED is the time in which the server waited for its client, in the call or between two rounds.";
        out.line("")?;
        out.line(&out.paint(Ink::Faint, hint))?;
    }
    let given_up = stats.methods.iter().map(|row| row.given_up).sum();
    if given_up > 0 {
        let given_up = plural(given_up, "request");
        let hint = format!(
            "{given_up} given up: too many were open at once for all to be followed, so that nobody knows whether they were answered."
        );
        out.line("")?;
        out.line(&out.paint(Ink::Warn, &hint))?;
    }
    Ok(())
}

fn table(heading: &'static str, rows: &[Row], name: impl Fn(&Row) -> String) -> Table<9> {
    let mut table = Table::new([
        (heading, Fit::Cut),
        ("COUNT", Fit::Right),
        ("FAILED", Fit::Right),
        ("CANCELLED", Fit::Right),
        ("P50", Fit::Right),
        ("P95", Fit::Right),
        ("P99", Fit::Right),
        ("MAX", Fit::Right),
        ("WAITED", Fit::Right),
    ]);
    for row in rows {
        let some = |number: u64| {
            if number == 0 {
                String::new()
            } else {
                count(number)
            }
        };
        let time = |nanos: Option<u64>| nanos.map_or_else(|| "–".to_owned(), duration);
        let latency = row.latency;
        table.push([
            name(row).into(),
            count(row.count).into(),
            Cell::new(some(row.failed), Ink::Bad),
            some(row.cancelled).into(),
            time(latency.map(|latency| latency.p50_ns)).into(),
            time(latency.map(|latency| latency.p95_ns)).into(),
            time(latency.map(|latency| latency.p99_ns)).into(),
            time(latency.map(|latency| latency.max_ns)).into(),
            Some(row.waited_ns)
                .filter(|&waited| waited > 0)
                .map_or_else(String::new, duration)
                .into(),
        ]);
    }
    table
}
