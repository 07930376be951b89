//! A recording as a whole: who spoke, what they agreed on, how it ended.

use super::rows::each_event;
use crate::cli::exit::Failure;
use crate::cli::json;
use crate::cli::output::{Ink, Output};
use crate::cli::select;
use mcpreel_share::phrases::{self, session, when};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_wire::text::{clock, escape, pad_end};
use serde::Serialize;
use serde_json::Value;

/// The summary as one JSON object.
#[derive(Serialize)]
struct Whole {
    path: String,
    #[serde(flatten)]
    summary: Value,
}

/// Writes the summary as one JSON object.
pub fn json(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let summary = recording.summary()?;
    let state = select::state(recording, &summary);
    let mut summary = serde_json::to_value(summary).map_err(anyhow::Error::from)?;
    summary["state"] = state.into();
    if let Some(context) = summary.get_mut("context") {
        json::unknown(context);
    }
    summary["redaction"] = json::redaction(summary["redaction"].as_str()).into();
    for side in ["client", "server"] {
        let Some(capabilities) = summary.pointer_mut(&format!("/session/{side}/capabilities"))
        else {
            continue;
        };
        // On record as the text from the wire; what is no JSON stays text.
        let parsed = capabilities
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        *capabilities = parsed.unwrap_or_else(|| capabilities.take());
    }
    let path = recording.path().to_string_lossy().into_owned();
    Ok(out.json(&Whole { path, summary })?)
}

/// Writes the summary for people.
pub fn write(recording: &Recording, out: &mut Output) -> Result<(), Failure> {
    let summary = recording.summary()?;
    let title = format!("{}  {}", summary.id, escape(&summary.name));
    out.line(&format!(
        "{}  {}",
        out.paint(Ink::Strong, &title),
        select::state(recording, &summary)
    ))?;
    let mut facts = Vec::new();
    whole(recording, &summary, &mut facts);
    facts.extend(session::facts(&summary, recording.given_up_count()?));
    for (name, value) in facts {
        out.line(&format!(
            "{}{value}",
            out.paint(Ink::Faint, &pad_end(name, 11))
        ))?;
    }
    for remark in remarks(recording)? {
        out.line(&format!(
            "{}{remark}",
            out.paint(Ink::Warn, &pad_end("remark", 11))
        ))?;
    }
    Ok(())
}

fn whole(recording: &Recording, summary: &Summary, facts: &mut session::Facts) {
    let path = recording.path().to_string_lossy();
    facts.push(("file", escape(&path).into_owned()));
    if let Some(played) = &summary.context.played {
        facts.push(("replay of", escape(played).into_owned()));
    }
    let started = when::exact(summary.wall_ns);
    facts.push((
        "started",
        format!("{started}, {} long", clock(summary.t_last_ns)),
    ));
}

/// What a reader must know before trusting the rest: gaps, warnings, recovery.
fn remarks(recording: &Recording) -> Result<Vec<String>, Failure> {
    let mut remarks = Vec::new();
    each_event(recording, |event| {
        let is_remarkable = session::is_remarkable(&event.kind);
        remarks.extend(is_remarkable.then(|| phrases::event(&event.kind)));
        Ok(())
    })?;
    Ok(remarks)
}
