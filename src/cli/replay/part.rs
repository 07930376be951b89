//! `--only`, `--until` and `--edit`: which requests are made, and with which other values.

use super::driving::{Edit, Part};
use crate::cli::exit::Failure;
use crate::cli::filter;
use anyhow::anyhow;
use mcpreel_replay::diff::{Account, Missing, Outcome, Report, Skip, Trouble};
use mcpreel_replay::player::{Guard, Wanted};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::json::{Document, Path, Step};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::escape;

/// Members that no edit changes: without them no answer can be told from another.
const FIXED: [&str; 2] = ["id", "jsonrpc"];

/// Refuses options that fit nothing in the recording.
pub fn check(part: &Part, recording: &Recording, summary: &Summary) -> Result<(), Failure> {
    if let Some(until) = part.until.filter(|until| until.0 > summary.frames) {
        return Err(Failure::Usage(format!(
            "--until: there is no #{}, the recording ends with #{}",
            until.0, summary.frames
        )));
    }
    check_only(part.only.as_deref(), recording)?;
    check_edits(part, recording)
}

/// The filter of `--only`: decides which exchanges are sent; `None` sends all. The handshake is always
/// sent: without it no legacy server answers. `keep_tools_list` sends `tools/list` too, for calls that
/// need it: a stranger's recording has no say in which tools only read.
pub fn only_filter<'r>(
    filter: Option<&str>,
    recording: &Recording,
    keep_tools_list: bool,
) -> Result<Option<Wanted<'r>>, Failure> {
    let Some(query) = filter::parse_as("--only", filter)? else {
        return Ok(None);
    };
    let fitting = filter::exchanges(recording, &query)?;
    Ok(Some(Box::new(move |exchange: &Exchange| {
        is_always_sent(&exchange.method, keep_tools_list) || fitting.contains(&exchange.id)
    })))
}

fn is_always_sent(method: &str, keep_tools_list: bool) -> bool {
    method == "initialize" || (keep_tools_list && method == "tools/list")
}

/// Whether a call that is wanted needs the server's word that its tool only reads.
pub fn needs_lists(part: &Part, recording: &Recording, guard: &Guard) -> Result<bool, Failure> {
    let Some(mut wanted) = only_filter(part.only.as_deref(), recording, false)? else {
        return Ok(false);
    };
    let refused = guard.refused_calls(recording, part.until, &mut *wanted)?;
    Ok(refused.keys().any(|tool| guard.is_claimed(tool)))
}

/// Refuses a filter that fits no request of the client: the handshake alone would be compared, and
/// found the same for ever.
fn check_only(filter: Option<&str>, recording: &Recording) -> Result<(), Failure> {
    let Some(query) = filter::parse_as("--only", filter)? else {
        return Ok(());
    };
    let fitting = filter::exchanges(recording, &query)?;
    let mut fits = false;
    recording.each_exchange(|one| {
        fits |= one.direction == Direction::ClientToServer && fitting.contains(&one.id);
    })?;
    if fits {
        return Ok(());
    }
    Err(Failure::Refused(anyhow!(
        "no request of the client fits --only {}, so there is nothing to compare",
        escape(filter.unwrap_or_default())
    )))
}

/// Reports trouble if no request picked by `--only` could be sent because the requests that it depends
/// on were left out. The handshake and `tools/list` do not count.
pub fn report_nothing_tried(report: &mut Report, keep_tools_list: bool) {
    let mut compared = report.tallies.iter().filter(|(_, it)| it.compared > 0);
    let is_unreached = |account: &Account| {
        let why = &account.outcome;
        matches!(why, Outcome::Missing(Missing::Skipped(Skip::Unreached(_))))
    };
    if report.accounts.iter().any(is_unreached)
        && compared.all(|((method, _), _)| is_always_sent(method, keep_tools_list))
    {
        let text = "nothing that fits --only could be tried: take what it needs along with `OR \
                    seq:N` in the filter, or replay all up to it with --until";
        report.troubles.push((Trouble::Unreadable, text.into()));
    }
}

/// Each edit has to be of a request that is there and is sent, and has to find its place in it.
fn check_edits(part: &Part, recording: &Recording) -> Result<(), Failure> {
    let mut edits: Vec<_> = part.edit.iter().collect();
    edits.sort_by_key(|edit| edit.seq);
    let mut wanted = only_filter(part.only.as_deref(), recording, false)?;
    for edit in edits {
        let mut requests = recording.exchanges_of_frame(edit.seq)?;
        requests.retain(|exchange| exchange.request.0 == edit.seq);
        let mut is_sent = |one: &Exchange| wanted.as_mut().is_none_or(|is_wanted| is_wanted(one));
        let first = edit.path.steps().first();
        let is_fixed = |name: &&str| first == Some(&Step::Member((*name).into()));
        let why = if requests.is_empty() {
            "it is no request of the recording"
        } else if part.until.is_some_and(|until| edit.seq > until)
            || !requests.iter().any(&mut is_sent)
        {
            "it is not sent: it comes after --until, or does not fit --only"
        } else if FIXED.iter().any(is_fixed) {
            "that member belongs to the protocol, and is not edited"
        } else if !has_place(edit, recording)? {
            "the request has no such place"
        } else {
            continue;
        };
        let (seq, path) = (edit.seq.0, edit.path.to_string());
        let message = format!("--edit #{seq} {}: {why}", escape(&path));
        return Err(Failure::Usage(message));
    }
    Ok(())
}

/// Whether an edit finds its place in a request: a value, or an object that has no such member yet.
fn has_place(edit: &Edit, recording: &Recording) -> Result<bool, Failure> {
    let raw = recording.message_bytes(edit.seq, 0)?.unwrap_or_default();
    let Ok(document) = Document::parse(&raw) else {
        return Ok(false);
    };
    let message = document.root();
    if edit.path.first(message).is_some() {
        return Ok(true);
    }
    let Some((Step::Member(name), above)) = edit.path.steps().split_last() else {
        return Ok(false);
    };
    let parent = Path::new(above.to_vec()).first(message);
    let may_have = !above.is_empty() || &**name == "params";
    Ok(may_have && parent.is_some_and(|parent| parent.is_object()))
}
