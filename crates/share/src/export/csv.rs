//! Statistics as CSV (RFC 4180): a row per method and a row per tool, as `mcpreel stats` shows
//! them.
//!
//! ```text
//! per,direction,method,name,count,failed,cancelled,given_up,measured,p50_ms,…,per_minute
//! "method","c2s","tools/call",,12,1,0,0,11,41.250000,…,3.2
//! "tool","c2s","tools/call","search_docs",8,0,0,0,8,38.120000,…,2.1
//! ```
//!
//! Times are milliseconds, exact to the nanosecond; what could not be measured is empty. Whatever
//! was said on the wire is quoted and escaped, and where a spreadsheet would take it for a formula
//! there is an apostrophe before it, which a spreadsheet takes for "this is text".

use super::{Export, WriteError, Written};
use mcpreel_trace::stats::{Collector, Row};
use mcpreel_wire::text::escape;
use std::fmt::Write as _;
use std::io::Write;

const MS: u64 = 1_000_000;

const COLUMNS: [&str; 18] = [
    "per",
    "direction",
    "method",
    "name",
    "count",
    "failed",
    "cancelled",
    "given_up",
    "measured",
    "p50_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "max_ms",
    "waited_ms",
    "request_bytes",
    "response_bytes",
    "per_minute",
];

/// Writes the statistics of its exchanges.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let mut written = Written::default();
    let mut collector = Collector::default();
    written.left_out = excerpt.exchanges(&mut |exchange| {
        (export.progress)(exchange.request.0);
        written.exchanges += 1;
        collector.add(exchange);
        Ok::<_, WriteError>(())
    })?;
    let stats = collector.stats([]);
    let span_ns = excerpt.recording.summary()?.t_last_ns;
    write!(out, "{}\r\n", COLUMNS.join(","))?;
    for row in &stats.methods {
        out.write_all(line("method", row, span_ns).as_bytes())?;
    }
    for row in &stats.tools {
        out.write_all(line("tool", row, span_ns).as_bytes())?;
    }
    Ok(written)
}

fn line(per: &str, row: &Row, span_ns: u64) -> String {
    let mut line = [per, row.direction, &row.method].map(text).join(",");
    line.push(',');
    line.push_str(&row.name.as_deref().map(text).unwrap_or_default());
    let measured = row.latency.map_or(0, |latency| latency.measured);
    let numbers = [row.count, row.failed, row.cancelled, row.given_up, measured];
    for number in numbers {
        let _ = write!(line, ",{number}");
    }
    let latency = row
        .latency
        .map(|it| [it.p50_ns, it.p90_ns, it.p95_ns, it.p99_ns, it.max_ns]);
    match latency {
        Some(latencies) => latencies.iter().for_each(|ns| push_ms(&mut line, *ns)),
        None => line.push_str(",,,,,"),
    }
    push_ms(&mut line, row.waited_ns);
    let _ = write!(line, ",{},{},", row.request_bytes, row.response_bytes);
    if let Some(tenths) = row.per_minute_tenths(span_ns) {
        let _ = write!(line, "{}.{}", tenths / 10, tenths % 10);
    }
    line.push_str("\r\n");
    line
}

fn push_ms(line: &mut String, ns: u64) {
    let _ = write!(line, ",{}.{:06}", ns / MS, ns % MS);
}

/// A cell of text: quoted, its control characters escaped, no formula.
fn text(text: &str) -> String {
    let text = escape(text);
    let formula = if is_formula(&text) { "'" } else { "" };
    format!("\"{formula}{}\"", text.replace('"', "\"\""))
}

/// Whether a spreadsheet would reckon with the text; some take wide characters for plain ones, and
/// white space in front for nothing.
fn is_formula(text: &str) -> bool {
    let first = text.trim_start().chars().next();
    first.is_some_and(|first| "=+-@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}".contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::stats::Latency;

    #[test]
    fn no_cell_is_a_formula_and_none_breaks_out() {
        let cells = [
            ("search", "\"search\""),
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            (" =1+1", "\"' =1+1\""),
            ("\u{ff1d}1", "\"'\u{ff1d}1\""),
            ("\t=1", "\"\\t=1\""),
            ("a\",=cmd\r\n=2", "\"a\"\",=cmd\\r\\n=2\""),
            ("a\u{202e}b\u{1b}[2J", "\"a\\u{202e}b\\x1b[2J\""),
        ];
        for (said, cell) in cells {
            assert_eq!(text(said), cell, "{said:?}");
        }
    }

    #[test]
    fn what_was_not_measured_is_empty_and_every_row_has_all_columns() {
        let bare = Row {
            direction: "c2s",
            method: "ping".into(),
            count: 3,
            ..Row::default()
        };
        let none = line("method", &bare, 0);
        assert_eq!(
            none,
            "\"method\",\"c2s\",\"ping\",,3,0,0,0,0,,,,,,0.000000,0,0,\r\n"
        );
        assert_eq!(none.matches(',').count(), COLUMNS.len() - 1);
        let measured = Row {
            latency: Some(Latency {
                measured: 3,
                p50_ns: 41_250_001,
                ..Latency::default()
            }),
            ..bare
        };
        let some = line("tool", &measured, 60_000_000_000);
        assert!(some.contains(",3,41.250001,0.000000,"), "{some}");
        assert!(some.ends_with(",3.0\r\n"), "{some}");
        assert_eq!(some.matches(',').count(), COLUMNS.len() - 1);
    }
}
