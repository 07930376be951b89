//! `mcpreel stats`: latencies and failures per method and per tool.

use super::exit::{Exit, Failure, Outcome};
use super::filter::Filter;
use super::output::{Ink, Output};
use super::select::RecordingArgs;
use super::table::{Cell, Fit, Table};
use super::{filter, select};
use clap::{Args, ValueEnum};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::{Lens, What};
use mcpreel_trace::stats::{Collector, Latency, Row, Stats as Figures};
use mcpreel_wire::text::{count, duration, escape, plural, size};
use serde_json::{Value, json};
use std::cmp::Reverse;

/// Latencies and failures per method and per tool
///
/// P50, P95 and P99 are of answers only, from five on. MAX counts calls without an answer too, as long as they
/// were waited for: until they were cancelled, or the session ended; a > marks it. FAILED are calls
/// that were answered with an error, cancelled by other than the user, or never answered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats
  mcpreel stats --sort p95
  mcpreel stats -q 'tool:search time>-10m'
  mcpreel stats weather-server --json | jq 'select(.p99_ns > 1e9)'")]
pub struct Stats {
    #[command(flatten)]
    which: RecordingArgs,
    #[command(flatten)]
    filter: Filter,
    /// The order of the rows, the largest first [default: by name]
    #[arg(long, value_name = "COLUMN")]
    sort: Option<Column>,
    /// One JSON object per method or tool and line
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Column {
    Count,
    /// By the number of calls that failed
    Failed,
    P50,
    P95,
    P99,
    Max,
    /// Requests and responses together
    Bytes,
}

impl Column {
    fn sort(self, rows: &mut [Row]) {
        let time = |row: &Row, of: fn(&Latency) -> u64| row.percentiles().map_or(0, of);
        rows.sort_by_key(|row| {
            Reverse(match self {
                Self::Count => row.count,
                Self::Failed => row.failed,
                Self::P50 => time(row, |latency| latency.p50_ns),
                Self::P95 => time(row, |latency| latency.p95_ns),
                Self::P99 => time(row, |latency| latency.p99_ns),
                Self::Max => row.max_ns().map_or(0, |(ns, _)| ns),
                Self::Bytes => bytes(row),
            })
        });
    }
}

/// Bytes of the requests and the responses.
fn bytes(row: &Row) -> u64 {
    row.request_bytes.saturating_add(row.response_bytes)
}

/// The slowest calls that are shown.
const SLOWEST: usize = 5;

impl Stats {
    pub fn run(&self) -> Outcome {
        let query = filter::parse(self.filter.query.as_deref())?;
        let recording = self.which.open()?;
        let summary = recording.summary()?;
        let now = select::now(&recording, &summary);
        let mut collector = Collector::until(now.unwrap_or(Moment(summary.t_last_ns)));
        match &query {
            None => recording.each_exchange(|exchange| collector.add(&exchange))?,
            Some(query) => filter::each(&recording, Lens::Exchanges, query, |item| {
                if let What::Exchange(exchange) = &item.what {
                    collector.add(exchange);
                }
                Ok(())
            })?,
        }
        let mut figures = collector.stats();
        if let Some(column) = self.sort {
            column.sort(&mut figures.methods);
            column.sort(&mut figures.tools);
        }
        let mut out = Output::stdout();
        if self.json {
            for row in figures.methods.iter().chain(&figures.tools) {
                out.json(&object(row))?;
            }
        } else {
            out.line(&select::title(&recording, &summary, &out))?;
            write(&figures, &mut out)?;
        }
        out.flush()?;
        Ok(Exit::Fine)
    }
}

/// A method, or a tool where `name` is set.
fn object(row: &Row) -> Value {
    let time = |of: fn(&Latency) -> u64| row.latency.as_ref().map(of);
    json!({
        "direction": row.direction,
        "method": &*row.method,
        "name": row.name.as_deref(),
        "count": row.count,
        "failed": row.failed,
        "cancelled": row.cancelled,
        "given_up": row.given_up,
        "p50_ns": time(|latency| latency.p50_ns),
        "p90_ns": time(|latency| latency.p90_ns),
        "p95_ns": time(|latency| latency.p95_ns),
        "p99_ns": time(|latency| latency.p99_ns),
        "max_ns": time(|latency| latency.max_ns),
        "unanswered_ns": row.unanswered_ns,
        "waited_ns": row.waited_ns,
        "request_bytes": row.request_bytes,
        "response_bytes": row.response_bytes,
    })
}

fn write(stats: &Figures, out: &mut Output) -> Result<(), Failure> {
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
    if !stats.slowest.is_empty() {
        out.line("")?;
        let mut slowest =
            Table::new([("SLOWEST", Fit::Right), ("", Fit::Left), ("CALL", Fit::Cut)]);
        for slow in stats.slowest.iter().take(SLOWEST) {
            let call = slow.name.as_deref().unwrap_or(&slow.method);
            let (took, at) = (duration(slow.latency_ns), format!("#{}", slow.seq.0));
            slowest.push([took.into(), at.into(), escape(call).into_owned().into()]);
        }
        slowest.write(out)?;
    }
    if (stats.methods.iter()).any(|row| row.latency.is_some() && row.percentiles().is_none()) {
        let hint = "–: of fewer than five answers; MAX says all that percentiles would";
        out.inked(Ink::Faint, &format!("\n{hint}"))?;
    }
    if stats.methods.iter().any(|row| row.waited_ns > 0) {
        let hint = "WAITED: the server waited for its client, in the call or between two rounds";
        out.inked(Ink::Faint, &format!("\n{hint}"))?;
    }
    if (stats.methods.iter()).any(|row| row.max_ns().is_some_and(|(_, answered)| !answered)) {
        out.inked(Ink::Faint, "\nMAX with >: this long a call had no answer")?;
    }
    let given_up = stats.methods.iter().map(|row| row.given_up).sum();
    if given_up > 0 {
        let given_up = plural(given_up, "request");
        let hint = format!("\n{given_up} not followed to the end: too many were open");
        out.inked(Ink::Warn, &hint)?;
    }
    Ok(())
}

/// The longest wait; a sign before it says that there was no answer.
fn max(row: &Row) -> String {
    let told = |(ns, is_answered)| {
        let sign = if is_answered { "" } else { ">" };
        format!("{sign}{}", duration(ns))
    };
    row.max_ns().map_or_else(|| "–".to_owned(), told)
}

fn table(heading: &'static str, rows: &[Row], name: impl Fn(&Row) -> String) -> Table<10> {
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
        ("BYTES", Fit::Right),
    ])
    .giving_way(&["CANCELLED", "WAITED", "P99", "BYTES"]);
    let some = |number: u64, text: fn(u64) -> String| match number {
        0 => String::new(),
        number => text(number),
    };
    for row in rows {
        let time = |of: fn(&Latency) -> u64| {
            let latency = row.percentiles().map(of);
            Cell::from(latency.map_or_else(|| "–".to_owned(), duration))
        };
        table.push([
            name(row).into(),
            count(row.count).into(),
            Cell::new(row.failed_in_words(), Ink::Bad),
            some(row.cancelled, count).into(),
            time(|latency| latency.p50_ns),
            time(|latency| latency.p95_ns),
            time(|latency| latency.p99_ns),
            max(row).into(),
            some(row.waited_ns, duration).into(),
            size(bytes(row)).into(),
        ]);
    }
    table
}
