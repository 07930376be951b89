//! A comparison as a test report: a case per method and tool, and one for the comparison.

use super::grouped::{Entry, Group, What, grouped};
use super::party::opens;
use super::words;
use super::{Compared, Party};
use crate::cli::exit::Failure;
use crate::cli::machine::{self, Case, Verdict};
use crate::cli::output::Output;
use mcpreel_replay::compare::Class;
use mcpreel_replay::report::{Call, Counts, Offer, Report, Tally};
use mcpreel_wire::text::plural;
use std::collections::BTreeMap;

/// Differences that a case shows; a report is read by people.
const SHOWN: usize = 20;

/// Writes it.
pub fn write(compared: &Compared<'_>, out: &mut Output) -> Result<(), Failure> {
    let mut cases = vec![whole(compared)];
    let mut lines = said(compared);
    let tallies = compared.report.tallies.iter();
    cases.extend(tallies.map(|(call, tally)| {
        let lines = lines.remove(call).unwrap_or_default();
        case(call, tally, lines, compared.report)
    }));
    machine::begin_junit(compared.command, out)?;
    machine::suite(&suite(compared), &cases, out)?;
    machine::end_junit(out)
}

/// What was compared, by names that are the same in every run: who reads test reports tells from them
/// how a test went before.
fn suite(compared: &Compared<'_>) -> String {
    let [left, right] = compared.parties.each_ref().map(Party::lasting_name);
    match compared.command {
        "mcpreel diff" if left != right => format!("{left} with {right}"),
        _ => left,
    }
}

/// The comparison as a whole: whether there was anything to compare.
fn whole(compared: &Compared<'_>) -> Case {
    let report = compared.report;
    let troubles = report.troubles.iter();
    let mut lines: Vec<_> = troubles.map(|(_, text)| text.to_string()).collect();
    lines.extend(words::left_out(report));
    lines.extend(words::unfired(report, SHOWN));
    Case {
        name: "comparison".to_owned(),
        verdict: match report.trouble() {
            Some(_) => Verdict::Error(words::verdict(compared)),
            None => Verdict::Passed,
        },
        lines,
    }
}

fn case((method, name): &Call, tally: &Tally, lines: Vec<String>, report: &Report) -> Case {
    let failed = tally.counts.failing(report.fail_on) > 0;
    let is_skipped = tally.compared == 0 && tally.counts == Counts::default();
    Case {
        name: words::call((method, name.as_deref())),
        verdict: if failed {
            Verdict::Failed(words::counted(tally.counts))
        } else if is_skipped {
            Verdict::Skipped("not tried".to_owned())
        } else {
            Verdict::Passed
        },
        lines,
    }
}

/// What is said, by the call that it is said of.
fn said(compared: &Compared<'_>) -> BTreeMap<Call, Vec<String>> {
    let mut all: BTreeMap<Call, Vec<String>> = BTreeMap::new();
    let offers = compared.report.offers.iter();
    for offer in offers.filter(|offer| offer.difference.class != Class::Noise) {
        let lines = all.entry((offer.list.method().into(), None)).or_default();
        if lines.len() < SHOWN {
            lines.push(offered(offer, compared));
        }
    }
    for group in grouped(compared.report) {
        let call = (group.method.into(), group.name.map(Into::into));
        add(&group, all.entry(call).or_default(), compared);
    }
    all
}

fn add(group: &Group<'_>, lines: &mut Vec<String>, compared: &Compared<'_>) {
    let entries: Vec<_> = group.entries.iter().filter(|one| !one.is_noise()).collect();
    let shown = entries.iter().take(SHOWN);
    lines.extend(shown.map(|entry| line(entry, compared)));
    let more = entries.len().saturating_sub(SHOWN) as u64 + group.more;
    if more > 0 {
        lines.push(format!("and {}", plural(more, "more difference")));
    }
}

fn offered(offer: &Offer, compared: &Compared<'_>) -> String {
    let difference = &offer.difference;
    let about = format!(
        "{} at {}",
        words::offered(offer),
        words::in_words(difference)
    );
    let spots = opens(compared.parties, [offer.left, offer.right]);
    format!(
        "{} {about} ({})",
        difference.class.as_str(),
        spots.join(", ")
    )
}

fn line(entry: &Entry<'_>, compared: &Compared<'_>) -> String {
    let class = entry.class.map_or("skipped", Class::as_str);
    let spots = opens(compared.parties, entry.seqs).join(", ");
    let times = match entry.times {
        1 => String::new(),
        times => format!("{times} times, first "),
    };
    format!("{class} {} ({times}{spots})", entry.what.in_words())
}

impl What<'_> {
    /// All of it, on one line.
    pub fn in_words(&self) -> String {
        match self {
            Self::Said(said) => said.clone(),
            Self::Differs(difference) => words::in_words(difference),
        }
    }
}
