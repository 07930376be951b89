//! What came of a comparison, in sentences.

use super::{Compared, Party};
use crate::replay::compare::{Class, Half};
use crate::replay::judge::{Missing, Skip};
use crate::replay::report::{Account, Counts, Difference, Offer, Outcome, Report, Trouble};
use crate::text::{count, escape, plural};

/// The verdict, in one sentence.
pub fn verdict(compared: &Compared<'_>) -> String {
    let report = compared.report;
    match report.trouble() {
        Some(trouble) => troubled(trouble, report),
        None if report.is_failed() => failed(compared),
        None => passed(compared),
    }
}

fn troubled(trouble: Trouble, report: &Report) -> String {
    let mut told = report.troubles.iter();
    let why = told.find(|(known, _)| *known == trouble);
    let why = why.map_or("neither side has a request", |(_, text)| &**text);
    let what = match trouble {
        Trouble::Unreadable if report.compared == 0 => "nothing was compared",
        Trouble::Unreadable => "not everything could be compared",
        Trouble::Refused => "not everything was tried, for safety",
        Trouble::Target => "the server failed",
        Trouble::Hang => "the server hangs",
        Trouble::Assertion => "what was asserted does not hold",
    };
    match report.compared {
        0 => format!("{what}: {why}"),
        _ => format!("{what}: {why}; {}", found(report)),
    }
}

fn failed(compared: &Compared<'_>) -> String {
    let report = compared.report;
    let [left, right] = compared.parties.each_ref().map(Party::short);
    let what = match report.worst().unwrap_or(Class::Noise) {
        Class::Breaking => format!("{right} breaks what {left} does"),
        Class::Changed => format!("{right} says something else than {left}"),
        Class::Added => format!("{right} says more than {left}"),
        Class::Order => format!("{right} says the same as {left} in another order"),
        Class::Latency => format!("{right} takes longer than it may beside {left}"),
        Class::Noise => format!("{right} differs from {left} as any two runs do"),
    };
    format!("{what}: {}", found(report))
}

fn passed(compared: &Compared<'_>) -> String {
    let report = compared.report;
    let [left, right] = compared.parties.each_ref().map(Party::short);
    let exchanges = plural(report.compared, "exchange");
    match report.worst() {
        None => format!("{right} does the same as {left}: {exchanges} compared"),
        Some(Class::Noise) => format!(
            "{right} does the same as {left}: {exchanges} compared, which differ only as any two \
             runs do"
        ),
        Some(_) => format!(
            "{right} does nothing that fails beside {left} (--fail-on {}): {}",
            report.fail_on.as_str(),
            found(report)
        ),
    }
}

/// `2 breaking, 3 changed; 31 exchanges compared, 27 of them the same`.
fn found(report: &Report) -> String {
    let compared = plural(report.compared, "exchange");
    let same = match report.same {
        0 => String::new(),
        same if same == report.compared => ", all of them the same".to_owned(),
        same => format!(", {} of them the same", count(same)),
    };
    match counted(report.counts) {
        none if none.is_empty() => format!("{compared} compared{same}"),
        counted => format!("{counted}; {compared} compared{same}"),
    }
}

/// `2 breaking, 3 changed`: how many of each class, without what differs between any two runs.
pub fn counted(counts: Counts) -> String {
    let classes = Class::ALL
        .into_iter()
        .filter(|class| *class != Class::Noise && counts.of(*class) > 0);
    let each = classes.map(|class| format!("{} {}", count(counts.of(class)), class.as_str()));
    each.collect::<Vec<_>>().join(", ")
}

/// What is said of an exchange as a whole, `None` where its differences say it.
pub fn said(account: &Account) -> Option<String> {
    Some(match &account.outcome {
        Outcome::Differs => return None,
        Outcome::More => "is only on the right".to_owned(),
        Outcome::Remark(remark) => remark.text.to_string(),
        Outcome::Missing(missing) => match missing {
            Missing::NeverAnswered => "was never answered".to_owned(),
            Missing::NeverAsked => "the server does not ask this any more".to_owned(),
            Missing::Removed => "is only on the left".to_owned(),
            Missing::Refused(why) => format!("was refused: {why}"),
            Missing::Skipped(Skip::NotNeeded) => {
                "was not needed: the server answered at once".to_owned()
            }
            Missing::Skipped(Skip::Redacted(what) | Skip::Unreached(what)) => {
                format!("was not tried: {what}")
            }
        },
    })
}

/// What became of an exchange, in a word.
pub fn outcome(account: &Account) -> &'static str {
    match &account.outcome {
        Outcome::Differs => "differs",
        Outcome::More => "more",
        Outcome::Remark(_) => "remark",
        Outcome::Missing(missing) => match missing {
            Missing::NeverAnswered => "never-answered",
            Missing::NeverAsked => "never-asked",
            Missing::Removed => "removed",
            Missing::Refused(_) => "refused",
            Missing::Skipped(_) => "skipped",
        },
    }
}

/// Where a difference is: its path, and whether it is in the request.
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

/// What was not looked at, not kept or passed over, a line each.
pub fn left_out(report: &Report) -> Vec<String> {
    let unlooked = &report.unlooked;
    let all = [
        (report.unwanted, "exchange", "not wanted by --only"),
        (report.passed_over, "difference", "passed over by rules"),
        (report.more_accounts, "exchange", NOT_KEPT),
        (report.more_offers, "offer", NOT_KEPT),
        (report.more_troubles, "problem", "not kept"),
        (unlooked.values, "value", "not compared: there is too much"),
        (
            unlooked.outlines,
            "answer",
            "compared by the outline: too long",
        ),
        (unlooked.coarse, "list", "compared place by place: too long"),
        (unlooked.unkeyed, "list", "without what a rule matches by"),
    ];
    let some = all.into_iter().filter(|(number, ..)| *number > 0);
    some.map(|(number, noun, what)| format!("{} {what}", plural(number, noun)))
        .collect()
}

/// What became of what there was no room for.
const NOT_KEPT: &str = "with something to say, not kept";

/// The rules that changed nothing, up to `most` of them, a line each.
pub fn unfired(report: &Report, most: usize) -> Vec<String> {
    let rules = report.unfired.iter();
    let mut lines: Vec<_> = rules
        .take(most)
        .map(|rule| {
            let (at, rule) = (escape(&rule.at), escape(&rule.rule));
            format!("the rule at {at} changed nothing: {rule}")
        })
        .collect();
    let more = report.unfired.len().saturating_sub(most) as u64;
    if more > 0 {
        lines.push(format!(
            "{} changed nothing either",
            plural(more, "more rule")
        ));
    }
    lines
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
