//! `mcpreel mock`: a server that answers from a recording.
//!
//! stdout is the protocol's; the account of the session goes to stderr, a line at a time: for people,
//! or for programs (`--format json`).

use super::account;
use super::exit::{Exit, Failure, Outcome};
use super::folder::{Folder, Settings};
use super::replay::driving::{Bind, bind};
use super::{comparison, quantity, run, select};
use clap::{Args, ValueEnum};
use mcpreel_replay::mock::serve::{How, Session};
use mcpreel_replay::mock::{
    Ended, Fault, Index, Latency, OnMiss as Missing, Options, Report, Secrets, Server, Source,
};
use mcpreel_replay::player::Signals;
use mcpreel_share::outgoing::file;
use mcpreel_store::record::{self, Ending};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{count, escape};
use nix::sys::signal::Signal;
use serde_json::json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  mcpreel mock 7f3a9c21
  mcpreel mock session.jsonl --latency recorded
  mcpreel mock 7f3a9c21 --fault 'tool:search -> delay 5s' --fault 'tool:pay -> crash'
  mcpreel mock session.reel --assert-no-miss --assert-all-used --format json

In a host's configuration:
  {\"command\": \"mcpreel\", \"args\": [\"mock\", \"/home/ada/session.reel\"]}

Exit code: 0, or 3 a recording that cannot be served (nothing to answer, redacted
values without --bind), 6 an assertion does not hold or --on-miss exit; or as the
recorded server ended, if it died over a request.";

const LEARN: &str = "\
What a request gets:
  A recorded request stands for a live one of the same method if the params are
  the same (but for _meta and the spelling), or else the same but for ids, times,
  durations, ports and temporary files. Of several the next one in recorded order
  answers; when all are used, the last one again. `initialize`, `ping` and lists
  can always be repeated. What came with the answer comes again: progress and log
  messages if the host wants them, requests of the server if it can answer them,
  notifications after the same request or answer as recorded.
  What is not on record gets an error -32000 that names what comes nearest and
  where it differs; the same is said on stderr when the host closes the input.

What is said with --format json:
  Lines on stderr when the session is over, each a JSON object of a `kind`. The
  `summary` has how much is `recorded` and was `used`, the `requests` of the host,
  those that were `served` from the recording, and `counts` of everything below and
  more. Then come, at most twenty of each kind (`left_out` says how many more there
  are), requests that are not on record: `missed`, and `near` (answered by the
  nearest), each with `method`, `name`, `reason`, the frame that is `nearest` and
  the paths at which it `differs`; and by their frames (`seq`) recorded requests
  that are `unused` or `out_of_order`. An `assertion` does not hold. A `remark` is
  said as soon as it is known.

Faults:
  FILTER is in the filter language of `show -q` and sees the live request; the
  first that fits counts. Behind the arrow (-> will do) comes one of
    delay 5s                the answer comes later
    error -32603 [message]  an error in its place
    drop                    no answer
    crash                   the mock dies";

/// Be the server: answer a host from a recording
///
/// Put it in place of the server's command in a host's configuration. It needs nothing but the
/// recording: no server, no network, no credentials. The session with the host is recorded as well,
/// under the recording's name with -mock behind it, so that the viewer shows what the host asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{LEARN}"))]
pub struct Mock {
    /// A path (of a cassette, too), @, @2, an id or its first four digits or more, or a name. In a
    /// configuration better a path or an id: the newest recording may soon be another
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// What a request gets that is not on record
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub on_miss: OnMiss,
    /// Serve nothing twice but `initialize`, `ping` and lists
    #[arg(long)]
    pub once: bool,
    /// When answers come: none (at once), recorded, or for example fixed:50ms
    #[arg(long, value_name = "WHEN", default_value = "none", value_parser = latency)]
    pub latency: Latency,
    /// Something that goes wrong on purpose: 'tool:search -> error -32603'
    #[arg(long, value_name = "FAULT", value_parser = fault, allow_hyphen_values = true)]
    pub fault: Vec<Fault>,
    /// What a redacted value is: `env:NAME` or `file:PATH`, for example secret:1=env:TOKEN
    #[arg(long, value_name = "PLACEHOLDER=SOURCE", value_parser = bind)]
    pub bind: Vec<Bind>,
    /// A file of rules about params that may differ; NAME.rules.toml beside the recording is read
    /// as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Write the recorded lines of stderr again
    #[arg(long)]
    pub stderr: bool,
    /// How what came of it is said on stderr
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub format: Said,
    #[command(flatten)]
    pub assertions: Assertions,
}

/// What must hold at the end.
#[derive(Debug, Args)]
pub struct Assertions {
    /// Exit code 6 unless everything on record was asked (pings aside)
    #[arg(long)]
    pub assert_all_used: bool,
    /// Exit code 6 if something was asked that is not on record
    #[arg(long)]
    pub assert_no_miss: bool,
    /// Exit code 6 if requests came in another order than on record
    #[arg(long)]
    pub assert_order: bool,
}

/// How what came of it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Said {
    /// For people: what was used in a line, then what was not on record, and what comes nearest
    Text,
    /// For programs: one JSON object per line, a summary first
    Json,
}

/// What a request gets that is not on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMiss {
    /// An error that names what comes nearest
    Error,
    /// The answer to what comes nearest, marked in its `_meta`
    Nearest,
    /// No answer
    Hang,
    /// The error, and the end of the mock with exit code 6
    Exit,
}

/// Reads `none`, `recorded` or `fixed:50ms`.
pub fn latency(text: &str) -> Result<Latency, String> {
    match (text, text.strip_prefix("fixed:")) {
        ("none", _) => Ok(Latency::None),
        ("recorded", _) => Ok(Latency::Recorded),
        (_, Some(fixed)) => Ok(Latency::Fixed(duration(fixed)?)),
        _ => Err(format!("`{text}` is none of: none, recorded, fixed:50ms")),
    }
}

/// Reads `FILTER -> EFFECT`.
pub fn fault(text: &str) -> Result<Fault, String> {
    Fault::parse(text, |text| duration(text).ok()).map_err(|error| error.to_string())
}

fn duration(text: &str) -> Result<Duration, String> {
    quantity::nanoseconds(text).map(Duration::from_nanos)
}

/// Serves the recording to whoever has started us.
pub fn run(args: &Mock) -> Outcome {
    let mut secrets = Secrets::default();
    for Bind { placeholder, value } in &args.bind {
        secrets.bind(placeholder.clone(), value.clone());
    }
    let (recording, selected) = select::open(&args.recording, &args.folder)?;
    if selected.seq.is_some() {
        let message = "`mock` serves a whole recording: leave out what stands behind the #";
        return Err(Failure::Usage(message.to_owned()));
    }
    let options = Options {
        on_miss: match args.on_miss {
            OnMiss::Error => Missing::Error,
            OnMiss::Nearest => Missing::Nearest,
            OnMiss::Hang => Missing::Hang,
            OnMiss::Exit => Missing::Exit,
        },
        once: args.once,
        latency: args.latency,
        faults: args.fault.clone(),
        stderr: args.stderr,
        rules: comparison::rules(&args.rules, recording.path())?.0,
    };
    let summary = recording.summary()?;
    let index = Index::read(&recording, &secrets, &options.rules).map_err(anyhow::Error::from)?;
    let mut record = record_options(args, &summary.name, &summary.id);
    let needless = secrets
        .names()
        .filter(|name| !index.placeholders.contains(*name));
    record.remarks.extend(
        needless.map(|name| format!("--bind {name}: the recording has no such placeholder")),
    );
    let server = Server::new(index, Source::new(recording, secrets), options);
    let signals = Signals::catch().map_err(anyhow::Error::from)?;
    // From here on a signal ends the session, not the process.
    file::hand_signals_over();
    let remark = |text: &str| remark(args.format, text);
    let mut session = Session::begin(server, &signals, &record, &remark);
    let (how, report) = session.run();
    let ending = ending(args, &report, &how);
    session.finish(&how, &told(args, &report), ending);
    file::remove();
    Ok(Exit::Process(record::end_as(ending)))
}

/// The session with the host is recorded like any other.
fn record_options(args: &Mock, name: &str, id: &str) -> record::Options {
    let settings = Settings::read();
    let mut faults: Vec<String> = settings.faults().collect();
    let name = name.strip_suffix("-mock").unwrap_or(name);
    record::Options {
        command: std::env::args_os().collect(),
        name: Some(format!("{name}-mock")),
        dir: settings.recordings_dir(&args.folder),
        cwd: None,
        origin: "mock",
        parent: Some(id.to_owned()),
        played: None,
        read_only_tools: Vec::new(),
        max_size: run::configured_max_size(&settings, &mut faults),
        slow_ns: run::configured_slow(&settings, &mut faults),
        remarks: faults,
    }
}

fn remark(format: Said, text: &str) -> String {
    match format {
        Said::Text => format!("mcpreel: {}\n", escape(text)),
        Said::Json => format!("{}\n", json!({"kind": "remark", "text": escape(text)})),
    }
}

/// The account of the session, as lines for stderr.
fn told(args: &Mock, report: &Report) -> String {
    let broken = broken(&args.assertions, report).into_iter();
    let lines: Vec<String> = match args.format {
        Said::Json => {
            let broken = broken.map(
                |(flag, found, _)| json!({"kind": "assertion", "assertion": flag, "found": found}),
            );
            let all = account::json(report).into_iter().chain(broken);
            all.map(|line| format!("{line}\n")).collect()
        }
        Said::Text => {
            let broken =
                broken.map(|(flag, found, what)| format!("{flag}: {} {what}", count(found)));
            let all = account::lines(report).into_iter().chain(broken);
            all.map(|line| format!("mcpreel: {line}\n")).collect()
        }
    };
    lines.concat()
}

fn ending(args: &Mock, report: &Report, how: &How) -> Ending {
    match how {
        How::Signal(signal) => Ending::Signal(*signal),
        How::Ended(Ended::Crash) => Ending::Signal(Signal::SIGABRT as i32),
        How::Ended(Ended::AsRecorded(death)) => as_recorded(death),
        _ if report.tally.unreadable > 0 => Ending::Code(3),
        How::Ended(Ended::Missed) => Ending::Code(6),
        How::Input | How::Unread => {
            let holds = broken(&args.assertions, report).is_empty();
            Ending::Code(if holds { 0 } else { 6 })
        }
    }
}

/// The assertions that do not hold: the option, how many are as they should not be, and what they
/// are.
fn broken(asked: &Assertions, report: &Report) -> Vec<(&'static str, u64, &'static str)> {
    let tally = &report.tally;
    let missed = tally.missed.count + tally.near.count;
    let (unused, order) = (report.unused.count, tally.out_of_order.count);
    let mut broken = Vec::new();
    for (is_asked, flag, found, what) in [
        (asked.assert_all_used, "--assert-all-used", unused, "unused"),
        (
            asked.assert_no_miss,
            "--assert-no-miss",
            missed,
            "not on record",
        ),
        (asked.assert_order, "--assert-order", order, "out of order"),
    ] {
        if is_asked && found > 0 {
            broken.push((flag, found, what));
        }
    }
    broken
}

fn as_recorded(death: &End) -> Ending {
    let signal = |name: &str| Some(name.parse::<Signal>().ok()? as i32);
    match death {
        End::Exited { code } => Ending::Code(u8::try_from(*code).unwrap_or(1)),
        End::Killed { signal: name } => signal(name).map_or(Ending::Code(1), Ending::Signal),
        End::NotStarted { .. } | End::Unknown => Ending::Code(1),
    }
}
