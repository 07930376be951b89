//! What is started, sent and allowed; and one run of it.

use super::{calls, only};
use crate::cli::args::{Asked, Replay as Args, ReplayOrder};
use crate::cli::exit::Failure;
use crate::cli::folder;
use crate::cli::output::Progress;
use crate::cli::report::{self, Judging};
use crate::record::{self, Recorder};
use crate::replay::bind::Binder;
use crate::replay::client::guard::Guard;
use crate::replay::client::target::{self, Command, Library, Outcome, Signals};
use crate::replay::client::{Director, Options, Order, Policy, Waits, survey};
use crate::replay::rewrite::Rewrites;
use crate::store::reader::{Recording, Summary};
use crate::text::{count, escape, plural};
use crate::trace::clock::Clock;
use anyhow::{Context as _, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
        Ok(Self {
            args,
            recording,
            summary,
            guard,
            command,
            signals: Signals::catch().context("signals cannot be caught")?,
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
        let library = Library::new(self.recording, self.args.part.until, wanted);
        let director = Director::new(options, judge, clock.now());
        let mut recorder = Recorder::create(&self.to_record(), clock);
        let made = recorder.id().zip(recorder.path());
        let made = made.map(|(id, path)| (id.to_owned(), path.to_owned()));
        let (id, path) = made.ok_or_else(|| anyhow!("the replay cannot be put on record"))?;
        let mut progress = Progress::stderr();
        let told = &mut |now: &target::Progress<'_>| {
            progress.show(&format!("{which}{}", in_words(now)));
        };
        let outcome = target::run(
            &self.command,
            library,
            director,
            &mut recorder,
            &self.signals,
            told,
        );
        drop(progress);
        recorder.finish();
        Ok(Played {
            outcome: outcome.map_err(anyhow::Error::from)?,
            rules: files,
            made: Made {
                recording: Recording::open(&path).ok(),
                path,
                id,
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

    fn to_record(&self) -> record::Options {
        record::Options {
            command: self.command.words.clone(),
            name: Some(self.summary.name.clone()),
            dir: folder::Settings::read().recordings_dir(&self.args.folder),
            origin: "replay",
            parent: Some(self.summary.id.clone()),
            max_size: None,
            slow_ns: Some(self.summary.slow_ns),
            remarks: Vec::new(),
        }
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
    if summary.context.argv.is_empty() {
        let message = "the recording names no command: give one after `--`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let words = summary.context.argv.iter().map(|word| binder.word(word));
    let words: Result<Vec<_>, _> = words.collect();
    let words = words.map_err(|names| {
        let names = names.join(", ");
        Failure::Refused(anyhow!(
            "the recorded command has redacted values in it ({}): supply them with --bind, or give \
             a command after `--`",
            escape(&names)
        ))
    })?;
    let dir = summary.context.cwd.as_deref().map(|dir| binder.word(dir));
    let dir = dir.and_then(Result::ok).map(PathBuf::from);
    Ok(Command {
        words: words.into_iter().map(OsString::from).collect(),
        dir: dir.filter(|dir| Path::is_dir(dir)),
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

/// How far it is, on one line.
fn in_words(progress: &target::Progress<'_>) -> String {
    let done = count(progress.tally.sent);
    let waits = match &progress.waits {
        Waits::Nothing | Waits::Gap => String::new(),
        Waits::Answer(seq, method) => {
            format!(", waits for the answer to {} (#{})", escape(method), seq.0)
        }
        Waits::Answers(open) => format!(", waits for {}", plural(*open as u64, "answer")),
        Waits::Question(seq, method) => {
            format!(
                ", waits for the server to ask {} (#{})",
                escape(method),
                seq.0
            )
        }
        Waits::Notice(seq, method) => format!(", waits for {} (#{})", escape(method), seq.0),
        Waits::Room => ", the server does not read".to_owned(),
        Waits::End => ", waits for the server to end".to_owned(),
    };
    format!("{done} of {} sent{waits}", count(progress.requests))
}
