//! `mcpreel mock`: a server that answers from a recording.
//!
//! stdout is the protocol's; the account of the session goes to stderr, a line at a time: for people,
//! or for programs (`--format json`).

mod account;

use super::args::{Bind, Mock, OnMiss, Said};
use super::exit::{Exit, Failure, Outcome};
use super::folder::Settings;
use super::{comparison, quantity, run, select};
use mcpreel_replay::mock::index::Death;
use mcpreel_replay::mock::serve::{How, Manner, serve};
use mcpreel_replay::mock::{
    Ended, Fault, Index, Latency, OnMiss as Missing, Options, Report, Secrets, Server, Source,
};
use mcpreel_replay::player::Signals;
use mcpreel_share::outgoing::file;
use mcpreel_store::record::{self, Ending};
use mcpreel_wire::text::{count, escape};
use nix::sys::signal::Signal;
use serde_json::json;
use std::fmt::Write as _;
use std::time::Duration;

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
    let manner = Voice { args };
    let signals = Signals::catch().map_err(anyhow::Error::from)?;
    // From here on a signal ends the session, not the process.
    file::hand_signals_over();
    let ending = serve(server, &signals, &record, &manner);
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

/// How the command speaks and ends.
struct Voice<'a> {
    args: &'a Mock,
}

/// An assertion that does not hold.
struct Broken {
    /// The option that makes it.
    flag: &'static str,
    /// How many are as they should not be.
    found: u64,
    /// What they are.
    what: &'static str,
}

impl Manner for Voice<'_> {
    fn remark(&self, text: &str) -> String {
        match self.args.format {
            Said::Text => format!("mcpreel: {}\n", escape(text)),
            Said::Json => format!("{}\n", json!({"kind": "remark", "text": escape(text)})),
        }
    }

    fn report(&self, report: &Report) -> String {
        let broken = self.broken(report);
        if self.args.format == Said::Json {
            let mut text = String::new();
            for line in account::json(report, &broken) {
                let _ = writeln!(text, "{line}");
            }
            return text;
        }
        let mut text = format!("mcpreel: {}\n", account::summary(report));
        for line in account::details(report) {
            let _ = writeln!(text, "mcpreel:   {line}");
        }
        for Broken { flag, found, what } in broken {
            let _ = writeln!(text, "mcpreel: {flag}: {} {what}", count(found));
        }
        text
    }

    fn ending(&self, report: &Report, how: &How) -> Ending {
        match how {
            How::Signal(signal) => Ending::Signal(*signal),
            How::Ended(Ended::Crash) => Ending::Signal(Signal::SIGABRT as i32),
            How::Ended(Ended::AsRecorded(death)) => as_recorded(death),
            _ if report.tally.unreadable > 0 => Ending::Code(3),
            How::Ended(Ended::Missed) => Ending::Code(6),
            How::Input | How::Unread => {
                let holds = self.broken(report).is_empty();
                Ending::Code(if holds { 0 } else { 6 })
            }
        }
    }
}

impl Voice<'_> {
    /// The assertions that do not hold.
    fn broken(&self, report: &Report) -> Vec<Broken> {
        let tally = &report.tally;
        let missed = tally.missed.count + tally.near.count;
        let asked = &self.args.assertions;
        let assertion = |flag, found, what| Broken { flag, found, what };
        let mut broken = Vec::new();
        if asked.assert_all_used {
            broken.push(assertion(
                "--assert-all-used",
                report.unused.count,
                "unused",
            ));
        }
        if asked.assert_no_miss {
            broken.push(assertion("--assert-no-miss", missed, "not on record"));
        }
        if asked.assert_order {
            let found = tally.out_of_order.count;
            broken.push(assertion("--assert-order", found, "out of order"));
        }
        broken.retain(|broken| broken.found > 0);
        broken
    }
}

fn as_recorded(death: &Death) -> Ending {
    match death {
        Death::Code(code) => Ending::Code(u8::try_from(*code).unwrap_or(1)),
        Death::Signal(name) => match name.parse::<Signal>() {
            Ok(signal) => Ending::Signal(signal as i32),
            Err(_) => Ending::Code(1),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_have_units() {
        assert_eq!(latency("none"), Ok(Latency::None));
        assert_eq!(latency("recorded"), Ok(Latency::Recorded));
        let fixed = Latency::Fixed(Duration::from_millis(50));
        assert_eq!(latency("fixed:50ms"), Ok(fixed));
        assert!(latency("fixed:50").is_err() && latency("fast").is_err());
    }
}
