//! Jumps to the next row of a kind.

use super::{playback, selection};
use crate::action::Action;
use crate::app::menu::{Choice, Entry, JumpTo, Menu};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::worker::Ask;
use crate::worker::jump::{self, Found, Target};
use mcpreel_store::select::Way;
use mcpreel_wire::text::escape;

const KINDS: [(char, &str, JumpTo); 7] = [
    ('o', "open call", JumpTo::Open),
    ('s', "slow call", JumpTo::Slow),
    ('e', "failure", JumpTo::Failure),
    ('f', "finding", JumpTo::Finding),
    ('m', "mark or note", JumpTo::Mark),
    ('r', "row related to this call", JumpTo::Related),
    ('c', "call of the same method and name", JumpTo::SameCall),
];

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::NextFailure => Some(begin(app, JumpTo::Failure, Way::Oldest)),
        Action::PreviousFailure => Some(begin(app, JumpTo::Failure, Way::Newest)),
        Action::Jump => {
            let entries = KINDS.iter().map(|(letter, label, to)| Entry {
                letter: *letter,
                label: (*label).to_owned(),
                choice: Choice::Jump(*to),
            });
            let menu = Menu::new("jump to the next", entries.collect());
            app.overlays.push(Overlay::Menu(menu));
            Some(vec![])
        }
        _ => None,
    }
}

/// Asks for the next row of a kind.
pub fn begin(app: &mut App, to: JumpTo, way: Way) -> Effects {
    let from = app.session.as_deref().and_then(selection::place);
    ask(app, Target::Kind(to), way, from)
}

/// Asks for the next row of a kind after `from`.
pub fn ask(
    app: &mut App,
    to: Target,
    way: Way,
    from: Option<mcpreel_trace::item::ItemKey>,
) -> Effects {
    let generation = app.next_generation();
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let mut question = selection::question(session);
    if !matches!(to, Target::Kind(_)) {
        // The time cursor goes on to what it hides.
        question.until = None;
    }
    vec![
        Ask::Jump(jump::Ask {
            generation,
            to,
            way,
            from,
            question,
        })
        .into(),
    ]
}

/// Where the next row of a kind is.
pub fn answer(app: &mut App, answer: &jump::Answer) -> Effects {
    // Whoever asked again is not sent to the answer before.
    if app.generation < answer.ask.generation || app.session.is_none() {
        return vec![];
    }
    let to = match &answer.ask.to {
        Target::Kind(to) => *to,
        Target::Step | Target::Stop(_) => return playback::found(app, answer),
    };
    let word = word(to);
    // Of all findings most are notes: whoever jumps to one sees which it is.
    let worst = answer.worst.as_ref();
    let worst = worst.map(|worst| format!("{} {}", escape(&worst.severity), escape(&worst.rule)));
    match answer.found {
        Found::At(key) => {
            if let Some(worst) = worst {
                app.notices.success(worst, app.now);
            }
            selection::go_to(app, key)
        }
        Found::Wrapped(key) => {
            let end = match answer.ask.way {
                Way::Oldest => "from the top",
                Way::Newest => "from the end",
            };
            let what = worst.unwrap_or_else(|| word.to_owned());
            app.notices.success(format!("{what}: {end}"), app.now);
            selection::go_to(app, key)
        }
        Found::Hidden(key) => {
            let text = format!("{word}: only #{}, which the filter hides", key.seq.0);
            app.notices.error(text, app.now);
            vec![]
        }
        Found::Nothing => {
            app.notices.error(format!("there is no {word}"), app.now);
            vec![]
        }
        Found::NoCall => {
            let text = "the selected row belongs to no call";
            app.notices.error(text, app.now);
            vec![]
        }
    }
}

fn word(to: JumpTo) -> &'static str {
    let kind = KINDS.iter().find(|(_, _, kind)| *kind == to);
    match to {
        JumpTo::Related => "other row related to this call",
        JumpTo::SameCall => "other call of the same method and name",
        _ => kind.map_or("such row", |(_, label, _)| label),
    }
}
