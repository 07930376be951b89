//! The next failed exchange, and the one before.

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::panels::filter::narrowed;
use crate::worker::job::{Slot, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::ast::{Expr, Flag};

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let way = match action {
        Action::NextFailure => Way::Oldest,
        Action::PreviousFailure => Way::Newest,
        _ => return None,
    };
    let from = super::selection::place(session);
    let shown = super::selection::question(session);
    let job = app.questions.read(
        Slot::Failure,
        session,
        move |source, place| look(source, way, from, &shown, &|| place.is_stopped()),
        found,
    );
    Some(vec![job])
}

/// The direction, whether the search went on from the other end, and the row.
type Found = Option<(Way, bool, ItemKey)>;

fn look(
    source: &Source<'_>,
    way: Way,
    from: Option<ItemKey>,
    shown: &Question,
    stop: &dyn Fn() -> bool,
) -> Result<Found, ReadError> {
    let question = Question {
        query: narrowed(&shown.query, [Expr::Is(Flag::Failed)]),
        ..shown.clone()
    };
    // From the cursor to the end, then from the other end.
    for (is_wrapped, from) in [(false, from), (true, None)] {
        let mut found = None;
        let scan = Scan::new(&question, way, from, source.context());
        source.each_hit(scan, stop, |key| {
            found = Some((way, is_wrapped, key));
            Ok(false)
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let Some((way, is_wrapped, key)) = found else {
        return app.refuse(if session.filter.is_on() {
            "nothing that fits the filter failed"
        } else {
            "there is no failure"
        });
    };
    if is_wrapped {
        app.say(match way {
            Way::Oldest => "failure: from the top",
            Way::Newest => "failure: from the end",
        });
    }
    super::selection::go_to(app, session, key)
}
