//! What is to be said of two recordings besides their exchanges.

use super::side::{MAX_EXCHANGES, One};
use super::{Wanted, Witness};
use crate::compare::Class;
use crate::judge::Judge;
use crate::report::{self, Remark, Trouble};
use mcpreel_store::reader::{ReadError, Summary};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::plural;
use std::collections::HashSet;

pub(super) fn notifications(
    sides: [One<'_>; 2],
    judge: &mut Judge,
    witness: &mut dyn Witness,
) -> Result<(), ReadError> {
    for way in [Direction::ClientToServer, Direction::ServerToClient] {
        let left = sides[0].notices(way, judge, witness)?;
        let right = sides[1].notices(way, judge, witness)?;
        judge.notices(&left, &right);
    }
    Ok(())
}

/// How the sessions ended: a server that goes down where it did not is worse than any answer.
pub(super) fn ends(summaries: &[Summary; 2], judge: &mut Judge) {
    let [Some(was), Some(is)] = [0, 1].map(|at| summaries[at].session.phase.end()) else {
        return;
    };
    let known = |end: &End| *end != End::Unknown;
    if was == is || !known(was) || !known(is) {
        return;
    }
    let class = match (is_clean(was), is_clean(is)) {
        (true, false) => Class::Breaking,
        _ => Class::Changed,
    };
    let before = ended(was);
    let before = before.strip_prefix("was ").unwrap_or(&before);
    let text = format!("the server {}, was: {before}", ended(is));
    judge.remark(remark(class, &text));
}

fn is_clean(end: &End) -> bool {
    matches!(end, End::Exited { code: 0 })
}

fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {signal}"),
        End::NotStarted { .. } => "could not be started".to_owned(),
        End::Unknown => "ended somehow".to_owned(),
    }
}

/// What was not looked at is no success.
pub(super) fn too_many(summaries: &[Summary; 2], judge: &mut Judge) {
    let most = MAX_EXCHANGES as u64;
    let beyond = summaries
        .iter()
        .map(|one| one.exchanges.saturating_sub(most));
    let beyond: u64 = beyond.sum();
    if beyond > 0 {
        let text = format!(
            "{} not compared: only the first {most} of a recording are",
            plural(beyond, "exchange")
        );
        judge.remark(remark(Class::Changed, &text));
    }
}

fn remark(class: Class, text: &str) -> Remark {
    Remark {
        left: None,
        right: None,
        method: Box::default(),
        name: None,
        class,
        text: report::name(text),
        trouble: None,
    }
}

/// Why nothing was compared, where nothing was.
pub(super) fn nothing(summaries: &[Summary; 2], wanted: &Wanted, judge: &mut Judge) {
    if judge.compared() > 0 {
        return;
    }
    let none = summaries.each_ref().map(|one| one.exchanges == 0);
    let why = match (none, wanted) {
        ([true, true], _) => "neither recording has a request",
        ([true, false], _) => "the left recording has no request",
        ([false, true], _) => "the right recording has no request",
        (_, Wanted::Only(sides)) if sides.iter().all(HashSet::is_empty) => {
            "the filter fits no request"
        }
        _ => "no request of one recording stands for any of the other",
    };
    judge.trouble(Trouble::Unreadable, why.into());
}
