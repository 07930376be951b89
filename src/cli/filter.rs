//! `-q`: the filter language on the command line.

use super::exit::Failure;
use clap::Args;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::select::{self, Context, Question, Scan, Way};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use mcpreel_trace::query::{Query, QueryError};
use mcpreel_wire::text::escape;
use std::collections::HashSet;

/// The option that selects rows of a recording.
#[derive(Debug, Default, Args)]
pub struct Filter {
    /// Only rows that match a filter: is:failed, `tool:search latency>500ms`,
    /// params.arguments.path~"^/etc/", ... `-q x:1` lists the fields, `-q is:x` the flags
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    pub query: Option<String>,
}

/// Reads a filter; none was given: `None`. What is no filter is refused, with its place.
pub fn parse(text: Option<&str>) -> Result<Option<Query>, Failure> {
    parse_as("-q", text)
}

/// The same for another option than `-q`.
pub fn parse_as(option: &str, text: Option<&str>) -> Result<Option<Query>, Failure> {
    let parse = |text| Query::parse(text).map_err(|error| refusal(option, text, &error));
    text.map(parse).transpose().map_err(Failure::Usage)
}

/// The sentence, and below it the place.
fn refusal(option: &str, text: &str, error: &QueryError) -> String {
    let before = text.get(..error.at.start).unwrap_or(text);
    let column = before.chars().count() + 1;
    let at = mcpreel_wire::text::width(&escape(before));
    let meant = text.get(error.at.clone()).unwrap_or_default();
    let carets = mcpreel_wire::text::width(&escape(meant)).max(1);
    format!(
        "{option}, column {column}: {}\n  {}\n  {}{}",
        escape(&error.message),
        escape(text),
        " ".repeat(at),
        "^".repeat(carets)
    )
}

/// The context of a filter: ages count back from the end of a recording, or from now while it is
/// being recorded.
pub fn context(summary: &Summary, is_live: bool) -> Context {
    select::context(summary, is_live.then(wall_clock_ns))
}

/// Gives every row of `recording` that fits to `show`, the oldest first.
pub fn each(
    recording: &Recording,
    lens: Lens,
    query: &Query,
    mut show: impl FnMut(Item) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (question, context) = question(recording, lens, query)?;
    select::each(recording, &question, context, &mut show)
}

/// The addresses of the newest rows that fit, `most` at most, the newest first.
pub fn newest(
    recording: &Recording,
    lens: Lens,
    query: &Query,
    most: usize,
) -> Result<Vec<ItemKey>, Failure> {
    let (question, context) = question(recording, lens, query)?;
    let mut scan = Scan::new(&question, Way::Newest, None, context);
    let (mut keys, clock) = (Vec::new(), Clock::start());
    loop {
        let deadline = clock.deadline(select::STEP_NS);
        let step = scan.step(recording, most - keys.len(), deadline)?;
        keys.extend(step.hits.iter().map(|hit| hit.key));
        if step.done || keys.len() >= most {
            return Ok(keys);
        }
    }
}

/// The exchanges of `recording` that fit.
pub fn exchanges(recording: &Recording, query: &Query) -> Result<HashSet<ExchangeId>, Failure> {
    let mut fitting = HashSet::new();
    each(recording, Lens::Exchanges, query, |item| {
        if let What::Exchange(exchange) = item.what {
            fitting.insert(exchange.id);
        }
        Ok(())
    })?;
    Ok(fitting)
}

/// Whether any row of `recording` fits.
pub fn any(recording: &Recording, query: &Query) -> Result<bool, Failure> {
    Ok(!newest(recording, Lens::Exchanges, query, 1)?.is_empty()
        || !newest(recording, Lens::Wire, query, 1)?.is_empty())
}

/// The question for the rows of `recording`, with its context.
pub fn question(
    recording: &Recording,
    lens: Lens,
    query: &Query,
) -> Result<(Question, Context), Failure> {
    let summary = recording.summary()?;
    let is_live = super::select::is_live(recording, &summary);
    let question = Question::new(lens, query.clone());
    Ok((question, context(&summary, is_live)))
}
