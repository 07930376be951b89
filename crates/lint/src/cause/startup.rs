//! Causes that keep a server from starting, or make its start slow or noisy.

use super::facts::{Facts, Line};
use super::{Cause, Certainty, Evidence, Place, named, phrases, shutdown};
use crate::process::launcher;
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;
use std::collections::BTreeSet;

/// The command of the server does not exist, at least not where the host looks.
pub(super) fn server_not_found(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted {
        exit_code: 127,
        message,
    }) = facts.end()
    else {
        return None;
    };
    if is_imported(facts) && facts.context.argv.is_empty() {
        return Some(logged(facts, message));
    }
    let program = facts.context.argv.first().map_or("", String::as_str);
    let (shown, host) = (quote::text(program), phrases::host(&facts.context.host));
    let cause = if facts.context.executable.is_some() {
        // The file is there; what its first line names is not.
        Cause::certain(phrases::noted(message)).advise(
            "Install the program that the first line of the script names, or start the script with \
             it: that program first, then the script.",
        )
    } else if program.is_empty() {
        // Only what a log tells is known.
        let sentence = format!(
            "the server's command was not found: {}",
            phrases::noted(message)
        );
        Cause::certain(sentence).advise(format!(
            "{host} starts servers with its own PATH, not with that of your shell: write the whole \
             path of the command into its configuration."
        ))
    } else if program.contains('/') {
        let cwd = facts.context.cwd.as_deref().unwrap_or("an unknown folder");
        let sentence = format!(
            "the server's command was not found: there is no {shown}, seen from {}",
            quote::text(cwd)
        );
        Cause::certain(sentence)
            .advise("Write the whole path of the command into the host's configuration.")
    } else {
        let sentence = format!(
            "the server's command was not found: {shown} is {}",
            where_not(facts)
        );
        Cause::certain(sentence).advise(format!(
            "{host} starts servers with its own PATH, not with that of your shell: write the whole \
             path of the command into its configuration (`command -v` in a terminal tells it), or \
             set PATH there."
        ))
    };
    Some(cause.shown(phrases::end_of(facts)))
}

/// What the log of its host says, where that is all there is.
fn logged(facts: &Facts, message: &str) -> Cause {
    let sentence = format!(
        "the server's command was not found: the host's log says {}",
        phrases::noted(message)
    );
    let cause = Cause::certain(sentence).advise(
        "Hosts start servers with a PATH of their own, not with that of your shell: write the whole \
         path of the command into the host's configuration (`command -v` in a terminal tells it), or \
         set PATH there.",
    );
    cause.shown(phrases::end_of(facts))
}

/// Whether it was made from a log, which does not tell all that a recorder would know.
fn is_imported(facts: &Facts) -> bool {
    facts.context.origin == "import"
}

fn where_not(facts: &Facts) -> String {
    let path = facts.context.path.as_deref();
    match path.filter(|path| !path.is_empty()) {
        Some(path) => {
            // A log of a host on Windows has them as they are written there.
            let between = if path.contains(';') { ';' } else { ':' };
            let mut folders: Vec<_> = path.split(between).map(quote::text).collect();
            // A path that was put together by several has some of them twice.
            let mut told = BTreeSet::new();
            folders.retain(|folder| told.insert(folder.clone()));
            format!("in none of the folders of PATH ({})", folders.join(", "))
        }
        None if is_imported(facts) => "in no folder of its PATH".to_owned(),
        None => "nowhere, as PATH is empty".to_owned(),
    }
}

/// The command of the server is there, but cannot be run.
pub(super) fn server_not_executable(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted {
        exit_code: 126,
        message,
    }) = facts.end()
    else {
        return None;
    };
    let (program, message) = (program(facts), phrases::noted(message));
    // What is noted mostly begins with it.
    let named = if message.starts_with(&program) {
        String::new()
    } else {
        format!("{program}: ")
    };
    let sentence = format!("the server's command cannot be run: {named}{message}");
    let cause = Cause::certain(sentence).advise(
        "Make it executable (`chmod +x`), or start it with the program that runs such files, for \
         example `node` or `python3`; a program that was built for another machine has to be built \
         for this one.",
    );
    Some(cause.shown(phrases::end_of(facts)))
}

fn program(facts: &Facts) -> String {
    quote::text(facts.context.argv.first().map_or("", String::as_str))
}

/// The server was not started for a reason that is neither its command nor its file.
pub(super) fn server_not_started(facts: &Facts) -> Option<Cause> {
    let Some(End::NotStarted { exit_code, message }) = facts.end() else {
        return None;
    };
    if matches!(exit_code, 126 | 127) {
        return None;
    }
    let sentence = format!("the server was not started: {}", phrases::noted(message));
    let cause = Cause::certain(sentence).advise(
        "The reason is the system's, not the server's: look for limits on processes, memory and \
         open files of the host.",
    );
    Some(cause.shown(phrases::end_of(facts)))
}

/// Something was printed on stdout before the first message.
pub(super) fn banner_before_first_message(facts: &Facts) -> Option<Cause> {
    let banner: Vec<_> = early(facts).collect();
    let first = banner.iter().find(|line| !line.text().is_empty())?;
    // Who died at once left it no time to do harm, and who goes on lives with it.
    let is_harmless =
        died_at_start(facts).is_some() || facts.went_on() && facts.survived(first.seq);
    let certainty = if is_harmless {
        Certainty::Possible
    } else {
        Certainty::Likely
    };
    let sentence = format!(
        "the server printed \"{}\" on stdout before its first message; stdout carries nothing but \
         messages, and strict clients give up at such a line",
        phrases::said(first)
    );
    let advice = match launcher(first.text()) {
        Some(launcher) => format!(
            "It looks like {launcher}: start the server's program itself in the host's \
             configuration, or silence the launcher."
        ),
        None => "Print it on stderr, or not at all; look for it in what starts the server too."
            .to_owned(),
    };
    let cause = Cause::new(certainty, sentence).advise(advice);
    let cause = cause.shown(banner.into_iter().map(phrases::line));
    let found = facts.found(named::NOISE_BEFORE_FIRST_MESSAGE);
    Some(cause.shown(found.into_iter().flat_map(phrases::findings)))
}

/// What stands on stdout before the first message.
fn early(facts: &Facts) -> impl Iterator<Item = &Line> {
    facts.noise.iter().filter(|line| is_early(facts, line))
}

/// Whether a line that is no message stands on stdout before the first message.
pub(super) fn is_early(facts: &Facts, line: &Line) -> bool {
    line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said)
}

/// The server ended before it said anything.
pub(super) fn died_at_start(facts: &Facts) -> Option<Cause> {
    let end = facts.end()?;
    let is_end = matches!(end, End::Exited { .. } | End::Killed { .. }) || facts.ended_somehow();
    if !is_end || facts.first_said.is_some() || facts.was_told_to_end() {
        return None;
    }
    let lived = facts.session.spawned.map(|Moment(t)| t);
    let lived = lived.map_or_else(String::new, |t| {
        let lived = duration(ended_at(facts).0.saturating_sub(t));
        format!(", {lived} after its start and")
    });
    let sentence = format!(
        "the server {}{lived} before it answered anything{}",
        phrases::ended(end),
        phrases::stderr_says(facts)
    );
    let certainty = match end {
        End::Exited { code: 0 } if !phrases::has_last_words(facts) => Certainty::Likely,
        _ => Certainty::Certain,
    };
    let cause = Cause::new(certainty, sentence).advise(advice(facts, end));
    let cause = cause.shown(phrases::stderr(facts, 4));
    Some(cause.shown(phrases::end_of(facts)))
}

fn ended_at(facts: &Facts) -> Moment {
    let closed = facts.session.closed_first.map(|closed| closed.t);
    closed.unwrap_or(facts.now)
}

/// Shells and `env` end with 127 where they find no program.
fn advice(facts: &Facts, end: &End) -> String {
    let host = phrases::host(&facts.context.host);
    match end {
        End::Exited { code: 127 } => format!(
            "A program that the server's command starts was not found: {host} starts servers with \
             its own PATH, so name that program by its whole path, or set PATH in the configuration."
        ),
        End::Exited { code: 126 } => {
            "A program that the server's command starts cannot be run: look at its permissions."
                .to_owned()
        }
        End::Exited { code: 0 } => {
            "The server thought that it had nothing to do: look whether its arguments make it print \
             a help or a version, or fork into the background."
                .to_owned()
        }
        _ => "Run the same command in a terminal, in the same folder and with the few variables \
              that a host passes on; arguments, missing modules and missing variables are the usual \
              reasons."
            .to_owned(),
    }
}

/// From here on a start is slow, nanoseconds; the shortest limits of hosts are near.
const SLOW_NS: u64 = 5_000_000_000;

/// From here on many hosts have given up, nanoseconds.
const TOO_SLOW_NS: u64 = 10_000_000_000;

/// The server took long to be ready.
pub(super) fn slow_start(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let opened = facts.opened()?;
    let ready = opened.t_response_last?;
    let took_ns = ready.0.saturating_sub(spawned.0);
    // A host that began late is not the server's slowness.
    let own_ns = opened
        .t_response
        .map_or(0, |t| t.0.saturating_sub(opened.t_request.0));
    let is_slow = took_ns >= SLOW_NS && own_ns >= SLOW_NS / 2;
    if !is_slow || shutdown::answered_at_exit(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let (certainty, then) = match took_ns {
        _ if opened.status == Status::Late || left => {
            (Certainty::Certain, ", when the client had given up")
        }
        TOO_SLOW_NS.. => (Certainty::Likely, ""),
        _ => (Certainty::Possible, ""),
    };
    let steps = steps(facts, spawned);
    let sentence = format!(
        "the server was ready {} after its start{then}: {}",
        duration(took_ns),
        steps.join(", ")
    );
    let cause = Cause::new(certainty, sentence).advise(
        "Launchers that fetch packages first (npx, uvx, docker) are the usual reason: install the \
         server and start its program itself, or raise the host's limit for starting.",
    );
    let first = steps.into_iter().next();
    let first = first.map(|step| Evidence::new(Place::Session, step));
    Some(cause.shown_call(opened).shown(first))
}

/// What came when after the start.
fn steps(facts: &Facts, spawned: Moment) -> Vec<String> {
    let first = facts.session.first_byte;
    let at = |what: &str, t: Option<Moment>| {
        t.map(|t| format!("{what} after {}", duration(t.0.saturating_sub(spawned.0))))
    };
    let handshake = facts.session.handshake_ns;
    let handshake = handshake.map(|ns| format!("the handshake took {}", duration(ns)));
    let steps = [
        at("first line on stderr", first.stderr),
        at("first byte on stdout", first.s2c),
        handshake,
    ];
    steps.into_iter().flatten().collect()
}
