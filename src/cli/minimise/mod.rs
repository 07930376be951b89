//! `mcpreel minimise`: the fewest messages of a client with which its server still fails.
//!
//! ```text
//!  recording ─▶ units ─▶ search: a replay without some, again and again ─▶ the shortest that failed
//!                          │                                                  │
//!                          └ in a folder of its own, which vanishes           └▶ a recording, told
//! ```
//!
//! * [`search`]: which runs are made, what they show, and when it is enough;
//! * [`report`]: what is said in the end.

mod minimise_report;
mod minimise_search;

use super::args::{Minimise as Args, Part, Strictness};
use super::exit::{Exit, Failure, Outcome};
use super::replay::plan::{Plan, Wish};
use super::{filter, output, select};
use mcpreel_replay::minimise::Units;
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::{escape, plural};
use minimise_search::{Search, Stop, Whole};
use std::process::ExitCode;

/// Tools that are named.
const MOST_NAMED: usize = 10;

/// Said where calls are asked for or allowed that may change something.
const AGAIN: &str = "Each run calls them again, and there may be hundreds of runs.";

/// Looks for the fewest messages.
pub fn run(args: &Args) -> Outcome {
    let query = filter::parse_as("--fails", Some(&args.fails))?;
    let query = query.ok_or_else(|| Failure::Usage("--fails needs a filter".to_owned()))?;
    let (recording, selected) = select::open(&args.recording, &args.driving.folder)?;
    if selected.seq.is_some() {
        let message = "`minimise` is about a whole recording: leave out what stands behind the #";
        return Err(Failure::Usage(message.to_owned()));
    }
    select::tell_if_played(&args.recording, &recording)?;
    let strictness = Strictness {
        rules: args.rules.clone(),
        ..Strictness::default()
    };
    let part = Part::default();
    let wish = Wish {
        driving: &args.driving,
        part: &part,
        strictness: &strictness,
        keep_trace: args.driving.values.keep_trace,
        warning: Some(AGAIN),
    };
    let plan = Plan::new(wish, &recording)?;
    warn(&plan)?;
    let units = Units::of(&recording)?;
    let mut search = Search::new(args, plan, &query, &units)?;
    match search.whole()? {
        Whole::Fails => {}
        Whole::Passes(code) => return Ok(Exit::Process(ExitCode::from(code))),
        Whole::Stopped(stop) => return Ok(Exit::Process(ExitCode::from(stop.exit_code()))),
    }
    search.fewest()?;
    let found = search.found()?;
    minimise_report::write(args, &recording, &found)?;
    Ok(match found.stop {
        Some(stop @ Stop::Signal(_)) => Exit::Process(ExitCode::from(stop.exit_code())),
        _ => Exit::Fine,
    })
}

/// Says which calls that may change something every run makes.
fn warn(plan: &Plan<'_>) -> Result<(), Failure> {
    let called = plan.side_effects()?;
    if called.is_empty() {
        return Ok(());
    }
    let mut named: Vec<_> = called
        .iter()
        .take(MOST_NAMED)
        .map(|(tool, calls)| format!("{} ({})", escape(tool), plural(*calls, "call")))
        .collect();
    if called.len() > named.len() {
        named.push(format!("{} more tools", called.len() - named.len()));
    }
    output::say(&format!(
        "each run calls tools that do not say that they only read, and there may be hundreds of \
         runs: {}",
        named.join(", ")
    ));
    Ok(())
}

/// How many messages a client sent that are no answers.
fn messages(units: &Units) -> usize {
    let frames = units.all().iter().map(|unit| unit.frames.len());
    frames.sum::<usize>() + units.handshake()
}

/// What `recording` is called in a report.
fn party(args: &Args, recording: &Recording) -> Result<super::comparison::Party, Failure> {
    let library = mcpreel_store::library::Library::new(super::folder::of(&args.driving.folder)?);
    let entries = library.list().unwrap_or_default();
    let usual = args.driving.folder.dir.is_none();
    let folder = usual.then_some((&library, &*entries));
    Ok(super::comparison::Party::new(
        recording,
        &recording.summary()?,
        folder,
    ))
}
