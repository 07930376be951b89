//! What is said of a comparison: the verdict, and what is said of one call, together. A difference
//! that comes again and again is said once.

use super::{Compared, Party};
use mcpreel_replay::diff::words::{self, REDACTED, counted};
use mcpreel_replay::diff::{
    Account, Change, Class, Difference, Half, Offer, Report, Tally, Trouble,
};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};
use std::collections::HashMap;

/// What is said of the calls of one method, tool, prompt or resource.
pub struct Group<'r> {
    /// The method; empty for what belongs to none.
    pub method: &'r str,
    pub name: Option<&'r str>,
    pub tally: Tally,
    /// What is said, the worst first.
    pub entries: Vec<Entry<'r>>,
    /// Differences that are not kept.
    pub more: u64,
}

/// Something that is said, once or more often.
pub struct Entry<'r> {
    /// How much it matters; `None` where something was not tried.
    pub class: Option<Class>,
    /// The tool, prompt or resource that differs, the place of a difference, or a sentence.
    pub subject: String,
    pub difference: Option<&'r Difference>,
    /// The first exchange of which it is said, on both sides.
    pub seqs: [Option<Seq>; 2],
    /// Of how many exchanges it is said.
    pub times: u64,
}

/// By what two entries are the same: the class, where and how, and what it means.
type Key<'r> = (Option<Class>, Option<(Half, Change, &'r str)>, String);

/// What is said of every call, those with the worst first.
pub fn grouped(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    let mut known: HashMap<(usize, Key<'_>), usize> = HashMap::new();
    for account in &report.accounts {
        let call = (&*account.method, account.name.as_deref());
        let at = *places.entry(call).or_insert_with(|| {
            let call = (account.method.clone(), account.name.clone());
            groups.push(Group {
                method: &account.method,
                name: account.name.as_deref(),
                tally: report.tallies.get(&call).copied().unwrap_or_default(),
                entries: Vec::new(),
                more: 0,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        group.more += account.more;
        for (key, entry) in entries(account) {
            let nth = *known.entry((at, key)).or_insert(group.entries.len());
            match group.entries.get_mut(nth) {
                Some(same) => same.times += 1,
                None => group.entries.push(entry),
            }
        }
    }
    for group in &mut groups {
        group.entries.sort_by_key(Entry::rank);
    }
    groups.sort_by_key(|group| group.entries.first().map(Entry::rank));
    groups
}

fn entries(account: &Account) -> Vec<(Key<'_>, Entry<'_>)> {
    let entry = |class, subject, difference| Entry {
        class,
        subject,
        difference,
        seqs: [account.left, account.right],
        times: 1,
    };
    let said = words::said(account).map(|said| {
        let key = (account.class, None, said.clone());
        (key, entry(account.class, said, None))
    });
    let differences = account.differences.iter().map(|difference| {
        let place = (difference.half, difference.change, &*difference.path);
        let note = difference.note.as_deref().unwrap_or_default().to_owned();
        let class = Some(difference.class);
        let subject = words::place(difference);
        (
            (class, Some(place), note),
            entry(class, subject, Some(difference)),
        )
    });
    said.into_iter().chain(differences).collect()
}

/// A difference in what the server offers.
pub fn offered(offer: &Offer) -> Entry<'_> {
    Entry {
        class: Some(offer.difference.class),
        subject: words::offered(offer),
        difference: Some(&offer.difference),
        seqs: [offer.left, offer.right],
        times: 1,
    }
}

impl Entry<'_> {
    /// The worst first; what was not tried says nothing worse, and stands before noise.
    fn rank(&self) -> (Class, bool) {
        (self.class.unwrap_or(Class::Latency), self.class.is_none())
    }

    /// Whether it differs as any two runs do.
    pub fn is_noise(&self) -> bool {
        self.class == Some(Class::Noise)
    }

    /// What the difference means, where its values do not say it.
    pub fn note(&self) -> &str {
        let note = self.difference.and_then(|one| one.note.as_deref());
        note.unwrap_or_default()
    }

    /// All of it, on one line.
    pub fn in_words(&self) -> String {
        match self.difference {
            Some(difference) => words::in_words(difference),
            None => self.subject.clone(),
        }
    }
}

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
    let left = &report.left_out;
    let all = [
        (left.unwanted, "exchange", "not wanted by --only"),
        (left.passed_over, "difference", "passed over by rules"),
        (report.redacted, "value", REDACTED),
        (left.exchanges, "exchange", NOT_KEPT),
        (left.offers, "offer", NOT_KEPT),
        (left.troubles, "problem", "not kept"),
        (left.values, "value", "not compared: there is too much"),
        (left.outlines, "answer", "compared by the digest: too long"),
        (
            left.place_by_place,
            "list",
            "compared place by place: too long",
        ),
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
