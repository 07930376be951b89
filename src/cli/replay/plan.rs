//! The plan of a replay: the command, the messages and the calls that are allowed; and one run of it.

use super::consent;
use super::driving::{Driving, Part};
use crate::cli::comparison::Strictness;
use crate::cli::exit::{Failure, usage};
use crate::cli::output::Progress;
use crate::cli::{comparison, filter, folder, select};
use anyhow::{Context as _, anyhow};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::diff::{Account, Judge, Outcome, Report, Trouble};
use mcpreel_replay::player::{
    self, Command, Guard, LeftOut, NoCommand, Options, Order, Play, Played, Signals, Wanted,
};
use mcpreel_replay::rewrite::Rewrites;
use mcpreel_share::outgoing::file;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::json::{Document, Path as JsonPath, Step};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::escape;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A replay as the user asked for it.
pub struct Plan<'a> {
    driving: &'a Driving,
    part: &'a Part,
    strictness: &'a Strictness,
    recording: &'a Recording,
    summary: Summary,
    /// The exchanges that fit `--only`; `None` without that option.
    picked: Option<HashSet<ExchangeId>>,
    /// Whether `tools/list` is sent although it does not fit `--only`: a stranger's recording has no
    /// say in which tools only read.
    sends_tools_list: bool,
    /// Of a network recording, the conversation that is played.
    conversation: Option<u32>,
    guard: Guard,
    command: Command,
    signals: Signals,
    /// Whether span ids of traces are sent as recorded.
    pub keep_trace: bool,
}

/// The options of one run, in place of those of the user.
#[derive(Clone, Copy, Default)]
pub struct Run<'r> {
    /// A text before the progress.
    pub which: &'r str,
    /// Frames of the client that are not sent.
    pub left_out: Option<LeftOut<'r>>,
    pub timeout: Option<Duration>,
    /// The folder of the run's recording.
    pub dir: Option<&'r Path>,
}

impl<'a> Plan<'a> {
    /// Checks the options and asks the user for consent; nothing is started. `warning` is a line more
    /// in the question whether calls with side effects may be made.
    pub fn new(
        driving: &'a Driving,
        part: &'a Part,
        strictness: &'a Strictness,
        recording: &'a Recording,
        warning: &str,
    ) -> Result<Self, Failure> {
        let (summary, pace) = (recording.summary()?, &driving.pace);
        let is_timed = matches!(pace.order, Order::Timed { .. });
        if !is_timed && (pace.speed.is_some() || pace.max_gap.is_some()) {
            return Err(usage("--speed and --max-gap need --order timed"));
        }
        let frames = summary.frames;
        if let Some(until) = part.until.filter(|until| until.0 > frames) {
            return Err(Failure::Usage(format!(
                "--until: there is no #{}, the recording ends with #{frames}",
                until.0
            )));
        }
        let picked = picked(part, recording)?;
        check_edits(part, picked.as_ref(), recording)?;
        judge(driving, strictness, recording)?;
        let conversation = select::conversation(recording, part.conversation, "played")?;
        let is_recorded = driving.command.is_empty() && driving.url.is_none();
        if is_recorded && matches!(summary.session.phase.end(), Some(End::NotStarted { .. })) {
            return Err(Failure::Refused(anyhow!(
                "the recorded server never started, so there is nothing to replay; give a command \
                 after `--`"
            )));
        }
        let command = command(driving, &summary, &binder(driving, part))?;
        let is_own = consent::is_own(recording, &summary);
        if is_recorded && !driving.allowed.run_recorded_command && !is_own {
            consent::to_start(recording.path(), &command)?;
        }
        let mut guard = Guard::from_recording(recording, is_own)?;
        if driving.allowed.allow_side_effects {
            guard.allow_all();
        }
        for tool in &driving.allowed.allow_tool {
            guard.allow(tool.as_str());
        }
        let fits = &mut |one: &Exchange| picked.as_ref().is_none_or(|all| all.contains(&one.id));
        let refused = guard.refused_calls(recording, part.until, fits)?;
        consent::to_call(&refused, warning, &mut guard)?;
        let mut refused = refused.keys().filter(|tool| !guard.allows(tool));
        let sends_tools_list = refused.any(|tool| guard.is_claimed(tool));
        let signals = Signals::catch().context("signals cannot be caught")?;
        // A replay that is stopped says what came of it, and comes to its own end.
        file::hand_signals_over();
        Ok(Self {
            driving,
            part,
            strictness,
            recording,
            summary,
            picked,
            sends_tools_list,
            conversation,
            guard,
            command,
            signals,
            keep_trace: driving.values.keep_trace,
        })
    }

    /// The signal by which the user wants it to stop.
    pub fn stopped_by(&self) -> Option<i32> {
        self.signals.first()
    }

    /// Takes in what the server said of its tools in a run, for the runs to come.
    pub fn learn(&mut self, made: &Recording) -> Result<(), Failure> {
        Ok(self.guard.learn_live(made)?)
    }

    /// Plays once. Returns also the files of rules, in words.
    pub fn play(&self, run: &Run<'_>) -> Result<(Played, Vec<String>), Failure> {
        let clock = Clock::start();
        let (judge, rules) = judge(self.driving, self.strictness, self.recording)?;
        let mut binder = binder(self.driving, self.part);
        if !self.keep_trace {
            binder.span_seed =
                Some(getrandom::u64().context("the system gives no random numbers")?);
        }
        binder.binds.clone_from(&judge.rules().binds);
        let pace = &self.driving.pace;
        let usual = || folder::Settings::read().recordings_dir(&self.driving.folder);
        let dir = run.dir.map_or_else(usual, |dir| Ok(dir.to_owned()));
        let bridge = self.bridge(dir.as_ref().ok())?;
        let play = Play {
            recording: self.recording,
            summary: &self.summary,
            until: self.part.until,
            conversation: self.conversation,
            wanted: self.wanted(),
            left_out: run.left_out,
            options: Options {
                order: pace.order(),
                timeout: run.timeout.or(pace.timeout),
                asked: self.driving.on_server_request,
                guard: self.guard.clone(),
                binder,
                ..Options::default()
            },
            judge,
            command: bridge.as_ref().unwrap_or(&self.command),
            dir,
            signals: &self.signals,
        };
        let mut progress = Progress::stderr();
        let told = &mut |now: &player::Progress<'_>| {
            progress.now_and_then(|| format!("{}{}", run.which, now.in_words()));
        };
        let mut played = play.run(clock, told).map_err(anyhow::Error::from)?;
        self.report_nothing_tried(&mut played.outcome.report);
        Ok((played, rules))
    }

    /// The command that carries a replay to a URL; what goes over the network is a recording of its own.
    fn bridge(&self, dir: Option<&PathBuf>) -> Result<Option<Command>, Failure> {
        let Some(url) = &self.driving.url else {
            return Ok(None);
        };
        let name = Some((
            "--name",
            format!("{}-http", self.summary.name.trim_end_matches("-http")).into(),
        ));
        let dir = dir.map(|dir| ("--dir", dir.into()));
        let origin = Some(("--origin", "replay".into()));
        let options = name.into_iter().chain(dir).chain(origin);
        let reach = &self.driving.reach;
        Ok(Some(Command {
            words: reach.bridge(url, options)?,
            secrets: reach.secrets(&url.to_string()),
            dir: None,
        }))
    }

    /// The handshake is always sent: without it no legacy server answers.
    fn is_always_sent(&self, method: &str) -> bool {
        method == "initialize" || (self.sends_tools_list && method == "tools/list")
    }

    fn wanted(&self) -> Option<Wanted<'_>> {
        let picked = self.picked.as_ref()?;
        Some(Box::new(move |one: &Exchange| {
            self.is_always_sent(&one.method) || picked.contains(&one.id)
        }))
    }

    /// Reports trouble if no request picked by `--only` could be sent because the requests that it
    /// depends on were left out: the handshake alone would be found the same.
    fn report_nothing_tried(&self, report: &mut Report) {
        let mut compared = report.tallies.iter().filter(|(_, it)| it.compared > 0);
        let is_unreached = |account: &Account| {
            let why = &account.outcome;
            matches!(why, Outcome::Unreached(_))
        };
        if self.picked.is_some()
            && report.accounts.iter().any(is_unreached)
            && compared.all(|((method, _), _)| self.is_always_sent(method))
        {
            let text = "no request that matches --only could be sent: add what it needs with \
                        `OR seq:N` in the filter, or replay all up to it with --until";
            report.troubles.push((Trouble::Unreadable, text.into()));
        }
    }
}

/// The judge that is asked for, and the files of its rules in words.
fn judge(
    driving: &Driving,
    strictness: &Strictness,
    recording: &Recording,
) -> Result<(Judge, Vec<String>), Failure> {
    comparison::judge(strictness, rewrites(driving), recording.path())
}

fn rewrites(driving: &Driving) -> Rewrites {
    Rewrites::new(driving.values.rewrite.iter().cloned())
}

fn binder(driving: &Driving, part: &Part) -> Binder {
    let (mut binder, values) = (Binder::default(), &driving.values);
    binder.fresh_ids = values.fresh_ids;
    binder.protocol = values.protocol.as_deref().map(Into::into);
    for (placeholder, value) in &values.bind {
        binder.supply(placeholder.as_str(), value.as_str());
    }
    binder.rewrites = rewrites(driving);
    for (seq, path, json) in &part.edit {
        let edits = binder.edits.entry(*seq).or_default();
        edits.push((path.clone(), json.as_str().into()));
    }
    binder
}

/// The command to start: the given one in the current folder, or the recorded one in the folder where
/// it was.
fn command(driving: &Driving, summary: &Summary, binder: &Binder) -> Result<Command, Failure> {
    if !driving.command.is_empty() || driving.url.is_some() {
        return Ok(Command {
            words: driving.command.clone(),
            secrets: Vec::new(),
            dir: None,
        });
    }
    Command::recorded(summary, binder).map_err(|error| match error {
        NoCommand::Unknown => usage("the recording names no command: give one after `--`"),
        NoCommand::Url(url) => Failure::Usage(format!(
            "the recorded server has a URL: --url {} plays to it, or give a command after `--`",
            escape(&url)
        )),
        NoCommand::Redacted(names) => Failure::Refused(anyhow!(
            "the recorded command has redacted values in it ({}): supply them with --bind, or \
             give a command after `--`",
            escape(&names.join(", "))
        )),
    })
}

/// The exchanges that fit `--only`. A filter that fits no request of the client is refused: the
/// handshake alone would be compared, and found the same for ever.
fn picked(part: &Part, recording: &Recording) -> Result<Option<HashSet<ExchangeId>>, Failure> {
    let only = part.only.as_deref();
    let Some(query) = filter::parse_as("--only", only)? else {
        return Ok(None);
    };
    let (picked, mut fits) = (filter::exchanges(recording, &query)?, false);
    recording.each_exchange(|one| {
        fits |= one.direction == Direction::ClientToServer && picked.contains(&one.id);
    })?;
    if fits {
        return Ok(Some(picked));
    }
    Err(Failure::Refused(anyhow!(
        "no request of the client fits --only {}, so there is nothing to compare",
        escape(only.unwrap_or_default())
    )))
}

/// Refuses an edit that is not of a request that is sent, or does not find its place in it.
fn check_edits(
    part: &Part,
    picked: Option<&HashSet<ExchangeId>>,
    recording: &Recording,
) -> Result<(), Failure> {
    for (seq, path, _) in &part.edit {
        let mut requests = recording.exchanges_of_frame(*seq)?;
        requests.retain(|exchange| exchange.request.0 == *seq);
        let is_sent = |one: &Exchange| {
            one.method == "initialize" || picked.is_none_or(|picked| picked.contains(&one.id))
        };
        let why = if requests.is_empty() {
            "it is no request of the recording"
        } else if part.until.is_some_and(|until| *seq > until) || !requests.iter().any(is_sent) {
            "it is not sent: it comes after --until, or does not fit --only"
        } else if matches!(path.steps(), [Step::Member(name), ..] if ["id", "jsonrpc"].contains(&&**name))
        {
            "that member belongs to the protocol, and is not edited"
        } else if !has_place(*seq, path, recording)? {
            "the request has no such place"
        } else {
            continue;
        };
        let message = format!("--edit #{} {}: {why}", seq.0, escape(&path.to_string()));
        return Err(Failure::Usage(message));
    }
    Ok(())
}

/// Whether an edit finds its place in a request: a value, or an object that has no such member yet.
fn has_place(seq: Seq, path: &JsonPath, recording: &Recording) -> Result<bool, Failure> {
    let raw = recording.message_bytes(seq, 0)?.unwrap_or_default();
    let Ok(document) = Document::parse(&raw) else {
        return Ok(false);
    };
    let message = document.root();
    let is_new_member = || match path.steps().split_last() {
        Some((Step::Member(_), above)) => JsonPath::new(above.to_vec()).first(message),
        _ => None,
    };
    Ok(path.first(message).is_some() || is_new_member().is_some_and(|parent| parent.is_object()))
}
