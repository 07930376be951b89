//! What is started, sent and allowed; and one run of it.

use super::driving::{Asked, Driving, Order as Chosen, Part};
use super::{consent, part};
use crate::cli::args::Strictness;
use crate::cli::comparison::{self, Judging};
use crate::cli::exit::Failure;
use crate::cli::folder;
use crate::cli::output::Progress;
use anyhow::{Context as _, anyhow};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::player::{
    self, Command, Guard, LeftOut, NoCommand, Options, Order, Outcome, Play, Policy, Signals,
};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_share::outgoing::file;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Clock;
use mcpreel_wire::text::escape;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest gap with --order timed, where nobody has said another.
const MAX_GAP: Duration = Duration::from_secs(1);

/// The request of a user for a replay.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    pub driving: &'a Driving,
    pub part: &'a Part,
    pub strictness: &'a Strictness,
    /// Whether spans of traces are sent as recorded.
    pub keep_trace: bool,
    /// A line more in the question whether calls with side effects may be made.
    pub warning: Option<&'a str>,
}

/// A replay as it was asked for.
pub struct Plan<'a> {
    wish: Wish<'a>,
    recording: &'a Recording,
    summary: Summary,
    guard: Guard,
    /// Whether the server is asked for its tools, whatever the user wants of the recording.
    keep_tools_list: bool,
    command: Command,
    signals: Signals,
}

/// How one run differs from what the user said.
#[derive(Clone, Copy, Default)]
pub struct Run<'r> {
    /// A text before the progress.
    pub which: &'r str,
    /// Frames of the client that are not sent.
    pub left_out: Option<LeftOut<'r>>,
    /// The longest time.
    pub timeout: Option<Duration>,
    /// The folder of its recording.
    pub dir: Option<&'r Path>,
}

/// A run that is over.
pub struct Played {
    pub outcome: Outcome,
    /// The files of its rules.
    pub rules: Vec<String>,
    /// Id and file of its recording.
    pub id: String,
    pub path: PathBuf,
}

impl<'a> Plan<'a> {
    /// Asks what is to be asked; nothing is started.
    pub fn new(wish: Wish<'a>, recording: &'a Recording) -> Result<Self, Failure> {
        let summary = recording.summary()?;
        // What is wrong with the command line is said before anything is started.
        let pace = &wish.driving.pace;
        if pace.order != Chosen::Timed && (pace.speed.is_some() || pace.max_gap.is_some()) {
            let message = "--speed and --max-gap say something only with --order timed";
            return Err(Failure::Usage(message.to_owned()));
        }
        part::check(wish.part, recording, &summary)?;
        judging(wish, recording)?;
        let command = command(wish.driving, &summary, &binder(wish)?)?;
        consent::to_start(wish.driving, recording, &summary, &command)?;
        let mut guard = guard(wish.driving, recording, &summary)?;
        consent::to_call(wish.part, wish.warning, recording, &mut guard)?;
        let keep_tools_list = part::needs_lists(wish.part, recording, &guard)?;
        let signals = Signals::catch().context("signals cannot be caught")?;
        // A replay that is stopped says what came of it, and comes to its own end.
        file::hand_signals_over();
        Ok(Self {
            wish,
            recording,
            summary,
            guard,
            keep_tools_list,
            command,
            signals,
        })
    }

    /// The tools that are called though they do not say that they only read, with how many calls
    /// there are.
    pub fn side_effects(&self) -> Result<BTreeMap<Box<str>, u64>, Failure> {
        let guard = Guard::from_recording(
            self.recording,
            consent::is_own(self.recording, &self.summary),
        )?;
        let mut called = guard.refused_calls(self.recording, None, &mut |_| true)?;
        called.retain(|tool, _| self.guard.allows(tool));
        Ok(called)
    }

    /// The signal by which the user wants it to stop.
    pub fn stopped_by(&self) -> Option<i32> {
        self.signals.first()
    }

    /// Takes in what the server said of its tools in a run, for those to come.
    pub fn learn(&mut self, made: &Recording) -> Result<(), Failure> {
        Ok(self.guard.learn_live(made)?)
    }

    /// Runs it.
    pub fn play(&self, run: &Run<'_>) -> Result<Played, Failure> {
        let clock = Clock::start();
        let Judging { judge, files } = judging(self.wish, self.recording)?;
        let mut options = self.options(clock)?;
        options.timeout = run.timeout.or(options.timeout);
        options.binder.bind_by(judge.rules());
        let part = self.wish.part;
        let wanted = part::only_filter(part.only.as_deref(), self.recording, self.keep_tools_list)?;
        let dir = run.dir.map(|dir| Ok(dir.to_owned()));
        let usual = || folder::Settings::read().recordings_dir(&self.wish.driving.folder);
        let play = Play {
            recording: self.recording,
            summary: &self.summary,
            until: part.until,
            wanted,
            left_out: run.left_out,
            options,
            judge,
            command: &self.command,
            dir: dir.unwrap_or_else(usual),
            signals: &self.signals,
        };
        let mut progress = Progress::stderr();
        let told = &mut |now: &player::Progress<'_>| {
            progress.show(&format!("{}{}", run.which, now.in_words()));
        };
        let played = play.run(clock, told);
        drop(progress);
        let mut played = played.map_err(anyhow::Error::from)?;
        if part.only.is_some() {
            part::report_nothing_tried(&mut played.outcome.report, self.keep_tools_list);
        }
        Ok(Played {
            outcome: played.outcome,
            rules: files,
            id: played.id,
            path: played.path,
        })
    }

    fn options(&self, clock: Clock) -> Result<Options, Failure> {
        Ok(Options {
            order: order(self.wish.driving),
            timeout: self.wish.driving.pace.timeout,
            asked: match self.wish.driving.on_server_request {
                Asked::Fail => Policy::Fail,
                Asked::Stub => Policy::Stub,
            },
            guard: self.guard.clone(),
            binder: binder(self.wish)?,
            recorded_wall_ns: self.summary.wall_ns,
            wall_ns: clock.wall_ns(),
            recorded_end: self.summary.session.phase.end().cloned(),
        })
    }
}

/// The judge that is asked for.
fn judging(wish: Wish<'_>, recording: &Recording) -> Result<Judging, Failure> {
    let rewrites = rewrites(wish.driving);
    comparison::judge(wish.strictness, rewrites, recording.path())
}

fn guard(driving: &Driving, recording: &Recording, summary: &Summary) -> Result<Guard, Failure> {
    let mut guard = Guard::from_recording(recording, consent::is_own(recording, summary))?;
    if driving.allowed.allow_side_effects {
        guard.allow_all();
    }
    for tool in &driving.allowed.allow_tool {
        guard.allow(tool.as_str());
    }
    Ok(guard)
}

fn rewrites(driving: &Driving) -> Rewrites {
    Rewrites::new(driving.values.rewrite.iter().cloned())
}

fn binder(wish: Wish<'_>) -> Result<Binder, Failure> {
    let mut binder = Binder::default();
    let values = &wish.driving.values;
    binder.fresh_ids = values.fresh_ids;
    binder.protocol = values.protocol.as_deref().map(Into::into);
    if !wish.keep_trace {
        binder.span_seed = Some(getrandom::u64().context("there is no randomness")?);
    }
    for bind in &values.bind {
        binder.supply(bind.placeholder.as_str(), bind.value.as_str());
    }
    binder.rewrites = rewrites(wish.driving);
    for edit in &wish.part.edit {
        let edits = binder.edits.entry(edit.seq).or_default();
        edits.push((edit.path.clone(), edit.json.as_str().into()));
    }
    Ok(binder)
}

/// The command to start: the one that was given, in the folder where we are, or the recorded one in
/// the folder where it was, as long as that is there.
fn command(driving: &Driving, summary: &Summary, binder: &Binder) -> Result<Command, Failure> {
    if !driving.command.is_empty() {
        return Ok(Command {
            words: driving.command.clone(),
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

fn order(driving: &Driving) -> Order {
    match driving.pace.order {
        Chosen::Causal => Order::Causal,
        Chosen::Serial => Order::Serial,
        Chosen::Timed => Order::Timed {
            speed: driving.pace.speed.unwrap_or(1.0),
            max_gap: driving.pace.max_gap.unwrap_or(MAX_GAP),
        },
    }
}
