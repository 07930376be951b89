//! The next failed exchange, and the one before.

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::worker::job::{Job, Progress, Slot, Source, Step};
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Flag};

/// The longest step of the job, nanoseconds.
const STEP_NS: u64 = 8_000_000;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let way = match action {
        Action::NextFailure => Way::Oldest,
        Action::PreviousFailure => Way::Newest,
        _ => return None,
    };
    let job = Looking {
        way,
        from: super::selection::place(session),
        shown: super::selection::question(session),
        places: vec![Place::Hidden, Place::Wrapped, Place::Onward],
        scan: None,
    };
    Some(vec![app.questions.ask(Slot::Failure, job, found)])
}

fn found(app: &mut App, session: &mut Session, found: Option<(Way, Place, ItemKey)>) -> Effects {
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

struct Looking {
    way: Way,
    from: Option<ItemKey>,
    /// The rows that are shown.
    shown: Question,
    /// The places that are still to be searched, the first one last.
    places: Vec<Place>,
    scan: Option<Scan>,
}

#[derive(Clone, Copy)]
enum Place {
    /// From the cursor to the end.
    Onward,
    /// From the other end.
    Wrapped,
    /// Among the rows that the filter hides.
    Hidden,
}

impl Looking {
    fn scan(&self, source: &Source<'_>, place: Place) -> Scan {
        let failed = Expr::Is(Flag::Failed);
        let expr = match (place, self.shown.query.expr.clone()) {
            (Place::Onward | Place::Wrapped, Some(shown)) => Expr::And(vec![shown, failed]),
            _ => failed,
        };
        let question = Question {
            query: Query { expr: Some(expr) },
            ..self.shown.clone()
        };
        let from = self.from.filter(|_| matches!(place, Place::Onward));
        Scan::new(&question, self.way, from, source.context())
    }
}

impl Job for Looking {
    type Found = Option<(Way, Place, ItemKey)>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let Some(place) = self.places.last().copied() else {
            return Ok((Progress::Done, Some(None)));
        };
        let mut scan = match self.scan.take() {
            Some(scan) => scan,
            None => self.scan(source, place),
        };
        let limit = Limit {
            hits: 1,
            nanos: STEP_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        if let Some(hit) = step.hits.first() {
            return Ok((Progress::Done, Some(Some((self.way, place, hit.key)))));
        }
        if step.done {
            self.places.pop();
        } else {
            self.scan = Some(scan);
        }
        Ok((Progress::More, None))
    }
}
