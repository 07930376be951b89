//! What is started, sent and allowed; and one run of it.

use super::{calls, only};
use crate::cli::args::{Asked, Replay as Args, ReplayOrder};
use crate::cli::exit::Failure;
use crate::cli::folder;
use crate::cli::output::Progress;
use crate::cli::report::{self, Judging};
use crate::cli::temporary;
use crate::replay::bind::Binder;
use crate::replay::client::guard::Guard;
use crate::replay::client::play::Play;
use crate::replay::client::target::{self, Command, NoCommand, Outcome, Signals};
use crate::replay::client::{Options, Order, Policy, survey};
use crate::replay::rewrite::Rewrites;
use crate::store::reader::{Recording, Summary};
use crate::text::escape;
use crate::trace::clock::Clock;
use anyhow::{Context as _, anyhow};
use std::path::PathBuf;

/// A replay as it was asked for.
pub struct Plan<'a> {
    pub args: &'a Args,
    recording: &'a Recording,
    summary: Summary,
    guard: Guard,
    command: Command,
    signals: Signals,
}

/// A run of it.
pub struct Played {
    pub outcome: Outcome,
    /// The files of its rules.
    pub rules: Vec<String>,
    /// Its recording, as it was named.
    pub made: Made,
}

/// The recording that a run makes.
pub struct Made {
    pub id: String,
    pub path: PathBuf,
    /// `None` where it could not be completed; why has been said.
    pub recording: Option<Recording>,
}

impl<'a> Plan<'a> {
    /// Asks what is to be asked; nothing is started.
    pub fn new(args: &'a Args, recording: &'a Recording) -> Result<Self, Failure> {
        let summary = recording.summary()?;
        check_edits(args, recording)?;
        // What is wrong with the command line is said before anything is started.
        drop(only::wanted(args.part.only.as_deref(), recording)?);
        judging(args, recording)?;
        let command = command(args, &summary, &binder(args)?)?;
        let mut guard = guard(args, recording)?;
        calls::ask(args, recording, &mut guard)?;
        let signals = Signals::catch().context("signals cannot be caught")?;
        // A replay that is stopped says what came of it, and comes to its own end.
        temporary::hand_signals_over();
        Ok(Self {
            args,
            recording,
            summary,
            guard,
            command,
            signals,
        })
    }

    /// What is replayed.
    pub fn recorded(&self) -> &Recording {
        self.recording
    }

    /// Runs it; `which` is said before how far it is.
    pub fn play(&self, which: &str) -> Result<Played, Failure> {
        let clock = Clock::start();
        let Judging { judge, files } = judging(self.args, self.recording)?;
        let mut options = self.options(clock)?;
        options.binder.bind_by(judge.rules());
        let wanted = only::wanted(self.args.part.only.as_deref(), self.recording)?;
        let play = Play {
            recording: self.recording,
            summary: &self.summary,
            until: self.args.part.until,
            wanted,
            options,
            judge,
            command: &self.command,
            dir: folder::Settings::read().recordings_dir(&self.args.folder),
            signals: &self.signals,
            patience: None,
        };
        let mut progress = Progress::stderr();
        let told = &mut |now: &target::Progress<'_>| {
            progress.show(&format!("{which}{}", now.in_words()));
        };
        let played = play.run(clock, told);
        drop(progress);
        let played = played.map_err(anyhow::Error::from)?;
        Ok(Played {
            outcome: played.outcome,
            rules: files,
            made: Made {
                recording: Recording::open(&played.path).ok(),
                path: played.path,
                id: played.id,
            },
        })
    }

    fn options(&self, clock: Clock) -> Result<Options, Failure> {
        Ok(Options {
            order: order(self.args),
            timeout: self.args.pace.timeout,
            asked: match self.args.on_server_request {
                Asked::Fail => Policy::Fail,
                Asked::Stub => Policy::Stub,
            },
            guard: self.guard.clone(),
            binder: binder(self.args)?,
            recorded_wall_ns: self.summary.wall_ns,
            wall_ns: clock.wall_ns(),
            recorded_end: self.summary.session.phase.end().cloned(),
        })
    }
}

/// The judge that is asked for.
fn judging(args: &Args, recording: &Recording) -> Result<Judging, Failure> {
    report::judge(&args.strictness, rewrites(args), recording.path())
}

/// An edit has to be of a request that is there.
fn check_edits(args: &Args, recording: &Recording) -> Result<(), Failure> {
    for edit in &args.part.edit {
        let is_request = recording
            .exchanges_of_frame(edit.seq)?
            .iter()
            .any(|exchange| exchange.request.0 == edit.seq);
        if !is_request {
            let message = format!("--edit: #{} is no request of the recording", edit.seq.0);
            return Err(Failure::Usage(message));
        }
    }
    Ok(())
}

fn guard(args: &Args, recording: &Recording) -> Result<Guard, Failure> {
    let mut guard = Guard::default();
    if args.allowed.allow_side_effects {
        guard.allow_all();
    }
    for tool in &args.allowed.allow_tool {
        guard.allow(tool.as_str());
    }
    survey::learn_tools(recording, &mut guard)?;
    Ok(guard)
}

fn rewrites(args: &Args) -> Rewrites {
    Rewrites::new(args.values.rewrite.iter().cloned())
}

fn binder(args: &Args) -> Result<Binder, Failure> {
    let mut binder = Binder::default();
    binder.fresh_ids = args.values.fresh_ids;
    binder.frozen = args.learning.frozen_rules;
    binder.protocol = args.values.protocol.as_deref().map(Into::into);
    if !args.values.keep_trace {
        binder.span_seed = Some(getrandom::u64().context("there is no randomness")?);
    }
    for bind in &args.values.bind {
        binder.supply(bind.placeholder.as_str(), bind.value.as_str());
    }
    binder.rewrites = rewrites(args);
    for edit in &args.part.edit {
        let edits = binder.edits.entry(edit.seq).or_default();
        edits.push((edit.path.clone(), edit.json.as_str().into()));
    }
    Ok(binder)
}

/// What is started: the command that was given, in the folder where we are, or the recorded one in
/// the folder where it was, as long as that is there.
fn command(args: &Args, summary: &Summary, binder: &Binder) -> Result<Command, Failure> {
    if !args.command.is_empty() {
        return Ok(Command {
            words: args.command.clone(),
            dir: None,
        });
    }
    Command::recorded(summary, binder).map_err(|error| match error {
        NoCommand::Unknown => {
            let message = "the recording names no command: give one after `--`";
            Failure::Usage(message.to_owned())
        }
        NoCommand::Redacted(names) => {
            let names = names.join(", ");
            Failure::Refused(anyhow!(
                "the recorded command has redacted values in it ({}): supply them with --bind, or \
                 give a command after `--`",
                escape(&names)
            ))
        }
    })
}

fn order(args: &Args) -> Order {
    match args.pace.order {
        ReplayOrder::Causal => Order::Causal,
        ReplayOrder::Serial => Order::Serial,
        ReplayOrder::Timed => Order::Timed {
            speed: args.pace.speed,
            max_gap: args.pace.max_gap,
        },
    }
}
