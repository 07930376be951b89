//! Text search and filters.

use crate::support::conversation::RARE;
use crate::support::recorder_table::Row;
use crate::support::stats::{largest, median};
use crate::viewer::{self, ms, show_ms};
use crate::{Setup, generate};
use mcpreel_store::text_search::{Pattern, Search};
use mcpreel_trace::clock::{Clock, Moment};
use std::path::Path;

const MB_PER_SECOND: f64 = 500.0;
const FIRST_HITS_MS: f64 = 100.0;
const FIRST_PAGE_MS: f64 = 100.0;

/// Filters that only columns decide, from many rows to few, each with a word of the rows that fit.
const FILTERS: [(&str, &str); 3] = [
    ("is:failed", "✗"),
    ("tool:delete_image_2", "delete_image_2"),
    ("status:error latency>1ms", "✗"),
];

/// From a filter that is typed at once to its first rows.
pub fn filter(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let mut rows = Vec::new();
    for (filter, word) in FILTERS {
        let mut took = Vec::new();
        for _ in 0..setup.amount(4, 2) {
            let mut terminal = viewer::open(&path, None)?;
            terminal.wait_for(viewer::ROW);
            viewer::wait_until_calm(&terminal);
            terminal.press("f");
            viewer::wait_until_calm_briefly(&terminal);
            let pressed = terminal.press(&format!("{filter}\r"));
            // Ten rows that fit are more than were on the screen before.
            let shown = terminal.wait_until(word, |screen| {
                screen.rows(0, 100).filter(|row| row.contains(word)).count() >= 10
            });
            took.push(ms(shown.since(pressed)));
            viewer::quit(terminal);
        }
        let what = format!("filter `{filter}`, first page, {} frames", setup.frames());
        let row = Row::at_most(what, FIRST_PAGE_MS, median(&took), show_ms);
        rows.push(row.and(format!("at worst {}", show_ms(largest(&took)))));
    }
    Ok(rows)
}

/// How fast all bodies are looked through, and how soon something is found.
pub fn text(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let (mut speeds, mut firsts) = (Vec::new(), Vec::new());
    for _ in 0..setup.amount(5, 2) {
        let (speed, _) = search(&path, "no such words anywhere")?;
        speeds.push(speed);
        let (_, first) = search(&path, RARE)?;
        firsts.push(first);
    }
    let show = |speed| format!("{speed:.0} MB/s");
    let what = format!("text search, {} frames", setup.frames());
    Ok(vec![
        Row::at_least(&what, MB_PER_SECOND, median(&speeds), show),
        Row::at_most(
            "first hits of a word in 1 of 10,000 results",
            FIRST_HITS_MS,
            median(&firsts),
            show_ms,
        ),
    ])
}

/// Megabytes per second, and milliseconds to the first hit.
fn search(path: &Path, text: &str) -> anyhow::Result<(f64, f64)> {
    let clock = Clock::start();
    let pattern = Pattern::Literal(text.into());
    let mut search = Search::new(path, &pattern)?;
    let mut first = None;
    loop {
        let found = search.step(clock.deadline(10_000_000))?;
        let now = clock.now().since(Moment(0));
        if !found.hits.is_empty() && first.is_none() {
            first = Some(ms(now));
        }
        if found.done {
            #[expect(clippy::cast_precision_loss, reason = "some hundred megabytes")]
            let speed = found.bytes as f64 / 1e6 / now.as_secs_f64();
            return Ok((speed, first.unwrap_or(f64::INFINITY)));
        }
    }
}
