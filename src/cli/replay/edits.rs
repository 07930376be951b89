//! `--edit`: whether it can be done. An edit that changes nothing would be taken for one that
//! changes no answer.

use super::only;
use crate::cli::args::{Edit, Part};
use crate::cli::exit::Failure;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::json::{Document, Kind, Path, Step, Value};
use mcpreel_wire::text::escape;

/// What no edit changes: without it no answer can be told from another.
const FIXED: [&str; 2] = ["id", "jsonrpc"];

/// Each edit has to be of a request that is there and is sent, and has to find its place in it.
pub fn check(part: &Part, recording: &Recording) -> Result<(), Failure> {
    let mut edits: Vec<_> = part.edit.iter().collect();
    edits.sort_by_key(|edit| edit.seq);
    let mut wanted = only::wanted(part.only.as_deref(), recording, false)?;
    for edit in edits {
        let seq = edit.seq.0;
        let requests: Vec<_> = recording
            .exchanges_of_frame(edit.seq)?
            .into_iter()
            .filter(|exchange| exchange.request.0 == edit.seq)
            .collect();
        let mut is_sent = |one: &Exchange| wanted.as_mut().is_none_or(|is_wanted| is_wanted(one));
        let why = if requests.is_empty() {
            format!("#{seq} is no request of the recording")
        } else if part.until.is_some_and(|until| edit.seq > until) {
            format!("#{seq} is not sent: it comes after --until")
        } else if !requests.iter().any(&mut is_sent) {
            format!("#{seq} is not sent: it does not fit --only")
        } else {
            match fault(edit, &requests, recording)? {
                None => continue,
                Some(why) => format!("#{seq}: {why}"),
            }
        };
        return Err(Failure::Usage(format!("--edit: {why}")));
    }
    Ok(())
}

/// Why an edit has no place in any of the requests of its frame.
fn fault(
    edit: &Edit,
    requests: &[Exchange],
    recording: &Recording,
) -> Result<Option<String>, Failure> {
    let first = edit.path.steps().first();
    let is_first = |name: &&str| first == Some(&Step::Member((*name).into()));
    if let Some(name) = FIXED.into_iter().find(is_first) {
        let why = format!("{name} belongs to the protocol, and is not edited");
        return Ok(Some(why));
    }
    let raw = recording.raw(edit.seq)?;
    let Ok(document) = Document::parse(raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&raw)) else {
        return Ok(Some(
            "the request is not on record as it was sent".to_owned(),
        ));
    };
    let root = document.root();
    let mut why = None;
    for request in requests {
        let message = match root.kind() {
            Kind::Array => root.index(request.request.1 as usize),
            _ => Some(root),
        };
        match message.and_then(|message| no_place(message, &edit.path)) {
            None => return Ok(None),
            fault => why = fault,
        }
    }
    Ok(why)
}

/// Why nothing can be put at `path`; `None` where there is a value, or an object that has no such
/// member yet.
fn no_place(message: Value<'_>, path: &Path) -> Option<String> {
    let steps = path.steps();
    for (taken, step) in (0..).zip(steps) {
        let above = Path::new(steps[..taken].to_vec());
        let parent = above.first(message)?;
        if Path::new(steps[..=taken].to_vec()).first(message).is_some() {
            continue;
        }
        let above = match taken {
            0 => "the request".to_owned(),
            _ => escape(&above.to_string()).into_owned(),
        };
        let is_last = taken + 1 == steps.len();
        return match (step, parent.kind()) {
            (Step::Member(name), Kind::Object) if is_last && (taken > 0 || &**name == "params") => {
                None
            }
            (Step::Member(name), Kind::Object) => {
                let params = message.get("params").filter(|_| taken == 0);
                let meant = params.and_then(|params| params.get(name));
                let name = escape(name);
                let hint = meant.map_or_else(String::new, |_| format!("; it has params.{name}"));
                Some(format!("{above} has no {name}{hint}"))
            }
            (Step::Element(index), Kind::Array) => Some(format!("{above} has no element {index}")),
            (step, kind) => Some(format!(
                "{above} is of the type {}, and has no {}",
                kind.as_str(),
                escape(&Path::new(vec![step.clone()]).to_string())
            )),
        };
    }
    None
}
