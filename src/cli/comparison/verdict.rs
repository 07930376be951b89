//! The verdict of a comparison, and what is said call by call. A difference that comes again and
//! again is said once.

use super::{Compared, Party};
use mcpreel_replay::diff::words::{self, REDACTED, counted};
use mcpreel_replay::diff::{Account, Class, Difference, List, Offer, Report, Trouble};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};
use std::collections::{BTreeMap, HashMap};

/// What is said of one list, or of the calls of one method, tool, prompt or resource.
#[derive(Default)]
pub struct Group<'r> {
    /// The list, where the group is about what the server offers.
    pub list: Option<List>,
    /// The method, empty for what belongs to none; and the tool, prompt or resource.
    pub call: (&'r str, Option<&'r str>),
    /// How many exchanges were compared.
    pub compared: u64,
    /// What is said, the worst first.
    pub entries: Vec<Entry<'r>>,
    /// Differences that are not kept.
    pub more: u64,
    known: HashMap<(Option<Class>, String, &'r str), usize>,
}

/// Something that is said, once or more often.
pub struct Entry<'r> {
    /// How much it matters; `None` where something was not tried.
    pub class: Option<Class>,
    /// The tool, prompt or resource that differs, the place of a difference, or a sentence.
    pub subject: String,
    pub difference: Option<&'r Difference>,
    /// Whether it is about what the server offers.
    pub is_offer: bool,
    /// The first exchange of which it is said, on both sides.
    pub seqs: [Option<Seq>; 2],
    /// Of how many exchanges it is said.
    pub times: u64,
}

/// What is said of what the server offers, list by list, then of every call, those with the worst
/// first.
pub fn grouped(report: &Report) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<_, Group<'_>> = BTreeMap::new();
    for offer in &report.offers {
        let call = (offer.list.method(), None);
        let group = groups.entry((Some(offer.list), call)).or_default();
        group.add(Entry::of_offer(offer));
    }
    for account in &report.accounts {
        let call = (&*account.method, account.name.as_deref());
        let group = groups.entry((None, call)).or_default();
        group.more += account.more;
        Entry::of_account(account).for_each(|entry| group.add(entry));
        let tally = report.tallies.get(&(call.0.into(), call.1.map(Into::into)));
        group.compared = tally.map_or(0, |tally| tally.compared);
    }
    let groups = groups.into_iter().map(|((list, call), mut group)| {
        group.entries.sort_by_key(Entry::rank);
        Group {
            list,
            call,
            ..group
        }
    });
    let mut groups: Vec<_> = groups.collect();
    groups.sort_by_key(|group| (group.list.is_none(), group.entries.first().map(Entry::rank)));
    groups
}

impl<'r> Group<'r> {
    fn add(&mut self, entry: Entry<'r>) {
        let key = (entry.class, entry.subject.clone(), entry.note());
        let nth = *self.known.entry(key).or_insert(self.entries.len());
        match self.entries.get_mut(nth) {
            Some(same) => same.times += 1,
            None => self.entries.push(entry),
        }
    }

    /// `what the server offers: tools`, `tools/call search`.
    pub fn title(&self) -> String {
        match self.list {
            Some(list) => format!("what the server offers: {}s", list.word()),
            None => words::call(self.call),
        }
    }
}

impl<'r> Entry<'r> {
    fn of_offer(offer: &'r Offer) -> Self {
        Self {
            class: Some(offer.difference.class),
            subject: words::offered(offer),
            difference: Some(&offer.difference),
            is_offer: true,
            seqs: [offer.left, offer.right],
            times: 1,
        }
    }

    fn of_account(account: &'r Account) -> impl Iterator<Item = Self> {
        let entry = |class, subject, difference| Entry {
            class,
            subject,
            difference,
            is_offer: false,
            seqs: [account.left, account.right],
            times: 1,
        };
        let said = words::said(account).map(|said| entry(account.class, said, None));
        let differences = account.differences.iter();
        said.into_iter()
            .chain(differences.map(move |it| entry(Some(it.class), words::place(it), Some(it))))
    }

    /// The worst first; what was not tried says nothing worse, and stands before noise.
    fn rank(&self) -> (Class, bool) {
        (self.class.unwrap_or(Class::Latency), self.class.is_none())
    }

    /// `breaking`; `skipped` where something was not tried.
    pub fn class_word(&self) -> &'static str {
        self.class.map_or("skipped", Class::as_str)
    }

    /// Whether a reader is to see it: what differs between any two runs is only counted, unless it
    /// fails.
    pub fn is_shown(&self, report: &Report) -> bool {
        self.class != Some(Class::Noise) || report.fail_on.fails(Class::Noise)
    }

    /// What the difference means, where its values do not say it.
    pub fn note(&self) -> &'r str {
        let note = self.difference.and_then(|one| one.note.as_deref());
        note.unwrap_or_default()
    }

    /// All of it, on one line.
    pub fn in_words(&self) -> String {
        match self.difference {
            Some(difference) if self.is_offer => {
                format!("{} at {}", self.subject, words::in_words(difference))
            }
            Some(difference) => words::in_words(difference),
            None => self.subject.clone(),
        }
    }
}

/// The verdict, in one sentence.
pub fn verdict(compared: &Compared<'_>) -> String {
    let report = compared.report;
    let [left, right] = compared.parties.each_ref().map(Party::short);
    if let Some(trouble) = report.trouble() {
        return troubled(trouble, report);
    }
    let what = match report.worst().unwrap_or(Class::Noise) {
        _ if compared.is_cut_short && !report.is_failed() => "stopped before its end".to_owned(),
        Class::Noise if !report.is_failed() => format!("{right} does the same as {left}"),
        Class::Added if !report.is_failed() => {
            format!("{right} does all that {left} does, and more")
        }
        _ if !report.is_failed() => {
            let fail_on = report.fail_on.as_str();
            format!("{right} differs from {left} by less than fails (--fail-on {fail_on})")
        }
        Class::Breaking => format!("{right} breaks what {left} does"),
        Class::Changed => format!("{right} says something else than {left}"),
        Class::Added => format!("{right} says more than {left}"),
        Class::Order => format!("{right} says the same as {left} in another order"),
        Class::Latency => format!("{right} takes longer than it may beside {left}"),
        Class::Noise => format!("{right} differs from {left} as any two runs do"),
    };
    format!("{what}: {}", found(report))
}

fn troubled(trouble: Trouble, report: &Report) -> String {
    let mut troubles = report.troubles.iter();
    let why = troubles.find(|(known, _)| *known == trouble);
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

/// `2 breaking, 3 changed; 31 exchanges compared, 27 of them the same`.
fn found(report: &Report) -> String {
    let compared = plural(report.compared, "exchange");
    let same = match report.same {
        0 => String::new(),
        same => format!(", {} of them the same", count(same)),
    };
    match counted(report.counts) {
        none if none.is_empty() => format!("{compared} compared{same}"),
        counted => format!("{counted}; {compared} compared{same}"),
    }
}

/// What was not looked at, not kept or passed over, a line each; then up to `most` rules that
/// changed nothing.
pub fn left_out(report: &Report, most: usize) -> Vec<String> {
    const NOT_KEPT: &str = "with something to say, not kept";
    let left = &report.left_out;
    let all = [
        (left.unwanted, "exchange", "not wanted by --only"),
        (left.passed_over, "difference", "passed over by rules"),
        (report.redacted, "value", REDACTED),
        (left.exchanges, "exchange", NOT_KEPT),
        (left.offers, "offer", NOT_KEPT),
        (left.troubles, "problem", "not kept"),
        (left.values, "value", "not compared: there is too much"),
        (left.outlines, "answer", "compared by the size: too long"),
        (
            left.place_by_place,
            "list",
            "compared place by place: too long",
        ),
    ];
    let some = all.into_iter().filter(|(number, ..)| *number > 0);
    let some = some.map(|(number, noun, what)| format!("{} {what}", plural(number, noun)));
    let unfired = report.unfired.iter().take(most).map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("the rule at {at} changed nothing: {rule}")
    });
    let more = report.unfired.len().saturating_sub(most) as u64;
    let more = (more > 0).then(|| format!("{} changed nothing either", plural(more, "more rule")));
    some.chain(unfired).chain(more).collect()
}
