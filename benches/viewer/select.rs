//! How fast rows are found: first pages, whole counts, text.

use crate::Setup;
use crate::generate;
use crate::support::recorder_table::Row;
use anyhow::Context as _;
use mcpreel_store::reader::Recording;
use mcpreel_store::select::Context;
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_store::text_search::{Pattern, Search};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;

const PAGE: usize = 50;
const STEP_NS: u64 = 10_000_000;

/// Filters on columns: what many rows fit, what few do, what none does.
const FILTERS: [&str; 6] = [
    "",
    "is:failed",
    "method:tools/call latency>1ms",
    "tool=no_such_tool",
    "-kind:notification size>100",
    "status:error code:-32602",
];

/// Nanoseconds.
struct Took {
    page: u64,
    all: u64,
    longest_step: u64,
    hits: usize,
}

/// One row per question.
pub fn measure(setup: &Setup) -> anyhow::Result<Vec<Row>> {
    let path = generate::frames(setup.frames())?;
    let recording = Recording::open(&path)?;
    let mut rows = Vec::new();
    for lens in [Lens::Exchanges, Lens::Wire] {
        for filter in FILTERS {
            let took = scan(&recording, lens, filter)?;
            rows.push(
                Row::at_most(
                    format!("first page of `{filter}`, {lens:?}"),
                    100.0,
                    ms(took.page),
                    |ms| format!("{ms:.1} ms"),
                )
                .and(format!(
                    "all {} rows in {:.0} ms, longest step {:.1} ms",
                    took.hits,
                    ms(took.all),
                    ms(took.longest_step)
                )),
            );
        }
    }
    rows.extend(search(&path, "no such text anywhere")?);
    rows.extend(search(&path, "No Such Text Anywhere")?);
    Ok(rows)
}

fn scan(recording: &Recording, lens: Lens, filter: &str) -> anyhow::Result<Took> {
    let query = Query::parse(filter).map_err(|error| anyhow::anyhow!("{filter}: {error}"))?;
    let question = Question::new(lens, query);
    let context = Context {
        end: Moment(0),
        slow_ns: 1_000_000_000,
    };
    let clock = Clock::start();
    let mut scan = Scan::new(&question, Way::Newest, None, context);
    let (mut hits, mut page, mut longest_step) = (0, None, 0);
    loop {
        let began = clock.now();
        let most = if page.is_none() { PAGE } else { usize::MAX };
        let step = scan.step(recording, most, clock.deadline(STEP_NS))?;
        let now = clock.now();
        longest_step = longest_step.max(now.0 - began.0);
        hits += step.hits.len();
        if step.done || hits >= PAGE {
            page.get_or_insert(now.0);
        }
        if step.done {
            break;
        }
    }
    Ok(Took {
        page: page.context("a scan without an end")?,
        all: clock.now().0,
        longest_step,
        hits,
    })
}

fn search(path: &std::path::Path, text: &str) -> anyhow::Result<Vec<Row>> {
    let clock = Clock::start();
    let mut search = Search::new(path, &Pattern::Literal(text.into()))?;
    let mut longest = 0;
    let bytes = loop {
        let began = clock.now();
        let found = search.step(clock.deadline(50_000_000))?;
        longest = longest.max(clock.now().0 - began.0);
        if found.done {
            break found.bytes;
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "some gigabytes")]
    let speed = bytes as f64 * 1e3 / clock.now().0 as f64;
    let row = Row::at_least(format!("search for `{text}`"), 500.0, speed, |n| {
        format!("{n:.0} MB/s")
    });
    Ok(vec![row.and(format!(
        "{} MB, longest step {:.0} ms",
        bytes / 1_000_000,
        ms(longest)
    ))])
}

fn ms(nanos: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    let ms = nanos as f64 / 1e6;
    ms
}
