//! What came of a comparison, in sentences.

use mcpreel_replay::report::words::REDACTED;
pub use mcpreel_replay::report::words::{call, counted, in_words, offered, outcome, place, said};

use super::{Compared, Party};
use mcpreel_replay::compare::Class;
use mcpreel_replay::report::{Report, Trouble};
use mcpreel_wire::text::{count, escape, plural};

/// The verdict, in one sentence.
pub fn verdict(compared: &Compared<'_>) -> String {
    let report = compared.report;
    match report.trouble() {
        Some(trouble) => troubled(trouble, report),
        None if report.is_failed() => failed(compared),
        None if compared.is_cut_short => format!("stopped before its end: {}", found(report)),
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
    let redacted = match report.redacted {
        0 => String::new(),
        redacted => format!(", {} redacted", plural(redacted, "value")),
    };
    match report.worst() {
        None => format!("{right} does the same as {left}: {exchanges} compared{redacted}"),
        Some(Class::Noise) => format!(
            "{right} does the same as {left}: {exchanges} compared, which differ only as any two runs \
             do{redacted}"
        ),
        Some(Class::Added) => format!(
            "{right} does all that {left} does, and more: {}",
            found(report)
        ),
        Some(_) => format!(
            "{right} differs from {left} by less than fails (--fail-on {}): {}",
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

/// What was not looked at, not kept or passed over, a line each.
pub fn left_out(report: &Report) -> Vec<String> {
    let unlooked = &report.unlooked;
    let all = [
        (report.unwanted, "exchange", "not wanted by --only"),
        (report.passed_over, "difference", "passed over by rules"),
        (report.redacted, "value", REDACTED),
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
