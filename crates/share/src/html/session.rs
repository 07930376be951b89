//! The session as a whole: who, which versions, how it ended, why.

use super::block::Blocks;
use crate::export::{Excerpt, ExportError};
use crate::phrases;
use crate::phrases::phrases_session::{self, Facts};
use mcpreel_lint::cause::{Cause, Evidence, Place, causes};
use mcpreel_store::reader::Summary;
use mcpreel_store::schema::State;
use mcpreel_trace::event::ProcessContext;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{cut, escape, plural, size};
use serde_json::{Value, json};
use std::io::Write;

/// Columns of a text about the session.
const TEXT: usize = 600;

pub(super) fn write(excerpt: &Excerpt<'_>, out: &mut impl Write) -> Result<(), ExportError> {
    let summary = excerpt.recording.summary()?;
    let all = causes(&excerpt.recording.facts(excerpt.now)?);
    let found = all.len();
    let causes = all.into_iter().filter(|one| is_shown(excerpt, one));
    let causes: Vec<_> = causes.collect();
    let left_out = found - causes.len();
    let mut facts = phrases_session::facts(&summary, excerpt.recording)?;
    phrases_session::name_clients(&mut facts, &excerpt.recording.conversations()?);
    // The badge of the page says that.
    facts.retain(|(name, _)| *name != "redacted");
    let recorder = match summary.context.mcpreel.as_str() {
        "" => "unknown".to_owned(),
        version => format!("mcpreel {}", escape(version)),
    };
    facts.push(("recorded by", recorder));
    facts.push((
        "page by",
        concat!("mcpreel ", env!("CARGO_PKG_VERSION")).to_owned(),
    ));
    let mut session = session((&summary, facts), &causes, left_out);
    session["now"] = json!(excerpt.now.map(|now| now.0));
    session["notices"] = json!(notices(excerpt, &summary)?);
    let mut blocks = Blocks::new(out, "session");
    blocks.push(&session)?;
    Ok(blocks.finish()?)
}

/// Whether the page has all that shows a cause: of a part of a recording nothing is told that
/// whoever selected it has left out.
fn is_shown(excerpt: &Excerpt<'_>, cause: &Cause) -> bool {
    let has = |evidence: &Evidence| match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) => excerpt.has(seq),
        Place::Event { .. } | Place::Session => false,
    };
    !excerpt.is_cut() || (!cause.evidence.is_empty() && cause.evidence.iter().all(has))
}

fn session((summary, facts): (&Summary, Facts), causes: &[Cause], causes_left_out: usize) -> Value {
    let session = &summary.session;
    let eras: Vec<_> = session.eras.iter().map(|era| era.as_str()).collect();
    // Texts are escaped. Counts are those of the whole recording, whatever is selected.
    json!({
        "id": summary.id,
        "title": short(&phrases::recording::title_of(summary)),
        "client": phrases::peer(&session.client).map(|who| short(&who)),
        "state": summary.state.as_str(),
        // 0 where that is not known.
        "wall_ms": summary.wall_ns / 1_000_000,
        "t_last": summary.t_last_ns,
        "asked": session.version_asked,
        "agreed": session.version_agreed,
        "eras": eras,
        "phase": session.phase.as_str(),
        "ended": session.phase.end().map(|end| ended(end, &summary.context)),
        "redaction": summary.redaction,
        "facts": facts,
        "causes": causes.iter().map(cause).collect::<Vec<_>>(),
        "causes_left_out": causes_left_out,
    })
}

/// Warnings that a reader must see before trusting the rest.
fn notices(excerpt: &Excerpt<'_>, summary: &Summary) -> Result<Vec<String>, ExportError> {
    let part = excerpt.selection.note().map(|note| {
        let (only, frames) = (phrases_session::only(note), plural(summary.frames, "frame"));
        format!("a part of the recording: {only}; the whole has {frames}")
    });
    let gap = (summary.gap_bytes > 0).then(|| {
        let bytes = size(summary.gap_bytes);
        format!("{bytes} that were forwarded are not on record")
    });
    let state = match (summary.state, excerpt.now) {
        (_, Some(now)) => Some(phrases_session::live(now)),
        (State::Recovered, None) => {
            Some("the recorder was interrupted; completed from its spool".to_owned())
        }
        (State::Live | State::Pending, None) => {
            Some("written while it was still being recorded: it may be short".to_owned())
        }
        (State::Complete, None) => None,
    };
    let is_untimed = excerpt.recording.is_untimed()?;
    let times = is_untimed.then(|| format!("times: {}", phrases::UNTIMED));
    let note = summary.note.as_deref();
    let note = note.map(|note| format!("note: {}", escape(note)));
    let all = [part, gap, state, times, note];
    Ok(all.into_iter().flatten().collect())
}

/// The beginning of a text about a peer, for the head of the page: the frames have all of it.
fn short(text: &str) -> String {
    cut(text, TEXT)
}

fn ended(end: &End, context: &ProcessContext) -> Value {
    let how = match end {
        End::Unknown if context.url.is_none() => "unknown",
        End::Exited { code: 0 } | End::Unknown => "good",
        End::Exited { .. } | End::Killed { .. } | End::NotStarted { .. } => "bad",
    };
    json!({"short": phrases::end_short(end, context), "how": how})
}

fn cause(cause: &Cause) -> Value {
    let shown = |evidence: &Evidence| {
        let t = match evidence.place {
            Place::Event { t, .. } => Some(t.0),
            Place::Frame(_) | Place::Stderr(_) | Place::Session => None,
        };
        json!({"n": evidence.place.frame().map(|seq| seq.0), "t": t, "text": evidence.text})
    };
    json!({
        "certainty": cause.certainty.as_str(),
        "means": cause.certainty.help(),
        "trouble": cause.is_trouble(),
        "shown": cause.evidence.iter().map(shown).collect::<Vec<_>>(),
        "sentence": cause.sentence,
        "advice": cause.advice,
    })
}
