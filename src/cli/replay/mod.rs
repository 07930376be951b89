//! `mcpreel replay`: a server, driven again from a recording.
//!
//! ```text
//!  recording ─ plan ─▶ a run ─▶ a report with the recording, as `diff` writes it
//!                        │                    summary: what was done, refused, bound
//!                        └─ a recording
//! ```
//!
//! * [`driving`]: the options that `minimise` has as well;
//! * [`plan`]: what is started, sent and allowed; one run of it;
//! * [`consent`]: what the user is asked first;
//! * [`update`]: a cassette becomes what the server says now;
//! * [`summary`]: what was done besides comparing.

pub mod consent;
pub mod driving;
pub mod plan;
mod summary;
mod update;

use super::comparison::{self, Compared, Form, Party, Strictness};
use super::exit::{Exit, Outcome};
use super::{output, select};
use clap::Args;
use driving::{Driving, Part};
use mcpreel_store::reader::Recording;
use mcpreel_wire::text::escape;
use plan::{Plan, Run};
use std::ffi::OsString;
use std::process::ExitCode;
use update::{Update, Updated};

/// Replay a recorded client against a server, and compare the answers
///
/// Starts the recorded command (or the one after `--`), sends it what the recorded client sent, and
/// compares the answers. Makes a recording of its own. docs/replay.md has the details.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel replay @                            the newest recording, against its own command
  mcpreel replay 7f3a -- ./target/debug/my-server
  mcpreel replay @ --allow-tool write_file --rewrite /home/ada/work=/tmp/copy
  mcpreel replay @ --url http://127.0.0.1:3000/mcp
  mcpreel replay @ --only 'tool:search' --edit '23:params.arguments.limit=5'
  mcpreel replay tests/search.jsonl --update  accept what differs: the cassette is written anew
  mcpreel replay fixed.reel --format junit -- ./my-server > replay.xml

Exit code: 0 nothing differs that matters, 1 something does, 2 wrong arguments, 3 a recording that
cannot be used, 4 the server failed, 5 it hangs, 7 something was refused; 130 and 143 interrupted.")]
pub struct Replay {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    #[command(flatten)]
    pub driving: Driving,
    #[command(flatten)]
    pub part: Part,
    #[command(flatten)]
    pub strictness: Strictness,
    #[command(flatten)]
    pub update: UpdateArgs,
    #[command(flatten)]
    pub form: Form,
}

/// What becomes of a cassette.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "What becomes of a cassette")]
pub struct UpdateArgs {
    /// Rewrite the cassette with what the server says now
    #[arg(long, hide_short_help = true, conflicts_with_all = ALTERING)]
    pub update: bool,
    /// The same, also where the variable CI is set
    #[arg(long, hide_short_help = true, conflicts_with_all = ALTERING)]
    pub update_in_ci: bool,
}

/// Options with which a replay is not all of the session.
const ALTERING: [&str; 7] = [
    "only",
    "until",
    "edit",
    "bind",
    "rewrite",
    "fresh_ids",
    "protocol",
];

/// Replays a recording.
pub fn run(args: &Replay) -> Outcome {
    let driving = &args.driving;
    let recording = select::whole(&args.recording, &driving.folder)?;
    let is_update = args.update.update || args.update.update_in_ci;
    let update = is_update.then(|| Update::new(&recording, args.update.update_in_ci));
    let update = update.transpose()?;
    let mut plan = Plan::new(driving, &args.part, &args.strictness, &recording, "")?;
    // In a file that is compared nothing is to change by itself.
    plan.keep_trace |= is_update;
    let (played, rules) = plan.play(&Run::default())?;
    let mut goes_on = || plan.stopped_by().is_none();
    let updated = update.map(|update| update.write(&played, &mut goes_on));
    let updated = updated.transpose()?;
    let (outcome, report) = (&played.outcome, &played.outcome.report);
    let left = Party::new(&recording, &driving.folder)?;
    let mut right = match Recording::open(&played.path) {
        Ok(made) => Party::new(&made, &driving.folder)?,
        // A run of which nothing can be read but what we have in hand.
        Err(_) => left.clone().placed(&played.id, &played.path),
    };
    // After a long run the tables of the recording are behind; who reads it next completes them.
    right.exchanges = outcome.tally.sent + outcome.tally.asked;
    right.state = None;
    let parties = [left, right];
    let compared = Compared {
        report,
        parties: &parties,
        rules: &rules,
        command: "mcpreel replay",
        is_cut_short: outcome.interrupted.is_some(),
    };
    let (format, code) = (args.form.format(), report.exit_code());
    comparison::write(&compared, format)?;
    let summary = summary::Summary {
        outcome,
        parties: &parties,
        updated: updated.as_ref(),
    };
    summary.write(format)?;
    if code != 0 {
        tell_unset(&recording.summary()?.context.env_names);
    }
    Ok(Exit::Process(ExitCode::from(
        match (outcome.interrupted, updated) {
            (Some(signal), _) => 128 + u8::try_from(signal).unwrap_or(0),
            // What differed was accepted.
            (None, Some(Updated::Written(_))) => 0,
            // What was asked for was not done.
            (None, Some(Updated::Not(_))) => code.max(1),
            (None, Some(Updated::Same) | None) => code,
        },
    )))
}

/// The beginnings of names of variables that say where somebody sat: no server needs them.
const OF_THE_SEAT: [&str; 12] = [
    "_", "COLOR", "DBUS_", "DISPLAY", "LC_", "LS_", "OLDPWD", "PWD", "SHLVL", "SSH_", "TERM",
    "XDG_",
];

/// Says which variables the recorded server had and this one had not: it may fail for the want of them.
fn tell_unset(then: &[String]) {
    let is_seat = |name: &str| OF_THE_SEAT.iter().any(|seat| name.starts_with(seat));
    let is_missing = |name: &&String| std::env::var_os(name).is_none() && !is_seat(name);
    let missing: Vec<_> = then.iter().filter(is_missing).collect();
    if !missing.is_empty() {
        let names = missing.iter().map(|name| escape(name).into_owned());
        let names = output::some(names, missing.len() as u64, summary::MOST_NAMED).join(", ");
        output::say(&format!("set when it was recorded, not now: {names}"));
    }
}
