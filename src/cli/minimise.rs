//! `mcpreel minimise`: the fewest messages of a client with which its server still fails.
//!
//! ```text
//!  recording ─▶ units ─▶ search: a replay without some, again and again ─▶ the shortest that failed
//!                          │                                                  │
//!                          └ in a folder of its own, which vanishes           └▶ a recording, told
//! ```

use super::args::Strictness;
use super::comparison::Party;
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, Output};
use super::replay::consent;
use super::replay::driving::{Driving, Part, time};
use super::replay::plan::{Plan, Run, Wish};
use super::{filter, folder, select};
use anyhow::Context as _;
use clap::Args;
use mcpreel_replay::minimise::{Units, ddmin};
use mcpreel_replay::player::{self, Guard};
use mcpreel_replay::rules::sidecar;
use mcpreel_share::outgoing::file::Folder;
use mcpreel_share::phrases::command as command_line;
use mcpreel_store::library::{self, spool_of};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The result is played again so often at least: once proves little.
const AGAIN: u32 = 2;

/// Tools and messages that are named.
const MOST_TOOLS: usize = 10;
const MOST_MESSAGES: usize = 40;

/// Bytes of a message's line that are shown.
const LONGEST: usize = 160;

/// Find the fewest messages of a client with which its server still fails
///
/// Replays a recording again and again, each time without some of the client's messages, until none
/// can be left out without losing the failure. What belongs together stays together: a request with
/// its cancel, its rounds of input and what the client answers meanwhile; and whoever gives a
/// handle, a cursor or a task back needs the call that it came from. The handshake always stays.
/// The result is a recording like any other: the shortest replay that failed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel minimise @ --fails is:failed
  mcpreel minimise 7f3a --fails 'tool:search status:tool-error' -- ./target/debug/my-server
  mcpreel minimise @ --fails 'status:lost' --allow-tool write_file --rewrite /home/ada/work=/tmp/copy
  mcpreel minimise @ --fails 'code:-32603' --runs 5 --max-runs 200 --timeout 10m

FILTER is of the filter language, and judged on each replay: the failure is there when any
row fits. Say it as narrowly as you can: a call that fails only because the one before it
is left out fits `is:failed` as well.

Calls of tools go out as in `replay`, only where the server lists the tool with
readOnlyHint, unless they are allowed; but what is allowed is called in every run, which
may be hundreds of times. Let it work on a copy of what it changes. A stranger's command is
started as in `replay`: not unseen.

A failure that comes only sometimes needs --runs: messages are left out where any of so
many runs fails without them, so each step was seen to fail; in the end the result is
played again, and you are told how often it failed.

Exit code: 0 the fewest messages were found, or as few as the limits allowed; 1 it does not
fail; 2 wrong arguments; 3 a recording that cannot be read or used; 7 a stranger's command;
where it does not fail also 4 the server failed, 5 it hangs, 7 calls were refused; 130 and 143 interrupted, with
the best so far.")]
pub struct Minimise {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    /// What shows that it failed, in the filter language: is:failed, tool:search status:error, ...
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub fails: String,
    /// A file of rules that bind values; NAME.rules.toml beside the recording is read as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// The result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub driving: Driving,
    #[command(flatten)]
    pub limits: Limits,
}

/// How often the recording is played.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often it is run")]
pub struct Limits {
    /// How often messages are tried before they count as not failing
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// How many runs there are at most, in all
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: u32,
    /// How long one run may take; --timeout is for all of them
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_timeout: Option<Duration>,
}

/// Why a search stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Signal(i32),
    /// `--max-runs`.
    Runs,
    /// `--timeout`.
    Time,
}

impl Stop {
    fn why(self) -> String {
        match self {
            Self::Signal(signal) => format!("stopped by signal {signal}"),
            Self::Runs => "--max-runs is reached".to_owned(),
            Self::Time => "the time of --timeout is up".to_owned(),
        }
    }

    /// The exit of a command that has found nothing.
    fn exit(self) -> Exit {
        Exit::Process(ExitCode::from(match self {
            Self::Signal(signal) => 128 + u8::try_from(signal).unwrap_or(0),
            Self::Runs | Self::Time => 5,
        }))
    }
}

/// Looks for the fewest messages.
pub fn run(args: &Minimise) -> Outcome {
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
    let wish = Wish {
        driving: &args.driving,
        part: &Part::default(),
        strictness: &strictness,
        keep_trace: args.driving.values.keep_trace,
        warning: Some("Each run calls them again, and there may be hundreds of runs."),
    };
    let plan = Plan::new(wish, &recording)?;
    warn(&plan)?;
    let dir = folder::of(&args.driving.folder)?;
    library::create_dir(&dir)?;
    let mut search = Search {
        args,
        plan,
        query: &query,
        units: &Units::of(&recording)?,
        // Below the folder of recordings, so that the best can be moved.
        scratch: Folder::within(&dir)?,
        clock: Clock::start(),
        best: None,
        latest: None,
        runs: 0,
        stop: None,
    };
    let all: Vec<_> = (0..search.units.all().len()).collect();
    if search.fails(&all, args.limits.max_runs, "all messages")? != Some(true) {
        return Ok(search.tell_passed());
    }
    search.leave_out()?;
    let again = search.again()?;
    let (path, kept) = search.best.take().context("nothing was found")?;
    let kept = search.units.messages(&kept);
    let place = dir.join(path.file_name().context("it has a name")?);
    std::fs::rename(&path, &place)?;
    let made = Recording::open(&place)?;
    write(&search, &recording, (&made, kept), again)?;
    Ok(match search.stop {
        Some(stop @ Stop::Signal(_)) => stop.exit(),
        _ => Exit::Fine,
    })
}

/// Says which calls that may change something every run makes.
fn warn(plan: &Plan<'_>) -> Result<(), Failure> {
    let called = plan.side_effects()?;
    if called.is_empty() {
        return Ok(());
    }
    let tools = called.iter();
    let tools = tools.map(|(tool, calls)| format!("{} ({})", escape(tool), plural(*calls, "call")));
    output::say(&format!(
        "each run calls tools that do not say that they only read, and there may be hundreds of \
         runs: {}",
        output::some(tools, called.len() as u64, MOST_TOOLS).join(", ")
    ));
    Ok(())
}

/// A search under way.
struct Search<'a> {
    args: &'a Minimise,
    plan: Plan<'a>,
    query: &'a Query,
    units: &'a Units,
    /// The folder of the recordings of runs.
    scratch: Folder,
    clock: Clock,
    /// The shortest replay that failed, and which units it has.
    best: Option<(PathBuf, Vec<usize>)>,
    /// The outcome of the latest run.
    latest: Option<player::Outcome>,
    runs: u32,
    /// Why the search stopped; then more may be left out.
    stop: Option<Stop>,
}

impl Search<'_> {
    /// Leaves out what can be left out.
    fn leave_out(&mut self) -> Result<(), Failure> {
        let most = self.args.limits.max_runs;
        let most = most.saturating_sub(self.times_again());
        let mut failed = None;
        ddmin(self.units.all(), |units| {
            let best = self.best.as_ref().map_or(&[][..], |(_, best)| best);
            let enough = count(self.units.messages(best) as u64);
            let which = format!("{}, {enough} are enough", self.part(units));
            self.fails(units, most, &which).unwrap_or_else(|failure| {
                failed = Some(failure);
                None
            })
        });
        failed.map_or(Ok(()), Err)
    }

    fn times_again(&self) -> u32 {
        AGAIN.max(u32::from(self.args.limits.runs))
    }

    /// Plays the best again. Returns how often, and how often it failed.
    fn again(&mut self) -> Result<(u64, u64), Failure> {
        let kept = self.best.as_ref().map(|(_, kept)| kept.clone());
        let kept = kept.unwrap_or_default();
        let which = format!("{} again", self.part(&kept));
        // Runs are held back for this, so only a signal keeps it from being done; and a search is
        // not less done for a limit that is reached only now.
        let stopped = self.stop.take_if(|stop| !matches!(stop, Stop::Signal(_)));
        let (mut runs, mut failed) = (0, 0);
        for _ in 0..self.times_again() {
            let Some((path, fails)) = self.once(&kept, self.args.limits.max_runs, &which)? else {
                break;
            };
            remove(&path);
            (runs, failed) = (runs + 1, failed + u64::from(fails));
        }
        self.stop.take_if(|stop| !matches!(stop, Stop::Signal(_)));
        self.stop = self.stop.or(stopped);
        Ok((runs, failed))
    }

    /// `3 of 12 messages`.
    fn part(&self, kept: &[usize]) -> String {
        let of = plural(self.all_messages() as u64, "message");
        format!("{} of {of}", count(self.units.messages(kept) as u64))
    }

    fn all_messages(&self) -> usize {
        let all: Vec<_> = (0..self.units.all().len()).collect();
        self.units.messages(&all)
    }

    /// Whether any of some runs with the units `kept` fails; then that is the best. `None`: the
    /// search is stopped.
    fn fails(&mut self, kept: &[usize], most: u32, which: &str) -> Result<Option<bool>, Failure> {
        for _ in 0..self.args.limits.runs {
            let Some((path, fails)) = self.once(kept, most, which)? else {
                return Ok(None);
            };
            if fails {
                if let Some((longer, _)) = self.best.replace((path, kept.to_vec())) {
                    remove(&longer);
                }
                return Ok(Some(true));
            }
            remove(&path);
        }
        Ok(Some(false))
    }

    /// Plays the units `kept` once: the recording of that, and whether it shows the failure. `None`:
    /// the search is stopped.
    fn once(
        &mut self,
        kept: &[usize],
        most: u32,
        which: &str,
    ) -> Result<Option<(PathBuf, bool)>, Failure> {
        let left = self.time_left();
        if left == Some(Duration::ZERO) {
            self.stop.get_or_insert(Stop::Time);
        } else if self.runs >= most.max(1) {
            self.stop.get_or_insert(Stop::Runs);
        }
        if self.stop.is_some() {
            return Ok(None);
        }
        self.runs += 1;
        let own = self.args.limits.run_timeout;
        let played = self.plan.play(&Run {
            which: &format!("run {}, {which}: ", self.runs),
            left_out: Some(&|seq| self.units.leaves_out(kept, seq)),
            timeout: left.into_iter().chain(own).min(),
            dir: Some(self.scratch.path()),
        })?;
        let path = played.path;
        // After a long run, or beside busy processes, the tables are behind; a part says nothing.
        let mut goes_on = || self.plan.stopped_by().is_none();
        let is_whole = recovery::wait_for_recorder(&path, &mut goes_on);
        if let Some(signal) = self.plan.stopped_by() {
            self.stop = Some(Stop::Signal(signal));
        } else if self.time_left() == Some(Duration::ZERO) {
            // The run was cut short by us: what it shows is not what the server did.
            self.stop = Some(Stop::Time);
        } else if is_whole {
            recovery::bring_up_to_date(&path, Clock::start(), &mut |_| ())?;
            let made = Recording::open(&path)?;
            self.plan.learn(&made)?;
            self.latest = Some(played.outcome);
            return Ok(Some((path, filter::any(&made, self.query)?)));
        }
        remove(&path);
        Ok(None)
    }

    /// The rest of `--timeout`.
    fn time_left(&self) -> Option<Duration> {
        let end = Moment(0) + self.args.driving.pace.timeout?;
        Some(end.since(self.clock.now()))
    }

    /// Says that the replay of everything does not fail, and what may be the reason.
    fn tell_passed(&self) -> Exit {
        let runs = plural(u64::from(self.runs), "run");
        let is_stopped = matches!(self.stop, Some(Stop::Signal(_)));
        let Some(latest) = self.latest.as_ref().filter(|_| !is_stopped) else {
            let stop = self.stop.unwrap_or(Stop::Runs);
            output::say(&format!("{}: nothing was found in {runs}", stop.why()));
            return stop.exit();
        };
        output::say(&format!(
            "it does not fail: nothing in the replay of all messages fits {} ({runs}); nothing \
             was left out",
            escape(&self.args.fails)
        ));
        for (_, text) in &latest.report.troubles {
            output::say(text);
        }
        output::say(if latest.tally.refused > 0 {
            "calls were refused, which may be why: --allow-tool NAME allows one tool, \
             --allow-side-effects all of them"
        } else {
            "`mcpreel replay` says what differs from the recording; if it fails only sometimes, \
             --runs 20 tries more often"
        });
        // Differences are none of our business.
        Exit::Process(ExitCode::from(latest.report.exit_code().max(1)))
    }
}

/// Removes a run that is not needed. What is left is removed with the folder.
fn remove(reel: &Path) {
    let _ = std::fs::remove_file(reel);
    let _ = std::fs::remove_file(spool_of(reel));
}

/// Says what was found: the recording that was made, with how many messages. `again`: how often the result was played again, and how often it failed.
fn write(
    search: &Search<'_>,
    recording: &Recording,
    (made, kept): (&Recording, usize),
    again: (u64, u64),
) -> Result<(), Failure> {
    let args = search.args;
    let of = search.all_messages();
    let mut messages = made.messages(Seq(0), Seq(u64::MAX))?;
    messages.retain(|row| {
        let record = &row.record;
        record.direction == Direction::ClientToServer && record.kind != MessageKind::Response
    });
    messages.truncate(MOST_MESSAGES);
    let command = command(args, recording, made)?;
    let mut out = Output::stdout();
    if args.json {
        let lines = messages.iter().map(|row| {
            let name = row.record.name.as_deref().map(escape);
            let method = row.record.method.as_deref().map(escape);
            json!({"seq": row.record.frame.0, "method": method, "name": name})
        });
        let summary = made.summary()?;
        out.json(&json!({
            "kind": "minimised",
            "recording": summary.id,
            "path": made.path().display().to_string(),
            "parent": summary.context.parent,
            "fails": args.fails,
            "messages": kept,
            "of": of,
            "kept": lines.collect::<Vec<_>>(),
            "runs": search.runs,
            "again": {"runs": again.0, "failed": again.1},
            "complete": search.stop.is_none(),
            "stopped": search.stop.map(Stop::why),
            "command": command,
        }))?;
        return Ok(out.flush()?);
    }
    let how = match search.stop {
        None if kept >= of => "none can be left out",
        None => "no other one can be left out",
        Some(_) => "perhaps more can be left out",
    };
    let (messages_of, runs) = (
        plural(of as u64, "message"),
        plural(search.runs.into(), "run"),
    );
    let mut rows = vec![("kept", format!("{kept} of {messages_of}, in {runs}; {how}"))];
    let lines = messages.iter().map(|message| {
        let line = escape(&message.record.summary);
        let line = &line[..line.floor_char_boundary(LONGEST)];
        format!("#{}  {line}", message.record.frame.0)
    });
    let lines = output::some(lines, kept as u64, MOST_MESSAGES).into_iter();
    rows.extend(lines.map(|line| ("", line)));
    let again = repeated(again);
    rows.push(("fails", format!("{}; {again}", escape(&args.fails))));
    rows.extend(search.stop.map(|stop| ("stopped", stop.why())));
    let party = Party::new(made, &args.driving.folder)?;
    let opens = party.command("open");
    rows.push(("recording", format!("{}; `{opens}` opens it", party.id)));
    rows.push(("again", command));
    output::facts(&rows, &mut out)?;
    Ok(out.flush()?)
}

/// The sentence about the runs of the result.
fn repeated((runs, failed): (u64, u64)) -> String {
    let times = plural(runs, "time");
    match failed {
        _ if runs == 0 => "it was not played again, there was no run left for it".to_owned(),
        failed if failed == runs => format!("played {times} more, it failed each time"),
        0 => format!(
            "but played {times} more, it did not fail again: it is not certain that these \
             messages are enough; more --runs find better ones"
        ),
        _ => format!("played {times} more, it failed {failed} of them: it comes only sometimes"),
    }
}

/// The command that plays the result as it was played.
fn command(args: &Minimise, recording: &Recording, made: &Recording) -> Result<String, Failure> {
    let mut words = Vec::new();
    let is_own = consent::is_own(made, &made.summary()?);
    let guard = Guard::from_recording(made, is_own)?;
    for tool in guard.refused_calls(made, None, &mut |_| true)?.into_keys() {
        words.extend(["--allow-tool".to_owned(), tool.into_string()]);
    }
    let beside = sidecar(recording.path());
    let beside = beside.is_file().then_some(&beside);
    for file in args.rules.iter().chain(beside) {
        words.extend(["--rules".to_owned(), file.to_string_lossy().into_owned()]);
    }
    if !is_own {
        words.push("--run-recorded-command".to_owned());
    }
    let replay = Party::new(made, &args.driving.folder)?.command("replay");
    let line = [replay, command_line(&words)].join(" ");
    Ok(line.trim_end().to_owned())
}
