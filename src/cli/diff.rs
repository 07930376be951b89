//! `mcpreel diff`: what differs between two recordings, or two exchanges.

use super::comparison::{self, Compared, Form, Party, Strictness, rewrite};
use super::exit::{Exit, Failure, Outcome, usage};
use super::folder::{self, Folder};
use super::output::{Progress, shown};
use super::{filter, select};
use clap::Args;
use mcpreel_replay::diff::{self, Judge, Wanted};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, escape};
use std::ffi::OsString;
use std::process::ExitCode;

/// Compare two recordings, or two exchanges
///
/// Requests of both are paired by what they ask for, in order; answers are compared by meaning, not
/// by spelling: how they ended, their shape, their values. What two runs never share (ids, times,
/// tokens) is counted, no more. Tools, prompts and resources are compared by name, schemas by what
/// they take and give. With one recording that was made by a replay: it and what was replayed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel diff @2 @                         the newest recording with the one before
  mcpreel diff 7f3a c04d --only tool:search
  mcpreel diff '7f3a#12' 'c04d#14'          two exchanges
  mcpreel diff                              the newest replay with what it replayed
  mcpreel diff old.reel new.reel --fail-on breaking --format junit > diff.xml
  mcpreel diff @2 @ --json | jq -r 'select(.class == \"breaking\") | .open[]'

How bad a difference is:
  breaking  clients of the left side fail: an error, a missing member, another
            type, a tool that is gone or takes less
  changed   another value
  added     something more
  order     the same in another order, where order should not matter
  latency   later than --latency-budget allows
  noise     what differs between any two runs: ids, times, tokens

Exit code: 0 nothing differs as much as --fail-on says, 1 something does, 2 wrong
arguments or rules, 3 a recording that cannot be read, or nothing to compare.")]
pub struct Diff {
    /// The reference recording: a path, @, @2, an id or its first four digits or more, or a name;
    /// with #SEQ one exchange of it
    #[arg(value_name = "LEFT[#SEQ]", default_value = "@")]
    pub left: OsString,
    /// The recording to compare with it [default: LEFT, compared with what it replays]
    #[arg(value_name = "RIGHT[#SEQ]")]
    pub right: Option<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// Only requests that fit on either side, in the filter language: tool:search, is:failed, ...
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub only: Option<String>,
    /// Treat a folder on the right as one on the left, in texts and file:// URIs
    #[arg(long, value_name = "OLD=NEW", value_parser = rewrite)]
    pub rewrite: Vec<(String, String)>,
    #[command(flatten)]
    pub strictness: Strictness,
    #[command(flatten)]
    pub form: Form,
}

/// Compares what is meant.
pub fn run(args: &Diff) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    let query = filter::parse_as("--only", args.only.as_deref())?;
    let open = |text| {
        let (recording, selected) = select::open(text, &args.folder)?;
        Ok::<_, Failure>((recording, selected.seq))
    };
    let left = open(&args.left)?;
    let sides = match &args.right {
        Some(right) => [left, open(right)?],
        None if left.1.is_some() => {
            return Err(usage(
                "one exchange is compared with another one: give a second #SEQ",
            ));
        }
        None => [(parent(&left.0, args, &library)?, None), left],
    };
    let [(left, at_left), (right, at_right)] = &sides;
    let message = if at_left.is_some() != at_right.is_some() {
        "one exchange is compared with one exchange: give both a #SEQ, or none"
    } else if query.is_some() && at_left.is_some() {
        "#SEQ names one exchange; leave it out, or leave out --only"
    } else if at_left == at_right && left.path() == right.path() {
        "LEFT and RIGHT are the same recording"
    } else {
        ""
    };
    if !message.is_empty() {
        return Err(usage(message));
    }
    let rewrites = Rewrites::new(args.rewrite.iter().cloned());
    let (mut judge, rules) = comparison::judge(&args.strictness, rewrites, left.path())?;
    if let (Some(l), Some(r)) = (at_left, at_right) {
        let (l, r) = (exchange(left, *l)?, exchange(right, *r)?);
        diff::exchanges((left, l), (right, r), &mut judge)?;
    } else {
        compare([left, right], query.as_ref(), &mut judge)?;
    }
    let report = judge.finish();
    let party = |(recording, seq): &(Recording, Option<Seq>)| {
        let mut party = Party::new(recording, &args.folder)?;
        party.seq = seq.map(|seq| seq.0);
        Ok::<_, Failure>(party)
    };
    let compared = Compared {
        report: &report,
        parties: &[party(&sides[0])?, party(&sides[1])?],
        rules: &rules,
        command: "mcpreel diff",
        is_cut_short: false,
    };
    comparison::write(&compared, args.form.format())?;
    Ok(Exit::Process(ExitCode::from(report.exit_code())))
}

/// The recording that `replay` was made from.
fn parent(replay: &Recording, args: &Diff, library: &Library) -> Result<Recording, Failure> {
    let summary = replay.summary()?;
    let Some(parent) = summary.parent else {
        let (id, name) = (escape(&summary.id), escape(&summary.name));
        return Err(Failure::Usage(format!(
            "{id} ({name}) is no replay, so diff needs two recordings: `mcpreel diff LEFT RIGHT`"
        )));
    };
    let beside = replay.path().parent().map(Library::new);
    let mut libraries = [Some(library), beside.as_ref()].into_iter().flatten();
    match libraries.find_map(|library| library.with_id(&parent)) {
        Some(path) => Ok(select::open(path.as_os_str(), &args.folder)?.0),
        None => Err(Failure::Usage(format!(
            "its original {} is not there: name a recording to compare it with",
            escape(&parent)
        ))),
    }
}

fn compare(
    sides: [&Recording; 2],
    query: Option<&Query>,
    judge: &mut Judge,
) -> Result<(), Failure> {
    let wanted = match query {
        None => Wanted::All,
        Some(query) => Wanted::Only([
            filter::exchanges(sides[0], query)?,
            filter::exchanges(sides[1], query)?,
        ]),
    };
    let mut progress = Progress::stderr();
    let told = &mut |done: usize, of: usize| {
        progress.now_and_then(|| {
            let (done, of) = (count(done as u64), count(of as u64));
            format!("{done} of {of} exchanges compared")
        });
        true
    };
    diff::recordings(sides, &wanted, judge, told)?;
    Ok(())
}

/// The exchange that a frame belongs to.
fn exchange(recording: &Recording, seq: Seq) -> Result<ExchangeId, Failure> {
    let all = recording.exchanges_of_frame(seq)?;
    all.first().map(|exchange| exchange.id).ok_or_else(|| {
        let path = shown(recording.path());
        Failure::Usage(format!("#{} of {path} is not part of an exchange", seq.0))
    })
}
