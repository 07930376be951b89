//! Causes that keep a server from starting, or make its start slow or noisy.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::{Cause, Evidence, Place, SECOND_NS, phrases, shutdown};
use crate::process::launcher;
use crate::quote;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;
use std::collections::BTreeSet;

/// The exit code and the message of a server that was not started.
fn not_started(facts: &Facts) -> Option<(i32, &str)> {
    match facts.end()? {
        End::NotStarted { exit_code, message } => Some((i32::from(*exit_code), message)),
        _ => None,
    }
}

fn program(facts: &Facts) -> &str {
    facts.context.argv.first().map_or("", String::as_str)
}

/// The command of the server does not exist, at least not where the host looks.
pub(super) fn server_not_found(facts: &Facts) -> Option<Cause> {
    let (_, message) = not_started(facts).filter(|(code, _)| *code == 127)?;
    let (context, program, noted) = (&facts.context, program(facts), phrases::noted(message));
    if context.executable.is_some() {
        // The file is there; what its first line names is not.
        let cause = Cause::new(Certain, noted).advise(
            "Install the program that the first line of the script names, or start the script with \
             it: that program first, then the script.",
        );
        return Some(cause.shown(phrases::end_of(facts)));
    }
    let shown = quote::text(program);
    let why = match program {
        "" if context.origin == "import" => format!("the host's log says {noted}"),
        "" => noted,
        path if path.contains('/') => {
            let cwd = context.cwd.as_deref().unwrap_or("an unknown folder");
            format!("there is no {shown}, seen from {}", quote::text(cwd))
        }
        _ => format!("{shown} is {}", where_not(facts)),
    };
    let advice = if program.contains('/') {
        "Write the whole path of the command into the host's configuration.".to_owned()
    } else {
        format!(
            "{} starts servers with its own PATH, not with that of your shell: write the whole \
             path of the command into its configuration (`command -v` in a terminal tells it), or \
             set PATH there.",
            phrases::host(&context.host)
        )
    };
    let cause = Cause::new(
        Certain,
        format!("the server's command was not found: {why}"),
    );
    Some(cause.advise(advice).shown(phrases::end_of(facts)))
}

fn where_not(facts: &Facts) -> String {
    match facts.context.path.as_deref() {
        Some(path) if !path.is_empty() => {
            // In the log of a host on Windows a semicolon separates them.
            let between = if path.contains(';') { ';' } else { ':' };
            let mut folders: Vec<_> = path.split(between).map(quote::text).collect();
            let mut told = BTreeSet::new();
            folders.retain(|folder| told.insert(folder.clone()));
            format!("in none of the folders of PATH ({})", folders.join(", "))
        }
        _ if facts.context.origin == "import" => "in no folder of its PATH".to_owned(),
        _ => "nowhere, as PATH is empty".to_owned(),
    }
}

/// The command of the server is there, but cannot be run.
pub(super) fn server_not_executable(facts: &Facts) -> Option<Cause> {
    let (_, message) = not_started(facts).filter(|(code, _)| *code == 126)?;
    let (program, message) = (quote::text(program(facts)), phrases::noted(message));
    // The message mostly begins with the program.
    let named = if message.starts_with(&program) {
        String::new()
    } else {
        format!("{program}: ")
    };
    let cause = Cause::new(
        Certain,
        format!("the server's command cannot be run: {named}{message}"),
    )
    .advise(
        "Make it executable (`chmod +x`), or start it with the program that runs such files, \
             for example `node` or `python3`; a program that was built for another machine has to \
             be built for this one.",
    );
    Some(cause.shown(phrases::end_of(facts)))
}

/// The server was not started for a reason that is neither its command nor its file.
pub(super) fn server_not_started(facts: &Facts) -> Option<Cause> {
    let (_, message) = not_started(facts).filter(|(code, _)| !matches!(code, 126 | 127))?;
    let sentence = format!("the server was not started: {}", phrases::noted(message));
    let cause = Cause::new(Certain, sentence).advise(
        "The reason is the system's, not the server's: look for limits on processes, memory and \
         open files of the host.",
    );
    Some(cause.shown(phrases::end_of(facts)))
}

/// Something was printed on stdout before the first message.
pub(super) fn banner(facts: &Facts) -> Option<Cause> {
    let banner = || facts.noise.iter().filter(|line| is_early(facts, line));
    let first = banner().find(|line| !line.text().is_empty())?;
    // A server that died at once left no time for harm, and who goes on lives with the banner.
    let is_harmless =
        died_at_start(facts).is_some() || facts.went_on() && facts.survived(first.seq);
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
    let cause = Cause::new(if is_harmless { Possible } else { Likely }, sentence)
        .advise(advice)
        .shown(banner().map(phrases::line))
        .shown_findings(facts, "noise-before-first-message");
    Some(cause)
}

/// Whether a line that is no message stands on stdout before the first message.
pub(super) fn is_early(facts: &Facts, line: &Line) -> bool {
    line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said)
}

/// The server ended before it said anything.
pub(super) fn died_at_start(facts: &Facts) -> Option<Cause> {
    let end = facts.ended_by_itself()?;
    if facts.first_said.is_some() {
        return None;
    }
    let ended = facts
        .session
        .closed_first
        .map_or(facts.now, |closed| closed.t);
    let lived = facts.session.spawned.map_or_else(String::new, |spawned| {
        format!(
            ", {} after its start and",
            duration(ended.ns_since(spawned))
        )
    });
    let sentence = format!(
        "the server {}{lived} before it answered anything{}",
        phrases::ended(end),
        phrases::stderr_says(facts)
    );
    let certainty = match end {
        End::Exited { code: 0 } if !phrases::has_last_words(facts) => Likely,
        _ => Certain,
    };
    let cause = Cause::new(certainty, sentence)
        .advise(advice(facts, end))
        .shown(phrases::stderr(facts, 4))
        .shown(phrases::end_of(facts));
    Some(cause)
}

/// Shells and `env` end with 127 where they find no program.
fn advice(facts: &Facts, end: &End) -> String {
    let advice = match end {
        End::Exited { code: 127 } => {
            return format!(
                "A program that the server's command starts was not found: {} starts servers with \
                 its own PATH, so name that program by its whole path, or set PATH in the \
                 configuration.",
                phrases::host(&facts.context.host)
            );
        }
        End::Exited { code: 126 } => {
            "A program that the server's command starts cannot be run: look at its permissions."
        }
        End::Exited { code: 0 } => {
            "The server thought that it had nothing to do: look whether its arguments make it print \
             a help or a version, or fork into the background."
        }
        _ => {
            "Run the same command in a terminal, in the same folder and with the few variables that \
             a host passes on; arguments, missing modules and missing variables are the usual \
             reasons."
        }
    };
    advice.to_owned()
}

/// From here on a start is slow, nanoseconds; the shortest limits of hosts are near.
const SLOW_NS: u64 = 5 * SECOND_NS;

/// From here on many hosts have given up, nanoseconds.
const TOO_SLOW_NS: u64 = 10 * SECOND_NS;

/// The server took long to be ready.
pub(super) fn slow_start(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let opened = facts.opened()?;
    let ready = opened.t_response_last?;
    let took_ns = ready.ns_since(spawned);
    // A host that began late is not the server's slowness.
    let own_ns = opened
        .t_response
        .map_or(0, |t| t.ns_since(opened.t_request));
    let is_slow = took_ns >= SLOW_NS && own_ns >= SLOW_NS / 2;
    if !is_slow || shutdown::answered_at_exit(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let (certainty, then) = match took_ns {
        _ if opened.status == Status::Late || left => (Certain, ", when the client had given up"),
        TOO_SLOW_NS.. => (Likely, ""),
        _ => (Possible, ""),
    };
    let first = facts.session.first_byte;
    let steps = [
        (
            "first line on stderr after",
            first.stderr.map(|t| t.ns_since(spawned)),
        ),
        (
            "first byte on stdout after",
            first.s2c.map(|t| t.ns_since(spawned)),
        ),
        ("the handshake took", facts.session.handshake_ns),
    ];
    let step = |(what, ns): (&str, Option<u64>)| Some(format!("{what} {}", duration(ns?)));
    let steps: Vec<_> = steps.into_iter().filter_map(step).collect();
    let sentence = format!(
        "the server was ready {} after its start{then}: {}",
        duration(took_ns),
        steps.join(", ")
    );
    let cause = Cause::new(certainty, sentence)
        .advise(
            "Launchers that fetch packages first (npx, uvx, docker) are the usual reason: install \
             the server and start its program itself, or raise the host's limit for starting.",
        )
        .shown_call(opened)
        .shown(
            steps
                .into_iter()
                .next()
                .map(|step| Evidence::new(Place::Session, step)),
        );
    Some(cause)
}
