//! The next failed exchange, and the one before.

use super::selection;
use crate::action::Action;
use crate::app::App;
use crate::effect::Effects;
use crate::worker::Ask;
use crate::worker::failures::{self, Found};
use mcpreel_store::select::Way;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let way = match action {
        Action::NextFailure => Way::Oldest,
        Action::PreviousFailure => Way::Newest,
        _ => return None,
    };
    let generation = app.next_generation();
    let session = app.session.as_deref()?;
    let ask = failures::Ask {
        generation,
        way,
        from: selection::place(session),
        question: selection::question(session),
    };
    Some(vec![Ask::Failure(ask).into()])
}

pub fn answer(app: &mut App, answer: &failures::Answer) -> Effects {
    // Whoever asked again is not sent to the answer before.
    if app.generation < answer.generation || app.session.is_none() {
        return vec![];
    }
    match answer.found {
        Found::At(key) => return selection::go_to(app, key),
        Found::Wrapped(key) => {
            let end = match answer.way {
                Way::Oldest => "from the top",
                Way::Newest => "from the end",
            };
            app.notices.success(format!("failure: {end}"), app.now);
            return selection::go_to(app, key);
        }
        Found::Hidden(key) => {
            let text = format!("failure: only #{}, which the filter hides", key.seq.0);
            app.notices.error(text, app.now);
        }
        Found::Nothing => app.notices.error("there is no failure", app.now),
    }
    vec![]
}
