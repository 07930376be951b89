//! `mcpreel replay`: a server, driven again from a recording.
//!
//! ```text
//!  recording ─ plan ─▶ a run ─▶ a report with the recording, as `diff` writes it
//!                        │                    summary: what was done, refused, bound
//!                        └─ a recording
//! ```
//!
//! * [`plan`]: what is started, sent and allowed; one run of it, and how far it is;
//! * [`part`]: which requests are made, with which other values;
//! * [`consent`]: what the user is asked first; [`checks`]: warnings;
//! * [`update`]: a cassette becomes what the server says now;
//! * [`summary`]: what was done besides comparing.

pub mod checks;
pub mod consent;
mod part;
pub mod plan;
mod summary;
mod update;

use super::args::{Replay as Args, ReportFormat};
use super::comparison::{self, Compared, Party};
use super::exit::{Exit, Failure, Outcome};
use super::folder;
use super::select;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use plan::{Plan, Played, Run, Wish};
use std::process::ExitCode;
use update::{Update, Updated};

/// Replays a recording.
pub fn run(args: &Args) -> Outcome {
    let (recording, selected) = select::open(&args.recording, &args.driving.folder)?;
    if selected.seq.is_some() {
        let message = "`replay` is about a whole recording; --until SEQ ends it at a frame";
        return Err(Failure::Usage(message.to_owned()));
    }
    select::tell_if_played(&args.recording, &recording)?;
    let wish = Wish {
        driving: &args.driving,
        part: &args.part,
        strictness: &args.strictness,
        // In a file that is compared nothing is to change by itself.
        keep_trace: args.driving.values.keep_trace || args.update.is_asked(),
        warning: None,
    };
    let update = Update::asked(args, &recording)?;
    let plan = Plan::new(wish, &recording)?;
    let played = plan.play(&Run::default())?;
    let updated = update.map(|update| {
        let mut goes_on = || plan.stopped_by().is_none();
        update.write(&played, &mut goes_on)
    });
    let updated = updated.transpose()?;
    write(args, &recording, &played, updated.as_ref())?;
    let code = match played.outcome.interrupted {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        // What differed was accepted.
        None if matches!(updated, Some(Updated::Written(_))) => 0,
        // What was asked for was not done.
        None if matches!(updated, Some(Updated::Not(_))) => {
            played.outcome.report.exit_code().max(1)
        }
        None => played.outcome.report.exit_code(),
    };
    Ok(Exit::Process(ExitCode::from(code)))
}

/// The recording that was played, and what it was compared with.
fn parties(args: &Args, recording: &Recording, played: &Played) -> Result<[Party; 2], Failure> {
    let folder = &args.driving.folder;
    let library = Library::new(folder::of(folder)?);
    let entries = library.list().unwrap_or_default();
    // Other commands look in this folder only if nobody said so by an option.
    let folder = folder.dir.is_none().then_some((&library, &*entries));
    let party = |recording: &Recording| {
        let summary = recording.summary()?;
        Ok::<_, Failure>(Party::new(recording, &summary, folder))
    };
    let left = party(recording)?;
    let mut right = match &played.made.recording {
        Some(recording) => party(recording)?,
        // A run of which nothing can be read but what we have in hand.
        None => left.clone().placed(&played.made.id, &played.made.path),
    };
    // After a long run the tables of the recording are behind; who reads it next completes them.
    right.exchanges = played.outcome.tally.sent + played.outcome.tally.asked;
    right.state = None;
    Ok([left, right])
}

/// Writes what came of the first run.
fn write(
    args: &Args,
    recording: &Recording,
    played: &Played,
    updated: Option<&Updated>,
) -> Result<(), Failure> {
    let parties = parties(args, recording, played)?;
    let compared = Compared {
        report: &played.outcome.report,
        parties: &parties,
        rules: &played.rules,
        command: "mcpreel replay",
        is_cut_short: played.outcome.interrupted.is_some(),
    };
    let format = args.form.format();
    comparison::write(&compared, format)?;
    let summary = summary::Summary {
        outcome: &played.outcome,
        made: &parties[1],
        updated,
        lacking: match played.outcome.report.exit_code() {
            0 => None,
            _ => checks::lacking(recording)?,
        },
    };
    match format {
        ReportFormat::Text => summary.text(),
        ReportFormat::Json => summary.json(),
        // What takes these has no place for more.
        ReportFormat::Junit | ReportFormat::Github => {
            summary.hint();
            Ok(())
        }
    }
}
