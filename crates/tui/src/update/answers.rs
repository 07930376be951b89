//! Who gets an answer.

use super::{annotations, library, playback, session, why};
use crate::app::App;
use crate::effect::Effects;
use crate::panels::{compare, export, replay};
use crate::worker::Answer;

pub(super) fn take(app: &mut App, answer: Answer) -> Effects {
    session::begun(app, &answer);
    if session::is_stale(app, &answer) {
        return Effects::new();
    }
    match answer {
        Answer::Apply(apply) => apply(app),
        Answer::Found(found) if app.questions.is_latest(found.slot, found.number) => {
            (found.apply)(app)
        }
        Answer::Found(_) => Effects::new(),
        Answer::Library(answer) => library::answer(app, answer),
        Answer::Open(answer) => session::answer(app, answer),
        Answer::State(answer) => playback::answer(app, answer),
        Answer::Why(answer) => why::answer(app, answer),
        Answer::Note(answer) => annotations::noted(app, answer),
        Answer::Beside(answer) => compare::answer(app, answer),
        Answer::Replay(answer) => replay::answer(app, answer),
        Answer::Export(answer) => export::answer(app, answer),
        Answer::Failed(_, message) => {
            app.notices.error(message, app.now);
            Effects::new()
        }
    }
}
