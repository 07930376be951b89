//! `mcpreel minimise`: the fewest messages of a client with which its server still fails.
//!
//! ```text
//!  recording ─▶ units ─▶ search: a replay without some, again and again ─▶ the shortest that failed
//!                          │                                                  │
//!                          └ in a folder of its own, which vanishes           └▶ a recording, told
//! ```

use super::comparison::{Party, Strictness};
use super::exit::{Exit, Failure, Outcome, usage};
use super::output::{self, Output};
use super::replay::consent;
use super::replay::driving::{Driving, Part, time};
use super::replay::plan::{Plan, Run};
use super::select;
use super::{filter, folder};
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
use mcpreel_wire::text::{count, cut, escape, plural};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The result is played again so often at least: once proves little.
const AGAIN: u32 = 2;

/// Messages that are named.
const MOST_MESSAGES: usize = 40;

/// Columns of a message's line that are shown.
const LONGEST: usize = 160;

/// Find the fewest messages with which a server still fails
///
/// Replays a recording again and again, each time without some of the client's messages, until none
/// can be left out without losing the failure. What belongs together stays together: a request with
/// its cancel, its rounds of input and what the client answers meanwhile; and what gives a handle, a
/// cursor or a task back is not sent without the call that it came from. The handshake always stays.
/// The result is a recording like any other: the shortest replay that failed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel minimise @ --fails is:failed
  mcpreel minimise 7f3a --fails 'tool:search status:tool-error' -- ./target/debug/my-server
  mcpreel minimise @ --fails 'code:-32603' --runs 5 --max-runs 200 --timeout 10m

The server fails where a row of a replay matches FILTER: make it narrow. Allowed tools are called
in every replay, maybe hundreds of times. docs/replay.md has the details.

Exit code: 0 the fewest messages were found, or as few as the limits allowed; 1 it does not fail,
or 4 the server failed, 5 it hangs, 7 something was refused; 2 wrong arguments; 3 a recording that
cannot be used; 130 and 143 interrupted, with the best so far.")]
pub struct Minimise {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    /// The failure, as a filter: is:failed, tool:search status:error, ...
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
    /// Replays of one attempt before it counts as not failing
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// Limit on the number of replays
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: u32,
    /// Time limit for one replay; --timeout is for all
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_timeout: Option<Duration>,
}

/// Why a search stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Signal(i32),
    /// A limit of the user, in words.
    Limit(&'static str),
}

impl Stop {
    /// The reason, and the exit code of a command that has found nothing.
    fn told(self) -> (String, u8) {
        match self {
            Self::Signal(signal) => {
                let code = 128 + u8::try_from(signal).unwrap_or(0);
                (format!("stopped by signal {signal}"), code)
            }
            Self::Limit(limit) => (limit.to_owned(), 5),
        }
    }
}

/// Looks for the fewest messages.
pub fn run(args: &Minimise) -> Outcome {
    let query = filter::parse_as("--fails", Some(&args.fails))?;
    let query = query.ok_or_else(|| usage("--fails needs a filter"))?;
    let recording = select::whole(&args.recording, &args.driving.folder)?;
    let strictness = Strictness {
        rules: args.rules.clone(),
        ..Strictness::default()
    };
    let warning = "Each run calls them again, and there may be hundreds of runs.\n";
    let part = Part::default();
    let plan = Plan::new(&args.driving, &part, &strictness, &recording, warning)?;
    let allowed = &args.driving.allowed;
    if allowed.allow_side_effects || !allowed.allow_tool.is_empty() {
        output::say(
            "each run calls tools that do not say that they only read, and there may be hundreds \
             of runs",
        );
    }
    let dir = folder::of(&args.driving.folder)?;
    library::create_dir(&dir)?;
    let units = Units::of(&recording)?;
    let all: Vec<_> = (0..units.all().len()).collect();
    let mut search = Search {
        args,
        plan,
        query: &query,
        all: units.messages(&all),
        units: &units,
        // Below the folder of recordings, so that the best can be moved.
        scratch: Folder::within(&dir)?,
        clock: Clock::start(),
        best: None,
        latest: None,
        runs: 0,
        most: args.limits.max_runs,
        stop: None,
    };
    if search.fails(&all)? != Some(true) {
        return Ok(search.tell_passed());
    }
    search.leave_out()?;
    let (path, kept) = search.best.take().context("nothing was found")?;
    let again = search.again(&kept)?;
    let place = dir.join(path.file_name().context("it has a name")?);
    std::fs::rename(&path, &place)?;
    search.write(&recording, &Recording::open(&place)?, &kept, again)?;
    Ok(match search.stop {
        Some(stop @ Stop::Signal(_)) => Exit::Process(ExitCode::from(stop.told().1)),
        _ => Exit::Fine,
    })
}

/// A search under way.
struct Search<'a> {
    args: &'a Minimise,
    plan: Plan<'a>,
    query: &'a Query,
    units: &'a Units,
    /// The number of messages of the whole recording.
    all: usize,
    /// The folder of the recordings of runs.
    scratch: Folder,
    clock: Clock,
    /// The shortest replay that failed, and which units it has.
    best: Option<(PathBuf, Vec<usize>)>,
    /// The outcome of the latest run.
    latest: Option<player::Outcome>,
    runs: u32,
    /// The number of runs after which the search stops.
    most: u32,
    /// Why the search stopped; then more may be left out.
    stop: Option<Stop>,
}

impl Search<'_> {
    /// Leaves out what can be left out.
    fn leave_out(&mut self) -> Result<(), Failure> {
        self.most = self.most.saturating_sub(self.times_again()).max(1);
        let mut failed = None;
        ddmin(self.units.all().len(), |kept| {
            let fails = self.fails(kept);
            fails.map_err(|failure| failed = Some(failure)).ok()?
        });
        failed.map_or(Ok(()), Err)
    }

    fn times_again(&self) -> u32 {
        AGAIN.max(u32::from(self.args.limits.runs))
    }

    /// Plays the result again, with the runs that were held back for this. Returns how often, and how
    /// often it failed.
    fn again(&mut self, kept: &[usize]) -> Result<(u64, u64), Failure> {
        // Only a signal keeps it from being done; and a search is not less done for a limit that is
        // reached only now.
        let limit = self.stop.take_if(|stop| matches!(stop, Stop::Limit(_)));
        self.most = self.args.limits.max_runs;
        let (mut runs, mut failed) = (0, 0);
        for _ in 0..self.times_again() {
            let Some((path, fails)) = self.once(kept)? else {
                break;
            };
            remove(&path);
            (runs, failed) = (runs + 1, failed + u64::from(fails));
        }
        if !matches!(self.stop, Some(Stop::Signal(_))) {
            self.stop = limit;
        }
        Ok((runs, failed))
    }

    /// Whether any of some runs with the units `kept` fails; then that is the best. `None`: the
    /// search is stopped.
    fn fails(&mut self, kept: &[usize]) -> Result<Option<bool>, Failure> {
        for _ in 0..self.args.limits.runs {
            let Some((path, fails)) = self.once(kept)? else {
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
    fn once(&mut self, kept: &[usize]) -> Result<Option<(PathBuf, bool)>, Failure> {
        let left = self.time_left();
        if left == Some(Duration::ZERO) {
            self.stop.get_or_insert(TIME);
        } else if self.runs >= self.most {
            self.stop
                .get_or_insert(Stop::Limit("--max-runs is reached"));
        }
        if self.stop.is_some() {
            return Ok(None);
        }
        self.runs += 1;
        let messages = count(self.units.messages(kept) as u64);
        let of = plural(self.all as u64, "message");
        let played = self.plan.play(&Run {
            which: &format!("run {}, {messages} of {of}: ", self.runs),
            left_out: Some(&|seq| self.units.leaves_out(kept, seq)),
            timeout: left.into_iter().chain(self.args.limits.run_timeout).min(),
            dir: Some(self.scratch.path()),
        })?;
        let (path, outcome) = (played.0.path, played.0.outcome);
        // After a long run, or beside busy processes, the tables are behind; a part says nothing.
        let mut goes_on = || self.plan.stopped_by().is_none();
        let is_whole = recovery::wait_for_recorder(&path, &mut goes_on);
        if let Some(signal) = self.plan.stopped_by() {
            self.stop = Some(Stop::Signal(signal));
        } else if self.time_left() == Some(Duration::ZERO) {
            // The run was cut short by us: what it shows is not what the server did.
            self.stop = Some(TIME);
        } else if is_whole {
            recovery::bring_up_to_date(&path, Clock::start(), &mut |_| ())?;
            let made = Recording::open(&path)?;
            self.plan.learn(&made)?;
            self.latest = Some(outcome);
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
        let (stop, latest) = (self.stop.map(Stop::told), self.latest.as_ref());
        let latest = match (stop, latest) {
            (None | Some((_, 5)), Some(latest)) => latest,
            (stop, _) => {
                let (why, code) = stop.unwrap_or(("no run is on record".to_owned(), 5));
                output::say(&format!("{why}: nothing was found in {runs}"));
                return Exit::Process(ExitCode::from(code));
            }
        };
        output::say(&format!(
            "it does not fail: nothing in the replay of all messages fits {} ({runs}); nothing \
             was left out",
            escape(&self.args.fails)
        ));
        for (_, text) in &latest.report.troubles {
            output::say(text);
        }
        output::say(if latest.tally.refused.count > 0 {
            "calls were refused, which may be why: --allow-tool NAME allows one tool, \
             --allow-side-effects all of them"
        } else {
            "`mcpreel replay` says what differs from the recording; if it fails only sometimes, \
             --runs 20 tries more often"
        });
        // Differences are none of our business.
        Exit::Process(ExitCode::from(latest.report.exit_code().max(1)))
    }

    /// Says what was found: the recording `made` with the units `kept`, which was played `runs` times
    /// more and `failed` so often.
    fn write(
        &self,
        recording: &Recording,
        made: &Recording,
        kept: &[usize],
        (runs, failed): (u64, u64),
    ) -> Result<(), Failure> {
        let (kept, of) = (self.units.messages(kept), self.all);
        let mut messages = made.messages(Seq(0), Seq(u64::MAX))?;
        messages.retain(|row| {
            let record = &row.record;
            record.direction == Direction::ClientToServer && record.kind != MessageKind::Response
        });
        messages.truncate(MOST_MESSAGES);
        let messages = messages.iter().map(|row| &row.record);
        let party = Party::new(made, &self.args.driving.folder)?;
        let command = self.command(recording, made, &party)?;
        let mut out = Output::stdout();
        if self.args.json {
            let messages = messages.map(|record| {
                let name = record.name.as_deref().map(escape);
                let method = record.method.as_deref().map(escape);
                json!({"seq": record.frame.0, "method": method, "name": name})
            });
            out.json(&json!({
                "kind": "minimised",
                "recording": party.id,
                "path": party.path,
                "parent": made.summary()?.context.parent,
                "fails": self.args.fails,
                "messages": kept,
                "of": of,
                "kept": messages.collect::<Vec<_>>(),
                "runs": self.runs,
                "again": {"runs": runs, "failed": failed},
                "complete": self.stop.is_none(),
                "stopped": self.stop.map(|stop| stop.told().0),
                "command": command,
            }))?;
            return Ok(out.flush()?);
        }
        let how = match self.stop {
            None if kept >= of => "none can be left out",
            None => "no other one can be left out",
            Some(_) => "perhaps more can be left out",
        };
        let all = plural(of as u64, "message");
        let in_runs = plural(self.runs.into(), "run");
        let mut rows = vec![("kept", format!("{kept} of {all}, in {in_runs}; {how}"))];
        let lines = messages.map(|record| {
            let line = cut(&escape(&record.summary), LONGEST);
            format!("#{}  {line}", record.frame.0)
        });
        let lines = output::some(lines, kept as u64, MOST_MESSAGES).into_iter();
        rows.extend(lines.map(|line| ("", line)));
        let (fails, again) = (escape(&self.args.fails), repeated(runs, failed));
        rows.push(("fails", format!("{fails}; {again}")));
        rows.extend(self.stop.map(|stop| ("stopped", stop.told().0)));
        let opens = party.command("open");
        rows.push(("recording", format!("{}; `{opens}` opens it", party.id)));
        rows.push(("again", command));
        for (name, text) in &rows {
            out.fact(name, text)?;
        }
        Ok(out.flush()?)
    }

    /// The command that plays the result `made` as it was played.
    fn command(
        &self,
        recording: &Recording,
        made: &Recording,
        party: &Party,
    ) -> Result<String, Failure> {
        let is_own = consent::is_own(made, &made.summary()?);
        let refused =
            Guard::from_recording(made, is_own)?.refused_calls(made, None, &mut |_| true)?;
        let tools = refused.into_keys();
        let tools = tools.flat_map(|tool| ["--allow-tool".to_owned(), tool.into_string()]);
        let beside = sidecar(recording.path());
        let beside = beside.is_file().then_some(beside);
        let rules = self.args.rules.iter().chain(&beside);
        let rules =
            rules.flat_map(|file| ["--rules".to_owned(), file.to_string_lossy().into_owned()]);
        let start = (!is_own).then(|| "--run-recorded-command".to_owned());
        let words: Vec<_> = tools.chain(rules).chain(start).collect();
        let line = [party.command("replay"), command_line(&words)].join(" ");
        Ok(line.trim_end().to_owned())
    }
}

const TIME: Stop = Stop::Limit("the time of --timeout is up");

/// Removes a run that is not needed. What is left is removed with the folder.
fn remove(reel: &Path) {
    let _ = std::fs::remove_file(reel);
    let _ = std::fs::remove_file(spool_of(reel));
}

/// The sentence about the runs of the result.
fn repeated(runs: u64, failed: u64) -> String {
    let times = plural(runs, "time");
    match failed {
        _ if runs == 0 => "it was not played again, there was no run left for it".to_owned(),
        0 => format!(
            "but played {times} more, it did not fail again: it is not certain that these \
             messages are enough; more --runs find better ones"
        ),
        _ if failed == runs => format!("played {times} more, it failed each time"),
        _ => format!("played {times} more, it failed {failed} of them: it comes only sometimes"),
    }
}
