//! The sentences of a report, ready to be shown.

use super::diff_report::{Account, Counts, Difference, Offer, Outcome};
use super::{Class, Half};
use mcpreel_wire::text::count;

/// `2 breaking, 3 changed`: how many of each class, without what differs between any two runs.
pub fn counted(counts: Counts) -> String {
    let classes = Class::ALL
        .into_iter()
        .filter(|class| *class != Class::Noise && counts.of(*class) > 0);
    let each = classes.map(|class| format!("{} {}", count(counts.of(class)), class.as_str()));
    each.collect::<Vec<_>>().join(", ")
}

/// The outcome of an exchange in a word, and the sentence on it as a whole, `None` where its
/// differences say enough.
pub fn outcome(account: &Account) -> (&'static str, Option<String>) {
    let (word, text) = match &account.outcome {
        Outcome::Differs => return ("differs", None),
        Outcome::More => ("more", "is only on the right"),
        Outcome::NeverAnswered => ("never-answered", "was never answered"),
        Outcome::NeverAsked => ("never-asked", "the server does not ask this any more"),
        Outcome::Removed => ("removed", "is only on the left"),
        Outcome::NotNeeded => ("skipped", "was not needed: the server answered at once"),
        Outcome::Refused(why) => ("refused", &*format!("was refused: {why}")),
        Outcome::Redacted(names) => {
            let names = names.join(", ");
            (
                "skipped",
                &*format!("was not tried: nothing stands for {names}"),
            )
        }
        Outcome::Unreached(what) => ("skipped", &*format!("was not tried: {what}")),
        Outcome::Remark(text) => ("remark", &**text),
    };
    (word, Some(text.to_owned()))
}

/// Follows a count: `3 values redacted on one side, otherwise the same`.
pub const REDACTED: &str = "redacted on one side, otherwise the same";

/// The place of a difference: its path, and whether it is in the request.
pub fn place(difference: &Difference) -> String {
    let (message, prefix) = match difference.half {
        Half::Request => ("the request", "request: "),
        Half::Response => ("the answer", ""),
    };
    match &*difference.path {
        "" => message.to_owned(),
        path => format!("{prefix}{path}"),
    }
}

/// `tool search`, or `the list of tools`.
pub fn offered(offer: &Offer) -> String {
    match &*offer.name {
        "" => format!("the list of {}s", offer.list.word()),
        name => format!("{} {name}", offer.list.word()),
    }
}

/// A method and its tool, prompt or resource; what belongs to none is the session's.
pub fn call((method, name): (&str, Option<&str>)) -> String {
    match (method, name) {
        ("", _) => "the session".to_owned(),
        (method, Some(name)) => format!("{method} {name}"),
        (method, None) => method.to_owned(),
    }
}

/// A difference on one line: where, what it means, and both values.
pub fn in_words(difference: &Difference) -> String {
    let mut words = place(difference);
    if let Some(note) = &difference.note {
        words = format!("{words}: {note}");
    }
    match (&difference.left, &difference.right) {
        (Some(was), Some(is)) => format!("{words}: was {was}, is {is}"),
        (Some(was), None) => format!("{words}: was {was}, is gone"),
        (None, Some(is)) => format!("{words}: is {is}, was not there"),
        (None, None) => words,
    }
}
