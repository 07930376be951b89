//! Why a session went wrong is said where it is so, and not where it nearly is:
//! `tests/trace/causes/CAUSE.toml`. Every case is a recording, made by the indexer and read back.
//!
//! ```toml
//! [[fires]]                       # one at least: this cause is the best one
//! about = "what is wrong here"
//! session = "2025-11-25"          # a handshake comes before the record; `client` and `server`
//!                                 # say what is declared in it
//! context = { argv = ["node"] }   # what the recorder knew at its start
//! record = [[0, "s2c", '[INFO] listening']]
//! says = "listening"              # stands in the sentence
//! certainty = "likely"
//! at = [1]                        # frames of `record`, from 1, that the evidence names; 0 is an
//!                                 # event or the session, -1 a frame of the handshake
//! shows = ["INFO"]                # stands in the evidence, and
//! advises = "stderr"              # in the advice; may be left out, as may
//! spares = "npx"                  # what does not stand there
//!
//! [[near]]                        # one at least: nearly the same, and this cause is none
//! about = "…"
//! record = […]
//! ```
//!
//! Where the record does not tell the end, the host leaves a millisecond later and the server ends
//! with 0. `live = true`: the recording goes on, and is looked at at `now`, milliseconds. The short
//! forms of rows are those of `support/told.rs`.

mod recorded;

use mcpreel_lint::cause::{Cause, Evidence, KINDS, NOTHING_WRONG, Place, causes};
use recorded::Case;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Below `tests`.
const FOLDER: &str = "causes";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    fires: Vec<Fires>,
    near: Vec<Case>,
}

#[derive(Deserialize)]
struct Fires {
    #[serde(flatten)]
    case: Case,
    says: String,
    certainty: String,
    at: Vec<i64>,
    #[serde(default)]
    shows: Vec<String>,
    #[serde(default)]
    advises: String,
    spares: Option<String>,
}

#[test]
fn every_cause_is_the_best_where_it_should_be_and_none_where_it_nearly_is() {
    let mut failures = String::new();
    for path in crate::cases::files(FOLDER) {
        let id = path.file_stem().unwrap().to_str().unwrap();
        let cases: Cases = crate::cases::read(&path);
        for fires in &cases.fires {
            if let Some(difference) = difference(id, fires) {
                let _ = writeln!(failures, "{id} ({}): {difference}", fires.case.about);
            }
        }
        for near in &cases.near {
            let facts = near.facts();
            let found = causes(&facts);
            // A call that was cancelled, and one that was open at the end, once were no failures.
            if found[0].id == NOTHING_WRONG && facts.counts.failed > 0 {
                let _ = writeln!(failures, "{id} (near: {}): something failed", near.about);
            }
            if let Some(cause) = found.iter().find(|cause| cause.id == id) {
                let _ = writeln!(failures, "{id} (near: {}): {cause:?}", near.about);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn every_cause_has_cases_of_both_kinds() {
    let known: BTreeSet<_> = KINDS.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(known.len(), KINDS.len(), "two causes have one name");
    let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let told: BTreeSet<_> = crate::cases::files(FOLDER).iter().map(stem).collect();
    assert_eq!(told, known);
    for path in crate::cases::files(FOLDER) {
        let cases: Cases = crate::cases::read(&path);
        let whole = !cases.fires.is_empty() && !cases.near.is_empty();
        assert!(whole, "{} needs both kinds", path.display());
    }
}

#[test]
fn every_cause_says_what_to_do_and_nothing_hostile() {
    for path in crate::cases::files(FOLDER) {
        for fires in crate::cases::read::<Cases>(&path).fires {
            for cause in causes(&fires.case.facts()) {
                let texts = cause.evidence.iter().map(|evidence| &*evidence.text);
                if cause.id == "server-unreachable" {
                    let events = cause.evidence.iter().filter_map(|one| match one.place {
                        Place::Event { t, .. } => Some(t),
                        _ => None,
                    });
                    assert!(events.is_sorted(), "{:#?}", cause.evidence);
                }
                for text in texts.chain([&*cause.sentence, cause.advice]) {
                    assert!(!text.contains(char::is_control), "{}: {text:?}", cause.id);
                    assert!(!text.contains('\u{202e}'), "{}: {text:?}", cause.id);
                }
                assert!(
                    cause.advice.ends_with('.'),
                    "{}: {}",
                    cause.id,
                    cause.advice
                );
                assert!(
                    !cause.sentence.ends_with('.'),
                    "{}: {}",
                    cause.id,
                    cause.sentence
                );
            }
        }
    }
}

fn difference(id: &str, fires: &Fires) -> Option<String> {
    let found = causes(&fires.case.facts());
    let best = found.first()?;
    if best.id != id {
        return Some(format!("the best is {best:#?}"));
    }
    if !best.sentence.contains(&fires.says) {
        return Some(format!("{:?} lacks {:?}", best.sentence, fires.says));
    }
    if best.certainty.as_str() != fires.certainty {
        return Some(format!("it is {:?}: {}", best.certainty, best.sentence));
    }
    if !best.advice.contains(&fires.advises) {
        return Some(format!("{:?} lacks {:?}", best.advice, fires.advises));
    }
    if let Some(spared) = &fires.spares
        && best.advice.contains(spared)
    {
        return Some(format!("{:?} has {spared:?}", best.advice));
    }
    let is_shown = |part: &String| best.evidence.iter().any(|one| one.text.contains(part));
    if let Some(part) = fires.shows.iter().find(|part| !is_shown(part)) {
        return Some(format!("{:#?} lacks {part:?}", best.evidence));
    }
    let places = places(&fires.case, best);
    (places != fires.at).then(|| format!("evidence at {places:?}: {:#?}", best.evidence))
}

fn places(case: &Case, best: &Cause) -> Vec<i64> {
    let before = case.start.frames();
    let place = |evidence: &Evidence| match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) if seq.0 > before => {
            i64::try_from(seq.0 - before).unwrap()
        }
        Place::Frame(_) | Place::Stderr(_) => -1,
        Place::Event { .. } | Place::Session => 0,
    };
    best.evidence.iter().map(place).collect()
}
