//! Causes in how the server's process starts: it did not, or slowly, or noisily, or ended at once.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::stderr_lines::LastWords;
use super::{Cause, Evidence, Place, SECOND_NS, ending, phrases};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::{End, Side};
use mcpreel_wire::text::duration;

/// The server was not started, for the reason that its exit code tells: that of `meant`, or of any other
/// code.
pub(super) fn not_started(facts: &Facts, meant: Option<u8>) -> Option<Cause> {
    let Some(End::NotStarted { exit_code, message }) = facts.end() else {
        return None;
    };
    let (what, advice) = match exit_code {
        127 => (
            "the server's command was not found",
            "Hosts have a PATH of their own, not your shell's: write the whole path of the command \
             (`command -v`) into the host's configuration, or set PATH there. The first line of a \
             script names a program that has to be found too.",
        ),
        126 => (
            "the server's command cannot be run",
            "Make it executable (`chmod +x`), start it with its interpreter (`node`, `python3`), or \
             build it for this machine.",
        ),
        _ => (
            "the server was not started",
            "The system refused: check the limits on processes, memory and open files.",
        ),
    };
    let sentence = format!("{what}: {}", phrases::noted(message));
    let searched = facts.events.iter().filter_map(|event| match &event.kind {
        EventKind::SpawnFailed { searched, .. } => searched.as_deref(),
        _ => None,
    });
    let searched = searched.map(|it| Evidence::new(Place::Session, format!("searched {it}")));
    let cause = Cause::new(Certain, sentence, advice)
        .shown(phrases::end_of(facts))
        .shown(searched);
    let told = Some(*exit_code).filter(|code| matches!(code, 126 | 127));
    (told == meant).then_some(cause)
}

/// Something was printed on stdout before the first message.
pub(super) fn banner(facts: &Facts) -> Option<Cause> {
    let mut banner = facts.logged().filter(|line| is_early(facts, line));
    let first = banner.clone().find(|line| !line.text().is_empty())?;
    // A server that died at once left no time for harm, and a host that goes on has passed over the banner.
    let is_harmless = died_at_start(facts).is_some() || facts.went_on && facts.survived(first.seq);
    let sentence = format!(
        "the server printed \"{}\" on stdout before its first message; strict clients close the connection at a line that is no message",
        phrases::said(first)
    );
    let advice = "Print it on stderr. Where a launcher prints it (npx, uvx, npm run), start the server's \
                  program itself, or silence the launcher.";
    let certainty = if is_harmless { Possible } else { Likely };
    let cause = Cause::new(certainty, sentence, advice_on(first, advice));
    Some(cause.shown(banner.by_ref().map(phrases::line)))
}

/// The advice on a line that is no message, which may have been meant for one.
pub(super) fn advice_on(line: &Line, other: &'static str) -> &'static str {
    let is_dict = line.text().starts_with(b"{'jsonrpc':");
    if !is_dict {
        return other;
    }
    "This is a Python dict: write messages with `json.dumps(message)`, and all else on stderr."
}

/// Whether a line that is no message stands on stdout before the first message.
pub(super) fn is_early(facts: &Facts, line: &Line) -> bool {
    line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said)
}

/// How a server failed of which the host asked nothing, and which tells an error that is not the end of its
/// input: that the host has left is not the reason.
fn failed_unasked(facts: &Facts) -> Option<&End> {
    let end = facts.end().filter(|end| ending::has_bad_code(end))?;
    let words = LastWords::of(facts, None);
    let said = String::from_utf8_lossy(words.telling()?.text()).to_lowercase();
    let is_of_input = ["closed", "eof", "end of"]
        .iter()
        .any(|word| said.contains(word));
    let is_unasked = facts.session.first_byte.c2s.is_none();
    let is_exit = matches!(facts.stop()?.kind, EventKind::Exit { .. });
    (is_unasked && is_exit && words.names_fault && !is_of_input).then_some(end)
}

/// The server ended before it said anything.
pub(super) fn died_at_start(facts: &Facts) -> Option<Cause> {
    let end = facts.ended_by_itself().or_else(|| failed_unasked(facts))?;
    if facts.first_said.is_some() {
        return None;
    }
    let closed = facts.session.closed_first;
    let closed = closed.filter(|closed| closed.by == Side::Server);
    let closed = closed.map(|closed| closed.t);
    let closed = closed.or_else(|| Some(facts.stop()?.t));
    let closed = closed.unwrap_or(facts.now);
    let lived = facts.session.spawned.map_or_else(String::new, |spawned| {
        let lived = duration(closed.ns_since(spawned));
        format!(", {lived} after its start and")
    });
    let stderr_says = phrases::stderr_says(facts, None);
    let certainty = match end {
        End::Exited { code: 0 } if stderr_says.is_empty() => Likely,
        _ => Certain,
    };
    let (server, ended) = (phrases::server(facts), phrases::ended(end));
    let (sentence, advice) = match end {
        End::Exited { code: 2 } if facts.context.bridged_url().is_some() => (
            format!("mcpreel could not start{stderr_says}"),
            "Its options stand in the server's entry in the host's configuration. A variable that a header \
             uses, or the value in its place, belongs in the entry's `env`: hosts pass few of their own.",
        ),
        _ => (
            format!("{server} {ended}{lived} before it answered anything{stderr_says}"),
            advice_on_words(end, &stderr_says),
        ),
    };
    let cause = Cause::new(certainty, sentence, advice);
    let cause = cause.shown(phrases::stderr(facts, None, 4));
    Some(cause.shown(phrases::end_of(facts)))
}

/// What to do about a server that ended at its start, by what it said.
fn advice_on_words(end: &End, said: &str) -> &'static str {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let of_arguments = [
        "unrecognized arguments",
        "nexpected argument",
        "nknown option",
        "o such option",
    ];
    // An attribute may be missing for any reason, but not one of a module or of a class of the SDK.
    let owners = ["module '", "'Server' object", "'FastMCP' object"];
    let lacks_attribute = said.contains("has no attribute") && has(&owners);
    let lacks_name = has(&["cannot import name", "does not provide an export"]);
    if has(&of_arguments) {
        "The server does not know one of its arguments, which stand in the host's configuration: \
         compare them with the server's `--help`."
    } else if lacks_attribute || lacks_name {
        "Probably the server does not fit the version of a library that is installed with it: try an older \
         or newer version of one of the two, and write that version into the host's configuration."
    } else if *end == (End::Exited { code: 127 }) {
        "127 says that a program was not found: hosts have a PATH of their own, not your shell's."
    } else {
        "Run the command in a terminal, in the same folder and with as few variables. Usual reasons are \
         arguments, missing modules and missing variables."
    }
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
    let own_ns = opened.t_response?.ns_since(opened.t_request);
    if took_ns < SLOW_NS || own_ns < SLOW_NS / 2 || ending::answered_at_exit(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let (certainty, then) = match took_ns {
        _ if opened.status == Status::Late || left => (Certain, ", when the client had given up"),
        TOO_SLOW_NS.. => (Likely, ""),
        _ => (Possible, ""),
    };
    let cause = Cause::new(
        certainty,
        format!(
            "the server was ready {} after its start{then}",
            duration(took_ns)
        ),
        "Launchers that fetch packages (npx, uvx, docker) are slow: install the server and start its \
         program itself, or raise the host's timeout.",
    );
    Some(cause.shown_call(opened))
}
