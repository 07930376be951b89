//! Two exchanges of two recordings.

use super::{Which, Work};
use crate::app::diff::{Compared, Far, Of};
use crate::worker::diff::{self, By, One};
use mcpreel_replay::compare::Half;
use mcpreel_replay::recorded::Bound;
use mcpreel_share::phrases::sentence;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::text::escape;
use std::sync::Arc;

/// Compares them, and tells it as the comparison of any two exchanges.
pub(super) fn compare(
    work: &mut Work<'_>,
    generation: u64,
    sides: &[(Which, (Seq, u32)); 2],
    bound: Arc<Bound>,
) -> Result<(), String> {
    let [left, right] = sides;
    let recordings = [work.open(&left.0)?, work.open(&right.0)?];
    let by = By::beside(recordings[0].path(), bound)?;
    let mut tell = |half| work.tell_diff(generation, diff::Found::Not(Far::Comparing(half)));
    let compared = compared(&recordings, [left.1, right.1], &by, &mut tell);
    let compared = compared.map_err(|error| sentence(&error))?;
    let found = match compared {
        Some(compared) => diff::Found::Compared(Box::new(compared)),
        None => diff::Found::Nothing("one of the calls is not there any more".to_owned()),
    };
    work.tell_diff(generation, found);
    Ok(())
}

fn compared(
    recordings: &[Recording; 2],
    places: [(Seq, u32); 2],
    by: &By,
    begins: &mut dyn FnMut(Half),
) -> Result<Option<Compared>, ReadError> {
    let [left, right] = recordings;
    let exchange = |recording: &Recording, (seq, part)| {
        diff::exchange_at(recording, ItemKey::of_part(seq, part))
    };
    let both = (exchange(left, places[0])?, exchange(right, places[1])?);
    let (Some(one), Some(other)) = both else {
        return Ok(None);
    };
    let summaries = [left.summary()?, right.summary()?];
    let sides = [(0, &one), (1, &other)].map(|(at, exchange)| One {
        recording: &recordings[at],
        wall_ns: summaries[at].wall_ns,
        exchange,
    });
    let [left, right] = &sides;
    let [request, response] = [Half::Request, Half::Response].map(|half| {
        begins(half);
        diff::part([left, right], half, by)
    });
    let mut compared = Compared::new(one, other, request?, response?);
    compared.of = Some([0, 1].map(|at| {
        let id = &summaries[at].id;
        Of {
            path: recordings[at].path().to_owned(),
            short: escape(id.get(..4).unwrap_or(id)).into_owned(),
        }
    }));
    Ok(Some(compared))
}
