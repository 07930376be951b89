//! The whole account of why the session went wrong.
//!
//! ```text
//!  ┌ why: certain, the recording shows it ────────────────────┐
//!  │  the server was ended by SIGSEGV in the middle of        │
//!  │  transfer (#12); stderr says: fatal: bad pointer         │
//!  │                                                          │
//!  │  It crashed in native code: look for a core dump, and …  │
//!  │                                                          │
//!  │ 1  #12  the client asked: tools/call transfer {to:"b"}   │
//!  │ 2  #14  stderr: fatal: bad pointer                       │
//!  │ 3  besides, likely: search_docs failed twice: …          │
//!  └──────────────────────── Enter goes to #12, Esc closes ───┘
//! ```
//!
//! What shows a cause leads to its frame, another cause to its own account.

use crate::action::Action;
use crate::app::menu::{Choice, Entry, Menu};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::theme::Role;
use crate::worker::{Ask, why};
use mcpreel_lint::cause::{Cause, Evidence, Place};
use mcpreel_wire::text::{escape, since};

const LETTERS: &str = "123456789abcdefghi";

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Why {
        return None;
    }
    let generation = app.next_generation();
    Some(vec![Ask::Why(why::Ask { generation }).into()])
}

pub fn answer(app: &mut App, answer: why::Answer) -> Effects {
    // Whoever has asked for something else since then is not to be interrupted.
    if app.generation != answer.ask.generation || !app.overlays.is_empty() {
        return vec![];
    }
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.causes = answer.causes;
    account(app, 0)
}

/// Opens the account of one of the causes.
pub fn account(app: &mut App, at: usize) -> Effects {
    let causes = app
        .session
        .as_deref()
        .map(|session| session.causes.as_slice());
    let menu = causes.and_then(|causes| Some(menu(causes.get(at)?, at, causes)));
    app.overlays.extend(menu.map(Overlay::Menu));
    vec![]
}

fn menu(cause: &Cause, at: usize, causes: &[Cause]) -> Menu {
    let certainty = cause.certainty;
    let title = if cause.is_trouble() {
        format!("why: {}, {}", certainty.as_str(), certainty.help())
    } else {
        "why".to_owned()
    };
    let text = [cause.sentence.as_str(), "", &cause.advice];
    let evidence = cause.evidence.iter().map(|one| (label(one), leads_to(one)));
    let others = causes.iter().enumerate().filter(|(other, _)| *other != at);
    let others = others.map(|(other, cause)| {
        let label = format!("besides, {}: {}", cause.certainty.as_str(), cause.sentence);
        (label, Choice::Cause(other))
    });
    let entry = |(letter, (label, choice)): (char, (String, Choice))| Entry {
        letter,
        label: escape(&label).into_owned(),
        choice,
    };
    let entries = LETTERS.chars().zip(evidence.chain(others)).map(entry);
    Menu {
        text: text
            .map(|text| (Role::Text, escape(text).into_owned()))
            .into(),
        // It is read from its beginning, however far down the first entry is.
        top: Some(0),
        ..Menu::new(title, entries.collect())
    }
}

fn label(evidence: &Evidence) -> String {
    let text = &evidence.text;
    match evidence.place {
        Place::Frame(seq) | Place::Stderr(seq) => format!("#{}  {text}", seq.0),
        Place::Event { t, .. } => format!("{}  {text}", since(t.0)),
        Place::Session => text.clone(),
    }
}

fn leads_to(evidence: &Evidence) -> Choice {
    let frame = evidence.place.frame();
    frame.map_or(Choice::Nothing, Choice::Frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_lint::cause::Certainty;
    use mcpreel_trace::frame::Seq;

    fn cause(id: &'static str, sentence: &str) -> Cause {
        Cause {
            id,
            sentence: sentence.to_owned(),
            certainty: Certainty::Likely,
            evidence: vec![Evidence {
                place: Place::Stderr(Seq(7)),
                text: "stderr: \u{1b}[2J".to_owned(),
            }],
            advice: "Look.".to_owned(),
        }
    }

    #[test]
    fn evidence_leads_to_its_frame_and_another_cause_to_its_account() {
        let causes = [
            cause("crashed", "it \u{202e}crashed"),
            cause("log-on-stdout", "it logs"),
        ];
        let menu = menu(&causes[0], 0, &causes);
        let choices: Vec<_> = menu.entries.iter().map(|entry| &entry.choice).collect();
        assert_eq!(choices, [&Choice::Frame(Seq(7)), &Choice::Cause(1)]);
        assert_eq!(menu.entries[1].label, "besides, likely: it logs");
        let shown = menu
            .entries
            .iter()
            .map(|entry| &entry.label)
            .chain(menu.text.iter().map(|(_, text)| text));
        for text in shown {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        }
    }
}
