//! A file, written as it was ordered.

use super::{End, File, Means, What};
use crate::worker::export::Done;
use mcpreel_redact::{Policy, Report};
use mcpreel_share::export::Selection;
use mcpreel_share::export::otlp::Bodies;
use mcpreel_share::outgoing::file::{Counted, Whole};
use mcpreel_share::outgoing::told::{in_words, said};
use mcpreel_share::outgoing::{self, Error, Format, Stage, Tell};
use mcpreel_store::library::{Entry, Standing};
use mcpreel_store::reader::Recording;
use mcpreel_store::select::{self, Question};
use mcpreel_trace::clock::{Moment, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{escape, plural, size};
use std::path::Path;
use std::sync::Arc;

/// What of a recording is marked, as a filter.
const MARKED: &str = "is:marked";

/// Writes it; it appears when it is whole.
pub(super) fn write(
    recording: &Recording,
    file: &File,
    reel: &Path,
    means: &Means,
    tell: &mut Tell<'_>,
) -> Result<Done, End> {
    let target = std::path::absolute(&file.target).unwrap_or_else(|_| file.target.clone());
    let is_live = Entry::read(reel).standing == Standing::Live;
    let began = recording.summary().map_err(Error::from)?.wall_ns;
    let selection = selection(recording, &file.what, is_live)?;
    let policy = (!file.is_raw).then(|| super::policy(means)).transpose()?;
    let mut whole = Whole::begin(&target, reel, file.may)?;
    let poured = if file.format == Format::Recording {
        copied(
            recording,
            (&selection, policy.as_ref()),
            &target,
            &whole,
            tell,
        )?
    } else {
        let order = outgoing::Order {
            format: file.format,
            bodies: Bodies::Without,
            selection: &selection,
            now: is_live.then(|| Moment(wall_clock_ns().saturating_sub(began))),
            policy,
        };
        formatted(recording, &order, &target, &mut whole, tell)?
    };
    // Whoever stopped it meanwhile does not want the file.
    tell(Stage::Written(Seq(u64::MAX))).map_err(Error::from)?;
    whole.finish()?;
    let Poured {
        said,
        bytes,
        report,
    } = poured;
    let mut told = format!("{said}; {}", in_words(report.as_ref(), file.format));
    if is_live {
        told.push_str("; it is still recorded: what comes from now on is not in it");
    }
    let (bytes, name) = (size(bytes), shown(&file.target));
    let short = format!("{bytes} in {name}, {}", places(report.as_ref()));
    Ok(Done { told, short })
}

struct Poured {
    /// Its path and what is in it, in words.
    said: String,
    bytes: u64,
    /// What was replaced, unless it is raw.
    report: Option<Report>,
}

fn copied(
    recording: &Recording,
    what: (&Selection, Option<&Arc<Policy>>),
    target: &Path,
    whole: &Whole,
    tell: &mut Tell<'_>,
) -> Result<Poured, End> {
    let draft = whole.draft.path();
    let report = outgoing::copy(recording, what, draft, tell)?;
    let bytes = draft.metadata().map_err(Error::from)?.len();
    let frames = Recording::open(draft)?.summary()?.frames;
    let (name, frames) = (shown(target), plural(frames, "frame"));
    Ok(Poured {
        said: format!("{name}: {frames}, {}", size(bytes)),
        bytes,
        report,
    })
}

fn formatted(
    recording: &Recording,
    order: &outgoing::Order<'_>,
    target: &Path,
    whole: &mut Whole,
    tell: &mut Tell<'_>,
) -> Result<Poured, End> {
    let mut out = Counted::new(&mut whole.draft);
    let (written, report) = outgoing::write(recording, order, &mut out, tell)?;
    let bytes = out.bytes();
    out.into_inner().map_err(Error::from)?;
    Ok(Poured {
        said: said(target, order.format, &written, bytes),
        bytes,
        report,
    })
}

fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy()).into_owned()
}

/// In how many places it was redacted.
fn places(report: Option<&Report>) -> String {
    let Some(report) = report else {
        return "not redacted".to_owned();
    };
    let mut text = format!("redacted in {}", plural(report.hits(), "place"));
    if !report.left.is_empty() {
        let frames = plural(report.left.len() as u64, "frame");
        text = format!("{text}, {frames} left out");
    }
    text
}

/// What is written. Nothing at all is refused: it would be an empty file.
fn selection(recording: &Recording, what: &What, is_live: bool) -> Result<Selection, End> {
    let all = Selection::between(None, None);
    let rows = |text: &str, question: &Question| {
        let mut selection = all.clone().picked(text);
        let context = select::context(&recording.summary()?, is_live.then(wall_clock_ns));
        outgoing::pick_rows(recording, question, context, &mut selection)?;
        Ok::<_, End>(selection)
    };
    let selection = match what {
        What::All => return Ok(all),
        What::Rows(text, question) => rows(text, question)?,
        What::Marked => {
            let query = Query::parse(MARKED).map_err(|error| End::Failed(error.message))?;
            let question = Question {
                query,
                ..Question::default()
            };
            rows(MARKED, &question)?
        }
        What::Exchange(request) => {
            let (seq, _) = request;
            let mut selection = all.picked(&format!("seq:{}", seq.0));
            let found = recording.exchanges_of_frame(*seq)?;
            for exchange in found.iter().filter(|one| one.request == *request) {
                for seq in recording.frames_of_exchange(exchange.id)? {
                    selection.pick_frame(seq);
                }
            }
            selection
        }
    };
    if selection.is_empty() {
        let why = "nothing on record fits, so nothing was written";
        return Err(End::Failed(why.to_owned()));
    }
    Ok(selection)
}
