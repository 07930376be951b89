//! `mcpreel diff`: what differs between two recordings, or two exchanges.

use super::args::Diff as Args;
use super::comparison::{self, Compared, Judging, Party};
use super::exit::{Exit, Failure, Outcome};
use super::output::Progress;
use super::{filter, folder, select};
use mcpreel_replay::diff::{self, Judge, Wanted};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, escape};
use std::process::ExitCode;

/// Progress is shown every so many exchanges.
const TOLD_EVERY: usize = 500;

/// Compares what is meant.
pub fn run(args: &Args) -> Outcome {
    let library = Library::new(folder::of(&args.folder)?);
    let query = filter::parse_as("--only", args.only.as_deref())?;
    let sides = sides(args, &library)?;
    if query.is_some() && sides.iter().any(|side| side.seq.is_some()) {
        let message = "#SEQ names one exchange; leave it out, or leave out --only";
        return Err(Failure::Usage(message.to_owned()));
    }
    let rewrites = Rewrites::new(args.rewrite.iter().cloned());
    let Judging { mut judge, files } =
        comparison::judge(&args.strictness, rewrites, sides[0].recording.path())?;
    compare(&sides, query.as_ref(), &mut judge)?;
    let report = judge.finish();
    let party = |side: &Side| {
        let mut party = Party::new(&side.recording, &args.folder)?;
        party.seq = side.seq.map(|seq| seq.0);
        Ok::<_, Failure>(party)
    };
    let parties = [party(&sides[0])?, party(&sides[1])?];
    let compared = Compared {
        report: &report,
        parties: &parties,
        rules: &files,
        command: "mcpreel diff",
        is_cut_short: false,
    };
    comparison::write(&compared, args.form.format())?;
    Ok(Exit::Process(ExitCode::from(report.exit_code())))
}

/// A recording, and the frame of it that is meant.
struct Side {
    recording: Recording,
    seq: Option<Seq>,
}

/// Who is compared with whom.
fn sides(args: &Args, library: &Library) -> Result<[Side; 2], Failure> {
    let open = |text| {
        let (recording, selected) = select::open(text, &args.folder)?;
        let seq = selected.seq;
        Ok::<_, Failure>(Side { recording, seq })
    };
    let left = open(&args.left)?;
    let Some(right) = &args.right else {
        return Ok([parent(&left, args, library)?, left]);
    };
    let right = open(right)?;
    if left.seq.is_some() != right.seq.is_some() {
        let message = "one exchange is compared with one exchange: give both a #SEQ, or none";
        return Err(Failure::Usage(message.to_owned()));
    }
    Ok([left, right])
}

/// The recording that another one was made from.
fn parent(replay: &Side, args: &Args, library: &Library) -> Result<Side, Failure> {
    let summary = replay.recording.summary()?;
    let usage = |message: String| Err(Failure::Usage(message));
    if replay.seq.is_some() {
        return usage("one exchange is compared with another one: give a second #SEQ".to_owned());
    }
    let Some(parent) = summary.parent else {
        let (id, name) = (escape(&summary.id), escape(&summary.name));
        return usage(format!(
            "{id} ({name}) was not made from another recording: say what to compare it with, for \
             example `mcpreel diff @2 @`"
        ));
    };
    let beside = replay.recording.path().parent().map(Library::new);
    for library in [Some(library), beside.as_ref()].into_iter().flatten() {
        if let Some(path) = library.with_id(&parent) {
            let (recording, _) = select::open(path.as_os_str(), &args.folder)?;
            return Ok(Side {
                recording,
                seq: None,
            });
        }
    }
    let parent = escape(&parent);
    usage(format!(
        "the recording {parent} that it was made from is not there: say what to compare it with"
    ))
}

fn compare(sides: &[Side; 2], query: Option<&Query>, judge: &mut Judge) -> Result<(), Failure> {
    let [left, right] = sides;
    if left.seq == right.seq && left.recording.path() == right.recording.path() {
        let message = "both are one and the same recording: there is nothing to compare";
        return Err(Failure::Usage(message.to_owned()));
    }
    if let (Some(l), Some(r)) = (left.seq, right.seq) {
        let (l, r) = (exchange(left, l)?, exchange(right, r)?);
        let (left, right) = ((&left.recording, l), (&right.recording, r));
        return Ok(diff::exchanges(left, right, judge)?);
    }
    let wanted = match query {
        None => Wanted::All,
        Some(query) => Wanted::Only([
            filter::exchanges(&left.recording, query)?,
            filter::exchanges(&right.recording, query)?,
        ]),
    };
    let mut progress = Progress::stderr();
    let told = &mut |done: usize, of: usize| {
        if done > 0 && done.is_multiple_of(TOLD_EVERY) {
            let (done, of) = (count(done as u64), count(of as u64));
            progress.show(&format!("{done} of {of} exchanges compared"));
        }
        true
    };
    let both = [&left.recording, &right.recording];
    diff::recordings(both, &wanted, judge, told)?;
    Ok(())
}

/// The exchange that a frame belongs to.
fn exchange(side: &Side, seq: Seq) -> Result<ExchangeId, Failure> {
    let all = side.recording.exchanges_of_frame(seq)?;
    all.first().map(|exchange| exchange.id).ok_or_else(|| {
        let path = side.recording.path().display().to_string();
        let message = format!("#{} of {} belongs to no exchange", seq.0, escape(&path));
        Failure::Usage(message)
    })
}
