//! The runs of a search: which messages are played, what a run shows, and when it is enough.

use super::Args;
use super::messages;
use crate::cli::exit::Failure;
use crate::cli::output;
use crate::cli::replay::checks;
use crate::cli::replay::plan::{Plan, Played, Run};
use crate::cli::{filter, folder};
use anyhow::Context as _;
use mcpreel_replay::minimise::{Units, Verdict, ddmin};
use mcpreel_share::outgoing::file::Folder;
use mcpreel_store::library::{self, spool_of};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, escape, plural};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The result is played again so often at least: once proves little.
const AGAIN: u64 = 2;

/// Why a search stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user.
    Signal(i32),
    /// `--max-runs`.
    Runs,
    /// `--timeout`.
    Time,
}

impl Stop {
    /// The reason in words.
    pub fn why(self) -> String {
        match self {
            Self::Signal(signal) => format!("stopped by signal {signal}"),
            Self::Runs => "--max-runs is reached".to_owned(),
            Self::Time => "the time of --timeout is up".to_owned(),
        }
    }

    /// The exit code of a search that has found nothing.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Signal(signal) => 128 + u8::try_from(signal).unwrap_or(0),
            Self::Runs | Self::Time => 5,
        }
    }
}

/// What came of a search.
pub struct Found {
    /// The shortest replay that failed.
    pub made: Recording,
    /// How many messages of the client there were, answers aside.
    pub of: usize,
    /// How many runs there were, in all.
    pub runs: u64,
    /// How often the result was played again, and how often it failed then.
    pub again: (u64, u64),
    /// Why it stopped; then more may be left out.
    pub stop: Option<Stop>,
}

/// What the replay of the whole recording shows.
pub enum Whole {
    Fails,
    /// It does not fail, which was said: the exit code.
    Passes(u8),
    Stopped(Stop),
}

/// A search.
pub struct Search<'a> {
    args: &'a Args,
    plan: Plan<'a>,
    query: &'a Query,
    units: &'a Units,
    /// Where runs are put on record: below the folder of recordings, so that the best can be moved.
    scratch: Folder,
    dir: PathBuf,
    clock: Clock,
    /// The shortest that failed, and which units it has.
    best: Option<(PathBuf, Vec<usize>)>,
    runs: u64,
    again: (u64, u64),
    stop: Option<Stop>,
}

/// A run that is over.
struct Ran {
    fails: bool,
    played: Played,
}

impl<'a> Search<'a> {
    pub fn new(
        args: &'a Args,
        plan: Plan<'a>,
        query: &'a Query,
        units: &'a Units,
    ) -> Result<Self, Failure> {
        let dir = folder::of(&args.driving.folder)?;
        library::create_dir(&dir)?;
        Ok(Self {
            scratch: Folder::within(&dir)?,
            args,
            plan,
            query,
            units,
            dir,
            clock: Clock::start(),
            best: None,
            runs: 0,
            again: (0, 0),
            stop: None,
        })
    }

    /// Plays all of it, until it fails.
    pub fn whole(&mut self) -> Result<Whole, Failure> {
        let all: Vec<_> = (0..self.units.all().len()).collect();
        let mut passed = None;
        for _ in 0..self.args.search.runs {
            let Some(ran) =
                self.once(&all, "all messages", u64::from(self.args.search.max_runs))?
            else {
                break;
            };
            // Opened anew: what was opened when the run ended may lack what its recorder wrote since, and
            // without what the server says of its tools the next runs would call them.
            self.plan.learn(&Recording::open(&ran.played.made.path)?)?;
            if ran.fails {
                self.best = Some((ran.played.made.path, all));
                return Ok(Whole::Fails);
            }
            remove(&ran.played.made.path);
            passed = Some(ran.played);
        }
        Ok(match (self.stop, passed) {
            (Some(stop @ Stop::Signal(_)), _) | (Some(stop), None) => {
                let runs = plural(self.runs, "run");
                output::say(&format!("{}: nothing was found in {runs}", stop.why()));
                Whole::Stopped(stop)
            }
            (_, Some(played)) => Whole::Passes(self.passes(&played)),
            (None, None) => Whole::Stopped(Stop::Runs),
        })
    }

    /// Says that it does not fail, and what may be the reason.
    fn passes(&self, played: &Played) -> u8 {
        let report = &played.outcome.report;
        let runs = plural(self.runs, "run");
        output::say(&format!(
            "it does not fail: nothing in the replay of all messages fits {} ({runs}); nothing \
             was left out",
            escape(&self.args.fails)
        ));
        let lacking = checks::lacking(self.plan.recorded()).unwrap_or_default();
        let troubles = report.troubles.iter().map(|(_, text)| &**text);
        for text in troubles.chain(lacking.as_deref()) {
            output::say(text);
        }
        let hint = if played.outcome.tally.refused > 0 {
            "calls were refused, which may be why: --allow-tool NAME allows one tool, \
             --allow-side-effects all of them"
        } else if self.args.search.runs == 1 {
            "if it fails only sometimes, --runs 20 tries more often; `mcpreel replay` says what \
             differs from the recording"
        } else {
            "`mcpreel replay` says what differs from the recording"
        };
        output::say(hint);
        // Differences are none of our business.
        report.exit_code().max(1)
    }

    /// Leaves out what can be left out; then plays the rest again.
    pub fn fewest(&mut self) -> Result<(), Failure> {
        let again = AGAIN.max(u64::from(self.args.search.runs));
        let most = u64::from(self.args.search.max_runs);
        let mut failed = None;
        ddmin(self.units.all(), |units| {
            let verdict = self.verdict(units, most.saturating_sub(again));
            verdict.unwrap_or_else(|failure| {
                failed = Some(failure);
                None
            })
        });
        if let Some(failure) = failed {
            return Err(failure);
        }
        for _ in 0..again {
            let kept = self.best.as_ref().map(|(_, kept)| kept.clone());
            let kept = kept.unwrap_or_default();
            let stop = self.stop;
            let ran = self.once(&kept, &format!("{} again", self.part(&kept)), most)?;
            let Some(ran) = ran else {
                // The search is not less done for that, unless the user had enough.
                let is_user = matches!(self.stop, Some(Stop::Signal(_)));
                self.stop = if is_user { self.stop } else { stop };
                break;
            };
            self.again.0 += 1;
            self.again.1 += u64::from(ran.fails);
            remove(&ran.played.made.path);
        }
        Ok(())
    }

    /// How many messages the units `kept` have, those of the handshake included.
    fn frames(&self, kept: &[usize]) -> u64 {
        let frames = kept.iter().map(|unit| self.units.all()[*unit].frames.len());
        (frames.sum::<usize>() + self.units.handshake()) as u64
    }

    /// The same in words, of how many.
    fn part(&self, kept: &[usize]) -> String {
        let all = messages(self.units) as u64;
        format!("{} of {} messages", count(self.frames(kept)), count(all))
    }

    /// Whether the units `kept` fail; `None`: it is enough.
    fn verdict(&mut self, kept: &[usize], most: u64) -> Result<Option<Verdict>, Failure> {
        let mut which = self.part(kept);
        if let Some((_, best)) = &self.best {
            which = format!("{which}, {} are enough", count(self.frames(best)));
        }
        for _ in 0..self.args.search.runs {
            let Some(ran) = self.once(kept, &which, most)? else {
                return Ok(None);
            };
            let path = ran.played.made.path;
            if ran.fails {
                if let Some((longer, _)) = self.best.replace((path, kept.to_vec())) {
                    remove(&longer);
                }
                return Ok(Some(Verdict::Fails));
            }
            remove(&path);
        }
        Ok(Some(Verdict::Passes))
    }

    /// Plays the units `kept` once; `None`: it is enough, and [`Self::stop`] says why.
    fn once(&mut self, kept: &[usize], which: &str, most: u64) -> Result<Option<Ran>, Failure> {
        if self.stop.is_none() && self.runs >= most.max(1) {
            self.stop = Some(Stop::Runs);
        }
        let left = self.left();
        if left == Some(Duration::ZERO) {
            self.stop = self.stop.or(Some(Stop::Time));
        }
        if matches!(self.stop, Some(Stop::Signal(_) | Stop::Time)) || self.runs >= most.max(1) {
            return Ok(None);
        }
        self.runs += 1;
        let left_out = |seq| self.units.leaves_out(kept, seq);
        let played = self.plan.play(&Run {
            which: &format!("run {}, {which}: ", self.runs),
            left_out: Some(&left_out),
            timeout: [left, self.args.search.run_timeout]
                .into_iter()
                .flatten()
                .min(),
            dir: Some(self.scratch.path()),
        })?;
        if let Some(signal) = played.outcome.interrupted {
            self.stop = Some(Stop::Signal(signal));
        } else if self.left() == Some(Duration::ZERO) {
            // It was cut short by us: what it shows is not what the server did.
            self.stop = Some(Stop::Time);
        } else if let Some(fails) = self.fails(&played.made.path)? {
            return Ok(Some(Ran { fails, played }));
        } else {
            self.stop = self.plan.stopped_by().map(Stop::Signal);
        }
        remove(&played.made.path);
        Ok(None)
    }

    /// Whether the replay `path` shows the failure; `None`: the user did not wait to know it.
    fn fails(&self, path: &Path) -> Result<Option<bool>, Failure> {
        shows(path, self.query, &mut || self.plan.stopped_by().is_none())
    }

    /// How much of `--timeout` is left.
    fn left(&self) -> Option<Duration> {
        let end = self.args.driving.pace.timeout.map(|all| Moment(0) + all);
        end.map(|end| end.since(self.clock.now()))
    }

    /// The shortest that failed, where recordings are.
    pub fn found(self) -> Result<Found, Failure> {
        let (path, _) = self.best.context("nothing was found")?;
        let name = path.file_name().context("it has a name")?;
        let place = self.dir.join(name);
        std::fs::rename(&path, &place)?;
        Ok(Found {
            made: Recording::open(&place)?,
            of: messages(self.units),
            runs: self.runs,
            again: self.again,
            stop: self.stop,
        })
    }
}

/// Whether anything in the replay `path` fits `query`; `None`: its recorder was not done when
/// `goes_on` had enough, and a part of it says nothing.
fn shows(
    path: &Path,
    query: &Query,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Option<bool>, Failure> {
    // After a long run, or beside busy processes, its tables are behind.
    if !recovery::wait_for_recorder(path, goes_on) {
        return Ok(None);
    }
    recovery::bring_up_to_date(path, Clock::start(), &mut |_| ())?;
    filter::any(&Recording::open(path)?, query).map(Some)
}

/// Removes a run that is not needed. What is left is removed with the folder.
fn remove(reel: &Path) {
    let _ = std::fs::remove_file(reel);
    let _ = std::fs::remove_file(spool_of(reel));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::Session;
    use mcpreel_trace::frame::StreamId;

    /// Once what such a run had shown so far was taken for all that it shows.
    #[test]
    fn a_run_whose_recorder_is_not_done_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        session.chunk(StreamId::STDERR, b"panicked\n");
        let query = filter::parse(Some("status:tool-error"))
            .ok()
            .flatten()
            .unwrap();
        let mut asked = 0;
        let shown = shows(&session.reel, &query, &mut || {
            asked += 1;
            false
        });
        assert!(matches!(shown, Ok(None)));
        assert_eq!(asked, 1);
    }
}
