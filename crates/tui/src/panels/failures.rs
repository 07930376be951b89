//! The next failed exchange, and the one before.

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::job::{Slot, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Question, Scan, Way};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;
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

/// The part of the recording in which a failure was found.
#[derive(Clone, Copy)]
enum Place {
    /// From the cursor to the end.
    Onward,
    /// From the other end.
    Wrapped,
    /// Among the rows that the filter hides.
    Hidden,
}

type Found = Option<(Way, Place, ItemKey)>;

fn look(
    source: &Source<'_>,
    way: Way,
    from: Option<ItemKey>,
    shown: &Question,
    stop: &dyn Fn() -> bool,
) -> Result<Found, ReadError> {
    let failed = Expr::Is(Flag::Failed);
    let fitting = match shown.query.expr.clone() {
        Some(shown) => Expr::And(vec![shown, failed.clone()]),
        None => failed.clone(),
    };
    let places = [
        (Place::Onward, &fitting, from),
        (Place::Wrapped, &fitting, None),
        (Place::Hidden, &failed, None),
    ];
    for (place, expr, from) in places {
        let expr = Some(expr.clone());
        let question = Question {
            query: Query { expr },
            ..shown.clone()
        };
        let mut found = None;
        let scan = Scan::new(&question, way, from, source.context());
        source.each_hit(scan, stop, |key| {
            found = Some((way, place, key));
            Ok(false)
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let Some((way, place, key)) = found else {
        app.notices.error("there is no failure", app.now);
        return vec![];
    };
    match place {
        Place::Onward => {}
        Place::Wrapped => {
            let end = match way {
                Way::Oldest => "from the top",
                Way::Newest => "from the end",
            };
            app.notices.success(format!("failure: {end}"), app.now);
        }
        Place::Hidden => {
            let text = format!("failure: only #{}, which the filter hides", key.seq.0);
            app.notices.error(text, app.now);
            return vec![];
        }
    }
    super::selection::go_to(app, session, key)
}
