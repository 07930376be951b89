//! What the reports say of single exchanges, and of the sessions as a whole.

use crate::app::comparison::{Compared, Pair};
use crate::worker::beside::Replayed;
use mcpreel_replay::compare::Class;
use mcpreel_replay::judge::{Missing, Skip};
use mcpreel_replay::report::{Account, Outcome, Report, Trouble, words};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::plural;
use std::collections::{HashMap, HashSet};

/// The frames of the requests on both sides.
type Seqs = [Option<Seq>; 2];

fn seqs(pair: &Pair) -> Seqs {
    pair.sides.map(|side| side.map(|side| side.request.0))
}

/// What differs in a list is known when all pages of it are there.
pub(super) fn tell_of_lists(compared: &mut Compared) {
    let mut worst: HashMap<Seqs, Class> = HashMap::new();
    for offer in &compared.report.offers {
        let class = offer.difference.class;
        let known = worst.entry([offer.left, offer.right]).or_insert(class);
        *known = class.min(*known);
    }
    for pair in &mut compared.pairs {
        if let Some(class) = worst.get(&seqs(pair)) {
            pair.is_listed = true;
            pair.class = Some(pair.class.map_or(*class, |known| known.min(*class)));
        }
    }
}

/// What is said of single exchanges.
pub(super) fn tell_of_accounts(compared: &mut Compared) {
    let mut places: HashMap<Seqs, usize> = HashMap::new();
    for (at, account) in compared.report.accounts.iter().enumerate() {
        if !matches!(account.outcome, Outcome::Remark(_)) {
            places.entry([account.left, account.right]).or_insert(at);
        }
    }
    for pair in &mut compared.pairs {
        pair.account = places.get(&seqs(pair)).copied();
        pair.is_listed &= pair.account.is_none();
        let account = pair.account.and_then(|at| compared.report.accounts.get(at));
        pair.said = account.and_then(words::said).map(Into::into);
    }
}

/// What the replay itself said counts more: it knows why something was not tried. What was not to
/// be replayed is left out, and what the server asked `besides` is nothing that was to be reached.
pub(super) fn tell_of_replay(compared: &mut Compared, replay: &Report, besides: &HashSet<Seq>) {
    let missing = replay.accounts.iter().filter(|account| is_missing(account));
    let missing: HashMap<Option<Seq>, &Account> =
        missing.map(|account| (account.left, account)).collect();
    let mut left_out = 0;
    compared.pairs.retain_mut(|pair| {
        let [Some(left), None] = pair.sides else {
            return true;
        };
        let Some(account) = missing.get(&Some(left.request.0)) else {
            left_out += u64::from(!besides.contains(&left.request.0));
            return false;
        };
        pair.class = account.class;
        pair.account = None;
        pair.said = words::said(account).map(Into::into);
        true
    });
    compared.left_out = left_out;
    tell_of_whole(&mut compared.said, replay);
}

/// Why the call that was replayed was not made, if it was not; what it lacks may be had with more of
/// the session.
pub(super) fn not_made(compared: &Compared, replayed: &Replayed) -> Option<Box<str>> {
    let shows = replayed.shows?;
    let accounts = replayed.report.accounts.iter();
    let mut accounts = accounts.filter(|account| account.left == Some(shows));
    let why = accounts.find_map(|account| match &account.outcome {
        Outcome::Missing(Missing::Skipped(Skip::Unreached(what))) => Some(what.to_string()),
        Outcome::Missing(Missing::Skipped(_) | Missing::Refused(_)) => words::said(account),
        _ => None,
    })?;
    let made = |pair: &Pair| matches!(pair.sides, [Some(left), Some(_)] if left.request.0 == shows);
    if compared.pairs.iter().any(made) {
        return None;
    }
    let hint = match replayed.only {
        Some(_) if why.starts_with("needs") => "; on the call `a u` sends all up to it",
        _ => "",
    };
    Some(format!("not replayed: {why}{hint}").into())
}

fn is_missing(account: &Account) -> bool {
    match &account.outcome {
        // The server has not got so far as to ask it.
        Outcome::Missing(Missing::NeverAsked) => account.left.is_some(),
        Outcome::Missing(_) => true,
        _ => false,
    }
}

/// What is said of the sessions as a whole, what decides first.
pub(super) fn tell_of_whole(said: &mut Vec<(Option<Class>, Box<str>)>, report: &Report) {
    let remarks = report.accounts.iter().filter_map(|account| {
        let is_remark = matches!(account.outcome, Outcome::Remark(_));
        let text = words::said(account).filter(|_| is_remark)?;
        let text = match &*account.method {
            "" => text,
            method => {
                let call = words::call((method, account.name.as_deref()));
                format!("{call}: {text}")
            }
        };
        Some((account.class, text.into()))
    });
    let remarks: Vec<(Option<Class>, Box<str>)> = remarks.collect();
    if report.redacted > 0 {
        let values = plural(report.redacted, "value");
        let text = format!("{values} {}", words::REDACTED);
        said.push((None, text.into()));
    }
    for (trouble, text) in &report.troubles {
        // What was refused says so itself.
        let is_told = *trouble == Trouble::Refused || said.iter().any(|(_, known)| known == text);
        if !is_told && !remarks.iter().any(|(_, known)| known == text) {
            said.push((None, text.clone()));
        }
    }
    said.extend(remarks);
}
