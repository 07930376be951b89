//! Counts and latencies.

use crate::worker::stats::Figures;
use compact_str::CompactString;
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::{Latency, Row};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

#[derive(Debug, Default)]
pub struct Stats {
    pub asked: Option<Asked>,
    pub shown: Option<Box<Figures>>,
    /// What will be, when that has been there for a second.
    pub fresh: Option<Box<Figures>>,
    /// When the figures on the screen came, nanoseconds since the viewer started.
    pub shown_ns: u64,
    pub sort: Sort,
    /// Whether they are the other way round.
    pub reverse: bool,
    /// The row with the cursor; stays on it when the order changes.
    pub cursor: RowId,
    pub top: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub generation: u64,
    pub query: Query,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    Name,
    #[default]
    Count,
    Failed,
    P50,
    P95,
    P99,
    Max,
    Sent,
    Received,
    Rate,
}

impl Sort {
    /// All of them, in the order of the columns.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Count,
        Self::Failed,
        Self::P50,
        Self::P95,
        Self::P99,
        Self::Max,
        Self::Sent,
        Self::Received,
        Self::Rate,
    ];

    /// The column that comes after it.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Self::ALL[(at + 1) % Self::ALL.len()]
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "method, tool",
            Self::Count => "count",
            Self::Failed => "failed",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::Max => "max",
            Self::Sent => "asked",
            Self::Received => "answered",
            Self::Rate => "per min",
        }
    }
}

/// Which row it is, whatever the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RowId {
    #[default]
    Total,
    Method(&'static str, CompactString),
    Tool(CompactString),
}

impl Stats {
    /// The rows in the order in which they are shown: the total, the methods, and below
    /// `tools/call` the tools.
    pub fn rows(&self) -> Vec<(RowId, &Row)> {
        let Some(figures) = self.shown.as_deref() else {
            return Vec::new();
        };
        let stats = &figures.stats;
        let mut rows = vec![(RowId::Total, &stats.total)];
        for method in self.sorted(&stats.methods) {
            let id = RowId::Method(method.direction, method.method.clone());
            let calls =
                method.direction == stats.total.direction && &*method.method == "tools/call";
            rows.push((id, method));
            if calls {
                let tools = self.sorted(&stats.tools).into_iter();
                rows.extend(tools.map(|tool| {
                    let name = tool.name.clone().unwrap_or_default();
                    (RowId::Tool(name), tool)
                }));
            }
        }
        rows
    }

    /// Numbers begin with the greatest, names with the first.
    fn sorted<'r>(&self, rows: &'r [Row]) -> Vec<&'r Row> {
        let mut rows: Vec<_> = rows.iter().collect();
        let ns = |row: &Row, of: fn(&Latency) -> u64| row.latency.as_ref().map_or(0, of);
        let number = |row: &Row| match self.sort {
            Sort::Name => 0,
            Sort::Count | Sort::Rate => row.count,
            Sort::Failed => row.failed_permille(),
            Sort::P50 => ns(row, |latency| latency.p50_ns),
            Sort::P95 => ns(row, |latency| latency.p95_ns),
            Sort::P99 => ns(row, |latency| latency.p99_ns),
            Sort::Max => ns(row, |latency| latency.max_ns),
            Sort::Sent => row.request_bytes,
            Sort::Received => row.response_bytes,
        };
        rows.sort_by_key(|row| Reverse(number(row)));
        if self.reverse {
            rows.reverse();
        }
        rows
    }

    /// Where the cursor is among `rows`.
    pub fn cursor_row(&self, rows: &[(RowId, &Row)]) -> usize {
        let at = rows.iter().position(|(id, _)| *id == self.cursor);
        at.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::stats;

    fn row(method: &str, name: Option<&str>, count: u64) -> Row {
        Row {
            direction: "c2s",
            method: method.into(),
            name: name.map(Into::into),
            count,
            ..Row::default()
        }
    }

    #[test]
    fn tools_stand_below_their_method_in_whatever_order_and_the_cursor_stays_on_its_row() {
        let figures = Figures {
            stats: stats::Stats {
                methods: vec![row("ping", None, 9), row("tools/call", None, 3)],
                tools: vec![
                    row("tools/call", Some("a"), 1),
                    row("tools/call", Some("b"), 2),
                ],
                total: row("", None, 12),
                ..stats::Stats::default()
            },
            ..Figures::default()
        };
        let mut stats = Stats {
            shown: Some(Box::new(figures)),
            cursor: RowId::Tool("a".into()),
            ..Stats::default()
        };
        let names = |stats: &Stats| -> Vec<String> {
            let name = |(_, row): &(RowId, &Row)| row.name.clone().unwrap_or(row.method.clone());
            stats.rows().iter().map(name).map(String::from).collect()
        };
        assert_eq!(names(&stats), ["", "ping", "tools/call", "b", "a"]);
        assert_eq!(stats.cursor_row(&stats.rows()), 4);
        stats.reverse = true;
        assert_eq!(names(&stats), ["", "tools/call", "a", "b", "ping"]);
        assert_eq!(stats.cursor_row(&stats.rows()), 2);
    }
}
