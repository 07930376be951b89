//! `mcpreel mock`: a server that answers from a recording.
//!
//! stdout is the protocol's; the account of the session goes to stderr, a line at a time: for people,
//! or for programs (`--format json`).

use super::exit::{Exit, Outcome};
use super::folder::{Folder, Settings};
use super::listen::{self, Listen};
use super::quantity::choice;
use super::replay::driving::{bind, time};
use super::{comparison, output, run, select};
use clap::{Args, ValueEnum};
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_lint::cause::MOCK_ENDS;
use mcpreel_replay::Counted;
use mcpreel_replay::mock::matcher::Subject;
use mcpreel_replay::mock::mock_report::Missed;
use mcpreel_replay::mock::on_stdio::{Session, SessionEnd};
use mcpreel_replay::mock::{
    Ended, Fault, Index, Latency, OnMiss, Options, Report, Secrets, Server, Source,
};
use mcpreel_replay::player::Signals;
use mcpreel_share::outgoing::file;
use mcpreel_store::record::{self, Ending};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{count, escape, plural};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  mcpreel mock 7f3a9c21
  mcpreel mock session.jsonl --latency recorded
  mcpreel mock 7f3a9c21 --fault 'tool:search -> delay 5s' --fault 'tool:pay -> crash'
  mcpreel mock session.reel --assert-no-miss --assert-all-used --format json
  mcpreel mock 7f3a9c21 --listen 8000        for hosts that want a URL

A fault is `FILTER -> delay 5s`, `-> error -32603 [message]`, `-> drop` or `-> crash`.
docs/replay.md says which recorded answer a request gets.

Exit code: 0, 3 a recording that cannot be served, 6 an assertion does not hold or --on-miss exit;
or as the recorded server ended, if it died over a request.";

/// Stand in for a server: answer a host from a recording
///
/// Put it in place of the server's command in a host's configuration. It needs nothing but the
/// recording: no server, no network, no credentials. The session with the host is recorded as well,
/// under the recording's name with -mock behind it, so that the viewer shows what the host asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mock {
    /// A path (of a cassette, too), @, @2, an id or its first four digits or more, or a name. In a
    /// configuration better a path or an id: the newest recording may soon be another
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// Answer to a request that is not on record
    #[arg(long, value_name = "WHAT", default_value = "error", value_parser = choice(&MISSES))]
    pub on_miss: OnMiss,
    /// Of a network recording, which one is served [default: the busiest]
    #[arg(long, value_name = "N")]
    pub conversation: Option<u32>,
    /// Serve nothing twice but `initialize`, `ping` and lists
    #[arg(long)]
    pub once: bool,
    /// When answers come: none (at once), recorded, or for example fixed:50ms
    #[arg(long, value_name = "WHEN", default_value = "none", value_parser = latency)]
    pub latency: Latency,
    /// A deliberate fault: 'tool:search -> error -32603'
    #[arg(long, value_name = "FAULT", value_parser = fault, allow_hyphen_values = true)]
    pub fault: Vec<Fault>,
    /// The value of a placeholder: `env:NAME` or `file:PATH`, for example secret:1=env:TOKEN
    #[arg(long, value_name = "PLACEHOLDER=SOURCE", value_parser = bind)]
    pub bind: Vec<(String, String)>,
    /// A file of rules about params that may differ; NAME.rules.toml beside the recording is read
    /// as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Write the recorded lines of stderr again
    #[arg(long)]
    pub stderr: bool,
    #[command(flatten)]
    pub listen: Listen,
    /// Of a session that is served with --listen: the file of the recording
    #[arg(long, value_name = "FILE", hide = true)]
    pub session_of: Option<PathBuf>,
    /// Format of the report on stderr
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub format: AccountFormat,
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

/// The format of the account that stderr gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AccountFormat {
    /// For people: what was used in a line, then what was not on record, and what comes nearest
    Text,
    /// For programs: one JSON object per line, a summary first
    Json,
}

const MISSES: [(&str, &str, OnMiss); 4] = [
    (
        "error",
        "An error that names what comes nearest",
        OnMiss::Error,
    ),
    (
        "nearest",
        "The answer to what comes nearest, marked in its `_meta`",
        OnMiss::Nearest,
    ),
    ("hang", "No answer", OnMiss::Hang),
    (
        "exit",
        "The error, and the end of the mock with exit code 6",
        OnMiss::Exit,
    ),
];

/// Reads `none`, `recorded` or `fixed:50ms`.
fn latency(text: &str) -> Result<Latency, String> {
    match (text, text.strip_prefix("fixed:")) {
        ("none", _) => Ok(Latency::None),
        ("recorded", _) => Ok(Latency::Recorded),
        (_, Some(fixed)) => Ok(Latency::Fixed(time(fixed)?)),
        _ => Err(format!("`{text}` is none of: none, recorded, fixed:50ms")),
    }
}

/// Reads `FILTER -> EFFECT`.
fn fault(text: &str) -> Result<Fault, String> {
    Fault::parse(text, |text| time(text).ok()).map_err(|error| error.to_string())
}

/// Serves the recording to whoever has started us.
pub fn run(args: &Mock) -> Outcome {
    let secrets = Secrets(args.bind.iter().cloned().collect());
    let file = args.session_of.as_deref().map(Path::as_os_str);
    let recording = select::whole(file.unwrap_or(&args.recording), &args.folder)?;
    let conversation = select::conversation(&recording, args.conversation, "served")?;
    if let Some(at) = args.listen.listen {
        let summary = recording.summary()?;
        let what = format!(
            "answering from {} over streamable HTTP",
            escape(&summary.name)
        );
        let url = summary.context.url.as_deref();
        let arguments = of_session(args, recording.path(), conversation);
        return args.listen.serve(at, &path_of(url), &what, arguments);
    }
    let options = Options {
        on_miss: args.on_miss,
        once: args.once,
        latency: args.latency,
        faults: args.fault.clone(),
        stderr: args.stderr,
        rules: comparison::rules(&args.rules, recording.path())?.0,
    };
    let summary = recording.summary()?;
    let index = Index::read(&recording, &secrets, &options.rules, conversation)
        .map_err(anyhow::Error::from)?;
    // The session with the host is recorded like any other.
    let settings = Settings::read();
    let mut remarks: Vec<String> = settings.faults().collect();
    let [max_size, slow_ns] = run::configured(&settings, &mut remarks);
    remarks.extend(remarks_on_secrets(&secrets, &index));
    let name = summary.name.strip_suffix("-mock").unwrap_or(&summary.name);
    let record = record::Options {
        command: std::env::args_os().collect(),
        secrets: Vec::new(),
        name: Some(format!("{name}-mock")),
        dir: settings.recordings_dir(&args.folder),
        cwd: None,
        transport: "stdio",
        url: None,
        origin: "mock",
        parent: Some(summary.id),
        id: None,
        other_side: None,
        played: None,
        read_only_tools: Vec::new(),
        max_size,
        slow_ns,
        remarks,
    };
    let source = Source { recording, secrets };
    let server = Server::new(index, source, options);
    let signals = Signals::catch().map_err(anyhow::Error::from)?;
    // From here on a signal ends the session, not the process.
    file::hand_signals_over();
    let remark = |text: &str| match args.format {
        AccountFormat::Text => format!("mcpreel: {}\n", escape(text)),
        AccountFormat::Json => format!("{}\n", json!({"kind": "remark", "text": escape(text)})),
    };
    let mut session = Session::begin(server, &signals, &record, &remark);
    let (end, report) = session.run();
    let broken = broken(&args.assertions, &report);
    let ending = match &end {
        SessionEnd::Signal(signal) => Ending::Signal(*signal),
        SessionEnd::Ended(Ended::Crash) => Ending::Signal(Signal::SIGABRT as i32),
        SessionEnd::Ended(Ended::AsRecorded(death)) => as_recorded(death),
        _ if report.tally.unreadable > 0 => Ending::Code(3),
        SessionEnd::Ended(Ended::Missed) => Ending::Code(6),
        SessionEnd::Input | SessionEnd::Unread => {
            Ending::Code(if broken.is_empty() { 0 } else { 6 })
        }
    };
    let mut account: Vec<String> = match args.format {
        AccountFormat::Text => text_account(&report, &broken),
        AccountFormat::Json => json_account(&report, &broken),
    };
    if matches!(end, SessionEnd::Ended(Ended::Crash | Ended::AsRecorded(_))) {
        account.push(remark(MOCK_ENDS));
    }
    session.finish(&end, &account.concat(), ending);
    file::remove();
    Ok(Exit::Process(record::end_as(ending)))
}

/// What is wrong with the values that are given for what redaction has left.
fn remarks_on_secrets(secrets: &Secrets, index: &Index) -> Vec<String> {
    let names = secrets.0.keys();
    let needless = names.filter(|name| !index.placeholders.contains(*name));
    let needless = needless.map(|it| format!("--bind {it}: the recording has no such placeholder"));
    let unbound = index.unbound.first().map(|first| {
        let names: Vec<_> = index.unbound.iter().map(String::as_str).collect();
        format!(
            "the recording is redacted, and requests with {} in them are answered only if the host \
             sends the same; give each its value, for example --bind {first}=env:NAME",
            names.join(", ")
        )
    });
    needless.chain(unbound).collect()
}

/// The arguments of a session's process: the recording by its path, since `@` may soon be another, and the
/// same conversation.
fn of_session(args: &Mock, path: &Path, conversation: Option<u32>) -> Vec<OsString> {
    let mut arguments = listen::own_arguments();
    let chosen = conversation.filter(|_| args.conversation.is_none());
    let chosen = chosen.map(|id| format!("--conversation={id}").into());
    let more = ["--session-of".into(), path.into()]
        .into_iter()
        .chain(chosen);
    let end_of_options = arguments.iter().position(|word| word == "--");
    let at = end_of_options.unwrap_or(arguments.len());
    arguments.splice(at..at, more);
    arguments
}

/// The path at which a recorded server was reached; that of most servers where it was not over HTTP.
fn path_of(url: Option<&str>) -> String {
    let url = url.and_then(|url| Upstream::parse(url).ok());
    let url = url.filter(|url| url.transport() == "http");
    let path = url.as_ref().and_then(|url| url.target().split('?').next());
    path.unwrap_or(listen::PATH).to_owned()
}

/// An assertion that does not hold: its option, how many are not as they should be, and what they are.
type Broken = (&'static str, u64, &'static str);

fn broken(asked: &Assertions, report: &Report) -> Vec<Broken> {
    let tally = &report.tally;
    let missed = tally.missed.count + tally.near.count;
    let all = [
        ("--assert-all-used", report.unused.count, "unused"),
        ("--assert-no-miss", missed, "not on record"),
        ("--assert-order", tally.out_of_order.count, "out of order"),
    ];
    let asked = [
        asked.assert_all_used,
        asked.assert_no_miss,
        asked.assert_order,
    ];
    let broken = all.into_iter().zip(asked);
    let broken = broken.filter(|(it, is_asked)| *is_asked && it.1 > 0);
    broken.map(|(it, _)| it).collect()
}

fn as_recorded(death: &End) -> Ending {
    let signal = |name: &str| Some(name.parse::<Signal>().ok()? as i32);
    match death {
        End::Exited { code } => Ending::Code(u8::try_from(*code).unwrap_or(1)),
        End::Killed { signal: name } => signal(name).map_or(Ending::Code(1), Ending::Signal),
        End::NotStarted { .. } | End::Unknown => Ending::Code(1),
    }
}

/// Requests and frames that are named for people; more do not help.
const MOST_NAMED: usize = 10;

/// The counts of a session: the name for programs, the number, and the words for people.
fn counts(report: &Report) -> [(&'static str, u64, &'static str); 12] {
    let tally = &report.tally;
    let normalised = tally.normalised;
    [
        ("repeated", tally.repeated, "repeated"),
        ("normalised", normalised, "matched but for ids and times"),
        ("near", tally.near.count, "answered by the nearest"),
        ("missed", tally.missed.count, "not on record"),
        ("out_of_order", tally.out_of_order.count, "out of order"),
        ("faults", tally.faults, "gone wrong on purpose"),
        ("malformed", tally.malformed, "malformed"),
        ("not_asked", tally.not_asked, "not asked of this host"),
        ("unanswered", tally.unanswered, "not answered by it"),
        ("unexpected", tally.unexpected, "answers to nothing"),
        ("unreadable", tally.unreadable, "unreadable on record"),
        ("orphans", report.orphans, "recorded answers to nothing"),
    ]
}

/// What is said of a session one by one: of each kind how many there are, and of the first each what
/// programs get and the words for people.
type Items = [(&'static str, u64, Vec<(Value, String)>); 4];

fn items(report: &Report) -> Items {
    let tally = &report.tally;
    let subject = |it: &Subject| {
        let name = it.name.as_deref().map(escape);
        json!({"method": escape(&it.method), "name": name})
    };
    let missed = |it: &Missed| {
        let nearest = it.nearest.as_ref();
        let paths = nearest.into_iter().flat_map(|(_, near)| &near.paths);
        let paths = paths.map(|path| escape(path));
        let text = escape(&it.sentence(&report.recording)).into_owned();
        let mut item = subject(&it.subject);
        item["reason"] = it.reason.as_str().into();
        item["nearest"] = nearest.map(|(seq, _)| seq.0).into();
        item["differs"] = paths.collect::<Vec<_>>().into();
        item["text"] = text.clone().into();
        (item, text)
    };
    let unused = |(seq, it): &(Seq, Subject)| {
        let mut item = subject(it);
        item["seq"] = seq.0.into();
        (item, format!("#{} {}", seq.0, escape(&it.to_string())))
    };
    let in_order = |seq: &Seq| (json!({"seq": seq.0}), format!("#{}", seq.0));
    [
        listed("near", &tally.near, missed),
        listed("missed", &tally.missed, missed),
        listed("unused", &report.unused, unused),
        listed("out_of_order", &tally.out_of_order, in_order),
    ]
}

fn listed<T>(
    kind: &'static str,
    all: &Counted<T>,
    item: impl Fn(&T) -> (Value, String),
) -> (&'static str, u64, Vec<(Value, String)>) {
    (kind, all.count, all.kept.iter().map(item).collect())
}

/// The account for people: a summary, then misses and whatever was otherwise than on record.
fn text_account(report: &Report, broken: &[Broken]) -> Vec<String> {
    let recorded = plural(report.recorded, "recorded request");
    let (recording, used) = (escape(&report.recording), count(report.used()));
    let mut first = format!("mock of {recording}: {used} of {recorded} used");
    for (_, number, words) in counts(report).into_iter().filter(|it| it.1 > 0) {
        let _ = write!(first, ", {} {words}", count(number));
    }
    let mut lines = vec![first];
    for (kind, number, items) in items(report) {
        let texts = items.into_iter().map(|(_, text)| text);
        let texts = output::some(texts, number, MOST_NAMED).into_iter();
        let kind = kind.replace('_', " ");
        lines.extend(texts.map(|text| format!("  {kind}: {text}")));
    }
    let broken = broken.iter();
    lines.extend(broken.map(|(flag, found, what)| format!("{flag}: {} {what}", count(*found))));
    let lines = lines.iter();
    lines.map(|line| format!("mcpreel: {line}\n")).collect()
}

/// The account for programs: a summary, then an object for each of what was found.
fn json_account(report: &Report, broken: &[Broken]) -> Vec<String> {
    let all = counts(report).map(|(key, number, _)| (key, number));
    let all = all.into_iter().chain([("unused", report.unused.count)]);
    let all: BTreeMap<_, _> = all.collect();
    let mut lines = vec![json!({
        "kind": "summary",
        "recording": escape(&report.recording),
        "recorded": report.recorded,
        "used": report.used(),
        "requests": report.tally.requests,
        "served": report.tally.served,
        "counts": all,
    })];
    for (kind, _, items) in items(report) {
        lines.extend(items.into_iter().map(|(mut item, _)| {
            item["kind"] = kind.into();
            item
        }));
    }
    let assertion =
        |(flag, found, _): &Broken| json!({"kind": "assertion", "assertion": flag, "found": found});
    lines.extend(broken.iter().map(assertion));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
