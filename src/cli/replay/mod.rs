//! `mcpreel replay`: a server, driven again from a recording.
//!
//! ```text
//! alike     12 of 12 requests were answered as in 7f3a9c21 (weather-server)
//! refused   2 calls: delete_file (#41), write_file (#43)
//!           --allow-tool NAME allows one tool, --allow-side-effects all of them
//! recording c04d11aa; `mcpreel open c04d` opens it
//! ```

mod calls;
mod only;
mod text;

use super::args::{Asked, Replay as Args, ReplayOrder};
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Progress};
use super::{folder, select};
use crate::record::{self, Recorder};
use crate::replay::bind::Binder;
use crate::replay::client::guard::Guard;
use crate::replay::client::target::{self, Command, Library, Signals, TargetError};
use crate::replay::client::{Director, Options, Order, Policy, Waits, survey};
use crate::replay::judge::{self, Judge};
use crate::replay::rewrite::Rewrites;
use crate::replay::rules::Rules;
use crate::store::reader::{Recording, Summary};
use crate::text::{count, escape};
use crate::trace::clock::Clock;
use anyhow::Context as _;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Replays a recording.
pub fn run(args: &Args) -> Outcome {
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        let message = "`replay` is about a whole recording; --until SEQ ends it at a frame";
        return Err(Failure::Usage(message.to_owned()));
    }
    let summary = recording.summary()?;
    check_edits(args, &recording)?;
    let mut guard = guard(args, &recording)?;
    calls::ask(args, &recording, &mut guard)?;
    let binder = binder(args)?;
    let command = command(args, &summary, &binder)?;
    let wanted = only::wanted(args.part.only.as_deref(), &recording)?;
    let clock = Clock::start();
    let mut recorder = Recorder::create(&to_record(args, &summary, &command), clock);
    let made = recorder.id().zip(recorder.path());
    let made = made.map(|(id, path)| (id.to_owned(), path.to_owned()));
    let options = Options {
        order: order(args),
        timeout: args.pace.timeout,
        asked: match args.on_server_request {
            Asked::Fail => Policy::Fail,
            Asked::Stub => Policy::Stub,
        },
        guard,
        binder,
        recorded_wall_ns: summary.wall_ns,
        wall_ns: clock.wall_ns(),
        recorded_end: summary.session.phase.end().cloned(),
    };
    let strictness = judge::Options {
        rewrites: rewrites(args),
        ..judge::Options::default()
    };
    let judge = Judge::new(Rules::default(), strictness);
    let director = Director::new(options, judge, clock.now());
    let library = Library::new(&recording, args.part.until, wanted);
    let signals = Signals::catch().context("signals cannot be caught")?;
    let mut progress = Progress::stderr();
    let told = &mut |now: &target::Progress<'_>| progress.show(&in_words(now));
    let outcome = target::run(&command, library, director, &mut recorder, &signals, told);
    drop(progress);
    recorder.finish();
    let outcome = match outcome {
        Err(TargetError::Spawn(error)) => {
            output::say(&error.to_string());
            return Ok(Exit::Process(ExitCode::from(4)));
        }
        outcome => outcome.map_err(anyhow::Error::from)?,
    };
    text::write(&outcome, &summary, made.as_ref())?;
    let code = match outcome.interrupted {
        Some(signal) => 128 + u8::try_from(signal).unwrap_or(0),
        None => outcome.report.exit_code(),
    };
    Ok(Exit::Process(ExitCode::from(code)))
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
    let pairs = args.values.rewrite.iter();
    Rewrites::new(pairs.map(|rewrite| (rewrite.old.clone(), rewrite.new.clone())))
}

fn binder(args: &Args) -> Result<Binder, Failure> {
    let mut binder = Binder::default();
    binder.fresh_ids = args.values.fresh_ids;
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
        Failure::Refused(anyhow::anyhow!(
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

fn to_record(args: &Args, summary: &Summary, command: &Command) -> record::Options {
    record::Options {
        command: command.words.clone(),
        name: Some(summary.name.clone()),
        dir: folder::Settings::read().recordings_dir(&args.folder),
        origin: "replay",
        parent: Some(summary.id.clone()),
        max_size: None,
        slow_ns: Some(summary.slow_ns),
        remarks: Vec::new(),
    }
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
        Waits::Answers(open) => format!(
            ", waits for {}",
            crate::text::plural(*open as u64, "answer")
        ),
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
