//! The [scenarios](crate::mock::scenarios) told to the real program, wherever time plays no part: the
//! same comes out, and it ends in the same way.

use crate::mock::scenarios::{self, Asked, Scenario, has_parts};
use crate::mock::{hears, mock, record};
use crate::support::Library;
use crate::support::host_session::Received;
use crate::told;
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;

#[test]
fn every_scenario_without_time_comes_out_of_the_real_program_as_told() {
    let (mut failures, mut played) = (String::new(), 0);
    for (name, scenario) in scenarios::all() {
        let Some(scenario) = scenario.at_once() else {
            continue;
        };
        played += 1;
        let received = play(&scenario);
        if let Err(why) = compare(&scenario, &received) {
            let err = String::from_utf8_lossy(&received.err);
            let _ = writeln!(failures, "{name} ({}): {why}\n{err}", scenario.about);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(played > 0);
}

fn play(scenario: &Scenario) -> Received {
    let library = Library::new();
    let recording = record(library.path(), &scenario.record);
    let rules = library.path().join("told.toml");
    std::fs::write(&rules, &scenario.options.rules).expect("it can be written");
    let options = options(&scenario.options, &rules.to_string_lossy());
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let mut mock = mock(&library, &recording, &options);
    for (at, value) in scenario.options.bind.values().enumerate() {
        mock.env(format!("BOUND_{at}"), value);
    }
    let said = scenario.live.iter().filter(|(_, who, _)| who == "host");
    let said: Vec<_> = said.map(|(_, _, what)| what.as_str()).collect();
    hears(&mut mock, &said)
}

/// The options of the command line for what a scenario asks for.
fn options(asked: &Asked, rules: &str) -> Vec<String> {
    let mut options = vec!["--rules".to_owned(), rules.to_owned()];
    let mut option = |name: &str, value: &str| {
        options.extend([name, value].map(str::to_owned));
    };
    if let Some(what) = &asked.on_miss {
        option("--on-miss", what);
    }
    for fault in &asked.faults {
        option("--fault", fault);
    }
    for (at, name) in asked.bind.keys().enumerate() {
        option("--bind", &format!("{name}=env:BOUND_{at}"));
    }
    let flags = [("--once", asked.once), ("--stderr", asked.stderr)];
    let flags = flags.iter().filter(|(_, asked)| *asked);
    options.extend(flags.map(|(flag, _)| (*flag).to_owned()));
    options
}

/// Whether what came is what was told, in its order.
fn compare(scenario: &Scenario, received: &Received) -> Result<(), String> {
    let (mut out, mut err) = (&*received.out, &*received.err);
    for (_, who, what) in &scenario.live {
        match who.as_str() {
            "mock" => out = after(out, &told::bytes(what))?,
            "like" => has_parts(&line(&mut out), what)?,
            "stderr" => err = after(from(err, &told::bytes(what)), &told::bytes(what))?,
            "say" => said(&mut err, what)?,
            "end" => ended(received, what)?,
            _ => {}
        }
    }
    match out {
        [] => Ok(()),
        more => Err(format!("came besides: {}", String::from_utf8_lossy(more))),
    }
}

fn after<'b>(bytes: &'b [u8], expected: &[u8]) -> Result<&'b [u8], String> {
    let missing = || {
        let [came, expected] = [bytes, expected].map(String::from_utf8_lossy);
        format!("\n  came     {came}\n  expected {expected}")
    };
    bytes.strip_prefix(expected).ok_or_else(missing)
}

/// From where `part` stands on.
fn from<'b>(bytes: &'b [u8], part: &[u8]) -> &'b [u8] {
    memchr::memmem::find(bytes, part).map_or(&[], |at| &bytes[at..])
}

/// Takes a line off.
fn line(bytes: &mut &[u8]) -> String {
    let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    let (line, rest) = bytes.split_at(end);
    *bytes = rest;
    String::from_utf8_lossy(line).into_owned()
}

/// Takes lines off until one is what was to be said.
fn said(err: &mut &[u8], what: &str) -> Result<(), String> {
    while !err.is_empty() {
        if has_parts(&line(err), what).is_ok() {
            return Ok(());
        }
    }
    Err(format!("it has not said: {what}"))
}

fn ended(received: &Received, how: &str) -> Result<(), String> {
    let status = (received.status.code(), received.status.signal());
    let expected = match how {
        "input" => (Some(0), None),
        "missed" => (Some(6), None),
        "crash" => (None, Some(number("SIGABRT"))),
        died => match died.trim_start_matches("died ") {
            signal if signal.starts_with("SIG") => (None, Some(number(signal))),
            code => (code.parse().ok(), None),
        },
    };
    if status == expected {
        return Ok(());
    }
    Err(format!("it ended with {status:?}, expected {expected:?}"))
}

fn number(name: &str) -> i32 {
    let signal: nix::sys::signal::Signal = name.parse().expect("it is a signal");
    signal as i32
}
